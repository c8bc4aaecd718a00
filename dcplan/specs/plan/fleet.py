"""The fleet of a plan by quarter: owned before, on order, given, ordered and rented accelerators."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from dcplan.specs.columns import Hall
from dcplan.specs.table import Column, Section, TableSpec


class Origin(StrEnum):
    """Where accelerators come from; the value is their text in tables."""

    BEFORE = "in service before the plan"
    ON_ORDER = "on order before the plan"
    GIVEN = "given fleet"
    ORDERED = "ordered by the plan"
    RENTED = "rented"


@dataclass(frozen=True)
class FleetRow:
    """Accelerators of one system and origin in a hall, or of a cloud offer, in a quarter."""

    quarter: Annotated[str, Column("Quarter")]
    hall: Hall
    """Empty for rent."""
    system: Annotated[str, Column("Catalog id of the system, or of the cloud offer")]
    origin: Annotated[str, Column("Where the accelerators come from")]
    racks: Annotated[int | None, Column("Racks in service in the quarter; empty for rent")]
    accelerators: Annotated[
        float, Column("Accelerators in service in the quarter; of rent, the average in use")
    ]
    arrived: Annotated[
        float | None, Column("Accelerators that enter service in the quarter; empty for rent")
    ]
    left: Annotated[
        float | None,
        Column(
            "Accelerators that are no longer in service, which were in service in the quarter "
            "before: sold, or at the end of their life; empty for rent"
        ),
    ]


FLEET = TableSpec("fleet", FleetRow, "Fleet by quarter", section=Section.ORDERS)
