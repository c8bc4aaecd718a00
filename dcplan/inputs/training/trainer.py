"""Training pools of post-training from catalog values: the trainer's time at every count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.catalog.schema import Model, Parameter
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.layout_cache import searched
from dcplan.llm.architecture import Architecture
from dcplan.llm.tables import Array
from dcplan.scenario.schema.post_training import PostTraining
from dcplan.serving.rollout import Samples
from dcplan.training.estimate import Hardware, layout_of
from dcplan.training.grid import model_parallel_accelerators
from dcplan.training.tuning.post_training import fastest_up_to, learn_s

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
    group: Array
    """Accelerators of the largest model-parallel group."""


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
    # old log-probabilities are computed once, whatever the epochs
    before = learn_s(step_s, float(work.updates), (0.0, forwarded), forward)
    updates = float(work.updates * work.epochs)
    return learn_s(step_s, updates, (trained, 0.0), forward) + before, before


def step_spread_frac(trainer_frac: float, family: str | None, log: InputLog) -> float:
    """Return the half width of the 80 % interval of a step's time, at least that of the trainer.

    Parameters
    ----------
    trainer_frac : float
        Half width of the trainer's step time. [-]
    family : str, optional
        Family of the accelerator, whose measured steps give the width; without any, all others do.
    log : InputLog
        Record of the inputs.
    """
    own = f"post-training-spread-{family}-frac"
    known = log.catalog.find("training", own, Parameter) is not None
    key = own if known else "post-training-spread-unmeasured-frac"
    return max(trainer_frac, log.parameter("training", key))


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
    # samples of changing lengths and weights that leave after each step do not fit one graph
    eager = replace(spec, stack=replace(spec.stack, moe_graphs="none", moe_overlap=False))
    swept = searched(policy.trained, length, tokens, eager, tuple(float(n) for n in counts))
    total, before = learned_s(swept.step_time_s, work, log)
    texts = [layout_of(swept, i) for i in range(swept.accelerators.size)]
    return TrainingPool(
        np.array(counts, dtype=np.float64),
        swept.used,
        total,
        before,
        tuple(" ".join(f"{k}{x[k]}" for k in SHOWN if k == "tp" or x[k] != 1) for x in texts),
        model_parallel_accelerators(swept.layouts, spec.device.ranks),
    )


def fastest_trainer(pool: TrainingPool) -> TrainingPool:
    """Return a pool whose count never trains slower than a smaller one: it may leave some idle."""
    at = fastest_up_to(pool.time_s)
    return replace(
        pool,
        used=pool.used[at],
        time_s=pool.time_s[at],
        forward_s=pool.forward_s[at],
        layouts=tuple(pool.layouts[i] for i in at.tolist()),
        group=pool.group[at],
    )
