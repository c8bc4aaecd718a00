"""``dcplan plan --hedge``: one plan with common first decisions for several variants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcplan.answers.common.result_blocks import describe, inputs_of, solver_block
from dcplan.answers.plan.headline import percent
from dcplan.answers.plan.hedge.guess import Guess, cheapest, expected_usd, guessed
from dcplan.answers.plan.hedge.plans import Hedged, Together, cost_usd, resolve, settled, together
from dcplan.answers.plan.metrics import metrics_of
from dcplan.answers.plan.request import PlanRequest
from dcplan.answers.plan.tables.overview import tables_of
from dcplan.errors import EXIT_INCOMPLETE, EXIT_INFEASIBLE, EXIT_INTERRUPTED, EXIT_OK
from dcplan.planning.solve.highs import Outcome
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import Phase, SolveStatus, begin
from dcplan.planning.uncertainty.hedge import cvar
from dcplan.result import Metric, Result, Table
from dcplan.specs.plan import metrics as figures
from dcplan.specs.plan.decided import HEDGE, HedgeRow
from dcplan.units import USD_PER_MUSD, money

TOGETHER_SHARE = 0.8
"""Share of the remaining time for the plan of all variants, after that of each variant alone.

The rest is for each variant with the first decisions of the common plan.
"""


def hedge(request: PlanRequest) -> Result:
    """Plan for several variants with common first decisions.

    ``uncertainty.hedge`` names them. Two costs serve as comparison: the cost of each variant's own
    plan (wait and see), and the cost of the most likely variant's plan in the other variants. The
    differences are the expected value of perfect information and the value of hedging.

    Raises
    ------
    InputError
        When there is no ``uncertainty.hedge``, or a variant has no plan.
    """
    begin(request.progress, Phase.OPTIONS)
    h = resolve(request)
    guess, found = _planned(h)
    if found.outcome.status is SolveStatus.INFEASIBLE and any(
        w.built.problem.later for w in h.variants
    ):
        h = h.waiting
        guess, found = _planned(h)
    if not found.plans:
        return _none(h, found.outcome, guess.own)
    return _result(h, found, guess.own, guess.of_main(h))


def _planned(h: Hedged) -> tuple[Guess, Together]:
    """Plan for one variant, and then for all from there; the cheaper plan is the hedge."""
    begin(h.request.progress, Phase.VARIANTS)
    guess = guessed(h)
    found = together(h, TOGETHER_SHARE * h.left_s(), guess.best(h))
    begin(h.request.progress, Phase.VARIANTS)
    if found.plans:
        found = replace(found, plans=settled(h, found.plans))
    return guess, cheapest(h, found, guess)


def _none(h: Hedged, outcome: Outcome, own: Sequence[Solved]) -> Result:
    """Answer that no common plan exists for all variants, or that none was found."""
    proved = outcome.status == SolveStatus.INFEASIBLE
    words = "no plan with common first decisions exists" if proved else "no plan found in time"
    unable = [w.name for w, one in zip(h.variants, own, strict=True) if cost_usd(one) is None]
    words += f": no plan for {', '.join(unable)} alone" if unable else ""
    return Result(
        "plan",
        "infeasible" if proved else "incomplete",
        EXIT_INFEASIBLE if proved else EXIT_INCOMPLETE,
        f"{h.question.scenario.name}: {words}",
        scenario=describe(h.question),
    )


def _result(h: Hedged, found: Together, own: Sequence[Solved], kept: Sequence[Solved]) -> Result:
    costs = [plan.cost_usd for plan in found.plans]
    hedged = expected_usd(h, found.plans)
    gap_frac = max(hedged - found.bound_musd * USD_PER_MUSD, 0.0) / max(abs(hedged), 1.0)
    main, likeliest = found.plans[h.main], h.variants[h.main]
    metrics = metrics_of(main, likeliest.question.catalog)
    metrics |= _values(h, hedged, [cost_usd(x) for x in own], [cost_usd(x) for x in kept])
    metrics |= figures.GAP(gap_frac, label="Proven gap to the best possible cost over all variants")
    metrics |= figures.BOUND(
        found.bound_musd * USD_PER_MUSD, label="Lower bound of the cost of any such plan"
    )
    done = found.outcome.status == SolveStatus.OPTIMAL or gap_frac <= h.request.gap
    status, code = ("ok", EXIT_OK) if done else ("incomplete", EXIT_INCOMPLETE)
    if h.request.stopped:
        status, code = "interrupted", EXIT_INTERRUPTED
    tail = h.asked.tail_frac
    what = "expected value" if tail >= 1 else f"mean of the worst {tail:.0%}"
    headline = (
        f"{h.question.scenario.name}: one plan for {len(h.variants)} variants with common "
        f"decisions through {h.asked.through}; USD {money(hedged)} net present cost{h.basis} ({what}), "
        f"within {percent(gap_frac)} of the best possible cost; the tables show the plan in "
        f"variant {likeliest.name}"
    )
    return Result(
        "plan",
        status,
        code,
        headline,
        scenario=describe(likeliest.question),
        solver=solver_block(main),
        metrics=metrics,
        tables={"hedge": _variants(h, costs, own, kept)}
        | tables_of(main, metrics, likeliest.question),
        inputs=inputs_of(likeliest.built),
        warnings=[{"code": "note", "message": note} for note in main.problem.warnings],
        run={"seconds": round(h.clock.spent(), 3)},
    )


def _variants(
    h: Hedged, costs: Sequence[float], own: Sequence[Solved], kept: Sequence[Solved]
) -> Table:
    """Return each variant's cost: hedged, alone, and with the most likely variant's decisions."""
    first_plan = f"first_plan_of_{h.variants[h.main].name}_npv_usd"
    rows = [
        (HedgeRow(w.name, w.weight, cost, cost_usd(one)), {first_plan: cost_usd(other)})
        for w, cost, one, other in zip(h.variants, costs, own, kept, strict=True)
    ]
    return HEDGE.wide_table(rows, (first_plan,))


def _values(
    h: Hedged, hedged: float, own: Sequence[float | None], kept: Sequence[float | None]
) -> dict[str, Metric]:
    """Return the hedged cost, the value of perfect information and the value of hedging."""
    label = f"Expected net present cost{h.basis} of the hedged plan over all variants"
    metrics = figures.HEDGED_NPV(hedged, label=label)
    seen = [x for x in own if x is not None]
    if len(seen) == len(own):
        metrics |= figures.EVPI(hedged - cvar(seen, h.weights, h.asked.tail_frac))
    existing = [x for x in kept if x is not None]
    if len(existing) == len(kept):
        metrics |= figures.VALUE_OF_HEDGING(cvar(existing, h.weights, h.asked.tail_frac) - hedged)
    return metrics
