"""What the parts of a step, the kinds of loss and the causes of uncertainty are, in words."""

from __future__ import annotations

from collections.abc import Mapping

STEP_PARTS = {
    "gemm": "matrix multiplications of the layers",
    "grouped_gemm": "matrix multiplications of the experts",
    "attention": "attention kernels",
    "elementwise": "elementwise operations: norms, activations, residuals",
    "head": "output layer (vocabulary projection) and loss",
    "host": "waits for kernel launches by the host",
    "tensor_parallel": "exposed tensor-parallel communication",
    "context_parallel": "exposed context-parallel communication",
    "expert_parallel": "exposed expert-parallel communication",
    "offload": "exposed transfers to host memory",
    "tower": "vision tower",
    "adapters": "low-rank adapters: passes over memory and kernels",
    "dequantize": "unpacking of quantized weights",
    "reference": "forward pass of the frozen reference",
    "teacher": "forward pass of the teacher, or wait for its pool",
    "pipeline_send": "exposed sends between pipeline stages",
    "imbalance": "wait for the slowest pipeline stage",
    "bubble": "pipeline bubble: idle time of fill and drain",
    "data_parallel": "exposed data-parallel communication of gradients and parameters",
    "optimizer": "optimizer update",
    "straggler": "wait for the slowest node",
    "wide_area": "exchange between halls and sites",
    "ingest": "wait for training data from storage",
}
"""Part of an optimizer step -> what it is."""

PRODUCTION = "production"
"""Loss and cause of uncertainty: steps in production are slower than predicted."""

LOSSES = {
    "saves": "blocking checkpoints",
    "lost_work": "lost work since the last checkpoint",
    "restarts": "detection, restart and loading",
    "slow": "slow components and silent corruption",
    "waiting": "waits for a spare node, power or cooling",
    "stalls": "waits of all replicas while one drops out or rejoins",
    "absent": "replicas that are out while the others train",
    "rollbacks": "steps thrown away by rollbacks",
    "manual_restarts": "restarts by hand",
    "idle": "time without the run",
    PRODUCTION: "steps in production slower than predicted (not part of goodput)",
}
"""Kind of loss -> what it is."""

CAUSES = {
    "step_time": "predicted step time",
    PRODUCTION: "slowdown of steps in production",
    "failure_rates": "failure rates and restart times",
    "failures": "random failures at known rates",
}
"""Cause of the variance of the finish date -> what it is."""


def in_words(names: Mapping[str, str], name: str) -> str:
    """Return what a name means; the name itself as words where it is not listed.

    Examples
    --------
    >>> in_words(LOSSES, "saves"), in_words(LOSSES, "cold_start")
    ('blocking checkpoints', 'cold start')
    """
    return names.get(name, name.replace("_", " "))
