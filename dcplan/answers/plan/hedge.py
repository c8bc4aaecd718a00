"""``dcplan plan --hedge``: first decisions that are good for several variants of a scenario at
once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dcplan.answers.common.result_blocks import describe, inputs_of, solver_block
from dcplan.answers.plan.metrics import metrics_of
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
from dcplan.planning.solve.highs import Outcome, Progress
from dcplan.planning.solve.matrix import Matrix, compile_model
from dcplan.planning.solve.repair import MARGIN_FACTORS
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import MOST_STEPS
from dcplan.planning.uncertainty.hedge import Stack, first_of, stacked, tail_mean
from dcplan.result import Cell, Metric, Result, Table
from dcplan.scenario.load import Question, load
from dcplan.scenario.schema import Hedge
from dcplan.units import USD_PER_MUSD, money, quarter_index

TOGETHER_SHARE = 0.6
"""Of the time limit, for the plan of all variants; the rest is for each alone and for the first
plan in the others."""


@dataclass(frozen=True)
class World:
    """One variant: its question, what may be chosen in it, and how likely it is."""

    name: str
    weight: float
    question: Question
    built: Built


def hedge(
    scenario: str | Path,
    *,
    sets: Sequence[str] = (),
    catalogs: Sequence[str] = (),
    gap: float = 0.005,
    time_limit_s: float = 120.0,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Result:
    """Plan for several variants with the first decisions in common; ``uncertainty.hedge`` names
    them.

    Shown beside it: what each variant would cost alone, were it known (wait and see), and what the
    plan of the likeliest variant costs in the others. Their differences are the value of knowing,
    and of hedging.

    Raises
    ------
    InputError
        When there is no ``uncertainty.hedge``, or a variant has no plan of its own.
    """
    began = time.monotonic()

    def left_s() -> float:
        return max(time_limit_s - (time.monotonic() - began), 1.0)

    question = load(str(scenario), sets=sets, catalogs=catalogs)
    asked = _asked(question)
    worlds = _worlds(scenario, asked, sets, catalogs)
    horizon = question.scenario.horizon
    through = quarter_index(asked.through) - quarter_index(horizon.start)
    found = _together(worlds, asked, through, gap, TOGETHER_SHARE * left_s(), progress, stop)
    found = found[0], _settled(worlds, found[1], through, gap, left_s, stop), found[2]
    alone = [_alone(w, {}, gap, left_s() / (2 * len(worlds)), stop) for w in worlds]
    main = max(range(len(worlds)), key=lambda i: (worlds[i].weight, -i))
    firsts = first_of(alone[main].whole, through)
    kept = [
        alone[i] if i == main else _alone(w, firsts, gap, left_s() / len(worlds), stop)
        for i, w in enumerate(worlds)
    ]
    return _result(question, worlds, asked, found, alone, kept, main, began, gap, stop)


def _asked(question: Question) -> Hedge:
    uncertainty = question.scenario.uncertainty
    if uncertainty is None or uncertainty.hedge is None:
        cause = "--hedge needs uncertainty.hedge: {through: QUARTER, weights: {VARIANT: weight, …}}"
        raise InputError([question.tree.problem("DC003", cause, ("uncertainty",))])
    if question.scenario.objective != "min_cost":
        cause = f"--hedge is of the cheapest plan: objective {question.scenario.objective} is not supported here"
        raise InputError([question.tree.problem("DC004", cause, ("objective",))])
    return uncertainty.hedge


def _worlds(
    scenario: str | Path, asked: Hedge, sets: Sequence[str], catalogs: Sequence[str]
) -> list[World]:
    total = sum(q.value for q in asked.weights.values())
    worlds, problems = [], []
    for name, weight in asked.weights.items():
        question = load(
            str(scenario), variant=None if name == "base" else name, sets=sets, catalogs=catalogs
        )
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
    return worlds


def _together(
    worlds: Sequence[World],
    asked: Hedge,
    through: int,
    gap: float,
    time_limit_s: float,
    progress: Progress | None,
    stop: Callable[[], bool] | None,
) -> tuple[Outcome, list[Solved], float]:
    """The plan of all variants, audited in each; and the proven bound of its cost."""
    began, bound = time.monotonic(), -np.inf
    weights = [w.weight for w in worlds]
    for factor in MARGIN_FACTORS:
        menus = [
            replace(with_steps(w.built.menu, MOST_STEPS // len(worlds)), margin_factor=factor)
            for w in worlds
        ]
        matrices = [compile_model(build_model(menu)[0]) for menu in menus]
        stack = stacked(matrices, weights, through, asked.tail_frac)
        left = max(time_limit_s - (time.monotonic() - began), 1.0)
        outcome = highs.solve(
            stack.matrix, gap=gap, time_limit_s=left, progress=progress, stop=stop
        )
        bound = outcome.bound if factor == 0 else bound
        if outcome.values is None:
            return outcome, [], bound
        plans = [
            _plan(w, m, stack, i, outcome)
            for i, (w, m) in enumerate(zip(worlds, matrices, strict=True))
        ]
        if all(p.audit is not None and p.audit.passed for p in plans):
            return outcome, plans, bound
    failed = next(p.audit for p in plans if p.audit is not None and not p.audit.passed)
    msg = "the hedged plan fails its audit: " + "; ".join(failed.problems[:5])
    raise AuditError(msg)


def _settled(
    worlds: Sequence[World],
    plans: Sequence[Solved],
    through: int,
    gap: float,
    left_s: Callable[[], float],
    stop: Callable[[], bool] | None,
) -> list[Solved]:
    """Each variant at its best with the first decisions taken: a tail, or a tiny weight, does not
    care for all.
    """
    result = []
    for world, plan in zip(worlds, plans, strict=True):
        better = _alone(
            world, first_of(plan.whole, through), gap, left_s() / (3 * len(worlds)), stop
        )
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


def _alone(
    world: World,
    firsts: Mapping[Key, float],
    gap: float,
    time_limit_s: float,
    stop: Callable[[], bool] | None,
) -> Solved:
    """A variant by itself, first decisions given or free; widened until whole switches fit."""
    last: Solved | None = None
    for factor in MARGIN_FACTORS:
        menu = replace(with_steps(world.built.menu, MOST_STEPS), margin_factor=factor)
        matrix = compile_model(build_model(menu)[0])
        held = {i: firsts[c] for i, c in enumerate(matrix.columns) if c in firsts} or None
        outcome = highs.solve(matrix, gap=gap, time_limit_s=time_limit_s, fixed=held, stop=stop)
        last = audited_solution(world.built.menu, matrix, outcome, world.question)
        if outcome.values is None or (last.audit is not None and last.audit.passed):
            return last
    if last is None:
        msg = "no margin tried"
        raise ValueError(msg)
    return last


def _cost(plan: Solved) -> float | None:
    return plan.audit.npv_usd if plan.audit is not None and plan.audit.passed else None


def _result(
    question: Question,
    worlds: Sequence[World],
    asked: Hedge,
    found: tuple[Outcome, list[Solved], float],
    alone: Sequence[Solved],
    kept: Sequence[Solved],
    main: int,
    began: float,
    gap: float,
    stop: Callable[[], bool] | None,
) -> Result:
    outcome, plans, bound = found
    weights = [w.weight for w in worlds]
    if not plans:
        none = outcome.status == SolveStatus.INFEASIBLE
        words = "no plan shares these first decisions" if none else "no plan found in time"
        unable = [w.name for w, one in zip(worlds, alone, strict=True) if _cost(one) is None]
        words += f": {', '.join(unable)} has none by itself" if unable else ""
        status, code = ("infeasible", EXIT_INFEASIBLE) if none else ("incomplete", EXIT_INCOMPLETE)
        return Result(
            "plan", status, code, f"{question.scenario.name}: {words}", scenario=describe(question)
        )
    costs = [p.audit.npv_usd if p.audit else 0.0 for p in plans]
    hedged = tail_mean(costs, weights, asked.tail_frac)
    rows: list[tuple[Cell, ...]] = []
    for w, cost, one, other in zip(worlds, costs, alone, kept, strict=True):
        rows.append((w.name, w.weight, cost, _cost(one), _cost(other)))
    table = Table(
        (
            "variant",
            "weight",
            "hedged_npv_usd",
            "alone_npv_usd",
            f"first_plan_of_{worlds[main].name}_npv_usd",
        ),
        tuple(rows),
    )
    metrics = metrics_of(plans[main], worlds[main].question.catalog)
    gap_frac = max(hedged - bound * USD_PER_MUSD, 0.0) / max(abs(hedged), 1.0)
    metrics |= _values(
        hedged, [_cost(x) for x in alone], [_cost(x) for x in kept], weights, asked.tail_frac
    )
    metrics["solver.gap_frac"] = Metric(
        gap_frac, "", "Proven gap against the audited cost of all variants"
    )
    metrics["solver.bound_usd"] = Metric(bound * USD_PER_MUSD, "USD", "No such plan costs less")
    done = outcome.status == SolveStatus.OPTIMAL or gap_frac <= gap
    status, code = ("ok", EXIT_OK) if done else ("incomplete", EXIT_INCOMPLETE)
    if stop is not None and stop():
        status, code = "interrupted", EXIT_INTERRUPTED
    what = "expected" if asked.tail_frac >= 1 else f"mean of the worst {asked.tail_frac:.0%}"
    headline = (
        f"{question.scenario.name}: USD {money(hedged)} net present cost, {what} of {len(worlds)} variants, "
        f"decided together through {asked.through}; gap {gap_frac:.2%}; shown is the plan in {worlds[main].name}"
    )
    return Result(
        "plan",
        status,
        code,
        headline,
        scenario=describe(worlds[main].question),
        solver=solver_block(plans[main]),
        metrics=metrics,
        tables={"hedge": table} | tables_of(plans[main], metrics, worlds[main].question.catalog),
        inputs=inputs_of(worlds[main].built),
        warnings=[],
        run={"seconds": round(time.monotonic() - began, 3)},
    )


def _values(
    hedged: float,
    alone: Sequence[float | None],
    kept: Sequence[float | None],
    weights: Sequence[float],
    tail_frac: float,
) -> dict[str, Metric]:
    """Expected or tail cost, and by how much knowing the variant, or hedging, is worth it."""
    metrics = {"hedge.npv_usd": Metric(hedged, "USD", "Cost of the hedged plan over all variants")}
    seen = [x for x in alone if x is not None]
    if len(seen) == len(alone):
        value = hedged - tail_mean(seen, weights, tail_frac)
        metrics["hedge.value_of_knowing_usd"] = Metric(
            value, "USD", "Less, were the variant known before signing"
        )
    held = [x for x in kept if x is not None]
    if len(held) == len(kept):
        value = tail_mean(held, weights, tail_frac) - hedged
        metrics["hedge.value_of_hedging_usd"] = Metric(
            value, "USD", "Less than the likeliest variant's own plan"
        )
    return metrics
