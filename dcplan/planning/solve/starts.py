"""Starts: integers of a plan of one model, by column of another."""

from __future__ import annotations

from collections.abc import Mapping

from dcplan.planning.decision_specs import FABRIC, LEAF_GROUPS, LOAD_GROUPS, LOAD_STEP, RUN, STEP
from dcplan.planning.keys import Key
from dcplan.planning.solve.matrix import Matrix, Vector

CHOICES = (RUN.variable, FABRIC.variable)
"""Decisions that a rough plan fixes for a better plan."""
SWITCHES = tuple(x.variable for x in (STEP, LEAF_GROUPS, LOAD_STEP, LOAD_GROUPS))
"""Integers that follow from racks and fabrics."""


def known(matrix: Matrix, near: Mapping[Key, float]) -> dict[int, float]:
    """Return the columns that a plan for another problem also has."""
    return {
        i: near[name] for i, name in enumerate(matrix.columns) if matrix.integer[i] and name in near
    }


def without_switches(values: Mapping[int, float], matrix: Matrix) -> dict[int, float]:
    """Return a start without switch counts, whose steps differ between models."""
    return {i: v for i, v in values.items() if matrix.columns[i].name not in SWITCHES}


def integer_values(matrix: Matrix, values: Mapping[int, float]) -> dict[int, float]:
    """Return the integers of a start; the continuous values follow from them."""
    return {i: float(round(v)) for i, v in values.items() if matrix.integer[i]}


def start_from(matrix: Matrix, source: Matrix, values: Vector) -> dict[int, float]:
    """Return values of one model as a start for another with the same column names."""
    known = dict(zip(source.columns, values, strict=True))
    return {i: float(known[name]) for i, name in enumerate(matrix.columns) if name in known}
