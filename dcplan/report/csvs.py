"""CSV: one table per file, one header row, fixed columns, round-trip numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dcplan.result import Result, Table

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet read text as a formula."""
METRIC_COLUMNS = ("metric", "value", "low", "high", "unit", "label")
INPUT_COLUMNS = ("key", "value", "low", "high", "unit", "status", "source", "as_of", "at", "note")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV text: UTF-8, LF, empty for null, ``repr`` floats."""
    return "".join(csv_lines(columns, rows))


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the CSV text line by line, for tables that are too long for memory."""
    yield ",".join(map(_text, columns)) + "\n"
    for row in rows:
        yield ",".join(map(_text, row)) + "\n"


def _text(cell: object) -> str:
    """Return a cell as CSV text.

    Null is empty, floats round-trip, and text from a scenario cannot become a formula in a
    spreadsheet.
    """
    if cell is None:
        return ""
    if isinstance(cell, float):
        return repr(cell)
    if isinstance(cell, str):
        safe = disarmed(cell)
        # quoted here, because the csv module leaves a lone carriage return unquoted
        return '"' + safe.replace('"', '""') + '"' if any(c in safe for c in ',"\n\r') else safe
    return str(cell)


def disarmed(text: str) -> str:
    """Return a text that a spreadsheet does not read as a formula.

    Examples
    --------
    >>> disarmed("=1+1"), disarmed("plain")
    ("'=1+1", 'plain')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def table_csv(table: Table) -> str:
    """Return one table as CSV text."""
    return csv_text(table.columns, table.rows)


def metrics_csv(result: Result) -> str:
    """Return the metrics in long form."""
    return csv_text(METRIC_COLUMNS, _metric_rows(result))


def _metric_rows(result: Result) -> Iterator[Sequence[object]]:
    return ((k, m.value, m.low, m.high, m.unit, m.label) for k, m in result.metrics.items())


def csv_files(result: Result) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield name and lines of every file of a result.

    Every table has the same columns with or without rows.

    Lines are yielded one by one, so that a table of millions of rows is never in memory.
    """
    for name, table in result.tables.items():
        yield f"{name}.csv", csv_lines(table.columns, table.rows)
    yield "metrics.csv", csv_lines(METRIC_COLUMNS, _metric_rows(result))
    yield (
        "inputs.csv",
        csv_lines(INPUT_COLUMNS, ([row.get(c) for c in INPUT_COLUMNS] for row in result.inputs)),
    )


def all_csv(result: Result) -> dict[str, str]:
    """Return the text of every file of a result, by file name."""
    return {name: "".join(lines) for name, lines in csv_files(result)}
