"""Tables of ``serve`` that compare: systems, layouts, and the frontier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.table import Column, Section, Shown, TableSpec

Layout = Annotated[str, Column("Parallel layout of a replica")]
PerAccelerator = Annotated[float | None, Column("Output tokens per second and accelerator")]
PerUser = Annotated[float | None, Column("Output tokens per second of one request")]


@dataclass(frozen=True)
class SystemRow:
    """One system with its best layout."""

    system: Annotated[str, Column("Catalog system, cloud offer or accelerator")]
    accelerator: Annotated[str, Column("Catalog accelerator")]
    precision: Annotated[str | None, Column("Format of the weights")]
    layout: Annotated[str | None, Column("Parallel layout of a replica")]
    accelerators: Annotated[int | None, Column("Accelerators of the service, with spares")]
    requests_per_s: Annotated[float | None, Column("Requests per second of the service")]
    tokens_per_s_per_accelerator: PerAccelerator
    tokens_per_s_per_user: PerUser
    power_kw: Annotated[float | None, Column("Average IT power with spares")]
    owned_usd_per_million_tokens: Annotated[
        float | None, Column("Owned cost per million output tokens")
    ]
    rented_usd_per_million_tokens: Annotated[
        float | None, Column("Rented cost per million output tokens")
    ]
    rent_basis: Annotated[
        str | None, Column("Prices that the rent is of, with term and date", shown=Shown.VERBOSE)
    ]
    why_not: Annotated[str | None, Column("Reason why the system cannot serve the request")] = None


SYSTEMS = TableSpec(
    "serving_systems", SystemRow, "Systems, the cheapest first", section=Section.ORDERS
)


@dataclass(frozen=True)
class FrontierRow:
    """One point of the frontier of throughput against interactivity."""

    tokens_per_s_per_user: PerUser
    tokens_per_s_per_accelerator: PerAccelerator
    mean_tpot_ms: Annotated[float, Column("Mean time per output token; not the asked quantile")]
    mean_ttft_ms: Annotated[float, Column("Mean time to first token; not the asked quantile")]
    concurrency: Annotated[int, Column("Concurrent requests of a replica, in a closed loop")]
    accelerators: Annotated[int, Column("Accelerators of a replica that decodes")]
    layout: Layout
    means_within_limits: Annotated[bool, Column("Whether both means are within the latency limits")]


FRONTIER = TableSpec(
    "interactivity",
    FrontierRow,
    "Frontier: throughput against interactivity",
    section=Section.LIMITS,
)
FRONTIER_POINTS = TableSpec(
    "interactivity_points",
    FrontierRow,
    "Frontier: all points",
    section=Section.LIMITS,
    shown=Shown.DATA,
)


@dataclass(frozen=True)
class LayoutRow:
    """One layout with its best point, and why it is not chosen."""

    layout: Layout
    accelerators: Annotated[int, Column("Accelerators of a replica")]
    tokens_per_s_per_accelerator: PerAccelerator
    concurrency: Annotated[float | None, Column("Requests that decode at the same time, mean")]
    tpot_floor_ms: Annotated[float, Column("Time per output token of a single request")]
    ttft_floor_ms: Annotated[float, Column("Time to first token of a single request")]
    kv_tokens: Annotated[float, Column("Tokens that the KV cache of a replica holds")]
    why_not: Annotated[str, Column("Reason why the layout is not chosen")]


LAYOUTS = TableSpec(
    "serving_layouts",
    LayoutRow,
    "Layouts, and why not another one",
    section=Section.LIMITS,
    first=5,
)
