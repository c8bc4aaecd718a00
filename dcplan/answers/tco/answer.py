"""``dcplan tco``: a given fleet owned, against the same work rented."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from dcplan.answers.common.result_blocks import describe, inputs_of
from dcplan.answers.tco.optimized import tco_of_plans
from dcplan.answers.tco.owned import Comparison, compared, resale_usd
from dcplan.answers.tco.sensitivity import Asked, Risk, risk_of
from dcplan.answers.tco.tables import bridge_table, lines_table, pair_table, years_table
from dcplan.answers.tco.unit_costs import returns, term_structure, unit_costs
from dcplan.economics.break_even import crossing, npv_break_even_months
from dcplan.economics.ranges import Array
from dcplan.errors import EXIT_OK
from dcplan.inputs.cloud_prices import LENGTHS, NOT_PLANNED
from dcplan.inputs.left_out import Kind
from dcplan.result import Cell, Metric, Result, Table
from dcplan.scenario.load import Question, load
from dcplan.units import MONTHS_PER_YEAR, money

MOST_NAMED = 4
YEARS_SHOWN = 4
"""Rents whose cash by year is shown beside the owned one's, the cheapest of as many offers."""


def tco(
    scenario: str | Path,
    *,
    variant: str | None = None,
    sets: Sequence[str] = (),
    catalogs: Sequence[str] = (),
    gap: float = 0.01,
    time_limit_s: float = 300.0,
) -> Result:
    """Compare owning the scenario's ``fleet`` with renting the same accelerators on every offer and
    term.

    Without a fleet the scenario's work is planned all owned, all rented and both (hybrid), within
    ``gap`` and ``time_limit_s``, and each plan is priced after taxes and debt.

    Cash by month, discounted from mid-month at the scenario's nominal rate; after income tax on
    both sides where a rate is given, losses used at once elsewhere. Rent on demand is paid for used
    hours, commitments for all hours.

    Raises
    ------
    InputError
        When the scenario is wrong, or has no fleet or no cloud offers.
    """
    began = time.monotonic()
    question = load(str(scenario), variant=variant, sets=sets, catalogs=catalogs)
    if question.scenario.fleet is None and _has_work(question):
        return tco_of_plans(question, gap, time_limit_s)
    both = compared(question)
    asked = (variant, sets, catalogs)
    extra = risk_of(both, asked, scenario)
    return _result(both, extra, _owned_line(both, asked, scenario), began)


def _has_work(question: Question) -> bool:
    work = question.scenario.workloads
    return bool(work.training or work.capacity or work.inference)


def _owned_line(both: Comparison, asked: Asked, scenario: str | Path) -> tuple[float, float]:
    """Owned present cost as a line over utilization, at 0 and by 1: energy alone depends on it, in
    proportion.
    """
    variant, sets, catalogs = asked
    here = both.work.used_frac
    there = 1.0 if here <= 0.5 else 0.25
    change = f"fleet.utilization_frac={there!r}"
    other = compared(load(str(scenario), variant=variant, sets=(*sets, change), catalogs=catalogs))
    slope = (other.owned.npv_usd - both.owned.npv_usd) / (there - here)
    return both.owned.npv_usd - slope * here, slope


def _result(both: Comparison, risk: Risk, owned_line: tuple[float, float], began: float) -> Result:
    owned, hours = both.owned, both.used_hours
    npvs = {key: side.npv_usd(both.rate) for key, side in both.rented.items()}
    units, per_unit, unpriced = unit_costs(both, {"owned": owned.npv_usd} | npvs)
    metrics = {
        "owned.npv_usd": Metric(
            owned.npv_usd, "USD", "Present cost of owning, after tax and debt", *risk.owned_bounds
        ),
        "owned.usd_per_accelerator_hour": Metric(
            owned.npv_usd / hours, "USD/h", "Over used hours, both discounted"
        ),
    }
    rows: list[tuple[Cell, ...]] = []
    for key, npv in npvs.items():
        months, used = _break_even(both, key, owned_line)
        metrics |= {
            f"rented.{key}.npv_usd": Metric(npv, "USD", "Present cost of renting, after tax"),
            f"rented.{key}.usd_per_accelerator_hour": Metric(
                npv / hours, "USD/h", "Over used hours, both discounted"
            ),
            f"break_even.{key}.months": Metric(
                months,
                "months",
                "Owning has cost no more from then on, were all sold at its residual; none: never",
            ),
            f"break_even.{key}.utilization_frac": Metric(
                used, "", "Above it owning is cheaper; none: never"
            ),
        }
        offer, _, term = key.rpartition(".")
        at = used if used is not None else "paid used or not" if term in LENGTHS else "never"
        after = "never" if months is None else round(months, 1)
        status = _price_status(both, offer, term)
        rows.append(
            (
                offer,
                term,
                npv,
                npv - owned.npv_usd,
                npv / hours,
                after,
                at,
                status,
                "; ".join(both.notes[key]),
            )
        )
    rows.sort(key=lambda r: float(str(r[2])))
    best = str(rows[0][0]) + "." + str(rows[0][1]) if rows else ""
    metrics |= units | returns(both, both.rented.get(best))
    columns = (
        "offer",
        "term",
        "npv_usd",
        "over_owned_usd",
        "usd_per_used_hour",
        "break_even_months",
        "break_even_utilization_frac",
        "price",
        "note",
    )
    sides = {"owned": owned.after_tax} | both.rented
    cash = {name: side.cash_usd for name, side in sides.items()} | {"owned": owned.cash_usd}
    outside = {name: side.outside_usd for name, side in sides.items()}
    tables = {
        "rented": Table(columns, tuple(rows)),
        "sides": pair_table(owned.after_tax, both.rented.get(best), best, both.rate),
        "lines": lines_table(sides, both.rate),
        "bridge": bridge_table(owned.plan_npv_usd, owned.steps, owned.npv_usd),
        "units": per_unit,
        "years": years_table({k: cash[k] for k in ("owned", *_shown(rows))}, _ends(both), outside),
        "term_structure": term_structure(both),
    }
    return Result(
        "tco",
        "ok",
        EXIT_OK,
        _headline(both, best, npvs),
        scenario=describe(both.question),
        metrics=metrics,
        tables=tables | risk.tables,
        inputs=inputs_of(both),
        warnings=[
            {"code": "note", "message": text} for text in (*risk.notes, *unpriced, *_notes(both))
        ],
        run={"seconds": round(time.monotonic() - began, 3)},
    )


def _price_status(both: Comparison, offer: str, term: str) -> str:
    """Where the price of an hour comes from: the user, the catalog, or an estimate."""
    row = both.ledger.rows.get(f"cloud.{offer}.{term.replace('-', '_')}_usd_per_h")
    return row.status if row is not None else ""


def _shown(rows: Sequence[Sequence[Cell]]) -> list[str]:
    """The cheapest term of each of the cheapest offers."""
    first: dict[str, str] = {}
    for offer, term, *_ in rows:
        first.setdefault(str(offer), f"{offer}.{term}")
    return list(first.values())[:YEARS_SHOWN]


def _headline(both: Comparison, best: str, npvs: dict[str, float]) -> str:
    owned, years = both.owned.npv_usd, both.owned.after_tax.months / MONTHS_PER_YEAR
    words = (
        f"{both.question.scenario.name}: owning {both.work.accelerators:,} accelerators for {years:g} years costs USD "
        f"{money(owned)} in present value"
    )
    if not best:
        return words + "; no offer of this accelerator to compare with"
    cheaper = "more" if owned > npvs[best] else "less"
    return words + (
        f", USD {money(abs(owned - npvs[best]))} {cheaper} than the cheapest rent ({best}, USD {money(npvs[best])}); "
        f"used {both.work.used_frac:.0%} of the time"
    )


def _ends(both: Comparison) -> dict[str, float]:
    """Worth at the end of each side as money in, less what is still owed."""
    owed = both.owned.loan.owed_at_end_usd if both.owned.loan else 0.0
    ends = {name: -sum(side.end_usd.values()) for name, side in both.rented.items()}
    return ends | {"owned": owed - sum(both.owned.after_tax.end_usd.values())}


def _break_even(
    both: Comparison, key: str, owned_line: tuple[float, float]
) -> tuple[float | None, float | None]:
    """Months after which owning has cost no more, what the hardware would bring then counted; and
    in utilization.
    """
    cash = _from_today(both.owned.cash_usd, both.owned.after_tax.outside_usd)
    rent = _from_today(both.rented[key].cash_usd, both.rented[key].outside_usd)
    monthly = (1.0 + both.rate) ** (1.0 / MONTHS_PER_YEAR) - 1.0
    months = _number(
        npv_break_even_months(cash, rent, monthly, residual_usd=resale_usd(both), for_good=True)
    )
    if months is None and both.owned.npv_usd <= both.rented[key].npv_usd(both.rate):
        months = float(
            both.owned.after_tax.months
        )  # ahead by the half month that month ends are late
    if key.rpartition(".")[2] in LENGTHS:  # paid used or not: how much it is used changes nothing
        return months, None
    at_0, slope = owned_line
    return months, crossing(lambda u: both.rented_npv_usd(key, u) - (at_0 + slope * u), 0.0, 1.0)


def _from_today(cash: Array, outside: Mapping[int, float]) -> Array:
    """Payments from today on, one a month; deposits before stand with today's, what is due later
    with the last.
    """
    found = np.concatenate([[0.0], cash])
    for month, usd in outside.items():
        found[0 if month < 0 else -1] += usd
    return found


def _number(value: object) -> float | None:
    return None if value is None else float(np.asarray(value))


def _notes(both: Comparison) -> list[str]:
    scenario, known = both.question.scenario, {o.id for o in both.offers}
    others = [o for o in both.fleet.offers if o not in known]
    notes = (
        [f"another accelerator than the fleet's, not compared: {_listed(others)}"] if others else []
    )
    why: dict[str, list[str]] = {}
    for x in both.fleet.left_out:
        if x.kind in (Kind.OFFER, Kind.TERM) and x.id not in NOT_PLANNED and x.id not in known:
            why.setdefault(x.reason, []).append(x.id)
    notes += [f"{_listed(ids)}: left out, {reason}" for reason, ids in why.items()]
    short = [o.id for o in both.offers if o.max_accelerators < both.work.accelerators]
    if short:
        notes.append(
            f"{both.work.accelerators:,} accelerators are more than {_listed(short)} are taken to deliver without a "
            "special agreement (cloud.max_accelerators_per_offer)"
        )
    count = both.fleet.paid_accelerators
    if count > both.work.accelerators:
        asked = both.work.accelerators
        notes.append(
            f"whole racks are owned: {count:,} accelerators are paid for, {asked:,} asked for"
        )
    if all(site.staff is None for site in scenario.sites):
        notes.append(
            "the owned side has no staff (sites.ID.staff): each rent has its debugging, one person a year"
        )
    return notes


def _listed(names: Sequence[str]) -> str:
    """Names, the many of a long list counted."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
