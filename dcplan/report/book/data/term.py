"""Expressions that give a number and the formula of its cell, so that both always agree.

A term has one number, or one number per quarter. Arithmetic on terms gives a term: the value in a
cell and the formula of the cell come from the same expression.
"""

from __future__ import annotations

import ast
import functools
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Value = float | Array
Arithmetic = Callable[[Value, Value], Value]
SUM, PRODUCT, ATOM = 1, 2, 3
"""Precedence of a formula: lower precedence than required needs parentheses."""


class Operand:
    """Base class of all parts of expressions."""

    def term(self) -> Term:
        """Return the number with its formula."""
        raise NotImplementedError

    def __add__(self, other: Operand | float) -> Term:
        """Add."""
        return _joined(self, "+", other, np.add, SUM)

    def __sub__(self, other: Operand | float) -> Term:
        """Subtract."""
        return _joined(self, "-", other, np.subtract, SUM)

    def __mul__(self, other: Operand | float) -> Term:
        """Multiply."""
        return _joined(self, "*", other, np.multiply, PRODUCT)

    def __truediv__(self, other: Operand | float) -> Term:
        """Divide; a division by 0 is an error in Excel and NaN here."""
        return _joined(self, "/", other, _quotient, PRODUCT)

    def __radd__(self, other: float) -> Term:
        """Add to a plain number."""
        return number(other) + self

    def __rsub__(self, other: float) -> Term:
        """Subtract from a plain number."""
        return number(other) - self

    def __rmul__(self, other: float) -> Term:
        """Multiply a plain number."""
        return number(other) * self

    def __rtruediv__(self, other: float) -> Term:
        """Divide a plain number."""
        return number(other) / self

    def __neg__(self) -> Term:
        """Change the sign."""
        own = self.term()
        return Term(-own.number, lambda t: f"-{_inside(own, ATOM, t)}", SUM)

    def __gt__(self, other: Operand | float) -> Condition:
        """Compare: greater than."""
        return _compared(self, ">", other, np.greater)

    def __ge__(self, other: Operand | float) -> Condition:
        """Compare: greater than or equal."""
        return _compared(self, ">=", other, np.greater_equal)

    def __le__(self, other: Operand | float) -> Condition:
        """Compare: less than or equal."""
        return _compared(self, "<=", other, np.less_equal)


@dataclass(frozen=True, eq=False)
class Term(Operand):
    """A number, or one per quarter, and its formula."""

    number: Value
    write: Callable[[int], str]
    """Formula in a quarter, without the equals sign."""
    level: int = ATOM

    def term(self) -> Term:
        """Return the term itself."""
        return self

    def text(self, t: int = 0) -> str:
        """Return the formula in a quarter."""
        return self.write(t)

    @property
    def value(self) -> float:
        """The single number."""
        return float(self.number)


@dataclass(frozen=True, eq=False)
class Condition:
    """A comparison, which is not a number: Excel ranks TRUE above all numbers."""

    holds: npt.NDArray[np.bool_]
    write: Callable[[int], str]


def number(value: float) -> Term:
    """Write a plain number.

    Examples
    --------
    >>> (1 + number(0.5) * 1000.0).text()
    '1 + 0.5 * 1000'
    """
    text = repr(float(value)).removesuffix(".0")
    return Term(float(value), lambda t: text, SUM if value < 0 else ATOM)


def term_of(operand: Operand | float) -> Term:
    """Return any operand as a term."""
    return operand.term() if isinstance(operand, Operand) else number(operand)


def added(terms: Iterable[Operand]) -> Term:
    """Add terms; the empty sum is 0."""
    found = [x.term() for x in terms]
    return functools.reduce(operator.add, found) if found else number(0.0)


def largest(*terms: Operand | float) -> Term:
    """Take the largest of each quarter."""
    return _called("MAX", lambda *found: functools.reduce(np.maximum, found), terms)


def smallest(*terms: Operand | float) -> Term:
    """Take the smallest of each quarter."""
    return _called("MIN", lambda *found: functools.reduce(np.minimum, found), terms)


def absolute(term: Operand) -> Term:
    """Return the absolute value."""
    return _called("ABS", np.abs, (term,))


def power(base: Operand | float, exponent: Operand | float) -> Term:
    """Raise to a power."""
    return _called("POWER", np.power, (base, exponent))


def when(condition: Condition, then: Operand | float, otherwise: Operand | float) -> Term:
    """Choose by a condition in each quarter."""
    yes, no = term_of(then), term_of(otherwise)
    return Term(
        _plain(np.where(condition.holds, yes.number, no.number)),
        lambda t: f"IF({condition.write(t)}, {yes.text(t)}, {no.text(t)})",
    )


def sum_of(span: Term) -> Term:
    """Add all cells of a span."""
    return _called("SUM", np.sum, (span,))


def peak_of(span: Term) -> Term:
    """Take the largest cell of a span."""
    return _called("MAX", np.max, (span,))


def dot(left: Term, right: Term) -> Term:
    """Add the products of two spans, cell by cell."""
    return _called("SUMPRODUCT", np.dot, (left, right))


def count_of(condition: Condition) -> Term:
    """Count the cells of spans for which a condition holds."""
    return Term(float(np.sum(condition.holds)), lambda t: f"SUMPRODUCT(({condition.write(t)}) * 1)")


def by_quarter(terms: list[Term], length: int) -> Term:
    """Put one term in each quarter, and 0 after the last."""
    row = terms + [number(0.0)] * (length - len(terms))
    return Term(np.array([x.value for x in row]), lambda t: row[t].text(t))


def _joined(
    left: Operand, sign: str, right: Operand | float, function: Arithmetic, level: int
) -> Term:
    a, b = left.term(), term_of(right)
    return Term(
        _plain(function(a.number, b.number)),
        lambda t: f"{_inside(a, level, t)} {sign} {_inside(b, level + 1, t)}",
        level,
    )


def _quotient(left: Value, right: Value) -> Value:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(left, right)


def _compared(left: Operand, sign: str, right: Operand | float, function: np.ufunc) -> Condition:
    a, b = left.term(), term_of(right)
    holds = np.asarray(function(a.number, b.number))
    return Condition(holds, lambda t: f"{a.text(t)} {sign} {b.text(t)}")


def _called(name: str, function: Callable[..., Value], terms: Iterable[Operand | float]) -> Term:
    found = [term_of(x) for x in terms]
    return Term(
        _plain(function(*(x.number for x in found))),
        lambda t: f"{name}({', '.join(x.text(t) for x in found)})",
    )


def _inside(term: Term, least: int, t: int) -> str:
    return term.text(t) if term.level >= least else f"({term.text(t)})"


def _plain(value: Value) -> Value:
    return value if np.ndim(value) else float(value)


REFERENCE = re.compile(r"\[((?:[^\[\]]|\[\d+\])+)\]|\{([a-z_]+)\}")
"""An input by its key, which may count elements (``tiers[0]``), or another fact of the same place."""
OPERATIONS: dict[type[ast.operator], Callable[[Term, Term], Term]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
CALLS: dict[str, Callable[..., Term]] = {"MAX": largest, "MIN": smallest, "POWER": power}


def read(text: str, inputs: Callable[[str], Operand], facts: Callable[[str], Operand]) -> Term:
    """Read the formula of a saved fact: ``{nodes} * [systems.dgx-h200.price_usd]``.

    Raises
    ------
    KeyError
        When a reference is unknown.
    ValueError
        When the text contains anything but ``+ - * /``, ``MAX``, ``MIN``, ``POWER`` and references.

    Examples
    --------
    >>> known = {"price": number(10), "rise": number(1), "n": number(2)}.__getitem__
    >>> term = read("{n} * [price] * POWER(1 + [rise], 2) + MAX({n}, 9)", known, known)
    >>> term.value, term.text()
    (89.0, '2 * 10 * POWER(1 + 1, 2) + MAX(2, 9)')
    """
    known: dict[str, Term] = {}

    def name(match: re.Match[str]) -> str:
        alias = f"x{len(known)}"
        known[alias] = (inputs(match[1]) if match[1] else facts(match[2])).term()
        return alias

    def term(node: ast.expr) -> Term:
        match node:
            case ast.Constant(value=int() | float() as value):
                return number(value)
            case ast.Name(id=alias) if alias in known:
                return known[alias]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATIONS:
                return OPERATIONS[type(op)](term(left), term(right))
            case ast.Call(func=ast.Name(id=called), args=args) if called in CALLS:
                return CALLS[called](*map(term, args))
        msg = f"not a formula: {text}"
        raise ValueError(msg)

    return term(ast.parse(REFERENCE.sub(name, text), mode="eval").body)
