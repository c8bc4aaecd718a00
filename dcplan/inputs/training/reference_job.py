"""Speed of an accelerator on the reference job, which measures compute."""

from __future__ import annotations

import numpy as np

from dcplan.inputs.log import InputLog
from dcplan.inputs.training.layout_cache import searched
from dcplan.inputs.training.speed import hardware
from dcplan.llm.architecture import Architecture
from dcplan.scenario.schema import Reference
from dcplan.units import FLOPS_PER_TFLOP


def reference_tflops(
    job: Reference, shape: Architecture, accelerator: str, unit: int, gb_per_s: float, log: InputLog
) -> float | str:
    """Return the model TFLOP/s of one accelerator on a reference job, or the reason for none.

    ``unit`` accelerators share a scale-up domain; ``gb_per_s`` is the scale-out rate of each.
    """
    spec = hardware(accelerator, job.precision, gb_per_s, log, moe=shape.moe_layers > 0)
    if isinstance(spec, str):
        return spec
    accelerators = int(log.parameter("training", "reference-accelerators"))
    count = max(accelerators // unit, 1) * unit
    batch = job.seq_len * log.parameter("training", "reference-sequences") * count
    result = searched(shape, job.seq_len, batch, spec, (float(count),))
    if not np.isfinite(result.step_time_s[0]):
        return f"{job.model} does not fit the memory of {count} {accelerator}"
    return float(result.flops_per_step / result.step_time_s[0] / count / FLOPS_PER_TFLOP)
