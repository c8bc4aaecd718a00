"""Metrics and table of the ``frontier`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import GapFrac
from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Section, TableSpec, pattern

POINTS = MetricSpec("frontier.points", "", "Points with a plan")
WORST_GAP = MetricSpec("frontier.worst_gap_frac", "", "Largest proven gap of any point")


@dataclass(frozen=True)
class FrontierRow:
    """One point of the frontier; the two metrics follow its number."""

    point: Annotated[
        int, Column("Number of the point; the first has the lowest value of the minimized metric")
    ]
    gap_frac: GapFrac
    x_per_y: Annotated[
        float | None,
        Column(
            "Cost in the first metric of one unit gained in the second since the previous point"
        ),
    ]
    unit: Annotated[str | None, Column("Unit of this cost, such as USD/day")]
    accelerators: Annotated[
        float | None,
        Column("Accelerators of fixed, existing and ordered hardware in the point's plan"),
    ]
    systems: Annotated[str | None, Column("Accelerators by system")]
    status: Annotated[
        str,
        Column(
            "Solver status at this point; screened: an audited plan with a gap above the requested one, "
            "not searched further"
        ),
    ]


FRONTIER = TableSpec(
    "frontier",
    FrontierRow,
    "Trade-off between the two metrics",
    wide=(
        pattern(
            "<metric>",
            "Value of the metric in the point's plan: first the minimized metric, then the "
            "limited one",
        ),
    ),
    section=Section.ORDERS,
)
