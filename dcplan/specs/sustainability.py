"""Tables of embodied carbon and of indicators in the terms of EED and ESRS, for `plan` and `facility`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class EmbodiedRow:
    """Embodied carbon of one item that a plan buys."""

    site: Annotated[str, Column("Id of the site")]
    group: Annotated[
        str,
        Column("Kind of goods: system, network, storage, building, power, cooling, plant on site"),
    ]
    item: Annotated[str, Column("Catalog id or name of the item")]
    quantity: Annotated[float, Column("Amount that the plan buys, in the unit of the next column")]
    unit: Annotated[str, Column("Unit of the amount")]
    value: Annotated[
        str,
        Column(
            "Where the value comes from: the row of the product, the class of equipment, or none is known"
        ),
    ]
    embodied_t: Annotated[
        float | None,
        Column("Embodied carbon of the amount, cradle to gate; empty if no value is known"),
    ]
    low_t: Annotated[float | None, Column("Low bound of it")]
    high_t: Annotated[float | None, Column("High bound of it")]


EMBODIED = TableSpec(
    "embodied",
    EmbodiedRow,
    "Embodied carbon of what the plan buys",
    shown=Shown.VERBOSE,
    section=Section.DESIGN,
)


@dataclass(frozen=True)
class IndicatorRow:
    """One indicator of one site in one calendar year."""

    year: Annotated[str, Column("Calendar year; of `facility`, a typical year")]
    site: Annotated[str, Column("Id of the site")]
    framework: Annotated[
        str,
        Column(
            "Where the indicator comes from: EED (Delegated Regulation (EU) 2024/1364), ESRS E1, ESRS E3 "
            "or ISO/IEC 30134-8"
        ),
    ]
    indicator: Annotated[str, Column("Name of the indicator")]
    symbol: Annotated[str, Column("Its symbol, or the paragraph that asks for it")]
    value: Annotated[
        float | None, Column("Its value; empty if it cannot be computed, which `basis` explains")
    ]
    unit: Annotated[str, Column("Unit of the value")]
    basis: Annotated[str, Column("What it is computed from, or why it cannot be computed")]


SUSTAINABILITY = TableSpec(
    "sustainability",
    IndicatorRow,
    "Indicators in the terms of EED and ESRS, by site and calendar year",
    shown=Shown.DATA,
    section=Section.DESIGN,
)
