"""Demands that every accelerator serves in the same way, as one demand.

Two demands are equal if their columns have the same cost, limits and entries in every row but those
of the demands, and the amounts that they serve are in one ratio. What serves one may then serve the
other, so only their sum matters: the program with the sum has the same optimum.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace

import numpy as np

from dcplan.planning.keys import Key
from dcplan.planning.solve.large.aggregate import without
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.strong import DEMAND

ALIKE_EPS = 1e-9
"""Largest relative difference of values that count as the same."""


@dataclass
class _Demand:
    """Columns that serve a demand: by their ids without the demand, what they serve and take."""

    rows: dict[int, int] = field(default_factory=dict)
    """Quarter -> row."""
    columns: dict[Key, int] = field(default_factory=dict)
    served: dict[Key, float] = field(default_factory=dict)
    taken: dict[Key, tuple[float, ...]] = field(default_factory=dict)


def merged(matrix: Matrix) -> Matrix:
    """Return the program with one demand in place of those that every accelerator serves in the same way.

    The first demand of each group stays; its limits become those of the sum, in its unit.
    """
    demands = _demands(matrix)
    lower = matrix.row_lower.copy()
    gone: list[int] = []
    kept: dict[tuple[tuple[Key, tuple[float, ...]], ...], list[_Demand]] = defaultdict(list)
    for demand in demands.values():
        group = kept[tuple(sorted(demand.taken.items()))]
        for first in group:
            ratio = _ratio(first, demand)
            if ratio is not None:
                for t, row in demand.rows.items():
                    lower[first.rows[t]] += lower[row] / ratio
                    lower[row] = -np.inf
                gone += demand.columns.values()
                break
        else:
            group.append(demand)
    return without(replace(matrix, row_lower=lower), gone) if gone else matrix


def _ratio(first: _Demand, other: _Demand) -> float | None:
    """Return what each accelerator serves of the other demand per unit of the first; None if it differs."""
    if first.rows.keys() != other.rows.keys() or not first.served:
        return None
    ratios = [other.served[key] / value for key, value in first.served.items()]
    low, high = min(ratios), max(ratios)
    return ratios[0] if low > 0 and math.isclose(low, high, rel_tol=ALIKE_EPS) else None


def _demands(matrix: Matrix) -> dict[str, _Demand]:
    """Return the demands whose columns serve nothing else, with no other limit on the demand."""
    rows = {r: key.ids for r, key in enumerate(matrix.rows) if key.name == DEMAND}
    found: dict[str, _Demand] = defaultdict(_Demand)
    mixed: set[str] = set()
    for r, (demand, t) in rows.items():
        found[demand].rows[t] = r
        if not np.isinf(matrix.row_upper[r]) or np.isinf(matrix.row_lower[r]):
            mixed.add(demand)
    owners: list[tuple[int, list[tuple[int, float]], list[tuple[int, float]]]] = []
    touched = np.isin(matrix.index, np.array(list(rows), dtype=np.int64))
    for i in np.unique(matrix.owner[touched]).tolist():
        part = slice(matrix.start[i], matrix.start[i + 1])
        entries = list(zip(matrix.index[part].tolist(), matrix.value[part].tolist(), strict=True))
        owners.append(
            (i, [e for e in entries if e[0] in rows], [e for e in entries if e[0] not in rows])
        )
    for i, own, other in owners:
        name, ids = matrix.columns[i]
        demand, t = rows[own[0][0]]
        if len(own) > 1 or ids[0] != demand or ids[-1] != t or matrix.integer[i]:
            mixed |= {rows[r][0] for r, _ in own}
            continue
        key = Key(name, ids[1:])
        found[demand].columns[key] = i
        found[demand].served[key] = own[0][1]
        limits = (float(matrix.cost[i]), float(matrix.lower[i]), float(matrix.upper[i]))
        found[demand].taken[key] = (*limits, *(x for entry in sorted(other) for x in entry))
    return {name: demand for name, demand in found.items() if name not in mixed}
