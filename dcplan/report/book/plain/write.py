"""The sheets of any answer: summary, its tables, inputs, and what each column means."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from dcplan.report.book.plain.sums import formulas
from dcplan.report.book.writer import Writer
from dcplan.report.text.numbers import in_order
from dcplan.result import Cell, Result, Table, cell_of
from dcplan.specs import registry
from dcplan.specs.headers import header
from dcplan.units import unit_of

SUMMARY, INPUTS, COLUMNS = "Summary", "Inputs", "Columns"
METRIC_HEAD = ("Metric", "Meaning", "Value", "Low", "High", "Unit")
INPUT_HEAD = ("key", "value", "low", "high", "unit", "status", "source", "as_of", "note", "at")
HEAD_ROW = 4
"""Row of the header on a sheet, from 0."""
LONGEST_NAME = 31
"""Characters that a sheet name may have."""
NARROW, WIDE = 9, 60
"""Least and greatest width of a column, in characters."""
HIDDEN = "book_"
"""Prefix of tables that only a workbook of formulas reads."""


FIXED = (
    "Value, bounds, status and source of every input. They are fixed: dcplan computed the answer from them, and no "
    "formula does. Sums, differences and balances inside a sheet are formulas. Change an input in the scenario, or "
    "with --set, and make the workbook again."
)
"""Note on the inputs of a workbook without formulas of its own."""


def order_of(result: Result) -> tuple[str, ...]:
    """Return the names of the sheets."""
    return (SUMMARY, *_sheets(result), INPUTS, COLUMNS)


def write_plain(writer: Writer, result: Result) -> None:
    """Write the figures and tables of an answer; sums and differences of a table are formulas."""
    _summary(writer, result)
    specs = registry.tables(result.verb)
    for sheet, name in _sheets(result).items():
        spec = specs.get(name)
        note = f"Table {name} of dcplan {result.verb}."
        _title(writer, sheet, spec.title if spec else header(name), note)
        _table(writer, sheet, result.tables[name], HEAD_ROW)
    rows = tuple(tuple(cell_of(row.get(x)) for x in INPUT_HEAD) for row in result.inputs)
    _title(writer, INPUTS, "Inputs", FIXED)
    _table(writer, INPUTS, Table(INPUT_HEAD, rows), HEAD_ROW)
    _title(writer, COLUMNS, "Columns", "What each column of a sheet means.")
    _table(
        writer, COLUMNS, Table(("table", "column", "meaning"), tuple(_columns(result))), HEAD_ROW
    )


def _sheets(result: Result) -> dict[str, str]:
    """Return the table of each sheet by the name of the sheet."""
    found: dict[str, str] = {}
    taken = {x.casefold() for x in (SUMMARY, INPUTS, COLUMNS)}
    for name in result.tables:
        if name.startswith(HIDDEN):
            continue
        sheet = name[:LONGEST_NAME]
        while sheet.casefold() in taken:
            sheet = f"{sheet[: LONGEST_NAME - 1]}_"
        taken.add(sheet.casefold())
        found[sheet] = name
    return found


def _title(writer: Writer, sheet: str, title: str, note: str) -> None:
    page = writer.sheets[sheet]
    page.set_landscape()
    page.fit_to_pages(1, 0)
    page.write_string(0, 0, title, writer.format(bold=True, font_size=14))
    page.write_string(1, 0, note, writer.format(italic=True, font_color="#555555"))


def _summary(writer: Writer, result: Result) -> None:
    """Write the headline, the metrics, the remarks, and the digests of inputs and catalogs."""
    page = writer.sheets[SUMMARY]
    _title(writer, SUMMARY, f"dcplan {result.verb}", result.headline)
    bold = writer.format(bold=True, bottom=1)
    for i, text in enumerate(METRIC_HEAD if result.metrics else ()):
        page.write_string(HEAD_ROW, i, text, bold)
    at = HEAD_ROW
    for key, metric in in_order(result.metrics).items():
        at += 1
        unit = "fraction" if unit_of(key) == "fraction" else metric.unit
        page.write_string(at, 0, key)
        page.write_string(at, 1, metric.label)
        for i, value in ((2, metric.value), (3, metric.low), (4, metric.high)):
            _cell(writer, SUMMARY, (at, i), value, unit)
        page.write_string(at, 5, "" if unit == "fraction" else metric.unit)
    at += 1
    if result.warnings:
        at += 1
        page.write_string(at, 0, "Remarks", bold)
        for warning in result.warnings:
            at += 1
            page.write_string(at, 0, str(warning.get("message", "")))
    at += 1
    for label, value in (
        ("Status", result.status),
        ("Scenario file", result.scenario.get("path")),
        ("Variant", result.scenario.get("variant")),
        ("Inputs digest", result.scenario.get("inputs_sha256")),
        ("Catalogs digest", result.scenario.get("catalogs_sha256")),
    ):
        if value:
            at += 1
            page.write_string(at, 0, label)
            page.write_string(at, 1, str(value))
    page.freeze_panes(HEAD_ROW + 1, 1)
    page.set_column(0, 0, 44)
    page.set_column(1, 1, 70)
    page.set_column(2, 5, 16)


def _table(writer: Writer, sheet: str, table: Table, at: int) -> None:
    """Write a table with units in its headers; columns are as wide as their texts."""
    page, units = writer.sheets[sheet], [unit_of(name) for name in table.columns]
    bold = writer.format(bold=True, bottom=1, text_wrap=True, valign="top")
    for i, name in enumerate(table.columns):
        text = header(name)
        page.write_string(at, i, text, bold)
        longest = max((len(_length(row[i])) for row in table.rows), default=0)
        width = max(NARROW, longest + 1, len(max(text.split(), key=len)) + 2, len(text) / 2)
        page.set_column(i, i, min(width, WIDE))
    live = formulas(table, at + 2)
    for n, row in enumerate(table.rows):
        for i, cell in enumerate(row):
            formula = live.get((n, i))
            if formula is None:
                _cell(writer, sheet, (at + 1 + n, i), cell, units[i])
            else:
                look = writer.number("formula", units[i] or "")
                page.write_formula(at + 1 + n, i, f"={formula}", look, float(str(cell)))
    if not table.rows:
        page.write_string(at + 1, 0, "no rows")
        return
    page.freeze_panes(at + 1, 1)
    page.autofilter(at, 0, at + len(table.rows), len(table.columns) - 1)


def _cell(writer: Writer, sheet: str, place: tuple[int, int], cell: Any, unit: str) -> None:
    page = writer.sheets[sheet]
    if isinstance(cell, bool):
        page.write_string(*place, "yes" if cell else "no")
    elif isinstance(cell, int | float) and math.isfinite(cell):
        page.write_number(*place, float(cell), writer.number("formula", unit or ""))
    elif cell is not None:
        page.write_string(*place, str(cell))


def _length(cell: Cell) -> str:
    return f"{cell:,.0f}     " if isinstance(cell, float) else str("" if cell is None else cell)


def _columns(result: Result) -> Iterator[tuple[str, str, str]]:
    """Yield sheet, header and meaning of every column with a declared meaning."""
    specs = registry.tables(result.verb)
    for sheet, name in _sheets(result).items():
        spec = specs.get(name)
        known = {c.name: c.meaning for c in spec.columns} if spec else {}
        for column in result.tables[name].columns:
            if column in known:
                yield sheet, header(column), known[column]
