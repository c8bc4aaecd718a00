"""Metrics and tables of the ``facility`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, TableSpec

PEAK_ELECTRICAL = MetricSpec(
    "power.peak_electrical_mw", "MW", "Electrical design peak of the racks"
)
ANNUAL_PUE = MetricSpec("power.annual_pue", "", "Annual mean PUE")
PEAK_PUE = MetricSpec("power.peak_pue", "", "PUE on the design day")


@dataclass(frozen=True)
class HeatRow:
    """Heat of one path."""

    path: Annotated[str, Column("Liquid or air")]
    heat_kw: Annotated[float, Column("IT heat that takes this path at the asked load")]
    capacity_kw: Annotated[
        float, Column("Most that the cooling option carries this way in a hall of this IT power")
    ]
    holds: Annotated[bool, Column("Whether the capacity is enough")]


HEAT = TableSpec("heat", HeatRow, "Heat by path")
