"""Markdown of a result for a pull request or a job summary.

The answer first, under GitHub's size, cut by sections.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

from dcplan.report.text.headings import title_of, titles
from dcplan.report.text.numbers import in_order, limits_text, more_rows, observed_text, shown_in
from dcplan.report.text.tags import tag
from dcplan.report.text.view import View, view
from dcplan.result import Result, Table
from dcplan.specs import registry
from dcplan.specs.table import Section

LIMIT = 65_536
"""Characters of a GitHub comment."""
FIRST_ROWS = 30
"""Rows of a long table; the rest is in the CSV export."""
OPEN = ("metrics_changed", "states", "plans")
"""Tables that a reader of a pull request looks at first."""


def markdown(result: Result) -> str:
    """Return the whole answer.

    Sections that do not fit are named at the end, none is cut in the middle.
    """
    name = str(result.scenario.get("name") or result.verb)
    head = f"<!-- dcplan:{_comment(name)} -->\n**{escaped(result.headline)}**\n\n"
    specs = registry.tables(result.verb)
    head += _figures(result) + _expected(result) + _warnings(result)
    order = sorted(titles(result.verb), key=lambda name: list(Section).index(specs[name].section))
    parts = [
        (key, _section(title_of(result.verb, key), result.tables[key], open_=key in OPEN))
        for key in order
        if key in result.tables and result.tables[key].rows
    ]
    text, left = head, []
    for key, part in parts:
        if len(text) + len(part) > LIMIT - 2_000:
            left.append(f"{key} ({len(result.tables[key].rows):,} rows)")
        else:
            text += part
    if left:
        text += "\nNot shown here, see the CSV or HTML export: " + ", ".join(left) + "\n"
    return text


def escaped(text: str) -> str:
    """Text that neither HTML nor Markdown nor a mention can be made of.

    Examples
    --------
    >>> escaped("<b>"), escaped("@team") == "@team", escaped("a|b") == "a" + chr(92) + "|b"
    ('&lt;b&gt;', False, True)
    """
    plain = "".join(c if c.isprintable() else " " for c in text)
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", html.escape(plain, quote=False)).replace(
        "@", "@\u200b"
    )


def _comment(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", text)


def table_text(made: View) -> str:
    """Write a table as Markdown, numbers to the right."""
    lines = [
        "| " + " | ".join(escaped(head) for head in made.headers) + " |",
        "| " + " | ".join("---:" if right else "---" for right in made.numeric) + " |",
    ]
    lines += ["| " + " | ".join(escaped(cell) for cell in row) + " |" for row in made.rows]
    return "\n".join(lines) + "\n"


def _section(title: str, table: Table, *, open_: bool = False) -> str:
    text = table_text(view(table.columns, table.rows[:FIRST_ROWS]))
    more = len(table.rows) - FIRST_ROWS
    rest = f"\n{more_rows(more)}\n" if more > 0 else ""
    if open_:
        return f"\n### {escaped(title)}\n\n{text}{rest}"
    return f"\n<details><summary>{html.escape(title)}</summary>\n\n{text}{rest}\n</details>\n"


def _figures(result: Result) -> str:
    rows = tuple(
        (key, *shown_in(key, m.value, m.unit), m.label)
        for key, m in in_order(result.metrics).items()
        if m.value is not None
    )
    heads = ("Metric", "Value", "Unit", "Meaning")
    more = len(rows) - FIRST_ROWS
    rest = f"\n{more:,} more figures\n" if more > 0 else ""
    text = table_text(View(heads, rows[:FIRST_ROWS], (False, True, False, False)))
    return text + rest if rows else ""


def _expected(result: Result) -> str:
    """Return expectations, failed ones first; of many scenarios with their names."""
    many = any("scenario" in e for e in result.expectations)
    rows = []
    for e in sorted(
        result.expectations, key=lambda e: (e["passed"] is not False, e["passed"] is not None)
    ):
        name = " ".join(str(e[k]) for k in ("scenario", "variant") if e.get(k))
        observed = observed_text(e) if e.get("observed") is not None else ""
        why = limits_text(e) if e["passed"] is not None else str(e.get("reason") or "")
        row = (
            verdict(e),
            str(e.get("id") or ""),
            str(e["metric"]),
            observed,
            why,
            str(e.get("owner") or ""),
            str(e.get("note") or ""),
        )
        rows.append((name, *row) if many else row)
    heads: tuple[str, ...] = (
        "Result",
        "Expectation",
        "Metric",
        "Observed",
        "Required",
        "Owner",
        "Note",
    )
    heads = ("Scenario", *heads) if many else heads
    made = View(heads, tuple(rows), (False,) * len(heads))
    return f"\n{table_text(made)}" if rows else ""


def verdict(expectation: Mapping[str, Any]) -> str:
    """Return what became of an expectation.

    One that was not compared has neither passed nor failed.
    """
    if expectation["passed"] is None:
        return "not compared"
    if expectation["passed"]:
        return "passed"
    return "FAILED" if expectation["severity"] == "error" else "warning"


def _warnings(result: Result) -> str:
    return (
        "".join(
            f"\n- {escaped(tag(w['code']))}: {escaped(str(w['message']))}" for w in result.warnings
        )
        + "\n"
    )
