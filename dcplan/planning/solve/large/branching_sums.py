"""Sums that divide a large model: new halls by quarter, units of a hall, how far fabrics reach,
sites in use.
"""

from __future__ import annotations

from collections import defaultdict

from dcplan.planning.problem.terms import Menu
from dcplan.planning.solve.highs import Matrix
from dcplan.planning.solve.large.branching import Count

STRATEGIC = ("fitted", "fabric", "used", "used_new")
"""Integers that decide the rest."""
LATER = ("blocks",)
"""Integers that only better the bound."""


def counts(matrix: Matrix, menu: Menu) -> list[Count]:
    """Sums of strategic integers, wide ones first, then every one of them alone, then those that
    only bound.
    """
    sums: dict[str, list[int]] = defaultdict(list)
    reach = {(o.hall, o.id): o.max_ports for o in menu.fabrics}
    limits = {
        h.id: sorted({most for (hall, _), most in reach.items() if hall == h.id})
        for h in menu.halls
    }
    new = {h.id for h in menu.halls if h.needs_blocks}
    singles, later = [], []
    for i, column in enumerate(matrix.columns):
        name, _, rest = column.partition("[")
        index = rest[:-1].split(",")
        if name in LATER:
            later.append(Count(column, (i,), 1))
        if name not in STRATEGIC:
            continue
        singles.append(Count(column, (i,)))
        if name == "fitted":
            hall, _, t = index
            sums[f"halls[{t}]"].append(i)
            sums[f"units[{hall},{t}]"].append(i)
            if hall in new:
                sums[f"new halls[{t}]"].append(i)
        if name == "fabric":
            hall, _ = index
            for least in (x for x in limits[hall] if x <= reach[hall, index[1]]):
                sums[f"reach[{hall},{least}]"].append(i)
                sums[f"reach[{least}]"].append(i)
    wide = [Count(name, tuple(columns)) for name, columns in sums.items() if len(columns) > 1]
    return [*wide, *singles, *later]
