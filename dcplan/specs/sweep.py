"""Tables of the ``sweep`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.result import Cell
from dcplan.specs.columns import GapFrac
from dcplan.specs.table import Column, Shown, TableSpec, pattern

STATUS = (
    "Ok; screened: a plan with a gap above the requested one, not searched further; gap: such a plan "
    "after a complete search; infeasible; pending; or the kind of failure"
)


@dataclass(frozen=True)
class PointRow:
    """Outcome of one point."""

    point: Annotated[int, Column("Number of the point")]
    status: Annotated[str, Column(STATUS)]
    message: Annotated[str, Column("Explanation of the status")]
    gap_frac: GapFrac
    reproducible: Annotated[
        bool | None,
        Column(
            "Whether the same point gives the same plan again; false if the time limit ended the "
            "search"
        ),
    ]


@dataclass(frozen=True)
class ShortRow:
    """Outcome of one point, for people."""

    point: Annotated[int, Column("Number of the point")]
    status: Annotated[str, Column(STATUS)]
    message: Annotated[str | None, Column("Explanation of the status")]
    gap_frac: GapFrac


@dataclass(frozen=True)
class EffectRow:
    """Net present cost over all points with one value of one axis.

    It is after taxes and debt if the scenario's objective is.
    """

    axis: Annotated[str, Column("Swept key")]
    value: Annotated[Cell, Column("Value of the key")]
    unit: Annotated[str, Column("Unit of the value; empty for a ratio, a count or a name")]
    plans: Annotated[int, Column("Points with this value and a plan")]
    mean_npv_usd: Annotated[
        float | None,
        Column("Mean net present cost of these points; after taxes and debt if the objective is"),
    ]
    least_npv_usd: Annotated[float | None, Column("Lowest net present cost of these points")]
    most_npv_usd: Annotated[float | None, Column("Highest net present cost of these points")]


@dataclass(frozen=True)
class BoundRow:
    """Effect of one input between its bounds."""

    input: Annotated[str, Column("Key of the input, varied alone")]
    low: Annotated[float | str, Column("Low bound of the input; a name for a residual curve")]
    now: Annotated[float | str, Column("Value of the input in the scenario")]
    high: Annotated[float | str, Column("High bound of the input; a name for a residual curve")]
    npv_at_low_usd: Annotated[
        float | None,
        Column(
            "Net present cost of the re-solved plan with the input at its low bound; after taxes "
            "and debt if the objective is"
        ),
    ]
    npv_at_high_usd: Annotated[
        float | None,
        Column("Net present cost of the re-solved plan with the input at its high bound"),
    ]
    swing_usd: Annotated[float | None, Column("Absolute difference of the two costs")]
    note: Annotated[
        str, Column("Note that the swing is within the gap, or why a bound has no answer")
    ]


POINTS = TableSpec(
    "points",
    PointRow,
    "Points",
    shown=Shown.DATA,
    wide=(
        pattern(
            "<axis or metric>",
            "Value of the swept key at this point; after the status, each metric of its plan",
        ),
    ),
    by_item=True,
)
SWEEP = TableSpec(
    "sweep",
    ShortRow,
    "Points (all metrics: -f csv)",
    wide=(
        pattern(
            "<axis or metric>",
            "Value of the swept key at this point; after the gap, each main metric of its plan",
        ),
    ),
    by_item=True,
)
BOUNDS = TableSpec(
    "bounds",
    BoundRow,
    "Effect of each input between its bounds, with a re-solved plan",
    by_item=True,
)
EFFECTS = TableSpec(
    "effects", EffectRow, "Effect of each swept key on net present cost", by_item=True
)
