"""The workbook file: formats, sheets, native charts; identical bytes for an identical result."""

from __future__ import annotations

import datetime as dt
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import xlsxwriter

from dcplan.report.book.calc import Calc
from dcplan.report.book.cash import live_metrics
from dcplan.report.book.checks import Check, checks_page
from dcplan.report.book.data.term import Term
from dcplan.report.book.financing.source import financed_source, is_financed
from dcplan.report.book.financing.write import (
    PAGES,
    financed_metrics,
    pages_of,
    plan_book,
    plan_checks,
)
from dcplan.report.book.grid import Sheet
from dcplan.report.book.inputs import inputs_page
from dcplan.report.book.options.source import has_plans, plans_source
from dcplan.report.book.options.write import computed, write_plans
from dcplan.report.book.options.write import order_of as plans_order
from dcplan.report.book.pages import (
    charts,
    cover_page,
    dictionary_page,
    sources_page,
    summary_page,
    table_page,
)
from dcplan.report.book.plain.write import order_of, write_plain
from dcplan.report.book.sheets import calculated, cash_flow
from dcplan.report.book.source import Source, source_of
from dcplan.report.book.tco.source import is_comparison, tco_source
from dcplan.report.book.tco.write import ORDER as TCO_ORDER
from dcplan.report.book.tco.write import write_tco
from dcplan.report.book.workloads import workloads_page
from dcplan.report.book.writer import ORDER, Writer, write_sheet
from dcplan.result import Result

MOST_NAME = 255
"""Characters of a defined name that spreadsheets accept; an input with a longer key has none."""
CREATED = dt.datetime(2026, 1, 1, tzinfo=dt.UTC).replace(tzinfo=None)
"""Fixed date, so that two exports of one result are identical files."""


def workbook(result: Result) -> bytes:
    """Return the workbook of a saved answer.

    That of a plan, and of a comparison of owning and renting, has live formulas. Any other has the
    tables of the answer.

    Raises
    ------
    ValueError
        When the result has no such workbook.
    """
    if result.verb == "tco" and is_comparison(result):
        compared = tco_source(result)
        return _file(result, TCO_ORDER, compared.base, lambda w: write_tco(w, compared))
    if result.verb == "tco" and has_plans(result):
        options = plans_source(result)
        base = next(iter(options.own.values())).base
        books = computed(options)
        return _file(result, plans_order(books), base, lambda w: write_plans(w, options, books))
    if result.verb != "plan":
        return _file(result, order_of(result), None, lambda w: _write_plain(w, result))
    source = source_of(result)
    if is_financed(result):
        at = ORDER.index("Cashflow") + 1
        order = (*ORDER[:at], *PAGES, *ORDER[at:])
        return _file(result, order, source, lambda w: _write_financed(w, source))
    return _file(result, ORDER, source, lambda w: _write_plan(w, source))


def _write_plain(writer: Writer, result: Result) -> dict[str, Term]:
    """Write the sheets of an answer without named figures."""
    write_plain(writer, result)
    return {}


def _write_plan(writer: Writer, source: Source) -> dict[str, Term]:
    """Write the sheets of a plan; return the cells of its metrics."""
    calc, cash = calculated(source)
    return _write_pages(writer, calc, cash, live_metrics(calc))


def _write_financed(writer: Writer, source: Source) -> dict[str, Term]:
    """Write the sheets of a plan with taxes or debt; return the cells of its metrics."""
    book = plan_book(financed_source(source))
    cash = cash_flow(book.calc)
    for sheet in pages_of(book):
        write_sheet(writer, sheet)
    return _write_pages(writer, book.calc, cash, financed_metrics(book), plan_checks(book))


def _write_pages(
    writer: Writer,
    calc: Calc,
    cash: Sheet,
    metrics: Mapping[str, Term],
    checks: Iterable[Check] = (),
) -> dict[str, Term]:
    """Write the sheets that every plan has; return the cells of its metrics."""
    source = calc.source
    for sheet in (calc.decisions, calc.power, calc.fabric, calc.cost, cash):
        write_sheet(writer, sheet)
    cover_page(writer, source)
    places = summary_page(writer, source, metrics)
    inputs_page(writer, source)
    table_page(writer, "Training", "Runs of the plan", source, ("jobs", "schedule"))
    workloads_page(writer, calc)
    checks_page(writer, source, calc, places, checks)
    sources_page(writer, source.result)
    dictionary_page(writer)
    charts(writer, calc)
    return places


def _file(
    result: Result,
    order: Sequence[str],
    source: Source | None,
    write: Callable[[Writer], Mapping[str, Term]],
) -> bytes:
    """Return a file with sheets in order, and a name for each figure and each blue input."""
    stream = io.BytesIO()
    options = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    book = xlsxwriter.Workbook(stream, options)
    book.set_properties({"title": f"dcplan: {result.scenario.get('name', '')}", "created": CREATED})
    book.set_calc_mode("auto")
    failed = [e for e in result.expectations if e["passed"] is False and e["severity"] == "error"]
    places = write(Writer(book, holds=not failed, order=order))
    for key, place in places.items():
        book.define_name(name_of(key), f"={place.text()}")
    for key, edit in source.live.items() if source else ():
        name = f"in_{name_of(key)}"
        if source and edit and len(name) <= MOST_NAME:  # of every blue input, after its key
            book.define_name(name, f"={source.inputs[key].text()}")
    book.close()
    return stream.getvalue()


def name_of(key: str) -> str:
    """Return a key as a valid Excel name.

    It has letters, digits and underscores, and is never the address of a cell.

    Examples
    --------
    >>> name_of("cost.npv_usd"), name_of("systems.gb200-nvl72.price_usd")
    ('cost_npv_usd', 'systems_gb200_nvl72_price_usd')
    """
    return re.sub(r"[^A-Za-z0-9_]", "_", key)
