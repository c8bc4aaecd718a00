"""Post-training by reinforcement learning on a count of accelerators: pools, layouts, step time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.inputs.log import InputLog
from dcplan.inputs.training.rollouts import (
    Place,
    RolloutPool,
    engines_of,
    pool_of,
    samples_of,
    sync_s,
)
from dcplan.inputs.training.trainer import Policy, TrainingPool, fastest_trainer, training_pool
from dcplan.llm.tables import Array
from dcplan.scenario.schema.post_training import PostTraining
from dcplan.training.estimate import Hardware
from dcplan.training.tuning.post_training import (
    Divisions,
    StepTerms,
    colocated_s,
    divisions,
    fastest_up_to,
)

COLOCATED, DISAGGREGATED, ASYNCHRONOUS = "colocated", "disaggregated", "asynchronous"
SEARCH_DENSE, SEARCH_GROWTH = 96, 1.03


@dataclass(frozen=True)
class PostTrainingOption:
    """One way to run a step on a number of accelerators."""

    mode: str
    accelerators: int
    """Accelerators that the option may use."""
    used_accelerators: int
    rollout_accelerators: int
    """Those in complete rollout engines; colocated, they also train."""
    training_accelerators: int
    step_time_s: float
    rollout_s: float
    training_s: float
    """Time of the trainer, forward passes included."""
    forward_s: float
    sync_s: float
    switch_s: float
    """Switch of colocated engines; 0 for two pools."""
    overhead_s: float
    rollout_layout: str
    training_layout: str
    group_accelerators: int
    """Accelerators of the largest model-parallel group of both pools."""

    @property
    def rollout_busy_frac(self) -> float:
        """Share of the step in which the rollout engines generate."""
        return min(self.rollout_s / self.step_time_s, 1.0)

    @property
    def training_busy_frac(self) -> float:
        """Share of the step in which the trainer works."""
        return min(self.training_s / self.step_time_s, 1.0)


@dataclass(frozen=True)
class Pools:
    """Times of both pools at every count, from which options are made."""

    work: PostTraining
    training: TrainingPool
    rollout: RolloutPool
    """Engines that generate the batch of a step from start to end."""
    stream: RolloutPool | None
    """Engines that may be behind by the allowed staleness."""
    colocated: RolloutPool
    sync_s: Array
    """Time to transfer the weights, by count of all accelerators."""
    switch_s: float
    overhead_s: float

    @property
    def modes(self) -> tuple[str, ...]:
        """Modes that the work allows."""
        if self.work.mode is not None:
            return (self.work.mode,)
        pools = (DISAGGREGATED, *((ASYNCHRONOUS,) if self.work.staleness else ()))
        return pools if self.work.rollout_accelerators is not None else (COLOCATED, *pools)

    def engines(self, mode: str) -> RolloutPool:
        """Return the rollout engines of a mode."""
        if mode == COLOCATED:
            return self.colocated
        return self.stream if mode == ASYNCHRONOUS and self.stream is not None else self.rollout


def pools_of(
    work: PostTraining,
    policy: Policy,
    place: Place,
    spec: Hardware,
    counts: Sequence[int],
    log: InputLog,
    trained: TrainingPool | None = None,
    key: str = "post_training",
) -> Pools | str:
    """Return the times of both pools at every count, or what is missing.

    Parameters
    ----------
    work : PostTraining
        Samples of a step, and how they are trained.
    policy : Policy
        The model.
    place : Place
        Accelerator, its system and link.
    spec : Hardware
        The same accelerator with training software and precision.
    counts : sequence of int, ascending
        Counts to try, of each pool and of both; see :func:`pool_counts`.
    log : InputLog
        Record of the inputs.
    trained : TrainingPool, optional
        Times of the trainer at the counts, if its layout is given; default: the fastest layouts.
    key : str, default "post_training"
        Key of the work in the record.
    """
    engines = engines_of(work, policy.served, policy.row, place, log)
    if isinstance(engines, str):
        return engines
    samples = samples_of(work, log, key)
    numbers = np.array(counts, dtype=np.float64)
    memory = log.parameter("training", "post-training-colocated-memory-frac")
    slower = log.parameter("training", "post-training-slowdown")
    # a given rollout pool need not be one of the counts
    given = [work.rollout_accelerators] if work.rollout_accelerators else []
    ours = np.unique(np.concatenate([numbers, np.array(given, dtype=np.float64)]))
    trainer = fastest_trainer(trained or training_pool(work, policy, samples, spec, counts, log))

    def slowed(pool: RolloutPool) -> RolloutPool:
        return replace(pool, time_s=pool.time_s * slower)

    return Pools(
        work=work,
        training=replace(
            trainer, time_s=trainer.time_s * slower, forward_s=trainer.forward_s * slower
        ),
        rollout=slowed(pool_of(engines, samples, ours)),
        stream=slowed(pool_of(engines, samples, ours, work.staleness)) if work.staleness else None,
        colocated=slowed(pool_of(engines, samples, numbers, memory_frac=memory)),
        sync_s=sync_s(engines, place, numbers, log),
        switch_s=log.parameter("training", "post-training-switch-s"),
        overhead_s=log.parameter("training", "post-training-overhead-s"),
    )


def unfit_part(pools: Pools) -> str:
    """Return the part that does not fit in memory at any count, or both."""
    if not np.isfinite(pools.training.time_s).any():
        return "the trainer"
    engines = pools.engines(pools.modes[-1])
    return "both pools" if np.isfinite(engines.time_s).any() else "the rollout engines"


def pool_counts(unit: int, total: int) -> tuple[int, ...]:
    """Return the counts to try for each pool: steps of a unit, and what they leave of the total.

    Up to 96 units, every unit counts; above, the steps grow by 3 %.

    Examples
    --------
    >>> pool_counts(8, 36)
    (4, 8, 12, 16, 20, 24, 28, 32, 36)
    """
    found, units = {total}, 1
    while units * unit < total:
        found |= {units * unit, total - units * unit}
        units = units + 1 if units < SEARCH_DENSE else math.ceil(units * SEARCH_GROWTH)
    return tuple(sorted(found))


def every_division(pools: Pools, total: int) -> list[PostTrainingOption]:
    """Return every option on one of the counts: each mode, and each division that fits.

    Parameters
    ----------
    pools : Pools
        Times of both pools.
    total : int
        One of the counts of the pools.
    """
    at = int(np.searchsorted(pools.training.accelerators, total))
    found = []
    for mode in pools.modes:
        if mode == COLOCATED:
            found += [x for x in _together(pools, [at]) if x is not None]
            continue
        made = _divided(pools, [at], mode)
        fitting = np.flatnonzero(np.isfinite(made.step_s[0])).tolist()
        found += [_option(pools, mode, at, j, made.step_s[0], made.rollout_at[0]) for j in fitting]
    return found


def post_training_options(pools: Pools) -> list[PostTrainingOption | None]:
    """Return the fastest option at every count, or None where nothing fits.

    A larger count is never slower: it may leave accelerators idle.
    """
    every = list(range(pools.training.accelerators.size))
    rows = [
        _together(pools, every) if mode == COLOCATED else _best_divisions(pools, every, mode)
        for mode in pools.modes
    ]
    best: list[PostTrainingOption | None] = []
    for here in zip(*rows, strict=True):
        tried = [x for x in (*best[-1:], *here) if x is not None]
        best.append(min(tried, key=lambda x: x.step_time_s, default=None))
    return best


def _terms(pools: Pools, at: Sequence[int]) -> StepTerms:
    return StepTerms(pools.sync_s[list(at)][:, None], pools.switch_s, pools.overhead_s)


def _together(pools: Pools, at: Sequence[int]) -> list[PostTrainingOption | None]:
    """Return the colocated option of counts; the engines and the trainer may use fewer."""
    train, rollout = pools.training, pools.colocated
    i, j = (fastest_up_to(x.time_s)[list(at)] for x in (rollout, train))
    step = colocated_s(rollout.time_s[i][:, None], train.time_s[j][:, None], _terms(pools, at))
    found: list[PostTrainingOption | None] = []
    for row, count in enumerate(at):
        if not np.isfinite(step[row, 0]):
            found.append(None)
            continue
        one = np.full(train.time_s.size, step[row, 0])
        engines = np.full(train.time_s.size, i[row])
        found.append(_option(pools, COLOCATED, count, int(j[row]), one, engines))
    return found


def _divided(pools: Pools, at: Sequence[int], mode: str) -> Divisions:
    """Return the divisions of counts into two pools, one column for each training pool."""
    train, rollout, given = pools.training, pools.engines(mode), pools.work.rollout_accelerators
    times = rollout.time_s
    if given is not None:
        times = np.where(rollout.accelerators == given, times, np.inf)
    return divisions(
        train.accelerators[list(at)],
        rollout.accelerators,
        times,
        train.accelerators,
        train.time_s,
        _terms(pools, at),
        overlapped=mode == ASYNCHRONOUS,
    )


def _best_divisions(pools: Pools, at: Sequence[int], mode: str) -> list[PostTrainingOption | None]:
    """Return the fastest division of each count."""
    made = _divided(pools, at, mode)
    best = np.argmin(made.step_s, axis=1).tolist()
    return [
        _option(pools, mode, count, j, made.step_s[row], made.rollout_at[row])
        if np.isfinite(made.step_s[row, j])
        else None
        for row, (count, j) in enumerate(zip(at, best, strict=True))
    ]


def _option(
    pools: Pools, mode: str, at: int, j: int, step_s: Array, rollout_at: Array
) -> PostTrainingOption:
    """Return the option with the j-th training pool and its rollout pool."""
    train, rollout, i = pools.training, pools.engines(mode), int(rollout_at[j])
    generates, trains = rollout.used(i), round(float(train.used[j]))
    used = max(generates, trains) if mode == COLOCATED else generates + trains
    return PostTrainingOption(
        mode=mode,
        accelerators=int(train.accelerators[at]),
        used_accelerators=used,
        rollout_accelerators=generates,
        training_accelerators=trains,
        step_time_s=float(step_s[j]),
        rollout_s=float(rollout.time_s[i]),
        training_s=float(train.time_s[j]),
        forward_s=float(train.forward_s[j]),
        sync_s=float(pools.sync_s[at]),
        switch_s=pools.switch_s if mode == COLOCATED else 0.0,
        overhead_s=pools.overhead_s,
        rollout_layout=f"{generates // rollout.layouts[i].accelerators} x {rollout.layouts[i]}",
        training_layout=train.layouts[j],
        group_accelerators=round(max(rollout.layouts[i].accelerators, float(train.group[j]))),
    )
