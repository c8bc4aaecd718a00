"""Step time of a model on n accelerators: every layout of every count at once, the fastest that fits memory.

First form: model FLOPs at the fraction of peak that measured runs of the accelerator reach, plus what
scale adds: pipeline bubble, exposed data-parallel traffic, batch starvation, stragglers. The per-operation
model of DESIGN section 4 replaces the inside of :func:`sweep`; the interface stays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.fabric.collectives import ring_half_s
from dcplan.training.architecture import Architecture, model_flops_per_token
from dcplan.training.memory import ACTIVATION_BYTES, GRADIENT_BYTES, USABLE_FRAC, WEIGHT_BYTES, memory_gb

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

STRAGGLER_SIGMA = 0.014
"""Node-to-node spread of step time; 1 + sigma sqrt(2 ln nodes) is the expected slowest of n normals
(H. A. David, "Order Statistics", 1981, section 4.2)."""
FULL_RECOMPUTE_FACTOR = 4.0 / 3.0
MAX_INTERLEAVE = 6
ACCELERATORS_PER_NODE = 8
AXES = ("tp", "pp", "cp", "ep", "full")


@dataclass(frozen=True)
class Hardware:
    """What the estimate needs to know of one accelerator in its system and fabric."""

    peak_tflops: float
    achieved_frac: float
    achieved_low_frac: float
    achieved_high_frac: float
    hbm_gb: float
    scaleup_domain: int
    scaleout_gb_per_s: float
    streams_weights: bool = False
    """Weights live outside the accelerator (Cerebras): data parallel only, no memory limit on the model."""


@dataclass(frozen=True)
class Sweep:
    """Best layout for each accelerator count; ``step_time_s`` is infinite where none fits memory."""

    accelerators: Array
    used: Array
    step_time_s: Array
    memory_gb: Array
    tokens_per_step: float
    flops_per_step: float
    layouts: dict[str, Array]
    parts_s: dict[str, Array]
    tried: int
    feasible: Array


def _powers(limit: float) -> list[int]:
    return [2**i for i in range(int(math.log2(max(limit, 1))) + 1)]


def _grid(shape: Architecture, hardware: Hardware) -> dict[str, Array]:
    if hardware.streams_weights:
        axes: list[list[int]] = [[1], [1], [1], [1], [0]]
    else:
        tp = [t for t in _powers(min(hardware.scaleup_domain, 16)) if shape.heads % t == 0]
        ep = [e for e in (1, 8, 32, 64, 128) if shape.experts % e == 0] if shape.experts else [1]
        axes = [tp, _powers(min(shape.layers, 64)), [1, 2, 4, 8], ep, [0, 1]]
    mesh = np.meshgrid(*[np.array(a, dtype=np.float64) for a in axes], indexing="ij")
    return dict(zip(AXES, (m.ravel()[None, :] for m in mesh), strict=True))


def sweep(
    shape: Architecture, seq_len: int, global_batch_tokens: float, hardware: Hardware, accelerators: Array
) -> Sweep:
    """Fastest layout that fits memory, for each accelerator count.

    Parameters
    ----------
    shape : Architecture
        The model.
    seq_len : int
        Tokens of a sequence. [-]
    global_batch_tokens : float
        Tokens of one optimizer step, at least ``seq_len``. [-]
    hardware : Hardware
        Peaks, measured fraction and bandwidths of one accelerator.
    accelerators : array, shape (n,)
        Counts, at least 1; those that fill no replica stay idle and are missing from ``used``.
    """
    counts = np.asarray(accelerators, dtype=np.float64)[:, None]
    grid = _grid(shape, hardware)
    replica = grid["tp"] * grid["pp"] * grid["cp"]
    sequences = max(global_batch_tokens / seq_len, 1.0)
    dp = np.minimum(np.floor(counts / replica), math.floor(sequences))
    ok = (dp >= 1) & (grid["ep"] <= np.maximum(dp * grid["cp"], 1))
    dp = np.maximum(dp, 1.0)
    memory = _memory(shape, seq_len, grid, dp)
    if not hardware.streams_weights:
        ok &= memory <= hardware.hbm_gb * USABLE_FRAC
    # context parallel is free in this first form, so it is used only as far as memory asks for it
    for full in (0.0, 1.0):
        mode = np.broadcast_to(grid["full"] == full, ok.shape)
        least = np.min(np.where(ok & mode, np.broadcast_to(grid["cp"], ok.shape), np.inf), axis=1, keepdims=True)
        ok &= ~mode | (grid["cp"] <= least)
    parts = _time_parts(shape, seq_len, sequences, hardware, grid, dp)
    total = np.where(ok, sum(parts.values()), np.inf)
    # a hair per pipeline stage and tensor rank makes equally fast layouts resolve to the simplest one
    simplest = 1e-9 * (grid["pp"] + grid["tp"] / 64)
    best = np.argmin(total * (1 + simplest), axis=1)
    row = np.arange(len(best))
    at = {name: np.broadcast_to(axis, total.shape)[row, best] for name, axis in grid.items()}
    at["dp"] = dp[row, best]
    tokens = sequences * seq_len
    return Sweep(
        accelerators=counts[:, 0],
        used=at["tp"] * at["pp"] * at["cp"] * at["dp"],
        step_time_s=total[row, best],
        memory_gb=memory[row, best],
        tokens_per_step=tokens,
        flops_per_step=model_flops_per_token(shape, seq_len) * tokens,
        layouts=at,
        parts_s={name: np.broadcast_to(part, total.shape)[row, best] for name, part in parts.items()},
        tried=total.shape[1],
        feasible=ok.sum(axis=1).astype(np.float64),
    )


def _memory(shape: Architecture, seq_len: int, grid: dict[str, Array], dp: Array) -> Array:
    stored = np.where(grid["full"] > 0, ACTIVATION_BYTES["full"], ACTIVATION_BYTES["selective"])
    return memory_gb(
        shape,
        seq_len,
        tp=grid["tp"],
        pp=grid["pp"],
        cp=grid["cp"],
        ep=grid["ep"],
        dp=dp,
        activation_bytes=stored,
    )


def _time_parts(
    shape: Architecture, seq_len: int, sequences: float, hardware: Hardware, grid: dict[str, Array], dp: Array
) -> dict[str, Array]:
    replica = grid["tp"] * grid["pp"] * grid["cp"]
    micro = np.ceil(sequences / dp)
    flops = model_flops_per_token(shape, seq_len) * seq_len
    rate = hardware.peak_tflops * 1e12 * hardware.achieved_frac
    micro_s = flops / (replica * rate) * np.where(grid["full"] > 0, FULL_RECOMPUTE_FACTOR, 1.0)
    interleave = np.where(micro >= grid["pp"], np.clip(np.floor(shape.layers / grid["pp"]), 1, MAX_INTERLEAVE), 1.0)
    compute = micro_s * micro
    bubble = (grid["pp"] - 1) / interleave * micro_s
    local = (shape.params - shape.routed_params) / (grid["tp"] * grid["pp"])
    local = local + shape.routed_params / (grid["tp"] * grid["pp"] * grid["ep"])
    message = local * (GRADIENT_BYTES + WEIGHT_BYTES) / 1e9
    traffic = ring_half_s(message, dp * grid["cp"], hardware.scaleout_gb_per_s)
    exposed = np.maximum(traffic - 0.9 * micro_s, 0.0)
    nodes = np.maximum(replica * dp / ACCELERATORS_PER_NODE, 1.0)
    straggler = STRAGGLER_SIGMA * np.sqrt(2.0 * np.log(nodes)) * compute
    return {"compute": compute, "bubble": bubble, "exposed_dp": exposed, "straggler": straggler}


def layout_of(result: Sweep, i: int) -> dict[str, int | str]:
    """Layout of the i-th count in the field's names."""
    layout: dict[str, int | str] = {name: int(result.layouts[name][i]) for name in ("tp", "pp", "cp", "ep", "dp")}
    layout["recompute"] = "full" if result.layouts["full"][i] else "selective"
    return layout
