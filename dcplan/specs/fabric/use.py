"""Metrics and tables of a network's performance and expansion, and the comparison of families."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Shown, TableSpec

ALL_REDUCE_S = MetricSpec(
    "fabric.all_reduce_s", "s", "Time of an all-reduce of 1 GiB over all accelerators", main=True
)
ALL_REDUCE_BUS = MetricSpec(
    "fabric.all_reduce_bus_gb_per_s", "GB/s", "Bus bandwidth of that all-reduce"
)
SITE_LINK_GBPS = MetricSpec(
    "fabric.site_link_gbps", "Gb/s", "Capacity between the sites, one way: train --wan-gbps"
)
SITE_LINK_RTT_US = MetricSpec(
    "fabric.site_link_rtt_us",
    "us",
    "Round-trip time between the sites: in the fiber; of a long-haul link with its equipment",
)
SITE_LINK_CAPEX_USD = MetricSpec(
    "fabric.site_link_capex_usd", "USD", "Price of the equipment of the site link"
)
SITE_LINK_LEASE_USD = MetricSpec(
    "fabric.site_link_lease_usd_per_year", "USD", "Yearly lease of the fiber and amplifier sites"
)
SITE_LINK_KW = MetricSpec(
    "fabric.site_link_kw", "kW", "Power of the site link: both ends and the route"
)
SITE_LINK_OVERSUBSCRIPTION = MetricSpec(
    "fabric.site_link_oversubscription",
    "",
    "NIC rate of all nodes over the capacity between the sites",
)
RUN_DAYS = MetricSpec(
    "fabric.run_days_p50", "days", "Median duration of the run on the cheapest fabric"
)
RUN_USD = MetricSpec(
    "fabric.usd_per_run", "USD", "Cost of cluster and fabric for the duration of the run"
)

Family = Annotated[str, Column("Catalog fabric family")]


@dataclass(frozen=True)
class BandwidthRow:
    """Bandwidth between two accelerators at one level."""

    level: Annotated[
        str, Column("Level of the network that contains both accelerators, the nearest first")
    ]
    accelerators: Annotated[
        int, Column("Accelerators within the level; NIC ports if no system is named")
    ]
    gb_per_s: Annotated[
        float,
        Column(
            "One-way rate from one accelerator to another at this level while all send; per NIC "
            "if no system is named"
        ),
    ]
    switch_hops: Annotated[
        int, Column("Switches on the path between the two; none within a scale-up domain")
    ]
    latency_us: Annotated[
        float | None, Column("End-to-end one-way latency through NICs and switches, in µs")
    ]


@dataclass(frozen=True)
class CollectiveRow:
    """Collectives of all accelerators with one message size."""

    message_mib: Annotated[float, Column("Message size per accelerator")]
    all_reduce_s: Annotated[float, Column("Time of an all-reduce over all accelerators")]
    all_gather_s: Annotated[
        float,
        Column(
            "Time of an all-gather over all accelerators; the message is the final size on each one"
        ),
    ]
    all_to_all_s: Annotated[float, Column("Time of an all-to-all over all accelerators")]
    all_reduce_bus_gb_per_s: Annotated[
        float, Column("Bus bandwidth of the all-reduce, as defined by nccl-tests")
    ]
    all_to_all_bus_gb_per_s: Annotated[
        float, Column("Bus bandwidth of the all-to-all, as defined by nccl-tests")
    ]


@dataclass(frozen=True)
class ExpansionRow:
    """Purchases of one phase under one expansion method."""

    method: Annotated[
        str,
        Column(
            "Expansion method: as needed (smallest network in each phase) or spines first (all "
            "spine and core switches of the last phase at once)"
        ),
    ]
    total_nodes: Annotated[int, Column("Nodes connected after the phase")]
    leaf_switches_added: Annotated[int, Column("Leaf switches bought in the phase")]
    spine_switches_added: Annotated[int, Column("Spine switches bought in the phase")]
    core_switches_added: Annotated[int, Column("Core switches bought in the phase")]
    node_links_added: Annotated[int, Column("Links between nodes and leaves added in the phase")]
    switch_links_added: Annotated[int, Column("Links between switches added in the phase")]
    links_recabled: Annotated[int, Column("Links of the previous phase that must move")]
    switches_removed: Annotated[
        int, Column("Switches of the previous phase that are no longer used")
    ]
    spine_ports_unused: Annotated[int, Column("Spine ports without a link after the phase")]


@dataclass(frozen=True)
class SiteLinkRow:
    """Links between two sites."""

    port: Annotated[str, Column("Catalog id of the optic at both ends of each link")]
    gbps: Annotated[float, Column("Capacity of all links, one way")]
    route_km: Annotated[
        float, Column("Length of the fiber route, longer than the straight-line distance")
    ]
    links: Annotated[int, Column("Links between the two sites")]
    ports: Annotated[int, Column("Ports at both ends")]
    fibre_pairs: Annotated[int, Column("Leased fiber pairs")]
    amplifiers: Annotated[
        int,
        Column(
            "Amplifiers between the spans, for all pairs; at the ends too if the link has no ROADMs"
        ),
    ]
    capex_usd: Annotated[float, Column("Price of the equipment")]
    lease_usd_per_year: Annotated[
        float, Column("Yearly lease of the fiber pairs, and of amplifier sites if long haul")
    ]
    power_kw: Annotated[
        float, Column("Power of the ports; of a long-haul link also routers, amplifiers and ROADMs")
    ]
    rtt_us: Annotated[
        float, Column("Round-trip time in the fiber, in µs; of a long-haul link with its equipment")
    ]


@dataclass(frozen=True)
class SiteLinkPartRow:
    """One kind of part of a long-haul link."""

    item: Annotated[str, Column("Part of the long-haul link, both ends and the route together")]
    part: Annotated[str, Column("Catalog id of the part, or its rate and width")]
    count: Annotated[int, Column("Number of pieces")]
    power_kw: Annotated[float, Column("Typical power of all pieces")]
    usd: Annotated[float, Column("Price of all pieces")]
    low_usd: Annotated[float, Column("Price at the low price bounds")]
    high_usd: Annotated[float, Column("Price at the high price bounds")]
    price: Annotated[str, Column("Whether the price is listed or an estimate")]


@dataclass(frozen=True)
class SiteLinkOptionRow:
    """One coherent signal for the same long-haul link."""

    port: Annotated[str, Column("Catalog id of the transceiver or transponder")]
    wavelength_gbps: Annotated[float, Column("Rate of one wavelength")]
    reach_km: Annotated[
        float, Column("Longest route without regeneration: noise of the line, or the maker's limit")
    ]
    spans: Annotated[int | None, Column("Fiber spans of the route")] = None
    regenerations: Annotated[int | None, Column("Sites that regenerate every wavelength")] = None
    wavelengths: Annotated[int | None, Column("Wavelengths of the link")] = None
    fibre_pairs: Annotated[int | None, Column("Leased fiber pairs")] = None
    capex_usd: Annotated[float | None, Column("Price of the equipment")] = None
    lease_usd_per_year: Annotated[
        float | None, Column("Yearly lease of fiber pairs and amplifier sites")
    ] = None
    ten_years_usd: Annotated[
        float | None, Column("Equipment and ten years of leases, without energy and interest")
    ] = None
    power_kw: Annotated[float | None, Column("Power of both ends and the route")] = None
    why_not: Annotated[str | None, Column("Why the signal does not serve the route")] = None


@dataclass(frozen=True)
class FabricRow:
    """One fabric family for the same nodes; empty except for the reason if it does not fit."""

    fabric: Family
    switches: Annotated[int | None, Column("Number of switches")] = None
    transceivers: Annotated[int | None, Column("Transceivers at switches and nodes")] = None
    power_kw: Annotated[
        float | None, Column("Power of the network: switches typical, transceivers maximum")
    ] = None
    usd: Annotated[float | None, Column("Price of switches, transceivers and cables")] = None
    low_usd: Annotated[float | None, Column("Price at the low price bounds")] = None
    high_usd: Annotated[float | None, Column("Price at the high price bounds")] = None
    usd_per_accelerator: Annotated[float | None, Column("Price of the network per accelerator")] = (
        None
    )
    bisection_tbps: Annotated[
        float | None, Column("Bisection bandwidth, one way, between two halves of the nodes")
    ] = None
    usd_per_bisection_gbps: Annotated[
        float | None, Column("Price of the network per Gb/s of bisection bandwidth")
    ] = None
    all_reduce_s: Annotated[
        float | None, Column("Time of an all-reduce of 1 GiB over all accelerators")
    ] = None
    why_not: Annotated[str | None, Column("Why the family does not fit or has no price")] = None


@dataclass(frozen=True)
class JobRow:
    """One completed run on one fabric family."""

    fabric: Family
    days_p50: Annotated[float, Column("Median duration of the run on this fabric")]
    days_lost: Annotated[float, Column("Days longer than on the fabric with the shortest run")]
    fabric_usd: Annotated[
        float,
        Column("Share of the network's price for the run, spread evenly over the hardware's life"),
    ]
    cluster_usd: Annotated[
        float,
        Column("Share of the systems' price for the run, spread evenly over the hardware's life"),
    ]
    usd_per_run: Annotated[float, Column("Total of fabric and cluster")]


@dataclass(frozen=True)
class NoteRow:
    """One remark on the design."""

    note: Annotated[
        str, Column("What the design chose or left out; after the family's name in a comparison")
    ]


NOTES = TableSpec("notes", NoteRow, "Notes on the design")
BANDWIDTH = TableSpec(
    "bandwidth", BandwidthRow, "Bandwidth between two accelerators while all send (one way)"
)
COLLECTIVES = TableSpec(
    "collectives", CollectiveRow, "Collectives over all accelerators", shown=Shown.VERBOSE
)
EXPANSION = TableSpec("expansion", ExpansionRow, "Expansion by phases")
SITE_LINKS = TableSpec("site_links", SiteLinkRow, "Links between the sites", by_item=True)
SITE_LINK_PARTS = TableSpec(
    "site_link_parts", SiteLinkPartRow, "Parts of the long-haul link", by_item=True
)
SITE_LINK_OPTIONS = TableSpec(
    "site_link_options", SiteLinkOptionRow, "Coherent signals for the long-haul link", by_item=True
)
COMPARISON = TableSpec("comparison", FabricRow, "Comparison of fabrics", by_item=True)
JOB = TableSpec("job", JobRow, "Cost of one completed run on each fabric", by_item=True)
