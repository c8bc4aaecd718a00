"""The variants of a hedge, their common plan and the plan of each one alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.plan.request import PlanRequest
from dcplan.errors import AuditError, InputError
from dcplan.planning.decision_specs import FABRIC
from dcplan.planning.goal import MONEY, OBJECTIVES, Goal
from dcplan.planning.keys import Key
from dcplan.planning.model.build import build_model
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.jobs.soonest import planned_together, with_later_starts
from dcplan.planning.solve import highs
from dcplan.planning.solve.audited import audited_solution
from dcplan.planning.solve.highs import Outcome
from dcplan.planning.solve.kept import PROGRAMS
from dcplan.planning.solve.large.racks import MOST_STEPS
from dcplan.planning.solve.matrix import Matrix, compile_model
from dcplan.planning.solve.request import LEAST_S, Clock
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.starts import known, without_switches
from dcplan.planning.solve.status import Phase, Reporter, SolverProgress, SolveStatus
from dcplan.planning.uncertainty.hedge import Stack, first_of, is_first, stacked
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Hedge
from dcplan.units import quarter_index

MARGIN_FACTORS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0)
"""Rounding margins. 0 is the true relaxation: its bound and its infeasibility also hold for integer
switch counts."""


@dataclass(frozen=True)
class HedgeVariant:
    """One variant: its question, its planning problem and its probability."""

    name: str
    weight: float
    question: Question
    built: Built

    def of(self, problem: PlanningProblem) -> HedgeVariant:
        """Return the variant with another problem."""
        return replace(self, built=replace(self.built, problem=problem))


@dataclass(frozen=True)
class Hedged:
    """The request for a hedge, and the remaining time."""

    request: PlanRequest
    question: Question
    variants: tuple[HedgeVariant, ...]
    asked: Hedge
    through: int
    """Last quarter with decisions common to all variants."""
    clock: Clock

    @property
    def waiting(self) -> Hedged:
        """Return the hedge whose runs without a deadline may start later."""
        later = [w.of(with_later_starts(w.built.problem)) for w in self.variants]
        return replace(self, variants=tuple(later))

    @property
    def weights(self) -> list[float]:
        """Probability of each variant."""
        return [w.weight for w in self.variants]

    @property
    def basis(self) -> str:
        """Return what the present cost of the variants is after, in words that follow it."""
        return self.variants[0].built.problem.goal.basis

    @property
    def main(self) -> int:
        """Index of the most likely variant."""
        return max(range(len(self.variants)), key=lambda i: (self.weights[i], -i))

    def left_s(self) -> float:
        """Return the remaining time, at least one second [s]."""
        return self.clock.left(LEAST_S)


@dataclass(frozen=True)
class Together:
    """The plan of all variants, audited in each, and the proven bound of its cost."""

    outcome: Outcome
    plans: list[Solved]
    bound_musd: float


def resolve(request: PlanRequest) -> Hedged:
    """Load every variant of a hedge and build its planning problem.

    Raises
    ------
    InputError
        When there is no ``uncertainty.hedge``, or a variant can have no plan.
    """
    clock = Clock(request.time_limit_s)
    question = request.question()
    asked = _asked(question)
    through = quarter_index(asked.through) - quarter_index(question.scenario.horizon.start)
    variants = _variants(request, asked)
    return Hedged(request, question, variants, asked, through, clock)


def _asked(question: Question) -> Hedge:
    uncertainty = question.scenario.uncertainty
    if uncertainty is None or uncertainty.hedge is None:
        cause = "--hedge needs uncertainty.hedge: {through: QUARTER, weights: {VARIANT: weight, …}}"
        raise InputError([question.tree.problem("DC003", cause, ("uncertainty",))])
    return uncertainty.hedge


def _goal(question: Question) -> Goal:
    """Return the cost that the hedge minimizes in a variant, before or after taxes and debt.

    Raises
    ------
    InputError
        When the objective is not a cost.
    """
    objective = question.scenario.objective
    if OBJECTIVES[objective] not in MONEY:
        costs = " or ".join(name for name, measure in OBJECTIVES.items() if measure in MONEY)
        cause = f"objective {objective} is not supported here: --hedge needs {costs}"
        raise InputError([question.tree.problem("DC004", cause, ("objective",))])
    return Goal(OBJECTIVES[objective])


def _variants(request: PlanRequest, asked: Hedge) -> tuple[HedgeVariant, ...]:
    total = sum(q.value for q in asked.weights.values())
    variants, problems = [], []
    for name, weight in asked.weights.items():
        question = replace(request, variant=None if name == "base" else name).question()
        built = build(question)
        found = presolve(question, built)
        problems += [replace(p, cause=f"variant {name}: {p.cause}") for p in found]
        variant = HedgeVariant(name, weight.value / total, question, built)
        variants.append(variant.of(replace(built.problem, goal=_goal(question))))
    spans = {(w.built.problem.start, w.built.problem.quarters) for w in variants}
    if len(spans) > 1:
        cause = "the variants have different horizons and cannot share decisions by quarter"
        problems.append(variants[0].question.tree.problem("DC015", cause, ("uncertainty", "hedge")))
    if len({w.built.problem.goal for w in variants}) > 1:
        cause = (
            "the variants have different objectives and their costs cannot be added: give all of "
            "them the same objective"
        )
        problems.append(variants[0].question.tree.problem("DC015", cause, ("uncertainty", "hedge")))
    if problems:
        raise InputError(problems)
    shared = planned_together([w.built.problem for w in variants])
    return tuple(w.of(problem) for w, problem in zip(variants, shared, strict=True))


def together(h: Hedged, time_limit_s: float, start: Sequence[Solved] = ()) -> Together:
    """Plan all variants together and audit the plan in each.

    ``start`` are plans of all variants with common first decisions, where the search begins.
    """
    clock, bound = Clock(time_limit_s), -np.inf
    for factor in MARGIN_FACTORS:
        problems_by_variant = [
            replace(
                with_steps(w.built.problem, MOST_STEPS // len(h.variants), exact=False),
                margin_factor=factor,
            )
            for w in h.variants
        ]
        matrices = [compile_model(build_model(problem)[0]) for problem in problems_by_variant]
        stack = stacked(matrices, h.weights, h.through, h.asked.tail_frac)
        outcome = highs.solve(
            stack.matrix,
            gap=h.request.gap,
            time_limit_s=clock.left(LEAST_S),
            start=_start(stack, matrices, start),
            watch=highs.Watch(_reported(h, factor), h.request.stop),
        )
        bound = outcome.bound if factor == 0 else bound
        if outcome.values is None:
            return Together(outcome, [], bound)
        plans = [
            _plan(w, m, stack, i, outcome)
            for i, (w, m) in enumerate(zip(h.variants, matrices, strict=True))
        ]
        if all(p.audit is not None and p.audit.passed for p in plans):
            return Together(outcome, plans, bound)
    failed = next(p.audit for p in plans if p.audit is not None and not p.audit.passed)
    msg = "the hedged plan fails its audit: " + "; ".join(failed.problems[:5])
    raise AuditError(msg)


def _start(stack: Stack, matrices: Sequence[Matrix], plans: Sequence[Solved]) -> dict[int, float]:
    """Return the integers of the plans of all variants by column of the common program."""
    found: dict[int, float] = {}
    for matrix, at, plan in zip(matrices, stack.places, plans, strict=bool(plans)):
        own = without_switches(known(matrix, plan.integer_values), matrix)
        found |= {int(at[i]): n for i, n in own.items()}
    return found


def _reported(h: Hedged, factor: float) -> SolverProgress | None:
    """Return the callback of a common solve; with margins its bound does not hold."""
    phase = Phase.MARGINS if factor else Phase.TOGETHER
    return Reporter(h.request.progress).of_solver(phase, bounds=not factor)


def settled(h: Hedged, plans: Sequence[Solved]) -> list[Solved]:
    """Re-solve each variant with the first decisions fixed.

    The common solve neglects variants outside the tail or with a tiny weight.
    """
    result: list[Solved] = []
    for variant, plan in zip(h.variants, plans, strict=True):
        share = h.left_s() / (len(h.variants) - len(result))
        better = alone(h, variant, first_of(plan.integer_values, h.through), share)
        before, after = cost_usd(plan), cost_usd(better)
        worse = after is None or (before is not None and after >= before)
        result.append(plan if worse else better)
    return result


def _plan(variant: HedgeVariant, matrix: Matrix, stack: Stack, i: int, outcome: Outcome) -> Solved:
    if outcome.values is None:
        msg = "no values"
        raise ValueError(msg)
    own = replace(outcome, values=stack.values(i, outcome.values))
    return audited_solution(variant.built.problem, matrix, own, variant.question)


def alone(
    h: Hedged, variant: HedgeVariant, firsts: Mapping[Key, float], time_limit_s: float
) -> Solved:
    """Plan one variant alone, first decisions fixed or free; widen margins until switches fit.

    The bound is that without margins.
    """
    last: Solved | None = None
    bound = -np.inf
    for factor in MARGIN_FACTORS:
        problem = replace(
            with_steps(variant.built.problem, MOST_STEPS, exact=True), margin_factor=factor
        )
        matrix = PROGRAMS.compiled(problem)  # a variant is planned three times
        existing = _fixed(matrix, firsts, h.through)
        outcome = (
            Outcome(SolveStatus.INFEASIBLE, np.inf, np.inf, None, 0.0, 0)
            if existing is None
            else highs.solve(
                matrix,
                gap=h.request.gap,
                time_limit_s=time_limit_s,
                fixed=existing,
                watch=highs.Watch(stop=h.request.stop),
            )
        )
        bound = outcome.bound if factor == 0 else bound
        last = audited_solution(variant.built.problem, matrix, outcome, variant.question)
        last = replace(last, bound=bound)
        if outcome.values is None or (last.audit is not None and last.audit.passed):
            return last
    if last is None:
        msg = "no margin was tried"
        raise ValueError(msg)
    return last


def _fixed(matrix: Matrix, firsts: Mapping[Key, float], through: int) -> dict[int, float] | None:
    """Return the columns of first decisions with their values; None if a variant does not offer one.

    A decision of the variant alone that is not among them is not made.
    """
    if not firsts:
        return {}
    found = {}
    for i, key in enumerate(matrix.columns):
        if key in firsts or (is_first(key, through) and key.name != FABRIC.variable):
            found[i] = firsts.get(key, 0.0)
            if not matrix.lower[i] <= round(found[i]) <= matrix.upper[i]:
                return None
    offered = {matrix.columns[i] for i in found}
    return found if all(key in offered for key, n in firsts.items() if round(n)) else None


def cost_usd(plan: Solved) -> float | None:
    """Return the audited cost of a plan; None without a plan [USD].

    It is after taxes, payment terms and debt if the objective is, otherwise before them.
    """
    return plan.cost_usd if plan.audit is not None and plan.audit.passed else None
