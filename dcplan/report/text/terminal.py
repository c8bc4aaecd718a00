"""Answers on a terminal: the answer first, then tables; plain aligned text in a pipe, never cut."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import IO

from rich.console import Console
from rich.table import Table as RichTable

from dcplan.report.text.bars import bars, quarter_lines
from dcplan.report.text.headings import label_of, title_of
from dcplan.report.text.next_steps import next_commands
from dcplan.report.text.numbers import (
    limits_text,
    more_rows,
    observed_text,
    printable,
    shown,
    shown_in,
)
from dcplan.report.text.view import View, short_view, view
from dcplan.result import Result, Table
from dcplan.specs.headers import header
from dcplan.specs.registry import metric_of, metrics, tables
from dcplan.specs.table import Section, Shown


def write_text(result: Result, stream: IO[str], *, color: bool, verbose: bool = False) -> None:
    """Write a result as text; the short form leaves tables, columns and metrics to ``verbose``."""
    console = Console(
        file=stream, no_color=not color, highlight=False, emoji=False, soft_wrap=not stream.isatty()
    )
    console.print(
        printable(result.headline),
        style="bold" if color and stream.isatty() else None,
        markup=False,
    )
    own = bool(metrics(result.verb))  # figures of a verb without its own are those of the plan
    if own and not verbose:
        _metrics(console, stream, result, verbose=False)
    _quarters(console, result)
    later = []
    order = list(Section)
    for name, spec in sorted(tables(result.verb).items(), key=lambda x: order.index(x[1].section)):
        table = result.tables.get(name)
        if table is None or not table.rows or spec.shown is Shown.DATA:
            continue
        if (spec.shown is Shown.VERBOSE and not verbose) or not _section(
            console, stream, result.verb, name, table, verbose=verbose
        ):
            later.append(name)
    if verbose or not own:
        _metrics(console, stream, result, verbose=verbose)
    _expectations(console, result)
    _counts(console, result, verbose=verbose)
    _next(console, result, later)


FEW = 3
"""Rows up to which a table that is wider than the screen is written as lists."""


def _as_lists(console: Console, made: View) -> None:
    """Write each row of a wide table as a list, one cell a line."""
    width = max(len(head) for head in made.headers)
    for i, row in enumerate(made.rows):
        if i:
            console.print()
        for head, cell in zip(made.headers, row, strict=True):
            if cell not in ("", "-"):
                console.print(f"{head.ljust(width)}  {cell}", markup=False)


SERIES = {"power": ("facility_mw", "utility_mw"), "quarters": ("pue",)}
"""Columns of time series that a terminal shows as bars."""


def _bars(console: Console, name: str, table: Table) -> None:
    """Time series of a table as bars, where somebody looks at a terminal that can show them."""
    at = {column: i for i, column in enumerate(table.columns)}
    for column in SERIES.get(name, ()):
        if column not in at or len(table.rows) < 3:
            continue
        groups: dict[str, list[float]] = {}
        for row in table.rows:
            value = row[at[column]]
            key = str(row[at["site"]]) if "site" in at else ""
            groups.setdefault(key, []).append(
                float(value) if isinstance(value, int | float) else 0.0
            )
        for key, values in groups.items():
            ends = f"{shown(column, min(values))} to {shown(column, max(values))}"
            console.print(f"{key} {header(column)}  {bars(values)}  {ends}".strip(), markup=False)


def _quarters(console: Console, result: Result) -> None:
    """Power, cash and accelerators of a plan by quarter, where the output has block characters."""
    lines = quarter_lines(result) if _has_blocks(console) else []
    if lines:
        console.print()
    for line in lines:
        console.print(line, markup=False)


def _has_blocks(console: Console) -> bool:
    return console.encoding.lower().startswith("utf")


def _section(
    console: Console, stream: IO[str], verb: str, name: str, table: Table, *, verbose: bool
) -> bool:
    """Write one table; return whether its form has a row to show."""
    made = view(table.columns, table.rows) if verbose else short_view(verb, name, table)
    if not made.rows:
        return False
    console.print()
    console.print(title_of(verb, name), style="bold", markup=False)
    if stream.isatty() and _has_blocks(console):
        _bars(console, name, table)
    write_table(console, stream, made)
    if made.more:
        console.print(f"{more_rows(made.more)} with -v", markup=False)
    return True


def write_table(console: Console, stream: IO[str], made: View) -> None:
    """Write one table: framed on a terminal, plain aligned text elsewhere."""
    widths = made.widths
    if stream.isatty() and sum(widths) + 2 * len(widths) <= console.width:
        framed = RichTable(box=None, pad_edge=False)
        for head, is_right in zip(made.headers, made.numeric, strict=True):
            framed.add_column(head, justify="right" if is_right else "left", overflow="fold")
        for line in made.rows:
            framed.add_row(*[_escape(cell) for cell in line])
        console.print(framed)
        return
    if stream.isatty() and len(made.rows) <= FEW:
        _as_lists(console, made)
        return
    for line in [made.headers, *made.rows]:
        cells = [
            cell.rjust(w) if r else cell.ljust(w)
            for cell, w, r in zip(line, widths, made.numeric, strict=True)
        ]
        console.print("  ".join(cells).rstrip(), markup=False)


def _escape(text: str) -> str:
    return text.replace("[", r"\[")


def _metrics(console: Console, stream: IO[str], result: Result, *, verbose: bool) -> None:
    """Write the metrics; the short form has the main ones, and no key."""
    found = [
        (k, m, metric_of(result.verb, k) or metric_of("plan", k)) for k, m in result.metrics.items()
    ]
    if not verbose and any(spec is not None and spec.main for _, _, spec in found):
        found = [
            (key, m, spec)
            for key, m, spec in found
            if spec is not None and spec.main and m.value not in (None, 0)
        ]
    if not found:
        return
    console.print()
    console.print("Key figures" if not verbose else "Figures", style="bold", markup=False)
    if verbose:
        cells = tuple((k, *shown_in(k, m.value, m.unit), m.label) for k, m, _ in found)
        made = View(("Metric", "Value", "Unit", "Meaning"), cells, (False, True, False, False))
    else:
        lines = tuple((label_of(s, m), *shown_in(k, m.value, m.unit)) for k, m, s in found)
        made = View(("Metric", "Value", "Unit"), lines, (False, True, False))
    write_table(console, stream, made)


def _expectations(console: Console, result: Result) -> None:
    if not result.expectations:
        return
    console.print()
    console.print("Expectations", style="bold", markup=False)
    for e in result.expectations:
        name = " ".join(str(e[k]) for k in ("scenario", "variant") if e.get(k))
        mark = {True: "ok  ", False: "FAIL" if e["severity"] == "error" else "warn", None: "skip"}[
            e["passed"]
        ]
        observed = "" if e["observed"] is None else f" = {observed_text(e)},"
        owner = f" (owner: {e['owner']})" if e["owner"] and e["passed"] is False else ""
        tail = f" {e['reason']}" if e["reason"] else f" required {limits_text(e)}"
        where = f" {e['at']}" if e.get("at") and e["passed"] is False else ""
        line = f"{mark} {name} {e['id']}: {e['metric']}{observed}{tail}{owner}{where}".replace(
            "  ", " ", not name
        )
        console.print(printable(line), markup=False)


def _counts(console: Console, result: Result, *, verbose: bool) -> None:
    if not result.inputs:
        return
    counts: dict[str, int] = {}
    for row in result.inputs:
        counts[row["status"]] = counts.get(row["status"], 0) + 1
    text = ", ".join(f"{n} {status}" for status, n in sorted(counts.items()))
    how = "dcplan check FILE -v" if result.verb == "plan" else "-v"
    console.print()
    console.print(
        f"Inputs used: {text}" + ("" if verbose else f" ({how} lists them with sources)"),
        markup=False,
    )
    if verbose:
        write_table(console, console.file, _inputs(result))


def _next(console: Console, result: Result, later: Sequence[str]) -> None:
    """Write what the short form leaves out, and the commands that follow."""
    if later:
        console.print(f"\nMore tables with -v: {', '.join(later)}", markup=False)
    commands = next_commands(result)
    if commands:
        console.print("\nNext:", markup=False)
        for command, purpose in commands:
            console.print(f"  {command}  ({purpose})", markup=False)


def table_text(result: Result, section: str) -> str:
    """One section of a result as plain aligned text; ``metrics`` and ``inputs`` are sections too."""
    stream = io.StringIO()
    console = Console(file=stream, no_color=True, highlight=False, emoji=False, soft_wrap=True)
    write_table(console, stream, _section_view(result, section))
    return stream.getvalue()


def _section_view(result: Result, section: str) -> View:
    if section == "metrics":
        cells = tuple(
            (k, *shown_in(k, m.value, m.unit), m.label) for k, m in result.metrics.items()
        )
        return View(("Metric", "Value", "Unit", "Meaning"), cells, (False, True, False, False))
    if section == "inputs":
        return _inputs(result)
    table = result.tables[section]
    return view(table.columns, table.rows)


def _inputs(result: Result) -> View:
    columns = ("key", "value", "unit", "status", "at", "source")
    return view(columns, [tuple(row.get(c) for c in columns) for row in result.inputs])
