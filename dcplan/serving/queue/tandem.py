"""Two queues in a row: a replica for prompts, then a replica that decodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.serving.queue.clock import Array, EngineClock, EngineLimits
from dcplan.serving.queue.load import load_of, occupancy, stable_rate
from dcplan.serving.queue.rates import highest_rate
from dcplan.serving.queue.waits import tpot_s_of, wait_of


@dataclass(frozen=True)
class Times:
    """Times of each point of the sequence at one queue, shape (points,)."""

    wait_s: Array
    """Wait for a step, a slot, KV memory or prompts ahead. [s]"""
    work_s: Array
    """Steps until the prompt, or the first token, is ready. [s]"""
    tpot_s: Array
    """Time per output token; NaN where a request has one token. [s]"""

    @property
    def total_s(self) -> Array:
        """Return wait and work [s]."""
        return self.wait_s + self.work_s


@dataclass(frozen=True)
class Stage:
    """One queue with its requests: a sample of equal weight."""

    clock: EngineClock
    limits: EngineLimits
    input_tokens: Array
    output_tokens: Array
    hit_tokens: Array
    tokens_per_step: float = 1.0
    step_wait: bool = True
    """Whether the rest of the running step counts. It is in the fitted hand-over time of a decode
    replica of a disaggregated service."""

    def times(self, rate_per_s: float) -> Times:
        """Return the times of all points at a request rate below the stable one."""
        load = load_of(
            *(self.clock, self.limits, self.input_tokens, self.output_tokens),
            *(self.hit_tokens, self.tokens_per_step, 1.0),
        )
        running = occupancy(load, rate_per_s, self.clock)
        wait = wait_of(load, rate_per_s, self.clock, self.limits, running)
        before = wait.first_s + wait.queue_s if self.step_wait else wait.queue_s
        tpot = tpot_s_of(load, rate_per_s, self.clock, running, wait)
        return Times(before, wait.prefill_s, tpot)

    def most(self, limit_s: float, tpot_s: float, quantile: float, more_s: Array) -> float:
        r"""Return the highest rate at which a quantile is within both limits [1/s]; 0 if none.

        .. math:: Q_q(T(\lambda) + T') \le T_{max},\quad Q_q(TPOT(\lambda)) \le TPOT_{max}

        Parameters
        ----------
        limit_s : float
            Limit of wait, work and ``more_s``. [s]
        tpot_s : float
            Limit of the time per output token. [s]
        quantile : float
            Share of the requests that meet each limit, in (0, 1). [-]
        more_s : Array
            Times at the other queue, shape (points,) or a number; independent of these. [s]

        Examples
        --------
        A prompt of 100 ms has a limit of 50 ms:

        >>> clock = EngineClock(np.array([1.0]), np.array([0.01]), 0.0, 1e-3, 0.0, 0.0, 0.0)
        >>> one = np.array([100.0])
        >>> stage = Stage(clock, EngineLimits(1e4, 8, 512), one, 0 * one + 1, 0 * one)
        >>> stage.most(0.05, 1.0, 0.9, np.array(0.0))
        0.0
        >>> 0.0 < stage.most(0.5, 1.0, 0.9, np.array(0.0)) < 10.0
        True
        """
        stable = stable_rate(
            load_of(
                *(self.clock, self.limits, self.input_tokens, self.output_tokens),
                *(self.hit_tokens, self.tokens_per_step, 1.0),
            )
        )

        def meets(rate: float) -> bool:
            found = self.times(rate)
            decoded = found.tpot_s[np.isfinite(found.tpot_s)]
            if decoded.size and np.quantile(decoded, quantile) > tpot_s:
                return False
            return bool(np.quantile(independent(found.total_s, more_s), quantile) <= limit_s)

        return highest_rate(stable, meets)


def independent(first_s: Array, second_s: Array) -> Array:
    """Return the sums of two times that do not depend on each other, shape (points,).

    The points of the second are taken in another order, the same in each call.

    Examples
    --------
    >>> float(independent(np.array([1.0, 2.0]), np.array([10.0, 20.0])).sum())
    33.0
    """
    if second_s.ndim == 0:
        return np.asarray(first_s + second_s)
    order = np.random.default_rng(0).permutation(second_s.size)
    return np.asarray(first_s + second_s[order])
