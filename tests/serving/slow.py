"""A slow replay, one step at a time, with one object for each request."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dcplan.serving.queue.clock import EngineClock, EngineLimits


@dataclass(eq=False)
class One:
    number: int
    ready: float
    prompt: int
    output: int
    cached: int
    made: int = 0
    """Output tokens."""
    done: int = 0
    """Prompt tokens in the cache since the last admission."""
    target: int = 0
    """Tokens to process before the next output token."""
    times: list[float] = field(default_factory=list)
    scheduled: float = float("nan")


@dataclass
class Slow:
    clock: EngineClock
    limits: EngineLimits
    waiting: list[One] = field(default_factory=list)
    running: list[One] = field(default_factory=list)
    """In the order of admission."""
    end: float | None = None
    work: list[tuple[One, int]] = field(default_factory=list)
    steps: int = 0
    preemptions: int = 0
    peak: float = 0.0

    def held(self) -> float:
        """KV tokens of a step: contexts of decoding requests, whole prompts of the others."""
        return sum(
            max(x.prompt + x.made if x.done >= x.target else x.target, 0)
            + (self.limits.block_tokens - 1) / 2
            for x in self.running
        )

    def start(self, now: float) -> None:
        preempted = False
        while self.held() > self.limits.kv_tokens and len(self.running) > 1:
            last = self.running.pop()
            last.done = 0
            self.waiting.insert(0, last)
            preempted = True
            self.preemptions += 1
        decoding = [x for x in self.running if x.done >= x.target]
        budget = self.limits.step_tokens - len(decoding)
        self.work = [(x, 1) for x in decoding]
        chunks = []
        for x in self.running:
            if x.done < x.target:
                n = min(x.target - x.done, budget)
                chunks.append((x, n))
                budget -= n
        while not preempted and self.waiting and budget > 0:
            x = self.waiting[0]
            x.target = x.prompt + x.made
            need = x.target + (self.limits.block_tokens - 1) / 2
            if len(self.running) >= self.limits.most_running:
                break
            if self.held() + need > self.limits.kv_tokens:
                break
            self.running.append(self.waiting.pop(0))
            x.done = x.cached
            x.scheduled = x.scheduled if x.times or x.scheduled == x.scheduled else now
            n = min(x.target - x.done, budget)
            chunks.append((x, n))
            budget -= n
        self.end = None
        if not self.running:
            return
        self.peak = max(self.peak, self.held())
        c, t = self.clock, 0.0
        if decoding:
            t += float(np.interp(len(decoding), c.batch, c.decode_s))
        for x in decoding:
            t += c.kv_s_per_token * (x.prompt + x.made)
        for x, n in chunks:
            for earlier in range(x.done, x.done + n):
                t += c.prefill_s_per_token + c.prefill_s_per_pair * earlier
        if chunks:
            t = max(t, c.prefill_floor_s)
        self.work += chunks
        self.end = now + t
        self.steps += 1

    def stop(self) -> list[One]:
        assert self.end is not None
        out = []
        for x, n in self.work:
            if x.done < x.target:
                x.done += n
                if x.done < x.target:
                    continue
            x.made += 1
            x.times.append(self.end)
            if x.made == x.output:
                self.running.remove(x)
                out.append(x)
        self.end = None
        return out


def slow_replay(arrivals, inputs, outputs, clock, limits, replicas=1, hits=None, concurrency=0):
    """Return the requests and the replicas; arrivals of a closed loop are those of its start."""
    hits = np.zeros(len(inputs), int) if hits is None else hits
    ones = [
        One(i, a + clock.request_s, int(p), int(o), min(int(h), int(p) - 1))
        for i, (a, p, o, h) in enumerate(zip(arrivals, inputs, outputs, hits, strict=True))
    ]
    fit = [
        x
        for x in ones
        if x.prompt + x.output - 1 + (limits.block_tokens - 1) / 2 <= limits.kv_tokens
    ]
    coming = fit[:concurrency] if concurrency else sorted(fit, key=lambda x: x.ready)
    later = fit[concurrency:] if concurrency else []
    engines = [Slow(clock, limits) for _ in range(replicas)]
    load = [0] * replicas
    place = {}

    def arrive(now: float) -> None:
        while coming and coming[0].ready <= now:
            x = coming.pop(0)
            k = min(range(replicas), key=lambda j: (load[j], j))
            load[k] += x.prompt + x.output
            place[x.number] = k
            engines[k].waiting.append(x)
        for e in engines:
            if e.end is None:
                e.start(now)

    while coming or any(e.end is not None for e in engines):
        ends = [(e.end, k) for k, e in enumerate(engines) if e.end is not None]
        first = min(ends) if ends else (float("inf"), 0)
        if coming and coming[0].ready <= first[0]:
            arrive(coming[0].ready)
            continue
        now, k = first
        for x in engines[k].stop():
            load[k] -= x.prompt + x.output
            if later:
                later[0].ready = now + clock.exit_s + clock.request_s
                coming.append(later.pop(0))
        arrive(now)
    return ones, engines, place
