"""An infeasible scenario, and how its changes are solved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dcplan.answers.common.request import ScenarioRequest
from dcplan.planning.problem.build import Built
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.request import LEAST_S, Clock
from dcplan.result import Table
from dcplan.scenario.load import Question


@dataclass(frozen=True)
class Infeasible:
    """A scenario without a plan, and how a changed one is solved.

    Parameters
    ----------
    request : ScenarioRequest
        Scenario with all its changes.
    prepare : callable
        Planning problem of a changed question, with an earlier plan if there is one.
    fixed : Table, optional
        Decisions that the plan must keep.
    """

    request: ScenarioRequest
    question: Question
    problem: PlanningProblem
    clock: Clock
    prepare: Callable[[Question, Built], PlanningProblem] = lambda _, built: built.problem
    fixed: Table | None = None

    @property
    def done(self) -> bool:
        """Whether the time is over, or the user wants to stop."""
        return self.request.stopped or self.clock.left() <= LEAST_S

    def share_s(self, share: float) -> float:
        """Return a share of the remaining time, at least what a solve needs [s]."""
        return max(self.clock.left() * share, LEAST_S)
