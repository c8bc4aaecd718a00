"""A result without confidential prices.

It omits the user's quotes, and values from which they could be computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dcplan.catalog.locate import data_dir
from dcplan.planning.decision_specs import DISPOSED
from dcplan.provenance import Status
from dcplan.result import Metric, Result, Table
from dcplan.specs import registry

HIDDEN = "redacted"
OWN = frozenset({str(Status.INPUT), str(Status.QUOTE)})
"""Status of the user's own values."""
BOOK = "book_"


def redacted(result: Result) -> Result:
    """Return the same answer with only totals of money.

    Unit prices and money by item or quarter are removed.

    Monetary inputs from the scenario or the command line lose value, bounds, source and note. Money
    columns of tables by item are emptied. The workbook's facts are removed, so that no workbook can
    be created. Totals remain: a reader who knows the counts can still divide them.
    """
    specs = registry.tables(result.verb)
    tables = {
        name: _without_unit_prices(
            _without_money(table) if name in specs and specs[name].by_item else table
        )
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
        headline=HIDDEN if _names_price(result) or _sells(result) else result.headline,
        tables=tables,
        scenario={**result.scenario, "sets": []},
        metrics=metrics,
        inputs=[_input(row) for row in result.inputs],
        warnings=warnings,
    )


def _names_price(result: Result) -> bool:
    """Whether the headline is the value of a price."""
    table = result.tables.get("values")
    if table is None:
        return False
    at = table.columns.index("key")
    return any(_is_money(str(row[at])) for row in table.rows)


def _is_money(name: str) -> bool:
    return "usd" in name.casefold() or "price" in name.casefold()


def _sells(result: Result) -> bool:
    """Whether the headline has the proceeds of a sale, which over its count are the resale price."""
    table = result.tables.get("decisions")
    return table is not None and any(row["decision"] == DISPOSED.row for row in table.records())


KEYS = ("input", "key", "axis")
"""Columns that name an input; the other cells of its row may hold its price."""
WORDS = ("note", "source", "unit", "status", "at", "change", "scenario", "decision", "plans")
"""Columns of such a row that hold no value."""


def _without_money(table: Table) -> Table:
    """Empty the money columns of a table, and the values of rows that name a price.

    A total, which is a declared metric, stays. A table of shares of money without a money column
    loses its values.
    """
    columns = table.columns
    hidden = {
        i for i, c in enumerate(columns) if _is_money(c) and registry.metric_of("plan", c) is None
    }
    if "figure" in columns and "value" in columns:
        hidden |= {columns.index("value")}
    named = next((columns.index(c) for c in KEYS if c in columns), None)
    rows = []
    for row in table.rows:
        price = named is not None and _is_money(str(row[named]))
        kept = [
            i not in hidden and not (price and i != named and columns[i] not in WORDS)
            for i in range(len(columns))
        ]
        rows.append(tuple(x if keep else None for x, keep in zip(row, kept, strict=True)))
    return Table(columns, tuple(rows))


USD = "USD"
METRIC = "metric"
"""Column that names a metric, in the tables that compare answers."""


def _without_unit_prices(table: Table) -> Table:
    """Empty the numbers of rows that compare a metric which is removed.

    An amount that is no metric is the sum of rows by item, such as the cash from sales: it has no
    numbers either.
    """
    if METRIC not in table.columns:
        return table
    rows = []
    for record, row in zip(table.records(), table.rows, strict=True):
        key = record[METRIC]
        hidden = _is_removed(str(key)) if key else record.get("unit") == USD
        rows.append(tuple(None if hidden and isinstance(x, float) else x for x in row))
    return Table(table.columns, tuple(rows))


def _metric(key: str, metric: Metric) -> Metric:
    if _is_removed(key):
        return replace(metric, value=None, low=None, high=None)
    # rent divided by known hours gives its price
    return replace(metric, low=None, high=None) if _is_total(key) else metric


def _is_removed(key: str) -> bool:
    """Return whether a metric gives a price, divided by the hours of the same answer at most."""
    tariffs = ("cost.energy_usd", "cost.cloud_usd", "cost.unused_usd")
    return key in tariffs or (_is_money(key) and not _is_total(key))


def _is_total(key: str) -> bool:
    return key.startswith(("cost.", "owned.npv", "hybrid.npv")) and "per_" not in key


def _input(row: Mapping[str, Any]) -> Mapping[str, Any]:
    ours = str(row.get("at") or "").startswith(
        str(data_dir("catalogs"))
    )  # rows of an overlay belong to the user
    if not _is_money(str(row.get("key"))) or (
        str(row.get("status")) not in OWN and (ours or row.get("at") is None)
    ):
        return row
    return {**row, "value": HIDDEN, "low": None, "high": None, "source": None, "note": None}
