"""Parquet: one file a table, with types, units and meanings in the schema.

pyarrow is an extra (``dcplan[parquet]``): it is 160 MiB, and few need it.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
from pathlib import Path
from typing import Any

from dcplan.errors import InputError, Place, Problem
from dcplan.report.csvs import INPUT_COLUMNS, METRIC_COLUMNS
from dcplan.report.files import write_bytes
from dcplan.report.text.headings import title_of
from dcplan.result import SCHEMA, Cell, Result, Table
from dcplan.specs import registry
from dcplan.units import unit_of


def refuse_without_pyarrow(place: str) -> None:
    """Refuse the format before a solve where its package is missing.

    Raises
    ------
    InputError
        DC050 with the command that installs it.
    """
    if importlib.util.find_spec("pyarrow") is None:
        cause = "Parquet needs pyarrow, which is not installed"
        help_text = "pip install 'dcplan[parquet]', or choose csv"
        raise InputError([Problem("DC050", cause, Place(place), help=help_text)])


def write_parquet(result: Result, folder: Path) -> int:
    """Write every table, the metrics and the inputs of a result; return the number of files.

    Numbers are doubles, so that the files of several results have the same types. A column with
    numbers and text, such as the value of an input, is text.

    Raises
    ------
    InputError
        DC050 when pyarrow is missing.
    OSError
        When the folder cannot be written.
    """
    refuse_without_pyarrow("parquet")
    arrow: Any = importlib.import_module("pyarrow")  # an extra: imported on request only
    parquet: Any = importlib.import_module("pyarrow.parquet")
    tables = result.tables | {"metrics": _metrics(result), "inputs": _inputs(result)}
    for name, table in tables.items():
        stream = io.BytesIO()
        parquet.write_table(_made(arrow, result, name, table), stream, compression="zstd")
        write_bytes(folder / f"{name}.parquet", stream.getvalue())
    return len(tables)


def _made(arrow: Any, result: Result, name: str, table: Table) -> Any:
    """Return a table of a result as one of Arrow, with its description."""
    fields, arrays = [], []
    for i, column in enumerate(table.columns):
        cells, notes = [row[i] for row in table.rows], _notes(result.verb, name, column)
        kind = _kind(cells, notes.get("unit", ""))
        fields.append(arrow.field(column, getattr(arrow, kind)(), metadata=notes or None))
        arrays.append(arrow.array(_typed(cells, kind), getattr(arrow, kind)()))
    about = {
        "dcplan.schema": SCHEMA,
        "dcplan.version": str(result.as_dict()["dcplan_version"]),
        "dcplan.verb": result.verb,
        "dcplan.status": result.status,
        "dcplan.headline": result.headline,
        "dcplan.scenario": json.dumps(dict(result.scenario), sort_keys=True, default=str),
        "description": title_of(result.verb, name),
    }
    return arrow.Table.from_arrays(arrays, schema=arrow.schema(fields, metadata=about))


def _notes(verb: str, name: str, column: str) -> dict[str, str]:
    """Return unit and description of a column; one that comes with the data may be a metric."""
    spec = registry.tables(verb).get(name)
    declared = next((c for c in spec.columns if c.name == column), None) if spec else None
    notes = {"unit": unit_of(column), "description": declared.meaning if declared else ""}
    metric = None if declared else registry.metric_of("plan", column)
    if metric is not None:
        notes = {"unit": metric.unit, "description": metric.meaning}
    return {key: text for key, text in notes.items() if text}


def _kind(cells: list[Cell], unit: str) -> str:
    """Return the type of a column, by the name of its function in pyarrow."""
    known = [c for c in cells if c is not None]
    if not known:
        return "float64" if unit else "string"
    if all(isinstance(c, bool) for c in known):
        return "bool_"
    numbers = all(isinstance(c, int | float) and not isinstance(c, bool) for c in known)
    return "float64" if numbers else "string"


def _typed(cells: list[Cell], kind: str) -> list[Cell]:
    """Return the cells of a column in its type; a list or a mapping is JSON."""
    if kind == "float64":
        return [None if c is None else float(c) for c in cells]
    if kind == "string":
        return [c if c is None or isinstance(c, str) else json.dumps(c) for c in cells]
    return cells


def _metrics(result: Result) -> Table:
    rows = ((k, m.value, m.low, m.high, m.unit, m.label) for k, m in result.metrics.items())
    return Table(METRIC_COLUMNS, tuple(rows))


def _inputs(result: Result) -> Table:
    return Table(
        INPUT_COLUMNS, tuple(tuple(row.get(c) for c in INPUT_COLUMNS) for row in result.inputs)
    )
