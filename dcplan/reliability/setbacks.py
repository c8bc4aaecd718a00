"""Setbacks of a run that no failure rate covers: rollbacks, restarts by hand, idle time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.units import HOURS_PER_DAY

Value = float | npt.NDArray[np.float64]


@dataclass(frozen=True)
class Setbacks:
    """Setbacks of one run, as its owner expects or reports them; none by default."""

    rollbacks: float = 0.0
    """Times that the run goes back to an earlier checkpoint, such as after a loss spike."""
    rollback_steps: float = 0.0
    """Steps that one rollback throws away."""
    manual_restarts: float = 0.0
    """Restarts by hand, in addition to the automatic ones."""
    manual_restart_h: float = 0.0
    """Time that one restart by hand takes. [h]"""
    idle_frac: float = 0.0
    """Share of wall-clock time in which the accelerators are held and the run does not use them."""
    other_work_frac: float = 0.0
    """Share of all accelerator-hours that is not this run: ablations, failed runs, fine-tuning."""


@dataclass(frozen=True)
class SetbackShares:
    """Shares of wall-clock time by setback; the rest is the run without setbacks."""

    rollbacks: Value
    manual_restarts: Value
    idle: Value

    @property
    def kept_frac(self) -> Value:
        """Return the share of wall-clock time without setbacks."""
        return 1.0 - self.rollbacks - self.manual_restarts - self.idle


def setback_shares(setbacks: Setbacks, steps: float, days: Value) -> SetbackShares:
    r"""Return the share of wall-clock time that each kind of setback takes.

    With S steps, n rollbacks of s steps, m restarts by hand of h hours and the idle share i, a run
    that takes w days without setbacks takes

    .. math:: w' = \frac{w (1 + n s / S) + m h / 24}{1 - i}

    Parameters
    ----------
    setbacks : Setbacks
        Counts and times, at least 0; `idle_frac` below 1.
    steps : float
        Steps of the run, above 0. [-]
    days : float or array
        Duration without setbacks, above 0. [days]

    Examples
    --------
    Ten days of 1,000 steps; ten rollbacks of 20 steps add two days, twelve restarts of six hours
    three, and a quarter of the time is idle: 15 / 0.75 = 20 days.

    >>> shares = setback_shares(Setbacks(10, 20, 12, 6, 0.25), 1000, 10.0)
    >>> shares.rollbacks, shares.manual_restarts, shares.idle, shares.kept_frac
    (0.1, 0.15, 0.25, 0.5)
    """
    # per day without setbacks, so that a run without an end has shares too
    again = setbacks.rollbacks * setbacks.rollback_steps / steps
    by_hand = setbacks.manual_restarts * setbacks.manual_restart_h / HOURS_PER_DAY / days
    whole = (1.0 + again + by_hand) / (1.0 - setbacks.idle_frac)
    return SetbackShares(again / whole, by_hand / whole, setbacks.idle_frac)


def ramp_phases(
    start_tokens: float, increment_tokens: float, end_tokens: float, tokens: float, most: int
) -> list[tuple[float, float]]:
    r"""Return tokens and batch of each phase of a batch that rises in equal increments.

    Every batch :math:`B_k = B_0 + k \Delta` below the last one trains the same number of tokens, as
    `--rampup-batch-size` of Megatron-LM. Neighbors are joined into at most `most` phases; the batch
    of a phase is its tokens over its steps, so the steps stay the same, and so does the time where
    a step takes :math:`a + b B`.

    Parameters
    ----------
    start_tokens, increment_tokens, end_tokens : float
        First batch, increment and final batch, above 0; the final batch is a whole number of
        increments above the first. [tokens]
    tokens : float
        Tokens of the ramp, above 0. [tokens]
    most : int
        Maximum number of phases, at least 1. [-]

    Raises
    ------
    ValueError
        When increments do not lead from the first to the final batch.

    References
    ----------
    .. [1] Megatron-LM, argument `--rampup-batch-size`: start, increment, samples.

    Examples
    --------
    Batches of 1, 2 and 3 M tokens train 2 M tokens each: 2 + 1 + 2/3 steps. In two phases: three
    steps of 4 / 3 M tokens on average, then 3 M.

    >>> ramp_phases(1e6, 1e6, 4e6, 6e6, 3)
    [(2000000.0, 1000000.0), (2000000.0, 2000000.0), (2000000.0, 3000000.0)]
    >>> ramp_phases(1e6, 1e6, 4e6, 6e6, 2)[0] == (4e6, 4e6 / 3)
    True
    """
    count = round((end_tokens - start_tokens) / increment_tokens)
    if count < 1 or abs(start_tokens + count * increment_tokens - end_tokens) > 1e-6 * end_tokens:
        msg = f"{increment_tokens:,.0f} does not lead from {start_tokens:,.0f} to {end_tokens:,.0f}"
        raise ValueError(msg)
    batches = start_tokens + increment_tokens * np.arange(count)
    each = tokens / count
    return [
        (each * group.size, float(each * group.size / (each / group).sum()))
        for group in np.array_split(batches, min(most, count))
    ]
