"""The solver of racks and runs of chosen halls: large programs have fewer integers first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dcplan.planning.solve.highs import Outcome, OutOfTimeError, Point, Watch, relaxation
from dcplan.planning.solve.large.small_model import Limits, with_few_runs
from dcplan.planning.solve.matrix import Matrix, Vector
from dcplan.planning.solve.request import SolveSession
from dcplan.planning.solve.status import SolveStatus

RACK_GAP = 0.25
"""Share of the requested gap for racks and runs."""
SITE_GAP, SITE_SHARE = 0.05, 0.1
"""Share of the requested gap for the program of one site, and of the remaining time."""
FEW_GAP, FEW_SHARE = 0.1, 0.5
"""Share of the requested gap for racks with continuous switch counts, whose integer counts cost more, and
share of the time of a solve for fewer runs, so that all of them have time where these have no solution."""


@dataclass(frozen=True)
class RackSolver:
    """Solves small models in a session, within limits.

    Each is solved once, with presolve: its bound is not used, so a second solve without presolve would
    prove nothing.
    """

    session: SolveSession
    limits: Limits

    def solved(self, program: Matrix, near: Mapping[int, float], share: float) -> Outcome:
        """Return the solution in a share of the remaining time, with fewer runs if these have one."""
        session = self.session.part(share)
        point = point_of(self.session, program) if self.limits.fewer else None
        if point is not None:
            outcome = self._once(session.part(FEW_SHARE), with_few_runs(program, point, near), near)
            if outcome.values is not None:
                return outcome
        return self._once(session, program, near)

    def of_site(
        self, program: Matrix, fixed: Mapping[int, float], near: Mapping[int, float]
    ) -> Outcome:
        """Return the solution of a program in which only the integers of some sites are free."""
        return self.session.part(SITE_SHARE).solve(
            program, SITE_GAP * self.session.gap,
            fixed=fixed, start=near, presolve=True, silent=True,
        )  # fmt: skip

    def _once(self, session: SolveSession, program: Matrix, near: Mapping[int, float]) -> Outcome:
        limits, stop = self.limits, session.request.stop
        share = FEW_GAP if limits.continuous else RACK_GAP
        # costs without integer switch counts say nothing of an objective that is enough
        enough = -math.inf if limits.continuous else limits.enough
        return session.solve(
            program, limits.of(share * session.gap),
            start=near, presolve=True, silent=True, least_s=limits.least_s,
            watch=_until(program, enough, stop),
        )  # fmt: skip


def point_of(session: SolveSession, program: Matrix, least_s: float = 0.0) -> Point | None:
    """Return the linear optimum of a program; None if there is none in time."""
    try:
        return relaxation(program, session.clock.left(least_s))
    except OutOfTimeError:
        session.clock.note(SolveStatus.LIMIT)
        return None


def _until(matrix: Matrix, enough: float, stop: Callable[[], bool] | None) -> Watch:
    """Return a watch that ends a solve at a request to stop, or at a solution that costs ``enough``."""
    if enough == -math.inf:
        return Watch(stop=stop)
    reached: list[float] = []

    def improved(values: Vector) -> None:
        cost = float(matrix.cost @ values) + matrix.offset
        if cost <= enough:
            reached.append(cost)

    return Watch(stop=lambda: bool(reached) or (stop is not None and stop()), improved=improved)
