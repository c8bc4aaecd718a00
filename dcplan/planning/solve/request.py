"""The request of a solve, and its session through every step of the strategy."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from dcplan.engine.request import Team
from dcplan.planning.goal import COST
from dcplan.planning.keys import Key
from dcplan.planning.solve import highs
from dcplan.planning.solve.highs import Outcome, Watch
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.status import Phase, Progress, Reporter, SolveStatus
from dcplan.result import Table
from dcplan.scenario.load import Question

LEAST_S = 1.0
"""Minimum remaining time to start another method. [s]"""


class Clock:
    """The time of one call and its limit."""

    def __init__(self, limit_s: float, whole: Clock | None = None) -> None:
        """Start the clock, or one for a part of the time of another."""
        self.began, self.limit_s = time.monotonic(), limit_s
        self.whole = whole
        self.ended_solve = False
        """Whether time ended a solve, so that another machine may find another result."""

    def note(self, status: SolveStatus) -> None:
        """Note how a solve ended."""
        if status is SolveStatus.LIMIT:
            self.ended_solve = True
            if self.whole is not None:
                self.whole.note(status)

    def spent(self) -> float:
        """Return the time since the start [s]."""
        return time.monotonic() - self.began

    def left(self, least_s: float = -math.inf) -> float:
        """Return the time until the limit, at least ``least_s``; negative after it [s]."""
        return max(self.limit_s - self.spent(), least_s)

    def take_the_rest(self) -> None:
        """Take the remaining time of the larger clock, which no other method needs."""
        if self.whole is not None:
            self.limit_s = self.spent() + self.whole.left()


@dataclass(frozen=True)
class SolveRequest:
    """Gap, time limit and start of a solve.

    Parameters
    ----------
    gap : float
        Relative gap at which the search may end.
    time_limit_s : float
        Wall time of the whole solve. [s]
    fixed : Table, optional
        Decisions to repeat; everything else is recomputed.
    near : mapping, optional
        Integers of a plan for a similar problem, as a start.
    progress : callable, optional
        Called with each :class:`~dcplan.planning.solve.status.SolveEvent`.
    screen : bool
        Whether an audited plan and a bound are enough, whatever the gap between them.
    stop : callable, optional
        Function that returns whether to end now.
    seed : int
        Random seed of HiGHS.
    restrict : bool
        Whether a very large program of halls is first solved with the systems of the linear program
        only.
    team : Team, optional
        Engine and number of searches of the problem at the same time; one search here without it.
    """

    gap: float
    time_limit_s: float
    fixed: Table | None = None
    near: Mapping[Key, float] | None = None
    screen: bool = False
    progress: Progress | None = None
    stop: Callable[[], bool] | None = None
    seed: int = 0
    restrict: bool = True
    team: Team | None = None

    def within(self, time_limit_s: float) -> SolveRequest:
        """Return the same request with another time limit [s]."""
        return replace(self, time_limit_s=time_limit_s)


@dataclass(frozen=True)
class SolveSession:
    """One solve in progress: its question, its request and its clock."""

    question: Question
    request: SolveRequest
    clock: Clock = field(default_factory=lambda: Clock(0.0))
    reporter: Reporter = field(default_factory=Reporter)

    @classmethod
    def of(cls, question: Question, request: SolveRequest, measure: str = COST) -> SolveSession:
        """Start the clock of a request that minimizes a measure."""
        reporter = Reporter(request.progress, measure)
        return cls(question, request, Clock(request.time_limit_s), reporter)

    @property
    def gap(self) -> float:
        """Return the requested gap."""
        return self.request.gap

    @property
    def stopped(self) -> bool:
        """Return whether a request to stop was made."""
        return self.request.stop is not None and self.request.stop()

    def at_gap(self, gap: float) -> SolveSession:
        """Return the session with a gap of at least ``gap``."""
        return replace(self, request=replace(self.request, gap=max(gap, self.gap)))

    def part(self, share: float) -> SolveSession:
        """Return a session for a share of the remaining time."""
        return self.until(share * self.clock.left())

    def until(self, limit_s: float) -> SolveSession:
        """Return a session for a part of the remaining time [s]."""
        return replace(self, clock=Clock(min(limit_s, self.clock.left()), self.clock))

    def solve(
        self,
        matrix: Matrix,
        gap: float,
        *,
        fixed: Mapping[int, float] | None = None,
        relaxed: npt.NDArray[np.bool_] | None = None,
        start: Mapping[int, float] | None = None,
        prove: bool = False,
        presolve: bool | None = None,
        silent: bool = False,
        watch: Watch | None = None,
        least_s: float = 0.0,
    ) -> Outcome:
        """Solve a program in the remaining time, at least ``least_s`` [s]."""
        whole = not fixed or self.request.fixed is not None  # otherwise its bound is of a part
        shown = (
            None
            if silent
            else self.reporter.of_solver(Phase.EXACT, bounds=whole, started=bool(start))
        )
        outcome = highs.solve(
            matrix,
            gap=gap,
            time_limit_s=max(self.clock.left(), least_s),
            fixed=fixed,
            relaxed=relaxed,
            start=start,
            prove=prove,
            presolve=presolve,
            watch=watch or Watch(shown, self.request.stop),
            seed=self.request.seed,
        )
        self.clock.note(outcome.status)
        return outcome
