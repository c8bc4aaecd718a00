"""Screening: an audited plan and a bound within SCREEN_GAP in little time, for what-ifs and sweeps.

1. The program of halls gives a first bound.
2. The hardware of the plan for a similar problem is repeated, with rent and runs anew.
3. Whole racks raise the bound of a small program until it is near enough to that plan.
4. If it is not, the halls of the program become a plan, and those of the similar plan where they
   promise less.
"""

from __future__ import annotations

from collections.abc import Mapping

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
from dcplan.planning.solve.highs import OutOfTimeError, Watch, relaxation
from dcplan.planning.solve.large.racks import RACK_GAP, Found, RackStage, with_halls
from dcplan.planning.solve.large.search import Answer, Halls, HallSearch, is_strategic
from dcplan.planning.solve.large.whole import MOST_COLUMNS
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.status import Phase, SolveStatus

SCREEN_GAP = 0.02
"""Gap at which a screening ends; a request with a larger gap ends there."""
BOUND_GAP = 0.15
"""Share of SCREEN_GAP at which the program with whole racks ends."""
HARDWARE = tuple(x.variable for x in (FABRIC, FITTED, RACKS, BUY, LEASED, FLEET, DISPOSED, STOPPED))
"""Decisions on hardware, which a similar problem may repeat."""
WHOLE = tuple(x.variable for x in (RACKS, BUY, BLOCKS, RENTING, USED, USED_NEW))
"""Integers that raise the bound."""
SCREENED = "only a plan and a bound were requested (screening)"


def screened(search: HallSearch, near: Mapping[Key, float] | None = None) -> Answer:
    """Return a plan and a bound, without a search for a smaller gap than that of a screening."""
    plans = search.plans
    try:
        relaxed, point = search.relaxed()
        if point is None:
            return Answer(None, float("-inf"), 0, infeasible=True)
        plans.relax(point.objective)
        halls = search.of_halls(relaxed, point, early=False)
        if halls is not None and halls.outcome.status is SolveStatus.INFEASIBLE:
            return Answer(None, float("inf"), search.nodes, infeasible=True)
        if halls is not None:
            _plan(search, relaxed, halls, near or {})
    except OutOfTimeError:
        search.session.clock.note(SolveStatus.LIMIT)
    return Answer(plans.best, plans.bound, search.nodes, ended=SCREENED)


def _plan(search: HallSearch, relaxed: Matrix, halls: Halls, near: Mapping[Key, float]) -> None:
    """Make plans, and raise the bound once, until they are near enough to each other."""
    plans = search.plans
    if near:
        found = repeated(search.stage, near)
        plans.keep(found, found.searched if found else 0.0)
    lifted = plans.best is not None
    if lifted:
        _lift(search, halls.program)
    if not _enough(search, plans.bound):
        plans.take(halls.program, halls.outcome, by_site=not search.grows)
    if near and not _enough(search, plans.bound) and _promises(search, relaxed, near):
        plans.plan(near, plans.bound)
    if not lifted:
        _lift(search, halls.program)


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


def _lift(search: HallSearch, program: Matrix) -> None:
    """Raise the bound by whole racks, until it is near enough to the best plan."""
    plans, session = search.plans, search.session
    if len(program.columns) > MOST_COLUMNS or _enough(search, plans.bound):
        return
    whole = is_strategic(program)
    whole[program.of(WHOLE)] = True
    watch = Watch(stop=session.request.stop, proved=lambda bound: _enough(search, bound))
    outcome = session.solve(
        *(program, BOUND_GAP * SCREEN_GAP),
        relaxed=~whole, presolve=True, silent=True, watch=watch,
    )  # fmt: skip
    search.nodes += outcome.nodes
    plans.prove(outcome.bound)


def _enough(search: HallSearch, bound: float) -> bool:
    """Return whether a bound is near enough to the best plan."""
    return search.plans.within(bound, max(SCREEN_GAP, search.gap))


def _promises(search: HallSearch, relaxed: Matrix, near: Mapping[Key, float]) -> bool:
    """Return whether the halls of a plan may give a clearly better one, by their linear program."""
    plans = search.plans
    point = relaxation(with_halls(relaxed, near), search.session.clock.left())
    return point is not None and point.objective + plans.least_slack() < plans.worth()
