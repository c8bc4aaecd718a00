"""The highest rate of each layout within the latency limits, and the best layout."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dcplan.answers.serve.hosted import Hosted
from dcplan.answers.serve.resolve import ServeRun
from dcplan.answers.serve.service.states import States
from dcplan.inputs.serving.clocking import Copy, Slots, copy_of
from dcplan.serving.queue.percentiles import OpenLoop, open_loop
from dcplan.serving.queue.rates import most_rate, most_stable_rate
from dcplan.serving.tables import Array

SLACK = 1.1
"""Factor on the throughput of the next batch beyond the limits, which bounds the open loop."""
MOST_SEARCHED = 16
"""Layouts whose rate is searched at most."""


@dataclass(frozen=True)
class Rates:
    """Rates of the layouts of a run; those that a bound excludes are not searched."""

    states: States
    bound: Array
    """Upper bound of the output tokens per second and accelerator, shape (layouts,)."""
    searched: dict[int, float] = field(default_factory=dict)
    """Layout -> highest request rate of a replica within the limits."""
    copies: dict[int, Copy] = field(default_factory=dict)

    def copy(self, at: int) -> Copy:
        """Return the queue of one copy of attention of a layout."""
        if at not in self.copies:
            run, found = self.states.run, self.states.found
            most, arriving = float(found.most_requests[at, 0]), self._arriving(at)
            one, slots = self.states.one(at), slots_of(run)
            self.copies[at] = copy_of(one, run.need, most, slots, arriving, run.plan)
        return self.copies[at]

    def _arriving(self, at: int) -> float:
        """Return the prompts that arrive per decode step at one copy of attention."""
        run, found = self.states.run, self.states.found
        within = (found.steady.tpot_s[at] <= run.tpot_s) & (found.possible[at] > 0)
        running = float(np.where(within, found.concurrency, 1.0).max())
        return running / run.layouts[at].dp / run.need.output_tokens

    def most(self, at: int) -> float:
        """Return the highest request rate of a replica within the limits [1/s]."""
        if at not in self.searched:
            self.searched[at] = self._most(at)
        return self.searched[at]

    def _most(self, at: int) -> float:
        run, copy = self.states.run, self.copy(at)
        inputs, outputs, hits = self.requests()
        rest = run.ttft_s - copy.own_prefill_s
        if rest <= copy.ingress_s:
            return 0.0
        each = most_rate(
            *(copy.clock, copy.limits, inputs, outputs, rest, run.tpot_s, run.request.quantile),
            arrival_cv2=run.arrival_cv2,
            hit_tokens=hits,
            speculative_tokens=run.plan.tokens_per_step,
        )
        return each * copy.copies

    def stable(self, at: int) -> float:
        """Return the request rate of a replica from which its queue grows without limit [1/s]."""
        copy, work = self.copy(at), self.requests()
        per_step = self.states.run.plan.tokens_per_step
        return most_stable_rate(copy.clock, copy.limits, *work, per_step) * copy.copies

    def requests(self) -> tuple[Array, Array, Array]:
        """Return input, output and cached tokens of the requests."""
        run = self.states.run
        some = run.lengths.sample()
        return some.input_tokens, some.output_tokens, some.hit_tokens

    def latency(self, at: int, rate: float) -> OpenLoop:
        """Return the latency of a layout at a request rate of a replica."""
        copy = self.copy(at)
        inputs, outputs, hits = self.requests()
        return open_loop(
            rate / copy.copies,
            *(copy.clock, copy.limits, inputs, outputs),
            arrival_cv2=self.states.run.arrival_cv2,
            hit_tokens=hits,
            speculative_tokens=self.states.run.plan.tokens_per_step,
            quantile=self.states.run.request.quantile,
        )

    def value(self, at: int) -> float:
        """Return output tokens per second and accelerator at the highest rate."""
        size = float(self.states.found.accelerators[at, 0])
        return self.most(at) * self.states.run.need.output_tokens / size


def slots_of(run: ServeRun) -> Slots:
    """Return what the engine allows one copy of attention."""
    return Slots(run.service.most_running, run.service.step_tokens)


def rates_of(states: States) -> Rates:
    """Return the bound of each layout: the throughput of the batch next to the limit of the TPOT."""
    run, found = states.run, states.found
    within = (found.steady.tpot_s <= run.tpot_s) & (found.possible > 0)
    last = within.sum(axis=1)
    value = found.tokens_per_s_per_accelerator
    column = np.minimum(last, value.shape[1] - 1)
    best = np.where(within, value, 0.0).max(axis=1)
    after = np.take_along_axis(value, column[:, None], axis=1)[:, 0]
    bound = SLACK * np.maximum(best, np.where(last > 0, after, 0.0))
    able = (states.fits > 0) & (last > 0) & (states.ttft_floor_s <= run.ttft_s)
    return Rates(states, np.where(able, bound, 0.0))


@dataclass(frozen=True)
class Fleet:
    """Replicas of one layout."""

    at: int
    """Index of the layout."""
    replicas: int
    accelerators: int
    """Accelerators that serve, without spares."""
    rate: float
    """Request rate of the service [1/s]."""
    rate_max: float
    """Highest request rate within the limits [1/s]."""


def fleet_of(rates: Rates, at: int) -> Fleet | None:
    """Return the replicas of a layout for the request: of one replica, of -n or of --rate."""
    return fleet_at(rates.states.run, at, rates.most(at))


def fleet_at(run: Hosted, at: int, most: float) -> Fleet | None:
    """Return the replicas of a layout of which each serves at most ``most`` requests per second."""
    request, size = run.request, run.layouts[at].accelerators
    if most <= 0.0:
        return None
    if request.accelerators is not None:
        replicas = request.accelerators // size
    elif run.rate is not None:
        replicas = math.ceil(run.rate / most)
    else:
        replicas = 1
    if replicas < 1:
        return None
    rate = most * replicas if run.rate is None else min(run.rate, most * replicas)
    return Fleet(at, replicas, replicas * size, rate, most * replicas)


def best_fleet(rates: Rates) -> Fleet | None:
    """Return the best layout within the limits, or None.

    With a rate, it has the fewest accelerators with spares; with a number of accelerators, the
    highest rate; else the most tokens per accelerator. Of equal ones, the one with more tokens per
    accelerator is taken.
    """
    best: tuple[tuple[float, float, float], Fleet] | None = None
    order = np.argsort(-rates.bound, kind="stable")
    for searched, at in enumerate(int(i) for i in order):
        if rates.bound[at] <= 0.0 or (best and searched >= MOST_SEARCHED):
            break
        if best is not None and not _may_win(rates, at, best[1]):
            continue
        fleet = fleet_of(rates, at)
        if fleet is None:
            continue
        score = _score(rates, fleet)
        if best is None or score > best[0]:
            best = (score, fleet)
    return best[1] if best else None


def _score(rates: Rates, fleet: Fleet) -> tuple[float, float, float]:
    run = rates.states.run
    request = run.request
    size = fleet.accelerators / fleet.replicas
    value = round(rates.value(fleet.at), 6)
    if request.accelerators is not None:
        return (round(fleet.rate_max, 9), value, -size)
    if run.rate is not None:
        return (-(fleet.accelerators + run.spare_replicas * size), value, -size)
    return (value, -size, 0.0)


def _may_win(rates: Rates, at: int, best: Fleet) -> bool:
    """Whether a layout could beat the best one if it reached its bound."""
    run = rates.states.run
    size = int(rates.states.found.accelerators[at, 0])
    rate = float(rates.bound[at]) * size / run.need.output_tokens
    if run.request.accelerators is not None:
        return rate * (run.request.accelerators // size) > best.rate_max
    if run.rate is not None:
        each = best.accelerators // best.replicas
        count = (math.ceil(run.rate / rate) + run.spare_replicas) * size
        return count <= best.accelerators + run.spare_replicas * each
    return float(rates.bound[at]) > rates.value(best.at)
