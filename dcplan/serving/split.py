"""Disaggregated services: a pool for prompts and a pool for output tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.serving.attention import sequence_bytes
from dcplan.serving.forward import Served
from dcplan.serving.memory import MemoryTerms
from dcplan.serving.search import Request, batches, requests_held, tall_layout
from dcplan.serving.step import decode_s, prompt_s
from dcplan.serving.tables import Array
from dcplan.units import MILLI


def _pool_prompts_s(tall: Served, memory: MemoryTerms, request: Request) -> tuple[Array, Array]:
    """Return the time of one prompt in a pool of its own, and of each prompt of a full step."""
    one, c = np.ones_like(tall.layout.tp), tall.terms
    tokens, cached = np.array(request.input_tokens), request.cached_tokens
    prompt = prompt_s(tall, one, tokens, cached)[:, 0]
    fresh = max(request.input_tokens - cached, 1.0)
    together = np.maximum(memory.activation_tokens / fresh, 1.0)
    crowd = prompt_s(tall, together * one, tokens, cached)[:, 0]
    return prompt * c.pool_prefill_factor, crowd / together * c.pool_prefill_factor


@dataclass(frozen=True)
class Split:
    """A disaggregated service: two layouts, and their accelerators per request rate."""

    prefill: int
    """Index of the prefill layout."""
    decode: int
    concurrency: float
    """Requests that decode at the same time in one decode replica."""
    prefill_accelerators_per_rps: float
    decode_accelerators_per_rps: float
    ttft_s: float
    tpot_s: float

    @property
    def accelerators_per_rps(self) -> float:
        """Return the accelerators of both pools for one request per second."""
        return self.prefill_accelerators_per_rps + self.decode_accelerators_per_rps


def split(
    served: Served,
    memory: MemoryTerms,
    request: Request,
    most_running: float,
    ttft_s: float,
    tpot_s: float,
    busy_frac: float,
) -> Split | None:
    r"""Return the disaggregated service with the fewest accelerators within both limits, or None.

    The pools are sized apart, because a request passes the prefill pool first:

    .. math:: a = \min_p \frac{g_p\,t_{pre}}{d_p\,\rho} + \min_d \frac{g_d\,o\,TPOT}{N_d}

    with g accelerators of a replica, :math:`t_{pre}` seconds of a prompt, d copies of attention,
    :math:`\rho` the utilization, o output tokens and N running requests.

    Parameters
    ----------
    busy_frac : float
        Utilization of the prefill pool, above 0 and below 1. Its queue adds
        :math:`\rho/(2(1-\rho))` prompts to the time to first token. [-]

    References
    ----------
    .. [1] Y. Zhong et al., "DistServe", OSDI 2024, section 4.
    """
    tall = replace(served, layout=tall_layout(served.layout))
    c, x = served.terms, tall.layout
    context = np.array(request.context)
    fits = requests_held(tall, memory, request)
    limit = np.minimum(fits, most_running * x.dp)
    grid = batches(float(np.max(limit)))
    decode = decode_s(tall, grid[None, :] + 0.0 * limit, context)
    size = x.ranks * x.pp
    within = (decode <= tpot_s) & (grid[None, :] <= limit)
    cost = np.where(within, size * request.output_tokens * decode / grid[None, :], np.inf)
    prompt, each = _pool_prompts_s(tall, memory, request)
    sent = sequence_bytes(served.model, x, np.array(request.input_tokens))[:, 0]
    transfer = sent / served.model.layers / served.device.nic_bytes_per_s
    queue = c.queue_factor * busy_frac / (2.0 * (1.0 - busy_frac)) * prompt
    first = prompt + queue + transfer + (c.ingress_ms + c.handover_ms) * MILLI
    holds = fits[:, 0] >= 1.0
    at = int(np.argmin(cost))
    row, column = at // cost.shape[1], at % cost.shape[1]
    if not np.isfinite(cost[row, column]):
        return None
    step = float(decode[row, column])
    fast = (first + step <= ttft_s) & holds
    if not fast.any():
        return None
    price = np.where(fast, size[:, 0] * each / (x.dp[:, 0] * busy_frac), np.inf)
    chosen = int(np.argmin(price))
    return Split(
        prefill=chosen,
        decode=row,
        concurrency=float(grid[column]),
        prefill_accelerators_per_rps=float(price[chosen]),
        decode_accelerators_per_rps=float(cost[row, column]),
        ttft_s=float(first[chosen] + step),
        tpot_s=step,
    )
