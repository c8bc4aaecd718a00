"""Inputs of the serving model as structures of arrays: one row is one served configuration.

All arrays broadcast against each other, so a table of one model on one accelerator combines with
any table of layouts and batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class ServedModel:
    """Sizes of a checkpoint: parameters, bytes by tensor class, and cache of one sequence.

    Parameter counts are per layer of their kind. Bytes are those of one weight, scales included.
    """

    layers: Array
    hidden: Array
    heads: Array
    full_layers: Array
    """Layers whose attention reads the complete context."""
    local_layers: Array
    """Layers whose attention reads a window."""
    window: Array
    recurrent_layers: Array
    """Layers with a state of constant size: linear attention or Mamba."""
    recurrent_params: Array
    state_bytes: Array
    """State of one sequence in one recurrent layer. [byte]"""
    cache_width: Array
    """Values that one token stores in one attention layer."""
    cache_shards: Array
    """Largest number of ranks that divide the cache: the key-value heads; 1 for latent attention."""
    cache_bytes: Array
    """Bytes of one cached value."""
    pair_dims: Array
    """Query and value dimensions of one head in prefill."""
    latent_dims: Array
    """Dimensions of one head per cached token if decode works on the latent cache; else 0."""
    sparse_topk: Array
    """Most tokens that a query reads; 0 if all."""
    index_bytes: Array
    """Bytes of one token's index key in one layer of sparse attention."""
    attention_layers: Array
    attention_params: Array
    dense_layers: Array
    dense_params: Array
    moe_layers: Array
    shared_layers: Array
    """Layers with shared experts."""
    experts: Array
    experts_per_token: Array
    expert_params: Array
    shared_params: Array
    """Router and shared experts of one layer."""
    head_params: Array
    lookup_params: Array
    """Embedding table that no product reads."""
    attention_bytes: Array
    dense_bytes: Array
    expert_bytes: Array
    shared_bytes: Array
    head_bytes: Array
    quantized: Array
    """Share of a layer's blocks that quantize their inputs, which adds kernels."""
    causal: Array


@dataclass(frozen=True)
class ServedDevice:
    """One accelerator, with its data-sheet peaks for the tensor classes of the checkpoint."""

    hbm_bytes_per_s: Array
    memory_bytes: Array
    attention_flops: Array
    """Peak of the linear layers of attention. [FLOP/s]"""
    dense_flops: Array
    expert_flops: Array
    half_flops: Array
    """Peak at 16 bit: output layer and attention on a 16-bit cache. [FLOP/s]"""
    cache_flops: Array
    """Peak of attention products at the precision of the cache. [FLOP/s]"""
    link_bytes_per_s: Array
    """Scale-up bandwidth, one way. [byte/s]"""
    domain: Array
    """Accelerators in one scale-up domain."""
    nic_bytes_per_s: Array
    """Scale-out bandwidth of one accelerator, one way. [byte/s]"""


@dataclass(frozen=True)
class ServedLayout:
    """One replica: ranks by kind of parallelism."""

    tp: Array
    """Ranks that share one copy of attention."""
    dp: Array
    """Copies of attention in a replica; the experts are divided over tp x dp ranks."""
    pp: Array
    ep: Array
    """1 if experts are divided by width, above 1 if complete experts are placed on ranks."""

    @property
    def ranks(self) -> Array:
        """Return the ranks of one pipeline stage."""
        return self.tp * self.dp


@dataclass(frozen=True)
class EngineTerms:
    """Constants of an engine release on an accelerator family.

    The fields are the rows of the catalog kind ``serving``; each is a global value times the factors
    of the family, the engine and the release.
    """

    weight_hbm_frac: Array
    """Share of the memory bandwidth at which linear layers read weights."""
    expert_hbm_frac: Array
    linear_flops_frac: Array
    """Share of the peak that large products reach."""
    expert_flops_frac: Array
    overlap_power: Array
    """Power p of the norm that joins memory and compute time: 1 adds them, large takes the longer."""
    routing_spread: Array
    """Independent choices of experts per token and choice: below 1 if tokens agree."""
    expert_imbalance: Array
    """Time of the busiest rank over the mean if complete experts are placed on ranks."""
    activation_passes: Array
    """Passes over a tensor of hidden size per layer."""
    cache_hbm_frac: Array
    cache_flops_frac: Array
    prefill_attention_frac: Array
    layer_us: Array
    """Kernel floors and gaps of one layer."""
    quantize_us: Array
    moe_layer_us: Array
    latent_us: Array
    """Additional floors of latent attention: more and smaller projections."""
    shared_us: Array
    """Additional floors of shared experts."""
    recurrent_us: Array
    """Additional floors of a layer with a recurrent state."""
    allreduce_us: Array
    """Latency of one all-reduce of two ranks."""
    allreduce_growth: Array
    """Relative growth of that latency per doubling of the ranks."""
    allreduce_link_frac: Array
    exchange_us: Array
    """Latency of dispatch and combine of one mixture-of-experts layer."""
    exchange_link_frac: Array
    hop_us: Array
    """Additional latency of a collective across scale-up domains."""
    step_us: Array
    """Scheduler, sampling and launch of one engine step."""
    request_us: Array
    """Host time per running request and step."""
    prefill_factor: Array
    """Time of a prompt over that of the bare operations."""
    pool_prefill_factor: Array
    """Time of a prompt in a pool of its own over that in an engine that also decodes."""
    separate_prefill_frac: Array
    """Share of a prompt's own time that delays the decode steps; below 1 if steps mix both."""
    ingress_ms: Array
    """HTTP, tokenizer and first scheduling of a request."""
    queue_factor: Array
    """Wait behind other prompts over that of a queue with random arrivals."""
    burst_frac: Array
    """Share of requests that start in one burst."""
    handover_ms: Array
    """Hand-over of a request from prefill to decode in a disaggregated service."""


def table(kind: type[T], rows: Sequence[object]) -> T:
    """Return the fields of a table as arrays, one row each.

    Parameters
    ----------
    kind : type
        A dataclass of arrays.
    rows : sequence
        Objects or mappings with the fields of the table as numbers.
    """

    def get(row: object, name: str) -> float:
        return float(row[name] if isinstance(row, dict) else getattr(row, name))

    return kind(
        **{f.name: np.array([get(r, f.name) for r in rows]) for f in fields(kind)}  # type: ignore[arg-type]
    )


def picked(item: T, at: npt.NDArray[np.intp] | npt.NDArray[np.bool_] | slice) -> T:
    """Return rows of a table of arrays; an array of one value stays."""

    def pick(value: Array) -> Array:
        value = np.atleast_1d(value)
        return value if value.size == 1 else np.asarray(value[at])

    return type(item)(**{f.name: pick(getattr(item, f.name)) for f in fields(item)})  # type: ignore[arg-type]
