"""Metrics and tables of ``train --post-training``: step, pools, divisions of the accelerators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

POST_STEP = MetricSpec(
    "train.post_training_step_s", "s", "Time of one step: generation, training, transfer", main=True
)
POST_DAYS = MetricSpec(
    "train.post_training_days",
    "days",
    "Duration of all steps at the predicted step time, without interruptions",
    main=True,
)
SAMPLES_PER_S = MetricSpec(
    "train.samples_per_s", "1/s", "Samples per second", better=Better.HIGHER, main=True
)
POST_TOKENS_PER_S = MetricSpec(
    "train.trained_tokens_per_s_per_accelerator",
    "1/s",
    "Tokens of prompts and samples per second and accelerator",
    better=Better.HIGHER,
)
ROLLOUT_ACCELERATORS = MetricSpec(
    "train.rollout_accelerators", "", "Accelerators that generate samples", main=True
)
TRAINING_ACCELERATORS = MetricSpec(
    "train.training_accelerators", "", "Accelerators that train", main=True
)
USED_ACCELERATORS = MetricSpec(
    "train.used_accelerators", "", "Accelerators that generate or train; the rest are idle"
)
ROLLOUT_BUSY = MetricSpec(
    "train.rollout_busy_frac", "", "Share of a step in which the rollout engines generate"
)
TRAINING_BUSY = MetricSpec(
    "train.training_busy_frac", "", "Share of a step in which the trainer works"
)
POST_RENT = MetricSpec(
    "train.post_training_cost_usd",
    "USD",
    "Rent of the given accelerators over the duration of all steps",
    better=Better.LOWER,
    main=True,
)


@dataclass(frozen=True)
class DivisionRow:
    """One division of the accelerators between generation and training."""

    mode: Annotated[
        str,
        Column(
            "Mode: colocated (the same accelerators do both), disaggregated (two pools that wait "
            "for each other) or asynchronous (two pools at the same time)"
        ),
    ]
    rollout_accelerators: Annotated[int, Column("Accelerators in complete rollout engines")]
    training_accelerators: Annotated[int, Column("Accelerators that train")]
    step_time_s: Annotated[float, Column("Time of one step")]
    rollout_s: Annotated[
        float, Column("Time in which the rollout engines generate a step's samples")
    ]
    training_s: Annotated[float, Column("Time of forward passes and training on a step's samples")]
    rollout_busy_frac: Annotated[
        float, Column("Share of the step in which the rollout engines generate")
    ]
    training_busy_frac: Annotated[float, Column("Share of the step in which the trainer works")]
    clean_days: Annotated[float, Column("Duration of all steps at this step time")]
    rollout_layout: Annotated[str, Column("Rollout engines: number and parallel layout of each")]
    training_layout: Annotated[str, Column("Parallel layout of the trainer")]
    among_fastest: Annotated[
        bool,
        Column(
            "Whether it is the fastest of its mode or one of the requested fastest",
            shown=Shown.VERBOSE,
        ),
    ]


DIVISIONS = TableSpec(
    "post_training_divisions",
    DivisionRow,
    "Generation and training: divisions of the accelerators",
    brief=lambda x: bool(x.among_fastest),
    section=Section.DESIGN,
)


@dataclass(frozen=True)
class StepPartRow:
    """One part of a step."""

    what: Annotated[str, Column("Part of a step")]
    time_s: Annotated[float, Column("Time of the part; parts of two pools may overlap")]
    share_frac: Annotated[float, Column("Time of the part over the time of the step")]


STEP_PARTS = TableSpec("post_training_parts", StepPartRow, "Time of one step of post-training")
