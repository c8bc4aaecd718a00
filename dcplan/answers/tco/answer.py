"""``dcplan tco``: owning a given fleet compared with renting for the same work."""

from __future__ import annotations

import time
from collections.abc import Sequence

from dcplan.answers.common.result_blocks import describe, inputs_of
from dcplan.answers.plan.plan_cost import doubts_of
from dcplan.answers.tco.break_even import OwnedLine, months_of, owned_line, utilization_of
from dcplan.answers.tco.comparison import OWNED, Comparison, Rent, compared
from dcplan.answers.tco.conventions import refuse_hardware_leases
from dcplan.answers.tco.flows.answer import flows_answer, refuse_without_list
from dcplan.answers.tco.optimized import tco_of_plans
from dcplan.answers.tco.rented import DEBUGGING
from dcplan.answers.tco.request import TcoRequest
from dcplan.answers.tco.schedules import published_break_even, schedules
from dcplan.answers.tco.sensitivity.risk import Risk, risk_of
from dcplan.answers.tco.tables import bridge_table, lines_table, pair_table, years_table
from dcplan.answers.tco.unit_costs import returns, term_structure, unit_costs
from dcplan.catalog.schema import Accelerator, Offer, System
from dcplan.errors import EXIT_OK
from dcplan.inputs.cloud_prices import row_of
from dcplan.inputs.excluded import Kind
from dcplan.inputs.lumps import lump_notes
from dcplan.result import Metric, Result, Table
from dcplan.scenario.load import Question
from dcplan.specs.tco import figures, offers
from dcplan.specs.verb import verb
from dcplan.units import MONTHS_PER_YEAR, money

MOST_NAMED = 4
YEARS_SHOWN = 2
"""Number of rents with cash flow by year: the cheapest term of as many offers."""


@verb(TcoRequest, "tco")
def tco(request: TcoRequest) -> Result:
    """Compare owning the scenario's ``fleet`` with renting it on every offer and term.

    Only offers of the same accelerator are compared. Without a fleet, the scenario's work is
    planned all owned, all rented and hybrid, within ``gap`` and ``time_limit_s``, and each plan is
    priced after taxes and debt.

    A list of ``cash_flows`` has no scenario: its present value, rates of return, payback and multiple.

    Cash flow by month is discounted from mid-month at the scenario's nominal rate. If an income tax
    rate is given, both sides are after tax, with losses offset at once elsewhere. On-demand rent is
    paid for used hours, commitments for all hours.

    Raises
    ------
    InputError
        When the scenario has errors, or has no fleet or no cloud offers; when a list of cash flows
        cannot be read, or has no figure.
    """
    began = time.monotonic()
    if request.cash_flows:
        return flows_answer(request)
    refuse_without_list(request)
    question = request.question()
    refuse_hardware_leases(question)
    if question.scenario.fleet is None and _has_work(question):
        return tco_of_plans(question, request, began)
    both = compared(question)
    result = _answer(both, risk_of(both, request), owned_line(both, request))
    for maker in request.more_tables:
        result.tables |= maker(both)
    result.run = {"seconds": round(time.monotonic() - began, 3)}
    return result


def _has_work(question: Question) -> bool:
    work = question.scenario.workloads
    return bool(work.training or work.capacity or work.inference or work.queue)


def _answer(both: Comparison, risk: Risk, line: OwnedLine) -> Result:
    owned = both.owned
    cheapest = sorted(both.rents, key=lambda rent: rent.npv_usd)
    best = cheapest[0] if cheapest else None
    units, per_unit, unpriced = unit_costs(
        both, {OWNED: owned.npv_usd} | {rent.name: rent.npv_usd for rent in cheapest}
    )
    low, high = risk.owned_bounds
    metrics = figures.OWNED_NPV(owned.npv_usd, low=low, high=high)
    metrics |= figures.OWNED_HOUR(owned.npv_usd / both.used_hours)
    rows = []
    for rent in both.rents:
        months, used_frac = months_of(both, rent), utilization_of(both, rent, line)
        metrics |= _rent_metrics(both, rent, months, used_frac)
        metrics |= published_break_even(both, rent)
        rows.append(_rent_row(both, rent, months, used_frac))
    sides = {OWNED: owned.after_tax} | {rent.name: rent.side for rent in both.rents}
    tables = {
        "rented": offers.RENTED.table(sorted(rows, key=lambda row: row.npv_usd)),
        "npv_by_line": pair_table(
            owned.after_tax,
            best.side if best else None,
            best.name if best else "",
            both.rate,
            owned.debt_lines(both.rate),
        ),
        "lines": lines_table(
            sides,
            both.rate,
            {OWNED: owned.debt_lines(both.rate)},
            [rent.name for rent in both.rents] if both.conventions.only else (),
        ),
        "bridge": bridge_table(owned.plan_npv_usd, owned.steps, owned.npv_usd),
        "unit_costs": per_unit,
        "years": _years(both, _shown(cheapest)),
        "term_structure": term_structure(both),
        **schedules(both),
    }
    return Result(
        "tco",
        "ok",
        EXIT_OK,
        _headline(both, best),
        scenario=describe(both.question),
        metrics=metrics | units | returns(both, best.side if best else None),
        tables=tables | risk.tables,
        inputs=inputs_of(both),
        warnings=[
            {"code": "note", "message": text} for text in (*risk.notes, *unpriced, *_notes(both))
        ],
    )


def _rent_metrics(
    both: Comparison, rent: Rent, months: float | None, used_frac: float | None
) -> dict[str, Metric]:
    ids = rent.offer.id, rent.term
    return (
        figures.RENTED_NPV(rent.npv_usd, *ids)
        | figures.RENTED_HOUR(rent.npv_usd / both.used_hours, *ids)
        | figures.BREAK_EVEN_MONTHS(months, *ids)
        | figures.BREAK_EVEN_UTILIZATION(used_frac, *ids)
    )


def _rent_row(
    both: Comparison, rent: Rent, months: float | None, used_frac: float | None
) -> offers.RentedRow:
    never = "n/a" if rent.paid_in_full else "never"
    return offers.RentedRow(
        offer=rent.offer.id,
        term=rent.term,
        npv_usd=rent.npv_usd,
        over_owned_usd=rent.npv_usd - both.owned.npv_usd,
        usd_per_used_hour=rent.npv_usd / both.used_hours,
        break_even_months="never" if months is None else round(months, 1),
        break_even_utilization_frac=never if used_frac is None else used_frac,
        price=_price_status(both, rent),
        note="; ".join(rent.notes),
    )


def _price_status(both: Comparison, rent: Rent) -> str:
    """Return the origin of the hourly price: user input, catalog or estimate."""
    row = both.log.rows.get(f"cloud.{rent.offer.id}.{rent.term.replace('-', '_')}_usd_per_h")
    return row.status if row is not None else ""


def _shown(cheapest: Sequence[Rent]) -> list[Rent]:
    """Return the cheapest term of each of the cheapest offers."""
    first: dict[str, Rent] = {}
    for rent in cheapest:
        first.setdefault(rent.offer.id, rent)
    return list(first.values())[:YEARS_SHOWN]


def _years(both: Comparison, rents: Sequence[Rent]) -> Table:
    """List cash flow by year; residual value counts as money received, less outstanding debt."""
    owned = both.owned
    owed = owned.loan.owed_at_end_usd if owned.loan else 0.0
    return years_table(
        {OWNED: owned.cash_usd} | {r.name: r.side.cash_usd for r in rents},
        {OWNED: owed - sum(owned.after_tax.end_usd.values())}
        | {r.name: -sum(r.side.end_usd.values()) for r in rents},
        {OWNED: owned.after_tax.outside_usd} | {r.name: r.side.outside_usd for r in rents},
    )


def _headline(both: Comparison, best: Rent | None) -> str:
    owned, years = both.owned.npv_usd, both.owned.after_tax.months / MONTHS_PER_YEAR
    words = (
        f"{both.question.scenario.name}: owning {both.work.accelerators:,} accelerators "
        f"for {years:g} years costs USD {money(owned)} in present value"
    )
    if not both.conventions.counts_any_rent:
        return f"{words}; no cost line of a rent counts, so rents are not compared"
    if best is None:
        return words + (
            "; the catalog has no rent of this accelerator: add a quote with dcplan import, or "
            "replace fleet by workloads to compare rents of other accelerators for the same work"
        )
    over = owned - best.npv_usd
    return words + (
        f", USD {money(abs(over))} {'more' if over > 0 else 'less'} than the cheapest rent "
        f"({best.name}, USD {money(best.npv_usd)}); utilization {both.work.used_frac:.0%}"
    )


def _same_accelerator(offer: str, question: Question) -> bool:
    """Return whether an offer has the fleet's accelerator."""
    fleet, find = question.scenario.fleet, question.catalog.get
    chip = find("accelerators", find("cloud", offer, Offer).accelerator, Accelerator).id
    return fleet is not None and find("systems", fleet.system, System).accelerator == chip


def _not_sold(question: Question) -> list[str]:
    """Say that the fleet's system cannot be bought, so that its price is a class value."""
    fleet = question.scenario.fleet
    row = question.catalog.get("systems", fleet.system, System) if fleet else None
    if row is None or row.sold:
        return []
    why = row.not_sold_reason or "not for sale"
    return [f"{row.id} cannot be ordered ({why}); the owned side is what such a fleet would cost"]


def _notes(both: Comparison) -> list[str]:
    known = {o.id for o in both.offers}
    others = [x for x in dict.fromkeys(row_of(o) for o in both.fleet.offers) if x not in known]
    alone = [x for x in others if _same_accelerator(x, both.question)]
    other_chip = [x for x in others if x not in alone]
    notes = [*doubts_of(both.question), *_not_sold(both.question)]
    if both.conventions.counts_owned("facility"):
        notes += lump_notes(both.question, both.log)
    if not both.conventions.counts_any_rent:
        return [*notes, "rents are not compared, because comparison counts no cost line of a rent"]
    if other_chip:
        notes.append(
            f"not compared, because the accelerator differs from the fleet's: {_listed(other_chip)}"
        )
    if alone:
        notes.append(
            f"not compared, because no network between their instances is known: {_listed(alone)}; "
            "give prices.ID.scaleout_gbps"
        )
    why: dict[str, list[str]] = {}
    for x in both.fleet.excluded:
        if x.kind not in (Kind.OFFER, Kind.TERM) or x.id in known:
            continue
        if _same_accelerator(x.id.split()[0], both.question):
            why.setdefault(x.reason, []).append(x.id)
    notes += [f"{_listed(ids)}: excluded, {reason}" for reason, ids in why.items()]
    short = [o.id for o in both.offers if o.max_accelerators < both.work.accelerators]
    if short:
        notes.append(
            f"the fleet of {both.work.accelerators:,} accelerators is larger than what these offers "
            f"are assumed to provide without a reservation: {_listed(short)}; ask the provider for "
            "a reservation, or set cloud.max_accelerators_per_offer"
        )
    count = both.fleet.paid_accelerators
    if count > both.work.accelerators:
        asked = both.work.accelerators
        notes.append(
            f"complete racks are bought: {count:,} accelerators are paid for, {asked:,} are "
            "required"
        )
    notes += _power_notes(both)
    return [*notes, *_staff_notes(both)]


def _staff_notes(both: Comparison) -> list[str]:
    """Say that only the rents include people; lines that were left out on request give no note."""
    staffed = any(site.staff is not None for site in both.question.scenario.sites)
    debugged = any(rent.side.npvs_usd(both.rate).get(DEBUGGING) for rent in both.rents)
    if staffed or not debugged or not both.conventions.counts_owned("staff"):
        return []
    return [
        "the owned side includes no staff (set sites.ID.staff), while each rent includes one "
        "person for debugging"
    ]


def _power_notes(both: Comparison) -> list[str]:
    """Say that an own average power exceeds the rated power of the fleet's system."""
    given, fleet = both.question.scenario.comparison, both.question.scenario.fleet
    own = given.average_accelerator_kw if given is not None else None
    row = both.question.catalog.get("systems", fleet.system, System) if fleet else None
    if own is None or row is None or row.rated_kw is None:
        return []
    rated = row.rated_kw.value / row.accelerators
    if own.value <= rated:
        return []
    return [
        f"comparison.average_accelerator_kw is {own.value:,.6g} kW, but {row.id} is rated at "
        f"{rated:,.3g} kW for each accelerator with its share of the host: check the unit"
    ]


def _listed(names: Sequence[str]) -> str:
    """List names; count the rest of a long list."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
