"""CSV: one table a file, one header row, fixed columns, round-trip numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from dcplan.result import Result, Table

METRIC_COLUMNS = ("metric", "value", "low", "high", "unit", "label")
INPUT_COLUMNS = ("key", "value", "low", "high", "unit", "status", "source", "as_of", "at", "note")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV text: UTF-8, LF, empty for null, ``repr`` floats."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if cell is None else repr(cell) if isinstance(cell, float) else cell for cell in row])
    return stream.getvalue()


def table_csv(table: Table) -> str:
    """One table as CSV text."""
    return csv_text(table.columns, table.rows)


def metrics_csv(result: Result) -> str:
    """Metrics in long form."""
    return csv_text(METRIC_COLUMNS, ((k, m.value, m.low, m.high, m.unit, m.label) for k, m in result.metrics.items()))


def all_csv(result: Result) -> dict[str, str]:
    """File name -> text of a whole result."""
    files = {f"{name}.csv": table_csv(table) for name, table in result.tables.items()}
    files["metrics.csv"] = metrics_csv(result)
    files["inputs.csv"] = csv_text(INPUT_COLUMNS, ([row.get(c) for c in INPUT_COLUMNS] for row in result.inputs))
    return files
