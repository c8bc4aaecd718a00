"""Steady states of a replica: closed loop, disaggregated pools, static batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.serving.forward import Served
from dcplan.serving.step import decode_s, prompt_s
from dcplan.serving.tables import Array
from dcplan.units import MILLI

ROUNDS = 16
"""Rounds of the fixed point; it halves its error in each."""
FULLEST = 0.97
"""Largest utilization of the prompt queue in a closed loop, where it limits itself."""


@dataclass(frozen=True)
class Load:
    """Requests that run at the same time, and their tokens."""

    requests: Array
    """Concurrent requests of one replica. [-]"""
    input_tokens: Array
    output_tokens: Array
    cached_tokens: Array
    """Tokens of a prompt that a prefix cache holds. [-]"""
    most_requests: Array
    """Requests whose cache fits, or that the engine admits. [-]"""
    step_tokens: Array
    """Most prompt tokens of one step. [-]"""


@dataclass(frozen=True)
class Steady:
    """Latencies and rate of one replica in a steady state."""

    tpot_s: Array
    """Time per output token after the first."""
    ingress_s: Array
    queue_s: Array
    """Wait for a slot of the cache and behind other prompts."""
    prefill_s: Array
    first_step_s: Array
    running: Array
    """Requests that decode at the same time."""
    admitted: Array
    """Requests that hold cache at the same time."""
    requests_per_s: Array

    @property
    def ttft_s(self) -> Array:
        """Return the time to first token."""
        return self.ingress_s + self.queue_s + self.prefill_s + self.first_step_s


def closed_loop(served: Served, load: Load) -> Steady:
    r"""Return the steady state in which a new request arrives when one ends.

    In the life of a request, every other admitted request starts once, so its prompt delays the
    tokens of this one:

    .. math::
       TPOT = t_{dec}(N_{dec}) + \frac{N - 1}{d\,o}\,\phi\,m\,t_{pre},\quad
       \phi = \frac{o\,TPOT}{TTFT + o\,TPOT}

    with N admitted requests, d attention copies, o output tokens, and m the share of a prompt's
    time that delays decode.

    Parameters
    ----------
    served : Served
        The configuration.
    load : Load
        The requests of one replica.

    References
    ----------
    .. [1] A. Agrawal et al., "Sarathi-Serve", OSDI 2024, section 4 (prompts in decode steps).
    .. [2] J. Little, "A Proof for the Queuing Formula L = lambda W", 1961.
    """
    c, dp = served.terms, served.layout.dp
    admitted = np.minimum(load.requests, np.maximum(load.most_requests, 1.0))
    context = load.input_tokens + load.output_tokens / 2.0
    one = np.ones_like(admitted)
    others = np.maximum(admitted - 1.0, 0.0)
    share = one
    prefill, each = prompts_s(served, load, others / dp / load.output_tokens)
    delay = each * c.separate_prefill_frac
    for _ in range(ROUNDS):
        running = 1.0 + others * share
        step = decode_s(served, np.minimum(running, admitted), context)
        tpot = step + others / dp / load.output_tokens * share * delay
        life = load.output_tokens * tpot
        share = (share + life / (life + prefill + step)) / 2.0
    queue = _prompt_queue_s(served, admitted / dp, each, load.output_tokens * tpot)
    ingress = c.ingress_ms * MILLI * one
    life = load.output_tokens * tpot + prefill + step + queue + ingress
    slot = np.maximum(load.requests / admitted - 1.0, 0.0) * life
    return Steady(
        tpot_s=tpot,
        ingress_s=ingress,
        queue_s=queue + slot,
        prefill_s=prefill,
        first_step_s=step,
        running=np.minimum(1.0 + others * share, admitted),
        admitted=admitted,
        requests_per_s=admitted / life,
    )


def prompts_s(served: Served, load: Load, arriving: Array) -> tuple[Array, Array]:
    r"""Return the time of the prompts that one step processes together, and the time of each.

    .. math:: n = \min(\max(a, 1),\ \max(c/s, 1)),\quad t_{each} = t_{pre}(n)/n

    Short prompts that arrive during one step share its weights and floors.

    Parameters
    ----------
    served : Served
        The configuration.
    load : Load
        Lengths, and the step's token budget c.
    arriving : array
        Prompts a that arrive per decode step at one attention copy. [-]
    """
    fresh = np.maximum(load.input_tokens - load.cached_tokens, 1.0)
    together = np.minimum(np.maximum(arriving, 1.0), np.maximum(load.step_tokens / fresh, 1.0))
    time = prompt_s(served, together, load.input_tokens, load.cached_tokens)
    return time, time / together


def _prompt_queue_s(served: Served, requests: Array, prefill: Array, decode: Array) -> Array:
    r"""Return the wait of a prompt behind others of its attention copy.

    .. math::
       W = \min\left(q\,\frac{\rho}{2 (1 - \rho)},\ \rho \sqrt{N - 1}\right) t_{pre} + b\,\frac{N - 1}{2}\,t_{pre}

    The first term is a queue with constant service (Pollaczek 1930) of the other requests. A closed
    loop limits itself: the number of them in their prompt deviates from its mean by the square root.
    The second term is a burst of N requests at the start, of which a share b of the requests is
    part.
    """
    c = served.terms
    others = np.maximum(requests - 1.0, 0.0)
    busy = np.minimum(others * prefill / (decode + prefill), FULLEST)
    random = c.queue_factor * busy / (2.0 * (1.0 - busy))
    steady = np.minimum(random, busy * np.sqrt(others)) * prefill
    return np.asarray(steady + c.burst_frac * others / 2.0 * prefill)


@dataclass(frozen=True)
class Pools:
    """Replicas of a disaggregated service."""

    prefill: Served
    prefill_replicas: Array
    decode_replicas: Array
    transfer_s: Array
    """Time to send the cache of one prompt that compute does not hide. [s]"""


def disaggregated(served: Served, pools: Pools, load: Load) -> Steady:
    r"""Return the steady state of one decode replica that a prefill pool feeds.

    The slower pool limits the rate:

    .. math:: X = \min\left(\frac{N}{o\,TPOT(N)},\ \frac{n_p d_p}{n_d\,t_{pre}}\right),\quad
       TTFT \ge \frac{C}{X} - o\,TPOT

    Parameters
    ----------
    served : Served
        The decode configuration.
    pools : Pools
        The prefill configuration and the replicas of both pools.
    load : Load
        The requests of one decode replica.

    References
    ----------
    .. [1] Y. Zhong et al., "DistServe", OSDI 2024, section 3.
    """
    c = served.terms
    context = load.input_tokens + load.output_tokens / 2.0
    one = np.ones_like(load.requests)
    faster = c.pool_prefill_factor
    prefill = prompt_s(pools.prefill, one, load.input_tokens, load.cached_tokens) * faster
    prompts = pools.prefill_replicas * pools.prefill.layout.dp
    each = prompts_s(pools.prefill, load, np.inf * one)[1] * faster
    most = prompts / (each * pools.decode_replicas)
    admitted = np.minimum(load.requests, np.maximum(load.most_requests, 1.0))
    ingress = (c.ingress_ms + c.handover_ms) * MILLI * one
    alone = ingress + prefill + pools.transfer_s
    running = admitted
    for _ in range(ROUNDS):
        tpot = decode_s(served, running, context)
        life = load.output_tokens * tpot
        rate = np.minimum(load.requests / (life + alone), most)
        running = (running + np.clip(rate * life, np.minimum(admitted, 1.0), admitted)) / 2.0
    tpot = decode_s(served, running, context)
    life = load.output_tokens * tpot
    rate = np.minimum(np.minimum(load.requests / (life + alone), most), admitted / life)
    busy = np.minimum(rate / most, FULLEST)
    crowd = c.queue_factor * busy / (2.0 * (1.0 - busy)) * prefill / prompts
    waiting = np.maximum(load.requests * pools.decode_replicas / prompts - 1.0, 0.0)
    crowd = crowd + c.burst_frac * waiting / 2.0 * each
    queue = np.maximum(load.requests / rate - life - alone, crowd)
    return Steady(
        tpot_s=tpot,
        ingress_s=ingress,
        queue_s=queue,
        prefill_s=prefill + pools.transfer_s,
        first_step_s=tpot,
        running=running,
        admitted=admitted,
        requests_per_s=rate,
    )


def saturated(served: Served, load: Load) -> Steady:
    """Return the steady state of an offline run that always has waiting requests.

    Every admitted request decodes; its successors' prompts delay it.
    """
    c = served.terms
    admitted = np.maximum(np.minimum(load.requests, load.most_requests), 1.0)
    context = load.input_tokens + load.output_tokens / 2.0
    one = np.ones_like(admitted)
    arriving = admitted / served.layout.dp / load.output_tokens
    prefill, each = prompts_s(served, load, arriving)
    step = decode_s(served, admitted, context)
    tpot = step + arriving * each * c.separate_prefill_frac
    return Steady(
        tpot_s=tpot,
        ingress_s=c.ingress_ms * MILLI * one,
        queue_s=np.zeros_like(one),
        prefill_s=prefill,
        first_step_s=step,
        running=admitted,
        admitted=admitted,
        requests_per_s=admitted / (load.output_tokens * tpot),
    )


def static_batch(served: Served, load: Load) -> tuple[Array, Array, Array]:
    r"""Return time to first token, time per output token and end-to-end time of a static batch.

    All requests start together; what does not fit runs in waves:

    .. math:: T = \frac{N}{\min(N, N_{kv})}\,(t_{pre}(N) + o\,t_{dec}(N))

    Returns
    -------
    tuple of array
        Seconds: first token, output token, complete batch.
    """
    batch = np.minimum(load.requests, np.maximum(load.most_requests, 1.0))
    waves = load.requests / batch
    prompts = np.maximum(batch / served.layout.dp, 1.0)
    first = prompt_s(served, prompts, load.input_tokens, load.cached_tokens)
    tpot = decode_s(served, batch, load.input_tokens + load.output_tokens / 2.0)
    return first, tpot, waves * (first + load.output_tokens * tpot)
