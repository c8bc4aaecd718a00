"""Requests of a replica as moments, and the number of them that decode at a request rate.

References
----------
.. [1] F. P. Kelly, *Reversibility and Stochastic Networks*, 1979: processor sharing with a rate
   that depends on the state; its occupancy depends only on the mean of the service.
.. [2] A. A. Fredericks, "Congestion in blocking systems - a simple approximation technique", Bell
   System Technical Journal 59(6), 1980: Hayward's method for requests of unequal size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.serving.queue.clock import Array, EngineClock, EngineLimits, decode_step_s, prompt_s

FIT_ROUNDS = 20
"""Rounds of the fixed point of a step."""
RATE_EPS = 1e-9
MOST_BUSY_FRAC = 0.9999
LEAST_EPS = 1e-12
"""Prefill time of a prompt that takes none."""


@dataclass(frozen=True)
class Load:
    """The requests, as moments and as a sample in the order of its prefill times."""

    prompt: Array
    """Prompt tokens to compute."""
    prefill_s: Array
    """Time that each prompt adds to steps."""
    steps: Array
    """Decode steps of each request."""
    per_step: float
    most: int
    """Requests that decode at once at most: slots, KV memory, tokens of a step."""
    peakedness: float
    """1 plus the squared CV of contexts where KV memory is the limit, else 1."""
    long: bool
    """Whether the mean prompt needs more than one step."""
    decode_s: Array
    """Step time at 0, 1, ... most decoding requests, with KV reads."""
    arrival_cv2: float


def load_of(
    clock: EngineClock,
    limits: EngineLimits,
    input_tokens: Array,
    output_tokens: Array,
    hit_tokens: Array | None,
    per_step: float,
    arrival_cv2: float,
) -> Load:
    """Return the moments of a sample of requests of equal weight.

    Raises
    ------
    ValueError
        When a length or the tokens of a step are below 1, or the arrivals vary less than 0.
    """
    inputs, outputs = np.broadcast_arrays(
        np.atleast_1d(np.asarray(input_tokens, dtype=np.float64)),
        np.atleast_1d(np.asarray(output_tokens, dtype=np.float64)),
    )
    if np.any(inputs < 1) or np.any(outputs < 1) or per_step < 1 or arrival_cv2 < 0:
        msg = "tokens and speculative_tokens are at least 1, arrival_cv2 at least 0"
        raise ValueError(msg)
    hits = np.minimum(0.0 if hit_tokens is None else hit_tokens, inputs - 1.0)
    prompt = inputs - hits
    steps = (outputs - 1.0) / per_step
    mean = float(steps.mean())
    context = inputs + 1.0 + np.maximum(outputs - 2.0, 0.0) / 2.0
    context_mean = float((steps * context).mean() / mean) if mean else 0.0
    by_tokens = limits.step_tokens * mean / (float(prompt.mean()) + mean)
    # the next prompt has no room while less than its tokens are free: half of them on average
    free = float((inputs**2).mean() / inputs.mean()) / 2.0
    by_memory = (limits.kv_tokens - free) / (context_mean + limits.unused_tokens)
    most = max(int(min(limits.most_running, by_memory, by_tokens)), 1) if mean else 0
    squares = float((steps * (context**2 + outputs**2 / 12.0)).mean()) / max(mean, RATE_EPS)
    memory_binds = mean > 0 and by_memory < min(limits.most_running, by_tokens)
    peaked = squares / context_mean**2 if memory_binds else 1.0
    long = float(prompt.mean()) > limits.step_tokens - most
    numbers = np.arange(most + 1, dtype=np.float64)
    decode = decode_step_s(clock, numbers) + clock.kv_s_per_token * context_mean * numbers
    time_s = np.maximum(prompt_s(clock, prompt, hits), LEAST_EPS)
    order = np.argsort(time_s, kind="stable")
    return Load(
        prompt[order],
        time_s[order],
        steps[order],
        per_step,
        most,
        peaked,
        long,
        decode,
        arrival_cv2,
    )


def step_mean_s(load: Load, rate: float, clock: EngineClock) -> Array:
    """Return the mean step for each number of decoding requests, with prompts that arrive in it.

    Steps that contain prompts last the floor at least; the prompts of a step share this excess.
    """
    decode, prefill = load.decode_s, float(load.prefill_s.mean())
    share = min(rate * prefill, 1.0 - RATE_EPS)
    mean = decode / (1.0 - share)
    for _ in range(FIT_ROUNDS):
        some = -np.expm1(-rate * mean)
        filled = prefill * rate * mean / np.maximum(some, RATE_EPS)
        excess = some * np.maximum(clock.prefill_floor_s - decode - filled, 0.0)
        mean = np.where(decode > 0, decode + excess, 0.0) / (1.0 - share)
    return np.asarray(mean, dtype=np.float64)


def stable_rate(load: Load) -> float:
    """Return the request rate at which the most requests decode all the time [1/s]."""
    most, prefill = load.most, float(load.prefill_s.mean())
    if not most:
        return 1.0 / prefill
    return most / (float(load.steps.mean()) * float(load.decode_s[most]) + most * prefill)


def occupancy(load: Load, rate: float, clock: EngineClock) -> Array:
    """Return the probabilities of 0, 1, ... most decoding requests, and of a wait for a slot.

    With the most requests, an arrival waits: that state has no probability of its own.
    """
    if not load.most:
        return np.array([1.0, 0.0])
    n = np.arange(1, load.most + 1, dtype=np.float64)
    mean = float(load.steps.mean())
    leave = n / (mean * step_mean_s(load, rate, clock)[1:])
    full = stable_rate(load)
    leave = np.minimum(leave, np.maximum(full, leave[-1]))
    size = load.peakedness * peakedness(load, rate)
    count = min(max(load.most / size, 1.0), float(load.most))
    few = _blocked(leave[_every(load.most, math.floor(count))], rate, full)
    many = _blocked(leave[_every(load.most, math.ceil(count))], rate, full)
    blocked = few + (count % 1.0) * (many - few)
    weights = np.exp(_logs(leave, rate))
    weights = weights[:-1] / weights[:-1].sum()
    found = np.concatenate([weights * (1.0 - blocked), [0.0, blocked]])
    return np.asarray(found, dtype=np.float64)


def peakedness(load: Load, rate: float) -> float:
    r"""Return the variance of the number of decoding requests over that with Poisson arrivals.

    While a prompt is processed, further prompts arrive: each starts a cluster, in which a prompt
    has :math:`\rho = \lambda s` followers on average, with variance
    :math:`\sigma^2 = \rho + \lambda^2 \mathrm{Var}(s)`. Counted in steps, the arrivals have an index
    of dispersion I, and the requests that decode a peakedness of :math:`(1 + I) / 2` [2]_. Prompts
    of several steps leave prefill one by one, without clusters.

    .. math:: I = c_a^2 \left(\frac{\sigma^2}{(1 - \rho)^2} + \frac{1}{1 - \rho}\right)
    """
    busy = min(rate * float(load.prefill_s.mean()), MOST_BUSY_FRAC)
    followers = busy + rate**2 * float(load.prefill_s.var())
    cluster = 1.0 if load.long else followers / (1.0 - busy) ** 2 + 1.0 / (1.0 - busy)
    return (1.0 + load.arrival_cv2 * cluster) / 2.0


def _logs(leave: Array, rate: float) -> Array:
    """Return logarithms of the weights of birth and death, the largest of them 0."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(rate / leave))])
    return np.asarray(logs - logs.max(), dtype=np.float64)


def _every(most: int, count: int) -> npt.NDArray[np.intp]:
    """Return a number of equal distances in the places of 1, 2, ... most."""
    return np.asarray(np.rint(np.arange(1, count + 1) * most / count) - 1, dtype=np.intp)


def _blocked(leave: Array, rate: float, full: float) -> float:
    """Return the probability of a wait for a slot: all are busy."""
    weights = np.exp(_logs(leave, rate))
    waits = float(weights[-1]) * full / (full - rate)
    return waits / (float(weights[:-1].sum()) + waits)
