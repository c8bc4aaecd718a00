"""Links of a plan between halls, and the runs that use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Hall
from dcplan.specs.table import Column, Section, TableSpec


@dataclass(frozen=True)
class LinkRow:
    """The end of one link in one hall."""

    link: Annotated[str, Column("Id of the link")]
    hall: Hall
    optic: Annotated[str, Column("Catalog row of the optic")]
    gbps: Annotated[float, Column("Installed capacity of the end, one way")]
    rtt_ms: Annotated[float, Column("Round trip between two halls of the link")]
    serves_from: Annotated[str, Column("Quarter from which the end serves")]
    capex_usd: Annotated[float, Column("Price of the end: its part of the complete link")]
    lease_usd_per_year: Annotated[
        float, Column("Lease of fiber and amplifier sites in the first year: its part")
    ]
    power_kw: Annotated[float, Column("Power of the equipment of the end")]
    runs: Annotated[str, Column("Runs that use the end")]
    oversubscription: Annotated[
        float | None,
        Column(
            "Rate of the NIC ports of the largest of these runs in the hall, over that of the end"
        ),
    ]


LINKS = TableSpec("links", LinkRow, "Links between halls", section=Section.DESIGN, by_item=True)
