"""Schedules of a comparison: bills, months, taxes by year, commitments, published break-evens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from dcplan.answers.common.statements import statements_table
from dcplan.answers.tco.comparison import OWNED, Comparison, Rent, from_today
from dcplan.answers.tco.owned import Owned
from dcplan.catalog.schema import Accelerator, System
from dcplan.economics.break_even import break_even_hours, npv_break_even_months
from dcplan.economics.cash_flow import CAPITAL
from dcplan.economics.monthly.side import INCOME_TAX, NOTHING, Side
from dcplan.economics.price_trend import implied_yearly_factor, yearly_prices
from dcplan.inputs.cloud_prices import LENGTHS
from dcplan.result import Metric, Table
from dcplan.specs.cost import schedules as specs
from dcplan.specs.cost.statements import STATEMENTS
from dcplan.units import MONTHS_PER_YEAR, QUARTERS_PER_YEAR, TFLOPS_PER_PFLOPS


def bill_usd(side: Side) -> float:
    """Return the payments of a side before income tax, undiscounted and without residual value."""
    lines = dict.fromkeys((*side.lines, *side.outside))
    return sum(side.sum_usd(line) for line in lines if line != INCOME_TAX)


def bills_table(both: Comparison) -> Table:
    """List the bill of each side, the lowest first; a side without lines that count has none."""
    sides = {OWNED: both.owned.after_tax} | {r.name: r.side for r in both.rents}
    bills = {name: bill_usd(side) for name, side in sides.items() if not {*side.lines} <= {NOTHING}}
    if not bills:
        return specs.BILLS.table([])
    lowest, months = min(bills.values()), both.owned.after_tax.months
    hours = both.work.accelerators * months * both.conventions.hours_per_month
    used_hours = hours * both.work.used_frac
    used_years = months / MONTHS_PER_YEAR * both.work.used_frac
    peak = _peak_pflops(both)
    work = None if peak is None else both.work.accelerators * peak * used_years
    return specs.BILLS.table(
        specs.BillRow(
            side=side,
            usd=usd,
            usd_per_month=usd / months,
            usd_per_used_hour=usd / used_hours,
            usd_per_used_pflop_year=None if work is None else usd / work,
            above_cheapest_usd_per_month=(usd - lowest) / months,
            over_cheapest_ratio=usd / lowest if lowest > 0.0 else 1.0,
        )
        for side, usd in sorted(bills.items(), key=lambda x: x[1])
    )


def _peak_pflops(both: Comparison) -> float | None:
    """Return the dense BF16 peak of an accelerator of the fleet."""
    question = both.question
    fleet = question.scenario.fleet
    if fleet is None:
        return None
    system = question.catalog.get("systems", fleet.system, System)
    chip = question.catalog.get("accelerators", system.accelerator, Accelerator)
    return None if chip.bf16_tflops is None else chip.bf16_tflops.value / TFLOPS_PER_PFLOPS


def energy_table(both: Comparison) -> Table:
    """List the average power and the yearly energy of each site of the owned side."""
    given, bill = both.question.scenario.comparison, both.bill
    kw = given.average_accelerator_kw if given is not None else None
    hours = both.conventions.hours_per_month
    rows = []
    for energy in both.fleet.energy:
        months = bill.kwh_by_month(energy, kw)
        it, facility = (
            float(np.mean([getattr(m, name) for m in months]))
            for name in ("it_kwh", "facility_kwh")
        )
        rows.append(
            specs.EnergyRow(
                site=energy.site,
                it_kw=it / hours,
                facility_kw=facility / hours,
                overhead_kw=(facility - it) / hours,
                facility_kwh_per_year=facility * MONTHS_PER_YEAR,
            )
        )
    return specs.ENERGY.table(rows)


def months_table(both: Comparison) -> Table:
    """List the payments of each side by month, with those before and after the horizon."""
    cash = {OWNED: both.owned.cash_usd} | {r.name: r.side.cash_usd for r in both.rents}
    outside = {OWNED: both.owned.after_tax.outside_usd}
    outside |= {r.name: r.side.outside_usd for r in both.rents}
    count = both.owned.after_tax.months
    apart = {month for pairs in outside.values() for month in pairs}
    months = sorted({*range(count), *apart})

    def paid(side: str, month: int) -> float:
        inside = float(cash[side][month]) if 0 <= month < count else 0.0
        return inside + outside[side].get(month, 0.0)

    return specs.MONTHS.wide_table(
        (
            (specs.MonthRow(month + 1), {f"{side}_usd": paid(side, month) for side in cash})
            for month in months
        ),
        tuple(f"{side}_usd" for side in cash),
    )


def taxes_table(owned: Owned) -> Table:
    """List tax and book depreciation, taxable income and income tax by year."""
    tax, book = owned.taxes, owned.book
    return specs.TAXES.table(
        specs.TaxYearRow(
            year=f"year {year + 1}",
            running_cost_usd=float(tax.running_usd[year]),
            tax_depreciation_usd=float(tax.depreciation_usd[year]),
            interest_usd=float(tax.interest_usd[year]),
            disposal_usd=float(tax.disposal_usd[year]),
            taxable_usd=float(tax.taxable_usd[year]),
            income_tax_usd=float(tax.tax_usd[year]),
            book_depreciation_usd=float(book.charge_usd[year]),
            book_value_usd=float(book.value_usd[year]),
        )
        for year in range(len(tax.tax_usd))
    )


def owned_statements(owned: Owned) -> Table:
    """List result, cash and balance sheet of the owned side by month."""
    return statements_table(
        owned, owned.tax_rate_frac, owned.life_years, owned.hardware_years, owned.earlier
    )


def commitments_table(both: Comparison) -> Table:
    """List the payments of each rent's commitments for used and unused hours."""
    used = both.work.used_frac
    return specs.COMMITMENTS.table(
        specs.CommitmentRow(
            offer=rent.offer.id,
            term=rent.term,
            usd=rent.committed_usd,
            used_usd=used * rent.committed_usd,
            unused_usd=(1.0 - used) * rent.committed_usd,
            usd_per_instance_hour=_instance_usd_per_h(rent),
        )
        for rent in both.rents
        if rent.committed_usd
    )


def _instance_usd_per_h(rent: Rent) -> float | None:
    found = (c for c in rent.offer.committed if c.term == rent.term)
    price = next((c.usd_per_accelerator_hour[0] for c in found), None)
    return None if price is None else price * rent.offer.node_accelerators


def forward_prices_table(both: Comparison) -> Table:
    """List the price of each year that the shortest and the longest committed term imply."""
    return specs.FORWARD_PRICES.table(_forward_prices(both))


def _forward_prices(both: Comparison) -> Iterator[specs.ForwardPriceRow]:
    for offer in both.offers:
        quotes = {
            LENGTHS[c.term] / QUARTERS_PER_YEAR: c.usd_per_accelerator_hour[0]
            for c in offer.committed
        }
        if len(quotes) < 2:
            continue
        short, long = min(quotes), max(quotes)
        try:
            factor = implied_yearly_factor(quotes[short], short, quotes[long], long)
        except ValueError:  # the long term costs less in total than the short one
            continue
        prices = yearly_prices(quotes[short], short, factor, round(long))
        for year, usd in enumerate(prices.tolist()):
            yield specs.ForwardPriceRow(offer.id, f"year {year + 1}", usd)


def published_break_even(both: Comparison, rent: Rent) -> dict[str, Metric]:
    """Return the break-even by cumulative cash without resale, and in hours as calculators have it."""
    ids = rent.offer.id, rent.term
    owned, side = both.owned, both.owned.after_tax
    months = npv_break_even_months(
        from_today(owned.cash_usd, side.outside_usd),
        from_today(rent.side.cash_usd, rent.side.outside_usd),
        for_good=True,
    )
    clock = side.months * both.conventions.hours_per_month
    capital = sum(side.sum_usd(line) for line in side.of(CAPITAL))
    hours = break_even_hours(
        capital, max(bill_usd(rent.side), 0.0) / clock, max(bill_usd(side) - capital, 0.0) / clock
    )
    return specs.BREAK_EVEN_CASH_MONTHS(_number(months), *ids) | specs.BREAK_EVEN_HOURS(
        _number(hours), *ids
    )


def _number(value: object) -> float | None:
    return None if value is None else float(np.asarray(value))


def schedules(both: Comparison) -> Mapping[str, Table]:
    """Return all schedules of a comparison by name."""
    return {
        specs.BILLS.name: bills_table(both),
        specs.ENERGY.name: energy_table(both),
        specs.MONTHS.name: months_table(both),
        specs.TAXES.name: taxes_table(both.owned),
        STATEMENTS.name: owned_statements(both.owned),
        specs.COMMITMENTS.name: commitments_table(both),
        specs.FORWARD_PRICES.name: forward_prices_table(both),
    }
