"""One step of reinforcement learning: rollouts, forward passes, training, transfer of weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.llm.tables import Array


@dataclass(frozen=True)
class StepTerms:
    """Times of a step that do not depend on the division of the accelerators."""

    sync_s: Array | float
    """Transfer of the new weights to the rollout engines; one, or shape (totals, 1)."""
    switch_s: float
    """Offload and reload of colocated engines, in both directions."""
    overhead_s: float
    """Collection of the samples, rewards by rule, preparation of the batch."""


def learn_s(step_s: Array, updates: float, passes: tuple[float, float], forward: float) -> Array:
    r"""Return the time of the trainer in one step of reinforcement learning.

    .. math:: T = u\,t_{step}\,(k_{train} + k_{fwd}\,f)

    Parameters
    ----------
    step_s : array
        Time of one optimizer step on a part 1/u of the samples. [s]
    updates : float
        Optimizer steps, epochs included; forward passes count once for each. [-]
    passes : tuple of float
        Trained models of the policy's size, and forward-only passes: log-probabilities of the
        policy and of the reference, values, rewards.
    forward : float
        Time of a forward pass over that of a training step. [-]

    Examples
    --------
    Four updates of 6 s with two forward passes of a third each: 4 x 6 x (1 + 2/3) = 40 s.

    >>> learn_s(np.array([6.0]), 4, (1, 2), 1 / 3).round(6).tolist()
    [40.0]
    """
    trained, forwarded = passes
    return np.asarray(updates * step_s * (trained + forwarded * forward))


def colocated_s(rollout_s: Array, train_s: Array, terms: StepTerms) -> Array:
    r"""Return the step time where the same accelerators generate, then train.

    .. math:: T = T_{roll} + T_{train} + T_{sync} + T_{switch} + T_{other}

    References
    ----------
    .. [1] G. Sheng et al., "HybridFlow", arXiv 2409.19256

    Examples
    --------
    >>> float(colocated_s(np.array(60.0), np.array(30.0), StepTerms(2.0, 10.0, 4.0)))
    106.0
    """
    return np.asarray(rollout_s + train_s + terms.sync_s + terms.switch_s + terms.overhead_s)


def disaggregated_s(rollout_s: Array, train_s: Array, terms: StepTerms) -> Array:
    r"""Return the step time of two pools that wait for each other.

    .. math:: T = T_{roll} + T_{train} + T_{sync} + T_{other}

    References
    ----------
    .. [1] J. Hu et al., "OpenRLHF", arXiv 2405.11143

    Examples
    --------
    >>> float(disaggregated_s(np.array(60.0), np.array(30.0), StepTerms(2.0, 10.0, 4.0)))
    96.0
    """
    return np.asarray(rollout_s + train_s + terms.sync_s + terms.overhead_s)


def asynchronous_s(rollout_s: Array, train_s: Array, terms: StepTerms) -> Array:
    r"""Return the step time of two pools that work at the same time.

    .. math:: T = \max(T_{roll},\ T_{train} + T_{other}) + T_{sync}

    Both pools wait for the transfer of the weights.

    References
    ----------
    .. [1] W. Fu et al., "AReaL", arXiv 2505.24298

    Examples
    --------
    >>> float(asynchronous_s(np.array(60.0), np.array(30.0), StepTerms(2.0, 10.0, 4.0)))
    62.0
    """
    return np.asarray(np.maximum(rollout_s, train_s + terms.overhead_s) + terms.sync_s)


def fastest_up_to(time_s: Array) -> npt.NDArray[np.intp]:
    """Return, for each count of an ascending list, the index of the fastest up to it.

    Examples
    --------
    >>> fastest_up_to(np.array([5.0, 3.0, 4.0, 2.0])).tolist()
    [0, 1, 1, 3]
    """
    index = np.arange(time_s.size)
    smallest = np.minimum.accumulate(time_s)
    return np.asarray(np.maximum.accumulate(np.where(time_s <= smallest, index, 0)))


@dataclass(frozen=True)
class Divisions:
    """Every division of each total: training counts along the columns."""

    step_s: Array
    """Step time, infinite where a pool has no accelerators or its model does not fit."""
    rollout_at: npt.NDArray[np.intp]
    """Index of the rollout pool, -1 for none."""


def divisions(
    totals: Array,
    rollout_accelerators: Array,
    rollout_s: Array,
    train_accelerators: Array,
    train_s: Array,
    terms: StepTerms,
    *,
    overlapped: bool,
) -> Divisions:
    """Return the step time of every division of totals into a rollout and a training pool.

    The rollout pool gets what training leaves, and uses the fastest count up to that.

    Parameters
    ----------
    totals : array, shape (n,)
        Accelerators of both pools.
    rollout_accelerators, train_accelerators : array, ascending
        Counts whose times are known.
    rollout_s, train_s : array
        Time of a pool for one step at each count, infinite where it does not fit. [s]
    terms : StepTerms
        Other times of a step.
    overlapped : bool
        Whether the pools work at the same time.

    Examples
    --------
    Of 3 accelerators, 2 that generate (20 s) and 1 that trains (15 s) take 35 s; the other way
    round, 40 + 8 s.

    >>> made = divisions(np.array([3.0]), np.array([1.0, 2.0]), np.array([40.0, 20.0]),
    ...     np.array([1.0, 2.0]), np.array([15.0, 8.0]), StepTerms(0, 0, 0), overlapped=False)
    >>> made.step_s.tolist(), made.rollout_at.tolist()
    ([[35.0, 48.0]], [[1, 0]])
    """
    left = totals[:, None] - train_accelerators[None, :]
    at = np.searchsorted(rollout_accelerators, left, side="right") - 1
    fastest = fastest_up_to(rollout_s)[np.maximum(at, 0)]
    step = asynchronous_s if overlapped else disaggregated_s
    time = step(rollout_s[fastest], train_s[None, :], terms)
    return Divisions(np.where(at >= 0, time, np.inf), np.where(at >= 0, fastest, -1))
