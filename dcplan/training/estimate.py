"""Best layout and step time by accelerator count: the result of a search, and of weight streaming."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dcplan.llm.architecture import Architecture, model_flops_per_token
from dcplan.llm.coefficients import Coefficients
from dcplan.llm.device_terms import DeviceTerms, RecipeTerms, StackTerms, peak_tflops
from dcplan.llm.tables import RECOMPUTE, Array
from dcplan.training.grid import KEYS, Case
from dcplan.training.search import Found, schedule_name
from dcplan.units import TERA


@dataclass(frozen=True)
class Hardware:
    """An accelerator in its system and fabric, with training software and precision."""

    device: DeviceTerms
    stack: StackTerms
    recipe: RecipeTerms
    coefficients: Coefficients
    spread_frac: float
    """Half width of the 80 % interval of the step time."""
    streams_weights: bool = False
    """Whether weights are outside the accelerator (Cerebras): data parallelism only, and no memory
    limit on the model."""

    @property
    def peak_tflops(self) -> float:
        """Return the dense peak at the recipe's precision."""
        return peak_tflops(self.device, self.recipe.gemm)


@dataclass(frozen=True)
class Sweep:
    """Best layout per accelerator count; ``step_time_s`` is infinite if none fits in memory."""

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
    searched: Array | None = None
    """1 where all layouts were searched; other counts have the best of the layouts found. None: not
    known."""


def case_of(
    shape: Architecture,
    seq_len: int,
    global_batch_tokens: float,
    hardware: Hardware,
    images: float = 0.0,
) -> Case:
    """Return the case of a search; a batch has at least one sequence."""
    sequences = max(global_batch_tokens / seq_len, 1.0)
    return Case(
        shape,
        hardware.device,
        hardware.stack,
        hardware.recipe,
        hardware.coefficients,
        seq_len,
        sequences,
        images=images,
    )


def streamed(
    shape: Architecture,
    seq_len: int,
    global_batch_tokens: float,
    hardware: Hardware,
    counts: Array,
    images: float,
) -> Sweep:
    """Return the sweep of weight streaming, with complete sequences on each wafer.

    Weights are broadcast layer by layer, and gradients are reduced.

    Compute at the family's fraction of peak; the weight stream is hidden behind it at the used
    batches.
    """
    sequences = max(global_batch_tokens / seq_len, 1.0)
    used = np.minimum(counts, math.floor(sequences))
    each = np.ceil(sequences / used)
    flops = model_flops_per_token(shape, seq_len, images)
    rate = hardware.peak_tflops * TERA * hardware.device.half_gemm_frac
    compute = each * seq_len * flops / rate
    one = np.ones_like(counts)
    tokens = sequences * seq_len
    layouts = {
        k: (one * 0.0 if k in {"recompute", "zero", "schedule", "offload"} else one) for k in KEYS
    } | {"dp": used}
    return Sweep(
        accelerators=counts,
        used=used,
        step_time_s=compute,
        memory_gb=one * 0.0,
        tokens_per_step=tokens,
        flops_per_step=flops * tokens,
        layouts=layouts,
        parts_s={"gemm": compute},
        tried=1,
        feasible=one,
    )


def layout_of(result: Sweep | Found, i: int) -> dict[str, int | str]:
    """Return the layout of the i-th row with the usual names."""
    names = ("tp", "pp", "vpp", "dp", "cp", "ep", "etp")
    layout: dict[str, int | str] = {name: int(result.layouts[name][i]) for name in names}
    layout["mbs"] = int(result.layouts["micro_batch"][i])
    layout["recompute"] = RECOMPUTE[int(result.layouts["recompute"][i])]
    layout["zero"] = int(result.layouts["zero"][i])
    if result.layouts["schedule"][i]:
        layout["schedule"] = schedule_name(result.layouts["schedule"][i])
    if result.layouts["offload"][i]:
        layout["offload"] = "all"
    return layout
