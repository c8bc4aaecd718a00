"""``dcplan plan --hedge``: first decisions that are good for several variants at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.common.result_blocks import describe, inputs_of, solver_block
from dcplan.answers.plan.metrics import metrics_of
from dcplan.answers.plan.request import PlanRequest
from dcplan.answers.plan.tables.overview import tables_of
from dcplan.errors import (
    EXIT_INCOMPLETE,
    EXIT_INFEASIBLE,
    EXIT_INTERRUPTED,
    EXIT_OK,
    AuditError,
    InputError,
)
from dcplan.planning.keys import Key
from dcplan.planning.model.build import build_model
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.switch_steps import with_steps
from dcplan.planning.solve import highs
from dcplan.planning.solve.audited import audited_solution
from dcplan.planning.solve.highs import Outcome
from dcplan.planning.solve.matrix import Matrix, compile_model
from dcplan.planning.solve.repair import MARGIN_FACTORS
from dcplan.planning.solve.request import Clock
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import LEAST_S, MOST_STEPS
from dcplan.planning.uncertainty.hedge import Stack, first_of, stacked, tail_mean
from dcplan.result import Metric, Result, Table
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Hedge
from dcplan.specs.plan import metrics as figures
from dcplan.specs.plan.decided import HEDGE, HedgeRow
from dcplan.units import USD_PER_MUSD, money, quarter_index

TOGETHER_SHARE = 0.6
"""Share of the time limit for the plan of all variants.

The rest is for each alone and for the first plan in the others.
"""


@dataclass(frozen=True)
class World:
    """One variant: its question, what may be chosen in it, and how likely it is."""

    name: str
    weight: float
    question: Question
    built: Built


@dataclass(frozen=True)
class Hedged:
    """What is asked of a hedge, and the time that is left for it."""

    request: PlanRequest
    worlds: tuple[World, ...]
    asked: Hedge
    through: int
    """Last quarter whose decisions are common to all variants."""
    clock: Clock

    @property
    def weights(self) -> list[float]:
        """Probability of each variant."""
        return [w.weight for w in self.worlds]

    @property
    def main(self) -> int:
        """Place of the likeliest variant."""
        return max(range(len(self.worlds)), key=lambda i: (self.weights[i], -i))

    def left_s(self) -> float:
        """Return the time that is left, a second at least [s]."""
        return self.clock.left(LEAST_S)


@dataclass(frozen=True)
class Together:
    """The plan of all variants, audited in each, and the proven bound of its cost."""

    outcome: Outcome
    plans: list[Solved]
    bound_musd: float


def hedge(request: PlanRequest) -> Result:
    """Plan for several variants with the first decisions in common.

    ``uncertainty.hedge`` names them. Two costs are shown beside it: what each variant would cost
    alone, were it known (wait and see), and what the plan of the likeliest variant costs in the
    others. Their differences are the value of knowing, and of hedging.

    Raises
    ------
    InputError
        When there is no ``uncertainty.hedge``, or a variant has no plan of its own.
    """
    clock = Clock(request.time_limit_s)
    question = request.question()
    asked = _asked(question)
    through = quarter_index(asked.through) - quarter_index(question.scenario.horizon.start)
    h = Hedged(request, _worlds(request, asked), asked, through, clock)
    found = _together(h, TOGETHER_SHARE * h.left_s())
    if found.plans:
        found = replace(found, plans=_settled(h, found.plans))
    count = len(h.worlds)
    alone = [_alone(h, w, {}, h.left_s() / (2 * count)) for w in h.worlds]
    if not found.plans:
        return _none(question, h, found.outcome, alone)
    firsts = first_of(alone[h.main].whole, through)
    kept = [
        alone[i] if i == h.main else _alone(h, w, firsts, h.left_s() / count)
        for i, w in enumerate(h.worlds)
    ]
    return _result(question, h, found, alone, kept)


def _asked(question: Question) -> Hedge:
    uncertainty = question.scenario.uncertainty
    if uncertainty is None or uncertainty.hedge is None:
        cause = "--hedge needs uncertainty.hedge: {through: QUARTER, weights: {VARIANT: weight, …}}"
        raise InputError([question.tree.problem("DC003", cause, ("uncertainty",))])
    if question.scenario.objective != "min_cost":
        cause = (
            f"--hedge is of the cheapest plan: objective {question.scenario.objective} is not "
            "supported here"
        )
        raise InputError([question.tree.problem("DC004", cause, ("objective",))])
    return uncertainty.hedge


def _worlds(request: PlanRequest, asked: Hedge) -> tuple[World, ...]:
    total = sum(q.value for q in asked.weights.values())
    worlds, problems = [], []
    for name, weight in asked.weights.items():
        question = replace(request, variant=None if name == "base" else name).question()
        built = build(question)
        found = presolve(question, built)
        problems += [replace(p, cause=f"variant {name}: {p.cause}") for p in found]
        worlds.append(World(name, weight.value / total, question, built))
    spans = {(w.built.menu.start, w.built.menu.quarters) for w in worlds}
    if len(spans) > 1:
        cause = "the variants have different horizons: they cannot share decisions by quarter"
        problems.append(worlds[0].question.tree.problem("DC015", cause, ("uncertainty", "hedge")))
    if problems:
        raise InputError(problems)
    return tuple(worlds)


def _together(h: Hedged, time_limit_s: float) -> Together:
    """Plan all variants at once and audit the plan in each."""
    clock, bound = Clock(time_limit_s), -np.inf
    for factor in MARGIN_FACTORS:
        menus = [
            replace(with_steps(w.built.menu, MOST_STEPS // len(h.worlds)), margin_factor=factor)
            for w in h.worlds
        ]
        matrices = [compile_model(build_model(menu)[0]) for menu in menus]
        stack = stacked(matrices, h.weights, h.through, h.asked.tail_frac)
        outcome = highs.solve(
            stack.matrix,
            gap=h.request.gap,
            time_limit_s=clock.left(LEAST_S),
            progress=h.request.progress,
            stop=h.request.stop,
        )
        bound = outcome.bound if factor == 0 else bound
        if outcome.values is None:
            return Together(outcome, [], bound)
        plans = [
            _plan(w, m, stack, i, outcome)
            for i, (w, m) in enumerate(zip(h.worlds, matrices, strict=True))
        ]
        if all(p.audit is not None and p.audit.passed for p in plans):
            return Together(outcome, plans, bound)
    failed = next(p.audit for p in plans if p.audit is not None and not p.audit.passed)
    msg = "the hedged plan fails its audit: " + "; ".join(failed.problems[:5])
    raise AuditError(msg)


def _settled(h: Hedged, plans: Sequence[Solved]) -> list[Solved]:
    """Plan each variant at its best with the first decisions taken.

    A tail, or a tiny weight, does not care for all variants.
    """
    result = []
    for world, plan in zip(h.worlds, plans, strict=True):
        share = h.left_s() / (3 * len(h.worlds))
        better = _alone(h, world, first_of(plan.whole, h.through), share)
        costs = [
            x.audit.npv_usd if x.audit is not None and x.audit.passed else np.inf
            for x in (plan, better)
        ]
        result.append(better if costs[1] < costs[0] else plan)
    return result


def _plan(world: World, matrix: Matrix, stack: Stack, i: int, outcome: Outcome) -> Solved:
    if outcome.values is None:
        msg = "no values"
        raise ValueError(msg)
    own = replace(outcome, values=stack.values(i, outcome.values))
    return audited_solution(world.built.menu, matrix, own, world.question)


def _alone(h: Hedged, world: World, firsts: Mapping[Key, float], time_limit_s: float) -> Solved:
    """Plan one variant by itself, first decisions given or free; widened until switches fit."""
    last: Solved | None = None
    for factor in MARGIN_FACTORS:
        menu = replace(with_steps(world.built.menu, MOST_STEPS), margin_factor=factor)
        matrix = compile_model(build_model(menu)[0])
        held = {i: firsts[c] for i, c in enumerate(matrix.columns) if c in firsts} or None
        outcome = highs.solve(
            matrix, gap=h.request.gap, time_limit_s=time_limit_s, fixed=held, stop=h.request.stop
        )
        last = audited_solution(world.built.menu, matrix, outcome, world.question)
        if outcome.values is None or (last.audit is not None and last.audit.passed):
            return last
    if last is None:
        msg = "no margin tried"
        raise ValueError(msg)
    return last


def _cost(plan: Solved) -> float | None:
    return plan.audit.npv_usd if plan.audit is not None and plan.audit.passed else None


def _none(question: Question, h: Hedged, outcome: Outcome, alone: Sequence[Solved]) -> Result:
    """Answer that no plan is common to all variants, or none was found."""
    proved = outcome.status == SolveStatus.INFEASIBLE
    words = "no plan shares these first decisions" if proved else "no plan found in time"
    unable = [w.name for w, one in zip(h.worlds, alone, strict=True) if _cost(one) is None]
    words += f": {', '.join(unable)} has none by itself" if unable else ""
    return Result(
        "plan",
        "infeasible" if proved else "incomplete",
        EXIT_INFEASIBLE if proved else EXIT_INCOMPLETE,
        f"{question.scenario.name}: {words}",
        scenario=describe(question),
    )


def _result(
    question: Question, h: Hedged, found: Together, alone: Sequence[Solved], kept: Sequence[Solved]
) -> Result:
    costs = [p.audit.npv_usd if p.audit else 0.0 for p in found.plans]
    hedged = tail_mean(costs, h.weights, h.asked.tail_frac)
    gap_frac = max(hedged - found.bound_musd * USD_PER_MUSD, 0.0) / max(abs(hedged), 1.0)
    main, likeliest = found.plans[h.main], h.worlds[h.main]
    metrics = metrics_of(main, likeliest.question.catalog)
    metrics |= _values(h, hedged, [_cost(x) for x in alone], [_cost(x) for x in kept])
    metrics |= figures.GAP(gap_frac, label="Proven gap against the audited cost of all variants")
    metrics |= figures.BOUND(found.bound_musd * USD_PER_MUSD, label="No such plan costs less")
    done = found.outcome.status == SolveStatus.OPTIMAL or gap_frac <= h.request.gap
    status, code = ("ok", EXIT_OK) if done else ("incomplete", EXIT_INCOMPLETE)
    if h.request.stopped:
        status, code = "interrupted", EXIT_INTERRUPTED
    tail = h.asked.tail_frac
    what = "expected" if tail >= 1 else f"mean of the worst {tail:.0%}"
    headline = (
        f"{question.scenario.name}: USD {money(hedged)} net present cost, {what} of "
        f"{len(h.worlds)} variants, decided together through {h.asked.through}; "
        f"gap {gap_frac:.2%}; shown is the plan in {likeliest.name}"
    )
    return Result(
        "plan",
        status,
        code,
        headline,
        scenario=describe(likeliest.question),
        solver=solver_block(main),
        metrics=metrics,
        tables={"hedge": _variants(h, costs, alone, kept)}
        | tables_of(main, metrics, likeliest.question.catalog),
        inputs=inputs_of(likeliest.built),
        warnings=[],
        run={"seconds": round(h.clock.spent(), 3)},
    )


def _variants(
    h: Hedged, costs: Sequence[float], alone: Sequence[Solved], kept: Sequence[Solved]
) -> Table:
    """Return each variant's cost under the hedge, alone, and with the likeliest's decisions."""
    first_plan = f"first_plan_of_{h.worlds[h.main].name}_npv_usd"
    rows = [
        (HedgeRow(w.name, w.weight, cost, _cost(one)), {first_plan: _cost(other)})
        for w, cost, one, other in zip(h.worlds, costs, alone, kept, strict=True)
    ]
    return HEDGE.wide_table(rows, (first_plan,))


def _values(
    h: Hedged, hedged: float, alone: Sequence[float | None], kept: Sequence[float | None]
) -> dict[str, Metric]:
    """Return the hedged cost, and by how much knowing the variant, or hedging, is worth it."""
    metrics = figures.HEDGED_NPV(hedged)
    seen = [x for x in alone if x is not None]
    if len(seen) == len(alone):
        metrics |= figures.VALUE_OF_KNOWING(hedged - tail_mean(seen, h.weights, h.asked.tail_frac))
    held = [x for x in kept if x is not None]
    if len(held) == len(kept):
        metrics |= figures.VALUE_OF_HEDGING(tail_mean(held, h.weights, h.asked.tail_frac) - hedged)
    return metrics
