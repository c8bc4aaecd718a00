"""Latency of a replica in an open loop, without a simulation.

The parts of a latency have distributions from formulas. Their sums are taken over fixed points of
a low-discrepancy sequence, so equal inputs give equal percentiles.

References
----------
.. [1] F. P. Kelly, *Reversibility and Stochastic Networks*, 1979: processor sharing with a rate
   that depends on the state; its occupancy depends only on the mean of the service.
.. [2] J. F. C. Kingman, "The single server queue in heavy traffic", 1961.
.. [3] A. O. Allen, *Probability, Statistics, and Queueing Theory*, 1990 (Allen-Cunneen); the
   exponent is from H. Sakasegawa, 1977.
.. [4] L. Kleinrock, *Queueing Systems*, vol. 1, 1975: Pollaczek-Khinchine, residual time.
.. [5] A. Agrawal et al., "Taming Throughput-Latency Tradeoff in LLM Inference with Sarathi-Serve",
   OSDI 2024: steps of decode tokens and prompt chunks.
.. [6] Y. Zhong et al., "DistServe", OSDI 2024: M/G/1 of a prefill replica.
.. [7] M. Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.serving.clock import Array, EngineClock, EngineLimits, decode_step_s, prompt_s

FIT_POINTS = 4096
"""Points of the sequence."""
FIT_DIMENSIONS = 8
FIT_PERCENTS = np.array([50.0, 90.0, 99.0])
FIT_ROUNDS = 20
"""Rounds of the fixed point of a step."""
SEARCH_HALVINGS = 40
LIFE_FRAC = 2.0 / 3.0
"""Variance of the mean of n over a life, if its correlation falls linearly over the life."""
SEARCH_FULL_FRAC = 0.9999
"""Share of the largest stable rate up to which a rate is searched."""
RATE_EPS = 1e-9
"""Share of the largest stable rate: no load."""
MOST_SINGLE_COUNTS = 30.0
"""Mean up to which a Poisson number is counted one by one; above it, it is rounded normal."""
NORMAL_GRID = np.linspace(-4.5, 4.5, 901)


@dataclass(frozen=True)
class Percentiles:
    """A time over all requests. [s]"""

    mean: float
    p50: float
    p90: float
    p99: float


@dataclass(frozen=True)
class OpenLoop:
    """Latency of a replica at a request rate."""

    utilization_frac: float
    """Rate divided by the largest stable rate."""
    running: float
    """Mean number of decoding requests."""
    ingress_s: float
    """Time before a request can be scheduled, and after its token is made."""
    first_step_s: Percentiles
    """Rest of the running step."""
    queue_s: Percentiles
    """Wait for a slot, for KV memory, or for prompt tokens of a step."""
    prefill_s: Percentiles
    """First prompt chunk to first token."""
    ttft_s: Percentiles
    tpot_s: Percentiles


@dataclass(frozen=True)
class _Load:
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
    decode_s: Array
    """Step time at 0, 1, ... most decoding requests, with KV reads."""
    arrival_cv2: float


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
    return _stable(
        _load(clock, limits, input_tokens, output_tokens, hit_tokens, speculative_tokens, 1.0),
        limits,
    )


def open_loop(
    rate_per_s: float,
    clock: EngineClock,
    limits: EngineLimits,
    input_tokens: Array,
    output_tokens: Array,
    arrival_cv2: float = 1.0,
    hit_tokens: Array | None = None,
    speculative_tokens: float = 1.0,
) -> OpenLoop:
    r"""Return latency percentiles of a replica at a request rate.

    * Decoding requests: birth and death with death rate
      :math:`\mu_n = n (1 - \lambda s) / (N d(n))`, for any distribution of lengths [1]_; above B,
      :math:`\mu = B / (N d(B) + B s)`. Its mean obeys Little's law,
      :math:`B = \lambda\,N\,\mathrm{TPOT}(B)`.
    * TPOT: :math:`d(n) / (1 - \lambda s)`: each step also processes the prompts that arrive in
      it [5]_. Its spread is that of n over the life of a request, and that of the number of
      prompts.
    * First step: a uniform part of a step that is chosen in proportion to its length [4]_.
    * Queue: :math:`P(W > t) = p\,e^{-t/m}`. For a slot, p is the probability of B requests or more
      and :math:`m = \tfrac{c_a^2 + c_s^2}{2} / (\mu - \lambda)` [2]_ [3]_. For the tokens of a
      step, :math:`p = \rho^{\sqrt{2(k+1)}-1}` and
      :math:`m = \tfrac{c_a^2 + c_v^2}{2}\,v / (1 - \rho)` with k prompts in a full step, v seconds
      of full steps for one prompt, and :math:`\rho = \lambda v` [3]_. Without decoding requests,
      as in a prefill replica, k is 1: M/G/1 [4]_ [6]_.
    * Prefill: the steps of the own chunks, with the prompts that share the last one.

    Parameters
    ----------
    rate_per_s : float
        Requests of the replica, above 0 and below :func:`most_stable_rate`. [1/s]
    clock : EngineClock
        Step times of the replica.
    limits : EngineLimits
        KV capacity, slots and step size.
    input_tokens, output_tokens : Array
        A number, or a sample of requests of equal weight, shape (n,). Only prompts if each output
        has one token: a prefill replica. [tokens]
    arrival_cv2 : float
        Squared coefficient of variation of the times between arrivals; 1 for Poisson. [-]
    hit_tokens : Array or None
        Cached prompt tokens of the sample, shape (n,). [tokens]
    speculative_tokens : float
        Mean tokens that a decode step makes for each request, at least 1. [-]

    Raises
    ------
    ValueError
        When the rate is not above 0 and below the largest stable rate.

    Examples
    --------
    One request in 100 s meets an idle replica: 0.1 s of prefill, then steps of 10 ms.

    >>> clock = EngineClock(np.array([1.0]), np.array([0.01]), 0.0, 1e-3, 0.0, 0.0, 0.0)
    >>> limits = EngineLimits(1e4, 8, 512)
    >>> found = open_loop(0.01, clock, limits, np.array([100.0]), np.array([21.0]))
    >>> round(found.ttft_s.p50, 6), round(found.tpot_s.p50, 6)
    (0.1, 0.01)
    """
    load = _load(
        *(clock, limits, input_tokens, output_tokens, hit_tokens, speculative_tokens, arrival_cv2)
    )
    stable = _stable(load, limits)
    if not 0 < rate_per_s < stable:
        msg = f"{rate_per_s:g} requests per second are not between 0 and {stable:g}"
        raise ValueError(msg)
    running = _running(load, rate_per_s, clock)
    wait = _wait(load, rate_per_s, clock, limits, running)
    ingress = clock.request_s + clock.exit_s
    return OpenLoop(
        rate_per_s / stable,
        float(running[:-1] @ np.arange(load.most + 1) + running[-1] * load.most),
        ingress,
        _percentiles(wait.first_s),
        _percentiles(wait.queue_s),
        _percentiles(wait.prefill_s),
        _percentiles(ingress + wait.total_s),
        _percentiles(_tpot(load, rate_per_s, clock, running, wait)),
    )


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
    load = _load(
        *(clock, limits, input_tokens, output_tokens, hit_tokens, speculative_tokens, arrival_cv2)
    )
    stable = _stable(load, limits)

    def meets(rate: float) -> bool:
        running = _running(load, rate, clock)
        wait = _wait(load, rate, clock, limits, running)
        if load.most and np.quantile(_tpot(load, rate, clock, running, wait), quantile) > tpot_s:
            return False
        ttft = wait.total_s + clock.request_s + clock.exit_s
        return bool(np.quantile(ttft, quantile) <= ttft_s)

    low, high = stable * RATE_EPS, stable * SEARCH_FULL_FRAC
    if not meets(low):
        return 0.0
    if meets(high):
        return high
    for _ in range(SEARCH_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if meets(middle) else (low, middle)
    return low


def burst_ttft_s(requests: float, prefill_s: float) -> float:
    r"""Return the mean time to first token of simultaneous arrivals at an idle replica [s].

    Prompts are processed one after the other: :math:`\tfrac{b+1}{2}\,T`.

    Parameters
    ----------
    requests : float
        Requests b of the burst, at least 1. [-]
    prefill_s : float
        Prefill time T of one prompt. [s]

    Examples
    --------
    >>> burst_ttft_s(4, 0.2)
    0.5
    """
    return (requests + 1.0) / 2.0 * prefill_s


def _load(
    clock: EngineClock,
    limits: EngineLimits,
    input_tokens: Array,
    output_tokens: Array,
    hit_tokens: Array | None,
    per_step: float,
    arrival_cv2: float,
) -> _Load:
    inputs, outputs = np.broadcast_arrays(
        np.atleast_1d(np.asarray(input_tokens, dtype=np.float64)),
        np.atleast_1d(np.asarray(output_tokens, dtype=np.float64)),
    )
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
    peaked = squares / context_mean**2 if by_memory < min(limits.most_running, by_tokens) else 1.0
    numbers = np.arange(most + 1, dtype=np.float64)
    decode = decode_step_s(clock, numbers) + clock.kv_s_per_token * context_mean * numbers
    time_s = prompt_s(clock, prompt, hits)
    order = np.argsort(time_s, kind="stable")
    return _Load(
        prompt[order], time_s[order], steps[order], per_step, most, peaked, decode, arrival_cv2
    )


def _step_mean_s(load: _Load, rate: float, clock: EngineClock) -> Array:
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


def _stable(load: _Load, limits: EngineLimits) -> float:
    most, prefill = load.most, float(load.prefill_s.mean())
    if not most:
        return 1.0 / prefill
    return most / (float(load.steps.mean()) * float(load.decode_s[most]) + most * prefill)


def _running(load: _Load, rate: float, clock: EngineClock) -> Array:
    """Return the probabilities of 0, 1, ... most decoding requests, and of a wait for a slot."""
    if not load.most:
        return np.array([1.0, 0.0])
    n = np.arange(1, load.most + 1, dtype=np.float64)
    mean = float(load.steps.mean())
    leave = n / (mean * _step_mean_s(load, rate, clock)[1:])
    full = load.most / (mean * load.decode_s[-1] + load.most * load.prefill_s.mean())
    leave = np.minimum(leave, np.maximum(full, leave[-1]))
    blocked = _blocked(leave[_every(load.most, load.peakedness)], rate, full)
    weights = np.exp(_logs(leave, rate))
    found = np.concatenate([weights / weights.sum() * (1.0 - blocked), [blocked]])
    return np.asarray(found, dtype=np.float64)


def _logs(leave: Array, rate: float) -> Array:
    """Return logarithms of the weights of birth and death, the largest of them 0."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(rate / leave))])
    return np.asarray(logs - logs.max(), dtype=np.float64)


def _every(most: int, size: float) -> npt.NDArray[np.intp]:
    """Return the places of multiples of a size in 1, 2, ... most."""
    count = max(int(most / size), 1)
    return np.asarray(np.rint(np.arange(1, count + 1) * most / count) - 1, dtype=np.intp)


def _blocked(leave: Array, rate: float, full: float) -> float:
    """Return the probability of a wait for a slot."""
    weights = np.exp(_logs(leave, rate))
    waits = float(weights[-1]) * rate / (full - rate)
    return waits / (float(weights.sum()) + waits)


def _points() -> Array:
    """Return points in the unit cube, shape (dimensions, points) [7]_."""
    golden = 2.0
    for _ in range(SEARCH_HALVINGS):
        golden = (1.0 + golden) ** (1.0 / (FIT_DIMENSIONS + 1.0))
    steps = golden ** -np.arange(1.0, FIT_DIMENSIONS + 1.0)
    return np.asarray((0.5 + np.outer(steps, np.arange(1, FIT_POINTS + 1))) % 1.0)


POINTS = _points()


def _poisson(mean: Array, uniform: Array) -> Array:
    """Return the Poisson number at each uniform number, by counting."""
    small = np.minimum(mean, MOST_SINGLE_COUNTS)
    term = np.exp(-small)
    total, found = term.copy(), np.zeros_like(mean)
    k = 0.0
    while np.any(more := (uniform > total) & (k < 3.0 * MOST_SINGLE_COUNTS)):
        k += 1.0
        found = np.where(more, k, found)
        term = term * small / k
        total = total + term
    normal = _normal(uniform)
    return np.where(
        mean <= MOST_SINGLE_COUNTS, found, np.maximum(np.rint(mean + np.sqrt(mean) * normal), 0.0)
    )


def _normal(uniform: Array) -> Array:
    """Return the standard normal quantile, from the integral of its density."""
    density = np.exp(-NORMAL_GRID * NORMAL_GRID / 2.0)
    rise = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2.0)])
    return np.interp(uniform, rise / rise[-1], NORMAL_GRID)


def _prompts_s(load: _Load, number: Array, uniform: Array) -> Array:
    """Return the prefill time of a number of prompts: its mean and variance are those of a sum."""
    times = load.prefill_s
    one = times[np.minimum((uniform * times.size).astype(np.intp), times.size - 1)]
    mean = float(times.mean())
    return number * mean + np.sqrt(number) * (one - mean)


@dataclass(frozen=True)
class _Wait:
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
        return self.first_s + self.queue_s + self.prefill_s


def _wait(
    load: _Load, rate: float, clock: EngineClock, limits: EngineLimits, running: Array
) -> _Wait:
    """Return the parts of the time to first token of each point."""
    u = POINTS
    state = np.searchsorted(np.cumsum(running), u[0], side="right")
    n = np.minimum(state, load.most)
    decode = load.decode_s[n]
    room = limits.step_tokens - n.astype(np.float64)
    tokens_mean, prefill_mean = float(load.prompt.mean()), float(load.prefill_s.mean())
    chunk_s = prefill_mean * room / tokens_mean
    wait = _wait_s(load, rate, decode, room, n)
    queue = wait + _slot_s(load, rate, state)
    step = _met_step_s(load, rate, clock, n, chunk_s)
    # a prompt of several steps: its wait counts the rest of the prompt that is being processed
    long = room < tokens_mean
    step = np.where(long, np.where(wait > 0, 0.0, decode), step)
    # without decoding requests, a step of prompts shorter than its floor delays the next ones
    spare = max(clock.prefill_floor_s - prefill_mean, 0.0)
    idle = np.where(u[1] < rate * clock.prefill_floor_s, u[3] * spare, 0.0)
    first = np.where(n > 0, u[3] * step, idle)
    own = _own(load)
    chunks = np.ceil(load.prompt[own] / room)
    last = load.prompt[own] - (chunks - 1.0) * room
    most_shared = np.maximum(chunk_s - prefill_mean * last / tokens_mean, 0.0)
    # of the prompts ahead, a part is in the same step
    ahead = np.where(n > 0, 0.0, np.minimum(wait, most_shared) / 2.0)
    before = np.where(n > 0, step + np.where(long, wait, 0.0), wait - ahead)
    others = _poisson(rate * (before + (chunks - 1.0) * (decode + chunk_s)), u[5])
    shared = np.minimum(_prompts_s(load, others, u[6]), most_shared - ahead)
    prefill = chunks * decode + load.prefill_s[own] + shared
    prefill = np.maximum(prefill, chunks * clock.prefill_floor_s)
    behind = np.maximum(rate * (before + prefill) - shared / prefill_mean, 0.0)
    return _Wait(first, queue, prefill, behind, chunk_s)


def _own(load: _Load) -> npt.NDArray[np.intp]:
    """Return the request of each point."""
    return np.minimum((POINTS[4] * load.prompt.size).astype(np.intp), load.prompt.size - 1)


def _met_step_s(load: _Load, rate: float, clock: EngineClock, n: Array, chunk_s: Array) -> Array:
    """Return the length of the step that an arrival meets: a longer one is met more often."""
    decode, uniform = load.decode_s[n], POINTS[1]
    mean = _step_mean_s(load, rate, clock)[n]
    alone = np.where(n > 0, decode / np.maximum(mean, RATE_EPS), 1.0)
    more = uniform >= alone
    within = np.where(more, (uniform - alone) / np.maximum(1.0 - alone, RATE_EPS), uniform / alone)
    prompts = _poisson(rate * mean, within) + more
    step = decode + np.minimum(_prompts_s(load, prompts, POINTS[2]), chunk_s)
    return np.where(prompts > 0, np.maximum(step, clock.prefill_floor_s), step)


def _wait_s(load: _Load, rate: float, decode: Array, room: Array, n: Array) -> Array:
    """Return the wait for prompt tokens of a step: its tail has the second moment of M/G/1."""
    mean_s, mean_tokens = float(load.prefill_s.mean()), float(load.prompt.mean())
    service = mean_s + decode * mean_tokens / room
    cv2 = float(load.prefill_s.var()) / mean_s**2
    third = float((load.prefill_s**3).mean()) / mean_s**3
    together = np.where(n > 0, np.maximum(room / mean_tokens, 1.0), 1.0)
    busy = np.minimum(rate * service, SEARCH_FULL_FRAC)
    waits = busy ** (np.sqrt(2.0 * (together + 1.0)) - 1.0)
    mean = (load.arrival_cv2 + cv2) / 2.0 * service / (1.0 - busy)
    second = 2.0 * busy * mean**2 + service**2 * third / (3.0 * (1.0 - busy))
    tail_cv2 = np.maximum(second / mean**2 - 1.0, 1.0)
    return np.where(POINTS[7] < waits, mean * _hyperexponential(POINTS[7] / waits, tail_cv2), 0.0)


def _hyperexponential(uniform: Array, cv2: Array) -> Array:
    """Return values of mean 1: two exponential phases of equal weight in the mean."""
    often = (1.0 + np.sqrt((cv2 - 1.0) / (cv2 + 1.0))) / 2.0
    rare = uniform >= often
    share = np.where(rare, 1.0 - often, often)
    within = np.where(rare, uniform - often, uniform) / share
    return -np.log(np.clip(within, RATE_EPS, 1.0)) / (2.0 * share)


def _slot_s(load: _Load, rate: float, state: Array) -> Array:
    """Return the wait for a slot or KV memory of the points whose state is a wait."""
    waits, found = state > load.most, np.zeros(FIT_POINTS)
    number = int(waits.sum())
    if number:
        mean = float(load.steps.mean())
        last = float(load.decode_s[-1])
        full = load.most / (mean * last + load.most * float(load.prefill_s.mean()))
        spread = (load.arrival_cv2 + float(load.steps.var()) / mean**2) / 2.0
        ranks = (np.argsort(np.argsort(POINTS[6][waits])) + 0.5) / number
        found[waits] = -np.log(ranks) * spread * load.peakedness / (full - rate)
    return found


def _tpot(load: _Load, rate: float, clock: EngineClock, running: Array, wait: _Wait) -> Array:
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
    n = mean + LIFE_FRAC**0.5 * (n - mean)
    decode = np.interp(n, numbers, load.decode_s)
    prefill = float(load.prefill_s.mean())
    full = float(load.decode_s[-1]) + load.most / float(load.steps.mean()) * prefill
    step = np.interp(n, numbers, _step_mean_s(load, rate, clock))
    step = np.minimum(step, np.maximum(full, decode))
    busy = 1.0 - decode / step
    # prompts that arrive in the life of the request, and those that came while it waited
    starts = np.maximum(own - 1.0, 0.0) * decode * busy / prefill + wait.behind
    extra = np.minimum(_clusters_s(load, starts, busy), own * wait.chunk_s)
    return (decode + extra / np.maximum(own, RATE_EPS)) / load.per_step


def _clusters_s(load: _Load, number: Array, busy: Array) -> Array:
    r"""Return the prefill time in the life of a request.

    Prompts arrive in its decode time. Each is the start of a cluster: further prompts arrive while
    it is processed. A cluster has mean :math:`s / (1 - \rho)` and second moment
    :math:`E[s^2] / (1 - \rho)^3`, as the busy period of M/G/1 [4]_.
    """
    mean = float(load.prefill_s.mean()) / (1.0 - busy)
    second = float((load.prefill_s**2).mean()) / (1.0 - busy) ** 3
    sigma2 = np.log(second / mean**2)
    one = mean * np.exp(np.sqrt(sigma2) * _normal(POINTS[3]) - sigma2 / 2.0)
    count = _poisson(number, POINTS[2])
    return np.maximum(count * mean + np.sqrt(count) * (one - mean), 0.0)


def _percentiles(values: Array) -> Percentiles:
    p50, p90, p99 = np.percentile(values, FIT_PERCENTS).tolist()
    return Percentiles(float(values.mean()), p50, p90, p99)
