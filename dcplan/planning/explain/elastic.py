"""Elastic programs with priced violations of rows, and conflicts between rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dcplan.planning.keys import Key
from dcplan.planning.solve.highs import loaded
from dcplan.planning.solve.matrix import Matrix

SLACK = "slack"
"""Name of the slack columns; their index is the position and key of the row."""
ELASTIC_AND_IRREDUCIBLE = 2 | 4 | 16
"""HiGHS ``iis_strategy``: an elastic LP of the relaxation, reduced; the default 0 finds no
conflicting rows."""


def elastic(matrix: Matrix, price_of: Callable[[Key], float | None]) -> Matrix:
    """Return a copy in which some rows may be violated at a price per unit; all other costs are 0.

    ``price_of`` returns the price of a row, or None if it must hold; equality rows get a slack in
    each direction.
    """
    cost, lower, upper = [np.zeros_like(matrix.cost)], [matrix.lower], [matrix.upper]
    columns = list(matrix.columns)
    start, index, value = list(matrix.start), list(matrix.index), list(matrix.value)
    for i, row in enumerate(matrix.rows):
        price = price_of(row)
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
    """Return rows that contradict each other, as few as HiGHS finds in time.

    It is empty if the conflict is only one of integer decisions.
    """
    solver = loaded(matrix, np.zeros(len(matrix.columns), dtype=bool), matrix.lower, matrix.upper)
    solver.setOptionValue("iis_strategy", ELASTIC_AND_IRREDUCIBLE)
    solver.setOptionValue("iis_time_limit", time_limit_s)
    _, found = solver.getIis()
    return [matrix.rows[i] for i in found.row_index_]
