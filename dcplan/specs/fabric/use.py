"""Metrics and tables of what a network does, how it grows, and how families compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, TableSpec

ALL_REDUCE_S = MetricSpec("fabric.all_reduce_s", "s", "All-reduce of 1 GiB over all accelerators")
ALL_REDUCE_BUS = MetricSpec("fabric.all_reduce_bus_gb_per_s", "GB/s", "Its bus bandwidth")
JOIN_RTT_US = MetricSpec("fabric.site_link_rtt_us", "us", "Round trip in the fibre")
JOIN_CAPEX_USD = MetricSpec(
    "fabric.site_link_capex_usd",
    "USD",
    "Ports, multiplexers and amplifiers at both ends and between",
)
JOIN_LEASE_USD = MetricSpec("fabric.site_link_lease_usd_per_year", "USD", "Leased fibre")
JOIN_OVERSUBSCRIPTION = MetricSpec(
    "fabric.site_link_oversubscription",
    "",
    "NIC rate of all nodes over the capacity between the places",
)
RUN_DAYS = MetricSpec(
    "fabric.run_days_p50", "days", "Median duration of the run on the cheapest fabric"
)
RUN_USD = MetricSpec("fabric.usd_per_run", "USD", "Cluster and fabric while it lasts")

Family = Annotated[str, Column("Catalog fabric family")]


@dataclass(frozen=True)
class BandwidthRow:
    """What two accelerators of one level have."""

    level: Annotated[
        str, Column("Part of the network that both accelerators stand in, the nearest first")
    ]
    accelerators: Annotated[
        int, Column("Accelerators within the level; NIC ports where no system is named")
    ]
    gb_per_s: Annotated[
        float,
        Column(
            "One-way rate of one accelerator to another of the level while all send; "
            "of one NIC without a system"
        ),
    ]
    switch_hops: Annotated[
        int, Column("Switches on the way between the two; none inside a scale-up domain")
    ]
    latency_us: Annotated[
        float | None, Column("One-way latency end to end through the NICs and switches, in µs")
    ]


@dataclass(frozen=True)
class CollectiveRow:
    """Collectives of all accelerators with one message size."""

    message_mib: Annotated[float, Column("Message size of each accelerator")]
    all_reduce_s: Annotated[float, Column("Time of an all-reduce over all accelerators")]
    all_gather_s: Annotated[
        float,
        Column(
            "Time of an all-gather over all accelerators, "
            "the message being what each has in the end"
        ),
    ]
    all_to_all_s: Annotated[float, Column("Time of an all-to-all over all accelerators")]
    all_reduce_bus_gb_per_s: Annotated[
        float, Column("Bus bandwidth of the all-reduce, as nccl-tests define it")
    ]
    all_to_all_bus_gb_per_s: Annotated[
        float, Column("Bus bandwidth of the all-to-all, as nccl-tests define it")
    ]


@dataclass(frozen=True)
class GrowthRow:
    """What one phase of one way to grow buys."""

    method: Annotated[
        str,
        Column(
            "As needed (smallest network of each phase) or spines first "
            "(spines and cores of the last phase at once)"
        ),
    ]
    total_nodes: Annotated[int, Column("Nodes joined after the phase")]
    leaf_switches_added: Annotated[int, Column("Leaf switches bought in the phase")]
    spine_switches_added: Annotated[int, Column("Spine switches bought in the phase")]
    core_switches_added: Annotated[int, Column("Core switches bought in the phase")]
    node_links_added: Annotated[int, Column("Links between nodes and leaves added in the phase")]
    switch_links_added: Annotated[int, Column("Links between switches added in the phase")]
    links_recabled: Annotated[int, Column("Links of the phase before that move")]
    switches_removed: Annotated[
        int, Column("Switches of the phase before that have no place any more")
    ]
    spine_ports_unused: Annotated[int, Column("Spine ports without a link after the phase")]


@dataclass(frozen=True)
class SiteLinkRow:
    """Links between two places."""

    port: Annotated[str, Column("Catalog optic at both ends of each link")]
    gbps: Annotated[float, Column("Capacity of all links together, one way")]
    route_km: Annotated[float, Column("Length of the fibre, longer than the air distance")]
    links: Annotated[int, Column("Links between the two places")]
    ports: Annotated[int, Column("Ports at both ends together")]
    fibre_pairs: Annotated[int, Column("Leased fibre pairs")]
    amplifiers: Annotated[
        int, Column("Amplifiers at both ends and between the spans, of all pairs")
    ]
    capex_usd: Annotated[float, Column("Price of ports, multiplexers and amplifiers")]
    lease_usd_per_year: Annotated[float, Column("Lease of the fibre pairs in a year")]
    power_kw: Annotated[float, Column("Power of the ports; amplifiers are not counted")]
    rtt_us: Annotated[float, Column("Round trip in the fibre, in µs")]


@dataclass(frozen=True)
class FabricRow:
    """One fabric family joining the same nodes; empty but for the reason where it cannot."""

    fabric: Family
    switches: Annotated[int | None, Column("Switches of the whole network")] = None
    transceivers: Annotated[int | None, Column("Transceivers at switches and nodes")] = None
    power_kw: Annotated[
        float | None,
        Column("Power of the network, switches as typical and transceivers at their maximum"),
    ] = None
    usd: Annotated[float | None, Column("Price of switches, transceivers and cables")] = None
    low_usd: Annotated[float | None, Column("The same at the low bounds of the prices")] = None
    high_usd: Annotated[float | None, Column("The same at the high bounds of the prices")] = None
    usd_per_accelerator: Annotated[
        float | None, Column("Price of the network over the accelerators that it joins")
    ] = None
    bisection_tbps: Annotated[
        float | None, Column("Rate one way between two halves of the nodes")
    ] = None
    usd_per_bisection_gbps: Annotated[
        float | None, Column("Price of the network over its bisection in Gb/s")
    ] = None
    all_reduce_s: Annotated[
        float | None, Column("Time of an all-reduce of 1 GiB over all accelerators")
    ] = None
    why_not: Annotated[
        str | None, Column("Why the family cannot join the nodes, or has no price")
    ] = None


@dataclass(frozen=True)
class JobRow:
    """One finished run on one fabric family."""

    fabric: Family
    days: Annotated[float, Column("Median length of the run on this fabric")]
    days_lost: Annotated[float, Column("Days more than on the fabric with the shortest run")]
    fabric_usd: Annotated[
        float,
        Column(
            "Price of the network spread evenly over the hardware's life, for the days of the run"
        ),
    ]
    cluster_usd: Annotated[
        float,
        Column(
            "Price of the systems spread evenly over the hardware's life, for the days of the run"
        ),
    ]
    usd_per_run: Annotated[float, Column("Fabric and cluster together")]


BANDWIDTH = TableSpec(
    "bandwidth", BandwidthRow, "What two accelerators have, all of them sending (one way)"
)
COLLECTIVES = TableSpec("collectives", CollectiveRow, "Collectives of all accelerators")
GROWTH = TableSpec("expansion", GrowthRow, "Growth by phases")
BETWEEN_SITES = TableSpec("site_links", SiteLinkRow, "Between the sites")
FABRICS = TableSpec("comparison", FabricRow, "Fabrics side by side")
JOB = TableSpec("job", JobRow, "One finished run on each")
