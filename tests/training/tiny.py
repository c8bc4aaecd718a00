"""A small accelerator, stack and model with round numbers, whose times are worked out by hand in
the tests.

The accelerator has no tiles to fill (one unit, no prologue), endless memory bandwidth and free
attention, and the stack hides nothing: what is left is FLOPs over 50 TFLOP/s and bytes over links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from dcplan.llm.architecture import Architecture
from dcplan.llm.coefficients import AttentionRamp, Coefficients, Operators, Tiling
from dcplan.llm.config import from_config
from dcplan.llm.device_terms import (
    DeviceTerms,
    RecipeTerms,
    StackTerms,
    device_table,
    recipe_table,
    stack_table,
)
from dcplan.llm.operations import Setup
from dcplan.llm.tables import LayoutTable, model_table

DEVICE = DeviceTerms(
    half_tflops=100.0,
    fp8_tflops=200.0,
    fp4_tflops=0.0,
    tf32_tflops=50.0,
    half_gemm_frac=0.5,
    fp8_gemm_frac=0.5,
    fp4_gemm_frac=0.0,
    attention_frac=1e12,
    portable_attention_frac=1e12,
    hbm_tb_per_s=1e9,
    hbm_gb=80.0,
    hbm_frac=1.0,
    multiprocessors=1.0,
    prologue_depth=0.0,
    grouped_rows=0.0,
    kernel_us=0.0,
    scaleup_gb_per_s=400.0,
    scaleup_frac=1.0,
    scaleup_us=0.0,
    domain=8.0,
    scaleout_gb_per_s=50.0,
    scaleout_frac=1.0,
    scaleout_us=0.0,
    host_gb_per_s=400.0,
    node=8.0,
    ranks=1.0,
)
COEFFICIENTS = Coefficients(
    tiling=Tiling(side=128.0, wave_power=0.5),
    ramp=AttentionRamp(forward_work=300.0, backward_work=100.0, backward_frac=0.8),
    operators=Operators(attention=21.0, latent=15.0, mlp=15.0, mamba=21.0, ends=0.0),
    score_bytes=13.0,
    unfused_frac=0.6,
    scan_frac=0.043,
    backward_passes=1.6,
    cover_frac=0.9,
    backward_over_forward=2.0,
    reserve_bytes=0.7e9,
    layout_tolerance_frac=0.1,
    search_memory_frac=0.95,
    measured_memory_factor=1.05,
    offload_bytes_per_s=200e9,
)
"""The catalog's values, fixed here: what is worked out by hand rests on them."""
NO_HABITS: dict[str, Any] = {f.name: 0.0 for f in fields(StackTerms)}
STACK = StackTerms(
    **NO_HABITS
    | {
        "partial_graph_frac": 1.0,
        "full_graph_frac": 1.0,
        "full_passes_frac": 1.0,
        "scheduled_host_factor": 1.0,
        "dispatcher": "one copy a domain",
        "moe_passes_frac": 1.0,
        "moe_rate_frac": 1.0,
        "moe_combined": True,
        "moe_graphs": "none",
        "attention": "native",
        "sequence_parallel": True,
        "zero": 1,
        "recompute": ("none", "selective", "full"),
        "context_frac": 1.0,
        "cast_factor": 1.0,
        "grad_bytes": 4.0,
        "low_weight_bytes": 2.0,
        "low_gather": True,
        "lean_grad_bytes": 2.0,
        "lean_optimizer_bytes": 10.0,
        "offloads": True,
    }
)
BF16 = RecipeTerms("half", 2.0, 0.0, 2.0, 2.0, 12.0, 2.0)
FP8 = RecipeTerms("fp8", 1.0, 4.0, 1.0, 3.0, 12.0, 1.0)

REAL = replace(
    DEVICE,
    half_gemm_frac=0.8,
    attention_frac=0.6,
    hbm_tb_per_s=3.0,
    multiprocessors=132.0,
    prologue_depth=140.0,
    grouped_rows=150.0,
    scaleup_us=3.0,
    scaleout_us=12.0,
    domain=4.0,
)
"""``DEVICE`` with the losses of real kernels and links, in domains of 4."""
LAZY = replace(
    STACK,
    launch_us=0.1e3 / 36.0,
    elementwise=1.5,
    tp_overlap_frac=0.3,
    dp_overlap_frac=0.6,
    straggler_frac=0.01,
)
"""``STACK`` with launches, stragglers and little overlap."""
DENSE = from_config(
    {
        "hidden_size": 1024,
        "num_hidden_layers": 8,
        "intermediate_size": 4096,
        "num_attention_heads": 8,
        "vocab_size": 1024,
        "gated_mlp": False,
    }
)
"""A layer: 4 h^2 of attention and 8 h^2 of MLP, 12 x 1,024^2 = 12,582,912 in matrices, and 2 norms
of 1,024."""
MOE = from_config(
    {
        "hidden_size": 1024,
        "num_hidden_layers": 8,
        "intermediate_size": 4096,
        "moe_intermediate_size": 512,
        "num_attention_heads": 8,
        "vocab_size": 1024,
        "num_experts": 16,
        "num_experts_per_tok": 2,
        "n_shared_experts": 1,
        "first_k_dense_replace": 2,
    }
)
"""Two dense layers, then six of 16 experts of 3 x 1,024 x 512 = 1,572,864 weights, 2 a token, and
a shared one."""
LINEAR_FLOPS_PER_S = 50e12
LAYER = 12 * 1024**2
"""Weights in the matrices of one layer of ``DENSE``."""


def layout(**given: Any) -> LayoutTable:
    """Layout columns; 1 rank, one micro-batch of one sequence of 1,024 tokens where left out."""
    usual: dict[str, Any] = dict.fromkeys(
        ("tp", "pp", "vpp", "dp", "cp", "ep", "etp", "micro_batch"), 1.0
    )
    usual |= {"micro_batches": 1.0, "seq_len": 1024.0, "zero": 1.0, "trainable": 1.0}
    usual |= {"recompute": 0.0, "schedule": 0.0, "offload": 0.0}
    columns = {
        k: np.atleast_1d(np.asarray(v, dtype=np.float64)) for k, v in (usual | given).items()
    }
    columns.setdefault("shard", columns["dp"] * columns["cp"])
    size = max(v.size for v in columns.values())
    return LayoutTable(**{k: np.broadcast_to(v, size).copy() for k, v in columns.items()})


def setup(
    shape: Architecture | Sequence[Architecture] = DENSE,
    device: DeviceTerms | Sequence[DeviceTerms] = DEVICE,
    stack: StackTerms | Sequence[StackTerms] = STACK,
    recipe: RecipeTerms | Sequence[RecipeTerms] = BF16,
    **given: Any,
) -> Setup:
    """One model, accelerator, stack and recipe, or a row each, against layouts."""
    shapes = [shape] if isinstance(shape, Architecture) else list(shape)
    devices = [device] if isinstance(device, DeviceTerms) else list(device)
    stacks = [stack] if isinstance(stack, StackTerms) else list(stack)
    recipes = [recipe] if isinstance(recipe, RecipeTerms) else list(recipe)
    size = max(len(devices), len(stacks), len(recipes))

    def stretched(rows: list[Any]) -> list[Any]:
        return rows * size if len(rows) == 1 else rows

    devices, stacks, recipes = stretched(devices), stretched(stacks), stretched(recipes)
    return Setup(
        model_table(shapes),
        device_table(devices, stacks, recipes),
        recipe_table(recipes, stacks),
        stack_table(stacks),
        layout(**given),
        COEFFICIENTS,
    )
