"""Checks of identities, limits, expectations and the plan's metrics, which edits may violate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

import numpy as np

from dcplan.report.book.calc import Calc
from dcplan.report.book.data.term import (
    Condition,
    Operand,
    Term,
    absolute,
    added,
    count_of,
    largest,
    number,
    when,
)
from dcplan.report.book.grid import INPUT_ROW, NOWHERE
from dcplan.report.book.source import Source
from dcplan.report.book.writer import Writer, head

TOLERANCE = 1e-9
DIGITS = 4
"""Digits of a shown difference."""


class Relation(StrEnum):
    """Required relation of the left and right side of a check."""

    EQUAL = "equals"
    MOST = "max"
    LEAST = "min"


Check = tuple[str, Operand, Operand, Relation]
"""Label, left side, right side and relation of a check."""


def checks_page(
    writer: Writer,
    source: Source,
    calc: Calc,
    places: Mapping[str, Term],
    more: Iterable[Check] = (),
) -> None:
    """Write the checks of a plan's workbook, and those of its other pages."""
    own = [*_identities(calc), *_limits(calc), *_expected(source, places), *stored(source, places)]
    write_checks(writer, [*own, *more])


def write_checks(writer: Writer, rows: Sequence[Check]) -> None:
    """Write every check with both sides and their difference, and the overall check."""
    page = writer.sheets["Checks"]
    head(
        writer,
        page,
        "Checks",
        "Each check shows OK or CHECK; a single CHECK also sets the overall check to CHECK.",
    )
    bold = writer.format(bold=True, bottom=1)
    for i, text in enumerate(("Check", "Left", "Right", "Result", "Left minus right")):
        page.write_string(4, i, text, bold)
    look = writer.number("formula", "x")
    at = 5
    for label, first, second, relation in rows:
        left, right = first.term(), second.term()
        page.write_string(at, 0, label)
        page.write_formula(at, 1, f"={left.text()}", look, left.value)
        page.write_formula(at, 2, f"={right.text()}", look, right.value)
        existing = holds(_cell(left, "B", at), _cell(right, "C", at), relation)
        verdict = "OK" if existing.holds else "CHECK"
        page.write_formula(at, 3, f'=IF({existing.write(0)},"OK","CHECK")', bold, verdict)
        apart = round(left.value - right.value, DIGITS)
        page.write_formula(at, 4, f"=ROUND(B{at + 1}-C{at + 1}, {DIGITS})", look, apart)
        at += 1
    red = writer.format(bg_color="#FFC7CE", font_color="#9C0006")
    page.conditional_format(
        5, 3, at, 3, {"type": "cell", "criteria": "==", "value": '"CHECK"', "format": red}
    )
    page.write_string(at + 1, 0, "All checks", bold)
    page.write_formula(
        at + 1, 3, f'=IF(COUNTIF(D6:D{at},"OK")=ROWS(D6:D{at}),"OK","CHECK")', bold, writer.verdict
    )
    writer.book.define_name("all_checks_ok", f"=Checks!$D${at + 2}")
    page.set_column(0, 0, 70)
    page.set_column(1, 4, 20)


def _cell(side: Term, column: str, at: int) -> Term:
    return Term(side.value, lambda t: f"{column}{at + 1}")


def holds(left: Term, right: Term, relation: Relation) -> Condition:
    """Compare both sides, with a relative tolerance of 1e-9.

    Examples
    --------
    >>> one, more = number(1.0), number(1.1)
    >>> [bool(holds(more, one, relation).holds) for relation in Relation]
    [False, False, True]
    >>> holds(one, one, Relation.EQUAL).write(0)
    'ABS(1 - 1) <= 1e-09 * MAX(1, ABS(1))'
    """
    room = TOLERANCE * largest(1, absolute(right))
    match relation:
        case Relation.EQUAL:
            return absolute(left - right) <= room
        case Relation.MOST:
            return left <= right + room
        case Relation.LEAST:
            return left >= right - room


def _identities(calc: Calc) -> Iterator[Check]:
    """Compare the sum of the cash flow groups with the sum of the cost lines."""
    groups = [
        row.cell
        for (name, key), row in calc.rows.items()
        if name.startswith("group ") and key == NOWHERE
    ]
    lines = [
        r.cell for r in calc.cost.rows if r.series is not None and r.unit == "USD" and r.key[2]
    ]
    label = "cash flow groups sum to the cost lines"
    yield label, added(groups), added(lines), Relation.EQUAL


def _limits(calc: Calc) -> Iterator[Check]:
    """Count the quarters in which a live row exceeds a limit of a hall, a site or the budget."""
    for label, since, row, limit in calc.limits:
        until = len(limit.values)
        most = limit.span(since, until) * (1 + number(TOLERANCE)) + TOLERANCE
        above = count_of(row.span(since, until) > most)
        what = f"quarters in which {label} exceeds its limit"
        yield what, above, number(0), Relation.MOST


def _expected(source: Source, places: Mapping[str, Term]) -> Iterator[Check]:
    """Compare live metrics with expectations whose failure is an error."""
    for e in source.result.expectations:
        key = str(e["metric"])
        if e["severity"] != "error" or e["passed"] is None or key not in places:
            continue
        for relation in (Relation.LEAST, Relation.MOST, Relation.EQUAL):
            limit = e.get(relation)
            if isinstance(limit, int | float):
                label = f"expected: {e['id']}: {key} {relation} {limit:g}"
                yield label, places[key], number(limit), relation


def stored(source: Source, places: Mapping[str, Term]) -> Iterator[Check]:
    """Compare each live metric with the plan's value, unless an input is changed."""
    last = INPUT_ROW - 1 + len(source.result.inputs)
    text = f'COUNTIF(Inputs!$J${INPUT_ROW}:$J${last},"changed") > 0'
    changed = Condition(np.array(False), lambda t: text)
    for key, place in places.items():
        stored = number(float(source.result.metrics[key].value or 0.0))
        label = f"{key} equals the plan's value, unless an input is changed"
        yield label, place, when(changed, place, stored), Relation.EQUAL
