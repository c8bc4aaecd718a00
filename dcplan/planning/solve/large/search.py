"""Large models: halls, fabrics and sites first, in a relaxation with few columns; then racks and runs.

1. The relaxation replaces runs by work (``aggregate``), merges demands that are equal (``merged``),
   and has strong rows (``strong``). Its linear program gives the first bound.
2. Its program with whole halls, fabrics, sites and sums of them (``sums``) gives a higher bound. A
   very large one gets a first plan of the linear program's halls, rounded up, and is first solved
   with only the fabrics and systems that the linear program uses, which gives a start. Between 10,000
   and 30,000 columns a tree of our own solves it (``branch/tree``), and HiGHS where that is slow. A
   larger one is divided as its restricted one (``branch/proof``), which gives a bound.
3. A solution of it gives halls and fabrics. They leave a small problem with integer switch counts, whose
   racks and runs HiGHS finds. Limits that the plan violates are tightened (``rounding``) until it
   passes its audit (``racks``). Then the plan is improved site by site (``by_site``), and so are plans
   of other solutions.
4. If the complete model with integer switch counts is small enough, it gives the last bound (``whole``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.planning.decision_specs import DECISIONS, Branch
from dcplan.planning.keys import Key
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.highs import Outcome, OutOfTimeError, Point, Watch, relaxation
from dcplan.planning.solve.large.aggregate import Group, groups_used, with_work, without
from dcplan.planning.solve.large.branch.node_program import Known
from dcplan.planning.solve.large.branch.proof import ProofTree
from dcplan.planning.solve.large.branch.pseudo_costs import PseudoCosts
from dcplan.planning.solve.large.branch.tree import Tree
from dcplan.planning.solve.large.plans import Plans
from dcplan.planning.solve.large.racks import Found, RackStage
from dcplan.planning.solve.large.restricted import rounded_up, unused
from dcplan.planning.solve.large.small_model import STRATEGY
from dcplan.planning.solve.large.sums import SUM, known_with_sums, with_sums
from dcplan.planning.solve.large.whole import proved_whole
from dcplan.planning.solve.matrix import Matrix, Vector
from dcplan.planning.solve.request import SolveSession
from dcplan.planning.solve.status import Phase, SolveStatus
from dcplan.planning.solve.strong import strengthened

RESTRICT_COLUMNS = 10_000
"""Relaxations above this size are first solved with the systems of the linear program only."""
RESTRICTED_SHARE = 0.4
"""Share of the time for the restricted program."""
BOUND_SHARE, TREE_SHARE = 0.75, 0.7
"""Shares of the remaining time for the program of halls: for the bound of a very large one by HiGHS, and
for the tree. Plans take the rest."""
TREE_COLUMNS, MOST_TREE_COLUMNS = 10_000, 30_000
"""Relaxations above and up to these sizes have a tree of our own (``tree``). HiGHS found no node of one of
20,592 columns in 76 s; larger ones than the limit were not measured with the tree (docs/decisions.md)."""
DIVIDED_SHARE = 0.85
"""Share of the remaining time for the bound of a very large program by its tree."""
FIRST_GAP = 0.1
"""Gap of the racks of rounded halls, whose plan is only the first one."""
LEAST_GAP = 0.05
"""Smallest share of the requested gap for the program of halls."""
SEARCH_GAP = 0.3
"""Share of the requested gap at which the program of halls ends; racks and switches take the rest."""
EXTRA = 0.15
"""Additional share of the time for a plan if the search found none."""
TINY = 1e-6


@dataclass(frozen=True)
class Answer:
    """The best plan, if any, and the proven bound."""

    plan: Found | None
    bound: float
    nodes: int
    infeasible: bool = False
    ended: str = ""
    """Reason why the search ended before the time limit with an open gap; otherwise empty."""


@dataclass(frozen=True)
class Halls:
    """The program of halls and its solution."""

    program: Matrix
    outcome: Outcome


class HallSearch:
    """Search of one large model; ``stage`` makes plans of its halls."""

    def __init__(
        self, problem: PlanningProblem, program: Matrix, stage: RackStage, session: SolveSession
    ) -> None:
        """Begin a search; the clock of the session ends it.

        ``problem`` and its program have the relaxation of the problem of the stage.
        """
        self.problem, self.program = problem, program
        self.stage, self.session = stage, session
        self.gap = session.gap
        self.plans = Plans(stage, stage.session)
        self.nodes = 0
        self.grows = False
        """Whether the tree solves the program of halls."""
        self.divides = False
        """Whether the program of halls is divided as its restricted one, whose solution is that of the plan."""
        self.costs = PseudoCosts()
        """Gains of branching in the program of halls."""
        self.restricted = math.inf
        """Cost of the best solution of the restricted program."""

    def solve(self, near: Mapping[Key, float] | None = None) -> Answer:
        """Search until the gap is proved, the program of halls is solved, or the time limit.

        ``near`` is a plan of a similar model.
        """
        self.session.reporter.enter(Phase.RELAXATION)
        try:
            relaxed, point = self.relaxed()
        except OutOfTimeError:
            self.session.clock.note(SolveStatus.LIMIT)
            return Answer(None, -math.inf, 0)
        if point is None:
            return Answer(None, -math.inf, 0, infeasible=True)
        self.plans.relax(point.objective)
        if near:
            self.plans.plan(near, self.plans.bound)
        elif self._restricts(relaxed):  # a first plan before the program of halls, which takes long
            self._round_up(relaxed, point, gap=max(FIRST_GAP, self.gap))
        found = None if self.plans.proved else self.of_halls(relaxed, point)
        if found is not None:
            if found.outcome.status is SolveStatus.INFEASIBLE:
                return Answer(None, math.inf, self.nodes, infeasible=True)
            self.plans.take(found.program, found.outcome, by_site=not self.grows)
        if self.plans.best is None and not self.session.stopped:
            self._round_up(relaxed, point, EXTRA * self.session.clock.limit_s)
        if self.plans.best is not None and self.plans.goes_on:
            # after a tree only the best of all is improved by site: that takes as long as two plans
            self.plans.make_others(by_site=not (self.grows or self.divides))
        if self.plans.goes_on:
            self.plans.improve()
        if self.plans.goes_on:
            proof = proved_whole(self.stage, self.plans.best, self.plans.bound)
            self.plans.best = proof.plan
            self.plans.prove(proof.bound)
            self.nodes += proof.nodes
            if proof.plan is None and proof.bound == math.inf:
                return Answer(None, math.inf, self.nodes, infeasible=True)
        ended = "" if self.session.stopped or not self.plans.goes_on else ENDED
        return Answer(self.plans.best, self.plans.bound, self.nodes, ended=ended)

    def of_halls(self, relaxed: Matrix, point: Point, *, early: bool = True) -> Halls | None:
        """Solve the program of halls for its bound; None if the best plan is proved before.

        A very large one is first solved with the fabrics and systems of the linear program only, if
        the request asks for it.
        """
        program = with_sums(relaxed, self.problem)
        self.grows = TREE_COLUMNS < len(relaxed.columns) <= MOST_TREE_COLUMNS
        start: dict[int, float] = {}
        known = known_with_sums(point, relaxed, program)
        if self._restricts(relaxed):
            less = without(program, unused(program, self.problem, relaxed, point.values))
            self.divides = not self.grows and len(less.columns) <= MOST_TREE_COLUMNS
            start = self._restricted(program, less, rounded_up(self.problem, relaxed, point.values))
            if self.plans.proved:
                return None
            if start and self.divides:
                return Halls(program, self._divided(program, less, known))
            self.divides = False
        share = TREE_SHARE if self.grows else BOUND_SHARE if start else 1.0
        session = self.session.part(share) if share < 1.0 else self.session
        outcome = (
            self._grown(program, start, session, known)
            if self.grows
            else self.solved(program, start, session, early=early)
        )
        self.plans.prove(outcome.bound)
        return Halls(program, outcome)

    def _round_up(
        self, relaxed: Matrix, point: Point, least_s: float = 0.0, gap: float | None = None
    ) -> None:
        """Make a plan of the linear program's halls, rounded up."""
        found = self.stage.plan(rounded_up(self.problem, relaxed, point.values), least_s, gap)
        if found is not None:
            self.plans.keep(found, found.searched)

    def _restricts(self, relaxed: Matrix) -> bool:
        return self.session.request.restrict and len(relaxed.columns) > RESTRICT_COLUMNS

    def relaxation(self, kept: Iterable[Group]) -> Matrix:
        """Return the relaxation with strong rows, in which the runs of some groups stay runs."""
        return strengthened(with_work(self.program, self.problem, kept), self.problem)

    def relaxed(self) -> tuple[Matrix, Point | None]:
        """Return the relaxation and its solution; runs replace work where it uses work."""
        kept: set[Group] = set()
        while True:
            relaxed = self.relaxation(kept)
            point = relaxation(relaxed, self.session.clock.left())
            used = set() if point is None else groups_used(relaxed, point.values)
            if not used or kept or self.stage.relaxed or len(relaxed.columns) > RESTRICT_COLUMNS:
                return relaxed, point
            kept |= used

    def _divided(self, program: Matrix, less: Matrix, known: Known) -> Outcome:
        """Return the bound of a program by a tree that branches as that of its restricted one.

        The restricted program is small, so its pseudo-costs are known in seconds; each linear program
        with all columns takes 10 to 20 s.
        """
        session = self.session.part(DIVIDED_SHARE)
        began, until_s = time.monotonic(), time.monotonic() + session.clock.left()
        stop, enough = session.request.stop, self.plans.done
        session.reporter.enter(Phase.HALLS)
        few = ProofTree(less, is_strategic(less), until_s=until_s, stop=stop)
        few.grown(enough)
        whole = is_strategic(program)
        tree = ProofTree(program, whole, until_s=until_s, stop=stop, costs=few.costs, trials=0)
        bound = tree.grown(enough, known=known)
        self.nodes += few.nodes + tree.nodes
        if time.monotonic() >= until_s:
            session.clock.note(SolveStatus.LIMIT)
        self.plans.prove(bound)
        seconds = time.monotonic() - began
        return Outcome(SolveStatus.LIMIT, math.inf, bound, None, seconds, tree.nodes)

    def _restricted(
        self, program: Matrix, less: Matrix, rounded: Mapping[Key, float]
    ) -> dict[int, float]:
        """Return the halls of a plan with the fabrics and systems of a solution of the linear program.

        ``rounded`` are the halls of that solution, rounded up.
        """
        start = {i: rounded[less.columns[i]] for i in less.of(STRATEGY)}
        session = self.session.part(RESTRICTED_SHARE)
        solve = self._grown if len(less.columns) <= MOST_TREE_COLUMNS else self.solved
        outcome = solve(less, start, session, bounds=False)
        if outcome.values is None:
            return {}
        self.restricted = outcome.objective
        if self.plans.best is None or not self.grows:  # a tree soon has better halls
            self.plans.take(less, outcome, by_site=False)
        there = dict(zip(less.columns, outcome.values, strict=True))
        whole = np.flatnonzero(is_strategic(program))
        return {int(i): float(round(there.get(program.columns[i], 0.0))) for i in whole}

    def solved(
        self,
        program: Matrix,
        start: Mapping[int, float],
        session: SolveSession,
        *,
        bounds: bool = True,
        early: bool = True,
    ) -> Outcome:
        """Solve the program of halls; with ``early``, plans are made of its solutions on the way.

        The bound of a restricted program (``bounds`` is False) holds for its own solutions only.
        """

        def improved(values: Vector) -> None:
            self.plans.early(program, values)

        phase = Phase.HALLS if bounds else Phase.RESTRICTED
        shown = session.reporter.of_solver(phase, plans=False, bounds=bounds, started=bool(start))
        outcome = session.solve(
            program,
            self._gap_of_halls(),
            relaxed=~is_strategic(program),
            start=start,
            prove=bool(start) and bounds,
            presolve=False,
            watch=Watch(
                shown,
                session.request.stop,
                improved if early else None,
                self.plans.done if bounds and not start else None,
            ),
        )
        self.nodes += outcome.nodes
        return outcome

    def _grown(
        self,
        program: Matrix,
        start: Mapping[int, float],
        session: SolveSession,
        known: Known | None = None,
        *,
        bounds: bool = True,
    ) -> Outcome:
        """Solve the program of halls by the tree, and by HiGHS where the tree is slow.

        No plans are made on the way: those of the first solutions took more time than the tree, and
        its last solution has the better plan.
        """
        phase = Phase.HALLS if bounds else Phase.RESTRICTED
        whole = is_strategic(program)
        tree = Tree(
            program,
            whole,
            gap=self._gap_of_halls(),
            time_limit_s=session.clock.left(),
            costs=self.costs.carried(),
            watch=Watch(
                session.reporter.of_solver(phase, plans=False, bounds=bounds),
                session.request.stop,
                lambda values: self.plans.later(program, values),
                self.plans.done if bounds else None,
            ),
            seed=session.request.seed,
        )
        grown = tree.grown(start, known)
        outcome, self.costs = grown.outcome, tree.costs
        self.nodes += outcome.nodes
        if not grown.slow:
            session.clock.note(outcome.status)
            return outcome
        if bounds:
            self.plans.prove(outcome.bound)
        if (values := outcome.values) is not None:
            start = {int(i): float(round(values[i])) for i in np.flatnonzero(whole)}
        return self.solved(program, start, session, bounds=bounds, early=False)

    def _gap_of_halls(self) -> float:
        """Return the gap of the program of halls; it is smaller where that proves the best plan.

        Before a tree there is only the expensive plan of rounded halls, which says nothing of it. The plan
        of a program that is then divided has the halls of its restricted one, which ends in seconds.
        """
        if self.divides:
            return LEAST_GAP * self.gap
        if self.grows or self.plans.best is None or not math.isfinite(self.restricted):
            return SEARCH_GAP * self.gap
        proved = self.plans.best.value - self.gap * abs(self.plans.best.value)
        needed = (self.restricted - proved) / max(abs(self.restricted), TINY)
        return min(max(needed, LEAST_GAP * self.gap), SEARCH_GAP * self.gap)


ENDED = (
    "the program of halls, fabrics and sites is solved; the rest is racks and integer switch counts"
)


def is_strategic(matrix: Matrix) -> npt.NDArray[np.bool_]:
    """Return the columns that are whole in the program of halls."""
    return np.array(
        [
            key.name == SUM
            or (key.name in DECISIONS and DECISIONS[key.name].branch is Branch.FIRST)
            for key in matrix.columns
        ]
    )
