"""``dcplan tco`` of a scenario with demand: sourcing options for the same work."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from dcplan.answers.common.result_blocks import describe, inputs_of
from dcplan.answers.plan.sourcing import Sourcing, SourcingPlan, SourcingPlans, sourcing_plans
from dcplan.answers.tco.owned import Owned, owned_of
from dcplan.answers.tco.request import TcoRequest
from dcplan.answers.tco.schedules import owned_statements, taxes_table
from dcplan.answers.tco.tables import bridge_table, lines_table, years_table
from dcplan.errors import EXIT_INCOMPLETE, EXIT_INFEASIBLE, EXIT_OK
from dcplan.inputs.excluded import Kind
from dcplan.result import Metric, Result, Table
from dcplan.scenario.load import Question
from dcplan.specs.cost.statements import STATEMENTS
from dcplan.specs.tco import figures, offers
from dcplan.units import money

CENT = 0.01
OVERALL_NPV = {
    Sourcing.HYBRID.value: figures.HYBRID_NPV,
    Sourcing.OWNED.value: figures.OWNED_NPV,
    Sourcing.RENTED.value: figures.ALL_RENTED_NPV,
}
"""Present cost metrics of the sourcing options that are not limited to one offer and term."""


@dataclass(frozen=True)
class SourcingOption:
    """One sourcing option, priced after taxes and debt; ``owned`` is None if it is not possible."""

    name: str
    owned: Owned | None
    plan: SourcingPlan
    why: str = ""


@dataclass(frozen=True)
class PricedPlans:
    """All options with their prices: hybrid, owned, rented, then each offer and term alone."""

    question: Question
    made: SourcingPlans
    options: tuple[SourcingOption, ...]


def tco_of_plans(question: Question, request: TcoRequest, began: float) -> Result:
    """Plan the scenario's work for each sourcing option and compare the costs.

    Raises
    ------
    InputError
        When the scenario has no plan, or an objective other than cost.
    """
    made = sourcing_plans(question, request.gap, request.time_limit_s)
    options = [_option(plan, made, question) for plan in made.plans]
    options[0] = _cheapest(options)
    result = _answer(question, made, options, request.gap)
    for maker in request.more_tables:
        result.tables |= maker(PricedPlans(question, made, tuple(options)))
    result.run = {"seconds": round(time.monotonic() - began, 3)}
    return result


def _cheapest(options: list[SourcingOption]) -> SourcingOption:
    """Return the hybrid, or the option that is cheaper after taxes and set-up.

    All owned and all rented are special cases of the hybrid.
    """
    possible = [w for w in options if w.owned is not None]
    if not possible:
        return options[0]
    best = min(possible, key=lambda w: w.owned.npv_usd if w.owned else math.inf)
    return replace(best, name=options[0].name)


def _option(plan: SourcingPlan, made: SourcingPlans, question: Question) -> SourcingOption:
    if plan.cost is None:
        return SourcingOption(plan.name, None, plan, _reason(plan, made))
    return SourcingOption(plan.name, owned_of(question, plan.cost, made.log), plan)


def _reason(plan: SourcingPlan, made: SourcingPlans) -> str:
    if not plan.infeasible:
        return "no plan found in time"
    if plan.sourcing is Sourcing.RENTED and not made.offers:
        return "the scenario has no cloud: block"
    return "no plan for the work within the limits; run dcplan explain FILE to see which ones" + (
        "" if plan.sourcing is Sourcing.HYBRID else " (with this sourcing option alone)"
    )


def _answer(
    question: Question, made: SourcingPlans, options: list[SourcingOption], gap: float
) -> Result:
    rate, hybrid = made.discount_rate, options[0].owned
    metrics: dict[str, Metric] = {}
    for sourced in options:
        metrics |= _npv(sourced)
    known = {w.name: w.owned for w in options if w.owned is not None}
    tables = {
        "sourcing": _options_table(options),
        "lines": lines_table(
            {name: owned.after_tax for name, owned in known.items()},
            rate,
            {name: owned.debt_lines(rate) for name, owned in known.items()},
        ),
    }
    if hybrid is not None:
        tables["bridge"] = bridge_table(hybrid.plan_npv_usd, hybrid.steps, hybrid.npv_usd)
        tables["taxes"] = taxes_table(hybrid)
        tables[STATEMENTS.name] = owned_statements(hybrid)
    residuals = {
        n: (o.loan.owed_at_end_usd if o.loan else 0.0) - sum(o.after_tax.end_usd.values())
        for n, o in known.items()
    }
    if known:
        tables["years"] = years_table({n: o.cash_usd for n, o in known.items()}, residuals, {})
    done = all(w.plan.proved or w.plan.gap_frac <= gap for w in options)
    status, code = ("ok", EXIT_OK) if done else ("incomplete", EXIT_INCOMPLETE)
    if done and not known:
        status, code = "infeasible", EXIT_INFEASIBLE
    return Result(
        "tco",
        status,
        code,
        _headline(question, known),
        scenario=describe(question),
        metrics=metrics,
        tables=tables,
        inputs=inputs_of(made),
        warnings=[{"code": "note", "message": text} for text in _notes(question, made)],
    )


def _npv(sourced: SourcingOption) -> dict[str, Metric]:
    """Return the metric of an option's present cost; nothing if it is not possible."""
    if sourced.owned is None:
        return {}
    npv = sourced.owned.npv_usd
    whole = OVERALL_NPV.get(sourced.name)
    if whole is not None:
        return whole(npv)
    return figures.RENTED_NPV(npv, sourced.plan.offer, sourced.plan.term)


def _options_table(options: list[SourcingOption]) -> Table:
    """List hybrid, owned and rented, then each offer and term alone, the cheapest first."""
    hybrid = options[0].owned
    alone = sorted(
        options[len(Sourcing) :], key=lambda w: w.owned.npv_usd if w.owned is not None else math.inf
    )
    return offers.SOURCING.table(
        _option_row(sourced, hybrid) for sourced in (*options[: len(Sourcing)], *alone)
    )


def _option_row(sourced: SourcingOption, hybrid: Owned | None) -> offers.SourcingRow:
    cost = sourced.plan.cost
    if sourced.owned is None or cost is None:
        return offers.SourcingRow(sourced.name, note=sourced.why)
    npv = sourced.owned.npv_usd
    over = npv - hybrid.npv_usd if hybrid is not None else None
    return offers.SourcingRow(
        option=sourced.name,
        npv_usd=npv,
        above_hybrid_usd=0.0 if over is not None and abs(over) < CENT else over,
        owned_accelerators=cost.owned_accelerators,
        rented_hours=cost.rented_hours,
        gap_frac=sourced.plan.gap_frac,
    )


def _headline(question: Question, known: dict[str, Owned]) -> str:
    parts = [
        f"{name} USD {money(known[name].npv_usd)}"
        for name in ("owned", "rented", "hybrid")
        if name in known
    ]
    missing = [name for name in ("owned", "rented", "hybrid") if name not in known]
    words = f"{question.scenario.name}: present cost of the same work: " + ", ".join(parts)
    return words + (f"; no plan for {' or '.join(missing)} alone" if missing else "")


def _notes(question: Question, made: SourcingPlans) -> list[str]:
    notes = [
        f"{x.id}: excluded, {x.reason}" for x in made.excluded if x.kind in (Kind.OFFER, Kind.TERM)
    ]
    notes += made.notes
    if question.scenario.assets or question.scenario.orders:
        notes.append("all options keep hardware in service and on order")
    return notes
