"""The inputs of the model as structures of arrays.

One row is one layout of one model on one accelerator.

All arrays broadcast against each other, so a table of a single model and accelerator meets any
table of layouts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from dcplan.llm.architecture import Architecture

Array = npt.NDArray[np.float64]
T = TypeVar("T")

RECOMPUTE = ("none", "selective", "full")
SCHEDULES = ("1f1b", "zero-bubble", "dualpipe")
"""1f1b is interleaved where vpp is above 1."""


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
    """Vision encoders beside the models, and how much they have to do."""

    model: ModelTable
    patches: Array
    """Tokens of one image inside the encoder."""
    tokens: Array
    """Tokens that one image becomes for the language model."""
    params: Array
    """Of encoder and projector."""
    projector_params: Array
    images: Array
    """Images (or tiles) of one sequence; 0 where the data has none."""


@dataclass(frozen=True)
class DeviceTable:
    """One accelerator (or core, where layouts count cores) at a precision.

    In its system and fabric.

    Rates are what the part reaches at best on large work: the data sheet times a fitted fraction.
    """

    linear_flops: Array
    """Linear layers at their precision. [FLOP/s]"""
    half_flops: Array
    """Other matrix products, at 16 bit. [FLOP/s]"""
    attention_flops: Array
    """Fused attention forward; the backward pass runs at a share of it. [FLOP/s]"""
    hbm_bytes_per_s: Array
    hbm_gb: Array
    units: Array
    """Streaming multiprocessors that share a kernel in waves; 1 where the compiler tiles without
    waves."""
    prologue: Array
    """Depth of a matrix product that starting a tile costs at 16 bit."""
    grouped_rows: Array
    """Rows of one expert at which a grouped product reaches half its speed."""
    kernel_s: Array
    """Gap between kernels. [s]"""
    scaleup_bytes_per_s: Array
    scaleup_latency_s: Array
    domain: Array
    """Ranks in one scale-up domain."""
    scaleout_bytes_per_s: Array
    """Of one rank."""
    scaleout_latency_s: Array
    in_network: Array
    """1 where the scale-out switches add (SHARP): an all-reduce sends its message once, not twice.
    """
    host_bytes_per_s: Array
    """Link to host memory: PCIe, NVLink-C2C or CXL. [byte/s]"""
    node: Array
    """Ranks of one host: what straggles together."""


@dataclass(frozen=True)
class RecipeTable:
    """A precision recipe: bytes of the tensor classes."""

    operand_bytes: Array
    """Of a linear layer's inputs."""
    cast_bytes: Array
    """HBM traffic of quantizing one input value, both layouts and scaling included."""
    gather_bytes: Array
    """Of a parameter on the wire."""
    weight_bytes: Array
    """Of a parameter at rest, all copies that the forward and backward passes use."""
    grad_bytes: Array
    """Of a gradient, at rest and on the wire."""
    optimizer_bytes: Array
    """Master weight and moments of a parameter."""
    stored_bytes: Array
    """Of an activation kept for the backward pass of a linear layer."""


@dataclass(frozen=True)
class StackTable:
    """Habits of a training software."""

    host_s: Array
    """Host time to launch one layer (two blocks) forward and backward. [s]"""
    moe_host_s: Array
    """The same, for what a mixture-of-experts block adds. [s]"""
    elementwise: Array
    """HBM traffic of norms, activations and residuals over that of fully fused kernels."""
    moe_elementwise: Array
    """Share of the mixture-of-experts part of that traffic that fused dispatch leaves."""
    flash: Array
    """1: fused attention; 0: scores go through HBM."""
    tp_overlap: Array
    """Share of tensor-parallel traffic hidden under matrix products."""
    dp_overlap: Array
    """Share of compute that can hide data-parallel traffic; 0 where reduction waits for the
    backward pass."""
    pp_overlap: Array
    ep_overlap: Array
    contention: Array
    """Slow-down of compute while sharded parameters are on the wire."""
    straggler: Array
    """Spread of node speed; the step waits for the slowest node."""
    sequence_parallel: Array
    context_frac: Array
    """Speed of attention under context parallel over attention alone: unbalanced causal rings lose
    some."""
    collective_s: Array
    """Launch and synchronization of one collective. [s]"""
    selective_frac: Array
    """Share of the forward matrix products that selective recompute repeats."""
    selective_attention: Array
    """The same for fused attention."""


@dataclass(frozen=True)
class LayoutTable:
    """Ways to cut the work. Counts are of ranks."""

    tp: Array
    pp: Array
    vpp: Array
    dp: Array
    cp: Array
    ep: Array
    etp: Array
    micro_batch: Array
    micro_batches: Array
    """Of one data-parallel rank in a step."""
    recompute: Array
    """Index in :data:`RECOMPUTE`."""
    zero: Array
    """Sharded with ZeRO: 0 nothing, 1 optimizer, 2 and gradients, 3 and parameters (FSDP)."""
    shard: Array
    """Ranks that share one copy; below dp x cp it is hybrid sharding (HSDP)."""
    schedule: Array
    """Index in :data:`SCHEDULES`."""
    offload: Array
    """Share of the kept activations that waits in host memory."""
    seq_len: Array
    trainable: Array
    """1; 0 where the base model is frozen (LoRA): no weight gradients, no optimizer on it."""


def model_table(shapes: Sequence[Architecture]) -> ModelTable:
    """Stack architectures into one table, one row each."""
    return ModelTable(
        **{
            f.name: np.array([float(getattr(s, f.name)) for s in shapes], dtype=np.float64)
            for f in fields(ModelTable)
        }
    )


def tower_table(shape: Architecture, images: float) -> TowerTable | None:
    """Return the vision tower of a model that sees ``images`` in each sequence.

    None where it has none.
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

    Tables left out stay so.
    """
    values = {f.name: getattr(table, f.name) for f in fields(table)}  # type: ignore[arg-type]
    values = {k: v for k, v in values.items() if v is not None}
    return type(table)(
        **{k: each(v, change) if is_dataclass(v) else change(v) for k, v in values.items()}
    )


def column(value: Array) -> Array:
    """Return an array as a column, to meet a row of modes."""
    return np.atleast_1d(value)[:, None]


def rows(table: T, at: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> T:
    """Rows of a table of arrays (and of its tables)."""

    def pick(value: Array) -> Array:
        value = np.atleast_1d(value)
        return value if value.size == 1 else np.asarray(value[at])

    return each(table, pick)
