"""Tables of the ``fabric`` verb, and metrics of a network's size, price and failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, TableSpec

PATH_DIVERSITY = MetricSpec(
    "fabric.path_diversity",
    "",
    "Shortest paths between two NICs of different leaves that share no link between switches",
)
LEAF = MetricSpec("fabric.leaf_switches", "", "Leaf switches; switches of a group in a dragonfly")
SPINE = MetricSpec("fabric.spine_switches", "", "Spine switches")
CORE = MetricSpec("fabric.core_switches", "", "Core switches")
SWITCHES = MetricSpec("fabric.switches", "", "All switches")
NODE_LEAF_LINKS = MetricSpec(
    "fabric.node_leaf_links", "", "Links between nodes and leaves, management among them"
)
LEAF_SPINE_LINKS = MetricSpec(
    "fabric.leaf_spine_links", "", "Links between leaves and spines; inside groups in a dragonfly"
)
SPINE_CORE_LINKS = MetricSpec(
    "fabric.spine_core_links", "", "Links between spines and cores; between groups in a dragonfly"
)
BISECTION = MetricSpec("fabric.bisection_tbps", "Tb/s", "One way between two halves of the nodes")
TAPER = MetricSpec("fabric.global_taper_ratio", "", "Injection of a group over its global links")
LINK_FAILURES = MetricSpec(
    "fabric.link_failures_per_day",
    "1/day",
    "Failures of a link that stop a job spread over the network",
)
SWITCH_FAILURES = MetricSpec(
    "fabric.switch_failures_per_day",
    "1/day",
    "Failures of a switch that stop a job spread over the network",
)
PEAK_KW = MetricSpec("fabric.peak_kw", "kW", "Switches at their maximum, optics counted once")
USD_PER_BISECTION_GBPS = MetricSpec(
    "fabric.usd_per_bisection_gbps", "USD", "Price of one Gb/s of bisection"
)
USD_PER_ACCELERATOR = MetricSpec("fabric.usd_per_accelerator", "USD", "Network of one accelerator")
W_PER_ACCELERATOR = MetricSpec("fabric.w_per_accelerator", "W", "Network of one accelerator")
TRANSCEIVERS = MetricSpec("fabric.transceivers", "", "Transceivers at switches and nodes")
POWER_KW = MetricSpec(
    "fabric.power_kw", "kW", "Switches at typical power and transceivers at their maximum"
)
CAPEX_USD = MetricSpec(
    "fabric.capex_usd", "USD", "Switches, transceivers and cables; NICs are the nodes' own"
)
BESIDE_USD = MetricSpec(
    "fabric.ancillary_usd", "USD", "Spare transceivers, patch panels and network racks"
)
INSTALLED_USD = MetricSpec(
    "fabric.installed_usd",
    "USD",
    "All of it: with storage and management networks, spares, panels and racks",
)
INSTALLED_KW = MetricSpec("fabric.installed_kw", "kW", "All networks, typical switches")
RACK_UNITS = MetricSpec("fabric.rack_units", "U", "Switches")
WEIGHT_KG = MetricSpec("fabric.weight_kg", "kg", "Switches and cables whose weight is known")
CABLE_KM = MetricSpec(
    "fabric.cable_km",
    "km",
    "Cable paths with slack, before rounding up to stock lengths; "
    "a cable of several links counts once",
)
SIDE_SWITCHES = MetricSpec(
    "fabric.<network>.switches", "", "Switches of a storage or management network"
)
LINKS = MetricSpec("fabric.links", "", "Links between chips")
CUBES = MetricSpec("fabric.cubes", "", "Cubes of 64 chips")
TRANSCEIVERS_PER_ACCELERATOR = MetricSpec(
    "fabric.transceivers_per_accelerator", "", "Optical ends of one chip"
)
CIRCUITS = MetricSpec("fabric.circuits", "", "Circuits between cubes")

LowUsd = Annotated[float, Column("Price of all pieces at the low bounds of their prices")]
HighUsd = Annotated[float, Column("Price of all pieces at the high bounds of their prices")]


@dataclass(frozen=True)
class TierRow:
    """Switches of one tier."""

    tier: Annotated[str, Column("Leaf, spine or core")]
    switch: Annotated[str, Column("Catalog switch, or its number of ports")]
    switches: Annotated[int, Column("Switches of the tier, all planes and rails together")]
    ports_down: Annotated[int, Column("Ports of a switch towards nodes or the tier below")]
    ports_up: Annotated[int, Column("Ports of a switch towards the tier above")]
    links_below: Annotated[int, Column("Links of the tier to nodes or the tier below")]


@dataclass(frozen=True)
class TorusRow:
    """Links of one kind in a torus."""

    links: Annotated[str, Column("Of a torus, which chips or cubes the links join")]
    through: Annotated[str, Column("Of a torus, what the links run through")]
    count: Annotated[int, Column("Of a torus, links or circuits")]


@dataclass(frozen=True)
class BillRow:
    """One kind of part of the network."""

    item: Annotated[str, Column("What the part does, by tier and, for cables, stock length")]
    part: Annotated[str, Column("Catalog part")]
    count: Annotated[int, Column("Pieces of it in the whole network")]
    power_kw: Annotated[
        float, Column("Power of all pieces, switches as typical and transceivers at their maximum")
    ]
    usd: Annotated[float, Column("Price of all pieces")]
    low_usd: LowUsd
    high_usd: HighUsd
    weight_kg: Annotated[float, Column("Weight of all pieces where it is known")]
    price: Annotated[
        str, Column("Whether the price is listed or an estimate; empty where it has none")
    ]


@dataclass(frozen=True)
class AncillaryRow(BillRow):
    """One kind of part that comes with the network."""

    item: Annotated[str, Column("What stands beside the network, such as spares, panels and racks")]
    part: Annotated[str, Column("Catalog part or size")]
    count: Annotated[int, Column("Pieces of it")]
    power_kw: Annotated[
        float, Column("Power of all pieces; none is counted for spares, panels and racks")
    ]
    usd: Annotated[float, Column("Price of all pieces; NICs are in the systems' price")]


@dataclass(frozen=True)
class LengthRow:
    """Links of one tier and stock length."""

    tier: Annotated[str, Column("Between which switches or nodes the cables run")]
    stock_m: Annotated[
        float,
        Column("Stock length of the cable, the longest of the tier where none is long enough"),
    ]
    links: Annotated[int, Column("Links whose cable has this length")]
    medium: Annotated[
        str | None, Column("Catalog id of the cable or of the transceiver at its ends")
    ]


@dataclass(frozen=True)
class NetworkRow:
    """One storage or management network."""

    network: Annotated[
        str, Column("Network beside the compute fabric, storage, in-band or out-of-band")
    ]
    switch: Annotated[str, Column("Catalog switch that it is built of")]
    leaf_switches: Annotated[int, Column("Leaf switches")]
    spine_switches: Annotated[
        int, Column("Spine switches; the cores of an in-band network of two tiers")
    ]
    core_switches: Annotated[int, Column("Core switches of a third tier")]
    node_links: Annotated[
        int, Column("Links to nodes; out of band all managed ports of node racks")
    ]
    other_links: Annotated[int, Column("Links to storage, other servers or other managed parts")]
    links_between: Annotated[
        int, Column("Links between the network's own switches; out of band their uplinks")
    ]
    transceivers: Annotated[
        int, Column("Transceivers at switches and nodes; 0 where cables bring their own ends")
    ]
    power_kw: Annotated[float | None, Column("Power of switches, as typical, and transceivers")]
    usd: Annotated[float | None, Column("Price of switches, transceivers and cables")]


TIERS = TableSpec("tiers", TierRow, "Switches by tier")
TORUS = TableSpec("tiers", TorusRow, "Switches by tier")
BILL = TableSpec("bill_of_materials", BillRow, "Bill of materials")
BESIDE = TableSpec("ancillary", AncillaryRow, "Beside the network")
LENGTHS = TableSpec("cable_lengths", LengthRow, "Links by stock length of their cables")
NETWORKS = TableSpec("side_networks", NetworkRow, "Storage and management networks")
