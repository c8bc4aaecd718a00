"""The question of ``dcplan explain``: scenario, planning problem, systems and remaining time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.explain.request import ExplainRequest
from dcplan.catalog.schema import System
from dcplan.errors import InputError
from dcplan.planning.audit.run import Audit
from dcplan.planning.decisions import Decisions
from dcplan.planning.goal import MONEY, OBJECTIVES, Goal
from dcplan.planning.keys import Key
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.request import LEAST_S, Clock, SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.strategy import solve_problem
from dcplan.result import Table
from dcplan.scenario.load import Question


@dataclass(frozen=True)
class Asked:
    """A scenario to explain, with one clock for all its solves."""

    request: ExplainRequest
    question: Question
    built: Built
    systems: tuple[str, ...]
    """Catalog ids of ``--why-not``."""
    clock: Clock

    @property
    def stopped(self) -> bool:
        """Whether the user requested to stop."""
        return self.request.stopped

    def left_s(self) -> float:
        """Return the remaining time, at least one second [s]."""
        return self.clock.left(LEAST_S)

    def changed(self, change: str) -> tuple[Question, Built]:
        """Return the question and its planning problem with one ``key=value`` change."""
        question = self.request.question(change)
        return question, build(question)

    def solve(
        self,
        problem: PlanningProblem,
        question: Question,
        *,
        share: float,
        near: Mapping[Key, float] | None = None,
        fixed: Table | None = None,
        screen: bool = False,
    ) -> Solved:
        """Solve a planning problem in a share of the remaining time, at least one second."""
        return solve_problem(
            replace(problem, goal=Goal(OBJECTIVES[question.scenario.objective])),
            question,
            SolveRequest(
                gap=self.request.gap,
                time_limit_s=max(self.left_s() * share, LEAST_S),
                near=near,
                fixed=fixed,
                screen=screen,
                progress=self.request.progress,
                stop=self.request.stop,
            ),
        )


@dataclass(frozen=True)
class Base:
    """The plan to explain."""

    asked: Asked
    solved: Solved
    decisions: Decisions
    audit: Audit

    @property
    def cost_usd(self) -> float:
        """Present cost of the plan [USD], after taxes and debt if the objective is."""
        return self.solved.cost_usd


def resolve(request: ExplainRequest) -> Asked:
    """Load a scenario and build its planning problem.

    Raises
    ------
    InputError
        When the scenario has errors or another objective than cost, or a system is unknown.
    """
    clock = Clock(request.time_limit_s)
    question = request.question()
    refuse_other_objectives(question)
    built = build(question)
    systems = tuple(
        named(question.catalog, "systems", name, System, "--why-not").id for name in request.why_not
    )
    return Asked(request, question, built, systems, clock)


def refuse_other_objectives(question: Question) -> None:
    """Reject a scenario with an objective other than cost.

    Raises
    ------
    InputError
        DC004, with the place of the objective.
    """
    objective = question.scenario.objective
    if OBJECTIVES[objective] not in MONEY:
        cause = (
            f"objective {objective} is not supported here: explain needs min_cost or "
            "min_after_tax_cost"
        )
        raise InputError(
            [question.tree.problem("DC004", cause, ("objective",), help="--set objective=min_cost")]
        )
