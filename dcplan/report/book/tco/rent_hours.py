"""Rent of accelerators by month: the parts of a mix, the ways to pay them, and commitments upfront."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from dcplan.answers.tco.rented import ACCELERATORS
from dcplan.report.book.data.term import (
    Operand,
    Term,
    added,
    dot,
    largest,
    number,
    power,
    smallest,
    sum_of,
    when,
)
from dcplan.report.book.grid import Row
from dcplan.report.book.tco.book import Book
from dcplan.specs.plan.tco_book import BookTerm, HoursRow, Paid, PartRow, RentRow
from dcplan.units import QUARTERS_PER_YEAR

PER_HOUR = "per accelerator and hour"


def input_fact(book: Book, rent: RentRow, label: str, key: str, unit: str) -> Row:
    """Write an input of one rent."""
    return book.rent.fact(label, (rent.rent, "", f"input {key}"), unit, book.source.input(key))


def rented_accelerators(book: Book, rent: RentRow) -> tuple[Row, Row]:
    """Write the rent of the fleet's accelerators, and the part of it that follows use.

    A term without use has all of its rent in the second one, too.
    """
    sheet, name = book.rent, rent.rent
    rule = (name, "", f"fixed by the offer {rent.offer}")
    node = sheet.fact("accelerators of an instance", rule, "", rent.node_accelerators)
    count = book.rows[f"{sheet.name} {BookTerm.ACCELERATORS}"] * book.rows["hours"]
    parts = book.source.parts(name)
    if len(parts) == 1 and parts[0].share_input is None:
        due = _part(book, rent, parts[0], node)
        rule = (name, "", "accelerators x hours x share x price")
        paid = sheet.line(ACCELERATORS.label, rule, "USD", count * due)
        return book.keep(f"{name} accelerators", paid), paid
    shares: list[Row] = []
    rows: list[Row] = []
    for part in parts:
        if part.share_input:
            shares.append(
                input_fact(book, rent, f"share of {part.part}", part.share_input, "fraction")
            )
        else:
            rest = largest(1 - added(shares), 0)
            rule = (name, "", "the rest of the mix")
            shares.append(sheet.fact(f"share of {part.part}", rule, "fraction", rest))
        due = _part(book, rent, part, node)
        rule = (name, part.part, "accelerators x hours x share of the mix x price")
        label = f"rent on {part.part}"
        rows.append(sheet.line(label, rule, "USD", count * shares[-1] * due))
    paid = sheet.line(ACCELERATORS.label, (name, "", "all terms of the mix"), "USD", added(rows))
    by_use = [row for row, part in zip(rows, parts, strict=True) if not part.months]
    return book.keep(f"{name} accelerators", paid), by_use[0] if by_use else paid


def _part(book: Book, rent: RentRow, part: PartRow, node: Row) -> Operand:
    """Write the rent of an accelerator and hour on one term by month; return it."""
    key = (rent.rent, part.part if rent.term != part.part else "")
    ways: dict[int, list[HoursRow]] = defaultdict(list)
    for row in book.source.hours[rent.rent, part.part]:
        ways[row.way].append(row)
    found = [_way(book, rent, key, rows, node) for rows in ways.values()]
    first = _upfront(book, rent, part)
    pick = _pick(book, key, found) if len(found) > 1 else None
    if first is None:
        return _hours(book, key, found, pick)
    due = [
        _due(book, key, share * price, rows, part, first)
        for rows, (price, share) in zip(ways.values(), found, strict=True)
    ]
    if pick is None:
        return due[0]
    return book.rent.line("rent due", (*key, PER_HOUR), "USD/h", _chosen(pick, due), total=False)


def _hours(
    book: Book, key: tuple[str, str], found: list[tuple[Row, Row]], pick: Row | None
) -> Term:
    """Return price times share of the hours, of the chosen way."""
    if pick is None:
        ((price, share),) = found
        return share * price
    hourly, paid = (_chosen(pick, [pair[i] for pair in found]) for i in (0, 1))
    price = book.rent.line("price of an hour", (*key, PER_HOUR), "USD/h", hourly, total=False)
    share = book.rent.line("share of the hours paid", (*key, ""), "fraction", paid, total=False)
    return share * price


def _pick(book: Book, key: tuple[str, str], found: list[tuple[Row, Row]]) -> Row:
    """Write what each way to pay the horizon costs, and the number of the cheapest."""
    costs = []
    for way, (price, share) in enumerate(found, start=1):
        rule = (*key, f"way {way} to pay the horizon, of one accelerator")
        spent = dot(price.span(), share.span())
        costs.append(book.rent.fact("sum of prices paid", rule, "USD/h", spent))
    best = smallest(*costs)
    chosen: Term = number(float(len(costs)))
    for way in range(len(costs) - 1, 0, -1):
        chosen = when(costs[way - 1] <= best, way, chosen)
    return book.rent.fact("way chosen", (*key, "the cheapest"), "", chosen)


def _chosen(pick: Row, rows: list[Row]) -> Term:
    """Return the row of the chosen way."""
    term = rows[-1].term()
    for way in range(len(rows) - 1, 0, -1):
        term = when(pick <= way, rows[way - 1], term)
    return term


def _upfront(book: Book, rent: RentRow, part: PartRow) -> Row | None:
    """Write the share of a commitment's payments that is due at its start; None where none is."""
    if part.upfront_input is None:
        return None
    upfront = book.source.input(part.upfront_input)
    later = book.source.input(part.monthly_input) if part.monthly_input else number(0.0)
    share = upfront / (upfront + later * float(part.months))
    rule = (rent.rent, part.part, f"input {part.upfront_input}")
    return book.rent.fact("share due at the start", rule, "fraction", share)


def _due(
    book: Book, key: tuple[str, str], paid: Term, rows: list[HoursRow], part: PartRow, first: Row
) -> Row:
    """Write the rent of an accelerator and hour with what each commitment pays at its start.

    The months of a commitment keep the rest; those on another term are due as they come.
    """
    sheet = book.rent
    own = {
        month
        for row in rows
        if row.own_term
        for month in range(row.first_month, row.last_month + 1)
    }
    spent = sheet.line("rent of the hours", (*key, PER_HOUR), "USD/h", paid, total=False)
    values, texts = [], []
    for t, month in enumerate(int(m) for m in book.source.axis.months):
        here = Term(float(spent.values[t]), lambda _, t=t: spent.at(t))  # type: ignore[misc]
        term = here if month not in own else here * (1 - first)
        if month in own and month % part.months == 0:
            term = term + first * sum_of(spent.span(t, t + part.months))
        values.append(term.value)
        texts.append(term.text())
    rule = (*key, "with what is due at the start of each commitment")
    due = Term(np.array(values), lambda t: texts[t])
    return sheet.line("rent due", rule, "USD/h", due, total=False)


def _way(
    book: Book, rent: RentRow, key: tuple[str, str], hours: list[HoursRow], node: Row
) -> tuple[Row, Row]:
    """Write price and share of the hours of one way to pay the horizon."""
    sheet = book.rent
    months = [
        next((row for row in hours if row.first_month <= month <= row.last_month), None)
        for month in book.source.axis.months
    ]
    keys = list(dict.fromkeys(row.price_input for row in months if row is not None))
    price = {x: input_fact(book, rent, "price of an instance", x, "USD/h") for x in keys}
    quarters = np.array([float(row.price_quarter) if row else 0.0 for row in months])
    rule = (*key, "quarter, from 0, whose price applies; fixed")
    quarter = sheet.frozen("price of quarter", rule, "", quarters, "derived", total=False)
    at = [price[row.price_input if row else keys[0]] for row in months]
    each = Term(np.array([row.value for row in at]), lambda t: at[t].cell.text())
    term = each / node
    change = book.rows.get(f"{sheet.name} {BookTerm.PRICE_CHANGE}")
    if change is not None:
        term = term * power(1 + change, quarter / QUARTERS_PER_YEAR)
    hourly = sheet.line("price of an hour", (*key, PER_HOUR), "USD/h", term, total=False)
    used = book.rows[f"{sheet.name} {BookTerm.UTILIZATION}"]
    parts = {Paid.USED.value: used.cell, Paid.ALL.value: number(1.0)}
    if "days" in book.rows:
        parts[Paid.DAYS.value] = book.rows["days"].cell
    cells = [parts[str(row.paid)] if row else number(0.0) for row in months]
    share = Term(np.array([x.value for x in cells]), lambda t: cells[t].text())
    rule = (*key, "used hours, or 1 under a commitment; fixed by month")
    paid = sheet.line("share of the hours paid", rule, "fraction", share, total=False)
    return hourly, paid
