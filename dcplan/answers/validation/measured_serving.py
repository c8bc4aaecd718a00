"""Measured rows of serving, packaged or from the user, compared with their predictions."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from dcplan.answers.validation.measured_csv import rows_of
from dcplan.answers.validation.request import GROUPS_OF, SERVING, ValidateRequest
from dcplan.answers.validation.serving_cells import Row, Unsupported
from dcplan.answers.validation.serving_errors import Figure, metrics_of, summary
from dcplan.answers.validation.serving_rows import Reader, ServingRun
from dcplan.answers.validation.serving_tables import Predicted, predict, setups
from dcplan.catalog.loader import Catalog
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.locate import data_dir
from dcplan.errors import EXIT_OK
from dcplan.inputs.serving.spreads import spread_of
from dcplan.llm.tables import Array
from dcplan.result import Result
from dcplan.specs.validation import serving as specs
from dcplan.specs.validation.serving import ServingFigureRow
from dcplan.units import MILLI

REQUIRED = (
    "id",
    "engine",
    "model",
    "precision_weights",
    "accelerator",
    "accelerators",
    "osl",
    "concurrency_or_batch",
    "scenario",
)
GROUP_OF: Mapping[str, Callable[[ServingRun], str]] = {
    "engine": lambda r: f"{r.engine.id}@{r.release.id}" if r.release else r.engine.id,
    "accelerator": lambda r: r.accelerator.id,
    "model": lambda r: r.model_id,
    "source": lambda r: r.source,
}


def predicted_serving(request: ValidateRequest) -> Result:
    """Predict every row of a table and compare.

    Raises
    ------
    InputError
        When the file cannot be read or lacks a column.
    """
    began = time.perf_counter()
    catalog = load_catalog(tuple(Path(c) for c in request.catalogs))
    packaged = data_dir("catalogs") / "runs" / "serving_runs.csv"
    rows = read_rows(Path(request.runs) if request.runs else packaged)
    reader = Reader(catalog)
    read = [_read(reader, row) for row in rows]
    runs = [run for run in read if isinstance(run, ServingRun)]
    figures = figures_of(catalog, runs)
    of_run: dict[int, list[Figure]] = defaultdict(list)
    for figure in figures:
        of_run[id(figure.run)].append(figure)
    table = [line for row, run in zip(rows, read, strict=True) for line in _lines(row, run, of_run)]
    group = GROUP_OF[request.group_by or GROUPS_OF[SERVING][0]]
    return Result(
        verb="validate",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(rows, runs, figures),
        metrics=metrics_of(rows, runs, figures),
        tables={
            specs.SERVING_CLASSES.name: specs.SERVING_CLASSES.table(
                summary(figures, lambda f: f.kind)
            ),
            specs.SERVING_GROUPS.name: specs.SERVING_GROUPS.table(
                sorted(summary(figures, lambda f: group(f.run)), key=_worst_first)
            ),
            specs.SERVING_FIGURES.name: specs.SERVING_FIGURES.table(table),
        },
        run={"seconds": round(time.perf_counter() - began, 4)},
    )


def _worst_first(row: specs.ServingSummaryRow) -> tuple[float, str, str]:
    return -row.median_abs_error_frac, row.group, row.quantity


def read_rows(file: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV of measured serving.

    Raises
    ------
    InputError
        When the file cannot be read or lacks a required column.
    """
    return rows_of(file, REQUIRED, "catalogs/runs/serving_runs.csv has all columns")


def _read(reader: Reader, row: Row) -> ServingRun | str:
    try:
        run = reader.read(row)
    except Unsupported as error:
        return str(error)
    return run if run.measured else "no measured quantity"


def figures_of(catalog: Catalog, runs: Sequence[ServingRun]) -> list[Figure]:
    """Return every measured quantity of the runs with its prediction and interval."""
    if not runs:
        return []
    predicted = predict(setups(runs))
    values = quantities(predicted)
    found = []
    for place, run in enumerate(runs):
        for quantity, measured in run.measured.items():
            if measured <= 0.0:
                continue
            value = float(values[quantity][place])
            width = spread_of(
                catalog,
                run.engine,
                run.family,
                quantity,
                kind_of(run),
                accelerator=run.accelerator.id,
                early=run.early_port,
            )
            low, high = value * math.exp(-width), value * math.exp(width)
            found.append(Figure(run, quantity, measured, value, low, high))
    return found


def kind_of(run: ServingRun) -> str:
    """Return the word of a run's mode in the keys of spreads."""
    return "split" if run.prefill is not None else run.mode


def quantities(predicted: Predicted) -> dict[str, Array]:
    """Return predictions in the units of the columns."""
    return {
        "tpot_ms": predicted.tpot_s / MILLI,
        "ttft_ms": predicted.ttft_s / MILLI,
        "e2e_ms": predicted.e2e_s / MILLI,
        "output_tokens_per_s_total": predicted.output_tokens_per_s,
        "power_w": predicted.power_w,
    }


def _lines(
    row: Row, run: ServingRun | str, of_run: Mapping[int, Sequence[Figure]]
) -> Iterable[ServingFigureRow]:
    if isinstance(run, str):
        yield ServingFigureRow(row.get("id", ""), f"unsupported: {run}")
        return
    for f in of_run[id(run)]:
        yield ServingFigureRow(run.id, "ok", f.quantity, f.measured, f.predicted, f.low, f.high)


def _headline(rows: Sequence[Row], runs: Sequence[ServingRun], figures: Sequence[Figure]) -> str:
    if not figures:
        return f"0 of {len(rows)} rows supported"
    tpot = [abs(f.error) for f in figures if f.kind == "closed loop" and f.quantity == "tpot_ms"]
    usual = [f for f in figures if not f.run.early_port]
    inside = float(np.mean([f.inside for f in usual])) if usual else 0.0
    middle = f"median error of time per output token {np.median(tpot):.1%}, " if tpot else ""
    return (
        f"{len(runs)} of {len(rows)} rows, {len(figures)} measured figures: {middle}"
        f"{inside:.0%} of the figures inside the 80 % interval; the constants are fitted to the "
        "packaged rows, docs/validation/serving.md has the errors of rows left out"
    )
