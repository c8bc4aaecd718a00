"""What the cells of a battery give of their rating, from its catalog row and parameters."""

from __future__ import annotations

from dcplan.catalog.schema import OnsitePower
from dcplan.energy.duties import Cells
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.plants import taken


def cells_of(row: OnsitePower, log: InputLog) -> Cells:
    """Return depth, round trip, end of life, working modules and shortest duration of a battery."""
    depth, end, least = (
        log.parameter("power", f"battery-{name}") for name in ("depth-frac", "end-frac", "least-h")
    )
    works = 1.0 - taken(row, "forced_outage_frac", log)
    return Cells(depth, taken(row, "round_trip_frac", log), end, works, least)
