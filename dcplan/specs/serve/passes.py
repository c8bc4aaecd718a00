"""Metrics and tables of ``serve`` for models without decode, and of images in a prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

ITEMS_PER_ACCELERATOR = MetricSpec(
    "serve.items_per_s_per_accelerator",
    "1/s",
    "Images or sequences per second and accelerator that serves, without spares",
    better=Better.HIGHER,
    main=True,
)
ITEMS = MetricSpec(
    "serve.items_per_s",
    "1/s",
    "Images or sequences per second of the service",
    better=Better.HIGHER,
    main=True,
)
ITEMS_MAX = MetricSpec(
    "serve.items_per_s_max",
    "1/s",
    "Highest images or sequences per second of the serving replicas within the latency limit",
    better=Better.HIGHER,
)
INPUT_TOKENS = MetricSpec(
    "serve.input_tokens_per_s_per_accelerator",
    "1/s",
    "Input tokens per second and accelerator that serves, without spares",
    better=Better.HIGHER,
    main=True,
    label="Input tokens per second and accelerator",
)
LATENCY = MetricSpec(
    "serve.latency_ms",
    "ms",
    "Time of a batch, without ingress and the wait for the batch before it",
    better=Better.LOWER,
    main=True,
)
BATCH = MetricSpec("serve.batch", "", "Images or sequences of one batch of a replica", main=True)
BATCH_MAX = MetricSpec(
    "serve.batch_max",
    "",
    "Images or sequences of the largest batch of a replica whose memory is enough",
    better=Better.HIGHER,
)
ITEM_ENERGY = MetricSpec(
    "serve.energy_j_per_item",
    "J",
    "IT energy per image or sequence, spares included",
    better=Better.LOWER,
    main=True,
)
TOKEN_ENERGY = MetricSpec(
    "serve.energy_j_per_million_input_tokens",
    "J",
    "IT energy per million input tokens, spares included",
    better=Better.LOWER,
    main=True,
)
ITEM_COST = MetricSpec(
    "serve.usd_per_million_items",
    "USD/M",
    "Cost per million images or sequences at this rate: owned if the system has a price, else rented",
    better=Better.LOWER,
    main=True,
)
OWNED_ITEM_COST = MetricSpec(
    "serve.owned_usd_per_million_items",
    "USD/M",
    "Owned cost per million images or sequences: capital, maintenance, hall and energy",
    better=Better.LOWER,
)
RENTED_ITEM_COST = MetricSpec(
    "serve.rented_usd_per_million_items",
    "USD/M",
    "Rented cost per million images or sequences: accelerator-hours",
    better=Better.LOWER,
    main=True,
    label="Rented cost per million images or sequences",
)
INPUT_COST = MetricSpec(
    "serve.usd_per_million_input_tokens",
    "USD/M tokens",
    "Cost per million input tokens at this rate: owned if the system has a price, else rented",
    better=Better.LOWER,
    main=True,
)
OWNED_INPUT_COST = MetricSpec(
    "serve.owned_usd_per_million_input_tokens",
    "USD/M tokens",
    "Owned cost per million input tokens: capital, maintenance, hall and energy",
    better=Better.LOWER,
)
RENTED_INPUT_COST = MetricSpec(
    "serve.rented_usd_per_million_input_tokens",
    "USD/M tokens",
    "Rented cost per million input tokens: accelerator-hours",
    better=Better.LOWER,
    main=True,
    label="Rented cost per million input tokens",
)
IMAGE_COST = MetricSpec(
    "serve.usd_per_thousand_images",
    "USD",
    "Cost per thousand images at this rate: owned if the system has a price, else rented",
    better=Better.LOWER,
    main=True,
)
OWNED_IMAGE_COST = MetricSpec(
    "serve.owned_usd_per_thousand_images",
    "USD",
    "Owned cost per thousand images: capital, maintenance, hall and energy",
    better=Better.LOWER,
)
RENTED_IMAGE_COST = MetricSpec(
    "serve.rented_usd_per_thousand_images",
    "USD",
    "Rented cost per thousand images: accelerator-hours",
    better=Better.LOWER,
    main=True,
    label="Rented cost per thousand images",
)
IMAGE_TOKENS = MetricSpec(
    "serve.image_tokens", "", "Tokens that the images add to a prompt", main=True
)
ENCODE = MetricSpec(
    "serve.encode_ms",
    "ms",
    "Time of the vision encoder for the images of a prompt",
    better=Better.LOWER,
    main=True,
)

Layout = Annotated[str, Column("Parallel layout of a replica")]
Batch = Annotated[int | None, Column("Images or sequences of one batch of a replica")]
PerAccelerator = Annotated[float | None, Column("Images or sequences per second and accelerator")]


@dataclass(frozen=True)
class ReplicaRow:
    """The replicas of the service."""

    layout: Layout
    accelerators_per_replica: Annotated[int, Column("Accelerators of a replica")]
    replicas: Annotated[int, Column("Replicas that serve")]
    spare_replicas: Annotated[int, Column("Spare replicas")]
    accelerators: Annotated[int, Column("Accelerators with spares")]
    batch: Batch
    items_per_s: Annotated[float, Column("Images or sequences per second of a replica")]
    items_per_s_max: Annotated[float, Column("Highest images or sequences per second of a replica")]


REPLICAS = TableSpec(
    "pass_replicas", ReplicaRow, "Best layout within the latency limit", section=Section.ORDERS
)


@dataclass(frozen=True)
class TimeRow:
    """One part of the time of a request."""

    what: Annotated[str, Column("Part of the time")]
    ms: Annotated[float, Column("Time of the complete batch")]
    ms_per_item: Annotated[float | None, Column("Time over the images or sequences of the batch")]
    limit_ms: Annotated[float | None, Column("Limit of the request")] = None


TIMES = TableSpec("pass_times", TimeRow, "Time of a request", section=Section.ORDERS)


@dataclass(frozen=True)
class PassCostRow:
    """One part of the cost of an accelerator-hour."""

    basis: Annotated[str, Column("Cost basis: owned or rented")]
    what: Annotated[str, Column("Part of the cost")]
    usd_per_accelerator_hour: Annotated[
        float, Column("Cost of one hour of one accelerator, in use or spare")
    ]
    usd_per_million_items: Annotated[float, Column("Cost per million images or sequences")]


PASS_COST = TableSpec(
    "pass_cost",
    PassCostRow,
    "Cost of the service",
    section=Section.COST,
    by_item=True,
    shown=Shown.VERBOSE,
)


@dataclass(frozen=True)
class BatchRow:
    """One batch of the chosen layout."""

    batch: Batch
    ms: Annotated[float, Column("Time of the complete batch")]
    items_per_s_per_accelerator: PerAccelerator
    memory_gb: Annotated[float, Column("Memory of one accelerator")]
    usd_per_million_items: Annotated[
        float | None, Column("Cost per million images or sequences at full load without spares")
    ]
    within_limits: Annotated[bool, Column("Whether the time is within the latency limit")]


BATCHES = TableSpec("batches", BatchRow, "Batches of this layout", section=Section.LIMITS)


@dataclass(frozen=True)
class PassLayoutRow:
    """One layout with its best batch, and why it is not chosen."""

    layout: Layout
    accelerators: Annotated[int, Column("Accelerators of a replica")]
    items_per_s_per_accelerator: PerAccelerator
    batch: Batch
    latency_floor_ms: Annotated[float, Column("Time of the smallest batch")]
    why_not: Annotated[str, Column("Reason why the layout is not chosen")]


PASS_LAYOUTS = TableSpec(
    "pass_layouts",
    PassLayoutRow,
    "Layouts, and why not another one",
    section=Section.LIMITS,
    first=5,
)


@dataclass(frozen=True)
class PassSystemRow:
    """One system with its best layout."""

    system: Annotated[str, Column("Catalog system, cloud offer or accelerator")]
    accelerator: Annotated[str, Column("Catalog accelerator")]
    precision: Annotated[str | None, Column("Format of the weights")]
    layout: Annotated[str | None, Column("Parallel layout of a replica")]
    batch: Batch
    accelerators: Annotated[int | None, Column("Accelerators of the service, with spares")]
    items_per_s: Annotated[float | None, Column("Images or sequences per second of the service")]
    items_per_s_per_accelerator: PerAccelerator
    latency_ms: Annotated[float | None, Column("Time of a batch")]
    power_kw: Annotated[float | None, Column("Average IT power with spares")]
    owned_usd_per_million_items: Annotated[
        float | None, Column("Owned cost per million images or sequences")
    ]
    rented_usd_per_million_items: Annotated[
        float | None, Column("Rented cost per million images or sequences")
    ]
    why_not: Annotated[str | None, Column("Reason why the system cannot serve the request")] = None


PASS_SYSTEMS = TableSpec(
    "pass_systems", PassSystemRow, "Systems, the cheapest first", section=Section.ORDERS
)
