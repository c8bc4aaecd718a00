"""Tables of the ``sweep`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.result import Cell
from dcplan.specs.columns import GapFrac
from dcplan.specs.table import Column, Shown, TableSpec, pattern


@dataclass(frozen=True)
class PointRow:
    """What became of one point."""

    point: Annotated[int, Column("Number of the point")]
    status: Annotated[str, Column("Ok, infeasible, pending, or how it failed")]
    message: Annotated[str, Column("What there is to say about the status")]
    gap_frac: GapFrac
    reproducible: Annotated[
        bool | None,
        Column(
            "Whether the same point finds the same plan again; false where time ended the search"
        ),
    ]


@dataclass(frozen=True)
class ShortRow:
    """What became of one point, for people."""

    point: Annotated[int, Column("Number of the point")]
    status: Annotated[str, Column("Ok, infeasible, pending, or how it failed")]
    message: Annotated[str | None, Column("What there is to say about the status")]
    gap_frac: GapFrac


@dataclass(frozen=True)
class EffectRow:
    """Net present cost over all points with one value of one axis."""

    axis: Annotated[str, Column("Key that the sweep changes")]
    value: Annotated[Cell, Column("One of its values")]
    plans: Annotated[int, Column("Points with that value that have a plan")]
    mean_npv_usd: Annotated[float | None, Column("Mean net present cost of these points")]
    least_npv_usd: Annotated[float | None, Column("Least net present cost among these points")]
    most_npv_usd: Annotated[float | None, Column("Largest net present cost among these points")]


@dataclass(frozen=True)
class BoundRow:
    """What one input does between its bounds."""

    input: Annotated[str, Column("Key of the input that is moved alone")]
    low: Annotated[float, Column("Low bound of the input")]
    now: Annotated[float, Column("Value of the input as the scenario has it")]
    high: Annotated[float, Column("High bound of the input")]
    npv_at_low_usd: Annotated[
        float | None, Column("Net present cost with the input at its low bound, planned anew")
    ]
    npv_at_high_usd: Annotated[
        float | None, Column("Net present cost with the input at its high bound, planned anew")
    ]
    swing_usd: Annotated[float | None, Column("Difference of the two costs, without sign")]
    note: Annotated[
        str, Column("That the swing is within the gap, or what became of a bound without an answer")
    ]


POINTS = TableSpec(
    "points",
    PointRow,
    "Points",
    shown=Shown.DATA,
    wide=(
        pattern(
            "<axis or metric>",
            "Value of the changed key at this point, and after the status each metric of its plan",
        ),
    ),
)
SWEEP = TableSpec(
    "sweep",
    ShortRow,
    "Point by point (all figures: -f csv)",
    wide=(
        pattern(
            "<axis or metric>",
            "Value of the changed key at this point, and after the gap each main metric of its"
            " plan",
        ),
    ),
)
BOUNDS = TableSpec(
    "bounds", BoundRow, "What each input does between its bounds, the plan made anew"
)
EFFECTS = TableSpec("effects", EffectRow, "What each axis does to the net present cost")
