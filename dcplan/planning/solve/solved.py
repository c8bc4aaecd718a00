"""Result of a solve: the audited plan, or the proof that there is none."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from dcplan.planning.audit.measures import cost_usd, measured
from dcplan.planning.audit.run import Audit
from dcplan.planning.decisions import Decisions
from dcplan.planning.goal import MONEY
from dcplan.planning.keys import Key
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.kept import PROGRAMS
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.status import SolveStatus
from dcplan.units import USD_PER_MUSD

NOISE_FRAC = 1e-12
"""Largest gap that is only the rounding of sums."""


@dataclass(frozen=True)
class Solved:
    """An audited plan, or the proof that there is none."""

    status: SolveStatus
    decisions: Decisions | None
    audit: Audit | None
    bound: float
    """Lower bound of the goal's measure over all plans."""
    seconds: float
    nodes: int
    program: Matrix | None
    """The program of the plan; None if it is not compiled, because the problem has many runs."""
    problem: PlanningProblem
    fixed: dict[int, float] | None = None
    solver_gap_frac: float = math.inf
    """Gap at which the search ended, before integer switch counts."""
    searched: float = math.inf
    """Goal's measure in the model."""
    integer_values: Mapping[Key, float] = field(default_factory=dict)
    """Integers of the plan by column, a start for a similar problem."""
    ended: str = ""
    """Reason why the search ended before the time limit with an open gap."""
    timed: bool = False
    """Whether time ended a part of the search."""
    seed: int = 0
    """Random seed of the search that found the plan."""
    searches: int = 1
    """Searches of the problem at the same time."""
    searches_ended: int = 1
    """Those that ended with an answer; the others were ended by a proof, a request to stop or an error."""
    lost: tuple[str, ...] = ()
    """Searches of the same problem without an answer, each with its error."""

    @functools.cached_property
    def matrix(self) -> Matrix:
        """Return the program of the plan, which is compiled when it is first asked for."""
        return self.program or PROGRAMS.compiled(self.problem)

    @property
    def reproducible(self) -> bool:
        """Return whether every machine finds the same result, because time ended nothing."""
        return (
            self.status in (SolveStatus.OPTIMAL, SolveStatus.INFEASIBLE) or bool(self.ended)
        ) and not self.timed

    @property
    def value(self) -> float:
        """Return the goal's measure of the audited plan; infinite without one."""
        if self.audit is None or self.decisions is None:
            return math.inf
        return measured(self.problem.goal.measure, self.problem, self.decisions, self.audit.books)

    @functools.cached_property
    def cost_usd(self) -> float:
        """Return the present cost of the audited plan [USD]; infinite without one.

        It is after taxes, payment terms and debt if the goal is, otherwise before them.
        """
        return math.inf if self.audit is None else cost_usd(self.problem, self.audit.books.flows)

    @property
    def bound_usd(self) -> float:
        """Return the proven bound of the cost that is minimized; not a number for other objectives."""
        return self.bound * USD_PER_MUSD if self.problem.goal.measure in MONEY else math.nan

    @property
    def gap_frac(self) -> float:
        """Return the proven gap of the audited plan; infinite without one."""
        if self.audit is None:
            return math.inf
        gap = (self.value - self.bound) / max(abs(self.value), 1e-6)
        return gap if gap > NOISE_FRAC else 0.0


@dataclass(frozen=True)
class SolveReport:
    """Values of a solve for every kind of result."""

    bound: float
    seconds: float
    nodes: int
    program: Matrix | None
    problem: PlanningProblem
    fixed: dict[int, float] | None
    search_gap: float
    searched: float = math.inf

    def of(
        self,
        status: SolveStatus,
        decisions: Decisions | None = None,
        audited: Audit | None = None,
        integer_values: Mapping[Key, float] | None = None,
    ) -> Solved:
        """Return the result with this status, and the plan if there is one."""
        return Solved(
            status,
            decisions,
            audited,
            self.bound,
            self.seconds,
            self.nodes,
            self.program,
            self.problem,
            self.fixed,
            self.search_gap,
            self.searched,
            integer_values or {},
        )
