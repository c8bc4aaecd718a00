"""Formulas across the quarter, month and year columns of a comparison's workbook."""

from __future__ import annotations

import numpy as np

from dcplan.report.book.data.term import PRODUCT, Array, Condition, Operand, Term, term_of
from dcplan.report.book.grid import Row


def flag(condition: Condition) -> Term:
    """Return 1 where a condition holds, else 0; within SUMPRODUCT, for each cell of a range."""
    return Term(
        np.where(condition.holds, 1.0, 0.0) if np.ndim(condition.holds) else float(condition.holds),
        lambda t: f"({condition.write(t)}) * 1",
        PRODUCT,
    )


def picked(row: Row, position: Operand) -> Term:
    """Return the cell of a row at a position counted from 1; 0 where the position is below 1.

    Raises
    ------
    IndexError
        When a position is beyond the row.
    """
    at, span = position.term(), row.span()
    places = np.atleast_1d(np.asarray(at.number)).astype(int)
    values = np.where(places > 0, row.values[np.maximum(places, 1) - 1], 0.0)
    return Term(
        values if np.ndim(at.number) else float(values[0]),
        lambda t: f"IF({at.text(t)} > 0, INDEX({span.text()}, {at.text(t)}), 0)",
    )


def summed_where(keys: Row, key: Operand | float, values: Row) -> Term:
    """Add the cells of a row whose key equals a number, which may differ by column."""
    wanted = term_of(key)

    def one(number: float) -> float:
        return float(values.values[keys.values == number].sum())

    found: Array | float = (
        np.array([one(x) for x in np.asarray(wanted.number)])
        if np.ndim(wanted.number)
        else one(float(wanted.number))
    )
    return Term(
        found, lambda t: f"SUMIF({keys.span().text()}, {wanted.text(t)}, {values.span().text()})"
    )


def rounded(term: Operand) -> Term:
    """Round to a whole number."""
    own = term.term()
    return Term(float(np.rint(own.number)), lambda t: f"ROUND({own.text(t)}, 0)")


def to_digits(term: Operand, digits: int) -> Term:
    """Round to some decimals, so that the rounding of doubles shows as 0."""
    own = term.term()
    found = np.round(own.number, digits) + 0.0
    return Term(
        found if np.ndim(found) else float(found), lambda t: f"ROUND({own.text(t)}, {digits})"
    )


def rounded_up(term: Operand) -> Term:
    """Round up to a whole number; a rounding error of 1e-9 does not count."""
    own = term.term()
    return Term(float(np.ceil(own.number - 1e-9)), lambda t: f"ROUNDUP({own.text(t)} - 1E-9, 0)")


def before(row: Row, start: float = 0.0) -> Term:
    """Return the cell of the column before; a number in the first column."""
    values = np.concatenate([[start], row.values[:-1]])
    first = repr(float(start)).removesuffix(".0")
    return Term(values, lambda t: row.at(t - 1) if t else first)


def ahead(row: Row, end: float) -> Term:
    """Return the cell of the column after; a number in the last column."""
    values, last = np.concatenate([row.values[1:], [end]]), len(row.values) - 1
    text = repr(float(end)).removesuffix(".0")
    return Term(values, lambda t: row.at(t + 1) if t < last else text)
