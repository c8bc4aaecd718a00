"""Largest request rates of a replica: with a stable queue, and within limits of latency."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dcplan.serving.queue.clock import Array, EngineClock, EngineLimits
from dcplan.serving.queue.load import RATE_EPS, load_of, occupancy, stable_rate
from dcplan.serving.queue.waits import tpot_s_of, wait_of

SEARCH_HALVINGS = 20
SEARCH_FULL_FRAC = 0.9999
"""Share of the largest stable rate up to which a rate is searched."""


def most_stable_rate(
    clock: EngineClock,
    limits: EngineLimits,
    input_tokens: Array,
    output_tokens: Array,
    hit_tokens: Array | None = None,
    speculative_tokens: float = 1.0,
) -> float:
    r"""Return the request rate above which the queue of a replica grows without limit [1/s].

    .. math:: \lambda_{max} = \frac{B}{N d(B) + B s}

    with B decoding requests at most, N decode steps and s seconds of prefill of a request. B is
    the least of the slots, the KV capacity over the mean context, and the number at which decode
    and prompt tokens fill a step.

    Parameters
    ----------
    clock : EngineClock
        Step times of the replica.
    limits : EngineLimits
        KV capacity, slots and step size.
    input_tokens, output_tokens : Array
        A number, or a sample of requests of equal weight, shape (n,). [tokens]
    hit_tokens : Array or None
        Cached prompt tokens of the sample, shape (n,). [tokens]
    speculative_tokens : float
        Mean tokens that a decode step makes for each request, at least 1. [-]

    Examples
    --------
    Two slots, 10 steps of 10 ms and 50 ms of prefill: 2 requests in 0.1 + 2 * 0.05 s.

    >>> clock = EngineClock(np.array([1.0]), np.array([0.01]), 0.0, 1e-3, 0.0, 0.0, 0.0)
    >>> limits = EngineLimits(1e4, 2, 512)
    >>> round(most_stable_rate(clock, limits, np.array([50.0]), np.array([11.0])), 6)
    10.0
    """
    work = (clock, limits, input_tokens, output_tokens, hit_tokens, speculative_tokens, 1.0)
    return stable_rate(load_of(*work))


def most_rate(
    clock: EngineClock,
    limits: EngineLimits,
    input_tokens: Array,
    output_tokens: Array,
    ttft_s: float,
    tpot_s: float,
    quantile: float,
    arrival_cv2: float = 1.0,
    hit_tokens: Array | None = None,
    speculative_tokens: float = 1.0,
) -> float:
    """Return the largest request rate of a replica that meets both limits at a quantile [1/s].

    The rate is 0 if an idle replica does not meet them.

    Parameters
    ----------
    clock : EngineClock
        Step times of the replica.
    limits : EngineLimits
        KV capacity, slots and step size.
    input_tokens, output_tokens : Array
        A number, or a sample of requests of equal weight, shape (n,). [tokens]
    ttft_s, tpot_s : float
        Limits of the time to first token and between tokens. [s]
    quantile : float
        Share of the requests that meet each limit, in (0, 1).
    arrival_cv2 : float
        Squared coefficient of variation of the times between arrivals. [-]
    hit_tokens : Array or None
        Cached prompt tokens of the sample, shape (n,). [tokens]
    speculative_tokens : float
        Mean tokens that a decode step makes for each request, at least 1. [-]

    Examples
    --------
    >>> clock = EngineClock(np.array([1.0, 9.0]), np.array([0.010, 0.018]), 0.0, 1e-4, 0, 0, 0)
    >>> work = (clock, EngineLimits(1e5, 64, 512), np.array([100.0]), np.array([101.0]))
    >>> most_rate(*work, 1.0, 0.005, 0.9)
    0.0
    >>> most_rate(*work, 1.0, 0.015, 0.9) < most_rate(*work, 1.0, 0.030, 0.9)
    True
    """
    load = load_of(
        *(clock, limits, input_tokens, output_tokens, hit_tokens, speculative_tokens, arrival_cv2)
    )
    stable = stable_rate(load)

    def meets(rate: float) -> bool:
        running = occupancy(load, rate, clock)
        wait = wait_of(load, rate, clock, limits, running)
        if (
            load.most
            and np.quantile(tpot_s_of(load, rate, clock, running, wait), quantile) > tpot_s
        ):
            return False
        ttft = wait.total_s + clock.request_s + clock.exit_s
        return bool(np.quantile(ttft, quantile) <= ttft_s)

    return highest_rate(stable, meets)


def highest_rate(stable: float, meets: Callable[[float], bool]) -> float:
    """Return the highest rate below the stable one that meets a limit, by bisection; 0 if none does.

    Parameters
    ----------
    stable : float
        Largest stable rate. [1/s]
    meets : callable
        Whether a rate meets the limit; a rate below one that does must also meet it.

    Examples
    --------
    >>> round(highest_rate(10.0, lambda rate: rate <= 4.0), 4), highest_rate(10.0, lambda _: False)
    (4.0, 0.0)
    """
    low, high = stable * RATE_EPS, stable * SEARCH_FULL_FRAC
    if not meets(low):
        return 0.0
    if meets(high):
        return high
    for _ in range(SEARCH_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if meets(middle) else (low, middle)
    return low
