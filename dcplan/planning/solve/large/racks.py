"""Racks and runs of chosen halls and fabrics, with integer switch counts, until a plan passes its audit.

Halls and fabrics leave a small problem: their systems, and the runs that a linear program prefers.
Its model has integer switch counts (step costs). Limits that a plan still violates are tightened
(``../rounding.py``), and the model is solved again.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from dcplan.planning.audit.measures import measured
from dcplan.planning.audit.run import Audit
from dcplan.planning.decision_specs import FABRIC, FITTED, RACKS, RUN
from dcplan.planning.decisions import Decisions
from dcplan.planning.keys import Key
from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.highs import Outcome, OutOfTimeError, Point, Watch, relaxation
from dcplan.planning.solve.kept import PROGRAMS
from dcplan.planning.solve.large.by_site import improved_by_site
from dcplan.planning.solve.matrix import Matrix, Vector
from dcplan.planning.solve.request import SolveSession
from dcplan.planning.solve.rounding import Failed, until_passed
from dcplan.planning.solve.status import Phase, SolveStatus

MOST_RUNS, LEAST_RUNS = 1_500, 15
"""Runs that the linear program of given halls prefers: maximum in all, minimum of each job."""
MOST_STEPS = 6_000
"""Maximum number of step costs over all quarters."""
RACK_GAP = 0.25
"""Share of the requested gap for racks and runs."""
FIXED_SHARE, FREE_SHARE, AGAIN_SHARE = 0.3, 0.5, 0.1
"""Shares of the remaining time for one solve with given halls, with free ones, and at most again with
tighter limits: a solution is there already, and the largest instance took 107 s of 480 s for that."""
SITE_GAP, SITE_SHARE = 0.05, 0.1
"""Share of the requested gap for the program of one site, and of the remaining time."""
USED_EPS = 1e-6
STRATEGY = (FABRIC.variable, FITTED.variable)

Auditor = Callable[[PlanningProblem, Matrix, Outcome], tuple[Decisions, Audit]]
"""Function that gives decisions of a solution of a problem, and their audit."""


@dataclass(frozen=True)
class Found:
    """An audited plan of the full model."""

    searched: float
    """Goal's measure in the model."""
    decisions: Decisions
    audit: Audit
    value: float
    integer_values: Mapping[Key, float]
    """Integer values by column of the full model."""


@dataclass(frozen=True)
class SmallModel:
    """A problem with integer switch counts and fewer choices: its model, and its runs in the full problem."""

    problem: PlanningProblem
    matrix: Matrix
    runs: tuple[int, ...]

    def in_full(self, values: Mapping[Key, float]) -> dict[Key, float]:
        """Return integers of a plan by column of the full model."""
        return {
            RUN.key(self.runs[key.ids[0]]) if key.name == RUN.variable else key: value
            for key, value in values.items()
        }

    def of_full(self, values: Mapping[Key, float]) -> dict[int, float]:
        """Return the integers of a plan of the full model by column of this one."""
        found = {}
        for i, key in enumerate(self.matrix.columns):
            full = RUN.key(self.runs[key.ids[0]]) if key.name == RUN.variable else key
            if self.matrix.integer[i] and full in values:
                found[i] = values[full]
        return found


@dataclass(frozen=True)
class RackStage:
    """The full problem, without rounding margins and step costs, and what judges its plans.

    ``base`` is its program; for a problem with many runs a relaxation of it (``thinned``), which names
    the systems of given halls but not the runs.
    """

    problem: PlanningProblem
    base: Matrix
    auditor: Auditor
    session: SolveSession
    relaxed: bool = False

    def plan(
        self,
        chosen: Mapping[Key, float],
        least_s: float = 0.0,
        gap: float | None = None,
        enough: float = -math.inf,
    ) -> Found | None:
        """Return the plan of chosen halls and fabrics; None if no try passes the audit.

        The units of the halls are first as chosen, then free if that gives no plan. The racks of the
        plan in the request are a start. ``gap`` is that of the racks, if not RACK_GAP. A solve ends at
        the objective ``enough``.
        """
        self.session.reporter.enter(Phase.RACKS)
        part = self._part(chosen, least_s)
        if part is None:
            return None
        start = _racks_of(part.matrix, self.session.request.near or {})
        given = with_halls(part.matrix, chosen)
        found = self.rounds(
            part, given, start, FIXED_SHARE, gap=gap, least_s=least_s, enough=enough
        )
        return found or self.rounds(
            part, part.matrix, {}, FREE_SHARE, gap=gap, least_s=least_s, enough=enough
        )

    def improved(
        self, found: Found, enough: float = -math.inf, *, by_site: bool = False
    ) -> Found | None:
        """Return a better plan of the same fabrics and systems with other units of halls, if any.

        Sites are improved one at a time, and unless ``by_site``, then all together. The search ends
        at the cost ``enough``.
        """
        self.session.reporter.enter(Phase.RACKS)
        part = self._part(found.integer_values)
        if part is None:
            return None
        enough -= max(found.value - found.searched, 0.0)

        def site(fixed: Mapping[int, float], near: Mapping[int, float]) -> Outcome:
            return self.session.part(SITE_SHARE).solve(
                *(part.matrix, SITE_GAP * self.session.gap),
                fixed=fixed, start=near, presolve=True, silent=True,
            )  # fmt: skip

        start = part.of_full(found.integer_values)
        first = improved_by_site(part.problem, part.matrix, start, site, enough)
        better = (
            None if first is None else self.rounds(part, part.matrix, {}, FREE_SHARE, first=first)
        )
        best = better if better and better.value < found.value else found
        if by_site or best.value <= enough or self.session.clock.left() <= 0:
            return better
        start = _racks_of(part.matrix, best.integer_values)
        joint = self.rounds(part, part.matrix, start, FREE_SHARE, enough=enough)
        return min((x for x in (better, joint) if x), key=lambda x: x.value, default=None)

    def _part(self, chosen: Mapping[Key, float], least_s: float = 0.0) -> SmallModel | None:
        """Return the small problem of chosen halls and fabrics; None if they allow no solution in time."""
        point = self._point(self.base, chosen, least_s)
        if point is None:
            return None
        problem, there = self._narrowed(chosen, self._systems(point))
        base: Matrix = self.base
        runs: Sequence[int] = range(len(self.problem.run_options))
        if self.relaxed:
            base, runs = PROGRAMS.compiled(problem), there
            point = self._point(base, chosen, least_s)
            if point is None:
                return None
        likely = self._likely(base, runs, point)
        kept = tuple(i for i in there if i in likely)
        options = tuple(self.problem.run_options[i] for i in kept)
        problem = with_steps(replace(problem, run_options=options), MOST_STEPS, exact=True)
        return SmallModel(problem, PROGRAMS.compiled(problem), kept)

    def _point(self, base: Matrix, chosen: Mapping[Key, float], least_s: float) -> Point | None:
        """Return the linear optimum of chosen halls and fabrics; None if there is none in time."""
        try:
            return relaxation(with_halls(base, chosen), self.session.clock.left(least_s))
        except OutOfTimeError:
            self.session.clock.note(SolveStatus.LIMIT)
            return None

    def _narrowed(
        self, chosen: Mapping[Key, float], systems: set[tuple[str, str]]
    ) -> tuple[PlanningProblem, list[int]]:
        """Return the problem of chosen fabrics and some systems of halls, and the runs that it keeps."""
        fabrics = {key.ids for key, v in chosen.items() if key.name == FABRIC.variable and round(v)}
        systems = systems | {(x.key[0], x.key[2]) for x in self.problem.existing}
        if self.problem.fleet:
            systems.add((self.problem.fleet.hall, self.problem.fleet.system))
        there = [
            i
            for i, run in enumerate(self.problem.run_options)
            if run.on_cloud or (run.place, run.system) in systems
        ]
        problem = replace(
            self.problem,
            fabrics=tuple(o for o in self.problem.fabrics if (o.hall, o.id) in fabrics),
            placements=tuple(p for p in self.problem.placements if (p.hall, p.system) in systems),
            run_options=tuple(self.problem.run_options[i] for i in there),
        )
        return problem, there

    def _systems(self, point: Point) -> set[tuple[str, str]]:
        """Return the halls and systems with racks in a solution."""
        found = set()
        for i in self.base.of((RACKS.variable,)):
            if point.values[i] > USED_EPS:
                hall, _, system, _ = self.base.columns[i].ids
                found.add((hall, system))
        return found

    def _likely(self, base: Matrix, runs: Sequence[int], point: Point) -> set[int]:
        """Return the runs that the linear program uses, and the nearest few of each job.

        ``runs`` are the runs of the full problem by column of the program.
        """
        found: dict[str, list[tuple[bool, float, int]]] = defaultdict(list)
        needed = set()
        for i in base.of((RUN.variable,)):
            run = runs[base.columns[i].ids[0]]
            job = self.problem.run_options[run].job
            found[job].append((point.values[i] < USED_EPS, float(point.reduced_costs[i]), run))
            if base.lower[i] > 0:
                needed.add(run)
        each = max(MOST_RUNS // max(len(found), 1), LEAST_RUNS)
        likely = needed | {run for options in found.values() for *_, run in sorted(options)[:each]}
        spans = self.problem.spans.values()
        return likely.union(*(parts for parts in spans if likely.intersection(parts)))

    def rounds(
        self,
        part: SmallModel,
        model: Matrix,
        start: Mapping[int, float],
        share: float,
        *,
        gap: float | None = None,
        least_s: float = 0.0,
        first: Outcome | None = None,
        enough: float = -math.inf,
    ) -> Found | None:
        """Solve a small model, and again with tighter limits where the plan violates them.

        ``first`` is a solution that is already there. A solve ends at the objective ``enough``. The
        model is solved once, with presolve: its bound is not used, so a second solve without
        presolve would prove nothing.
        """

        def again(tighter: Matrix, near: Mapping[int, float]) -> Outcome:
            return solve(tighter, near, min(share, AGAIN_SHARE))

        def solve(tighter: Matrix, near: Mapping[int, float], most: float = share) -> Outcome:
            return self.session.part(most).solve(
                *(tighter, RACK_GAP * self.session.gap if gap is None else gap),
                start=near, presolve=True, silent=True, least_s=least_s,
                watch=_until(tighter, enough, self.session.request.stop),
            )  # fmt: skip

        def audited(tighter: Matrix, outcome: Outcome) -> tuple[Decisions, Audit]:
            return self.auditor(part.problem, tighter, outcome)

        begun = first or solve(model, start)
        found = until_passed(self.problem, model, begun, again, audited)
        if isinstance(found, Failed):
            return None
        books, measure = found.audit.books, self.problem.goal.measure
        value = measured(measure, self.problem, found.decisions, books)
        self.session.reporter.passed(value)
        whole = part.in_full(found.integer_values)
        return Found(found.outcome.objective, found.decisions, found.audit, value, whole)


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


def with_halls(matrix: Matrix, chosen: Mapping[Key, float]) -> Matrix:
    """Return a model with the chosen fabrics and units of halls, within its limits."""
    lower, upper = matrix.lower.copy(), matrix.upper.copy()
    for i in matrix.of(STRATEGY):
        value = round(chosen.get(matrix.columns[i], 0.0))
        lower[i] = upper[i] = min(max(value, lower[i]), upper[i])
    return replace(matrix, lower=lower, upper=upper)


def _racks_of(matrix: Matrix, near: Mapping[Key, float]) -> dict[int, float]:
    """Return the integers of a plan of another model, without its runs, as a start."""
    return {
        i: near[key]
        for i, key in enumerate(matrix.columns)
        if key in near and key.name != RUN.variable
    }
