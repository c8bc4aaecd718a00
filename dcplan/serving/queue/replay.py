"""Replay of requests through replicas with continuous batching: an event loop.

The loop jumps over identical decode steps, so its cost depends on the requests, not on the tokens.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from dcplan.serving.queue.clock import Array, EngineClock, EngineLimits
from dcplan.serving.queue.replica import Replica, Requests


@dataclass(frozen=True)
class Replayed:
    """Times of each request, and what the replicas did; a rejected request has NaN times."""

    arrival_s: Array
    """In a closed loop, the time at which the request was sent."""
    ttft_s: Array
    """Arrival to first token: ingress + first_step + queue + prefill + exit."""
    tpot_s: Array
    """Mean time between tokens after the first; NaN for one token."""
    e2e_s: Array
    """Arrival to last token."""
    first_step_s: Array
    """Wait for the end of the step that runs when the request becomes ready."""
    queue_s: Array
    """Further wait for a slot, KV memory or prompt tokens of a step."""
    prefill_s: Array
    """First prompt chunk to first token."""
    replica: npt.NDArray[np.int64]
    """Replica of each request; -1 if rejected."""
    span_s: float
    """First arrival to last token."""
    tokens_per_s: float
    """Output tokens of all replicas in the span."""
    busy_frac: float
    """Share of the span in which a replica runs steps, mean of the replicas."""
    mean_running: float
    """Running requests of a replica while it is busy, mean over time."""
    steps: int
    kv_peak_tokens: float
    """Largest KV use of a replica, with unused parts of blocks."""
    preemptions: int
    rejected: int
    """Requests that are longer than the KV capacity of a replica."""


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
    loop = _Loop.of(
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
    loop = _Loop.of(
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


@dataclass
class _Loop:
    """The replicas, the requests to come, and the ends of segments."""

    requests: Requests
    size: list[int]
    """Tokens of each request, for the choice of its replica."""
    output: Array
    rejected: list[bool]
    replicas: list[Replica]
    clock: EngineClock
    outstanding: npt.NDArray[np.int64]
    """Tokens of each replica's requests that have not ended."""
    place: list[int]
    coming: deque[int]
    """Requests in the order in which they become ready."""
    next: deque[int]
    """Requests that a closed loop sends later."""
    events: list[tuple[float, int, int]]
    """Heap of (end of a segment, replica, version of the segment)."""

    @classmethod
    def of(
        cls,
        inputs: Array,
        outputs: Array,
        clock: EngineClock,
        limits: EngineLimits,
        replicas: int,
        hits: Array | None,
        per_step: float,
    ) -> _Loop:
        """Check the requests and make the replicas."""
        prompt = np.rint(np.asarray(inputs)).astype(np.int64)
        output = np.rint(np.asarray(outputs)).astype(np.int64)
        cached = np.zeros_like(prompt) if hits is None else np.rint(hits).astype(np.int64)
        if prompt.ndim != 1 or not prompt.shape == output.shape == cached.shape:
            msg = f"input {prompt.shape}, output {output.shape} and hit {cached.shape} differ"
            raise ValueError(msg)
        if np.any(prompt < 1) or np.any(output < 1) or np.any(cached < 0):
            msg = "input_tokens and output_tokens are at least 1, hit_tokens at least 0"
            raise ValueError(msg)
        if replicas < 1 or per_step < 1.0:
            msg = f"replicas {replicas} and speculative_tokens {per_step:g} are at least 1"
            raise ValueError(msg)
        cached = np.minimum(cached, prompt - 1)
        size = (prompt + output).tolist()
        too_long = prompt + output - 1 + limits.unused_tokens > limits.kv_tokens
        ready = [0.0] * len(size)
        requests = Requests.of(prompt.tolist(), cached.tolist(), output.tolist(), ready)
        engines = [Replica(requests, clock, limits, per_step) for _ in range(replicas)]
        return cls(
            *(requests, size, output.astype(np.float64), too_long.tolist(), engines, clock),
            *(np.zeros(replicas, dtype=np.int64), [-1] * len(size), deque(), deque(), []),
        )

    def run(self) -> None:
        """Process arrivals and ends of segments in the order of time."""
        ready = self.requests.ready_s
        while self.coming or self.events:
            due = ready[self.coming[0]] if self.coming else math.inf
            if not self.events or due <= self.events[0][0]:
                self._arrive(due)
                continue
            now, number, version = heappop(self.events)
            replica = self.replicas[number]
            if version != replica.version:
                continue
            for i in replica.finish():
                self._end(i, number, now)
            if self.coming and ready[self.coming[0]] <= now:
                self._arrive(now)
            if not replica.busy:
                self._plan(number, now)

    def _arrive(self, now: float) -> None:
        """Give each request that is ready to a replica; start those that are idle."""
        ready, touched = self.requests.ready_s, set()
        while self.coming and ready[self.coming[0]] <= now:
            i = self.coming.popleft()
            number = int(self.outstanding.argmin()) if len(self.replicas) > 1 else 0
            self.outstanding[number] += self.size[i]
            self.place[i] = number
            if self.replicas[number].add(i, now):
                self._push(number)
            touched.add(number)
        for number in sorted(touched):
            if not self.replicas[number].busy:
                self._plan(number, now)

    def _plan(self, number: int, now: float) -> None:
        if self.replicas[number].plan(now):
            self._push(number)

    def _push(self, number: int) -> None:
        replica = self.replicas[number]
        replica.version += 1
        heappush(self.events, (replica.end_s, number, replica.version))

    def _end(self, i: int, number: int, now: float) -> None:
        self.outstanding[number] -= self.size[i]
        if self.next:
            after = self.next.popleft()
            self.requests.ready_s[after] = now + self.clock.exit_s + self.clock.request_s
            self.coming.append(after)

    def replayed(self, arrivals: Array) -> Replayed:
        """Return the times of each request and the totals."""
        r, exit_s = self.requests, self.clock.exit_s
        ready, first, finish = np.array(r.ready_s), np.array(r.first_s), np.array(r.finish_s)
        step_end, scheduled = np.array(r.step_end_s), np.array(r.scheduled_s)
        served = ~np.array(self.rejected, dtype=np.bool_)
        between = np.where(self.output > 1, self.output - 1.0, math.nan)
        span = float(finish[served].max() + exit_s - arrivals[served].min()) if served.any() else 0
        busy = sum(e.busy_s for e in self.replicas)
        return Replayed(
            arrival_s=arrivals,
            ttft_s=first + exit_s - arrivals,
            tpot_s=(finish - first) / between,
            e2e_s=finish + exit_s - arrivals,
            first_step_s=np.minimum(step_end, scheduled) - ready,
            queue_s=scheduled - np.minimum(step_end, scheduled),
            prefill_s=first - scheduled,
            replica=np.array(self.place, dtype=np.int64),
            span_s=span,
            tokens_per_s=float(self.output[served].sum()) / span if span else 0.0,
            busy_frac=busy / (span * len(self.replicas)) if span else 0.0,
            mean_running=sum(e.running_s for e in self.replicas) / busy if busy else 0.0,
            steps=sum(e.count for e in self.replicas),
            kv_peak_tokens=max(e.kv_peak for e in self.replicas),
            preemptions=sum(e.preemptions for e in self.replicas),
            rejected=int((~served).sum()),
        )
