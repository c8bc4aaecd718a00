"""Measured training runs, packaged or from the user, compared with their predictions."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcplan.answers.validation.measured_csv import rows_of
from dcplan.answers.validation.request import ValidateRequest
from dcplan.answers.validation.runs.rows import Reader, Row, Run, Unsupported
from dcplan.answers.validation.runs.tables import Prediction, predict
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.locate import data_dir
from dcplan.catalog.schema import Stack
from dcplan.errors import EXIT_NO, EXIT_OK, did_you_mean
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.coefficients import coefficients
from dcplan.inputs.training.stacks import spread_frac
from dcplan.llm.tables import Array
from dcplan.result import Metric, Result, Table
from dcplan.specs.validation import validate as specs
from dcplan.specs.validation.validate import RunRow
from dcplan.units import BYTES_PER_GIB

REQUIRED = ("id", "accelerator_id", "stack", "n_accelerators", "tp", "pp", "global_batch_seqs")
GROUP_OF: dict[str, Callable[[Run], str]] = {
    "source": lambda r: r.source,
    "accelerator": lambda r: r.accelerator.id,
    "stack": lambda r: r.stack_id,
    "arch": lambda r: "moe" if r.moe else "hybrid" if r.shape.mamba_layers else "dense",
}
"""Group of a run by each of the request's groupings."""


@dataclass(frozen=True)
class _Compared:
    """One row of the table: the run, if it can be read, and its prediction."""

    row: RunRow
    run: Run | None
    complete: bool
    """Whether the table has all data of the run."""

    @property
    def error(self) -> float | None:
        """Step-time error; None if the run has no prediction."""
        return self.row.error_frac


def predicted_runs(request: ValidateRequest) -> Result:
    """Predict every run of a table and compare.

    Raises
    ------
    InputError
        When the file cannot be read or lacks a column.
    """
    began = time.perf_counter()
    catalog = load_catalog(tuple(Path(c) for c in request.catalogs))
    packaged = data_dir("catalogs") / "runs" / "training_runs.csv"
    table = read_table(Path(request.runs) if request.runs else packaged)
    found = _compared(table, InputLog(catalog))
    errors = np.array([x.error for x in found if x.error is not None], dtype=np.float64)
    return Result(
        verb="validate",
        status="ok" if errors.size else "unsupported",
        exit_code=EXIT_OK if errors.size else EXIT_NO,
        headline=_headline(len(found), errors),
        metrics=_metrics(found, errors),
        tables={
            specs.RUNS.name: specs.RUNS.table(x.row for x in found),
            specs.SUMMARY.name: _summary(found, request.group_by or "stack"),
        },
        run={"seconds": round(time.perf_counter() - began, 4)},
        warnings=unread_columns(table) if request.runs else [],
    )


def unread_columns(table: Sequence[Row]) -> list[dict[str, str]]:
    """Return a warning for columns that dcplan does not read: they may be misspelled."""
    with (data_dir("catalogs") / "runs" / "training_runs.csv").open(encoding="utf-8") as file:
        known = next(csv.reader(file))
    unread = [name for name in (table[0] if table else ()) if name not in known]
    if not unread:
        return []
    hints = [did_you_mean(name, known) for name in unread]
    meant = f"; {', '.join(hint for hint in hints if hint)}" if any(hints) else ""
    message = f"columns that are not read: {', '.join(unread)}{meant}; read are {', '.join(known)}"
    return [{"code": "columns", "message": message}]


def read_table(file: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV of runs.

    Raises
    ------
    InputError
        When the file cannot be read, holds an invalid number, or lacks a required column.
    """
    return rows_of(file, REQUIRED, "docs/howto/own-runs.md describes the columns")


def _compared(table: Sequence[Row], log: InputLog) -> list[_Compared]:
    """Read every row, predict all readable rows at once, and compare."""
    reader = Reader(log.catalog)
    read: list[Run | str] = []
    for row in table:
        try:
            read.append(reader.read(row))
        except Unsupported as error:
            read.append(str(error))
    runs = [run for run in read if isinstance(run, Run)]
    prediction = predict(runs, coefficients(log)) if runs else None
    found, place = [], 0
    for row, run in zip(table, read, strict=True):
        complete = row.get("complete", "yes") != "no"
        if isinstance(run, str) or prediction is None:
            refused = RunRow(row.get("id", ""), f"unsupported: {run}")
            found.append(_Compared(refused, None, complete))
            continue
        found.append(_Compared(_row(run, prediction, place, log), run, complete))
        place += 1
    return found


def _row(run: Run, prediction: Prediction, place: int, log: InputLog) -> RunRow:
    """Return one run with its prediction."""
    time_s = float(prediction.step.time_s[place])
    stack = log.catalog.get("stacks", run.stack_id, Stack)
    spread = spread_frac(log, run.accelerator, stack, moe=run.moe)
    return RunRow(
        id=run.id,
        status="ok",
        measured_step_time_s=run.measured_s,
        predicted_step_time_s=time_s,
        low_s=time_s / (1.0 + spread),
        high_s=time_s * (1.0 + spread),
        error_frac=time_s / run.measured_s - 1.0,
        measured_memory_gib=run.peak_memory_gib or None,
        predicted_memory_gib=float(prediction.memory.total[place]) / BYTES_PER_GIB,
    )


def _headline(total: int, errors: Array) -> str:
    if not errors.size:
        return f"0 of {total} runs supported"
    absolute = np.abs(errors)
    return (
        f"{errors.size} of {total} runs: mean absolute step-time error {absolute.mean():.1%}, "
        f"median {np.median(absolute):.1%}, bias {errors.mean():+.1%}"
    )


def _metrics(found: Sequence[_Compared], errors: Array) -> dict[str, Metric]:
    complete = [x for x in found if x.complete]
    supported = sum(x.run is not None for x in complete)
    metrics = {
        **specs.RUNS_TOTAL(len(found)),
        **specs.RUNS_SUPPORTED(int(errors.size)),
        **specs.RUNS_SUPPORTED_FRAC(supported / len(complete) if complete else 0.0),
    }
    if errors.size:
        size = np.abs(errors)
        inside = [_inside(x.row) for x in found if x.run is not None]
        metrics |= {
            **specs.ERROR_MEAN_ABS(float(size.mean()), label="Mean absolute step-time error"),
            **specs.ERROR_MEDIAN_ABS(
                float(np.median(size)), label="Median absolute step-time error"
            ),
            **specs.ERROR_BIAS(float(errors.mean())),
            **specs.INTERVAL_COVERAGE(float(np.mean(inside))),
        }
    memory = [
        abs(predicted / measured - 1.0)
        for x in found
        if (measured := x.row.measured_memory_gib) is not None
        if (predicted := x.row.predicted_memory_gib) is not None
    ]
    if memory:
        metrics |= specs.ERROR_MEMORY_MEAN_ABS(float(np.mean(memory)))
    return metrics


def _inside(row: RunRow) -> bool:
    """Whether the measured step time is in the interval of the prediction."""
    low, measured, high = row.low_s, row.measured_step_time_s, row.high_s
    return low is not None and measured is not None and high is not None and low <= measured <= high


def _summary(found: Sequence[_Compared], by: str) -> Table:
    """Return the errors of each group of runs."""
    groups: dict[str, list[float]] = {}
    for x in found:
        if x.run is not None and x.error is not None:
            groups.setdefault(GROUP_OF[by](x.run), []).append(x.error)
    rows = [_group_row(by, name, np.array(errors)) for name, errors in sorted(groups.items())]
    others = set(GROUP_OF) - {by}
    return specs.SUMMARY.table(rows, only=[n for n in specs.SUMMARY.names if n not in others])


def _group_row(by: str, name: str, errors: Array) -> specs.SummaryRow:
    group: dict[str, Any] = {by: name}
    return specs.SummaryRow(
        **group,
        runs=errors.size,
        mean_abs_error_frac=float(np.abs(errors).mean()),
        median_abs_error_frac=float(np.median(np.abs(errors))),
        bias_frac=float(errors.mean()),
        worst_error_frac=float(errors[np.argmax(np.abs(errors))]),
    )
