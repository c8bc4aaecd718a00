"""Validation pages of serving: errors of the measured rows by class and by group."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from dcplan.answers.validation.answer import validate
from dcplan.answers.validation.request import GROUPS_OF, SERVING
from dcplan.answers.validation.serving_errors import EARLY
from dcplan.report.pages.page_text import MADE, number_of, page_table
from dcplan.report.text.numbers import shown
from dcplan.result import Cell, Result, Table

LEAST_FIGURES = 10
"""Smaller groups are only on the page with every figure."""
HEAD = ("quantity", "figures", "median", "90 %", "bias", "in interval")
TITLES = {
    "engine": "engine and line of releases",
    "accelerator": "accelerator",
    "model": "model",
    "source": "source",
}

_answer = functools.cache(validate)


def serving_errors() -> str:
    """Return the errors by class, early ports apart, and by group for the main quantity."""
    classes = _answer(SERVING).tables["serving_classes"].records()
    usual = [r for r in classes if r["group"] != EARLY]
    ports = [r for r in classes if r["group"] == EARLY]
    out = [
        page_table(("class", *HEAD), [_row(r) for r in usual]),
        page_table(("class", *HEAD), [_row(r) for r in ports]),
    ]
    for by, title in TITLES.items():
        records = _main(_groups(by).records())
        out.append(f"By {title}:\n\n{page_table((by, *HEAD), [_row(r) for r in records])}")
    return "\n".join(out)


def serving_page() -> str:
    """Write the errors of all measured rows of serving, by class and group."""
    first = _answer(SERVING)
    figures = [(f"`{k}`", shown(k, m.value), m.label) for k, m in first.metrics.items()]
    classes = first.tables["serving_classes"].records()
    out = [
        MADE + "# Every figure: serving\n",
        f"{first.headline}.\n",
        page_table(("figure", "value", "meaning"), figures),
        f"## By class\n\n{page_table(('class', *HEAD), [_row(r) for r in classes])}",
    ]
    for by in GROUPS_OF[SERVING]:
        rows = [_row(r) for r in _groups(by).records()]
        out.append(f"## By {by}\n\n{page_table((by, *HEAD), rows)}")
    return "\n".join(out)


def _groups(by: str) -> Table:
    found: Result = _answer(SERVING, group_by=by)
    return found.tables["serving_groups"]


def _main(records: Iterable[dict[str, Cell]]) -> list[dict[str, Cell]]:
    """Return the quantity of each group that most of its rows measure; of equal ones the first."""
    found: dict[Cell, dict[str, Cell]] = {}
    for record in sorted(records, key=lambda r: -number_of(r["figures"])):
        found.setdefault(record["group"], record)
    usual = [r for r in found.values() if number_of(r["figures"]) >= LEAST_FIGURES]
    return sorted(usual, key=lambda r: str(r["group"]))


def _row(record: dict[str, Cell]) -> tuple[str, ...]:
    """Return a row of a table: group, quantity, count, errors, coverage."""
    names = ("median_abs_error_frac", "p90_abs_error_frac", "bias_frac", "coverage_frac")
    median, p90, bias, inside = (number_of(record[name]) for name in names)
    return (
        str(record["group"]),
        f"`{record['quantity']}`",
        f"{number_of(record['figures']):,.0f}",
        f"{median:.1%}",
        f"{p90:.0%}",
        f"{bias:+.1%}",
        f"{inside:.0%}",
    )
