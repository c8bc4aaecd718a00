"""The highest rate of each layout of a service within its latency limits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dcplan.inputs.serving.clocking import Copy, Slots, copy_of
from dcplan.inputs.serving.sizing.states import States
from dcplan.inputs.serving.sizing.work import ServedWork
from dcplan.serving.queue.percentiles import OpenLoop, open_loop
from dcplan.serving.queue.rates import most_rate, most_stable_rate
from dcplan.serving.tables import Array

SEARCH_SLACK = 1.1
"""Factor on the throughput of the next batch beyond the limits, which bounds the open loop."""


@dataclass(frozen=True)
class Rates:
    """Rates of the layouts of a service; those that a bound excludes are not searched."""

    states: States
    bound: Array
    """Upper bound of the output tokens per second and accelerator, shape (layouts,)."""
    searched: dict[int, float] = field(default_factory=dict)
    """Layout -> highest request rate of a replica within the limits."""
    copies: dict[int, Copy] = field(default_factory=dict)

    def copy(self, at: int) -> Copy:
        """Return the queue of one copy of attention of a layout."""
        if at not in self.copies:
            work, found = self.states.work, self.states.found
            most, arriving = float(found.most_requests[at, 0]), self._arriving(at)
            one, slots = self.states.one(at), slots_of(work)
            self.copies[at] = copy_of(one, work.need, most, slots, arriving, work.plan)
        return self.copies[at]

    def _arriving(self, at: int) -> float:
        """Return the prompts that arrive per decode step at one copy of attention."""
        work, found = self.states.work, self.states.found
        within = (found.steady.tpot_s[at] <= work.limits.tpot_s) & (found.possible[at] > 0)
        running = float(np.where(within, found.concurrency, 1.0).max())
        return running / work.layouts[at].dp / work.need.output_tokens

    def most(self, at: int) -> float:
        """Return the highest request rate of a replica within the limits [1/s]."""
        if at not in self.searched:
            self.searched[at] = self._most(at)
        return self.searched[at]

    def _most(self, at: int) -> float:
        work, copy = self.states.work, self.copy(at)
        inputs, outputs, hits = self.states.work.requests()
        rest = work.limits.ttft_s - copy.own_prefill_s
        if rest <= copy.ingress_s:
            return 0.0
        each = most_rate(
            *(
                copy.clock,
                copy.limits,
                inputs,
                outputs,
                rest,
                work.limits.tpot_s,
                work.limits.quantile,
            ),
            arrival_cv2=work.arrival_cv2,
            hit_tokens=hits,
            speculative_tokens=work.plan.tokens_per_step,
        )
        return each * copy.copies

    def stable(self, at: int) -> float:
        """Return the request rate of a replica from which its queue grows without limit [1/s]."""
        copy, work = self.copy(at), self.states.work.requests()
        per_step = self.states.work.plan.tokens_per_step
        return most_stable_rate(copy.clock, copy.limits, *work, per_step) * copy.copies

    def latency(self, at: int, rate: float) -> OpenLoop:
        """Return the latency of a layout at a request rate of a replica."""
        copy = self.copy(at)
        inputs, outputs, hits = self.states.work.requests()
        return open_loop(
            rate / copy.copies,
            *(copy.clock, copy.limits, inputs, outputs),
            arrival_cv2=self.states.work.arrival_cv2,
            hit_tokens=hits,
            speculative_tokens=self.states.work.plan.tokens_per_step,
            quantile=self.states.work.limits.quantile,
        )

    def value(self, at: int) -> float:
        """Return output tokens per second and accelerator at the highest rate."""
        size = float(self.states.found.accelerators[at, 0])
        return self.most(at) * self.states.work.need.output_tokens / size


def slots_of(work: ServedWork) -> Slots:
    """Return what the engine allows one copy of attention."""
    return Slots(work.service.most_running, work.service.step_tokens)


def rates_of(states: States) -> Rates:
    """Return the bound of each layout: the throughput of the batch next to the limit of the TPOT."""
    work, found = states.work, states.found
    within = (found.steady.tpot_s <= work.limits.tpot_s) & (found.possible > 0)
    last = within.sum(axis=1)
    value = found.tokens_per_s_per_accelerator
    column = np.minimum(last, value.shape[1] - 1)
    best = np.where(within, value, 0.0).max(axis=1)
    after = np.take_along_axis(value, column[:, None], axis=1)[:, 0]
    bound = SEARCH_SLACK * np.maximum(best, np.where(last > 0, after, 0.0))
    able = (states.fits > 0) & (last > 0) & (states.ttft_floor_s <= work.limits.ttft_s)
    return Rates(states, np.where(able, bound, 0.0))
