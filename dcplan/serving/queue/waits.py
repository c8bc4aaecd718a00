"""Parts of the time to first token, and the time between tokens, at each point of a sequence.

:mod:`dcplan.serving.queue.percentiles` states the formulas.

References
----------
.. [1] L. Kleinrock, *Queueing Systems*, vol. 1, 1975: residual time, busy period.
.. [2] L. Takács, "A single-server queue with Poisson input", 1962: second moment of the wait.
.. [3] W. Kraemer and M. Langenbach-Belz, "Approximate formulae for the delay in the queueing
   system GI/G/1", ITC 8, 1976.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.serving.queue.clock import Array, EngineClock, EngineLimits
from dcplan.serving.queue.draws import (
    FIT_POINTS,
    POINTS,
    geometric,
    hyperexponential,
    normal,
    poisson,
)
from dcplan.serving.queue.load import (
    MOST_BUSY_FRAC,
    RATE_EPS,
    Load,
    peakedness,
    stable_rate,
    step_mean_s,
)

FIT_LIFE_FRAC = 2.0 / 3.0
"""Variance of the mean of n over a life, if its correlation falls linearly over the life."""


@dataclass(frozen=True)
class Wait:
    """Parts of the time to first token of each point."""

    first_s: Array
    queue_s: Array
    prefill_s: Array
    behind: Array
    """Prompts that arrived later and wait when the first token is made."""
    chunk_s: Array
    """Prefill time of a full step."""

    @property
    def total_s(self) -> Array:
        """Return the time to first token without ingress."""
        return self.first_s + self.queue_s + self.prefill_s


def wait_of(
    load: Load, rate: float, clock: EngineClock, limits: EngineLimits, running: Array
) -> Wait:
    """Return the parts of the time to first token of each point."""
    u = POINTS
    state = np.searchsorted(np.cumsum(running), u[0], side="right")
    n = np.minimum(state, load.most)
    decode = load.decode_s[n]
    room = limits.step_tokens - n.astype(np.float64)
    tokens_mean, prefill_mean = float(load.prompt.mean()), float(load.prefill_s.mean())
    chunk_s = prefill_mean * room / tokens_mean
    wait = _wait_s(load, rate, decode, room, n)
    step = _met_step_s(load, rate, clock, n, chunk_s)
    # a prompt of several steps: its wait counts the rest of the prompt that is being processed
    long = room < tokens_mean
    step = np.where(long, np.where(wait > 0, 0.0, decode), step)
    # without decoding requests, a step of prompts shorter than its floor delays the next ones
    spare = max(clock.prefill_floor_s - prefill_mean, 0.0)
    idle = np.where(u[1] < rate * clock.prefill_floor_s, u[3] * spare, 0.0)
    first = np.where(n > 0, u[3] * step, idle)
    # the wait counts from the arrival, so the rest of the step is a part of it
    queue = np.where(n > 0, np.maximum(wait - first, 0.0), wait) + _slot_s(load, rate, state)
    own = _own(load)
    chunks = np.ceil(load.prompt[own] / room)
    last = load.prompt[own] - (chunks - 1.0) * room
    most_shared = np.maximum(chunk_s - prefill_mean * last / tokens_mean, 0.0)
    # of the prompts ahead, a part is in the same step
    ahead = np.where(n > 0, 0.0, np.minimum(wait, most_shared) / 2.0)
    before = np.where(n > 0, step + np.where(long, wait, 0.0), wait - ahead)
    others = poisson(rate * (before + (chunks - 1.0) * (decode + chunk_s)), u[5])
    others = others + _burst(load, rate * before, u[8])
    shared = np.minimum(_prompts_s(load, others, u[6]), most_shared - ahead)
    prefill = chunks * decode + load.prefill_s[own] + shared
    prefill = np.maximum(prefill, chunks * clock.prefill_floor_s)
    behind = np.maximum(rate * (before + prefill) - shared / prefill_mean, 0.0)
    return Wait(first, queue, prefill, behind, chunk_s)


def _burst(load: Load, window: Array, uniform: Array) -> Array:
    r"""Return the requests that come with a request because arrivals come in bursts.

    A request of a burst of geometric size meets :math:`c_a^2 - 1` others of it on average; in a
    window with few arrivals w, the part :math:`(1 - e^{-w})^{1 / c_a^2}` as of gamma arrivals.
    """
    more = max(load.arrival_cv2 - 1.0, 0.0)
    return geometric(more * (-np.expm1(-window)) ** (1.0 / (1.0 + more)), uniform)


def _own(load: Load) -> npt.NDArray[np.intp]:
    """Return the request of each point."""
    found = np.minimum((POINTS[4] * load.prompt.size).astype(np.intp), load.prompt.size - 1)
    return np.asarray(found, dtype=np.intp)


def _met_step_s(load: Load, rate: float, clock: EngineClock, n: Array, chunk_s: Array) -> Array:
    """Return the length of the step that an arrival meets: a longer one is met more often."""
    decode, uniform = load.decode_s[n], POINTS[1]
    mean = step_mean_s(load, rate, clock)[n]
    alone = np.where(n > 0, decode / np.maximum(mean, RATE_EPS), 1.0)
    more = uniform >= alone
    within = np.where(more, (uniform - alone) / np.maximum(1.0 - alone, RATE_EPS), uniform / alone)
    prompts = poisson(rate * mean, within)
    # the prompt that makes the step longer: a longer one is met more often
    rising = np.cumsum(load.prefill_s)
    met = load.prefill_s[np.searchsorted(rising, POINTS[9] * rising[-1])]
    work = _prompts_s(load, prompts, POINTS[2]) + np.where(more, met, 0.0)
    step = decode + np.minimum(work, chunk_s)
    step = np.where(work > 0, np.maximum(step, clock.prefill_floor_s), step)
    return np.asarray(step, dtype=np.float64)


def _wait_s(load: Load, rate: float, decode: Array, room: Array, n: Array) -> Array:
    """Return the wait for prompt tokens of a step: its tail has the second moment of M/G/1.

    A tail that varies less than an exponential one is taken as exponential.
    """
    mean_s, mean_tokens = float(load.prefill_s.mean()), float(load.prompt.mean())
    service = mean_s + decode * mean_tokens / room
    cv2 = float(load.prefill_s.var()) / mean_s**2
    third = float((load.prefill_s**3).mean()) / mean_s**3
    together = np.where(n > 0, np.maximum(room / mean_tokens, 1.0), 1.0)
    busy = np.minimum(rate * service, MOST_BUSY_FRAC)
    waits = busy ** (np.sqrt(2.0 * (together + 1.0)) - 1.0)
    more = _more_waits(load.arrival_cv2, cv2, busy)
    waits = np.minimum(waits * more, 1.0)
    mean = (load.arrival_cv2 + cv2) / 2.0 * service / (1.0 - busy) / more
    poisson_mean = (1.0 + cv2) / 2.0 * service / (1.0 - busy)
    second = 2.0 * busy * poisson_mean**2 + service**2 * third / (3.0 * (1.0 - busy))
    tail_cv2 = np.maximum(second / poisson_mean**2 - 1.0, 1.0)
    tail = hyperexponential(POINTS[7] / np.maximum(waits, RATE_EPS), tail_cv2)
    return np.where(POINTS[7] < waits, mean * tail, 0.0)


def _more_waits(arrival_cv2: float, cv2: float, busy: Array) -> Array:
    """Return the probability of a wait over that with Poisson arrivals [3]_."""
    if arrival_cv2 > 1.0:
        part = 4.0 * busy / (arrival_cv2 + busy**2 * (4.0 * arrival_cv2 + cv2))
    else:
        part = (1.0 + arrival_cv2 + busy * cv2) / (
            1.0 + busy * (cv2 - 1.0) + busy**2 * (4.0 * arrival_cv2 + cv2)
        )
    return np.asarray(np.maximum(1.0 + (arrival_cv2 - 1.0) * (1.0 - busy) * part, RATE_EPS))


def _slot_s(load: Load, rate: float, state: Array) -> Array:
    """Return the wait for a slot or KV memory of the points whose state is a wait."""
    waits, found = state > load.most, np.zeros(FIT_POINTS)
    number = int(waits.sum())
    if number:
        cv2 = float(load.steps.var() / load.steps.mean() ** 2)
        spread = (load.arrival_cv2 + cv2) / 2.0
        ranks = (np.argsort(np.argsort(POINTS[6][waits])) + 0.5) / number
        found[waits] = -np.log(ranks) * spread * load.peakedness / (stable_rate(load) - rate)
    return found


def tpot_s_of(load: Load, rate: float, clock: EngineClock, running: Array, wait: Wait) -> Array:
    """Return the mean time between tokens of each point [s]; NaN for one token."""
    if not load.most:
        return np.full(FIT_POINTS, np.nan)
    own = load.steps[_own(load)]
    numbers = np.arange(load.most + 1, dtype=np.float64)
    # while a request runs, n is met in proportion to n
    weights = numbers * running[:-1]
    weights[-1] += load.most * running[-1]
    weights /= weights.sum()
    mean = float(weights @ numbers)
    n = np.interp(POINTS[0], np.cumsum(weights), numbers)
    peaked = FIT_LIFE_FRAC * peakedness(load, rate)
    n = np.clip(mean + peaked**0.5 * (n - mean), 1.0, float(load.most))
    decode = np.interp(n, numbers, load.decode_s)
    prefill = float(load.prefill_s.mean())
    full = load.most / (stable_rate(load) * float(load.steps.mean()))
    step = np.interp(n, numbers, step_mean_s(load, rate, clock))
    step = np.minimum(step, np.maximum(full, decode))
    busy = 1.0 - decode / step
    # prompts that arrive in the life of the request, and those that came while it waited
    starts = np.maximum(own - 1.0, 0.0) * decode * busy / prefill + wait.behind
    extra = np.minimum(_clusters_s(load, starts, busy), own * wait.chunk_s)
    step = decode + extra / np.maximum(own, RATE_EPS)
    return np.where(own > 0, step / load.per_step, np.nan)


def _prompts_s(load: Load, number: Array, uniform: Array) -> Array:
    """Return the prefill time of a number of prompts: its mean and variance are those of a sum."""
    times = load.prefill_s
    one = times[np.minimum((uniform * times.size).astype(np.intp), times.size - 1)]
    mean = float(times.mean())
    return number * mean + np.sqrt(number) * (one - mean)


def _clusters_s(load: Load, number: Array, busy: Array) -> Array:
    r"""Return the prefill time in the life of a request.

    Prompts arrive in its decode time. Each is the start of a cluster: further prompts arrive while
    it is processed. A cluster has mean :math:`s / (1 - \rho)` and second moment
    :math:`E[s^2] / (1 - \rho)^3`, as the busy period of M/G/1 [1]_.
    """
    mean = float(load.prefill_s.mean()) / (1.0 - busy)
    second = float((load.prefill_s**2).mean()) / (1.0 - busy) ** 3
    sigma2 = np.log(second / mean**2)
    one = mean * np.exp(np.sqrt(sigma2) * normal(POINTS[3]) - sigma2 / 2.0)
    count = poisson(number, POINTS[2])
    return np.maximum(count * mean + np.sqrt(count) * (one - mean), 0.0)
