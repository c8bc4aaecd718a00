"""Published post-training runs, compared with the predictions of dcplan."""

from __future__ import annotations

import csv
import io
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from dcplan.answers.validation.post_training.fact_rows import predicted_fact
from dcplan.answers.validation.post_training.rl_rows import predicted_step
from dcplan.answers.validation.post_training.tuning_rows import Predicted, Predictor
from dcplan.answers.validation.request import ValidateRequest
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.locate import data_dir
from dcplan.catalog.yaml12 import read_text
from dcplan.errors import EXIT_OK
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Result
from dcplan.specs.validation import post_training as specs
from dcplan.specs.validation.post_training import PostGroupRow, PostRunRow

TUNING, STEPS, FACTS = (
    f"{name}.csv" for name in ("fine_tuning_runs", "post_training_runs", "post_training_facts")
)
Row = Mapping[str, str]


def predicted_post_training(request: ValidateRequest) -> Result:
    """Predict every published run and compare.

    Raises
    ------
    InputError
        When a catalog overlay cannot be read.
    """
    began = time.perf_counter()
    log = InputLog(load_catalog(tuple(Path(c) for c in request.catalogs)))
    predictor = Predictor(log)
    rows = [_tuning(row, predictor.predicted(row)) for row in _table(TUNING)]
    rows += [_step(row, predicted_step(row, log, request.catalogs)) for row in _table(STEPS)]
    rows += [_fact(row, predicted_fact(row, log)) for row in _table(FACTS)]
    metrics = _metrics(rows)
    return Result(
        verb="validate",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(metrics),
        metrics=metrics,
        tables={
            specs.POST_GROUPS.name: specs.POST_GROUPS.table(groups(rows)),
            specs.POST_RUN_TABLE.name: specs.POST_RUN_TABLE.table(rows),
        },
        run={"seconds": round(time.perf_counter() - began, 4)},
    )


def _table(name: str) -> list[dict[str, str]]:
    """Return the rows of a packaged table."""
    text = read_text(data_dir("catalogs") / "runs" / name)
    return list(csv.DictReader(io.StringIO(text)))


def _tuning(row: Row, found: Predicted | str) -> PostRunRow:
    return _row(
        row,
        found,
        kind=row["kind"],
        quantity="time to target" if row["train_sequences"] else "step time",
        accelerator=row["accelerator_id"],
        published=row["published_s"],
        memory=row["peak_memory_gib"],
    )


def _step(row: Row, found: Predicted | str) -> PostRunRow:
    published, quantity = row["step_time_s"], "step time"
    return _row(
        row,
        found,
        kind="rl step",
        quantity=quantity,
        accelerator=row["system"],
        published=published,
    )


def _fact(row: Row, found: Predicted | str) -> PostRunRow:
    return _row(
        row,
        found,
        kind=row["kind"],
        quantity=row["quantity"],
        accelerator=row["accelerator_id"],
        published=row["published"],
        published_high=row["published_high"],
    )


def _row(
    row: Row,
    found: Predicted | str,
    *,
    kind: str,
    quantity: str,
    accelerator: str,
    published: str,
    published_high: str = "",
    memory: str = "",
) -> PostRunRow:
    """Return one row of the table; the error is that to the nearer end of a published range."""
    said, most = float(published), float(published_high or published)
    known = found if isinstance(found, Predicted) else None
    value = low = high = error = None
    if known is not None:
        value, wide = known.value, 1.0 + known.spread_frac
        low, high = value / wide, value * wide
        error = value / min(max(value, said), most) - 1.0
    inside = low is not None and high is not None and low <= most and said <= high
    return PostRunRow(
        id=row["id"],
        kind=kind,
        quantity=quantity,
        model=row["model"],
        accelerator=accelerator,
        accelerators=int(row["accelerators"]),
        published=said,
        published_high=most if published_high else None,
        predicted=value,
        low=low,
        high=high,
        error_frac=error,
        inside="yes" if inside else "no",
        published_memory_gib=float(memory) if memory else None,
        predicted_memory_gib=known.memory_gib if known else None,
        status="ok" if known else str(found),
        source=row["source_title"],
        url=row["source_url"],
        locator=row["source_locator"],
        note=row.get("note", ""),
    )


def groups(rows: Sequence[PostRunRow]) -> list[PostGroupRow]:
    """Return the errors by kind and publisher, in the order of the table."""
    found: dict[tuple[str, str], list[PostRunRow]] = defaultdict(list)
    for row in rows:
        if row.error_frac is not None:
            found[row.kind, row.source.split(",")[0]].append(row)
    return [_group(*key, members) for key, members in found.items()]


def _group(kind: str, source: str, rows: Sequence[PostRunRow]) -> PostGroupRow:
    """Return number, median absolute, median and largest error, and the share inside."""
    errors = np.array([row.error_frac for row in rows], dtype=np.float64)
    return PostGroupRow(
        kind,
        source,
        runs=errors.size,
        median_abs_error_frac=float(np.median(np.abs(errors))),
        bias_frac=float(np.median(errors)),
        worst_error_frac=float(errors[np.argmax(np.abs(errors))]),
        inside_frac=float(np.mean([row.inside == "yes" for row in rows])),
    )


def _metrics(rows: Sequence[PostRunRow]) -> dict[str, Metric]:
    answered = [row for row in rows if row.error_frac is not None]
    every = _group("", "", answered)
    return {
        **specs.POST_RUNS(len(rows)),
        **specs.POST_ANSWERED(len(answered)),
        **specs.POST_ERROR_MEDIAN(every.median_abs_error_frac),
        **specs.POST_INSIDE_FRAC(every.inside_frac),
    }


def _headline(metrics: Mapping[str, Metric]) -> str:
    total, answered, middle, inside = (
        metrics[spec.key].value
        for spec in (
            specs.POST_RUNS,
            specs.POST_ANSWERED,
            specs.POST_ERROR_MEDIAN,
            specs.POST_INSIDE_FRAC,
        )
    )
    return (
        f"post-training: {answered} of {total} published figures predicted: median absolute error "
        f"{middle:.1%}, {inside:.0%} inside dcplan's 80 % interval"
    )
