"""A model, an accelerator and an engine of round numbers, for sums by hand."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from dcplan.serving.forward import Served
from dcplan.serving.tables import (
    Array,
    EngineTerms,
    ServedDevice,
    ServedLayout,
    ServedModel,
    T,
    table,
)


def one(value: float) -> Array:
    return np.array([float(value)])


def made(kind: type[T], rest: float, **given: float) -> T:
    """A table of one row; fields that are not given have the value ``rest``."""
    return table(kind, [{f.name: rest for f in fields(kind)} | given])  # type: ignore[arg-type]


def changed(item: T, **given: float) -> T:
    return replace(item, **{k: one(v) for k, v in given.items()})  # type: ignore[type-var]


MODEL = made(
    ServedModel,
    0.0,
    layers=4,
    hidden=16,
    heads=8,
    full_layers=3,
    local_layers=1,
    window=32,
    cache_width=64,
    cache_shards=2,
    cache_bytes=2,
    pair_dims=16,
    attention_layers=4,
    attention_params=1000,
    dense_layers=4,
    dense_params=3000,
    head_params=800,
    lookup_params=800,
    attention_bytes=2,
    dense_bytes=2,
    expert_bytes=1,
    shared_bytes=2,
    head_bytes=2,
    causal=1,
)
"""Four layers of 4,000 weights of 2 bytes; three read the complete context, one 32 tokens."""
EXPERTS = changed(
    MODEL,
    dense_layers=0,
    dense_params=0,
    moe_layers=4,
    experts=8,
    experts_per_token=2,
    expert_params=500,
    shared_params=100,
)
"""The same with 8 experts of 500 weights of 1 byte, 2 for each token, instead of the dense MLP."""
LATENT = changed(
    MODEL, cache_shards=1, cache_width=72, latent_dims=136, full_layers=4, local_layers=0
)
"""Latent attention: 64 + 8 values a token, and 2 x 64 + 8 dimensions of a head."""
DEVICE = made(ServedDevice, 1e6, memory_bytes=1e6, domain=4)
"""1e6 byte/s of memory and links, 1e6 FLOP/s, 1 MB; 4 accelerators in a domain."""
TERMS = made(
    EngineTerms,
    0.0,
    weight_hbm_frac=0.5,
    expert_hbm_frac=0.25,
    linear_flops_frac=0.5,
    expert_flops_frac=0.2,
    overlap_power=1,
    routing_spread=1,
    expert_imbalance=1,
    cache_hbm_frac=0.5,
    cache_flops_frac=0.4,
    prefill_attention_frac=0.4,
    allreduce_link_frac=0.5,
    exchange_link_frac=0.5,
    prefill_factor=1,
    pool_prefill_factor=1,
    separate_prefill_frac=1,
    queue_factor=1,
)
"""No floors and no latencies; memory and compute time add up."""


def layout(tp: float = 1, dp: float = 1, pp: float = 1, ep: float = 1) -> ServedLayout:
    return made(ServedLayout, 1.0, tp=tp, dp=dp, pp=pp, ep=ep)


def served(
    model: ServedModel = MODEL,
    terms: EngineTerms = TERMS,
    device: ServedDevice = DEVICE,
    **ranks: float,
) -> Served:
    return Served(model, device, layout(**ranks), terms)
