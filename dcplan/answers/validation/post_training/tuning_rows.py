"""Published fine-tuning runs: each row as a run of dcplan, and its prediction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dcplan.answers.common.model_config import read_model
from dcplan.answers.train.key_values import number_or_text
from dcplan.answers.train.layouts.parser import lightest, read_layout
from dcplan.answers.train.post_training.tuned_layouts import tuned_layouts
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.fine_tuning import Tuned, tuned, tuned_step, tuning_spread_frac
from dcplan.inputs.training.speed import hardware
from dcplan.llm.operations import Setup
from dcplan.scenario.schema.fine_tuning import FineTuning
from dcplan.training.grid import case_setup, layout_table
from dcplan.training.memory import memory
from dcplan.training.step import step
from dcplan.training.tuning.fine_tuning import forward_s
from dcplan.units import BYTES_PER_GIB

Row = Mapping[str, str]
SETTINGS = ("algorithm", "rank", "targets", "mean_len")
"""Columns that are fields of the fine-tuning settings."""


@dataclass(frozen=True)
class Predicted:
    """Prediction of one row."""

    value: float
    spread_frac: float
    """Half width of the 80 % interval."""
    memory_gib: float | None = None


class Predictor:
    """Predicts rows; rows with the same settings share a search."""

    def __init__(self, log: InputLog) -> None:
        self.log = log
        self._found: dict[tuple[str, ...], tuple[Tuned, Setup, float] | str] = {}

    def predicted(self, row: Row) -> Predicted | str:
        """Return the prediction of a row, or why there is none."""
        key = tuple(row[name] for name in KEYS)
        if key not in self._found:
            try:
                self._found[key] = _placed(row, self.log)
            except InputError as error:
                self._found[key] = error.problems[0].cause
        placed = self._found[key]
        if isinstance(placed, str):
            return placed
        run, setup, spread = placed
        time_s = float(tuned_step(run, setup).time_s[0])
        if row["train_sequences"]:
            batch = float(row["global_batch_seqs"])
            steps, tests = (float(row[k]) / batch for k in ("train_sequences", "eval_sequences"))
            time_s = steps * time_s + tests * float(forward_s(setup, step(setup))[0])
        gib = float(memory(setup).total[0]) / BYTES_PER_GIB
        return Predicted(time_s, spread, gib)


KEYS = (
    *SETTINGS,
    *("model", "accelerator_id", "accelerators", "stack", "precision", "seq_len"),
    *("global_batch_seqs", "layout"),
)
"""Columns that decide the layout and its step."""


def _placed(row: Row, log: InputLog) -> tuple[Tuned, Setup, float] | str:
    """Return the run of a row with its layout: the given one, or the fastest that fits."""
    shape, _ = read_model(log.catalog, row["model"])
    spec = hardware(
        row["accelerator_id"],
        row["precision"],
        0.0,
        log,
        moe=shape.moe_layers > 0,
        stack=row["stack"],
    )
    if isinstance(spec, str):
        return spec
    work = FineTuning.model_validate({k: number_or_text(row[k]) for k in SETTINGS if row[k]})
    length = int(row["seq_len"])
    tokens = float(row["global_batch_seqs"]) * length
    run = tuned(work, shape, length, tokens, spec, log)
    if isinstance(run, str):
        return run
    spread = tuning_spread_frac(spec.spread_frac, row["stack"], log)
    ranks = int(float(row["accelerators"]) * spec.device.ranks)
    if row["layout"]:
        # a published run did fit, so its memory is compared and limits nothing
        limit = spec.device.hbm_gb / spec.device.ranks * BYTES_PER_GIB
        slack = spec.coefficients.measured_memory_factor
        typed = lightest(read_layout(row["layout"], run.case, ranks), limit * slack)
        return run, case_setup(typed.case, layout_table(typed.case, typed.columns)), spread
    case, found = tuned_layouts(run, ranks, None, 1)
    if not found.step_time_s.size:
        return "no layout fits in the memory"
    first = {k: np.asarray(v[:1]) for k, v in found.layouts.items()}
    return run, case_setup(case, layout_table(case, first)), spread
