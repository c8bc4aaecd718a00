"""State of a solve: its status at the end, and on the way its phase and what is proved so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import highspy
import numpy as np

from dcplan.errors import InputError, Problem
from dcplan.planning.goal import COST
from dcplan.planning.keys import Key

NAMED = 3
"""Columns that the error of an unbounded program names."""


class UnboundedError(InputError):
    """The cost of a scenario falls without limit."""


def settled(solver: highspy.Highs) -> highspy.HighsModelStatus:
    """Return the status of a solve, and tell a program without a limit from one without a solution.

    Presolve of HiGHS may end with a status that means either. The program is then solved without
    presolve, and if that does not tell, without its objective: a solution proves that the program
    is unbounded.
    """
    kinds = highspy.HighsModelStatus
    status: highspy.HighsModelStatus = solver.getModelStatus()
    if status != kinds.kUnboundedOrInfeasible:
        return status
    _, presolve = solver.getOptionValue("presolve")
    solver.setOptionValue("presolve", "off")
    solver.run()
    status = solver.getModelStatus()
    if status == kinds.kUnboundedOrInfeasible:
        cost = np.array(solver.getLp().col_cost_)
        every = np.arange(len(cost), dtype=np.int32)
        solver.changeColsCost(len(cost), every, np.zeros(len(cost)))
        solver.run()
        found = solver.getModelStatus()
        status = kinds.kUnbounded if found == kinds.kOptimal else found
        solver.changeColsCost(len(cost), every, cost)
    solver.setOptionValue("presolve", presolve)
    return status


def unbounded(solver: highspy.Highs, columns: Sequence[Key]) -> UnboundedError:
    """Return the error of a program without a limit, with the columns that lower its cost most."""
    _, has_ray, ray = solver.getPrimalRay()
    rate = np.array(solver.getLp().col_cost_) * (np.array(ray) if has_ray else 0.0)
    worst = [i for i in np.argsort(rate)[:NAMED] if rate[i] < 0.0]
    named = ", ".join(str(columns[i]) for i in worst) or "an unknown amount"
    cause = f"the cost falls without limit as these amounts grow: {named}"
    more = (
        "look for a price below 0 or a payment for use, such as a negative energy price, or give a "
        "limit such as it_mw, max_mw or a budget"
    )
    return UnboundedError([Problem("DC015", cause, help=more)])


class SolveStatus(StrEnum):
    """Status at the end of a solve."""

    OPTIMAL = "optimal"
    """The requested gap is proved."""
    INFEASIBLE = "infeasible"
    """No solution exists."""
    LIMIT = "limit"
    """The time limit was reached, or the search ended with a gap above the requested one."""
    INTERRUPTED = "interrupted"
    """A request to stop was made."""
    ROUNDING = "rounding"
    """No tried plan fits integer counts into the limits, but the model has a solution; nothing is
    proved."""


class Phase(StrEnum):
    """What a plan's computation does now, in the words of its progress."""

    OPTIONS = "search of run options and layouts"
    EXACT = "complete model: racks, runs and fabrics"
    FRACTIONS = "complete model with fractions of replicas"
    RELAXATION = "linear relaxation"
    RESTRICTED = "halls and fabrics, restricted menu of systems"
    HALLS = "halls, fabrics and sites, all systems"
    RACKS = "whole racks and runs of chosen halls"
    WHOLE = "bound of the complete model"
    POLISH = "dates and amounts of the purchases of the best plan"
    MARGINS = "complete model with margins for rounding"
    AUDIT = "audit of a plan"
    TOGETHER = "one model of all variants"
    VARIANTS = "plans of each variant"
    SEARCHES = "several searches at the same time"
    WAITING = "cost of later starts of runs"
    SITES = "plans with and without each candidate site"
    SAMPLES = "sampled scenarios"
    REMEDIES = "remedies of an infeasible scenario"
    LIMITS = "binding limits and their prices"
    TABLES = "metrics and tables"


OUTSIDE = frozenset(
    {
        Phase.OPTIONS,
        Phase.VARIANTS,
        Phase.WAITING,
        Phase.SITES,
        Phase.SAMPLES,
        Phase.REMEDIES,
        Phase.LIMITS,
        Phase.TABLES,
    }
)
"""Phases before and after the solve; their events carry no values of it."""


@dataclass(frozen=True)
class SolveEvent:
    """What is known at one moment of a computation.

    Parameters
    ----------
    phase : Phase
        What is computed now.
    best : float
        Measure of the best audited plan; before the first one, of the best solution of the model.
        Infinite without any. M USD where ``measure`` is a cost.
    bound : float
        Bound that is proved so far; minus infinity without one.
    nodes : int
        Nodes of branch and bound.
    plans : int
        Plans so far that passed their audit.
    measure : str
        Measure that is minimized (``planning/goal.py``).

    Examples
    --------
    >>> SolveEvent(Phase.HALLS, best=50.0, bound=49.0).gap_frac, SolveEvent(Phase.HALLS).gap_frac
    (0.02, inf)
    """

    phase: Phase
    best: float = math.inf
    bound: float = -math.inf
    nodes: int = 0
    plans: int = 0
    measure: str = COST

    @property
    def gap_frac(self) -> float:
        """Return the gap between the best plan and the bound; infinite without both."""
        if not (math.isfinite(self.best) and math.isfinite(self.bound)):
            return math.inf
        return max(self.best - self.bound, 0.0) / max(abs(self.best), 1e-9)


Progress = Callable[[SolveEvent], None]
"""Callback of each event of a computation."""
SolverProgress = Callable[[float, float, float, int], None]
"""Callback of HiGHS with seconds, incumbent, bound and nodes."""


def begin(progress: Progress | None, phase: Phase) -> None:
    """Report a phase before or after the solve."""
    if progress is not None:
        progress(SolveEvent(phase))


class Reporter:
    """What one solve knows so far; it tells a callback each change."""

    def __init__(self, progress: Progress | None = None, measure: str = COST) -> None:
        """Begin with nothing known; without a callback nobody listens."""
        self.progress, self.event = progress, SolveEvent(Phase.OPTIONS, measure=measure)

    def enter(self, phase: Phase) -> None:
        """Begin a phase."""
        self.tell(replace(self.event, phase=phase))

    def passed(self, value: float) -> None:
        """Note a plan that passed its audit, with its measure."""
        best = min(self.event.best, value) if self.event.plans else value
        self.tell(replace(self.event, best=best, plans=self.event.plans + 1))

    def proved(self, bound: float) -> None:
        """Note a bound on the measure of every plan."""
        self.tell(replace(self.event, bound=max(self.event.bound, bound)))

    def of_solver(
        self, phase: Phase, *, plans: bool = True, bounds: bool = True, started: bool = False
    ) -> SolverProgress | None:
        """Return a callback of HiGHS for a program; None where nobody listens.

        Parameters
        ----------
        phase : Phase
            Phase of the program.
        plans : bool
            Whether its solutions are plans of the problem.
        bounds : bool
            Whether its bound holds for the problem.
        started : bool
            Whether it has a start. While HiGHS completes a start, its bound is that of the
            completion, which equals the solution at its end: such a bound is not shown, and none is
            kept.
        """
        if self.progress is None:
            return None

        def report(_: float, incumbent: float, bound: float, nodes: int) -> None:
            now = replace(self.event, phase=phase, nodes=nodes)
            if plans and not now.plans and math.isfinite(incumbent):
                now = replace(now, best=incumbent)
            completes = started and not bound < incumbent < math.inf
            if not bounds or completes:
                bound = -math.inf
            shown = replace(now, bound=min(max(now.bound, bound), now.best))
            self.event = now if started else shown
            if self.progress is not None:
                self.progress(shown)

        return report

    def tell(self, event: SolveEvent) -> None:
        """Keep an event, and call back with it."""
        self.event = event
        if self.progress is not None:
            self.progress(event)
