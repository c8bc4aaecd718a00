"""Step time of a model on n accelerators: every layout at once, the fastest that fits memory.

First form: model FLOPs at the fraction of peak that measured runs of the accelerator reach, plus what
scale adds: pipeline bubble, exposed data-parallel traffic, batch starvation, stragglers. The per-operation
model of DESIGN section 4 replaces the inside of :func:`estimate`; the interface stays.
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

STRAGGLER_SIGMA = 0.014
"""Node-to-node spread of step time; 1 + sigma sqrt(2 ln nodes) is the expected slowest of n normals
(H. A. David, "Order Statistics", 1981, section 4.2)."""
FULL_RECOMPUTE_FACTOR = 4.0 / 3.0
MAX_INTERLEAVE = 6
ACCELERATORS_PER_NODE = 8


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
class Estimate:
    """Best layout of one accelerator count."""

    accelerators: int
    used: int
    step_time_s: float
    step_time_low_s: float
    step_time_high_s: float
    tokens_per_s: float
    mfu_frac: float
    memory_gb: float
    layout: dict[str, int | str]
    layouts_tried: int
    layouts_feasible: int
    breakdown_s: dict[str, float]


def _powers(limit: int) -> list[int]:
    return [2**i for i in range(int(math.log2(max(limit, 1))) + 1)]


def _grid(shape: Architecture, hardware: Hardware) -> dict[str, Array]:
    if hardware.streams_weights:
        axes = [[1], [1], [1], [1], [0]]
    else:
        tp = [t for t in _powers(min(hardware.scaleup_domain, 16)) if shape.heads % t == 0]
        pp = [p for p in (*_powers(shape.layers), 3, 6, 12, 24) if p <= shape.layers]
        ep = [e for e in _powers(min(shape.experts, 256)) if shape.experts % e == 0] if shape.experts else [1]
        axes = [tp, sorted(set(pp)), [1, 2, 4, 8], ep, [0, 1]]
    mesh = np.meshgrid(*[np.array(a, dtype=np.float64) for a in axes], indexing="ij")
    return dict(zip(("tp", "pp", "cp", "ep", "full"), (m.ravel() for m in mesh), strict=True))


def estimate(
    shape: Architecture, seq_len: int, global_batch_tokens: float, hardware: Hardware, accelerators: int
) -> Estimate | None:
    """Fastest layout that fits memory on ``accelerators``, or None when none fits.

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
    accelerators : int
        How many, at least 1; those that fill no replica stay idle and are reported in ``used``.
    """
    grid = _grid(shape, hardware)
    replica = grid["tp"] * grid["pp"] * grid["cp"]
    sequences = max(global_batch_tokens / seq_len, 1.0)
    dp = np.minimum(np.floor(accelerators / replica), math.floor(sequences))
    ok = (dp >= 1) & (grid["ep"] <= np.maximum(dp * grid["cp"] * grid["tp"], 1))
    dp = np.maximum(dp, 1.0)
    bytes_per_token = np.where(grid["full"] > 0, ACTIVATION_BYTES["full"], ACTIVATION_BYTES["selective"])
    memory = memory_gb(
        shape, seq_len, tp=grid["tp"], pp=grid["pp"], cp=grid["cp"], ep=grid["ep"], dp=dp, activation_bytes=bytes_per_token
    )
    if not hardware.streams_weights:
        ok &= memory <= hardware.hbm_gb * USABLE_FRAC
    if not ok.any():
        return None
    parts = _time_parts(shape, seq_len, sequences, hardware, grid, dp)
    total = np.where(ok, sum(parts.values()), np.inf)
    # of equally fast layouts the one with the fewest pipeline stages and the least tensor parallel is simplest
    best = int(np.lexsort((grid["cp"], grid["tp"], grid["pp"], np.round(total, 9)))[0])
    return _result(shape, seq_len, sequences, hardware, accelerators, grid, dp, memory, parts, total, ok, best)


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


def _result(  # noqa: PLR0913  # assembles what the steps above computed
    shape: Architecture,
    seq_len: int,
    sequences: float,
    hardware: Hardware,
    accelerators: int,
    grid: dict[str, Array],
    dp: Array,
    memory: Array,
    parts: dict[str, Array],
    total: Array,
    ok: npt.NDArray[np.bool_],
    best: int,
) -> Estimate:
    step = float(total[best])
    tokens = sequences * seq_len
    layout: dict[str, int | str] = {name: int(grid[name][best]) for name in ("tp", "pp", "cp", "ep")}
    layout["dp"] = int(dp[best])
    layout["recompute"] = "full" if grid["full"][best] else "selective"
    used = int(grid["tp"][best] * grid["pp"][best] * grid["cp"][best] * dp[best])
    flops = model_flops_per_token(shape, seq_len) * tokens
    return Estimate(
        accelerators=accelerators,
        used=used,
        step_time_s=step,
        step_time_low_s=step * hardware.achieved_frac / hardware.achieved_high_frac,
        step_time_high_s=step * hardware.achieved_frac / hardware.achieved_low_frac,
        tokens_per_s=tokens / step,
        mfu_frac=flops / step / (accelerators * hardware.peak_tflops * 1e12),
        memory_gb=float(memory[best]),
        layout=layout,
        layouts_tried=len(total),
        layouts_feasible=int(ok.sum()),
        breakdown_s={name: float(part[best]) for name, part in parts.items()},
    )
