"""Replay of requests through replicas with continuous batching: an event loop.

The loop jumps over identical decode steps, so its cost depends on the requests, not on the tokens.
"""

from __future__ import annotations

import numpy as np

from dcplan.serving.queue.clock import Array, EngineClock, EngineLimits
from dcplan.serving.queue.loop import EventLoop, Replayed


def replay(
    arrivals_s: Array,
    input_tokens: Array,
    output_tokens: Array,
    clock: EngineClock,
    limits: EngineLimits,
    replicas: int = 1,
    hit_tokens: Array | None = None,
    speculative_tokens: float = 1.0,
) -> Replayed:
    r"""Replay requests that arrive at given times.

    A request goes to the replica with the fewest outstanding tokens (input and output tokens of
    its requests that have not ended); of equal replicas, to the first. Each replica schedules as
    vLLM V1 does. A request is admitted first come, first served, if a slot and KV memory for its
    whole prompt are free. At a batch of :math:`n` requests with :math:`C` cached tokens, the
    :math:`k` steps until the next event last

    .. math:: k\,(d(n) + c\,C) + c\,n\,s\,\tfrac{k(k-1)}{2}

    with :math:`c` = `kv_s_per_token` and :math:`s` tokens per step. A request uses
    :math:`(b-1)/2` more KV tokens than it has, the mean unused part of a block of b tokens.
    Cached prompt tokens use KV memory of each request, although replicas share them.

    Parameters
    ----------
    arrivals_s : Array
        Arrival times, in any order, shape (n,). [s]
    input_tokens, output_tokens : Array
        Whole numbers, at least 1, shape (n,). [tokens]
    clock : EngineClock
        Step times of a replica.
    limits : EngineLimits
        KV capacity, slots and step size of a replica.
    replicas : int
        Equal replicas, at least 1.
    hit_tokens : Array or None
        Prompt tokens that the prefix cache has, shape (n,); at least one token of each prompt is
        computed. [tokens]
    speculative_tokens : float
        Mean tokens that a decode step makes for each request, at least 1. [-]

    Raises
    ------
    ValueError
        When arrays differ in length, or a length or number is out of range.

    Examples
    --------
    One request: 0.1 s of prefill, then 4 decode steps of 0.01 s.

    >>> clock = EngineClock(np.array([1.0]), np.array([0.01]), 0.0, 1e-3, 0.0, 0.0, 0.0)
    >>> one = replay(np.zeros(1), np.array([100]), np.array([5]), clock, EngineLimits(1e4, 8, 512))
    >>> round(float(one.ttft_s[0]), 6), round(float(one.e2e_s[0]), 6)
    (0.1, 0.14)
    """
    arrivals = np.asarray(arrivals_s, dtype=np.float64)
    loop = EventLoop.of(
        *(input_tokens, output_tokens, clock, limits, replicas, hit_tokens, speculative_tokens)
    )
    if arrivals.shape != (len(loop.requests.prompt),) or not np.all(np.isfinite(arrivals)):
        msg = f"arrivals_s has shape {arrivals.shape}, the requests have {len(loop.size)}"
        raise ValueError(msg)
    order = np.argsort(arrivals, kind="stable")
    loop.requests.ready_s[:] = (arrivals + clock.request_s).tolist()
    loop.coming.extend(i for i in order.tolist() if not loop.rejected[i])
    loop.run()
    return loop.replayed(arrivals)


def replay_closed(
    concurrency: int,
    input_tokens: Array,
    output_tokens: Array,
    clock: EngineClock,
    limits: EngineLimits,
    replicas: int = 1,
    hit_tokens: Array | None = None,
    speculative_tokens: float = 1.0,
) -> Replayed:
    """Replay a closed loop: when a request ends, the client sends the next one of the list.

    The first requests arrive at time 0. A rejected request is left out.

    Parameters
    ----------
    concurrency : int
        Requests in flight, at least 1, for all replicas together.
    input_tokens, output_tokens : Array
        Requests in the order in which they are sent, shape (n,). [tokens]
    clock : EngineClock
        Step times of a replica.
    limits : EngineLimits
        KV capacity, slots and step size of a replica.
    replicas : int
        Equal replicas, at least 1.
    hit_tokens : Array or None
        Prompt tokens that the prefix cache has, shape (n,). [tokens]
    speculative_tokens : float
        Mean tokens that a decode step makes for each request, at least 1. [-]

    Raises
    ------
    ValueError
        When a length or number is out of range.

    Examples
    --------
    Two requests, one at a time, of 0.14 s each.

    >>> clock = EngineClock(np.array([1.0]), np.array([0.01]), 0.0, 1e-3, 0.0, 0.0, 0.0)
    >>> both = replay_closed(1, np.full(2, 100), np.full(2, 5), clock, EngineLimits(1e4, 8, 512))
    >>> [round(float(t), 6) for t in both.arrival_s], round(both.span_s, 6)
    ([0.0, 0.14], 0.28)
    """
    if concurrency < 1:
        msg = f"concurrency is at least 1, not {concurrency}"
        raise ValueError(msg)
    loop = EventLoop.of(
        *(input_tokens, output_tokens, clock, limits, replicas, hit_tokens, speculative_tokens)
    )
    kept = [i for i, no in enumerate(loop.rejected) if not no]
    loop.next.extend(kept[concurrency:])
    ready = loop.requests.ready_s
    for i in kept[:concurrency]:
        ready[i] = clock.request_s
        loop.coming.append(i)
    loop.run()
    sent = np.array(ready) - clock.request_s
    return loop.replayed(np.where(loop.rejected, 0.0, sent))
