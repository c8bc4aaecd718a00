"""``dcplan tco``: a given fleet owned, against the same work rented."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dcplan.answers.describe import describe, inputs_of
from dcplan.answers.tco_plans import tco_of_plans
from dcplan.answers.tco_risk import Risk, risk_of
from dcplan.answers.tco_sides import Comparison, alike, compared, resale_usd
from dcplan.answers.tco_tables import bridge_table, lines_table, pair_table, years_table
from dcplan.answers.tco_units import returns, term_structure, unit_costs
from dcplan.economics.break_even import break_even_utilization_frac, npv_break_even_months
from dcplan.errors import EXIT_OK
from dcplan.planning.menu.cloud import LENGTHS, NOT_PLANNED
from dcplan.result import Cell, Metric, Result, Table
from dcplan.scenario.load import Question, load
from dcplan.units import MONTHS_PER_YEAR, money

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
    """Compare owning the scenario's ``fleet`` with renting the same accelerators on every offer and term.

    Without a fleet the scenario's work is planned all owned, all rented and both (hybrid), within ``gap`` and
    ``time_limit_s``, and each plan is priced after taxes and debt.

    Cash by month, discounted from mid-month at the scenario's nominal rate; after income tax on both sides where a
    rate is given, losses used at once elsewhere. Rent on demand is paid for used hours, commitments for all hours.

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
    extra = risk_of(both, (variant, sets, catalogs), scenario)
    return _result(both, extra, began)


def _has_work(question: Question) -> bool:
    work = question.scenario.workloads
    return bool(work.training or work.capacity or work.inference)


def _result(both: Comparison, risk: Risk, began: float) -> Result:
    owned, hours = both.owned, both.used_hours
    npvs = {key: side.npv_usd(both.rate) for key, side in both.rented.items()}
    units, per_unit, unpriced = unit_costs(both, {"owned": owned.npv_usd} | npvs)
    metrics = {
        "owned.npv_usd": Metric(owned.npv_usd, "USD", "Present cost of owning, after tax and debt", *risk.owned_bounds),
        "owned.usd_per_accelerator_hour": Metric(owned.npv_usd / hours, "USD/h", "Over used hours, both discounted"),
    }
    rows: list[tuple[Cell, ...]] = []
    for key, npv in npvs.items():
        months, used = _break_even(both, key)
        metrics |= {
            f"rented.{key}.npv_usd": Metric(npv, "USD", "Present cost of renting, after tax"),
            f"rented.{key}.usd_per_accelerator_hour": Metric(npv / hours, "USD/h", "Over used hours, both discounted"),
            f"break_even.{key}.months": Metric(months, "months", "Owning has cost no more from then on; none: never"),
            f"break_even.{key}.utilization_frac": Metric(used, "", "Above it owning is cheaper; none: never"),
        }
        offer, _, term = key.rpartition(".")
        at = used if used is not None else "paid used or not" if term in LENGTHS else "never"
        after = "never" if months is None else round(months, 1)
        rows.append((offer, term, npv, npv - owned.npv_usd, npv / hours, after, at, "; ".join(both.notes[key])))
    rows.sort(key=lambda r: float(str(r[2])))
    best = str(rows[0][0]) + "." + str(rows[0][1]) if rows else ""
    metrics |= units | returns(both, both.rented.get(best))
    columns = ("offer", "term", "npv_usd", "over_owned_usd", "usd_per_used_hour", "break_even_months",
               "break_even_utilization_frac", "note")  # fmt: skip
    sides = {"owned": owned.after_tax} | both.rented
    cash = {name: side.cash_usd for name, side in sides.items()} | {"owned": owned.cash_usd}
    tables = {
        "rented": Table(columns, tuple(rows)),
        "sides": pair_table(owned.after_tax, both.rented.get(best), best, both.rate),
        "lines": lines_table(sides, both.rate),
        "bridge": bridge_table(owned.plan_npv_usd, owned.steps, owned.npv_usd),
        "units": per_unit,
        "years": years_table({k: cash[k] for k in ("owned", *_shown(rows))}, _ends(both)),
        "term_structure": term_structure(both),
    }
    return Result(
        "tco", "ok", EXIT_OK, _headline(both, best, npvs),
        scenario=describe(both.question),
        metrics=metrics,
        tables=tables | risk.tables,
        inputs=inputs_of(both.built),
        warnings=[{"code": "note", "message": text} for text in (*risk.notes, *unpriced, *_notes(both))],
        run={"seconds": round(time.monotonic() - began, 3)},
    )  # fmt: skip


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
    owed = both.owned.loan.end_balance_usd if both.owned.loan else 0.0
    ends = {name: -sum(side.end_usd.values()) for name, side in both.rented.items()}
    return ends | {"owned": owed - sum(both.owned.after_tax.end_usd.values())}


def _break_even(both: Comparison, key: str) -> tuple[float | None, float | None]:
    """Months after which owning has cost no more, what the hardware would bring then counted; and in utilization."""
    cash = np.concatenate([[0.0], both.owned.cash_usd])
    rent = np.concatenate([[0.0], both.rented[key].cash_usd])
    monthly = (1.0 + both.rate) ** (1.0 / MONTHS_PER_YEAR) - 1.0
    months = npv_break_even_months(cash, rent, monthly, residual_usd=resale_usd(both), for_good=True)
    if key.rpartition(".")[2] in LENGTHS:  # paid used or not: how much it is used changes nothing
        return _number(months), None
    rented = both.rented[key].npv_usd(both.rate) / both.used_hours
    return _number(months), _number(break_even_utilization_frac(both.owned.npv_usd / both.hours, rented))


def _number(value: object) -> float | None:
    return None if value is None else float(np.asarray(value))


def _notes(both: Comparison) -> list[str]:
    menu = both.built.menu
    own = alike(both.question, both.built)
    known = {o.id for o in own}
    notes = [f"{o.id}: another accelerator than the fleet's, not compared" for o in menu.offers if o.id not in known]
    notes += [
        f"{x.id}: left out, {x.reason}"
        for x in menu.left_out
        if x.kind in ("offer", "term") and x.id not in NOT_PLANNED and x.id not in known
    ]
    short = [o.id for o in own if o.max_accelerators < both.work.accelerators]
    if short:
        notes.append(
            f"{both.work.accelerators:,} accelerators are more than {', '.join(short)} are taken to deliver without a "
            "special agreement (cloud.max_accelerators_per_offer)"
        )
    return notes
