"""Published figures that are no step time: transfers, ratios, utilization, shares of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from dcplan.answers.common.model_config import read_config, read_model
from dcplan.answers.validation.post_training.tuning_rows import Predicted
from dcplan.catalog.schema import Accelerator, Model, Parameter
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.devices import HOST_ACCELERATORS
from dcplan.inputs.training.rollouts import Place, engines_of, sync_s
from dcplan.inputs.training.speed import hardware
from dcplan.inputs.training.trainer import learned_s, step_spread_frac
from dcplan.llm.architecture import Architecture
from dcplan.llm.config import from_config
from dcplan.reliability.goodput import Tier, renewal_time_frac
from dcplan.scenario.schema.post_training import PostTraining
from dcplan.training.by_count.sweep import sweep
from dcplan.training.estimate import Hardware, Sweep
from dcplan.units import SECONDS_PER_DAY, TERA

Row = Mapping[str, str]
ONE_SAMPLE = {"prompts": 1, "samples": 1, "isl": 1, "osl": 1, "steps": 1}
"""A work whose sizes do not matter to a ratio or a transfer."""


def _settings(row: Row) -> dict[str, str]:
    """Return the settings of a row, written as key=value;key=value."""
    return dict(pair.split("=", 1) for pair in row["settings"].split(";") if pair)


def _transfer_s(row: Row, log: InputLog) -> float | str:
    """Return the time to send new weights to the rollout engines."""
    accelerator = log.catalog.get("accelerators", row["accelerator_id"], Accelerator)
    place = Place(accelerator, HOST_ACCELERATORS, None, None)
    model = log.catalog.find("models", row["model"], Model)
    shape = from_config(read_config(log.catalog, row["model"])[0])
    engines = engines_of(PostTraining.model_validate(ONE_SAMPLE), shape, model, place, log)
    if isinstance(engines, str):
        return engines
    return float(sync_s(engines, place, np.array([float(row["accelerators"])]), log)[0])


def _forward_over_update(row: Row, log: InputLog) -> float | str:
    """Return the time of one forward-only pass over that of the training of the same samples."""
    work = PostTraining.model_validate(ONE_SAMPLE)
    total, before = learned_s(np.ones(1), work, log)
    passes = log.parameter("training", f"post-training-{work.algorithm}-forward-passes")
    return float(before[0] / passes / (total[0] - before[0]))


def _hardware(row: Row, log: InputLog) -> Hardware | str:
    """Return the accelerator of a row with its software and precision."""
    given = _settings(row)
    return hardware(
        row["accelerator_id"], given["precision"], 0.0, log, moe=False, stack=given["stack"]
    )


def _swept(row: Row, log: InputLog) -> tuple[Hardware, Sweep] | str:
    """Return the fastest layout of a row's model on its accelerators."""
    given = _settings(row)
    shape, _ = read_model(log.catalog, row["model"])
    shape = deeper(shape, int(given.get("layers", shape.layers)))
    spec = _hardware(row, log)
    if isinstance(spec, str):
        return spec
    length = int(given["seq_len"])
    counts = np.array([float(row["accelerators"])])
    groups = max(counts[0] / HOST_ACCELERATORS, 1.0)
    tokens = float(given["sequences"]) * length * groups
    return spec, sweep(shape, length, tokens, spec, counts, coarse=False)


def deeper(shape: Architecture, layers: int) -> Architecture:
    """Return a dense model with another number of layers."""
    return replace(shape, layers=layers, attention_layers=layers, dense_layers=layers)


def _mfu_frac(row: Row, log: InputLog) -> float | str:
    """Return the model FLOPs utilization of the fastest layout."""
    found = _swept(row, log)
    if isinstance(found, str):
        return found
    spec, best = found
    count = best.accelerators[0]
    return float(best.flops_per_step / best.step_time_s[0] / count / (spec.peak_tflops * TERA))


def _clean_days(row: Row, log: InputLog) -> float | str:
    """Return the days of all tokens at the fastest layout, without interruptions."""
    found = _swept(row, log)
    if isinstance(found, str):
        return found
    _, best = found
    steps = float(_settings(row)["tokens"]) / best.tokens_per_step
    return float(steps * best.step_time_s[0] / SECONDS_PER_DAY)


def _effective_time_frac(row: Row, log: InputLog) -> float | str:
    """Return the share of time that counts, if a stop loses the work of the current step."""
    given = {k: float(v) for k, v in _settings(row).items()}
    tier = Tier(0.0, given["step_s"], given["restart_s"])
    return float(renewal_time_frac(SECONDS_PER_DAY / given["stop_every_s"], tier))


QUANTITIES: Mapping[str, Callable[[Row, InputLog], float | str]] = {
    "transfer_s": _transfer_s,
    "forward_over_update": _forward_over_update,
    "mfu_frac": _mfu_frac,
    "clean_days": _clean_days,
    "effective_time_frac": _effective_time_frac,
}
"""Quantity of a row -> what dcplan has for it."""


def predicted_fact(row: Row, log: InputLog) -> Predicted | str:
    """Return dcplan's figure for a published one, or why there is none."""
    value = QUANTITIES[row["quantity"]](row, log)
    if isinstance(value, str):
        return value
    return Predicted(value, _spread_frac(row, log))


def _spread_frac(row: Row, log: InputLog) -> float:
    """Return the half width of the 80 % interval; 0 for a quantity without one."""
    if row["quantity"] == "effective_time_frac":
        return 0.0
    accelerator = log.catalog.get("accelerators", row["accelerator_id"], Accelerator)
    if row["quantity"] == "transfer_s":
        share = log.catalog.get("training", "post-training-sync-frac", Parameter).value
        return share.value / share.bounds[0] - 1.0
    if row["quantity"] == "forward_over_update":
        return step_spread_frac(0.0, accelerator.family, log)
    spec = _hardware(row, log)
    return 0.0 if isinstance(spec, str) else spec.spread_frac
