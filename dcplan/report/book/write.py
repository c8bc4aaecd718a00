"""The workbook file: formats, sheets, native charts; the same bytes for the same result."""

from __future__ import annotations

import datetime as dt
import io
import re
from typing import Any

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from dcplan.report.book.cash import live_metrics
from dcplan.report.book.grid import FIRST, HEAD, LABELS, Row, Sheet
from dcplan.report.book.pages import (
    charts,
    checks_page,
    cover_page,
    dictionary_page,
    inputs_page,
    sources_page,
    summary_page,
    table_page,
)
from dcplan.report.book.sheets import calculated
from dcplan.report.book.source import source_of
from dcplan.result import Result

CREATED = dt.datetime(2026, 1, 1, tzinfo=dt.UTC).replace(tzinfo=None)
"""Fixed, so that two exports of one result are the same file."""
NUMBERS = {"USD": "#,##0;[Red](#,##0);-", "": "#,##0.######", "fraction per year": "0.00%"}
COLORS = {
    "input": {"font_color": "#0000FF", "bg_color": "#FFFFE0"},
    "formula": {"font_color": "#000000"},
    "decision": {"font_color": "#6A1B9A", "bg_color": "#EEEEEE"},
    "derived": {"font_color": "#555555"},
}
"""Blue on pale yellow: edit. Black: formula. Violet on grey: decided by the solver. Grey: as planned."""
ORDER = ("Cover", "Summary", "Inputs", "Decisions", "Calc_Power", "Calc_Fabric", "Calc_Cost", "Cashflow", "Training",
         "Checks", "Sources", "Dictionary")  # fmt: skip


class Writer:
    """A workbook being written, and its formats by kind and unit."""

    def __init__(self, book: xlsxwriter.Workbook) -> None:
        self.book = book
        self._formats: dict[tuple[tuple[str, Any], ...], Format] = {}
        self.sheets: dict[str, Worksheet] = {name: book.add_worksheet(name) for name in ORDER}

    def format(self, **properties: Any) -> Format:
        """A format, made once."""
        key = tuple(sorted(properties.items()))
        if key not in self._formats:
            self._formats[key] = self.book.add_format(properties)
        return self._formats[key]

    def number(self, kind: str, unit: str) -> Format:
        """How a figure looks."""
        look = NUMBERS.get(unit, "#,##0.00###")
        return self.format(num_format=look, **COLORS[kind])


def workbook(result: Result) -> bytes:
    """The whole workbook of a saved plan.

    Raises
    ------
    ValueError
        When the result is not of a plan, or holds none.
    """
    source = source_of(result)
    stream = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    book = xlsxwriter.Workbook(stream, options)
    book.set_properties({"title": f"dcplan: {result.scenario.get('name', '')}", "created": CREATED})
    book.set_calc_mode("auto")
    writer = Writer(book)
    calc, cash = calculated(source)
    for sheet in (calc.decisions, calc.power, calc.fabric, calc.cost, cash):
        _write_sheet(writer, sheet)
    metrics = live_metrics(calc)
    cover_page(writer, source)
    places = summary_page(writer, source, metrics)
    inputs_page(writer, source)
    table_page(writer, "Training", "Runs of the plan", source, ("jobs", "ends"))
    checks_page(writer, source, calc, metrics, places)
    sources_page(writer, source)
    dictionary_page(writer)
    charts(writer, calc, cash)
    for key, place in places.items():
        if key in metrics:
            book.define_name(name_of(key), f"={place}")
    for key, edit in source.live.items():
        if edit:  # a name for every blue input, written as its key
            book.define_name(f"in_{name_of(key)}", f"={calc.inputs[key]}")
    book.close()
    return stream.getvalue()


def name_of(key: str) -> str:
    """A key as Excel takes it for a name: letters, digits and underscores, never the address of a cell.

    Examples
    --------
    >>> name_of("cost.npv_usd"), name_of("systems.gb200-nvl72.price_usd")
    ('cost_npv_usd', 'systems_gb200_nvl72_price_usd')
    """
    return re.sub(r"[^A-Za-z0-9_]", "_", key)


def _write_sheet(writer: Writer, sheet: Sheet) -> None:
    """All rows of a sheet, titles and frozen panes."""
    page = writer.sheets[sheet.name]
    head(writer, page, sheet.title, sheet.note)
    bold = writer.format(bold=True, bottom=1)
    for i, text in enumerate((*LABELS, *sheet.quarters)):
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
    """Title, note and master check of every sheet; a page wide on paper."""
    page.set_landscape()
    page.fit_to_pages(1, 0)
    page.write_string(0, 0, title, writer.format(bold=True, font_size=14))
    page.write_string(1, 0, note, writer.format(italic=True, font_color="#555555"))
    page.write_string(2, 0, "All checks")
    page.write_formula(2, 1, "=all_checks_ok", writer.format(bold=True), "OK")


def _write_row(writer: Writer, page: Worksheet, row: Row) -> None:
    at = row.number - 1
    if row.kind == "title":
        page.write_string(at, 0, row.label, writer.format(bold=True, bg_color="#DDE6F0"))
        return
    for i, text in enumerate((row.label, *row.key, row.unit)):
        page.write_string(at, i, text)
    single = writer.number("formula" if row.one_formula else row.kind, row.unit)
    if row.one is not None and row.one_formula:
        page.write_formula(at, FIRST - 1, f"={local(row.one_formula, row.sheet)}", single, row.one)
    elif row.one is not None:
        page.write_number(at, FIRST - 1, row.one, single)
    if row.series is None:
        return
    look = writer.number(row.kind, row.unit)
    for t, value in enumerate(row.series):
        if row.formula is None:
            page.write_number(at, FIRST + t, float(value), look)
        else:
            page.write_formula(at, FIRST + t, f"={local(row.formula(t), row.sheet)}", look, float(value))


def local(formula: str, sheet: str) -> str:
    """A formula without the name of its own sheet."""
    return formula.replace(f"{sheet}!", "")
