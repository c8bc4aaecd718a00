"""Published figures of a subject compared with the answers of dcplan."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dcplan.answers.validation.published_answers import figure_of
from dcplan.answers.validation.request import ValidateRequest
from dcplan.answers.validation.whole_runs.table import flags_of, whole_run_metrics, whole_runs
from dcplan.catalog.published import read
from dcplan.catalog.schema.published import ARITHMETIC, Published
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.provenance import Quantity
from dcplan.result import Metric, Result
from dcplan.specs.validation import validate as specs
from dcplan.specs.validation.validate import FigureRow

EXACT_FRAC = 0.005
"""Published figures are rounded: within half a percent they count as equal."""
CLOSE_FRAC = 0.05
NEAR_FRAC = 0.25
COUNTS = {
    "exact": specs.FIGURES_EXACT,
    "close": specs.FIGURES_CLOSE,
    "near": specs.FIGURES_NEAR,
    "far": specs.FIGURES_FAR,
}
"""Verdict -> the metric that counts it."""
VERDICTS = tuple(COUNTS)


def published(request: ValidateRequest) -> Result:
    """Answer every question of a subject and compare.

    Raises
    ------
    InputError
        When an answer lacks a figure of its row.
    """
    began = time.perf_counter()
    rows: list[FigureRow] = []
    problems: list[Problem] = []
    questions = read(request.subject, tuple(Path(f) for f in request.catalogs))
    for row in questions:
        try:
            rows += _compared(row, request.catalogs)
        except InputError as error:
            problems += [_of_row(row.id, problem) for problem in error.problems]
    if problems:
        raise InputError(problems)
    sources = (
        specs.SourceRow(row.id, row.name, question(row), row.source.title, row.source.url, row.note)
        for row in questions
    )
    runs = whole_runs(questions, rows, request.catalogs)
    metrics = _metrics(rows) | whole_run_metrics(runs)
    return Result(
        verb="validate",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(request.subject, questions, metrics),
        metrics=metrics,
        tables=runs
        | {
            specs.FIGURES.name: specs.FIGURES.table(rows),
            specs.SOURCES.name: specs.SOURCES.table(sources),
        },
        run={"seconds": round(time.perf_counter() - began, 4)},
    )


def _of_row(name: str, problem: Problem) -> Problem:
    """Add the name of the row to a problem."""
    if problem.place == Place(name):
        return problem
    return replace(problem, cause=f"{name}: {problem.cause}")


def question(row: Published) -> str:
    """Write the question of a row as a command line.

    Examples
    --------
    >>> question(Published(id="a", name="a", source="some paper", subject="fabric", verb="fabric",
    ...                    ask={"nodes": 4, "fabric": "ib-ndr-400"}, figures={"fabric.leaf_switches": 8}))
    'dcplan fabric --nodes 4 --fabric ib-ndr-400'
    """
    ask = dict(row.asked)
    if row.verb == "function":
        return f"{ask.pop('of', '')}({', '.join(f'{k}={v}' for k, v in ask.items())})"
    first = [str(ask.pop(k)) for k in ("scenario", "model", "kind", "id") if k in ask]
    first += map(str, ask.pop("files", ()))
    verb = "catalog show" if row.verb == "catalog" else row.verb
    return " ".join(filter(None, ("dcplan", verb, *first, flags_of(ask))))


def _compared(row: Published, folders: tuple[str, ...]) -> list[FigureRow]:
    """Compare the figures of a row with the answer; refuse figures that the answer lacks."""
    found = figure_of(row, folders)
    rows, missing = list[FigureRow](), []
    for key, said in row.figures.items():
        metric = found(key)
        number = metric.value if metric is not None else None
        if metric is None or not isinstance(number, int | float) or not math.isfinite(number):
            cause = f"{row.id}: the answer has no number {key!r}"
            missing.append(Problem("DC040", cause, Place(row.id)))
            continue
        by = row.times.get(key, 1.0)
        value = number * by
        rows.append(
            FigureRow(
                id=row.id,
                figure=key,
                unit=metric.unit,
                published=said.value,
                published_low=said.low,
                published_high=said.high,
                computed=value,
                low=None if metric.low is None else metric.low * by,
                high=None if metric.high is None else metric.high * by,
                error_frac=value / said.value - 1.0 if said.value else None,
                verdict=verdict(said, value),
                basis=row.basis(key),
                note=said.note or row.cause or None,
            )
        )
    if missing:
        raise InputError(missing)
    return rows


def verdict(said: Quantity, value: float) -> str:
    """Judge a value by its distance from the published figure.

    ``exact`` within half a percent or the published range, ``close`` within 5 %, ``near`` within
    25 %, else ``far``.

    Examples
    --------
    >>> [verdict(Quantity(value=100), v) for v in (100.4, 104, 80, 50)]
    ['exact', 'close', 'near', 'far']
    >>> verdict(Quantity(value=100, low=90, high=120), 119)
    'exact'
    """
    low, high = said.bounds
    if low < high and low <= value <= high:
        return "exact"
    off = abs(value - said.value) / abs(said.value) if said.value else float(value != 0.0)
    bands = ((EXACT_FRAC, "exact"), (CLOSE_FRAC, "close"), (NEAR_FRAC, "near"))
    return next((word for limit, word in bands if off <= limit), "far")


def _metrics(rows: Sequence[FigureRow]) -> dict[str, Metric]:
    """Count verdicts and errors of the figures of verbs; count figures of functions separately."""
    verified = [row for row in rows if row.basis != ARITHMETIC]
    verdicts = [row.verdict for row in verified]
    alone = [row.verdict for row in verified if row.basis == "independent"]
    metrics = {
        **specs.FIGURES_TOTAL(len(verified)),
        **specs.FIGURES_INDEPENDENT(len(alone)),
        **specs.FIGURES_INDEPENDENT_CLOSE(alone.count("exact") + alone.count("close")),
    }
    for word, spec in COUNTS.items():
        metrics |= spec(verdicts.count(word))
    metrics |= specs.FIGURES_ARITHMETIC(len(rows) - len(verified))
    errors = np.array([x.error_frac for x in verified if x.error_frac is not None], dtype=float)
    if errors.size:
        metrics |= {
            **specs.ERROR_MEAN_ABS(float(np.abs(errors).mean())),
            **specs.ERROR_MEDIAN_ABS(float(np.median(np.abs(errors)))),
            **specs.ERROR_BIAS(float(errors.mean())),
        }
    return metrics


def _headline(subject: str, questions: Sequence[Published], metrics: Mapping[str, Metric]) -> str:
    counts = [(metrics[spec.key].value, word) for word, spec in COUNTS.items()]
    words = ", ".join(f"{n} {word}" for n, word in counts if n)
    total, alone, good, apart = (
        metrics[spec.key].value
        for spec in (
            specs.FIGURES_TOTAL,
            specs.FIGURES_INDEPENDENT,
            specs.FIGURES_INDEPENDENT_CLOSE,
            specs.FIGURES_ARITHMETIC,
        )
    )
    asked = sum(row.verb != "function" for row in questions)
    share = f"{good} of {alone} independent ones exact or close" if alone else "none is independent"
    more = f"; {apart} more check the arithmetic of functions" if apart else ""
    return f"{subject}: {total} figures of {asked} rows: {words}; {share}{more}"
