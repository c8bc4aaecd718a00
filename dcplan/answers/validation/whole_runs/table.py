"""Whole runs: published days against the interval, without and with the published course."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcplan.answers.validation.published_answers import Lookup, figure_of
from dcplan.catalog.schema.published import Published
from dcplan.result import Metric, Table
from dcplan.specs.train import run as run_specs
from dcplan.specs.validation import validate as specs
from dcplan.specs.validation.validate import FigureRow, WholeRunRow
from dcplan.units import HOURS_PER_DAY

SUBJECT = "runs"


@dataclass(frozen=True)
class Interval:
    """Days of one answer: median and 80 % interval."""

    p10: float
    p50: float
    p90: float

    def holds(self, days: float) -> bool:
        """Return whether a number of days is inside the interval.

        Examples
        --------
        >>> Interval(8.0, 10.0, 12.0).holds(12.0), Interval(8.0, 10.0, 12.0).holds(7.9)
        (True, False)
        """
        return self.p10 <= days <= self.p90


def whole_runs(
    questions: Sequence[Published], figures: Sequence[FigureRow], folders: tuple[str, ...]
) -> dict[str, Table]:
    """Return the table of whole runs; no table for other subjects."""
    rows = [row for row in questions if row.subject == SUBJECT]
    if not rows:
        return {}
    published = {figure.id: figure.published for figure in figures}
    table = specs.WHOLE_RUNS.table(_row(row, published[row.id], folders) for row in rows)
    return {specs.WHOLE_RUNS.name: table}


def whole_run_metrics(tables: Mapping[str, Table]) -> dict[str, Metric]:
    """Count the runs inside the interval; nothing for other subjects."""
    if specs.WHOLE_RUNS.name not in tables:
        return {}
    rows = specs.WHOLE_RUNS.rows(tables[specs.WHOLE_RUNS.name])
    return {
        **specs.WHOLE_RUNS_TOTAL(len(rows)),
        **specs.WHOLE_RUNS_PLAIN_INSIDE(sum(row.plain_inside for row in rows)),
        **specs.WHOLE_RUNS_INSIDE(sum(row.inside for row in rows)),
    }


def _row(row: Published, figure: float, folders: tuple[str, ...]) -> WholeRunRow:
    count = int(row.ask["accelerators"])
    hours = run_specs.ACCELERATOR_HOURS.key in row.figures
    days = figure / count / HOURS_PER_DAY if hours else figure
    full = _interval(figure_of(row, folders), count, hours=hours)
    plain = full
    if row.course:
        bare = row.model_copy(update={"course": {}})
        plain = _interval(figure_of(bare, folders), count, hours=hours)
    return WholeRunRow(
        id=row.id,
        accelerators=count,
        published_days=days,
        plain_days_p50=plain.p50,
        plain_days_p10=plain.p10,
        plain_days_p90=plain.p90,
        plain_inside=plain.holds(days),
        days_p50=full.p50,
        days_p10=full.p10,
        days_p90=full.p90,
        inside=full.holds(days),
        course=flags_of(row.course),
        cause=row.cause,
    )


def _interval(found: Lookup, count: int, *, hours: bool) -> Interval:
    """Return the days of an answer; those of all accelerator-hours where hours are published."""
    p10, p50, p90 = (
        _number(found(spec.key))
        for spec in (run_specs.DAYS_P10, run_specs.DAYS_P50, run_specs.DAYS_P90)
    )
    scale = 1.0
    if hours:
        scale = _number(found(run_specs.ACCELERATOR_HOURS.key)) / count / HOURS_PER_DAY / p50
    return Interval(p10 * scale, p50 * scale, p90 * scale)


def _number(metric: Metric | None) -> float:
    if metric is None or not isinstance(metric.value, int | float):  # train has all of these
        msg = "the answer of train lacks its days"
        raise ValueError(msg)
    return float(metric.value)


def flags_of(arguments: Mapping[str, object]) -> str:
    """Write arguments of a verb as flags of the command line.

    Examples
    --------
    >>> flags_of({"nodes": 4, "phases": ["tokens=1e9", "tokens=2e9"], "early": True})
    '--nodes 4 --phase tokens=1e9 --phase tokens=2e9 --early'
    """
    names = {"sets": "set", "phases": "phase", "time_limit_s": "time-limit"}
    flags = []
    for key, value in arguments.items():
        name = names.get(key, key)
        several = value if isinstance(value, list | tuple) else [value]
        flags += [name.replace("_", "-") + ("" if one is True else f" {one}") for one in several]
    return " ".join(f"--{flag}" for flag in flags)
