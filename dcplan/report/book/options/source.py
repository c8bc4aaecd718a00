"""Sourcing options of ``tco`` without a fleet in the form that their workbook needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.economics.cash_flow import EQUIPMENT
from dcplan.report.book.data.deliveries import delivered
from dcplan.report.book.source import Record, source_from
from dcplan.report.book.tco.source import (
    Axis,
    TcoSource,
    advances_of,
    site_terms_of,
    with_used_inputs,
    write_offs,
)
from dcplan.result import Result, Table
from dcplan.specs.plan import book, plans_book, tco_book
from dcplan.specs.plan.money import Falls
from dcplan.specs.plan.tco_book import BookTerm
from dcplan.units import MONTHS_PER_QUARTER, quarter_index, quarter_name

NEEDED = tuple(
    t.name
    for t in (
        book.LIVE,
        plans_book.OPTIONS,
        plans_book.FACTS,
        plans_book.AMOUNTS,
        plans_book.FLOWS,
        plans_book.EARLIER,
        tco_book.TERMS,
        tco_book.WRITE_OFF,
        tco_book.LEFT,
    )
)


@dataclass(frozen=True)
class PlansSource:
    """All data of the workbook of sourcing options."""

    result: Result
    options: Mapping[str, str]
    """Option -> the option whose sheets have its plan, itself or another."""
    own: Mapping[str, TcoSource]
    """Data of each option with sheets; all have the same months."""


def has_plans(result: Result) -> bool:
    """Return whether a result has the data of a workbook of sourcing options."""
    return all(name in result.tables for name in NEEDED)


def plans_source(result: Result) -> PlansSource:
    """Read the tables of sourcing options.

    Raises
    ------
    ValueError
        When the result has no such tables, or is redacted.
    """
    if not has_plans(result):
        msg = "this result of tco has no data of a workbook of formulas: run dcplan tco again"
        raise ValueError(msg)
    rows = plans_book.OPTIONS.rows(result.tables[plans_book.OPTIONS.name])
    options = {row.option: row.same_as or row.option for row in rows}
    axis = _axis(result)
    own = {name: _source(result, name, axis) for name in dict.fromkeys(options.values())}
    return PlansSource(result, options, own)


def _of(result: Result, table: str, option: str) -> Table:
    """Return the rows of an option."""
    whole = result.tables[table]
    at = whole.columns.index("option")
    return Table(whole.columns, tuple(row for row in whole.rows if row[at] == option))


def _source(result: Result, option: str, axis: Axis) -> TcoSource:
    """Return the data of one option."""
    tables = result.tables | {
        "book_facts": _of(result, plans_book.FACTS.name, option),
        "book_amounts": _of(result, plans_book.AMOUNTS.name, option),
    }
    flows = _of(result, plans_book.FLOWS.name, option).records()
    first = quarter_index(axis.first)
    quarters = [quarter_name(first + t) for t in range(axis.horizon // MONTHS_PER_QUARTER)]
    whole = replace(result, tables=tables)
    write_off, names = write_offs(result, axis.years)
    left = tco_book.LEFT.rows(result.tables[tco_book.LEFT.name])
    return TcoSource(
        source_from(with_used_inputs(whole), flows, quarters),
        result,
        axis,
        terms_of(result),
        write_off,
        names,
        np.array([row.left_frac for row in left]),
        (),
        {},
        delivered(flows, first, len(quarters)) if BookTerm.DEPOSIT in terms_of(result) else {},
        tuple(plans_book.EARLIER.rows(_of(result, plans_book.EARLIER.name, option))),
        advances=advances_of(flows, axis),
        site_terms=site_terms_of(result),
    )


def terms_of(result: Result) -> dict[BookTerm, tco_book.TermRow]:
    """Return the terms of a result by their name."""
    rows = tco_book.TERMS.rows(result.tables[tco_book.TERMS.name])
    return {BookTerm(row.term): row for row in rows}


def _axis(result: Result) -> Axis:
    """Return the months of all options."""
    terms = terms_of(result)
    first = round(terms[BookTerm.START].value)
    months = len(result.tables[tco_book.LEFT.name].rows) - 1
    return axis_of(result.tables[plans_book.FLOWS.name].records(), first, months, terms)


def axis_of(
    flows: Iterable[Record], first: int, months: int, terms: Mapping[BookTerm, tco_book.TermRow]
) -> Axis:
    """Return the months of plans: deposits come before the horizon, commitments may end after it.

    Parameters
    ----------
    flows : iterable of dict
        Rows of the table of payments.
    first : int
        First quarter of the horizon, counted from year 0.
    months : int
        Months of the horizon.
    terms : mapping
        Terms of the workbook; the dates of payments count.
    """
    flows = list(flows)

    def term(name: BookTerm) -> int:
        return int(terms[name].value) if name in terms else 0

    def month(quarter: object) -> int:
        return (quarter_index(str(quarter)) - first) * MONTHS_PER_QUARTER

    bought = [
        month(row["serves_from"] or row["quarter"])
        for row in flows
        if row["asset"] in EQUIPMENT and row["falls"] != Falls.END
    ]
    early = min(0, min(bought, default=0) - term(BookTerm.DEPOSIT_MONTHS))
    ends = [month(row["quarter"]) + MONTHS_PER_QUARTER for row in flows]
    late = min(max(bought, default=0), months - MONTHS_PER_QUARTER)
    until = max(months, late + term(BookTerm.ACCEPTANCE_MONTHS) + 1, *ends)
    return Axis(quarter_name(first), np.arange(early, until, dtype=np.float64), months)
