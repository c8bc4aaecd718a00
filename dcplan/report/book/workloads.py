"""Workloads: accelerators and cost of each workload by quarter, with live sums.

The parts are the plan's; sums, present costs and costs per token are formulas.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from dcplan.report.book.calc import Calc
from dcplan.report.book.data.term import Array, added, dot
from dcplan.report.book.grid import FIRST, NOWHERE, Row, Sheet, total
from dcplan.report.book.writer import Writer, write_sheet
from dcplan.result import Cell
from dcplan.specs.headers import header
from dcplan.specs.plan.workloads import SERVED_BY, WORKLOAD_COSTS_BY_QUARTER
from dcplan.units import quarter_index

PARTS = ("hardware", "network", "storage", "energy", "space", "cloud", "unserved")
NOTE = (
    "As planned, sums are live. A quarter bears its running cost and a charge that recovers the "
    "price of assets less residual value over their quarters in service."
)


def workloads_page(writer: Writer, c: Calc) -> None:
    """Write the sheet of workloads, with a chart of accelerators by workload and system."""
    sheet, systems = workloads_sheet(c)
    write_sheet(writer, sheet)
    if not systems:
        return
    chart = writer.book.add_chart({"type": "column", "subtype": "stacked"})
    for row in systems:
        at, last = row.number - 1, FIRST + c.source.horizon - 1
        chart.add_series(
            {
                "name": " on ".join(x for x in (row.key[0], row.key[2]) if x),
                "categories": [row.sheet, 3, FIRST, 3, last],
                "values": [row.sheet, at, FIRST, at, last],
            }
        )
    chart.set_title({"name": "Accelerators by workload and system"})
    chart.set_y_axis({"name": "accelerators"})
    chart.set_legend({"position": "bottom"})
    chart.set_size({"width": 900, "height": 380 + 18 * len(systems)})
    writer.sheets[sheet.name].insert_chart(sheet.rows[-1].number + 2, 0, chart)


def workloads_sheet(c: Calc) -> tuple[Sheet, list[Row]]:
    """Return the sheet, and its rows of accelerators by workload and system."""
    sheet = Sheet("Workloads", "Workloads", NOTE, c.source.quarters)
    found = _accelerators(c)
    if found:
        sheet.heading("Accelerators, average of the quarter")
    systems = [
        sheet.frozen("accelerators", key, "", values, "derived", total=False)
        for key, values in found.items()
    ]
    if systems:
        sheet.line("all accelerators", NOWHERE, "", total(systems), total=False)
    factor = c.rows["discount factor", NOWHERE]
    costs, present = [], []
    for workload, parts in _costs(c).items():
        key = (workload, "", "")
        sheet.heading(workload)
        rows = [
            sheet.frozen(
                header(f"{part}_usd").partition(",")[0], key, "USD", x, "derived", total=True
            )
            for part, x in parts.items()
        ]
        cost = sheet.line("cost of the quarter", key, "USD", total(rows))
        costs.append(cost)
        present.append(sheet.fact("present cost", key, "USD", dot(cost.span(), factor.span())))
        _tokens(c, sheet, workload, cost)
    sheet.heading("All workloads" if costs else "The scenario has no workloads.")
    if costs:
        sheet.line("cost of the quarter", NOWHERE, "USD", added(costs))
        whole = sheet.fact("present cost of all workloads", NOWHERE, "USD", added(present))
        npv = c.rows["npv", NOWHERE]
        sheet.fact("net present cost of the plan", NOWHERE, "USD", npv.cell)
        sheet.fact("change of the plan's cost by edited inputs", NOWHERE, "USD", npv - whole)
    return sheet, systems


def _tokens(c: Calc, sheet: Sheet, workload: str, cost: Row) -> None:
    """Write the tokens of a workload, and its cost per million of them."""
    name = "usd_per_million_tokens"
    each = _by_quarter(c, WORKLOAD_COSTS_BY_QUARTER.name, workload, name)
    if not np.any(each):
        return
    served = np.divide(cost.values, each, out=np.zeros_like(each), where=each != 0.0)
    key = (workload, "", "")
    tokens = sheet.frozen("million tokens", key, "", served, "derived", total=True)
    factor = c.rows["discount factor", NOWHERE]
    discounted = dot(tokens.span(), factor.span())
    spent = dot(cost.span(), factor.span())
    sheet.fact("present cost per million tokens", key, "USD/M tokens", spent / discounted)


def _accelerators(c: Calc) -> dict[tuple[str, str, str], Array]:
    """Return the average accelerators by workload, place and system."""
    found: dict[tuple[str, str, str], Array] = defaultdict(lambda: np.zeros(c.source.length))
    for row in _records(c, SERVED_BY.name):
        if row["average_accelerators"]:
            key = (str(row["workload"]), str(row["place"] or ""), str(row["system"] or ""))
            found[key][_at(c, row)] += _number(row["average_accelerators"])
    return found


def _costs(c: Calc) -> dict[str, dict[str, Array]]:
    """Return the parts of the cost of each workload, without parts that cost nothing."""
    name = WORKLOAD_COSTS_BY_QUARTER.name
    names = dict.fromkeys(str(row["workload"]) for row in _records(c, name))
    return {
        x: {p: y for p in PARTS if np.any(y := _by_quarter(c, name, x, f"{p}_usd"))} for x in names
    }


def _by_quarter(c: Calc, table: str, workload: str, column: str) -> Array:
    found = np.zeros(c.source.length)
    for row in _records(c, table):
        if row["workload"] == workload:
            found[_at(c, row)] += _number(row[column])
    return found


def _records(c: Calc, name: str) -> list[dict[str, Cell]]:
    table = c.source.result.tables.get(name)
    return table.records() if table is not None else []


def _at(c: Calc, row: dict[str, Cell]) -> int:
    return quarter_index(str(row["quarter"])) - quarter_index(c.source.quarters[0])


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0
