"""Checks of a comparison's workbook: its figures against those of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from dcplan.report.book.checks import Check, Relation, stored, write_checks
from dcplan.report.book.data.term import Condition, Term, added, number, when
from dcplan.report.book.financing.statements import balance_check
from dcplan.report.book.grid import INPUT_ROW, Row
from dcplan.report.book.tco.book import Book
from dcplan.report.book.writer import Writer

TOTAL = "total"


def checks_of(writer: Writer, book: Book, places: Mapping[str, Term]) -> None:
    """Write the identities of the workbook, and its figures against those of the answer."""
    rows = [*_identities(book), *stored(book.source.base, places), *_lines(book)]
    write_checks(writer, rows)


def _identities(book: Book) -> Iterator[Check]:
    """Yield identities that hold for any input."""
    rows = book.rows
    steps = [row.cell for row in _values(book, "owned")]
    label = "present values of the owned lines and of the debt sum to the cost of owning"
    yield label, added(steps), rows["owned npv"].cell, Relation.EQUAL
    for name in book.rents:
        lines = [row.cell for row in _values(book, name)]
        label = f"present values of the lines sum to the cost of {name}"
        yield label, added(lines), rows[f"{name} npv"].cell, Relation.EQUAL
    yield balance_check(book)
    written = rows.get("written all")
    if written is not None:
        label = "tax write-off is at most the purchases"
        yield label, written.cell, rows["bought all"].cell, Relation.MOST


def _values(book: Book, side: str) -> list[Row]:
    """Return the present values of the lines of a side."""
    return [row for (owner, _), rows in book.values.items() if owner == side for row in rows]


def _lines(book: Book) -> Iterator[Check]:
    """Compare present values by line with the answer, unless an input is changed."""
    table = book.source.result.tables.get("lines")
    changed = changed_input(book)
    for row in table.records() if table is not None else []:
        side, line = str(row["side"]), str(row["line"])
        own = book.values.get((side, line))
        if own is None or line == TOTAL:
            continue
        here = added(x.cell for x in own)
        label = f"present value of {line} of {side} equals the answer's, unless an input is changed"
        answer = number(float(row["npv_usd"] or 0.0))
        yield label, here, when(changed, here, answer), Relation.EQUAL


def changed_input(book: Book) -> Condition:
    """Return whether any input differs from its exported value."""
    last = INPUT_ROW - 1 + len(book.source.base.result.inputs)
    text = f'COUNTIF(Inputs!$J${INPUT_ROW}:$J${last},"changed") > 0'
    return Condition(np.array(False), lambda t: text)
