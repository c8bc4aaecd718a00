"""Post-training by reinforcement learning on a count of accelerators: pools, layouts, step time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.catalog.schema import Model
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.layout_cache import searched
from dcplan.inputs.training.rollouts import (
    Engines,
    Place,
    RolloutPool,
    engines_of,
    pool_of,
    samples_of,
    sync_s,
)
from dcplan.llm.architecture import Architecture
from dcplan.llm.tables import Array
from dcplan.scenario.schema.post_training import PostTraining
from dcplan.serving.rollout import Samples
from dcplan.training.estimate import Hardware, layout_of
from dcplan.training.post_training import (
    StepTerms,
    colocated_s,
    divisions,
    fastest_up_to,
    learn_s,
)

COLOCATED, DISAGGREGATED, ASYNCHRONOUS = "colocated", "disaggregated", "asynchronous"
SEARCH_MULTIPLE = 128
"""Packed sequences have a multiple of this length, so that layouts can divide them."""
SHOWN = ("tp", "pp", "cp", "ep", "dp")


@dataclass(frozen=True)
class Policy:
    """The model that is trained."""

    trained: Architecture
    served: Architecture
    row: Model | None


@dataclass(frozen=True)
class TrainingPool:
    """Time of the trainer in one step at every count; infinite where no layout fits."""

    accelerators: Array
    used: Array
    time_s: Array
    forward_s: Array
    """Part of the time in forward-only passes."""
    layouts: tuple[str, ...]


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
    rollout_layout: str
    training_layout: str

    @property
    def rollout_busy_frac(self) -> float:
        """Share of the step in which the rollout engines generate."""
        return min(self.rollout_s / self.step_time_s, 1.0)

    @property
    def training_busy_frac(self) -> float:
        """Share of the step in which the trainer works."""
        return self.training_s / self.step_time_s


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


def pools_of(
    work: PostTraining,
    policy: Policy,
    place: Place,
    spec: Hardware,
    counts: Sequence[int],
    log: InputLog,
    trained: TrainingPool | None = None,
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
        Counts to try, of each pool and of both.
    log : InputLog
        Record of the inputs.
    trained : TrainingPool, optional
        Times of the trainer at the counts, if its layout is given; default: the fastest layouts.
    """
    engines = engines_of(work, policy.served, policy.row, place, log)
    if isinstance(engines, str):
        return engines
    samples = samples_of(work, log)
    numbers = np.array(counts, dtype=np.float64)
    memory = log.parameter("training", "post-training-colocated-memory-frac")
    # a given rollout pool need not be one of the counts
    given = [work.rollout_accelerators] if work.rollout_accelerators else []
    ours = np.unique(np.concatenate([numbers, np.array(given, dtype=np.float64)]))
    return Pools(
        work=work,
        training=trained or training_pool(work, policy, samples, spec, counts, log),
        rollout=pool_of(engines, samples, ours),
        stream=pool_of(engines, samples, ours, work.staleness) if work.staleness else None,
        colocated=pool_of(engines, samples, numbers, memory_frac=memory),
        sync_s=_sync(engines, place, numbers, log),
        switch_s=log.parameter("training", "post-training-switch-s"),
        overhead_s=log.parameter("training", "post-training-overhead-s"),
    )


def _sync(engines: Engines, place: Place, numbers: Array, log: InputLog) -> Array:
    return sync_s(engines, place, numbers, log)


def packed_len(samples: Samples) -> int:
    """Return the length of packed sequences whose attention costs as much as that of the samples.

    A token attends to its own sample, so the mean length of a random token's sample counts.
    """
    whole = samples.input_tokens + samples.lengths.tokens
    weighted = float((whole**2).mean() / whole.mean())
    return max(round(weighted / SEARCH_MULTIPLE), 1) * SEARCH_MULTIPLE


def update_tokens(work: PostTraining, samples: Samples) -> float:
    """Return the tokens of one optimizer step, at least one packed sequence."""
    return max(work.tokens / work.updates, float(packed_len(samples)))


def learned_s(step_s: Array, work: PostTraining, log: InputLog) -> tuple[Array, Array]:
    """Return the trainer's time from that of an optimizer step: all, and forward-only passes."""
    trained, forwarded = (
        log.parameter("training", f"post-training-{work.algorithm}-{kind}-passes")
        for kind in ("trained", "forward")
    )
    # a backward pass takes b forward passes, so a forward pass is 1 / (1 + b) of a training step
    forward = 1.0 / (1.0 + log.parameter("training", "backward-over-forward"))
    updates = float(work.updates * work.epochs)
    # old log-probabilities are computed once, whatever the epochs
    before = learn_s(step_s, float(work.updates), (0.0, forwarded), forward)
    return learn_s(step_s, updates, (trained, 0.0), forward) + before, before


def training_pool(
    work: PostTraining,
    policy: Policy,
    samples: Samples,
    spec: Hardware,
    counts: Sequence[int],
    log: InputLog,
) -> TrainingPool:
    """Return the trainer at every count: the fastest layout that fits."""
    tokens, length = update_tokens(work, samples), packed_len(samples)
    swept = searched(policy.trained, length, tokens, spec, tuple(float(n) for n in counts))
    total, before = learned_s(swept.step_time_s, work, log)
    texts = [layout_of(swept, i) for i in range(swept.accelerators.size)]
    return TrainingPool(
        swept.accelerators,
        swept.used,
        total,
        before,
        tuple(" ".join(f"{k}{x[k]}" for k in SHOWN if k == "tp" or x[k] != 1) for x in texts),
    )


def every_division(pools: Pools, total: int) -> list[PostTrainingOption]:
    """Return every option on exactly one of the counts: each mode and each division that fits.

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
        found += [_together(pools, at)] if mode == COLOCATED else _divided(pools, at, mode)
    return [x for x in found if x is not None and np.isfinite(x.step_time_s)]


def post_training_options(pools: Pools) -> list[PostTrainingOption | None]:
    """Return the fastest option at every count, or None where nothing fits.

    A larger count is never slower: it may leave accelerators idle.
    """
    best: list[PostTrainingOption | None] = []
    for count in pools.training.accelerators.tolist():
        here = every_division(pools, int(count))
        fastest = min(here, key=lambda x: (x.step_time_s, x.used_accelerators), default=None)
        before = best[-1] if best else None
        keep = before is not None and (
            fastest is None or before.step_time_s <= fastest.step_time_s
        )
        best.append(before if keep else fastest)
    return best


def _terms(pools: Pools, at: int) -> StepTerms:
    return StepTerms(float(pools.sync_s[at]), pools.switch_s, pools.overhead_s)


def _together(pools: Pools, at: int) -> PostTrainingOption | None:
    """Return the colocated option on one count."""
    train, rollout = pools.training, pools.colocated
    i = int(fastest_up_to(rollout.time_s[: at + 1])[-1])
    j = int(fastest_up_to(train.time_s[: at + 1])[-1])
    terms = _terms(pools, at)
    step = float(colocated_s(rollout.time_s[i], train.time_s[j], terms))
    if not np.isfinite(step):
        return None
    return _option(pools, COLOCATED, at, (rollout, i, j), step, terms)


def _divided(pools: Pools, at: int, mode: str) -> list[PostTrainingOption | None]:
    """Return the divisions of one count into two pools, one for each training pool."""
    train, work = pools.training, pools.work
    rollout = pools.stream if mode == ASYNCHRONOUS else pools.rollout
    assert rollout is not None  # noqa: S101 - a mode needs its pool
    total, terms = float(train.accelerators[at]), _terms(pools, at)
    times = rollout.time_s
    if work.rollout_accelerators is not None:
        times = np.where(rollout.accelerators == work.rollout_accelerators, times, np.inf)
    made = divisions(
        np.array([total]),
        rollout.accelerators,
        times,
        train.accelerators,
        train.time_s,
        terms,
        overlapped=mode == ASYNCHRONOUS,
    )
    return [
        _option(pools, mode, at, (rollout, int(i), j), float(step), terms)
        for j, (step, i) in enumerate(zip(made.step_s[0], made.rollout_at[0], strict=True))
        if i >= 0 and np.isfinite(step)
    ]


def _option(
    pools: Pools,
    mode: str,
    at: int,
    chosen: tuple[RolloutPool, int, int],
    step_s: float,
    terms: StepTerms,
) -> PostTrainingOption:
    rollout, i, j = chosen
    train = pools.training
    generates, trains = rollout.used(i), round(float(train.used[j]))
    used = max(generates, trains) if mode == COLOCATED else generates + trains
    return PostTrainingOption(
        mode=mode,
        accelerators=int(train.accelerators[at]),
        used_accelerators=used,
        rollout_accelerators=generates,
        training_accelerators=trains,
        step_time_s=step_s,
        rollout_s=float(rollout.time_s[i]),
        training_s=float(train.time_s[j]),
        forward_s=float(train.forward_s[j]),
        sync_s=terms.sync_s,
        rollout_layout=f"{generates // rollout.layouts[i].accelerators} x {rollout.layouts[i]}",
        training_layout=train.layouts[j],
    )
