"""Pages in addition to the calculation: cover, summary, runs, sources, dictionary, charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcplan.economics.cash_flow import FlowGroup
from dcplan.report.book.calc import Calc
from dcplan.report.book.data.term import Term
from dcplan.report.book.grid import FIRST, NOWHERE, Row
from dcplan.report.book.source import Source
from dcplan.report.book.writer import Writer, head
from dcplan.report.text.numbers import in_order
from dcplan.result import Cell, Result, Table, cell_of
from dcplan.specs.headers import header
from dcplan.units import unit_of

SUMMARY_HEAD = ("Metric", "Meaning", "Value", "Unit", "As planned", "Change", "Kind")
SUMMARY_ROW = 6
FRACTION = "fraction"
LEGEND = (
    ("input", "Input: an edit recomputes power, cost and checks for the same decisions"),
    ("formula", "Formula"),
    ("decision", "Decision of the solver, frozen"),
    ("derived", "Value of the plan, frozen: this workbook does not recompute it"),
)
DICTIONARY = (
    ("IT", "Servers, switches and storage"),
    ("PUE", "Power usage effectiveness: facility energy over IT energy"),
    ("WUE", "Water usage effectiveness: liters of site water per kWh of IT energy"),
    ("P50, P80", "Durations that 50% and 80% of runs do not exceed"),
    (
        "NPV",
        "Net present cost: payments discounted to the first day of the horizon, less residual "
        "value",
    ),
    ("Facility power on the design day", "IT power times the highest PUE of the year"),
    ("Electrical peak", "Peak power of the systems, the load on breakers and busway"),
    (
        "Share left",
        "Residual value at the end of the horizon, as a share of the price, by quarter of purchase",
    ),
    ("Piece", "Switch, transceiver or cable of a compute fabric"),
    ("As planned", "Computed by dcplan in the plan"),
)


def cover_page(writer: Writer, source: Source) -> None:
    """Write the content of the workbook, how to use it, and how to create it again."""
    page, result = writer.sheets["Cover"], source.result
    head(writer, page, f"dcplan: {result.scenario.get('name', '')}", result.headline)
    texts = [
        "A change of a blue cell on Inputs recomputes power, cost, cash flow and checks for the "
        "same decisions.",
        "The workbook does not re-solve the plan: counts, halls, runs and dates are fixed. Violet "
        "cells are decisions.",
        "If a check turns red, or a decision is no longer reasonable, run dcplan plan again.",
        "dcplan import BOOK.xlsx --kind workbook converts edited inputs to overrides of the "
        "scenario.",
        "Payments are nominal, in the middle of their quarter; power is in MW, energy in MWh, "
        "money in USD.",
    ]
    for i, text in enumerate(texts):
        page.write_string(4 + i, 0, text)
    row = 4 + len(texts) + 1
    for kind, text in LEGEND:
        page.write_string(row, 0, "1,234", writer.number(kind, "USD"))
        page.write_string(row, 1, text)
        row += 1
    facts = {
        "Scenario file": result.scenario.get("path"),
        "Variant": result.scenario.get("variant"),
        "Inputs digest": result.scenario.get("inputs_sha256"),
        "Catalogs digest": result.scenario.get("catalogs_sha256"),
        "Solver": f"{result.solver.get('name')} {result.solver.get('version')}, gap "
        f"{result.solver.get('gap_frac')}",
        "Status": result.status,
        "Created with": f"dcplan plan {result.scenario.get('path')} --export xlsx",
    }
    write_facts(page, row + 1, facts)
    page.set_column(0, 0, 24)
    page.set_column(1, 1, 100)


def write_facts(page: Any, row: int, facts: Mapping[str, object]) -> None:
    """Write facts below each other from a row on: label and value."""
    for at, (label, value) in enumerate(facts.items(), row):
        page.write_string(at, 0, label)
        page.write_string(at, 1, "" if value is None else str(value))


def summary_page(writer: Writer, source: Source, metrics: Mapping[str, Term]) -> dict[str, Term]:
    """Write every metric, live if computed from decisions and inputs; return their cells."""
    page = writer.sheets["Summary"]
    head(writer, page, "Summary", "Live values compared with the plan's values.")
    bold, text = writer.format(bold=True, bottom=1), writer.format()
    for i, name in enumerate(SUMMARY_HEAD):
        page.write_string(SUMMARY_ROW - 2, i, name, bold)
    places: dict[str, Term] = {}
    at = SUMMARY_ROW - 1
    for key, metric in in_order(source.result.metrics).items():
        page.write_string(at, 0, key, text)
        page.write_string(at, 1, metric.label, text)
        page.write_string(at, 3, metric.unit, text)
        if isinstance(metric.value, str) or metric.value is None:
            page.write_string(at, 2, str(metric.value or ""), writer.format(font_color="#555555"))
        elif key in metrics:
            live = metrics[key]
            page.write_formula(
                at, 2, f"={live.text()}", writer.number("formula", metric.unit), live.value
            )
            page.write_number(at, 4, float(metric.value), writer.number("derived", metric.unit))
            page.write_formula(
                at,
                5,
                f"=C{at + 1}-E{at + 1}",
                writer.number("formula", metric.unit),
                live.value - float(metric.value),
            )
            places[key] = _on_summary(live.value, at)
        else:
            page.write_number(at, 2, float(metric.value), writer.number("derived", metric.unit))
        page.write_string(at, 6, "live" if key in metrics else "as planned", text)
        at += 1
    page.freeze_panes(SUMMARY_ROW - 1, 1)
    page.set_column(0, 0, 36)
    page.set_column(1, 1, 60)
    page.set_column(2, 6, 18)
    return places


def _on_summary(value: float, at: int) -> Term:
    return Term(value, lambda t: f"Summary!$C${at + 1}")


def table_page(
    writer: Writer, name: str, title: str, source: Source, tables: tuple[str, ...]
) -> None:
    """Write tables of the result unchanged."""
    page = writer.sheets[name]
    head(writer, page, title, "As planned: the duration of a run does not depend on prices.")
    at = 4
    for table in tables:
        found = source.result.tables.get(table)
        if found is not None:
            at = _table(writer, name, found, at) + 2
    page.set_column(0, 20, 18)


def _table(writer: Writer, name: str, table: Table, at: int) -> int:
    page = writer.sheets[name]
    units = [unit_of(column) for column in table.columns]
    for i, column in enumerate(table.columns):
        text = header(column)
        if units[i] == FRACTION:  # the cell itself shows percent
            text = text.removesuffix(", %")
        page.write_string(at, i, text, writer.format(bold=True, bottom=1))
    for row in table.rows:
        at += 1
        for i, cell in enumerate(row):
            _cell(writer, name, (at, i), cell, units[i])
    return at


def _cell(writer: Writer, name: str, place: tuple[int, int], cell: Cell, unit: str) -> None:
    page = writer.sheets[name]
    if isinstance(cell, bool):
        page.write_string(*place, "yes" if cell else "no")
    elif cell is None or isinstance(cell, str):
        page.write_string(*place, cell or "")
    else:
        page.write_number(*place, float(cell), writer.number("derived", unit or "x"))


def sources_page(writer: Writer, result: Result) -> None:
    """Write the source of every input of a result."""
    head(
        writer,
        writer.sheets["Sources"],
        "Sources",
        "Value, bounds, status, source and date of every input.",
    )
    columns = ("key", "value", "low", "high", "unit", "status", "source", "as_of", "note")
    rows = tuple(tuple(cell_of(row.get(name)) for name in columns) for row in result.inputs)
    _table(writer, "Sources", Table(columns, rows), 4)
    writer.sheets["Sources"].set_column(0, 0, 50)
    writer.sheets["Sources"].set_column(6, 8, 50)
    writer.sheets["Sources"].freeze_panes(5, 1)


def dictionary_page(writer: Writer, rows: tuple[tuple[str, str], ...] = DICTIONARY) -> None:
    """Write the meaning of terms."""
    head(writer, writer.sheets["Dictionary"], "Dictionary", "Terms of this workbook.")
    _table(writer, "Dictionary", Table(("term", "meaning"), rows), 4)
    writer.sheets["Dictionary"].set_column(0, 0, 34)
    writer.sheets["Dictionary"].set_column(1, 1, 110)


def charts(writer: Writer, calc: Calc) -> None:
    """Add native charts to the summary, so that they follow edited inputs."""
    page = writer.sheets["Summary"]
    power = calc.rows["all facility", NOWHERE]
    limits = [row for (name, _), row in calc.facts.items() if name == "utility_mw"]
    chart = writer.book.add_chart({"type": "column"})
    add_series(chart, power, "facility power")
    for limit in limits:
        line = writer.book.add_chart({"type": "line"})
        add_series(line, limit, f"firm grid {limit.key[0]}")
        chart.combine(line) if len(limits) == 1 else add_series(
            chart, limit, f"firm grid {limit.key[0]}"
        )
    _finish(chart, "Facility power on the design day", "MW")
    page.insert_chart(1, len(SUMMARY_HEAD) + 1, chart)
    money = writer.book.add_chart({"type": "column", "subtype": "stacked"})
    for group in (FlowGroup.CAPEX, FlowGroup.ENERGY, FlowGroup.OPEX, FlowGroup.CLOUD):
        row = calc.rows[f"group {group}", NOWHERE]
        add_series(money, row, row.label)
    _finish(money, "Payments by quarter", "USD")
    page.insert_chart(18, len(SUMMARY_HEAD) + 1, money)
    sums = writer.book.add_chart({"type": "line"})
    add_series(sums, calc.rows["cumulative payments", NOWHERE], "cumulative payments")
    _finish(sums, "Cumulative payments", "USD")
    page.insert_chart(35, len(SUMMARY_HEAD) + 1, sums)


def add_series(chart: Any, row: Row, name: str) -> None:
    """Add the cells of a row of the workbook to a chart."""
    last = FIRST + len(row.values) - 1
    at = row.number - 1
    chart.add_series(
        {
            "name": name,
            "categories": [row.sheet, 3, FIRST, 3, last],
            "values": [row.sheet, at, FIRST, at, last],
        }
    )


def _finish(chart: Any, title: str, unit: str) -> None:
    chart.set_title({"name": title})
    chart.set_y_axis({"name": unit})
    chart.set_legend({"position": "bottom"})
