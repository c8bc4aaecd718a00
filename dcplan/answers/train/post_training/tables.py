"""Tables of post-training: divisions of the accelerators, parts of a step."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.answers.train.request import TrainRequest
from dcplan.inputs.post_training import PostTrainingOption
from dcplan.result import Table
from dcplan.scenario.schema.post_training import PostTraining
from dcplan.specs.train import post_training as specs
from dcplan.units import SECONDS_PER_DAY


def days_of(work: PostTraining, option: PostTrainingOption) -> float:
    """Return the days of all steps."""
    return work.steps * option.step_time_s / SECONDS_PER_DAY


def division_table(
    work: PostTraining,
    options: Sequence[PostTrainingOption],
    best: PostTrainingOption,
    request: TrainRequest,
) -> Table:
    """Return every division, by mode and rollout accelerators; the fastest of each mode are brief."""
    ranked = sorted([*options, best], key=lambda x: x.step_time_s)
    shown = set(ranked[: request.list_count])
    shown |= {next(x for x in ranked if x.mode == mode) for mode in {x.mode for x in ranked}}
    order = sorted(set(ranked), key=lambda x: (x.mode, x.rollout_accelerators))
    rows = [
        specs.DivisionRow(
            mode=x.mode,
            rollout_accelerators=x.rollout_accelerators,
            training_accelerators=x.training_accelerators,
            step_time_s=x.step_time_s,
            rollout_s=x.rollout_s,
            training_s=x.training_s,
            rollout_busy_frac=x.rollout_busy_frac,
            training_busy_frac=x.training_busy_frac,
            clean_days=days_of(work, x),
            rollout_layout=x.rollout_layout,
            training_layout=x.training_layout,
            among_fastest=x in shown,
        )
        for x in order
    ]
    return specs.DIVISIONS.table(rows)


def part_table(best: PostTrainingOption) -> Table:
    """Return the parts of the fastest step."""
    parts = (
        ("generation of the samples", best.rollout_s),
        ("forward passes: log-probabilities, values, rewards", best.forward_s),
        ("training", best.training_s - best.forward_s),
        ("transfer of the weights", best.sync_s),
        ("switch between generation and training", best.switch_s),
        ("collection of samples, preparation of batches", best.overhead_s),
    )
    rows = [specs.StepPartRow(what, time, time / best.step_time_s) for what, time in parts]
    return specs.STEP_PARTS.table(rows)
