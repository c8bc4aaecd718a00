"""Event loop of replicas with continuous batching: arrivals, and the ends of segments of steps."""

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


@dataclass
class EventLoop:
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
    ) -> EventLoop:
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
