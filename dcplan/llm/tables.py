"""Inputs of the model as structures of arrays.

A row is one layout of one model on one accelerator.

All arrays broadcast against each other, so a table of a single model and accelerator combines with any
table of layouts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from dcplan.llm.architecture import Architecture

Array = npt.NDArray[np.float64]
T = TypeVar("T")

RECOMPUTE = ("none", "selective", "full")
SCHEDULES = ("1f1b", "zero-bubble", "dualpipe")
"""1f1b is interleaved if vpp is above 1."""


@dataclass(frozen=True)
class ModelTable:
    """The fields of :class:`Architecture`, as arrays, with its parameter counts.

    A vision tower has its own table.
    """

    layers: Array
    hidden: Array
    heads: Array
    kv_heads: Array
    head_dim: Array
    value_dim: Array
    vocab: Array
    tied: Array
    attention_layers: Array
    dense_layers: Array
    ffn: Array
    gated: Array
    query_rank: Array
    kv_rank: Array
    rope_dim: Array
    local_layers: Array
    window: Array
    moe_layers: Array
    experts: Array
    experts_per_token: Array
    expert_groups: Array
    expert_ffn: Array
    shared_ffn: Array
    expert_params: Array
    moe_fixed_params: Array
    mamba_layers: Array
    mamba_inner: Array
    mamba_state: Array
    mamba_groups: Array
    mamba_heads: Array
    mtp_layers: Array
    causal: Array
    trunk_params: Array
    routed_params: Array
    embedding_params: Array
    attention_params: Array
    dense_mlp_params: Array
    position_params: Array


@dataclass(frozen=True)
class TowerTable:
    """Vision encoders of the models, and their work."""

    model: ModelTable
    patches: Array
    """Tokens of one image inside the encoder."""
    tokens: Array
    """Tokens of one image in the language model."""
    params: Array
    """Parameters of encoder and projector."""
    projector_params: Array
    images: Array
    """Images (or tiles) of one sequence; 0 if the data has none."""


@dataclass(frozen=True)
class DeviceTable:
    """One accelerator (or core, if layouts count cores) at a precision.

    It is in its system and fabric.

    Rates are the maximum on large work: the data-sheet value times a fitted fraction.
    """

    linear_flops: Array
    """Linear layers at their precision. [FLOP/s]"""
    half_flops: Array
    """Other matrix products, at 16 bit, or at 32 bit in a 32-bit recipe. [FLOP/s]"""
    attention_flops: Array
    """Fused attention forward; the backward pass runs at a share of it. [FLOP/s]"""
    hbm_bytes_per_s: Array
    hbm_gb: Array
    units: Array
    """Streaming multiprocessors that share a kernel in waves; 1 if the compiler tiles without
    waves."""
    prologue: Array
    """Depth of a matrix product equal to the start of a tile at 16 bit."""
    grouped_rows: Array
    """Rows of one expert at which a grouped product reaches half its speed."""
    kernel_s: Array
    """Gap between kernels. [s]"""
    scaleup_bytes_per_s: Array
    scaleup_latency_s: Array
    domain: Array
    """Ranks in one scale-up domain."""
    scaleout_bytes_per_s: Array
    """Scale-out rate of one rank."""
    scaleout_latency_s: Array
    in_network: Array
    """1 if the scale-out switches reduce in the network (SHARP): an all-reduce then sends its message
    once, not twice."""
    exchange: Array
    """Share of the scale-out rate that an all-to-all reaches."""
    host_bytes_per_s: Array
    """Link to host memory: PCIe, NVLink-C2C or CXL. [byte/s]"""
    node: Array
    """Ranks of one host, which slow down together."""


@dataclass(frozen=True)
class RecipeTable:
    """A precision recipe: bytes of the tensor classes."""

    operand_bytes: Array
    """Bytes of a linear layer's inputs."""
    cast_bytes: Array
    """HBM traffic to quantize one input value, including both layouts and scaling."""
    gather_bytes: Array
    """Bytes of a parameter in communication."""
    weight_bytes: Array
    """Bytes of a stored parameter, all copies of the forward and backward passes."""
    grad_bytes: Array
    """Bytes of a gradient, stored and in communication."""
    optimizer_bytes: Array
    """Bytes of master weight and moments of a parameter."""
    stored_bytes: Array
    """Bytes of an activation stored for the backward pass of a linear layer."""
    activation_bytes: Array
    """Bytes of a value outside the linear layers: norms, attention, communication."""
    kept_cast_bytes: Array
    """Bytes of the cast of a 32-bit weight that a block keeps for its backward pass; 0 if none."""
    head_bytes: Array
    """Bytes of the cast of an output layer's 32-bit weight and of its gradient; 0 if none."""


@dataclass(frozen=True)
class StackTable:
    """Values of a training software stack."""

    launch_s: Array
    """Host time to launch one operator. [s]"""
    moe_host_s: Array
    """Additional host time of a mixture-of-experts block. [s]"""
    elementwise: Array
    """HBM traffic of norms, activations and residuals relative to fully fused kernels."""
    cast_factor: Array
    """HBM traffic of casts to narrow inputs relative to casts fused with their producer."""
    weight_cast_bytes: Array
    """HBM traffic per parameter and pass to cast 32-bit weights before use. [byte]"""
    moe_elementwise: Array
    """Share of the mixture-of-experts part of that traffic that remains with fused dispatch."""
    moe_rate: Array
    """Share of the rate of other collectives that the all-to-all of experts reaches."""
    moe_combined: Array
    """1: a token travels once to each other domain; 0: once to each expert."""
    flash: Array
    """1: fused attention; 0: scores pass through HBM."""
    tp_overlap: Array
    """Share of tensor-parallel traffic hidden behind matrix products."""
    dp_overlap: Array
    """Share of compute that can hide data-parallel traffic; 0 if reduction waits for the
    backward pass."""
    pp_overlap: Array
    ep_overlap: Array
    contention: Array
    """Slowdown of compute during communication of sharded parameters."""
    straggler: Array
    """Spread of node speed; a step waits for the slowest node."""
    sequence_parallel: Array
    context_frac: Array
    """Speed of attention with context parallelism relative to attention alone; unbalanced causal
    rings lose speed."""
    collective_s: Array
    """Launch and synchronization of one collective. [s]"""
    selective_frac: Array
    """Share of the forward matrix products that selective recompute repeats."""
    selective_attention: Array
    """Share of fused attention that selective recompute repeats."""
    half_logits: Array
    """1: the loss keeps no 32-bit copy of the logits."""
    expands_kv: Array
    """1: keys and values are kept for each query head."""


@dataclass(frozen=True)
class AgainTable:
    """Shares of the forward pass that named modules compute again, by kind of operation.

    A negative share leaves the kind to the recompute mode of the layout.
    """

    gemm: Array
    grouped: Array
    attention: Array
    elementwise: Array


@dataclass(frozen=True)
class LayoutTable:
    """Layouts. Counts are numbers of ranks."""

    tp: Array
    pp: Array
    vpp: Array
    dp: Array
    cp: Array
    ep: Array
    etp: Array
    micro_batch: Array
    micro_batches: Array
    """Micro-batches of one data-parallel rank per step."""
    recompute: Array
    """Index in :data:`RECOMPUTE`."""
    zero: Array
    """Sharded with ZeRO: 0 nothing, 1 optimizer, 2 also gradients, 3 also parameters (FSDP)."""
    shard: Array
    """Ranks that share one copy; below dp x cp it is hybrid sharding (HSDP)."""
    schedule: Array
    """Index in :data:`SCHEDULES`."""
    offload: Array
    """Share of the kept activations in host memory."""
    seq_len: Array
    trainable: Array
    """1; 0 if the base model is frozen (LoRA), without weight gradients and optimizer."""
    again: AgainTable | None = None
    """Shares computed again in place of those of the mode; None uses the mode."""


def model_table(shapes: Sequence[Architecture]) -> ModelTable:
    """Combine architectures into one table, one row each."""
    return ModelTable(
        **{
            f.name: np.array([float(getattr(s, f.name)) for s in shapes], dtype=np.float64)
            for f in fields(ModelTable)
        }
    )


def tower_table(shape: Architecture, images: float) -> TowerTable | None:
    """Return the vision tower of a model with ``images`` in each sequence.

    It is None if the model has none.
    """
    if shape.tower is None:
        return None

    def one(value: float) -> Array:
        return np.array([float(value)])

    return TowerTable(
        model_table([shape.tower]),
        one(shape.tower_patches),
        one(shape.tower_tokens),
        one(shape.tower_params),
        one(shape.projector_params),
        one(images),
    )


def each(table: T, change: Callable[[Array], Array]) -> T:
    """Return the table with every array (and every array of its tables) changed.

    Missing tables stay missing.
    """
    values = {name: getattr(table, name) for name in _names(type(table))}  # type: ignore[arg-type]
    return type(table)(
        **{
            k: each(v, change) if is_dataclass(v) else change(v)
            for k, v in values.items()
            if v is not None
        }
    )


@cache
def _names(table: type) -> tuple[str, ...]:
    """Return the names of the fields of a table."""
    return tuple(f.name for f in fields(table))


def column(value: Array) -> Array:
    """Return an array as a column, to combine with a row of modes."""
    return np.atleast_1d(value)[:, None]


def rows(table: T, at: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> T:
    """Return rows of a table of arrays (and of its tables)."""

    def pick(value: Array) -> Array:
        if not isinstance(value, np.ndarray) or not value.ndim:
            value = np.atleast_1d(value)
        return value if value.size == 1 else np.asarray(value[at])

    return each(table, pick)
