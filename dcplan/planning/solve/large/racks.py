"""Racks and runs of chosen halls and fabrics, with integer switch counts, until a plan passes its audit.

Halls and fabrics leave a small problem: their systems, and the runs that a linear program prefers.
Its model has integer switch counts (step costs); those of a large one are continuous first. Limits that a
plan still violates are tightened (``../rounding.py``), and the model is solved again.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.planning.audit.measures import measured
from dcplan.planning.audit.run import Audit
from dcplan.planning.decision_specs import FABRIC, RACKS, RUN
from dcplan.planning.decisions import Decisions
from dcplan.planning.keys import Key
from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.highs import Outcome, Point
from dcplan.planning.solve.kept import PROGRAMS
from dcplan.planning.solve.large.by_site import improved_by_site, of_other_sites
from dcplan.planning.solve.large.rack_solver import RackSolver, point_of
from dcplan.planning.solve.large.small_model import (
    UNLIMITED,
    USED_EPS,
    Limits,
    SmallModel,
    racks_of,
    with_continuous_switches,
    with_few_runs,
    with_halls,
)
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.request import SolveSession
from dcplan.planning.solve.rounding import Failed, until_passed
from dcplan.planning.solve.status import Phase

MOST_RUNS, LEAST_RUNS = 1_500, 15
"""Runs that the linear program of given halls prefers: maximum in all, minimum of each job."""
MOST_STEPS = 6_000
"""Maximum number of step costs over all quarters."""
FIXED_SHARE, FREE_SHARE, AGAIN_SHARE = 0.3, 0.5, 0.1
"""Shares of the remaining time for one solve with given halls, with free ones, and at most again with
tighter limits: a solution is there already, and the largest instance took 107 s of 480 s for that."""
SAME, SAME_GAP = 0.1, 0.1
"""Distance of a rack count of a similar plan from the linear program within which a screening keeps it, and
share of the requested gap for the others."""

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

        The units of the halls are first as chosen, then free if that gives no plan. Switch counts of a large
        problem are first continuous. The racks of the plan in the request are a start. ``gap`` is that of the
        racks, if not RACK_GAP. A solve ends at the objective ``enough``.
        """
        self.session.reporter.enter(Phase.RACKS)
        part = self._part(chosen, least_s)
        if part is None:
            return None
        start = racks_of(part.matrix, self.session.request.near or {})
        given = with_halls(part.matrix, chosen)
        if self.session.request.screen and (found := self._adjusted(part, given, start)):
            return found
        limits = Limits(gap, least_s, enough, fewer=True)
        found = None
        if part.large:
            fewer = replace(limits, continuous=True)
            found = self.rounds(part, given, start, FIXED_SHARE, fewer)
        found = found or self.rounds(part, given, start, FIXED_SHARE, limits)
        return found or self.rounds(part, part.matrix, {}, FREE_SHARE, limits)

    def adjusted(self, near: Mapping[Key, float]) -> Found | None:
        """Return the plan of the halls of another plan that keeps its racks where they fit; None without one."""
        self.session.reporter.enter(Phase.RACKS)
        part = self._part(near)
        if part is None:
            return None
        return self._adjusted(part, with_halls(part.matrix, near), racks_of(part.matrix, near))

    def _adjusted(self, part: SmallModel, given: Matrix, near: Mapping[int, float]) -> Found | None:
        """Return the plan whose racks are those of another plan where the linear program has them, too."""
        point = point_of(self.session, given) if near else None
        if point is None:
            return None
        lower, upper = given.lower.copy(), given.upper.copy()
        for i, value in near.items():
            same = abs(point.values[i] - value) <= SAME
            if same and given.lower[i] <= value <= given.upper[i]:
                lower[i] = upper[i] = value
        fixed = replace(given, lower=lower, upper=upper)
        return self.rounds(part, fixed, {}, FIXED_SHARE, Limits(SAME_GAP * self.session.gap))

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
        start, searched = self._complete(part, found)
        enough -= max(found.value - searched, 0.0)
        program = part.matrix
        if part.large and (point := point_of(self.session, program)) is not None:
            program = with_few_runs(program, point, start)
        solver = RackSolver(self.session, UNLIMITED)

        def site(fixed: Mapping[int, float], near: Mapping[int, float]) -> Outcome:
            return solver.of_site(program, fixed, near)

        first = improved_by_site(part.problem, program, start, site, enough)
        better = None if first is None else self.rounds(part, program, {}, FREE_SHARE, first=first)
        best = better if better and better.value < found.value else found
        if by_site or part.large or best.value <= enough or self.session.clock.left() <= 0:
            return better
        start = racks_of(part.matrix, best.integer_values)
        joint = self.rounds(part, part.matrix, start, FREE_SHARE, Limits(enough=enough))
        return min((x for x in (better, joint) if x), key=lambda x: x.value, default=None)

    def _complete(self, part: SmallModel, found: Found) -> tuple[dict[int, float], float]:
        """Return a value of each integer for a plan, and its objective.

        A plan with continuous switch counts has integer ones in the cheapest solution of its other
        integers; without such a solution the start is not complete.
        """
        start = part.of_full(found.integer_values)
        if len(start) == int(part.matrix.integer.sum()):
            return start, found.searched
        outcome = RackSolver(self.session, UNLIMITED).of_site(part.matrix, start, {})
        if outcome.values is None:
            return start, found.searched
        whole = np.flatnonzero(part.matrix.integer)
        return {int(i): float(round(outcome.values[i])) for i in whole}, outcome.objective

    def _part(self, chosen: Mapping[Key, float], least_s: float = 0.0) -> SmallModel | None:
        """Return the small problem of chosen halls and fabrics; None if they allow no solution in time."""
        point = point_of(self.session, with_halls(self.base, chosen), least_s)
        if point is None:
            return None
        problem, there = self._narrowed(chosen, self._systems(point))
        base: Matrix = self.base
        runs: Sequence[int] = range(len(self.problem.run_options))
        if self.relaxed:
            base, runs = PROGRAMS.compiled(problem), there
            point = point_of(self.session, with_halls(base, chosen), least_s)
            if point is None:
                return None
        likely = self._likely(base, runs, point)
        kept = tuple(i for i in there if i in likely)
        options = tuple(self.problem.run_options[i] for i in kept)
        problem = with_steps(replace(problem, run_options=options), MOST_STEPS, exact=True)
        return SmallModel(problem, PROGRAMS.compiled(problem), kept)

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
        limits: Limits = UNLIMITED,
        first: Outcome | None = None,
    ) -> Found | None:
        """Solve a small model, and again with tighter limits where the plan violates them.

        ``first`` is a solution that is already there. With continuous switch counts, tighter limits may
        cost the requested gap and not more.
        """
        limits = limits.of_size(part.large)
        if limits.continuous:
            model = with_continuous_switches(model)
        solver = RackSolver(self.session, limits)

        def again(tighter: Matrix, near: Mapping[int, float]) -> Outcome:
            if first is not None:  # the other sites keep what was improved
                fixed = of_other_sites(part.problem, model, tighter, near)
                outcome = solver.of_site(tighter, fixed, near)
                if outcome.values is not None:
                    return outcome
            outcome = solver.solved(tighter, near, min(share, AGAIN_SHARE))
            lost = outcome.objective - begun.objective > self.session.gap * abs(begun.objective)
            return replace(outcome, values=None) if limits.continuous and lost else outcome

        def audited(tighter: Matrix, outcome: Outcome) -> tuple[Decisions, Audit]:
            return self.auditor(part.problem, tighter, outcome)

        begun = first or solver.solved(model, start, share)
        found = until_passed(self.problem, model, begun, again, audited)
        if isinstance(found, Failed):
            return None
        books, measure = found.audit.books, self.problem.goal.measure
        value = measured(measure, self.problem, found.decisions, books)
        self.session.reporter.passed(value)
        whole = part.in_full(found.integer_values)
        return Found(found.outcome.objective, found.decisions, found.audit, value, whole)
