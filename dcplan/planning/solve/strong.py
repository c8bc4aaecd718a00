"""Rows that strengthen the relaxation of a program: no hall or site serves without being open.

The program limits what a hall serves by its racks and its racks by its open units, so the relaxation
opens a part of a hall for a part of a demand. These rows limit the share of each demand and of each
job that a hall, a site or the new halls of a site take by what is open there (strong rows of facility
location: Krarup and Pruzan 1983, The simple plant location problem, section 3). A best plan satisfies
them, so the bound with them holds for all plans.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from dcplan.planning.decision_specs import FITTED, RUN, USED, USED_NEW
from dcplan.planning.keys import Key
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.matrix import Matrix, Row
from dcplan.units import MONTHS_PER_QUARTER

DEMAND = "demand_met"
"""Row of a demand in a quarter; its limit is the demand, its entries what each column serves."""
SERVING = "serving"
"""Columns that serve a demand on own accelerators: demand, hall, cooling, system, quarter."""
WORK = "work"
"""Columns that replace runs (``large/aggregate.py``): job, hall, system and the row of a quarter."""
HALL_SHARE, SITE_SHARE, NEW_SHARE = "hall_share", "site_share", "new_share"

Taken = dict[tuple[str, str, int], dict[int, float]]
"""Demand or job, hall and quarter -> share that each column takes of it."""


def strengthened(matrix: Matrix, problem: PlanningProblem) -> Matrix:
    r"""Return the program with rows that limit shares of demands and jobs by what is open.

    .. math:: \sum_{e \in d,h,t} \frac{\tau_e}{D_{dt}} u_e \le \sum_c f_{hct}, \qquad
       \sum_{i \in j,h,t} x_i \le \sum_c f_{hct}

    and the same over the halls of a site with :math:`y_{st}` (a site in use), and over its new halls.
    Work beyond a demand improves no measure but compute, so a best plan exists whose shares are at
    most 1. Where compute is the objective or has a limit, only the rows of jobs are added.

    Parameters
    ----------
    matrix : Matrix
        The program, or its relaxation with work in place of runs.
    problem : PlanningProblem
        The problem of the program.
    """
    taken = _jobs(matrix, problem)
    if problem.goal.serves_only_demands:
        taken |= _demands(matrix)
    place = {key: i for i, key in enumerate(matrix.columns)}
    site = {h.id: h.site for h in problem.halls}
    new = {h.id for h in problem.halls if h.needs_blocks}
    units = {
        (h.id, t): [place[FITTED.key(h.id, c.id, t)] for c in h.coolings]
        for h in problem.halls
        for t in range(problem.quarters)
    }
    rows = _rows(HALL_SHARE, taken, {at: units[at] for at in units if not _open(matrix, units[at])})
    parts = _parts_at_site(matrix, problem)
    by_site = _summed(taken, site, parts)
    rows += _rows(SITE_SHARE, by_site, _columns(USED.variable, place))
    by_new = _summed({at: e for at, e in taken.items() if at[1] in new}, site, parts)
    rows += _rows(NEW_SHARE, by_new, _columns(USED_NEW.variable, place))
    return matrix.with_rows(rows)


def _open(matrix: Matrix, columns: Iterable[int]) -> bool:
    """Return whether a unit is open in every plan, so that the row would limit nothing."""
    return float(sum(matrix.lower[i] for i in columns)) >= 1.0


def _columns(variable: str, place: Mapping[Key, int]) -> dict[tuple[str, int], list[int]]:
    """Return the column of a variable by its id and quarter."""
    return {(key.ids[0], key.ids[1]): [i] for key, i in place.items() if key.name == variable}


def _demands(matrix: Matrix) -> Taken:
    """Return the share of its demand that each column serves, from the rows of the demands."""
    wanted = {
        r: (key.ids[0], float(matrix.row_lower[r]))
        for r, key in enumerate(matrix.rows)
        if key.name == DEMAND and matrix.row_lower[r] > 0
    }
    taken: Taken = defaultdict(dict)
    for i in matrix.of((SERVING,)):
        _, hall, *_, t = matrix.columns[i].ids
        for k in range(matrix.start[i], matrix.start[i + 1]):
            if matrix.index[k] in wanted:
                demand, amount = wanted[matrix.index[k]]
                taken[demand, hall, t][i] = float(matrix.value[k]) / amount
    return taken


def _jobs(matrix: Matrix, problem: PlanningProblem) -> Taken:
    """Return the runs, and the work in their place, of each job in a hall and quarter."""
    taken: Taken = defaultdict(dict)
    for i, key in enumerate(matrix.columns):
        if key.name == WORK:
            job, hall, _, row = key.ids
            taken[job, hall, row.ids[-1]][i] = 1.0
        elif key.name == RUN.variable:
            run = problem.run_options[key.ids[0]]
            last = min(
                (run.start_month + run.months - 1) // MONTHS_PER_QUARTER, problem.quarters - 1
            )
            for t in range(run.start_month // MONTHS_PER_QUARTER, last + 1):
                if not run.on_cloud:
                    taken[run.job, run.place, t][i] = 1.0
    return taken


def _parts_at_site(matrix: Matrix, problem: PlanningProblem) -> dict[int, int]:
    """Return how many halls of its site a run over several halls has, by column."""
    found = {}
    for i in matrix.of((RUN.variable,)):
        run = problem.run_options[matrix.columns[i].ids[0]]
        if run.part is not None:
            site = run.place.partition("/")[0]
            found[i] = sum(x.partition("/")[0] == site for x in run.part.places)
    return found


def _summed(taken: Taken, site: Mapping[str, str], parts: Mapping[int, int]) -> Taken:
    """Return the shares by site; the parts of one run at a site count once."""
    found: Taken = defaultdict(dict)
    for (what, hall, t), entries in taken.items():
        found[what, site[hall], t] |= {i: x / parts.get(i, 1) for i, x in entries.items()}
    return found


def _rows(name: str, taken: Taken, opened: Mapping[tuple[str, int], list[int]]) -> list[Row]:
    return [
        Row(Key(name, (what, where, t)), entries | dict.fromkeys(opened[where, t], -1.0), upper=0.0)
        for (what, where, t), entries in taken.items()
        if (where, t) in opened
    ]
