"""Quarters in which orders serve: payment terms of a workbook follow the delivery."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dcplan.economics.monthly.payments import DELIVERED
from dcplan.report.book.source import Record
from dcplan.scenario.load import Question
from dcplan.specs.plan.money import FLOWS, FlowRow
from dcplan.units import quarter_index


def delivered(
    flows: Iterable[Record], first: int, quarters: int
) -> Mapping[tuple[str, str], Mapping[int, int]]:
    """Return the quarter in service of each order, by line and site, counted from 0.

    Parameters
    ----------
    flows : iterable of dict
        Rows of the table of payments.
    first : int
        First quarter of the horizon, counted from year 0.
    quarters : int
        Quarters of the horizon; an order that serves after it counts in the last one.

    Raises
    ------
    ValueError
        When orders of one quarter and line serve from different quarters.
    """
    found: dict[tuple[str, str], dict[int, int]] = {}
    for row in flows:
        if not row["serves_from"] or row["group"] != "capex" or row["asset"] not in DELIVERED:
            continue
        at, serves = (quarter_index(str(row[x])) - first for x in ("quarter", "serves_from"))
        serves = min(serves, quarters - 1)
        by = found.setdefault((str(row["line"]), str(row["site"] or "")), {})
        if by.setdefault(at, serves) != serves:
            msg = f"orders of {row['line']} in {row['quarter']} serve from different quarters"
            raise ValueError(msg)
    return found


def datable(question: Question, plans: Sequence[Sequence[FlowRow]]) -> bool:
    """Return whether the orders of each line and quarter serve from one quarter, if it matters."""
    if question.scenario.finance.payment is None:
        return True
    horizon = question.scenario.horizon
    first = quarter_index(horizon.start)
    try:
        for flows in plans:
            delivered(FLOWS.table(flows).records(), first, horizon.quarters)
    except ValueError:
        return False
    return True
