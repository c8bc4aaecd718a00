"""Metrics and table of the ``frontier`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import GapFrac
from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, TableSpec, pattern

POINTS = MetricSpec("frontier.points", "", "Points with a plan")
WORST_GAP = MetricSpec("frontier.worst_gap_frac", "", "Largest proven gap of a point")


@dataclass(frozen=True)
class FrontierRow:
    """One point of the frontier; the two metrics stand after its number."""

    point: Annotated[
        int, Column("Number of the point, the first has the least of the minimised metric")
    ]
    gap_frac: GapFrac
    x_per_y: Annotated[
        float | None,
        Column("What a unit of the second metric gained since the point before costs in the first"),
    ]
    accelerators: Annotated[
        float | None, Column("Accelerators given, held and bought in the point's plan")
    ]
    systems: Annotated[str | None, Column("Accelerators by system")]
    status: Annotated[str, Column("How the solver ended at this point")]


FRONTIER = TableSpec(
    "frontier",
    FrontierRow,
    "Best of each, point by point",
    wide=(
        pattern(
            "<metric>",
            "Value of that metric in the point's plan, first the minimised one, then the limited"
            " one",
        ),
    ),
)
