"""One plan for several variants (two-stage stochastic program).

First decisions are common to all variants; later decisions follow when the variant is known.

The matrices of the variants are stacked, with one column for each common decision. The objective is
the expected cost, or the mean of the worst share of the variants (CVaR, Rockafellar and Uryasev
2000, eq. 4: min eta + sum p z / alpha).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.planning.decision_specs import BUY, DECISIONS, FABRIC, QUARTERLY_DECISIONS
from dcplan.planning.keys import Key
from dcplan.planning.solve.matrix import Matrix, Vector


@dataclass(frozen=True)
class Stack:
    """A stacked program, and the positions of each variant's columns in it."""

    matrix: Matrix
    places: tuple[npt.NDArray[np.int64], ...]

    def values(self, variant: int, values: Vector) -> Vector:
        """Return a solution in the columns of one variant."""
        return np.asarray(values[self.places[variant]], dtype=np.float64)


def is_first(column: Key, through: int) -> bool:
    """Return whether a decision is made before the variant is known.

    Examples
    --------
    >>> [is_first(Key("buy", ("s/h", "wet", "a", t)), 1) for t in (1, 2)], is_first(Key("run", (3,)), 9)
    ([True, False], False)
    """
    spec = DECISIONS.get(column.name)
    if spec is FABRIC:
        return True
    return spec in QUARTERLY_DECISIONS and column.ids[-1] <= through


def stacked(
    variants: Sequence[Matrix], weights: Sequence[float], through: int, tail_frac: float = 1.0
) -> Stack:
    """Stack the programs of the variants.

    A first decision that one variant does not offer is not available in any variant.

    Weights sum to 1. With ``tail_frac`` below 1, the cost is the mean of that worst share.
    """
    shared = _shared(variants, through)
    columns, places = _columns(variants, shared, through)
    n = len(columns)
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    integer, cost = np.zeros(n, dtype=bool), np.zeros(n)
    for variant, at, weight in zip(variants, places, weights, strict=True):
        lower[at], upper[at] = (
            np.maximum(lower[at], variant.lower),
            np.minimum(upper[at], variant.upper),
        )
        integer[at] |= variant.integer
        np.add.at(cost, at, weight * variant.cost)
    offered = set(shared)
    for variant, at in zip(variants, places, strict=True):
        for i, name in zip(at, variant.columns, strict=True):
            if is_first(name, through) and name not in offered:
                lower[i], upper[i] = min(lower[i], 0.0), 0.0
    offset = float(sum(w * m.offset for w, m in zip(weights, variants, strict=True)))
    rows, entries = _entries(variants, places)
    found = _assembled(cost, offset, lower, upper, integer, columns, rows, entries)
    return Stack(
        found if tail_frac >= 1 else _with_tail(found, variants, places, weights, tail_frac),
        tuple(places),
    )


def _shared(variants: Sequence[Matrix], through: int) -> list[Key]:
    """Return the first decisions that every variant offers."""
    there = [set(m.columns) for m in variants]
    return [
        c
        for c in variants[0].columns
        if is_first(c, through) and all(c in names for names in there)
    ]


def _columns(
    variants: Sequence[Matrix], shared: Sequence[Key], through: int
) -> tuple[list[Key], list[npt.NDArray[np.int64]]]:
    columns = list(shared)
    position = {name: i for i, name in enumerate(shared)}
    places = []
    for w, variant in enumerate(variants):
        at = np.empty(len(variant.columns), dtype=np.int64)
        for i, name in enumerate(variant.columns):
            if name in position and is_first(name, through):
                at[i] = position[name]
            else:
                at[i] = len(columns)
                columns.append(_own(w, name))
        places.append(at)
    return columns, places


Entries = tuple[list[npt.NDArray[np.int64]], list[npt.NDArray[np.int64]], list[Vector]]


def _entries(
    variants: Sequence[Matrix], places: Sequence[npt.NDArray[np.int64]]
) -> tuple[tuple[list[Key], Vector, Vector], Entries]:
    names: list[Key] = []
    row, column, value = [], [], []
    for w, (variant, at) in enumerate(zip(variants, places, strict=True)):
        counts = np.diff(variant.start)
        row.append(variant.index.astype(np.int64) + len(names))
        column.append(np.repeat(at, counts))
        value.append(variant.value)
        names += [_own(w, row) for row in variant.rows]
    low = np.concatenate([m.row_lower for m in variants])
    high = np.concatenate([m.row_upper for m in variants])
    return (names, low, high), (row, column, value)


def _assembled(
    cost: Vector,
    offset: float,
    lower: Vector,
    upper: Vector,
    integer: npt.NDArray[np.bool_],
    columns: list[Key],
    rows: tuple[list[Key], Vector, Vector],
    entries: Entries,
) -> Matrix:
    row, column = np.concatenate(entries[0]), np.concatenate(entries[1])
    value = np.concatenate(entries[2])
    order = np.lexsort((row, column))
    counts = np.bincount(column, minlength=len(columns))
    return Matrix(
        cost=cost,
        offset=offset,
        lower=lower,
        upper=upper,
        integer=integer,
        columns=columns,
        row_lower=rows[1],
        row_upper=rows[2],
        rows=rows[0],
        start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        index=row[order].astype(np.int32),
        value=value[order],
    )


def _with_tail(
    plain: Matrix,
    variants: Sequence[Matrix],
    places: Sequence[npt.NDArray[np.int64]],
    weights: Sequence[float],
    tail_frac: float,
) -> Matrix:
    """Return the same program with the cost eta + sum p z / alpha.

    Its rows are z >= cost of the variant - eta.
    """
    n, k, m = len(plain.columns), len(variants), len(plain.rows)
    counts = np.diff(plain.start)
    row, column, value = (
        [plain.index.astype(np.int64)],
        [np.repeat(np.arange(n), counts)],
        [plain.value],
    )
    for w, (variant, at) in enumerate(zip(variants, places, strict=True)):
        used = np.flatnonzero(variant.cost)
        row += [np.full(used.size, m + w), np.array([m + w, m + w])]
        column += [at[used], np.array([n, n + 1 + w])]
        value += [-variant.cost[used], np.array([1.0, 1.0])]
    low = np.concatenate([plain.row_lower, [variant.offset for variant in variants]])
    high = np.concatenate([plain.row_upper, np.full(k, np.inf)])
    names = [*plain.rows, *(Key("tail", (w,)) for w in range(k))]
    cost = np.concatenate([np.zeros(n), [1.0], np.array(weights) / tail_frac])
    return _assembled(
        cost,
        0.0,
        np.concatenate([plain.lower, [-np.inf], np.zeros(k)]),
        np.concatenate([plain.upper, np.full(k + 1, np.inf)]),
        np.concatenate([plain.integer, np.zeros(k + 1, dtype=bool)]),
        [*plain.columns, Key("eta"), *(Key("excess", (w,)) for w in range(k))],
        (names, low, high),
        (row, column, value),
    )


def cvar(costs: Sequence[float], weights: Sequence[float], tail_frac: float) -> float:
    """Return the mean of the worst share of weighted costs; the expected cost for a share of 1.

    Examples
    --------
    >>> cvar([1.0, 3.0], [0.5, 0.5], 1.0), cvar([1.0, 3.0], [0.5, 0.5], 0.5)
    (2.0, 3.0)
    """
    left, total = tail_frac, 0.0
    for cost, weight in sorted(zip(costs, weights, strict=True), reverse=True):
        part = min(weight, left)
        total, left = total + part * cost, left - part
    return total / tail_frac


def first_of(columns: Mapping[Key, float], through: int) -> dict[Key, float]:
    """Return the first decisions among a plan's integers, with fabrics only of halls with orders.

    Examples
    --------
    >>> order, chosen = Key("buy", ("s/h", "wet", "a", 0)), Key("fabric", ("s/h", "x"))
    >>> found = first_of({order: 2.0, chosen: 1.0, Key("fabric", ("s/g", "x")): 0.0}, 0)
    >>> sorted(map(str, found))
    ['buy[s/h,wet,a,0]', 'fabric[s/h,x]']
    """
    first = {key: value for key, value in columns.items() if is_first(key, through)}
    bought = {key.ids[0] for key, value in first.items() if key.name == BUY.variable and value > 0}
    return {
        key: v for key, v in first.items() if key.name != FABRIC.variable or key.ids[0] in bought
    }


def _own(variant: int, key: Key) -> Key:
    """Return the key of a column or row that belongs to one variant."""
    return Key("world", (variant, key))
