"""Sums that divide a large model, as integer columns: halls by quarter, hall units, fabric reach.

A solver branches on single columns. The bound of a large model moves more if it branches on sums:
whether any new hall is open by a quarter, whether any fabric of a hall reaches further. Sums of
integers are integers, so each sum is an integer column of its own; presolve must be off, because it
replaces such a column by its sum.
"""

from __future__ import annotations

from collections import defaultdict

import highspy

from dcplan.planning.decision_specs import FABRIC, FITTED
from dcplan.planning.keys import Key
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.highs import Point
from dcplan.planning.solve.large.branch.node_program import Known
from dcplan.planning.solve.matrix import Matrix, Row

SUM = "sum"
"""Name of the columns of sums, and of the rows that define them."""


def with_sums(matrix: Matrix, problem: PlanningProblem) -> Matrix:
    """Return the program with an integer column for each sum of several strategic integers.

    Sums are, by quarter, the units of a hall, of all halls and of new halls, and, by reach, the
    fabrics of a hall and of all halls that reach at least as far.
    """
    members = {
        key: columns for key, columns in _members(matrix, problem).items() if len(columns) > 1
    }
    first = len(matrix.columns)
    upper = [float(matrix.upper[columns].sum()) for columns in members.values()]
    rows = [
        Row(key, dict.fromkeys(columns, 1.0) | {first + n: -1.0}, 0.0, 0.0)
        for n, (key, columns) in enumerate(members.items())
    ]
    return matrix.with_integers(list(members), upper).with_rows(rows)


def known_with_sums(point: Point, relaxed: Matrix, program: Matrix) -> Known:
    """Return the basis of the program with sums for the optimum of the program without.

    Each sum is basic, and the row that defines it is not. A sum of values within their bounds is
    within its own, so the basis of an optimum stays one.
    """
    kinds, basis = highspy.HighsBasisStatus, highspy.HighsBasis()
    columns = len(program.columns) - len(relaxed.columns)
    rows = len(program.rows) - len(relaxed.rows)
    basis.col_status = [*point.basis.col_status, *[kinds.kBasic] * columns]
    basis.row_status = [*point.basis.row_status, *[kinds.kLower] * rows]
    basis.valid = point.basis.valid
    return Known(basis, point.iterations, point.seconds)


def _members(matrix: Matrix, problem: PlanningProblem) -> dict[Key, list[int]]:
    reach = {(o.hall, o.id): o.least_reach for o in problem.fabrics}
    steps = {
        h.id: sorted({r for (hall, _), r in reach.items() if hall == h.id}) for h in problem.halls
    }
    new = {h.id for h in problem.halls if h.needs_blocks}
    found: dict[Key, list[int]] = defaultdict(list)
    for i in matrix.of((FITTED.variable,)):
        hall, _, t = matrix.columns[i].ids
        found[Key(SUM, ("halls", t))].append(i)
        found[Key(SUM, ("units", hall, t))].append(i)
        if hall in new:
            found[Key(SUM, ("new halls", t))].append(i)
    for i in matrix.of((FABRIC.variable,)):
        hall = matrix.columns[i].ids[0]
        for least in (x for x in steps[hall] if x <= reach[matrix.columns[i].ids]):
            found[Key(SUM, ("reach", hall, least))].append(i)
            found[Key(SUM, ("reach", least))].append(i)
    return found
