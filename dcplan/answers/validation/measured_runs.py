"""``dcplan validate``: the model against measured runs, the packaged ones or the user's own."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dcplan.answers.validation.run_rows import Reader, Row, Run, Unsupported
from dcplan.answers.validation.run_tables import Prediction, predict
from dcplan.catalog.loader import Catalog
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.locate import data_dir
from dcplan.catalog.schema import Stack
from dcplan.catalog.yaml12 import read_text
from dcplan.errors import EXIT_OK, InputError, Place, Problem, did_you_mean
from dcplan.inputs.coefficients import coefficients
from dcplan.inputs.devices import spread_frac
from dcplan.inputs.log import Ledger
from dcplan.result import Metric, Result, Table
from dcplan.units import BYTES_PER_GIB

COLUMNS = (
    "id",
    "status",
    "measured_step_time_s",
    "predicted_step_time_s",
    "low_s",
    "high_s",
    "error_frac",
    "measured_memory_gib",
    "predicted_memory_gib",
)
REQUIRED = ("id", "accelerator_id", "stack", "n_accelerators", "tp", "pp", "global_batch_seqs")
GROUPS: dict[str, Callable[[Run], str]] = {
    "source": lambda r: r.source,
    "accelerator": lambda r: r.accelerator.id,
    "stack": lambda r: r.stack_id,
    "arch": lambda r: "moe" if r.moe else "hybrid" if r.shape.mamba_layers else "dense",
}


def validate(
    runs: str | Path | None = None, *, by: str = "stack", catalogs: Iterable[str] = ()
) -> Result:
    """Predict every run of a table and compare.

    Parameters
    ----------
    runs : str or Path, optional
        CSV in the columns of ``catalogs/runs/training_runs.csv``; that table where left out.
    by : str, default "stack"
        Summary by source, accelerator, stack or arch.
    catalogs : sequence of str
        Overlay folders.

    Raises
    ------
    InputError
        When the file cannot be read, lacks a column, or ``by`` is unknown.
    """
    if by not in GROUPS:
        hint = did_you_mean(by, GROUPS)
        raise InputError(
            [
                Problem(
                    "DC050",
                    f"no summary by {by!r}: one of {', '.join(GROUPS)}",
                    Place("--by"),
                    hint,
                )
            ]
        )
    began = time.perf_counter()
    catalog = load_catalog(tuple(Path(c) for c in catalogs))
    table = read_table(Path(runs) if runs else data_dir("catalogs") / "runs" / "training_runs.csv")
    reader, taken, why = Reader(catalog), [], {}
    for i, row in enumerate(table):
        try:
            taken.append((i, reader.read(row)))
        except Unsupported as error:
            why[i] = str(error)
    found = [run for _, run in taken]
    prediction = predict(found, coefficients(Ledger(catalog))) if found else None
    rows = _rows(table, taken, why, prediction, catalog)
    errors = np.array([r[6] for r in rows if r[6] is not None], dtype=np.float64)
    return Result(
        verb="validate",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(table, errors),
        metrics=_metrics(table, rows, errors),
        tables={"runs": Table(COLUMNS, tuple(rows)), "summary": _summary(found, errors, by)},
        run={"seconds": round(time.perf_counter() - began, 4)},
    )


def read_table(file: Path) -> list[dict[str, str]]:
    """Rows of a CSV of runs.

    Raises
    ------
    InputError
        When it cannot be read, holds a number that is none, or lacks a needed column.
    """
    csv.field_size_limit(10**7)
    reader = csv.DictReader(io.StringIO(read_text(file).removeprefix("\ufeff")))
    missing = [c for c in REQUIRED if c not in (reader.fieldnames or ())]
    if missing:
        cause = f"columns missing: {', '.join(missing)}"
        help_ = "dcplan validate -f csv shows the packaged table's ids; its columns are in catalogs/runs"
        raise InputError([Problem("DC053", cause, Place(str(file), 1, 1), help=help_)])
    return [{k: (v or "").strip() for k, v in row.items() if k} for row in reader]


def _rows(
    table: Sequence[Row],
    taken: Sequence[tuple[int, Run]],
    why: dict[int, str],
    prediction: Prediction | None,
    catalog: Catalog,
) -> list[tuple[Any, ...]]:
    place = {i: k for k, (i, _) in enumerate(taken)}
    rows: list[tuple[Any, ...]] = []
    for i, row in enumerate(table):
        if i in why or prediction is None:
            rows.append((row.get("id", ""), f"unsupported: {why.get(i, '')}", *(None,) * 7))
            continue
        run, k = taken[place[i]][1], place[i]
        time_s = float(prediction.step.time_s[k])
        held = float(prediction.memory.total[k]) / BYTES_PER_GIB
        stack = catalog.get("stacks", run.stack_id, Stack)
        spread = spread_frac(Ledger(catalog), run.accelerator, stack, moe=run.moe)
        low, high = time_s / (1.0 + spread), time_s * (1.0 + spread)
        error = time_s / run.measured_s - 1.0
        peak = run.peak_memory_gib or None
        rows.append((run.id, "ok", run.measured_s, time_s, low, high, error, peak, held))
    return rows


def _headline(table: Sequence[Row], errors: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    if not errors.size:
        return f"0 of {len(table)} runs supported"
    absolute = np.abs(errors)
    return (
        f"{errors.size} of {len(table)} runs: mean absolute step-time error {absolute.mean():.1%}, "
        f"median {np.median(absolute):.1%}, bias {errors.mean():+.1%}"
    )


def _metrics(
    table: Sequence[Row],
    rows: Sequence[tuple[Any, ...]],
    errors: np.ndarray[Any, np.dtype[np.float64]],
) -> dict[str, Metric]:
    complete = [i for i, row in enumerate(table) if row.get("complete", "yes") != "no"]
    supported = sum(rows[i][1] == "ok" for i in complete)
    metrics = {
        "runs.total": Metric(len(table), "", "Rows of the table"),
        "runs.supported": Metric(int(errors.size), "", "Rows predicted"),
        "runs.supported_frac": Metric(
            supported / len(complete) if complete else 0.0, "", "Of the complete rows"
        ),
    }
    if errors.size:
        inside = [r[4] <= r[2] <= r[5] for r in rows if r[6] is not None]
        metrics |= {
            "error.mean_abs_frac": Metric(
                float(np.abs(errors).mean()), "", "Mean absolute step-time error"
            ),
            "error.median_abs_frac": Metric(
                float(np.median(np.abs(errors))), "", "Median absolute step-time error"
            ),
            "error.bias_frac": Metric(float(errors.mean()), "", "Mean signed error"),
            "interval.coverage_frac": Metric(
                float(np.mean(inside)), "", "Measured inside the 80 % interval"
            ),
        }
    memory = [abs(r[8] / r[7] - 1.0) for r in rows if r[7]]
    if memory:
        metrics["error.memory_mean_abs_frac"] = Metric(
            float(np.mean(memory)), "", "Mean absolute peak-memory error"
        )
    return metrics


def _summary(runs: Sequence[Run], errors: np.ndarray[Any, np.dtype[np.float64]], by: str) -> Table:
    groups: dict[str, list[float]] = {}
    for run, error in zip(runs, errors, strict=True):
        groups.setdefault(GROUPS[by](run), []).append(float(error))
    rows = []
    for name, found in sorted(groups.items()):
        e = np.array(found)
        worst = float(e[np.argmax(np.abs(e))])
        rows.append(
            (
                name,
                len(found),
                float(np.abs(e).mean()),
                float(np.median(np.abs(e))),
                float(e.mean()),
                worst,
            )
        )
    columns = (
        by,
        "runs",
        "mean_abs_error_frac",
        "median_abs_error_frac",
        "bias_frac",
        "worst_error_frac",
    )
    return Table(columns, tuple(rows))
