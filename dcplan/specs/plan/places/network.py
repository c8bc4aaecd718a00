"""Networks and storage of a plan's halls, and links between halls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Hall
from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class NetworkRow:
    """Compute fabric of one hall."""

    hall: Hall
    fabric: Annotated[str | None, Column("Catalog fabric family and number of tiers")]
    nic_ports: Annotated[
        int, Column("NIC ports of all racks in the last quarter: ordered, fixed or existing")
    ]
    nic_ports_in_service: Annotated[
        int, Column("Of these ports, those of racks in service in the last quarter, not sold")
    ]
    leaf_switches: Annotated[int, Column("Leaf switches for these ports")]
    spine_switches: Annotated[int, Column("Spine switches for these ports")]
    core_switches: Annotated[int, Column("Core switches for these ports")]
    leaf_spine_links: Annotated[int, Column("Links between leaves and spines")]
    spine_core_links: Annotated[int, Column("Links between spines and cores")]
    transceivers: Annotated[int, Column("Transceivers at switches and nodes")]
    power_kw: Annotated[float, Column("Power of switches and transceivers")]
    capex_usd: Annotated[
        float,
        Column(
            "Price of all switches, transceivers and cables of this network, including those that "
            "exist already"
        ),
    ]


NETWORK = TableSpec(
    "network",
    NetworkRow,
    "Compute fabric in the last quarter",
    shown=Shown.VERBOSE,
    section=Section.DESIGN,
    by_item=True,
)


@dataclass(frozen=True)
class StorageRow:
    """Shared storage of one hall on one tier."""

    hall: Hall
    role: Annotated[
        str,
        Column("Data on the tier: all, hot data that need the rates of the service level, or cold"),
    ]
    tier: Annotated[str, Column("Catalog storage tier; given if the scenario fixes the capacity")]
    blocks: Annotated[
        float | None, Column("Building blocks of the tier in the last quarter, fractions allowed")
    ]
    required_pb: Annotated[
        float | None,
        Column("Capacity for the data sets and checkpoints of the hall's jobs; they are hot"),
    ]
    usable_pb: Annotated[float | None, Column("Usable capacity in the last quarter")]
    read_gb_per_s: Annotated[float | None, Column("Read rate at the accelerators in service")]
    write_gb_per_s: Annotated[float | None, Column("Write rate at the accelerators in service")]
    racks: Annotated[float, Column("Rack positions of the storage, fractions allowed")]
    power_kw: Annotated[float, Column("Power of the storage in the last quarter")]
    capex_usd: Annotated[float, Column("Price of the storage in service in the last quarter")]
    sized_by: Annotated[
        str, Column("Sizing criterion: capacity, read or write; usable_pb if the scenario fixes it")
    ]


STORAGE = TableSpec(
    "storage",
    StorageRow,
    "Shared storage",
    shown=Shown.VERBOSE,
    section=Section.DESIGN,
    by_item=True,
)


@dataclass(frozen=True)
class StorageChoiceRow:
    """One storage tier, or a hot and a cold one, that the plan compared."""

    hot_tier: Annotated[str, Column("Tier of the hot data, or of all data")]
    cold_tier: Annotated[str | None, Column("Tier of the cold data; none: one tier for all data")]
    chosen: Annotated[bool, Column("Whether the plan has it: the lowest present cost")]
    price_usd: Annotated[float, Column("Price of the storage of one accelerator")]
    power_kw: Annotated[float, Column("Power of the storage of one accelerator")]
    present_cost_usd: Annotated[
        float,
        Column(
            "Present cost for one accelerator: price less residual value, energy over the horizon, "
            "power blocks and its part of a hall"
        ),
    ]
    difference_usd: Annotated[
        float, Column("Additional present cost at the accelerators of the plan, last quarter")
    ]


STORAGE_CHOICES = TableSpec(
    "storage_choices",
    StorageChoiceRow,
    "Storage tiers compared, by present cost",
    shown=Shown.VERBOSE,
    section=Section.DESIGN,
    by_item=True,
)


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
