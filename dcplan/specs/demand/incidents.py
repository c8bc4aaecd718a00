"""Metrics and tables of logged incidents: failure rates, delays, lemon nodes, jobs by size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

INCIDENTS = MetricSpec("demand.incidents", "", "Incidents in the window of the log", main=True)
NODE_DAYS = MetricSpec("demand.fleet_node_days", "node-days", "Nodes times days of the window")
STOPS = MetricSpec(
    "demand.stops_per_1000_node_days",
    "1/1,000 node-days",
    "Outages of nodes over node-days; low, high: exact Poisson interval of 95%",
    better=Better.LOWER,
    main=True,
)
WITHOUT = MetricSpec(
    "demand.without_lemons_per_1000_node_days",
    "1/1,000 node-days",
    "The same without the lemon nodes",
    better=Better.LOWER,
)
LEMONS = MetricSpec(
    "demand.lemon_nodes",
    "",
    "Nodes with more outages than chance explains",
    better=Better.LOWER,
    main=True,
)
LEMON_FACTOR = MetricSpec(
    "demand.lemon_factor",
    "",
    "Outages per node-day with the lemon nodes over those without",
    better=Better.LOWER,
    unknown="the log has no outage of other nodes",
)
DETECTION = MetricSpec(
    "demand.detection_mean_h",
    "h",
    "Mean time from the start to the detection",
    better=Better.LOWER,
    unknown="the log has no detection",
)
REPAIR = MetricSpec(
    "demand.repair_mean_h",
    "h",
    "Mean time from the detection to the repair",
    better=Better.LOWER,
    unknown="the log has no incident with a detection and a repair",
)
DOWN = MetricSpec(
    "demand.down_frac",
    "",
    "Share of the node-days in outages whose end is known or that are still open",
    better=Better.LOWER,
)


@dataclass(frozen=True)
class RateRow:
    """Failures of one part, of one cause, or of the nodes."""

    by: Annotated[str, Column("What is counted: node (outages), part or cause (incidents)")]
    name: Annotated[str, Column("Part or cause, as logged")]
    failures: Annotated[int, Column("Failures in the window")]
    per_1000_node_days: Annotated[float, Column("Failures over the node-days of the fleet")]
    per_1000_node_days_low: Annotated[float, Column("Exact Poisson interval of 95%, low end")]
    per_1000_node_days_high: Annotated[float, Column("Exact Poisson interval of 95%, high end")]
    per_million_accelerator_hours: Annotated[
        float | None,
        Column("Failures over the accelerator-hours; empty without --accelerators-per-node"),
    ]
    share_frac: Annotated[float | None, Column("Share of all failures that are counted so")]


RATES = TableSpec("failure_rates", RateRow, "Failure rates", section=Section.RISK, first=24)


@dataclass(frozen=True)
class DelayRow:
    """How long one step after a failure takes."""

    delay: Annotated[
        str, Column("Detection: from the start; repair: from the detection; away: start to repair")
    ]
    part: Annotated[str, Column("Part or, if the log has no parts, cause; or all of them")]
    ended: Annotated[int, Column("Incidents whose delay is known")]
    still_open: Annotated[int, Column("Incidents in repair at the end of the window")]
    unknown: Annotated[int, Column("Incidents that do not count, because a time is missing")]
    p50_h: Annotated[float | None, Column("Median; an open repair is longer than it is so far")]
    p95_h: Annotated[float | None, Column("95th percentile; empty where too many repairs are open")]
    mean_h: Annotated[float | None, Column("Time of all, open ones so far, over those that ended")]


DELAYS = TableSpec(
    "incident_delays", DelayRow, "Time to detect and to repair", section=Section.RISK, first=24
)


@dataclass(frozen=True)
class LemonRow:
    """One node with more outages than chance explains."""

    node: Annotated[str, Column("Node, as logged")]
    outages: Annotated[int, Column("Outages of the node in the window")]
    expected: Annotated[float, Column("Outages of each node if all nodes are equal")]
    share_frac: Annotated[float, Column("Share of all outages of known nodes")]
    chance_frac: Annotated[
        float, Column("Probability of as many outages of one node if all nodes are equal")
    ]
    most_often: Annotated[str, Column("Most frequent part or cause")]
    down_h: Annotated[float, Column("Time of the node in outages", shown=Shown.VERBOSE)]


LEMON_NODES = TableSpec("lemon_nodes", LemonRow, "Lemon nodes", section=Section.RISK, first=24)


@dataclass(frozen=True)
class JobRow:
    """One job of a size, at the rates of the log."""

    nodes: Annotated[int, Column("Nodes of the job")]
    accelerators: Annotated[
        int | None, Column("Accelerators; empty without --accelerators-per-node")
    ]
    stops_per_day: Annotated[float, Column("Interruptions of the job")]
    mttf_h: Annotated[float | None, Column("Mean time to failure; empty without failures")]
    mttf_h_low: Annotated[float | None, Column("The same at the high end of the rate")]
    mttf_h_high: Annotated[float | None, Column("The same at the low end of the rate")]
    clean_frac: Annotated[float, Column("Probability of no interruption in --job-days")]
    clean_frac_low: Annotated[float, Column("The same at the high end of the rate")]
    clean_frac_high: Annotated[float, Column("The same at the low end of the rate")]
    without_lemons_mttf_h: Annotated[
        float | None, Column("Mean time to failure on nodes that are no lemons")
    ]
    without_lemons_clean_frac: Annotated[
        float, Column("Probability of no interruption on nodes that are no lemons")
    ]


JOBS = TableSpec(
    "jobs_by_size", JobRow, "Interruptions of one job", section=Section.LIMITS, first=16
)
