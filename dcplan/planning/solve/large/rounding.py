"""From the limits that a plan's whole switches and racks break to rows with as much less room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from dcplan.planning.audit.check import Check
from dcplan.planning.problem.terms import Menu
from dcplan.planning.solve.highs import Matrix, Vector
from dcplan.units import KW_PER_MW, QUARTERS_PER_YEAR, USD_PER_MUSD

MORE = 1.25
"""Of what was exceeded, taken away: other racks round otherwise."""
LITRES_PER_M3 = 1000.0
ROWS = {
    "rack positions": "hall_racks[{where},{t}]",
    "hall IT MW": "hall_it_mw[{where},{t}]",
    "air heat MW": "hall_air_mw[{where},{t}]",
    "utility MW": "utility_mw[{where},{t}]",
    "power blocks": "power_blocks[{where},{t}]",
    "carbon t": "carbon_cap[{where},{year}]",
    "water L": "water_cap[{where},{year}]",
    "switches bought": "parts_supply[switches,{t}]",
    "transceivers bought": "parts_supply[transceivers,{t}]",
    "power blocks bought": "parts_supply[power_blocks,{t}]",
    "budget USD": "budget_total",
    "budget USD so far": "budget[{t}]",
}
"""Check of the audit -> row of the model."""
UNITS = {
    "water L": 1 / LITRES_PER_M3,
    "budget USD": 1 / USD_PER_MUSD,
    "budget USD so far": 1 / USD_PER_MUSD,
}
"""Of a row in those of its check; 1 where left out."""
UNPACKED = "racks without a hall unit"
BLOCKS = "power blocks"
BLOCK_PART = 0.1
"""Of a block that is missing, as load: the rest of it is there already, as likely as not."""


def shortfalls(menu: Menu, checks: Iterable[Check]) -> dict[str, float] | None:
    """Room to take from rows, by name; None where a broken check is not of rounding."""
    broken = [c for c in checks if not c.holds and not c.given]
    full = {(c.where, c.quarter) for c in broken if c.name != UNPACKED}
    found: dict[str, float] = defaultdict(float)
    for check in broken:
        over = MORE * (check.used - check.limit)
        if check.name == UNPACKED:
            if (check.where, check.quarter) not in full:
                _unpacked(menu, check, over, found)
        elif check.name in ROWS:
            row = ROWS[check.name].format(
                where=check.where, t=check.quarter, year=check.quarter // QUARTERS_PER_YEAR
            )
            unit = UNITS.get(check.name, 1.0)
            if check.name == BLOCKS:
                unit = BLOCK_PART * menu.site(check.where).block_mw
            found[row] += over * unit
        else:
            return None
    return dict(found)


def _unpacked(menu: Menu, check: Check, racks: float, found: dict[str, float]) -> None:
    """A rack that no unit of a merged hall can hold whole needs room for one more of the largest."""
    held = [p for p in menu.placements if p.hall == check.where]
    found[f"hall_racks[{check.where},{check.quarter}]"] += racks * max(p.slots for p in held)
    found[f"hall_it_mw[{check.where},{check.quarter}]"] += (
        racks * max(p.rated_kw for p in held) / KW_PER_MW / 2
    )


def tightened(matrix: Matrix, values: Vector, less: Mapping[str, float]) -> Matrix:
    """The model in which some rows leave so much more room than a solution does; unknown names
    have no row.
    """
    lower, upper = matrix.row_lower.copy(), matrix.row_upper.copy()
    used = np.zeros(len(matrix.rows))
    np.add.at(used, matrix.index, matrix.value * np.repeat(values, np.diff(matrix.start)))
    for i, name in enumerate(matrix.rows):
        if name in less:
            lower[i] = used[i] + less[name] if np.isfinite(lower[i]) else lower[i]
            upper[i] = used[i] - less[name] if np.isfinite(upper[i]) else upper[i]
    return replace(matrix, row_lower=lower, row_upper=upper)
