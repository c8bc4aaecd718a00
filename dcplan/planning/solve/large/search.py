"""Large models: branching on counts in a relaxation with few columns.

1. The relaxation replaces runs by work (``aggregate``). If it uses such work, the runs themselves
   replace the work.
2. Branch and bound over halls, fabrics and sites (``branching``) proves the bound.
3. An integral node gives halls and fabrics. With these fixed, HiGHS finds racks and runs among
   those that the relaxation uses. Limits that integer switch counts violate are tightened
   (``rounding``) until the plan passes its audit.

On scenarios/three-site-build-out.yaml the full model with rounding margins gave plans that cost
2 % more.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from dcplan.planning.audit.run import Audit
from dcplan.planning.decisions import FABRIC, FITTED, RUN, Decisions
from dcplan.planning.keys import Key
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.highs import Outcome, Point, relaxation, solve
from dcplan.planning.solve.large.aggregate import Group, groups_used, with_work, without
from dcplan.planning.solve.large.branching import Search
from dcplan.planning.solve.large.branching_sums import counts
from dcplan.planning.solve.large.rounding import shortfalls, tightened
from dcplan.planning.solve.matrix import Matrix, Vector
from dcplan.planning.solve.request import SolveSession

REFINEMENTS = 3
"""Maximum number of times that runs replace work in the relaxation."""
RUNS_PER_JOB = 15
ROUNDS = 8
"""Maximum tries to fit integer switch counts into a node's halls."""
RACK_GAP = 0.1
"""Share of the requested gap for racks and runs of given halls."""
WORTH = 0.25
"""Share of the requested gap that a plan must promise before it is searched, which takes
seconds."""
FIRST_NODES = 100
"""Nodes until a second dive; each later dive waits for twice the nodes so far."""
MOST_NODES = 20_000
EXTRA = 0.15
"""Additional share of the time for a plan if the search found none."""
TINY = 1e-6
STRATEGY = (FABRIC.variable, FITTED.variable)

Auditor = Callable[[Matrix, Outcome], tuple[Decisions, Audit, float]]
"""Function that gives decisions of a solution, their audit, and the goal's measure."""


@dataclass(frozen=True)
class Found:
    """An audited plan of the full model."""

    outcome: Outcome
    decisions: Decisions
    audit: Audit
    value: float
    integer_values: Mapping[Key, float]
    """Integer values by column."""


@dataclass(frozen=True)
class Answer:
    """The best plan, if any, and the proven bound."""

    plan: Found | None
    bound: float
    nodes: int
    infeasible: bool = False
    ended: str = ""
    """Reason why the search ended before the time limit with an open gap; otherwise empty."""
    timed: bool = False
    """Whether time ended a node."""


class CountSearch:
    """Search of one large model; ``base`` has all columns, no rounding margins and no step costs."""

    def __init__(
        self, problem: PlanningProblem, base: Matrix, auditor: Auditor, session: SolveSession
    ) -> None:
        """Begin a search; the clock of the session ends it."""
        self.problem, self.base, self.auditor, self.session = problem, base, auditor, session
        self.gap, self.limit_s = session.gap, session.clock.limit_s
        self.extra_s = 0.0
        self.best: Found | None = None
        self.slack = math.inf
        """Smallest difference between the cost of a plan and the bound of its node."""

    def solve(self, near: Mapping[Key, float] | None = None) -> Answer:
        """Search until the gap is proved, no node is open, or the time limit is reached.

        ``near`` is a plan of a similar model.
        """
        relaxed = self._relaxation()
        if relaxed is None:
            return Answer(None, -math.inf, 0, infeasible=True)
        search = Search(relaxed, counts(relaxed, self.problem), self._stopped)
        if near:
            self._plan(near, search.bound)
        dive_at, deep = FIRST_NODES, True
        while search.nodes < MOST_NODES and not search.ended(self._cutoff()):
            self._show(search)
            node = search.next(
                self._cutoff(), MOST_NODES if deep else dive_at, deep=deep, worth=self._worth()
            )
            if node is not None and node.bound < self._worth():
                self._plan(dict(zip(relaxed.columns, node.values, strict=True)), node.bound)
            deep = search.nodes >= dive_at
            dive_at = FIRST_NODES + 2 * search.nodes if deep else dive_at
        if self.best is None and search.lowest is not None and not self.session.stopped:
            self.extra_s = EXTRA * self.limit_s
            self._keep(
                self._rounds(
                    self._fixed(self._rounded_up(relaxed, search.lowest.values), STRATEGY)
                ),
                search.bound,
            )
        ended = "" if self._stopped() or search.bound >= self._cutoff() else _ended(search.nodes)
        return Answer(
            self.best, search.bound, search.nodes, search.bound == math.inf, ended, search.timed
        )

    def _rounded_up(self, relaxed: Matrix, values: Vector) -> dict[Key, float]:
        """Return a node's halls rounded up, and the fabric that serves most classes of NICs, with the largest reach.

        It is an expensive plan, but a plan.
        """
        chosen = {
            key: math.ceil(v - TINY) if key.name == FITTED.variable else 0.0
            for key, v in zip(relaxed.columns, values, strict=True)
        }
        taken = {FABRIC.key(o.hall, o.id): o for o in self.problem.fabrics}
        widest: dict[str, tuple[int, int, float, Key]] = {}
        for key, v in zip(relaxed.columns, values, strict=True):
            if key in taken and v > TINY:
                option = taken[key]
                found = (len(option.reach), option.least_reach, float(v), key)
                widest[option.hall] = max(widest.get(option.hall, found), found)
        return chosen | {key: 1.0 for *_, key in widest.values()}

    def _relaxation(self) -> Matrix | None:
        """Return the relaxation with runs as work, except for groups that it uses.

        It is None if the relaxation has no solution.
        """
        kept: set[Group] = set()
        relaxed = with_work(self.base, self.problem)
        for _ in range(REFINEMENTS):
            point = relaxation(relaxed)
            if point is None:
                return None
            used = groups_used(relaxed, point.values)
            if not used:
                break
            kept |= used
            relaxed = with_work(self.base, self.problem, kept)
        return relaxed

    def _stopped(self) -> bool:
        return self.session.clock.left() <= 0 or self.session.stopped

    def _cutoff(self) -> float:
        """Return the bound from which a node need not be divided."""
        return self.best.value - self.gap * abs(self.best.value) if self.best else math.inf

    def _worth(self) -> float:
        """Return the bound from which the plan of a node is unlikely to be clearly better."""
        return (
            self.best.value - self.slack - WORTH * self.gap * abs(self.best.value)
            if self.best
            else math.inf
        )

    def _show(self, search: Search) -> None:
        if self.session.request.progress:
            value = self.best.value if self.best else math.inf
            spent = self.session.clock.spent()
            self.session.request.progress(spent, value, search.bound, search.nodes)

    def _plan(self, chosen: Mapping[Key, float], bound: float) -> None:
        """Find racks and runs for the chosen halls; tighten limits until integer switch counts fit.

        If that fails, try the chosen fabrics only.
        """
        self._keep(
            self._rounds(self._fixed(chosen, STRATEGY))
            or self._rounds(self._fixed(chosen, STRATEGY[:1])),
            bound,
        )

    def _keep(self, found: Found | None, bound: float) -> None:
        if found is not None and (self.best is None or found.value < self.best.value):
            self.best, self.slack = found, min(self.slack, found.value - bound)

    def _rounds(self, model: Matrix | None) -> Found | None:
        start: Mapping[int, float] | None = None
        for _ in range(ROUNDS):
            if model is None:
                return None
            outcome = solve(
                model,
                gap=RACK_GAP * self.gap,
                time_limit_s=self.session.clock.left() + self.extra_s,
                start=start,
                stop=self.session.request.stop,
            )
            if outcome.values is None:
                return None
            decisions, audited, value = self.auditor(model, outcome)
            if audited.passed:
                return Found(
                    outcome, decisions, audited, value, model.integer_values(outcome.values)
                )
            less = shortfalls(self.problem, audited.checks)
            if not less:
                return None
            model = tightened(model, outcome.values, less)
            start = {i: float(round(x)) for i, x in enumerate(outcome.values) if model.integer[i]}
        return None

    def _fixed(self, chosen: Mapping[Key, float], names: tuple[str, ...]) -> Matrix | None:
        """Return the full model with these columns fixed.

        Its runs are those that the relaxation prefers.
        """
        lower, upper = self.base.lower.copy(), self.base.upper.copy()
        for i in self.base.of(names):
            lower[i] = upper[i] = min(
                max(round(chosen.get(self.base.columns[i], 0.0)), lower[i]), upper[i]
            )
        model = replace(self.base, lower=lower, upper=upper)
        point = relaxation(model)
        return None if point is None else without(model, self._unlikely(model, point))

    def _unlikely(self, model: Matrix, point: Point) -> list[int]:
        """Return runs that the relaxation does not use, except the nearest few of each job."""
        runs: dict[str, list[tuple[bool, float, int]]] = defaultdict(list)
        for i in model.of((RUN.variable,)):
            job = self.problem.run_options[model.columns[i].ids[0]].job
            runs[job].append((point.values[i] < 1e-9, float(point.reduced_costs[i]), i))
        return [
            i
            for found in runs.values()
            for *_, i in sorted(found)[RUNS_PER_JOB:]
            if model.lower[i] <= 0
        ]


def _ended(nodes: int) -> str:
    if nodes >= MOST_NODES:
        return f"the search ended after {nodes:,} nodes"
    return "no count of halls, fabrics and sites is left to branch on; the rest is racks and integer switch counts"
