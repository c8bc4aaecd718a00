"""Answers on a terminal: the answer first, then tables; plain aligned text when piped, never cut."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import IO

from rich.console import Console
from rich.table import Table as RichTable

from dcplan.report.headings import hidden_columns, titles
from dcplan.report.numbers import is_number, limits_text, observed_text, printable, shown
from dcplan.result import Cell, Result, Table

SHORT = 15
"""Rows of long lists shown without ``--verbose``."""


def write_text(result: Result, stream: IO[str], *, color: bool, verbose: bool = False) -> None:
    """Write a result as text."""
    console = Console(
        file=stream, no_color=not color, highlight=False, emoji=False, soft_wrap=not stream.isatty()
    )
    console.print(
        printable(result.headline),
        style="bold" if color and stream.isatty() else None,
        markup=False,
    )
    for name, title in titles(result.verb).items():
        table = result.tables.get(name)
        if table is not None and table.rows:
            _section(console, stream, result.verb, name, title, table, verbose=verbose)
    _metrics(console, stream, result)
    _expectations(console, result)
    _counts(console, result, verbose=verbose)


BARS = " ▁▂▃▄▅▆▇█"
SERIES = {
    "power": ("facility_mw", "utility_mw"),
    "cash_flow": ("cash_out_usd",),
    "quarters": ("pue",),
}
"""Columns of time series that a terminal shows as bars."""


def bars(values: Sequence[float]) -> str:
    """One character a value, as high as it is between nothing and the largest.

    Examples
    --------
    >>> bars([0.0, 1.0, 4.0, 8.0]), bars([0.0, 0.0])
    (' ▁▄█', '  ')
    """
    top = max((abs(v) for v in values), default=0.0)
    return "".join(BARS[round(abs(v) / top * (len(BARS) - 1))] if top else " " for v in values)


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
            console.print(f"{key} {column}  {bars(values)}  {ends}".strip(), markup=False)


def _section(
    console: Console,
    stream: IO[str],
    verb: str,
    name: str,
    title: str,
    table: Table,
    *,
    verbose: bool,
) -> None:
    console.print()
    console.print(title, style="bold", markup=False)
    if stream.isatty() and console.encoding.lower().startswith("utf"):
        _bars(console, name, table)
    hidden = () if verbose else hidden_columns(verb, name)
    keep = [i for i, column in enumerate(table.columns) if column not in hidden]
    rows = [tuple(row[i] for i in keep) for row in table.rows]
    more = 0
    if name == "layouts" and not verbose and "among_fastest" in table.columns:
        fastest = table.columns.index("among_fastest")
        rows = [row for row, whole in zip(rows, table.rows, strict=True) if whole[fastest]]
    if name in ("excluded", "floor") and not verbose and len(rows) > SHORT:
        more = len(rows) - SHORT
        rows = rows[:SHORT]
    write_table(console, stream, [table.columns[i] for i in keep], rows)
    if more:
        console.print(f"... and {more} more: --verbose, or dcplan show RESULT {name}", markup=False)


def write_table(
    console: Console, stream: IO[str], columns: Sequence[str], rows: Iterable[Sequence[Cell]]
) -> None:
    """One table: framed on a terminal, plain aligned text elsewhere."""
    rows = list(rows)
    text = [[shown(c, v) for c, v in zip(columns, row, strict=True)] for row in rows]
    right = [any(is_number(row[i]) for row in rows) for i in range(len(columns))]
    widths = [max([len(c), *(len(line[i]) for line in text)]) for i, c in enumerate(columns)]
    if stream.isatty() and sum(widths) + 2 * len(widths) <= console.width:
        framed = RichTable(box=None, pad_edge=False)
        for column, is_right in zip(columns, right, strict=True):
            framed.add_column(column, justify="right" if is_right else "left", overflow="fold")
        for line in text:
            framed.add_row(*[_escape(cell) for cell in line])
        console.print(framed)
        return
    for line in [list(columns), *text]:
        cells = [
            cell.rjust(w) if r else cell.ljust(w)
            for cell, w, r in zip(line, widths, right, strict=True)
        ]
        console.print("  ".join(cells).rstrip(), markup=False)


def _escape(text: str) -> str:
    return text.replace("[", r"\[")


def _metrics(console: Console, stream: IO[str], result: Result) -> None:
    if not result.metrics:
        return
    console.print()
    console.print("Figures", style="bold", markup=False)
    rows = [(key, shown(key, m.value), m.unit, m.label) for key, m in result.metrics.items()]
    write_table(console, stream, ("metric", "value", "unit", "meaning"), rows)


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
        tail = f" {e['reason']}" if e["reason"] else f" asked {limits_text(e)}"
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
        rows = [
            (r["key"], r["value"], r["unit"], r["status"], r["at"] or "", r["source"] or "")
            for r in result.inputs
        ]
        write_table(console, console.file, ("key", "value", "unit", "status", "at", "source"), rows)


def table_text(result: Result, section: str) -> str:
    """One section of a result as plain aligned text; ``metrics`` and ``inputs`` are sections too."""
    stream = io.StringIO()
    console = Console(file=stream, no_color=True, highlight=False, emoji=False, soft_wrap=True)
    if section == "metrics":
        rows: list[tuple[Cell, ...]] = [
            (k, m.value, m.unit, m.label) for k, m in result.metrics.items()
        ]
        write_table(console, stream, ("metric", "value", "unit", "label"), rows)
    elif section == "inputs":
        columns = ("key", "value", "unit", "status", "at", "source")
        write_table(
            console, stream, columns, [tuple(row.get(c) for c in columns) for row in result.inputs]
        )
    else:
        table = result.tables[section]
        write_table(console, stream, table.columns, table.rows)
    return stream.getvalue()
