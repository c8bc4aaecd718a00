"""Metrics of ``serve``, and tables of the chosen service: layout, latency, memory, cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

PARAMS = MetricSpec(
    "serve.params_b",
    "",
    "Parameters of the model in billions, counted from its configuration, without draft layers",
    main=True,
    label="Parameters of the model, in billions",
)
ACTIVE_PARAMS = MetricSpec(
    "serve.active_params_b",
    "",
    "Parameters that one token uses, in billions, both embeddings included",
    main=True,
    label="Parameters that one token uses, in billions",
)
TOKENS_PER_ACCELERATOR = MetricSpec(
    "serve.tokens_per_s_per_accelerator",
    "1/s",
    "Output tokens per second and accelerator that serves, without spares",
    better=Better.HIGHER,
    main=True,
    label="Output tokens per second and accelerator",
)
TOKENS_PER_USER = MetricSpec(
    "serve.tokens_per_s_per_user",
    "1/s",
    "Interactivity: output tokens per second of one request, 1 over the median time per output token",
    better=Better.HIGHER,
    main=True,
    label="Tokens per second and user (interactivity)",
)
REQUESTS = MetricSpec(
    "serve.requests_per_s",
    "1/s",
    "Requests per second of the service",
    better=Better.HIGHER,
    main=True,
)
TTFT_P50 = MetricSpec(
    "serve.ttft_ms_p50", "ms", "Time to first token, median", better=Better.LOWER, main=True
)
TTFT_P90 = MetricSpec(
    "serve.ttft_ms_p90",
    "ms",
    "Time to first token, 90th percentile",
    better=Better.LOWER,
    main=True,
)
TPOT_P50 = MetricSpec(
    "serve.tpot_ms_p50", "ms", "Time per output token, median", better=Better.LOWER, main=True
)
TPOT_P90 = MetricSpec(
    "serve.tpot_ms_p90",
    "ms",
    "Time per output token, 90th percentile",
    better=Better.LOWER,
    main=True,
)
TTFT_ASKED = MetricSpec(
    "serve.ttft_ms_quantile",
    "ms",
    "Time to first token at --quantile, if that is neither 0.5 nor 0.9",
    better=Better.LOWER,
    main=True,
)
TPOT_ASKED = MetricSpec(
    "serve.tpot_ms_quantile",
    "ms",
    "Time per output token at --quantile, if that is neither 0.5 nor 0.9",
    better=Better.LOWER,
    main=True,
)
KV_TOKENS = MetricSpec(
    "serve.kv_tokens",
    "",
    "Tokens that the KV cache of one replica holds, at the mean context of a request",
    better=Better.HIGHER,
    main=True,
    label="KV cache of a replica, tokens",
)
CONCURRENCY_MAX = MetricSpec(
    "serve.concurrency_max",
    "",
    "Requests of one replica at which the KV cache or the slots of the engine end",
    better=Better.HIGHER,
    main=True,
)
POWER = MetricSpec("serve.power_kw", "kW", "Average IT power of the service with spares", main=True)
ENERGY = MetricSpec(
    "serve.energy_j_per_token",
    "J",
    "IT energy per output token, prompts and spares included",
    better=Better.LOWER,
    main=True,
)
COST = MetricSpec(
    "serve.usd_per_million_tokens",
    "USD/M tokens",
    "Cost per million output tokens at this rate: owned if the system has a price, else rented",
    better=Better.LOWER,
    main=True,
)
OWNED_COST = MetricSpec(
    "serve.owned_usd_per_million_tokens",
    "USD/M tokens",
    "Owned cost per million output tokens: capital, maintenance, hall and energy",
    better=Better.LOWER,
)
RENTED_COST = MetricSpec(
    "serve.rented_usd_per_million_tokens",
    "USD/M tokens",
    "Rented cost per million output tokens: accelerator-hours",
    better=Better.LOWER,
    main=True,
    label="Rented cost per million output tokens",
)
ACCELERATORS = MetricSpec(
    "serve.accelerators", "", "Accelerators of the service, with spares", main=True
)
SPARES = MetricSpec("serve.spare_accelerators", "", "Accelerators of spare replicas")
REPLICAS = MetricSpec("serve.replicas", "", "Replicas that serve")
UTILIZATION = MetricSpec(
    "serve.utilization_frac",
    "",
    "Rate of the service over the highest rate within the latency limits",
)
MOST_RATE = MetricSpec(
    "serve.requests_per_s_max",
    "1/s",
    "Highest request rate of the serving replicas within the latency limits",
    better=Better.HIGHER,
)


@dataclass(frozen=True)
class PoolRow:
    """One kind of replica of the service."""

    pool: Annotated[str, Column("Work of the replicas: prefill, decode or both")]
    layout: Annotated[str, Column("Parallel layout of a replica")]
    accelerators_per_replica: Annotated[int, Column("Accelerators of a replica")]
    replicas: Annotated[int, Column("Replicas that serve")]
    spare_replicas: Annotated[int, Column("Spare replicas")]
    accelerators: Annotated[int, Column("Accelerators with spares")]
    running: Annotated[
        float | None, Column("Requests that decode at the same time in a replica, mean")
    ]
    requests_per_s: Annotated[float, Column("Request rate of a replica")]
    requests_per_s_max: Annotated[
        float, Column("Highest request rate of a replica within the latency limits")
    ]
    stable_requests_per_s: Annotated[
        float, Column("Request rate of a replica from which its queue grows without limit")
    ]


POOLS = TableSpec("pools", PoolRow, "Best layout within the latency limits", section=Section.ORDERS)


@dataclass(frozen=True)
class LatencyRow:
    """One part of the latency of a request."""

    what: Annotated[str, Column("Part of the latency")]
    mean_ms: Annotated[float, Column("Mean over the requests")]
    p50_ms: Annotated[float | None, Column("Median")]
    p90_ms: Annotated[float | None, Column("90th percentile")]
    p99_ms: Annotated[float | None, Column("99th percentile")]
    limit_ms: Annotated[float | None, Column("Limit of the request")] = None
    formula_p50_ms: Annotated[float | None, Column("Median of the queue formulas")] = None
    formula_p90_ms: Annotated[float | None, Column("90th percentile of the queue formulas")] = None
    formula_p99_ms: Annotated[float | None, Column("99th percentile of the queue formulas")] = None


LATENCY = TableSpec(
    "latency",
    LatencyRow,
    "Latency; the parts add up in the mean, not in a percentile",
    section=Section.ORDERS,
)


@dataclass(frozen=True)
class MemoryRow:
    """One use of the memory of an accelerator."""

    what: Annotated[str, Column("Use of the memory")]
    gb: Annotated[float, Column("Memory of one accelerator")]
    share_frac: Annotated[float, Column("Share of the memory of the accelerator")]


MEMORY = TableSpec(
    "serving_memory",
    MemoryRow,
    "Memory of one accelerator of the serving replica",
    section=Section.DESIGN,
    shown=Shown.VERBOSE,
)


@dataclass(frozen=True)
class HourCostRow:
    """One part of the cost of an accelerator-hour."""

    basis: Annotated[str, Column("Cost basis: owned or rented")]
    what: Annotated[str, Column("Part of the cost")]
    usd_per_accelerator_hour: Annotated[
        float, Column("Cost of one hour of one accelerator, in use or spare")
    ]
    usd_per_million_tokens: Annotated[float, Column("Cost per million output tokens")]


HOUR_COST = TableSpec(
    "serving_cost",
    HourCostRow,
    "Cost of the service at this rate in every hour, without staff and storage",
    section=Section.COST,
    by_item=True,
    shown=Shown.VERBOSE,
)


@dataclass(frozen=True)
class TraceRow:
    """The event loop on the trace."""

    requests: Annotated[int, Column("Requests of the trace")]
    span_s: Annotated[float, Column("First arrival to last token")]
    requests_per_s: Annotated[float, Column("Mean request rate of the trace")]
    tokens_per_s: Annotated[float, Column("Output tokens per second of all replicas")]
    replicas: Annotated[int, Column("Replicas that serve")]
    not_idle_frac: Annotated[
        float,
        Column("Share of the time in which a replica has at least one request; no utilization"),
    ]
    hit_frac: Annotated[float, Column("Share of prompt tokens that the prefix cache holds")]
    preemptions: Annotated[int, Column("Requests whose cache was evicted and computed again")]
    rejected: Annotated[int, Column("Requests longer than the KV cache")]


@dataclass(frozen=True)
class PrefixRow:
    """The share of cached blocks for one size of the prefix cache."""

    kv_tokens: Annotated[float, Column("Tokens that the prefix cache of all replicas holds")]
    hit_frac: Annotated[float, Column("Share of the prompt blocks that the cache holds")]


PREFIX = TableSpec(
    "prefix_cache",
    PrefixRow,
    "Prefix cache: hits of the trace by size",
    section=Section.RISK,
    shown=Shown.VERBOSE,
)

TRACE = TableSpec("trace", TraceRow, "Event loop on the trace", section=Section.RISK)
