"""The scheduler of one replica: continuous batching, many identical steps at once.

It follows the scheduler of vLLM V1 [1]_: first come, first served; one token for each decoding
request; the rest of the step for prompt chunks; at the end of the KV cache the request that was
admitted last is preempted and computed again.

References
----------
.. [1] W. Kwon et al., "Efficient Memory Management for Large Language Model Serving with
   PagedAttention", SOSP 2023; chunked prefill: A. Agrawal et al., "Taming Throughput-Latency
   Tradeoff in LLM Inference with Sarathi-Serve", OSDI 2024.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from dcplan.serving.queue.clock import EngineClock, EngineLimits, decode_step_s

OUT = -1
"""Admission number of a request that does not run."""


@dataclass
class Requests:
    """Requests of all replicas, one list entry each."""

    prompt: list[int]
    """Tokens to process before the next output token; grows when a request is preempted."""
    cached: list[int]
    """Tokens of the prompt that need no prefill."""
    left: list[int]
    """Output tokens to come."""
    ready_s: list[float]
    """Time from which the request can be scheduled."""
    step_end_s: list[float]
    """End of the step that ran when the request became ready."""
    scheduled_s: list[float]
    first_s: list[float]
    finish_s: list[float]
    admission: list[int]
    """Number of the admission that runs, or OUT."""
    base: list[float]
    """Context minus tokens per step times steps of the replica: constant while it decodes."""
    joined: list[int]
    """Steps of the replica when decoding began."""

    @classmethod
    def of(
        cls, prompt: list[int], cached: list[int], output: list[int], ready: list[float]
    ) -> Requests:
        """Make the requests, none of them admitted."""
        unknown = [math.nan] * len(prompt)
        return cls(
            *(prompt, cached, output, ready),
            *(unknown.copy(), unknown.copy(), unknown.copy(), unknown.copy()),
            *([OUT] * len(prompt), [0.0] * len(prompt), [0] * len(prompt)),
        )


class Replica:
    """State between two segments of identical steps.

    A segment has `steps` steps. The first lasts `first_s`; each later one lasts `more_s` longer,
    because contexts grow. Its requests do not change before its last step ends.
    """

    def __init__(
        self, requests: Requests, clock: EngineClock, limits: EngineLimits, per_step: float
    ) -> None:
        self.requests, self.clock, self.limits, self.per_step = requests, clock, limits, per_step
        batches = np.arange(limits.most_running + 1, dtype=np.float64)
        self.decode_s: list[float] = decode_step_s(clock, batches).tolist()
        self.unused = limits.unused_tokens
        self.waiting: deque[int] = deque()
        self.ends: list[tuple[int, int, int]] = []
        """Heap of (step at which it ends, admission, request) of the decoding requests."""
        self.stack: list[tuple[int, int]] = []
        """(admission, request) in the order of admission; with entries of requests that left."""
        self.admissions = 0
        self.decoding = 0
        self.context = 0.0
        """Tokens in the KV cache of all decoding requests."""
        self.held = 0.0
        """KV tokens of prompts that are being processed, with their unused parts."""
        self.open: list[tuple[int, int]] = []
        """(request, processed tokens after the segment) of the prompts in the segment."""
        self.partial: tuple[int, int] | None = None
        """Request and processed tokens of the prompt that the last segment did not complete."""
        self.busy = False
        self.count = 0
        self.start_s = self.end_s = self.first_s = self.more_s = 0.0
        self.steps = 0
        self.busy_s = self.running_s = 0.0
        self.kv_peak = 0.0
        self.preemptions = 0
        self.version = 0

    def add(self, i: int, now: float) -> bool:
        """Queue a request; return whether the segment now ends earlier."""
        self.waiting.append(i)
        if not self.busy:
            self.requests.step_end_s[i] = now
            return False
        done = self._steps_until(now)
        self.requests.step_end_s[i] = end = self._after(done)
        if self.open or len(self.waiting) > 1 or done >= self.steps:
            return False
        kv = self.context + self.per_step * self.decoding * done + self.unused * self.decoding
        room = self.decoding < self.limits.most_running and self.decoding < self.limits.step_tokens
        if not room or kv + self.requests.prompt[i] + self.unused > self.limits.kv_tokens:
            return False
        self.steps, self.end_s = done, end
        return True

    def _after(self, steps: int) -> float:
        """Return the end of a step of the segment."""
        return self.start_s + steps * (self.first_s + self.more_s * (steps - 1) / 2.0)

    def _steps_until(self, now: float) -> int:
        """Return the number of steps at the end of the one that runs now."""
        if self.steps == 1:
            return 1
        half, gone = self.more_s / 2.0, now - self.start_s
        linear = self.first_s - half
        root = 2.0 * gone / (linear + math.sqrt(linear * linear + 4.0 * half * max(gone, 0.0)))
        found = min(max(math.ceil(root), 1), self.steps)
        while found > 1 and self._after(found - 1) >= now:
            found -= 1
        while found < self.steps and self._after(found) < now:
            found += 1
        return found

    def plan(self, now: float) -> bool:
        """Start the next segment; return False if there is nothing to do."""
        preempted = self._make_room()
        budget = self.limits.step_tokens - self.decoding
        self.open = []
        work = pairs = 0
        if self.partial and budget > 0:
            work, pairs = self._chunk(*self.partial, budget)
        if not preempted:
            while self.waiting and budget > work and self._admit(now):
                i = self.waiting.popleft()
                tokens, extra = self._chunk(i, self.requests.cached[i], budget - work)
                work, pairs = work + tokens, pairs + extra
        running = self.decoding + len(self.open)
        if not running:
            self.busy = False
            return False
        decode = self.decode_s[self.decoding] + self.clock.kv_s_per_token * self.context
        time_s = decode + self.clock.prefill_s_per_token * work
        time_s += self.clock.prefill_s_per_pair * pairs
        self.more_s = self.clock.kv_s_per_token * self.per_step * self.decoding
        self.steps = self._equal_steps(work, time_s)
        self.first_s = max(time_s, self.clock.prefill_floor_s) if work else time_s
        self.start_s, self.end_s = now, now
        self.end_s = self._after(self.steps)
        self.busy = True
        return True

    def _admit(self, now: float) -> bool:
        """Admit the request that waits longest if it fits."""
        r, i = self.requests, self.waiting[0]
        waits_for_slot = self.decoding + len(self.open) >= self.limits.most_running
        used = self.context + self.unused * self.decoding + self.held
        need = r.prompt[i] + self.unused
        if waits_for_slot or used + need > self.limits.kv_tokens:
            return False
        self.held += need
        r.admission[i] = self.admissions
        self.stack.append((self.admissions, i))
        self.admissions += 1
        if math.isnan(r.scheduled_s[i]):
            r.scheduled_s[i] = now
        return True

    def _chunk(self, i: int, earlier: int, budget: int) -> tuple[int, int]:
        """Put the next tokens of a prompt into the step; return its tokens and pairs."""
        tokens = min(self.requests.prompt[i] - earlier, budget)
        self.open.append((i, earlier + tokens))
        return tokens, tokens * earlier + tokens * (tokens - 1) // 2

    def _equal_steps(self, work: int, time_s: float) -> int:
        """Return the number of steps until a request ends, a prompt ends or the KV is full."""
        most = None
        while self.ends and self.requests.admission[self.ends[0][2]] != self.ends[0][1]:
            heappop(self.ends)
        if self.ends:
            most = self.ends[0][0] - self.count
        if work:
            i, done = self.open[0]
            left = self.requests.prompt[i] - done
            if len(self.open) > 1 or left <= work or time_s < self.clock.prefill_floor_s:
                return 1
            # the chunks of one long prompt: each has the same tokens and more earlier ones
            self.more_s += self.clock.prefill_s_per_pair * work * work
            chunks = 1 + (left - 1) // work
            most = chunks if most is None else min(most, chunks)
        growth = self.per_step * self.decoding
        if growth and (self.decoding > 1 or self.open):
            used = self.context + self.unused * self.decoding + self.held
            most = min(most or 1, int((self.limits.kv_tokens - used) // growth) + 1)
        steps = max(most or 1, 1)
        if work:
            self.open[0] = (i, done + work * (steps - 1))
        return steps

    def _make_room(self) -> bool:
        """Preempt the requests admitted last until the contexts fit; at least one remains."""
        found = False
        while True:
            running = self.decoding + (self.partial is not None)
            used = self.context + self.unused * self.decoding + self.held
            if used <= self.limits.kv_tokens or running <= 1:
                return found
            self._preempt()
            found = True

    def _preempt(self) -> None:
        r = self.requests
        admission, i = self.stack.pop()
        while r.admission[i] != admission:
            admission, i = self.stack.pop()
        if self.partial and self.partial[0] == i:
            self.partial, self.held = None, 0.0
        else:
            self.decoding -= 1
            self.context -= r.base[i] + self.per_step * self.count
            made = int(self.per_step * (self.count - r.joined[i]))
            r.left[i] -= made
            r.prompt[i] += 1 + made
        r.admission[i] = OUT
        self.waiting.appendleft(i)
        self.preemptions += 1

    def finish(self) -> list[int]:
        """End the segment; return the requests that have all their tokens."""
        r, done = self.requests, []
        length_s = self.end_s - self.start_s
        self.busy_s += length_s
        self.running_s += length_s * (self.decoding + len(self.open))
        last = self.context + self.per_step * self.decoding * (self.steps - 1)
        self.kv_peak = max(self.kv_peak, last + self.unused * self.decoding + self.held)
        self.count += self.steps
        self.context += self.per_step * self.decoding * self.steps
        while self.ends and self.ends[0][0] <= self.count:
            _, admission, i = heappop(self.ends)
            if r.admission[i] == admission:
                self.decoding -= 1
                self.context -= r.base[i] + self.per_step * self.count
                done.append(i)
        self.partial = None
        for i, processed in self.open:
            if processed < r.prompt[i]:
                self.partial = (i, processed)
            elif self._decode(i):
                done.append(i)
        self.held = r.prompt[self.partial[0]] + self.unused if self.partial else 0.0
        if not self.decoding:
            self.context = 0.0
        for i in done:
            r.admission[i] = OUT
            r.finish_s[i] = self.end_s
        self.busy = False
        return done

    def _decode(self, i: int) -> bool:
        """Put out the token after a prompt, then decode; return whether it was the last token."""
        r = self.requests
        if math.isnan(r.first_s[i]):
            r.first_s[i] = self.end_s
        r.left[i] -= 1
        if not r.left[i]:
            return True
        r.joined[i] = self.count
        r.base[i] = r.prompt[i] + 1 - self.per_step * self.count
        self.context += r.prompt[i] + 1
        self.decoding += 1
        steps = math.ceil(r.left[i] / self.per_step)
        heappush(self.ends, (self.count + steps, r.admission[i], i))
        return False
