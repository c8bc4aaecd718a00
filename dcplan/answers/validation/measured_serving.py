"""Measured rows of serving, packaged or from the user, compared with their predictions."""

from __future__ import annotations

import csv
import io
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dcplan.answers.validation.request import ValidateRequest
from dcplan.answers.validation.serving_rows import (
    CLOSED,
    SATURATED,
    Reader,
    Row,
    ServingRun,
    Unsupported,
)
from dcplan.answers.validation.serving_tables import Predicted, predict, setups
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.locate import data_dir
from dcplan.catalog.yaml12 import read_text
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.inputs.serving.spreads import spread_of
from dcplan.llm.tables import Array
from dcplan.result import Metric, Result
from dcplan.specs.metric import MetricSpec
from dcplan.specs.validation import serving as specs
from dcplan.specs.validation.serving import ServingFigureRow, ServingSummaryRow
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
CLOSE_FRAC = 0.10
EARLY = "early port"
GROUP_OF: Mapping[str, Callable[[ServingRun], str]] = {
    "engine": lambda r: f"{r.engine.id}@{r.release.id}" if r.release else r.engine.id,
    "accelerator": lambda r: r.accelerator.id,
    "model": lambda r: r.model_id,
    "source": lambda r: r.source,
}


@dataclass(frozen=True)
class Figure:
    """One measured quantity of one row, with its prediction."""

    run: ServingRun
    quantity: str
    measured: float
    predicted: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Return the relative error."""
        return self.predicted / self.measured - 1.0

    @property
    def inside(self) -> bool:
        """Return whether the measurement is in the interval."""
        return self.low <= self.measured <= self.high

    @property
    def kind(self) -> str:
        """Return the class of measurement, as the goals name it."""
        if self.run.early_port:
            return EARLY
        if self.run.prefill is not None:
            return "disaggregated"
        if self.run.mode == CLOSED:
            return "closed loop"
        if self.run.mode == SATURATED:
            return "saturated"
        if self.quantity == "ttft_ms" and self.run.requests == 1:
            return "one request"
        return "static batch"


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
    figures = figures_of(runs)
    of_run: dict[int, list[Figure]] = defaultdict(list)
    for figure in figures:
        of_run[id(figure.run)].append(figure)
    table = [line for row, run in zip(rows, read, strict=True) for line in _lines(row, run, of_run)]
    group = request.group_by if request.group_by in GROUP_OF else "engine"
    return Result(
        verb="validate",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(rows, runs, figures),
        metrics=_metrics(rows, runs, figures),
        tables={
            specs.SERVING_FIGURES.name: specs.SERVING_FIGURES.table(table),
            specs.SERVING_CLASSES.name: specs.SERVING_CLASSES.table(
                summary(figures, lambda f: f.kind)
            ),
            specs.SERVING_GROUPS.name: specs.SERVING_GROUPS.table(
                summary(figures, lambda f: GROUP_OF[group](f.run))
            ),
        },
        run={"seconds": round(time.perf_counter() - began, 4)},
    )


def read_rows(file: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV of measured serving.

    Raises
    ------
    InputError
        When the file cannot be read or lacks a required column.
    """
    csv.field_size_limit(10**7)
    reader = csv.DictReader(io.StringIO(read_text(file).removeprefix("\ufeff")))
    missing = [c for c in REQUIRED if c not in (reader.fieldnames or ())]
    if missing:
        cause = f"columns missing: {', '.join(missing)}"
        help_ = "catalogs/runs/serving_runs.csv has all columns"
        raise InputError([Problem("DC053", cause, Place(str(file), 1, 1), help=help_)])
    return [{k: (v or "").strip() for k, v in row.items() if k} for row in reader]


def _read(reader: Reader, row: Row) -> ServingRun | str:
    try:
        run = reader.read(row)
    except Unsupported as error:
        return str(error)
    return run if run.measured else "no measured quantity"


def figures_of(runs: Sequence[ServingRun]) -> list[Figure]:
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
            width = spread_of(run.engine, run.family, quantity, kind_of(run), early=run.early_port)
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


def summary(figures: Sequence[Figure], group: Callable[[Figure], str]) -> list[ServingSummaryRow]:
    """Return the errors by group and quantity."""
    groups: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    for f in figures:
        groups[group(f), f.quantity].append(f)
    rows = []
    for (name, quantity), members in sorted(groups.items()):
        error = np.array([f.error for f in members])
        size = np.abs(error)
        rows.append(
            ServingSummaryRow(
                group=name,
                quantity=quantity,
                figures=len(members),
                median_abs_error_frac=float(np.median(size)),
                mean_abs_error_frac=float(size.mean()),
                p90_abs_error_frac=float(np.quantile(size, 0.9)),
                bias_frac=float(np.median(error)),
                coverage_frac=float(np.mean([f.inside for f in members])),
            )
        )
    return rows


GOALS: tuple[tuple[MetricSpec, str, str], ...] = (
    (specs.TPOT_ERROR, "closed loop", "tpot_ms"),
    (specs.SPLIT_ERROR, "disaggregated", "tpot_ms"),
    (specs.STATIC_ERROR, "static batch", "e2e_ms"),
    (specs.RATE_ERROR, "saturated", "output_tokens_per_s_total"),
    (specs.PREFILL_ERROR, "one request", "ttft_ms"),
    (specs.TTFT_ERROR, "closed loop", "ttft_ms"),
)


def _metrics(
    rows: Sequence[Row], runs: Sequence[ServingRun], figures: Sequence[Figure]
) -> dict[str, Metric]:
    found = {
        **specs.ROWS_TOTAL(len(rows)),
        **specs.ROWS_SUPPORTED(len(runs)),
        **specs.FIGURES_MEASURED(len(figures)),
    }
    for spec, kind, quantity in GOALS:
        errors = [abs(f.error) for f in figures if f.kind == kind and f.quantity == quantity]
        if errors:
            found |= spec(float(np.median(errors)))
    energy = energy_errors(figures)
    if energy:
        found |= specs.ENERGY_ERROR(float(np.median(np.abs(energy))))
    hits = layout_hits(figures)
    if hits:
        found |= specs.LAYOUT_HITS(float(np.mean(hits)))
    return found


def energy_errors(figures: Sequence[Figure]) -> list[float]:
    """Return the relative errors of power over output rate, for rows that measure both."""
    both: dict[int, dict[str, Figure]] = defaultdict(dict)
    for f in figures:
        both[id(f.run)][f.quantity] = f
    errors = []
    for row in both.values():
        power, rate = row.get("power_w"), row.get("output_tokens_per_s_total")
        if power is not None and rate is not None and not power.run.early_port:
            predicted = power.predicted / rate.predicted
            errors.append(predicted / (power.measured / rate.measured) - 1.0)
    return errors


def layout_hits(figures: Sequence[Figure]) -> list[bool]:
    """Return for each group of rows that differ only in layout whether the chosen one is good.

    A group has the same model, engine release, accelerator, precision, lengths and requests for
    each accelerator; the choice maximizes the predicted output rate for each accelerator.
    """
    groups: dict[tuple[object, ...], list[Figure]] = defaultdict(list)
    for f in figures:
        r = f.run
        if f.quantity != "output_tokens_per_s_total" or r.mode != CLOSED or r.early_port:
            continue
        key = (
            r.model_id,
            r.engine.id,
            r.release.id if r.release else "",
            r.accelerator.id,
            r.service.numbers["expert_bytes"],
            r.service.numbers["dense_bytes"],
            r.input_tokens,
            r.output_tokens,
            r.requests,
        )
        groups[key].append(f)
    hits = []
    for members in groups.values():
        if len({(f.run.decode, f.run.prefill) for f in members}) < 2:
            continue
        measured = np.array([f.measured / f.run.accelerators for f in members])
        predicted = np.array([f.predicted / f.run.accelerators for f in members])
        hits.append(
            bool(measured[int(np.argmax(predicted))] >= (1.0 - CLOSE_FRAC) * measured.max())
        )
    return hits


def _headline(rows: Sequence[Row], runs: Sequence[ServingRun], figures: Sequence[Figure]) -> str:
    if not figures:
        return f"0 of {len(rows)} rows supported"
    tpot = [abs(f.error) for f in figures if f.kind == "closed loop" and f.quantity == "tpot_ms"]
    usual = [f for f in figures if not f.run.early_port]
    inside = float(np.mean([f.inside for f in usual])) if usual else 0.0
    middle = f"median error of time per output token {np.median(tpot):.1%}, " if tpot else ""
    return (
        f"{len(runs)} of {len(rows)} rows, {len(figures)} measured figures: {middle}"
        f"{inside:.0%} of the figures inside the 80 % interval"
    )
