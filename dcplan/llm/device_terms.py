"""Numbers of one accelerator, software stack and precision recipe.

It also builds tables of many of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from dcplan.llm.tables import Array, DeviceTable, RecipeTable, StackTable
from dcplan.units import FLOAT_BYTES, GIGA, HALF_BYTES, MICRO, MILLI, TERA

NARROW_GEMMS = frozenset({"fp8", "int8", "fp4"})
"""Products with quantized inputs, whose stacks may store a low-precision copy of the weights."""
WIDE_GEMMS = frozenset({"fp32", "tf32"})
"""Products on 32-bit tensors, at which all other work runs too."""


@dataclass(frozen=True)
class DeviceTerms:
    """One accelerator in its system.

    It has data-sheet values and achievable fractions. Bandwidths are one-way, per accelerator.

    A peak of 0 means that the accelerator does not have the precision.
    """

    half_tflops: float
    fp8_tflops: float
    fp4_tflops: float
    tf32_tflops: float
    half_gemm_frac: float
    fp8_gemm_frac: float
    fp4_gemm_frac: float
    attention_frac: float
    portable_attention_frac: float
    hbm_tb_per_s: float
    hbm_gb: float
    hbm_frac: float
    multiprocessors: float
    prologue_depth: float
    grouped_rows: float
    kernel_us: float
    scaleup_gb_per_s: float
    scaleup_frac: float
    scaleup_us: float
    domain: float
    """Accelerators in one scale-up domain."""
    scaleout_gb_per_s: float
    scaleout_frac: float
    scaleout_us: float
    host_gb_per_s: float
    node: float
    """Accelerators in one host."""
    ranks: float
    """Ranks per accelerator."""
    in_network: float = 0.0
    """1 if the scale-out switches reduce gradients."""
    exchange_frac: float = 1.0
    """Share of the scale-out rate that an all-to-all reaches."""
    fp32_tflops: float = 0.0
    fp32_gemm_frac: float = 1.0
    """Achieved share of the FP32 peak, which vector units reach more easily than tensor units."""
    int8_tflops: float = 0.0
    """Dense peak in 8-bit integers, in 1e12 operations per second."""
    host_gb: float = math.inf
    """Host memory that offload may use; infinite if unknown."""


@dataclass(frozen=True)
class StackTerms:
    """Values of a software stack.

    The fields are those of the catalog's ``stacks`` rows, with all defaults filled in.
    """

    launch_us: float
    elementwise: float
    cast_factor: float
    weight_cast_bytes: float
    attention: str
    tp_overlap_frac: float
    dp_overlap_frac: float
    pp_overlap_frac: float
    ep_overlap_frac: float
    scheduled_overlap_frac: float
    scheduled_host_factor: float
    contention_frac: float
    straggler_frac: float
    collective_us: float
    sequence_parallel: bool
    zero: int
    recompute: tuple[str, ...]
    selective_gemm_frac: float
    selective_attention_frac: float
    context_frac: float
    grad_bytes: float
    low_weight_bytes: float
    low_gather: bool
    lean_grad_bytes: float
    lean_optimizer_bytes: float
    half_logits: bool
    expands_kv: bool
    recomputes_casts: bool
    offloads: bool
    local_batch: bool
    device_batch: bool
    expert_parallel: int
    partial_graph_frac: float
    full_graph_frac: float
    full_passes_frac: float
    dispatcher: str = ""
    """Dispatcher of the experts, whose values follow."""
    moe_host_ms: float = 0.0
    moe_passes_frac: float = 1.0
    moe_rate_frac: float = 1.0
    moe_combined: bool = False
    moe_graphs: str = "none"
    moe_overlap: bool = False

    @property
    def casts_weights(self) -> bool:
        """Whether the stored weights are the 32-bit master weights, cast for each use."""
        return self.weight_cast_bytes > 0


@dataclass(frozen=True)
class RecipeTerms:
    """Bytes of the tensor classes of a precision recipe.

    ``gemm`` is half, tf32, fp32, fp8, int8 or fp4.
    """

    gemm: str
    operand_bytes: float
    cast_bytes: float
    gather_bytes: float
    weight_bytes: float
    optimizer_bytes: float
    stored_bytes: float
    activation_bytes: float = HALF_BYTES
    """Bytes of a value outside the linear layers: 2, or 4 if tensors are 32-bit."""


def _column(rows: Sequence[object], name: str) -> Array:
    return np.array([float(getattr(r, name)) for r in rows], dtype=np.float64)


def peak_tflops(device: DeviceTerms, gemm: str) -> float:
    """Return the dense peak of the linear layers' precision; 0 if the accelerator lacks it."""
    return float(getattr(device, f"{gemm}_tflops"))


def device_table(
    devices: Sequence[DeviceTerms], stacks: Sequence[StackTerms], recipes: Sequence[RecipeTerms]
) -> DeviceTable:
    """Return speeds of each row's accelerator for its recipe and its stack's attention kernels.

    They are for one rank.
    """
    ranks = _column(devices, "ranks")
    pairs = list(zip(devices, recipes, strict=True))
    half = np.array([_other_tflops(d, r) for d, r in pairs]) * TERA / ranks
    half_speed = half * np.array(
        [d.fp32_gemm_frac if r.gemm == "fp32" else d.half_gemm_frac for d, r in pairs]
    )
    linear = np.array([_linear_tflops(d, r) for d, r in pairs]) * TERA / ranks
    native = np.array([s.attention == "native" for s in stacks])
    attention = np.where(
        native, _column(devices, "attention_frac"), _column(devices, "portable_attention_frac")
    )
    return DeviceTable(
        linear_flops=linear,
        half_flops=half_speed,
        attention_flops=half * attention,
        hbm_bytes_per_s=_column(devices, "hbm_tb_per_s")
        * TERA
        * _column(devices, "hbm_frac")
        / ranks,
        hbm_gb=_column(devices, "hbm_gb") / ranks,
        units=_column(devices, "multiprocessors"),
        prologue=_column(devices, "prologue_depth"),
        grouped_rows=_column(devices, "grouped_rows"),
        kernel_s=_column(devices, "kernel_us") * MICRO,
        scaleup_bytes_per_s=_column(devices, "scaleup_gb_per_s")
        * GIGA
        * _column(devices, "scaleup_frac")
        / ranks,
        scaleup_latency_s=_column(devices, "scaleup_us") * MICRO,
        domain=_column(devices, "domain") * ranks,
        scaleout_bytes_per_s=_column(devices, "scaleout_gb_per_s")
        * GIGA
        * _column(devices, "scaleout_frac")
        / ranks,
        scaleout_latency_s=_column(devices, "scaleout_us") * MICRO,
        in_network=_column(devices, "in_network"),
        exchange=_column(devices, "exchange_frac"),
        host_bytes_per_s=_column(devices, "host_gb_per_s") * GIGA / ranks,
        node=_column(devices, "node") * ranks,
    )


def _linear_tflops(device: DeviceTerms, recipe: RecipeTerms) -> float:
    # 8-bit integers run in the tensor units of FP8; a family without FP8 takes its 16-bit share
    eight = device.fp8_gemm_frac
    frac = {
        "fp8": eight,
        "int8": eight or device.half_gemm_frac,
        "fp4": device.fp4_gemm_frac,
        "fp32": device.fp32_gemm_frac,
    }.get(recipe.gemm, device.half_gemm_frac)
    return peak_tflops(device, recipe.gemm) * frac


def _other_tflops(device: DeviceTerms, recipe: RecipeTerms) -> float:
    """Return the peak of attention and the output layer: 16 bit, unless all tensors are 32-bit."""
    if recipe.gemm in WIDE_GEMMS:
        return peak_tflops(device, recipe.gemm)
    return device.half_tflops


def stack_table(stacks: Sequence[StackTerms]) -> StackTable:
    """Return the values of stacks as arrays, with their graphs and overlap applied."""
    full = np.array([s.moe_graphs == "full" for s in stacks])
    partial = np.array([s.moe_graphs == "partial" for s in stacks])
    share = np.where(full, _column(stacks, "full_graph_frac"), 1.0)
    moe_share = np.where(partial, _column(stacks, "partial_graph_frac"), share)
    passes = np.where(full, _column(stacks, "full_passes_frac"), 1.0)
    scheduled = np.array([s.moe_overlap for s in stacks])
    moe_share = moe_share * np.where(scheduled, _column(stacks, "scheduled_host_factor"), 1.0)
    overlap = np.where(
        scheduled, _column(stacks, "scheduled_overlap_frac"), _column(stacks, "ep_overlap_frac")
    )
    return StackTable(
        launch_s=_column(stacks, "launch_us") * MICRO * share,
        moe_host_s=_column(stacks, "moe_host_ms") * MILLI * moe_share,
        elementwise=_column(stacks, "elementwise"),
        cast_factor=_column(stacks, "cast_factor"),
        weight_cast_bytes=_column(stacks, "weight_cast_bytes"),
        moe_elementwise=_column(stacks, "moe_passes_frac") * passes,
        moe_rate=_column(stacks, "moe_rate_frac"),
        moe_combined=_column(stacks, "moe_combined"),
        flash=np.array([float(s.attention != "unfused") for s in stacks]),
        tp_overlap=_column(stacks, "tp_overlap_frac"),
        dp_overlap=_column(stacks, "dp_overlap_frac"),
        pp_overlap=_column(stacks, "pp_overlap_frac"),
        ep_overlap=overlap,
        contention=_column(stacks, "contention_frac"),
        straggler=_column(stacks, "straggler_frac"),
        sequence_parallel=_column(stacks, "sequence_parallel"),
        context_frac=_column(stacks, "context_frac"),
        collective_s=_column(stacks, "collective_us") * MICRO,
        selective_frac=_column(stacks, "selective_gemm_frac"),
        selective_attention=_column(stacks, "selective_attention_frac"),
        half_logits=_column(stacks, "half_logits"),
        expands_kv=_column(stacks, "expands_kv"),
    )


def recipe_table(recipes: Sequence[RecipeTerms], stacks: Sequence[StackTerms]) -> RecipeTable:
    """Return the bytes of the tensor classes in the stacks.

    A stack that casts 32-bit weights for each use has no second copy of them at rest: the weight
    is its own master. Its blocks keep the casts, unless the backward pass repeats narrow ones, and
    its output layer has a cast and a gradient at 16 bit.
    """
    low = np.array([r.gemm in NARROW_GEMMS for r in recipes])
    wide = np.array([r.gemm in WIDE_GEMMS for r in recipes])
    casts = ~wide & np.array([s.casts_weights for s in stacks])
    again = low & (_column(stacks, "recomputes_casts") > 0)
    resting = np.where(low, _column(stacks, "low_weight_bytes"), _column(recipes, "weight_bytes"))
    thin = low & np.array([s.low_gather for s in stacks])
    gather = np.where(
        thin,
        _column(recipes, "gather_bytes"),
        np.maximum(_column(recipes, "gather_bytes"), HALF_BYTES),
    )
    return RecipeTable(
        operand_bytes=_column(recipes, "operand_bytes"),
        cast_bytes=_column(recipes, "cast_bytes"),
        gather_bytes=gather,
        weight_bytes=np.where(casts, FLOAT_BYTES, resting),
        grad_bytes=_column(stacks, "grad_bytes"),
        optimizer_bytes=_column(recipes, "optimizer_bytes") - casts * FLOAT_BYTES,
        stored_bytes=np.where(again, 0.0, _column(recipes, "stored_bytes")),
        activation_bytes=_column(recipes, "activation_bytes"),
        kept_cast_bytes=np.where(casts & ~again, HALF_BYTES, 0.0),
        head_bytes=np.where(casts, 2.0 * HALF_BYTES, 0.0),
    )


def lean(table: RecipeTable, stacks: Sequence[StackTerms]) -> RecipeTable:
    """Return the recipe with the leanest gradients and optimizer that the stack supports."""
    values = {f.name: getattr(table, f.name) for f in fields(RecipeTable)}
    values["grad_bytes"] = np.minimum(table.grad_bytes, _column(stacks, "lean_grad_bytes"))
    values["optimizer_bytes"] = np.minimum(
        table.optimizer_bytes, _column(stacks, "lean_optimizer_bytes")
    )
    return RecipeTable(**values)
