"""Screening: an audited plan and a bound within SCREEN_GAP in little time, for what-ifs and sweeps.

1. The hardware of the plan for a similar problem is repeated, with rent and runs anew.
2. The leaves that proved the bound of that problem give a bound of this one (``branch/proof``). If it is
   not near enough to the plan, the racks of the similar plan are adjusted, and the leaves divided. A gap
   as small as that of the last complete screening is the answer.
3. Otherwise the screening is complete: the program of halls gives a bound, and a new tree with integer
   racks, and with integer switch counts where that is not enough, raises it until it is near enough to
   the plan.
4. If it is not, the halls of the program become a plan, those of the similar plan where they promise
   less, and then the best halls without one of those of the program.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from dcplan.planning.audit.measures import measured
from dcplan.planning.decision_specs import (
    BLOCKS,
    BUY,
    DISPOSED,
    FABRIC,
    FITTED,
    FLEET,
    LEASED,
    RACKS,
    RENTING,
    STOPPED,
    USED,
    USED_NEW,
)
from dcplan.planning.keys import Key
from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.solve.highs import OutOfTimeError, relaxation
from dcplan.planning.solve.kept import PROGRAMS
from dcplan.planning.solve.large.aggregate import Group, runs_kept, with_work
from dcplan.planning.solve.large.branch.proof import Leaf, ProofTree, evaluated
from dcplan.planning.solve.large.branch.pseudo_costs import PseudoCosts
from dcplan.planning.solve.large.rack_solver import RACK_GAP
from dcplan.planning.solve.large.racks import MOST_STEPS, Found, RackStage
from dcplan.planning.solve.large.search import Answer, Halls, HallSearch, is_strategic
from dcplan.planning.solve.large.small_model import STRATEGY, with_halls
from dcplan.planning.solve.large.sums import with_sums
from dcplan.planning.solve.large.whole import MOST_COLUMNS
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.starts import SWITCHES
from dcplan.planning.solve.status import Phase, SolveStatus
from dcplan.planning.solve.strong import strengthened

SCREEN_GAP = 0.02
"""Gap at which a screening ends; a request with a larger gap ends there."""
DRIFT = 0.003
"""Growth of the gap since the last complete screening from which the next one is complete."""
MOST_TAKEN_OVER = 12
"""Most screenings one after the other that take over the proof of the one before."""
MOST_LEAVES = 200
"""Most leaves that are taken over; more take longer than a new tree."""
MOST_KEPT = 4
"""Proofs kept, of several chains in one process."""
TINY = 1e-9
HARDWARE = tuple(x.variable for x in (FABRIC, FITTED, RACKS, BUY, LEASED, FLEET, DISPOSED, STOPPED))
"""Decisions on hardware, which a similar problem may repeat."""
OF_RACKS = (RACKS, BUY, BLOCKS, RENTING, USED, USED_NEW)
WHOLE = (*(x.variable for x in OF_RACKS), *SWITCHES)
"""Integers that raise the bound."""
SCREENED = "only a plan and a bound were requested (screening)"


@dataclass(frozen=True)
class Proof:
    """What proved the bound of a screening, for the next similar problem."""

    groups: frozenset[Group]
    """Groups whose runs the program keeps."""
    program: Matrix
    """The program of the last complete screening."""
    stepped: bool
    """Whether it has integer switch counts."""
    leaves: tuple[Leaf, ...]
    costs: PseudoCosts
    gap_frac: float
    """Gap after the last complete screening."""
    taken_over: int = 0
    """Screenings since the last complete one."""

    def fits(self, program: Matrix) -> bool:
        """Return whether a program has the same rows and columns, and integers where the leaves divide."""
        divided = {i for leaf in self.leaves for i in leaf.cuts}
        same = self.program.rows == program.rows and self.program.columns == program.columns
        return same and all(program.integer[i] for i in divided)


@dataclass
class Proofs:
    """Proofs of the last screened plans, by the integers of the plan, the newest last."""

    kept: list[tuple[Mapping[Key, float], Proof]] = field(default_factory=list)

    def of(self, near: Mapping[Key, float]) -> Proof | None:
        """Return the proof of a plan."""
        return next((proof for plan, proof in reversed(self.kept) if plan == near), None)

    def keep(self, plan: Mapping[Key, float], proof: Proof) -> None:
        """Keep the proof of a plan."""
        self.kept = [*self.kept, (plan, proof)][-MOST_KEPT:]


PROOFS = Proofs()
"""Proofs of this process. A chain of what-ifs finds its own: each begins with the plan before it."""


def screened(search: HallSearch, near: Mapping[Key, float] | None = None) -> Answer:
    """Return a plan and a bound, without a search for a smaller gap than that of a screening."""
    plans = search.plans
    try:
        if near:
            found = repeated(search.stage, near)
            plans.keep(found, found.searched if found else 0.0)
        proof = None if plans.best is None else _taken_over(search, near or {})
        if proof is None or not plans.within(plans.bound, _most(search, proof)):
            proof = _complete(search, near or {}, proof)
            if plans.best is None and plans.bound == math.inf:
                return Answer(None, math.inf, search.nodes, infeasible=True)
        if proof is not None and plans.best is not None:
            PROOFS.keep(plans.best.integer_values, proof)
    except OutOfTimeError:
        search.session.clock.note(SolveStatus.LIMIT)
    return Answer(plans.best, plans.bound, search.nodes, ended=SCREENED)


def _most(search: HallSearch, proof: Proof) -> float:
    """Return the gap at which a screening with the proof of a similar problem ends.

    It is the gap of a screening, or a little more than what the last complete one left.
    """
    gap = search.plans.gap
    return gap if proof.gap_frac <= gap else proof.gap_frac + DRIFT


def _taken_over(search: HallSearch, near: Mapping[Key, float]) -> Proof | None:
    """Return the proof of the similar plan for this problem; None if it has none."""
    proof = PROOFS.of(near)
    if proof is None or len(proof.leaves) > MOST_LEAVES or proof.taken_over >= MOST_TAKEN_OVER:
        return None
    program = _stepped(search, proof.groups) if proof.stepped else None
    if program is None:
        program = with_sums(search.relaxation(proof.groups), search.problem)
    if not proof.fits(program):
        return None
    plans, most = search.plans, _most(search, proof)
    plans.prove(float(evaluated(proof.leaves, program).min()))
    if not plans.within(plans.bound, most):
        plans.keep(search.stage.adjusted(near), plans.bound)
    tree = _tree(search, program, proof.costs.carried())
    plans.prove(tree.taken_over(proof.leaves, plans.done))
    search.nodes += tree.nodes
    leaves = tuple(tree.leaves)
    return replace(proof, leaves=leaves, costs=tree.costs, taken_over=proof.taken_over + 1)


def _complete(search: HallSearch, near: Mapping[Key, float], proof: Proof | None) -> Proof | None:
    """Make plans, and raise the bound, until they are near enough to each other.

    ``proof`` is that of the similar plan for this problem, which was not enough. Without a plan, the
    bound is infinite if there is none.
    """
    plans = search.plans
    relaxed, point = search.relaxed()
    plans.relax(math.inf if point is None else point.objective)
    halls = None if point is None else search.of_halls(relaxed, point, early=False)
    if halls is None or halls.outcome.status is SolveStatus.INFEASIBLE:
        return None
    fresh = plans.best is not None and proof is None
    groups = frozenset(runs_kept(relaxed, search.problem))
    stepped = _stepped(search, groups) if proof is not None and proof.stepped else None
    program = halls.program if stepped is None else stepped
    tree = _lifted(search, program) if fresh else None
    if not plans.proved:
        plans.take(halls.program, halls.outcome)
    if near and not plans.proved and _promises(search, relaxed, near, halls):
        plans.plan(near, plans.bound)
    if not fresh and (proof is None or not plans.proved):
        tree = _lifted(search, program)
    if not plans.proved and stepped is None and (stepped := _stepped(search, groups)) is not None:
        tree = _lifted(search, stepped)
    if not plans.proved:
        _without_a_hall(search, halls)
    if plans.best is None:
        return None
    gap = (plans.best.value - plans.bound) / max(abs(plans.best.value), TINY)
    if tree is None or not tree.leaves:
        return None if proof is None else replace(proof, gap_frac=gap)
    leaves = tuple(tree.leaves)
    return Proof(groups, tree.matrix, tree.matrix is stepped, leaves, tree.costs, gap)


def _without_a_hall(search: HallSearch, halls: Halls) -> None:
    """Make plans of the best halls without one of those of the program, where they may be clearly better.

    Shares of switches may prefer one hall, and integer switch counts another one.
    """
    plans, program, values = search.plans, halls.program, halls.outcome.values
    if values is None:
        return
    of_halls = program.of(STRATEGY)
    used = dict.fromkeys(program.columns[i].ids[0] for i in of_halls if round(values[i]))
    for hall in used:
        closed = [i for i in of_halls if program.columns[i].ids[0] == hall]
        if plans.proved or np.any(program.lower[closed] > 0):
            continue
        upper = program.upper.copy()
        upper[closed] = 0.0
        other = replace(program, upper=upper)
        point = relaxation(other, search.session.clock.left())
        if point is not None and point.objective < plans.worth():
            outcome = search.solved(other, {}, search.session, bounds=False, early=False)
            if outcome.values is not None and outcome.objective < plans.worth():
                chosen = dict(zip(other.columns, outcome.values, strict=True))
                plans.keep(search.stage.plan(chosen), outcome.objective)


def repeated(stage: RackStage, near: Mapping[Key, float]) -> Found | None:
    """Return the plan with the hardware of another plan, and with rent and runs anew.

    It is None where that hardware does not serve the problem, or where integer switch counts violate a
    limit.
    """
    if stage.relaxed:
        return None
    base, session = stage.base, stage.session
    session.reporter.enter(Phase.RACKS)
    fixed = {i: near.get(base.columns[i], 0.0) for i in base.of(HARDWARE)}
    if any(not base.lower[i] <= x <= base.upper[i] for i, x in fixed.items()):
        return None
    gap = RACK_GAP * session.gap
    outcome = session.solve(base, gap, fixed=fixed, presolve=True, silent=True)
    if outcome.values is None:
        return None
    decisions, audit = stage.auditor(stage.problem, base, outcome)
    if not audit.passed:
        return None
    value = measured(stage.problem.goal.measure, stage.problem, decisions, audit.books)
    whole = base.integer_values(outcome.values)
    return Found(outcome.objective, decisions, audit, value, whole)


def _stepped(search: HallSearch, groups: frozenset[Group]) -> Matrix | None:
    """Return the program of halls with integer switch counts; None if there are none, or it is too large.

    Where switches matter, the tree of the program without them stays 2.5 % below the best plan.
    """
    problem = with_steps(search.problem, MOST_STEPS, exact=False)
    if search.stage.relaxed or not problem.integer_switches:
        return None
    matrix = with_work(PROGRAMS.compiled(problem), problem, groups)
    if len(matrix.columns) > MOST_COLUMNS:
        return None
    return with_sums(strengthened(matrix, problem), problem)


def _lifted(search: HallSearch, program: Matrix) -> ProofTree | None:
    """Return a tree with integer racks that raises the bound until it is near enough to the best plan."""
    if len(program.columns) > MOST_COLUMNS:
        return None
    tree = _tree(search, program)
    search.plans.prove(tree.grown(search.plans.done))
    search.nodes += tree.nodes
    return tree


def _tree(search: HallSearch, program: Matrix, costs: PseudoCosts | None = None) -> ProofTree:
    """Return a tree of whole halls, racks and purchases."""
    whole, session = is_strategic(program), search.session
    whole[program.of(WHOLE)] = True
    until_s = time.monotonic() + session.clock.left()
    return ProofTree(program, whole, until_s=until_s, stop=session.request.stop, costs=costs)


def _promises(search: HallSearch, relaxed: Matrix, near: Mapping[Key, float], halls: Halls) -> bool:
    """Return whether the halls of a plan are other ones and may give a clearly better plan.

    Their linear program says so.
    """
    plans, program, values = search.plans, halls.program, halls.outcome.values
    if values is None or all(
        round(near.get(program.columns[i], 0.0)) == round(values[i]) for i in program.of(STRATEGY)
    ):
        return False
    point = relaxation(with_halls(relaxed, near), search.session.clock.left())
    return point is not None and point.objective + plans.least_slack() < plans.worth()
