"""One model on one accelerator with one engine, as arguments of the serving room."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from dcplan.catalog.schema import (
    Accelerator,
    Engine,
    EngineRelease,
    Model,
    ServingFamily,
    WeightFormat,
)
from dcplan.inputs.checkpoint import format_rows
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.devices import quantized_frac, served_device
from dcplan.inputs.serving.engines import engine_terms
from dcplan.inputs.serving.models import served_numbers
from dcplan.llm.architecture import Architecture
from dcplan.serving.forward import Served
from dcplan.serving.memory import MemoryTerms
from dcplan.serving.power import PowerTerms
from dcplan.serving.tables import EngineTerms, ServedDevice, ServedLayout, ServedModel, table
from dcplan.units import GIGA

RESERVE = "reserve-gb"
CACHE_KINDS = {"fp8": "fp8", "int8": "fp8", "bf16": "half", "fp16": "half"}
"""Kind of a cache by its format: an 8-bit value has one byte."""


@dataclass(frozen=True)
class Service:
    """Numbers of one checkpoint on one accelerator with one engine release."""

    numbers: Mapping[str, float]
    device: Mapping[str, float]
    terms: Mapping[str, float]
    memory_frac: float
    reserve_bytes: float
    step_tokens: float
    most_running: float
    """Most requests that one copy of attention runs at the same time."""
    power: Mapping[str, float]
    """Fields of :class:`dcplan.serving.power.PowerTerms`."""


@dataclass(frozen=True)
class Checkpoint:
    """A model with the formats of its weights and its cache."""

    shape: Architecture
    model: Model | None
    precision: WeightFormat
    cache_kind: str
    """``half`` or ``fp8``."""


def cache_kind(stated: str, engine: Engine, math_kind: str) -> str:
    """Return ``fp8`` or ``half``: the stated precision of the cache, else the engine's default.

    Parameters
    ----------
    stated : str
        A key of ``CACHE_KINDS``, also with a variant such as ``fp8_e4m3``; empty for the default.
    engine : Engine
        Row of the engine.
    math_kind : str
        Kind of the products of the checkpoint, from its weight format.

    Raises
    ------
    ValueError
        If the stated format is unknown.
    """
    if stated:
        plain = stated.casefold().partition("_")[0].partition("-")[0]
        if plain not in CACHE_KINDS:
            msg = f"{stated!r} is none of {', '.join(CACHE_KINDS)}"
            raise ValueError(msg)
        return CACHE_KINDS[plain]
    narrow = engine.cache_precision == "weights" and math_kind not in ("half", "fp32")
    return "fp8" if narrow else "half"


def service(
    log: InputLog,
    checkpoint: Checkpoint,
    accelerator: Accelerator,
    engine: Engine,
    release: EngineRelease | None,
    *,
    nic_gb_per_s: float | None = None,
    domain: int | None = None,
) -> Service | str:
    """Return the numbers of a service, or what the accelerator's row lacks."""
    formats = format_rows(log.catalog, checkpoint.model, checkpoint.precision.id)
    device = served_device(
        log.catalog, accelerator, formats, checkpoint.cache_kind, nic_gb_per_s, domain
    )
    if isinstance(device, str):
        return device
    experts = checkpoint.shape.moe_layers > 0
    quantized = quantized_frac(log.catalog, accelerator, formats, experts=experts)
    numbers = served_numbers(checkpoint.shape, formats, checkpoint.cache_kind)
    return Service(
        numbers={**numbers, "quantized": quantized},
        device=device,
        terms=engine_terms(log, engine, release, accelerator.family),
        memory_frac=engine.memory_frac.value if engine.memory_frac else 1.0,
        reserve_bytes=log.parameter("serving", RESERVE) * GIGA,
        step_tokens=engine.step_tokens.value
        if engine.step_tokens
        else log.parameter("serving", "step-tokens"),
        most_running=engine.most_running.value if engine.most_running else math.inf,
        power=power_numbers(log, accelerator.family),
    )


def power_numbers(log: InputLog, family: str | None) -> dict[str, float]:
    """Return the power of an accelerator family as shares of its thermal design power."""
    row = log.catalog.find("serving_families", family or "generic", ServingFamily)
    found = {}
    for f in fields(PowerTerms):
        key = f"power-{f.name.replace('_', '-')}"
        own = row.power.get(key) if row is not None else None
        found[f.name] = own if own is not None else log.parameter("serving", key)
    return found


def served_of(services: Sequence[Service], layouts: Sequence[object]) -> Served:
    """Return services in layouts as one table; a single service serves all layouts.

    Parameters
    ----------
    services : sequence of Service
        One, or one for each layout.
    layouts : sequence
        Objects with ``tp``, ``dp``, ``pp`` and ``ep``.
    """
    return Served(
        table(ServedModel, [s.numbers for s in services]),
        table(ServedDevice, [s.device for s in services]),
        table(ServedLayout, layouts),
        table(EngineTerms, [s.terms for s in services]),
    )


def memory_terms(services: Sequence[Service]) -> MemoryTerms:
    """Return what engines leave for the cache."""
    return MemoryTerms(
        np.array([s.memory_frac for s in services]),
        np.array([s.reserve_bytes for s in services]),
        np.array([s.step_tokens for s in services]),
    )
