"""Memory of one accelerator: weights, gradients, optimizer, activations. Closed form, on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dcplan.training.architecture import Architecture

Array = npt.NDArray[np.float64]

WEIGHT_BYTES = 2.0
GRADIENT_BYTES = 4.0
OPTIMIZER_BYTES = 12.0
"""FP32 master weight and two Adam moments, sharded over data parallel ranks (ZeRO-1, arXiv 1910.02054 section 5.1)."""
ACTIVATION_BYTES = {"selective": 34.0, "full": 2.0}
"""Bytes per token, hidden unit and layer: Korthikanti et al. 2022 (arXiv 2205.05198), sections 4 and 5."""
USABLE_FRAC = 0.92
"""Share of HBM a framework can allocate; the rest is context, fragmentation and communication buffers."""


def memory_gb(
    shape: Architecture,
    seq_len: int,
    *,
    tp: Array,
    pp: Array,
    cp: Array,
    ep: Array,
    dp: Array,
    activation_bytes: Array,
) -> Array:
    r"""Peak memory of the first pipeline stage with 1F1B and micro-batch 1. [GB, decimal]

    .. math::
       M = P_{loc}\,(2 + 4 + 12/(dp\,cp)) + \frac{s\,h\,L\,a}{tp\,cp}

    The first stage of 1F1B holds ``pp`` micro-batches of ``L/pp`` layers each, so L layers in all.

    Parameters
    ----------
    shape : Architecture
        The model.
    seq_len : int
        Tokens of a sequence. [-]
    tp, pp, cp, ep, dp : array
        Tensor, pipeline, context, expert and data parallel sizes, at least 1. [-]
    activation_bytes : array
        34 for selective and 2 for full recompute. [byte per token, hidden unit and layer]
    """
    shared = (shape.params - shape.routed_params) / (tp * pp)
    routed = shape.routed_params / (tp * pp * ep)
    replicas = dp * cp
    states = shared * (WEIGHT_BYTES + GRADIENT_BYTES + OPTIMIZER_BYTES / replicas)
    expert_replicas = np.maximum(replicas / ep, 1.0)
    states = states + routed * (WEIGHT_BYTES + GRADIENT_BYTES + OPTIMIZER_BYTES / expert_replicas)
    activations = seq_len * shape.hidden * shape.layers * activation_bytes / (tp * cp)
    logits: Any = seq_len * shape.vocab * 4.0 / (tp * cp)
    return np.asarray((states + activations + logits) / 1e9, dtype=np.float64)
