"""The best plans for the same work with owned hardware, rented hardware or both."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

from dcplan.answers.plan.plan_cost import PlanCost, plan_cost
from dcplan.errors import InputError
from dcplan.inputs.cloud_prices import cloud_place, is_cloud, row_of
from dcplan.inputs.excluded import ExcludedOption
from dcplan.inputs.log import InputLog
from dcplan.planning.goal import MONEY, OBJECTIVES, Goal
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.request import LEAST_S, Clock, SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import solve_problem
from dcplan.scenario.load import Question

MOST_PAIRS = 12
"""Largest number of offers and terms planned one by one; above it, only the best mix is planned."""
HYBRID_SHARE, OWNED_SHARE, RENTED_SHARE = 0.4, 0.3, 0.5
"""Shares of the remaining time at the start of each plan; offers and terms divide the last one."""


class Sourcing(StrEnum):
    """Allowed sources of a plan's accelerators."""

    HYBRID = "hybrid"
    OWNED = "owned"
    RENTED = "rented"
    """Including hardware in service or on order."""


@dataclass(frozen=True)
class SourcingPlan:
    """The best plan of one sourcing option; no cost if no plan was found."""

    sourcing: Sourcing
    cost: PlanCost | None
    gap_frac: float
    """Proven gap of the plan."""
    infeasible: bool
    proved: bool
    """Whether the search ended with a proof."""
    offer: str = ""
    """Id of the only offer allowed; empty for all offers."""
    term: str = ""
    """The only term allowed of that offer."""
    solved: Solved | None = None
    """The audited plan with its problem; None if no plan was found."""

    @property
    def name(self) -> str:
        """Key of the option in metrics and tables."""
        return ".".join(x for x in (self.sourcing.value, row_of(self.offer), self.term) if x)


@dataclass(frozen=True)
class SourcingPlans:
    """The plans of all options, and their inputs."""

    plans: tuple[SourcingPlan, ...]
    """Hybrid, owned, rented, then each offer and term alone."""
    log: InputLog
    discount_rate: float
    offers: tuple[str, ...]
    """Ids of the offers that a plan could rent."""
    excluded: tuple[ExcludedOption, ...]
    notes: tuple[str, ...]
    """What the plans do not count or use."""


def sourcing_plans(question: Question, gap: float, time_limit_s: float) -> SourcingPlans:
    """Plan the scenario's work for each sourcing option.

    Raises
    ------
    InputError
        When the scenario has no plan, or an objective other than cost.
    """
    clock = Clock(time_limit_s)
    built = build(question)
    problems = presolve(question, built)
    if problems:
        raise InputError(problems)
    if OBJECTIVES[question.scenario.objective] not in MONEY:
        cause = f"objective {question.scenario.objective} is not supported here: tco needs min_cost"
        raise InputError(
            [question.tree.problem("DC004", cause, ("objective",), help="--set objective=min_cost")]
        )

    def plan(
        sourcing: Sourcing, problem: PlanningProblem, share: float, *pair: str
    ) -> SourcingPlan:
        return _plan(sourcing, problem, question, gap, share * clock.left(LEAST_S), *pair)

    problem = replace(built.problem, goal=Goal(OBJECTIVES[question.scenario.objective]))
    rented = _without_orders(problem)
    plans = [
        plan(Sourcing.HYBRID, problem, HYBRID_SHARE),
        plan(Sourcing.OWNED, _without_cloud(problem), OWNED_SHARE),
        plan(Sourcing.RENTED, rented, RENTED_SHARE),
    ]
    all_rented = plans[-1]
    pairs = [(o.id, term) for o in problem.offers for term in o.planned_terms]
    for offer, term in pairs if 1 < len(pairs) <= MOST_PAIRS else []:
        if all_rented.infeasible:  # proved for all offers together, so for each alone
            plans.append(replace(all_rented, offer=offer, term=term))
            continue
        only, share = _one_offer(rented, offer, term), RENTED_SHARE / len(pairs)
        plans.append(plan(Sourcing.RENTED, only, share, offer, term))
    if len(pairs) == 1:
        ((offer, term),) = pairs
        plans.append(replace(plans[-1], offer=offer, term=term))
    return SourcingPlans(
        tuple(plans),
        built.log,
        problem.finance.discount_rate,
        tuple(o.id for o in problem.offers),
        problem.excluded,
        problem.warnings,
    )


def _plan(
    sourcing: Sourcing,
    problem: PlanningProblem,
    question: Question,
    gap: float,
    time_limit_s: float,
    offer: str = "",
    term: str = "",
) -> SourcingPlan:
    solved = solve_problem(problem, question, SolveRequest(gap=gap, time_limit_s=time_limit_s))
    infeasible = solved.status == SolveStatus.INFEASIBLE
    cost = None
    if solved.audit is not None and solved.decisions is not None:
        cost = plan_cost(problem, solved.decisions, solved.audit.books.flows)
    return SourcingPlan(
        sourcing,
        cost,
        solved.gap_frac if cost is not None else math.inf,
        infeasible,
        infeasible or solved.status == SolveStatus.OPTIMAL,
        offer,
        term,
        solved if cost is not None else None,
    )


def _without_cloud(problem: PlanningProblem) -> PlanningProblem:
    """Return the same planning problem without rent."""
    demands = tuple(
        replace(d, each={k: v for k, v in d.each.items() if not is_cloud(k[0])})
        for d in problem.demands
    )
    own = problem.with_runs(lambda run: not run.on_cloud)
    return replace(own, offers=(), demands=demands)


def _without_orders(problem: PlanningProblem) -> PlanningProblem:
    """Return the same planning problem without orders.

    Given, existing and on-order hardware remains.
    """
    existing = {(x.key[0], x.key[2]) for x in problem.existing} | (
        {(problem.fleet.hall, problem.fleet.system)} if problem.fleet else set()
    )
    own = problem.with_runs(lambda run: run.on_cloud or (run.place, run.system) in existing)
    return replace(own, orderable=frozenset())


def _one_offer(problem: PlanningProblem, offer: str, term: str) -> PlanningProblem:
    """Return a planning problem with one offer under one term."""
    only = next(o for o in problem.offers if o.id == offer)
    terms = tuple(c for c in only.committed if c.term == term)
    flexible = term == only.term
    price = (
        only.usd_per_accelerator_hour
        if flexible
        else tuple(0.0 for _ in only.usd_per_accelerator_hour)
    )
    only = replace(only, committed=terms, on_demand=flexible, usd_per_accelerator_hour=price)
    place = cloud_place(offer)
    demands = tuple(
        replace(d, each={k: v for k, v in d.each.items() if k[0] == place or not is_cloud(k[0])})
        for d in problem.demands
    )
    its = problem.with_runs(lambda run: not run.on_cloud or run.place == place)
    return replace(its, offers=(only,), demands=demands)
