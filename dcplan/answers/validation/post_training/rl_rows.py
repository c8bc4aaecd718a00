"""Published steps of reinforcement learning: each row as a question to ``dcplan train``."""

from __future__ import annotations

from collections.abc import Mapping

from dcplan.answers.train.answer import train
from dcplan.answers.train.request import TrainRequest
from dcplan.answers.validation.post_training.tuning_rows import Predicted
from dcplan.catalog.schema import Accelerator, System
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.trainer import step_spread_frac
from dcplan.specs.train.post_training import POST_STEP


def request_of(row: Mapping[str, str], catalogs: tuple[str, ...] = ()) -> TrainRequest:
    """Return the published run with its layouts and pools; a prompt is taken from the mean."""
    prompt = float(row["isl"])
    settings = {
        "prompts": row["prompts"],
        "samples": row["samples"],
        "updates": row["updates"],
        "isl": row["isl"],
        "osl": float(row["mean_tokens"]) - prompt,
        "longest-osl": float(row["longest_tokens"]) - prompt,
        "steps": 1,
        "staleness": row["staleness"],
        "mode": row["mode"],
        "rollout-tp": row["rollout_tp"],
        "rollout-precision": row["rollout_precision"],
        "rollout-accelerators": row["rollout_accelerators"],
    }
    return TrainRequest(
        row["model"],
        row["system"],
        int(row["accelerators"]),
        precision=(row["precision"],),
        layout=row["training_layout"],
        post_training=",".join(f"{k}={v}" for k, v in settings.items() if v != ""),
        catalogs=catalogs,
    )


def predicted_step(
    row: Mapping[str, str], log: InputLog, folders: tuple[str, ...]
) -> Predicted | str:
    """Return dcplan's step time of a published run, or why there is none."""
    try:
        found = train(request_of(row, folders))
    except InputError as error:
        return error.problems[0].cause
    metric = found.metrics.get(POST_STEP.key)
    if metric is None or not isinstance(metric.value, int | float):
        return found.headline
    system = log.catalog.get("systems", row["system"], System)
    family = log.catalog.get("accelerators", system.accelerator, Accelerator).family
    return Predicted(float(metric.value), step_spread_frac(0.0, family, log))
