"""Tables of the ``fabric`` verb, and metrics of a network's size, price and failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

PATH_DIVERSITY = MetricSpec(
    "fabric.path_diversity",
    "",
    "Shortest paths between NICs on different leaves that share no switch-to-switch link",
)
MOST_NODES = MetricSpec(
    "fabric.most_nodes", "", "Nodes that these switches and tiers can connect at most"
)
LEAF = MetricSpec(
    "fabric.leaf_switches",
    "",
    "Leaf switches; switches of a group in a dragonfly",
    main=True,
    label="Leaf switches",
)
SPINE = MetricSpec("fabric.spine_switches", "", "Spine switches", main=True)
CORE = MetricSpec("fabric.core_switches", "", "Core switches", main=True)
SWITCHES = MetricSpec("fabric.switches", "", "Number of switches", main=True)
NODE_LEAF_LINKS = MetricSpec(
    "fabric.node_leaf_links", "", "Links between nodes and leaves, including management"
)
LEAF_SPINE_LINKS = MetricSpec(
    "fabric.leaf_spine_links", "", "Links between leaves and spines; within groups in a dragonfly"
)
SPINE_CORE_LINKS = MetricSpec(
    "fabric.spine_core_links",
    "",
    "Links between spines and core switches; between groups in a dragonfly",
)
BISECTION = MetricSpec(
    "fabric.bisection_tbps",
    "Tb/s",
    "Bisection bandwidth, one way, between two halves of the nodes",
    main=True,
    label="Bisection bandwidth, one way",
)
TAPER = MetricSpec(
    "fabric.global_taper_ratio", "", "Injection bandwidth of a group over its global links"
)
LINK_FAILURES = MetricSpec(
    "fabric.link_failures_per_day",
    "1/day",
    "Link failures that interrupt a job over the whole network",
)
SWITCH_FAILURES = MetricSpec(
    "fabric.switch_failures_per_day",
    "1/day",
    "Switch failures that interrupt a job over the whole network",
)
PEAK_KW = MetricSpec(
    "fabric.peak_kw", "kW", "Power of switches at their maximum, with optics counted once"
)
USD_PER_BISECTION_GBPS = MetricSpec(
    "fabric.usd_per_bisection_gbps", "USD", "Price per Gb/s of bisection bandwidth"
)
USD_PER_ACCELERATOR = MetricSpec(
    "fabric.usd_per_accelerator", "USD", "Price of the compute network per accelerator", main=True
)
W_PER_ACCELERATOR = MetricSpec(
    "fabric.w_per_accelerator", "W", "Power of the network per accelerator"
)
TRANSCEIVERS = MetricSpec(
    "fabric.transceivers", "", "Transceivers at switches and nodes", main=True
)
POWER_KW = MetricSpec(
    "fabric.power_kw", "kW", "Power of switches (typical) and transceivers (maximum)", main=True
)
CAPEX_USD = MetricSpec(
    "fabric.capex_usd",
    "USD",
    "Price of switches, transceivers and cables, without the NICs in the nodes",
    main=True,
    label="Price of the compute network",
)
ANCILLARY_USD = MetricSpec(
    "fabric.ancillary_usd", "USD", "Price of spare transceivers, patch panels and network racks"
)
INSTALLED_USD = MetricSpec(
    "fabric.installed_usd",
    "USD",
    "Price of all networks, including storage, management, spares, panels and racks",
    main=True,
    label="Price of all networks",
)
INSTALLED_KW = MetricSpec(
    "fabric.installed_kw", "kW", "Power of all networks at typical switch power"
)
RACK_UNITS = MetricSpec("fabric.rack_units", "U", "Switches")
WEIGHT_KG = MetricSpec(
    "fabric.weight_kg", "kg", "Weight of switches and cables with a known weight"
)
CABLE_KM = MetricSpec(
    "fabric.cable_km",
    "km",
    "Total cable length with slack, before rounding up to stock lengths; a cable with several "
    "links counts once",
    main=True,
    label="Total cable length",
)
SIDE_SWITCHES = MetricSpec(
    "fabric.<network>.switches", "", "Switches of a storage or management network"
)
LINKS = MetricSpec("fabric.links", "", "Links between chips")
CUBES = MetricSpec("fabric.cubes", "", "Cubes of 64 chips")
TRANSCEIVERS_PER_ACCELERATOR = MetricSpec(
    "fabric.transceivers_per_accelerator", "", "Transceivers per chip"
)
CIRCUITS = MetricSpec("fabric.circuits", "", "Optical circuits between cubes")

LowUsd = Annotated[float, Column("Price of all pieces at the low price bounds")]
HighUsd = Annotated[float, Column("Price of all pieces at the high price bounds")]


@dataclass(frozen=True)
class TierRow:
    """Switches of one tier."""

    tier: Annotated[str, Column("Tier: leaf, spine or core")]
    switch: Annotated[str, Column("Catalog id of the switch, or its number of ports")]
    switches: Annotated[int, Column("Switches of the tier in all planes and rails")]
    ports_down: Annotated[int, Column("Ports per switch to nodes or to the tier below")]
    ports_up: Annotated[int, Column("Ports per switch to the tier above")]
    links_below: Annotated[int, Column("Links from the tier to nodes or to the tier below")]


@dataclass(frozen=True)
class TorusRow:
    """Links of one kind in a torus."""

    links: Annotated[str, Column("Chips or cubes that the links of a torus connect")]
    through: Annotated[str, Column("Medium of the links of a torus")]
    count: Annotated[int, Column("Number of links or circuits of a torus")]


@dataclass(frozen=True)
class BillRow:
    """One kind of part of the network."""

    item: Annotated[str, Column("Function of the part, by tier and, for cables, stock length")]
    part: Annotated[str, Column("Catalog id of the part")]
    type: Annotated[
        str,
        Column("Type of a transceiver or cable, such as DR4, 2xDR4, FR4 or DAC; empty for others"),
    ]
    reach_m: Annotated[
        float | None, Column("Longest link of a transceiver or cable; empty for others")
    ]
    fibers: Annotated[
        int | None, Column("Fibers of one transceiver, or in use in one cord; empty for others")
    ]
    count: Annotated[int, Column("Pieces in the whole network")]
    power_kw: Annotated[
        float, Column("Power of all pieces: switches typical, transceivers maximum")
    ]
    usd: Annotated[float, Column("Price of all pieces")]
    low_usd: LowUsd
    high_usd: HighUsd
    weight_kg: Annotated[float | None, Column("Weight of all pieces; empty if unknown")]
    price: Annotated[
        str, Column("Whether the price is listed or an estimate; empty if there is no price")
    ]


@dataclass(frozen=True)
class AncillaryRow(BillRow):
    """One kind of ancillary equipment."""

    item: Annotated[str, Column("Ancillary equipment, such as spares, panels and racks")]
    part: Annotated[str, Column("Catalog id of the part, or its size")]
    count: Annotated[int, Column("Number of pieces")]
    power_kw: Annotated[float, Column("Power of all pieces; zero for spares, panels and racks")]
    usd: Annotated[float, Column("Price of all pieces; the price of the systems includes the NICs")]


@dataclass(frozen=True)
class LengthRow:
    """Links of one tier and stock length."""

    tier: Annotated[str, Column("Switches or nodes at the ends of the cables")]
    stock_m: Annotated[
        float, Column("Stock length of the cable; the longest one if none is long enough")
    ]
    links: Annotated[int, Column("Links with a cable of this length")]
    medium: Annotated[
        str | None, Column("Catalog id of the cable or of the transceiver at its ends")
    ]


@dataclass(frozen=True)
class NetworkRow:
    """One storage or management network."""

    network: Annotated[str, Column("Network: storage, in-band or out-of-band management")]
    switch: Annotated[str, Column("Catalog id of the switch")]
    leaf_switches: Annotated[int, Column("Leaf switches")]
    spine_switches: Annotated[
        int, Column("Spine switches; in a two-tier in-band network, the core switches")
    ]
    core_switches: Annotated[int, Column("Core switches of a third tier")]
    node_links: Annotated[
        int, Column("Links to nodes; for out-of-band, all managed ports in node racks")
    ]
    other_links: Annotated[
        int, Column("Links to storage, other servers or other managed equipment")
    ]
    links_between: Annotated[
        int, Column("Links between switches of the network; for out-of-band, their uplinks")
    ]
    transceivers: Annotated[
        int, Column("Transceivers at switches and nodes; 0 for cables with fixed ends")
    ]
    power_kw: Annotated[float | None, Column("Power of switches (typical) and transceivers")]
    usd: Annotated[float | None, Column("Price of switches, transceivers and cables")]


TIERS = TableSpec("tiers", TierRow, "Switches by tier", section=Section.ORDERS)
TORUS = TableSpec("tiers", TorusRow, "Switches by tier", section=Section.ORDERS)
BILL = TableSpec(
    "bill_of_materials", BillRow, "Bill of materials", section=Section.COST, by_item=True
)
ANCILLARY = TableSpec(
    "ancillary",
    AncillaryRow,
    "Ancillary equipment (not in the network price)",
    shown=Shown.VERBOSE,
    section=Section.COST,
    by_item=True,
)
CABLE_LENGTHS = TableSpec("cable_lengths", LengthRow, "Cables by stock length", shown=Shown.VERBOSE)
SIDE_NETWORKS = TableSpec(
    "side_networks",
    NetworkRow,
    "Storage and management networks",
    shown=Shown.VERBOSE,
    by_item=True,
)
