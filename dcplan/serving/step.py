"""Time of an engine step: one token of a batch, or one prompt."""

from __future__ import annotations

import numpy as np

from dcplan.serving.attention import decode_attention_s, prompt_attention_s
from dcplan.serving.forward import Served, forward_parts
from dcplan.serving.memory import largest_stage_frac
from dcplan.serving.tables import Array
from dcplan.units import HALF_BYTES, MICRO


def decode_s(served: Served, batch: Array, context: Array, tokens: Array | float = 1.0) -> Array:
    r"""Return the time of one decode step of a replica with ``batch`` running requests.

    .. math:: t = t_{forward}(n\,B/p) \cdot p + t_{attention} + t_{step} + B\,t_{request}

    With p pipeline stages the batch is divided into p micro-batches, so a token passes p stages
    of a p-th of the layers each. Where p does not divide the L layers, the micro-batches wait for
    the largest stage: forward pass and attention take
    :math:`\max(1, \min(B, p)\,\lceil L/p \rceil / L)` times as long.

    Parameters
    ----------
    served : Served
        The configuration.
    batch : array
        Running requests of the replica, at least 0. [-]
    context : array
        Mean tokens of a request so far. [-]
    tokens : array, default 1
        Tokens n of one request that a step verifies (speculative decoding). [-]

    References
    ----------
    .. [1] R. Pope et al., "Efficiently Scaling Transformer Inference", MLSys 2023, section 2.
    """
    x, c = served.layout, served.terms
    # with fewer requests than stages, stages wait for each other
    micro = np.maximum(batch / x.pp, np.minimum(batch, 1.0))
    rank = micro / x.dp
    parts = forward_parts(served, rank * tokens, micro * tokens)
    reads = decode_attention_s(served.model, served.device, x, c, rank, context)
    # every stage has a p-th of the layers and works on one of p micro-batches at a time
    message = micro * tokens * served.model.hidden * HALF_BYTES / served.device.nic_bytes_per_s
    sends = np.where(x.pp > 1, x.pp * (c.hop_us * MICRO + message), 0.0)
    wait = np.minimum(batch, x.pp) * largest_stage_frac(served.model, x)
    uneven = np.where(x.pp > 1, np.maximum(wait, 1.0), 1.0)
    return (parts.total + reads) * uneven + sends + (c.step_us + batch * c.request_us) * MICRO


def prompt_s(served: Served, prompts: Array, tokens: Array, cached: Array | float = 0.0) -> Array:
    r"""Return the time of the prompts of one attention rank group, processed together.

    .. math:: t = f\,(t_{forward}(n (s - h)) + t_{attention}) + n\,t_{encoder} + t_{step}

    The other groups of a replica with attention copies process as many. The vision encoder works on
    the images of each prompt.

    Parameters
    ----------
    served : Served
        The configuration.
    prompts : array
        Prompts n of one group, at least 0. [-]
    tokens : array
        Tokens s of a prompt. [-]
    cached : array, default 0
        Tokens h of the prompt that a prefix cache holds, below s. [-]
    """
    x, c = served.layout, served.terms
    cached = np.minimum(np.asarray(cached, dtype=np.float64), tokens - 1.0)
    new = prompts * (tokens - cached)
    parts = forward_parts(served, new, new * x.dp, prompts)
    pairs = prompt_attention_s(served.model, served.device, x, c, prompts, tokens, cached)
    images = prompts * served.encode_s
    return c.prefill_factor * (parts.total + pairs) + images + c.step_us * MICRO
