"""What is made of a compiled program.

Its rows breakable at a price, its rows in conflict, columns by variable.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dcplan.planning.keys import Key
from dcplan.planning.solve.highs import loaded
from dcplan.planning.solve.matrix import Matrix

SLACK = "slack"
"""Name of the columns that break a row; their index is the row's position and key."""
ELASTIC_AND_IRREDUCIBLE = 2 | 4 | 16
"""HiGHS ``iis_strategy``: an elastic LP of the relaxation, reduced; the default, 0, finds no
conflict of rows."""


def elastic(matrix: Matrix, prices: Mapping[str, float]) -> Matrix:
    """Copy in which the rows of some constraints may be broken at a price per unit.

    And nothing else costs.

    ``prices`` is constraint name (before its index) -> price; equality rows get a slack each way.
    """
    cost, lower, upper = [np.zeros_like(matrix.cost)], [matrix.lower], [matrix.upper]
    columns = list(matrix.columns)
    start, index, value = list(matrix.start), list(matrix.index), list(matrix.value)
    for i, row in enumerate(matrix.rows):
        price = prices.get(row.name)
        if price is None:
            continue
        signs = [1.0] if np.isfinite(matrix.row_lower[i]) else []
        signs += [-1.0] if np.isfinite(matrix.row_upper[i]) else []
        for sign in signs:
            columns.append(Key(SLACK, (i, row)))
            index.append(i)
            value.append(sign)
            start.append(len(index))
            cost.append(np.array([price]))
            lower.append(np.array([0.0]))
            upper.append(np.array([np.inf]))
    extra = len(columns) - len(matrix.columns)
    return Matrix(
        cost=np.concatenate(cost),
        offset=0.0,
        lower=np.concatenate(lower),
        upper=np.concatenate(upper),
        integer=np.concatenate([matrix.integer, np.zeros(extra, dtype=bool)]),
        columns=columns,
        row_lower=matrix.row_lower,
        row_upper=matrix.row_upper,
        rows=matrix.rows,
        start=np.array(start, dtype=np.int32),
        index=np.array(index, dtype=np.int32),
        value=np.array(value, dtype=np.float64),
    )


def conflict(matrix: Matrix, time_limit_s: float) -> list[Key]:
    """Rows that cannot hold together, as few as HiGHS finds in time.

    Empty where only whole numbers conflict.
    """
    solver = loaded(matrix, np.zeros(len(matrix.columns), dtype=bool), matrix.lower, matrix.upper)
    solver.setOptionValue("iis_strategy", ELASTIC_AND_IRREDUCIBLE)
    solver.setOptionValue("iis_time_limit", time_limit_s)
    _, found = solver.getIis()
    return [matrix.rows[i] for i in found.row_index_]
