"""A result without confidential prices.

What the user's own quotes are, and what could be divided back into them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dcplan.catalog.locate import data_dir
from dcplan.result import Metric, Result, Table
from dcplan.specs import registry

HIDDEN = "redacted"
BOOK = "book_"


def redacted(result: Result) -> Result:
    """Return the same answer with totals of money.

    But neither unit prices nor money by item or quarter.

    Inputs of money that the scenario or a command line gave lose value, bounds, source and note;
    money columns of tables by item are emptied; the workbook's facts are dropped, so that no
    workbook can be made of it. Totals stay: who knows the counts may still divide them.
    """
    specs = registry.tables(result.verb)
    tables = {
        name: _without_money(table) if name in specs and specs[name].by_item else table
        for name, table in result.tables.items()
        if not name.startswith(BOOK)
    }
    metrics = {key: _metric(key, metric) for key, metric in result.metrics.items()}
    warnings = [
        w if "USD" not in str(w.get("message")) else {**w, "message": HIDDEN}
        for w in result.warnings
    ]
    return replace(
        result,
        tables=tables,
        metrics=metrics,
        inputs=[_input(row) for row in result.inputs],
        warnings=warnings,
    )


def _is_money(name: str) -> bool:
    return "usd" in name.casefold() or "price" in name.casefold()


def _without_money(table: Table) -> Table:
    hidden = {i for i, column in enumerate(table.columns) if _is_money(column)}
    if "input" in table.columns:  # a sensitivity: bounds of a price are the price
        hidden |= {
            i
            for i, column in enumerate(table.columns)
            if column in ("low", "now", "high", "switches_at")
        }
    rows = tuple(
        tuple(None if i in hidden else cell for i, cell in enumerate(row)) for row in table.rows
    )
    return Table(table.columns, rows)


def _metric(key: str, metric: Metric) -> Metric:
    if key in (
        "cost.energy_usd",
        "cost.cloud_usd",
    ):  # over the hours of the same answer they are the tariff
        return replace(metric, value=None, low=None, high=None)
    if (
        key.startswith(("cost.", "owned.npv", "hybrid.npv")) and "per_" not in key
    ):  # rent over known hours is its price
        return replace(metric, low=None, high=None)
    return replace(metric, value=None, low=None, high=None) if _is_money(key) else metric


def _input(row: Mapping[str, Any]) -> Mapping[str, Any]:
    ours = str(row.get("at") or "").startswith(
        str(data_dir("catalogs"))
    )  # an overlay's rows are the user's own
    if not _is_money(str(row.get("key"))) or (
        str(row.get("status")) != "input" and (ours or row.get("at") is None)
    ):
        return row
    return {**row, "value": HIDDEN, "low": None, "high": None, "source": None, "note": None}
