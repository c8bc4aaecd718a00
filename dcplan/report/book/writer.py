"""Sheets, formats and rows of the workbook file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from dcplan.report.book.grid import FIRST, HEAD, Row, Sheet

NUMBERS = {
    "USD": "#,##0;[Red](#,##0);-",
    "": "[>=1000]#,##0;General",
    "fraction": "0.00%",
    "fraction per year": "0.00%",
    "USD/h": "#,##0.00##",
    "months": "#,##0.0",
}
COLORS = {
    "input": {"font_color": "#0000FF", "bg_color": "#FFFFE0"},
    "formula": {"font_color": "#000000"},
    "decision": {"font_color": "#6A1B9A", "bg_color": "#EEEEEE"},
    "derived": {"font_color": "#555555"},
}
"""Blue on pale yellow: input. Black: formula. Violet on gray: decision. Gray: as planned."""
ORDER = (
    "Cover",
    "Summary",
    "Inputs",
    "Decisions",
    "Calc_Power",
    "Calc_Fabric",
    "Calc_Cost",
    "Cashflow",
    "Training",
    "Workloads",
    "Checks",
    "Sources",
    "Dictionary",
)


class Writer:
    """A workbook under construction, and its formats by kind and unit."""

    def __init__(
        self, book: xlsxwriter.Workbook, *, holds: bool, order: Sequence[str] = ORDER
    ) -> None:
        self.book = book
        self.verdict = "OK" if holds else "CHECK"
        """Result of all checks when the workbook is written."""
        self._formats: dict[tuple[tuple[str, Any], ...], Format] = {}
        self.sheets: dict[str, Worksheet] = {name: book.add_worksheet(name) for name in order}

    def format(self, **properties: Any) -> Format:
        """Return a format, created only once."""
        key = tuple(sorted(properties.items()))
        if key not in self._formats:
            self._formats[key] = self.book.add_format(properties)
        return self._formats[key]

    def number(self, kind: str, unit: str) -> Format:
        """Return the format of a number."""
        look = NUMBERS.get(unit, "#,##0.00###")
        return self.format(num_format=look, **COLORS[kind])


def write_sheet(writer: Writer, sheet: Sheet) -> None:
    """Write all rows of a sheet, titles and frozen panes."""
    page = writer.sheets[sheet.name]
    head(writer, page, sheet.title, sheet.note)
    bold = writer.format(bold=True, bottom=1)
    for i, text in enumerate((*sheet.labels, *sheet.quarters)):
        page.write_string(HEAD - 1, i, text, bold)
    for row in sheet.rows:
        _write_row(writer, page, row)
    page.freeze_panes(HEAD, 1)
    page.set_column(0, 0, 36)
    page.set_column(1, 3, 20)
    page.set_column(4, 4, 10)
    page.set_column(FIRST - 1, FIRST + len(sheet.quarters), 16)
    page.repeat_rows(HEAD - 1)


def head(writer: Writer, page: Worksheet, title: str, note: str) -> None:
    """Write title, note and overall check of a sheet; set one page width for printing."""
    page.set_landscape()
    page.fit_to_pages(1, 0)
    page.write_string(0, 0, title, writer.format(bold=True, font_size=14))
    page.write_string(1, 0, note, writer.format(italic=True, font_color="#555555"))
    page.write_string(2, 0, "All checks")
    page.write_formula(2, 1, "=all_checks_ok", writer.format(bold=True), writer.verdict)


def _write_row(writer: Writer, page: Worksheet, row: Row) -> None:
    at = row.number - 1
    if row.kind == "title":
        if not row.label:
            return
        page.write_string(at, 0, row.label, writer.format(bold=True, bg_color="#DDE6F0"))
        return
    for i, text in enumerate((row.label, *row.key, row.unit)):
        page.write_string(at, i, text)
    single = writer.number("formula" if row.one_formula else row.kind, row.unit)
    if row.one_formula is not None:
        text = local(row.one_formula.text(), row.sheet)
        page.write_formula(at, FIRST - 1, f"={text}", single, row.value)
    elif row.one is not None:
        page.write_number(at, FIRST - 1, row.one, single)
    if row.series is None:
        return
    look = writer.number(row.kind, row.unit)
    for t, value in enumerate(row.series):
        if row.formula is None:
            page.write_number(at, FIRST + t, float(value), look)
        else:
            text = local(row.formula.text(t), row.sheet)
            page.write_formula(at, FIRST + t, f"={text}", look, float(value))


def local(formula: str, sheet: str) -> str:
    """Return a formula without the name of its own sheet."""
    return formula.replace(f"{sheet}!", "")
