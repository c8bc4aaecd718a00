"""The rented sides by month: paid hours at their price, and the accompanying costs."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from dcplan.report.book.data.term import Term, absolute, dot, number, power, when
from dcplan.report.book.grid import Row, total
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.tax import rent_tax
from dcplan.report.book.tco.terms import flag, rounded_up, smallest
from dcplan.specs.plan.tco_book import BookTerm, HoursRow, Paid, RentRow
from dcplan.units import DAYS_PER_MONTH, GB_PER_TB, HOURS_PER_MONTH, QUARTERS_PER_YEAR, TB_PER_PB

PER_HOUR = "per accelerator and hour"


def rent_sheet(book: Book) -> None:
    """Write the terms of all rents, then the lines of each rent."""
    sheet = book.rent
    sheet.heading("Work")
    for name in (
        BookTerm.ACCELERATORS,
        BookTerm.UTILIZATION,
        BookTerm.STORAGE,
        BookTerm.EGRESS,
        BookTerm.PRICE_CHANGE,
        BookTerm.CPU_NODES,
        BookTerm.NETWORK,
        BookTerm.SET_UP,
        BookTerm.DEBUGGING,
        BookTerm.LOST_RENTED,
    ):
        book.term(sheet, name)
    hours = sheet.fact("hours of a month", ("", "", ""), "h", HOURS_PER_MONTH)
    book.keep("hours", hours)
    used = book.rows[f"{sheet.name} {BookTerm.UTILIZATION}"]
    days = smallest(rounded_up(used * DAYS_PER_MONTH) / DAYS_PER_MONTH, 1)
    if any(row.paid == Paid.DAYS for rows in book.source.hours.values() for row in rows):
        book.keep("days", sheet.fact("hours of complete days", ("", "", ""), "fraction", days))
    for rent in book.source.rents:
        _rent(book, rent)


def _work(book: Book, name: BookTerm) -> Row:
    return book.rows[f"{book.rent.name} {name}"]


def _rent(book: Book, rent: RentRow) -> None:
    """Write one rent."""
    sheet, name = book.rent, rent.rent
    sheet.heading(name)
    n, inside = _work(book, BookTerm.ACCELERATORS), book.inside
    price, share = _hours(book, rent)
    rows = [
        sheet.line(
            "accelerators",
            (name, "", "accelerators x hours x share x price"),
            "USD",
            n * book.rows["hours"] * share * price,
        )
    ]
    paid = book.keep(f"{name} accelerators", rows[0])
    if rent.interruptions_frac is not None:
        rule = (name, "", "lost work and restarts, fixed for this size of job")
        extra = sheet.fact("paid over useful hours less 1", rule, "", rent.interruptions_frac)
        rule = (name, "", "share x rent")
        rows.append(sheet.line("spot interruptions", rule, "USD", extra * paid))
    by_use = list(rows)
    rows += [
        sheet.line(label, (name, "", rule), "USD", inside * each)
        for label, rule, each in _monthly(book, rent)
    ]
    fee = (
        _fact(book, rent, "support fee", rent.support_input, "fraction")
        if rent.support_input
        else None
    )
    if fee is not None:
        rows.append(sheet.line("support", (name, "", "fee x bill"), "USD", fee * total(rows)))
    loss = _work(book, BookTerm.LOST_RENTED)
    rule = (name, "", "share x rent of accelerators")
    lost = sheet.line("goodput loss", rule, "USD", inside * loss * paid)
    rows.append(lost)
    first = flag(absolute(book.rows["month"]) <= 0)
    setup = n * _work(book, BookTerm.SET_UP) * first
    rows.append(sheet.line("set-up", (name, "", "once, in the first month"), "USD", setup))
    person = inside * _work(book, BookTerm.DEBUGGING)
    rows.append(sheet.line("debugging", (name, "", "each month"), "USD", person))
    book.rents[name] = list(rows)
    tax = rent_tax(book, name)
    rows += [book.keep(f"{name} tax", tax)] if tax is not None else []
    book.rents[name] = rows
    rule = (name, "", "after tax")
    book.keep(f"{name} cash", sheet.line("cost of renting", rule, "USD", total(rows)))
    bill = total(by_use) * (1 + fee) if fee is not None else total(by_use)
    rule = (name, "", "before tax: accelerators and spot with support, goodput loss")
    hourly = sheet.line("memo: cost that follows the hours paid", rule, "USD", bill + lost)
    book.keep(f"{name} hourly", hourly)


def _fact(book: Book, rent: RentRow, label: str, key: str, unit: str) -> Row:
    """Write an input of one rent."""
    return book.rent.fact(label, (rent.rent, "", f"input {key}"), unit, book.source.input(key))


def _monthly(book: Book, rent: RentRow) -> list[tuple[str, str, Term]]:
    """Return label, rule and amount of the costs that are equal in all months."""
    n = _work(book, BookTerm.ACCELERATORS)
    stored = _fact(book, rent, "price of storage", rent.storage_input, "USD/TB/month")
    kept = _work(book, BookTerm.STORAGE) * TB_PER_PB * stored
    network = n * _work(book, BookTerm.NETWORK)
    if rent.egress_input:
        each = _fact(book, rent, "egress price", rent.egress_input, "USD/GB")
        network = network + _work(book, BookTerm.EGRESS) * GB_PER_TB * each
    return [
        ("storage", "PB x 1,000 x price", kept),
        ("network and egress", "accelerators x price + egress", network),
        ("CPU nodes", "accelerators x price", n * _work(book, BookTerm.CPU_NODES)),
    ]


def _hours(book: Book, rent: RentRow) -> tuple[Row, Row]:
    """Write the hourly price of an accelerator and the share of the hours paid, by month."""
    sheet, name = book.rent, rent.rent
    rule = (name, "", f"fixed by the offer {rent.offer}")
    node = sheet.fact("accelerators of an instance", rule, "", rent.node_accelerators)
    ways: dict[int, list[HoursRow]] = defaultdict(list)
    for row in book.source.hours[name]:
        ways[row.way].append(row)
    found = [_way(book, rent, rows, node) for rows in ways.values()]
    if len(found) == 1:
        return found[0]
    costs = []
    for way, (price, share) in enumerate(found, start=1):
        rule = (name, "", f"way {way} to pay the horizon, of one accelerator")
        spent = dot(price.span(), share.span())
        costs.append(sheet.fact("sum of prices paid", rule, "USD/h", spent))
    best = costs[0].cell
    for each in costs[1:]:
        best = smallest(best, each)
    chosen: Term = number(float(len(costs)))
    for way in range(len(costs) - 1, 0, -1):
        chosen = when(costs[way - 1] <= best, way, chosen)
    pick = sheet.fact("way chosen", (name, "", "the cheapest"), "", chosen)
    hourly, paid = (_chosen(pick, [pair[i] for pair in found]) for i in (0, 1))
    return (
        sheet.line("price of an hour", (name, "", PER_HOUR), "USD/h", hourly, total=False),
        sheet.line("share of the hours paid", (name, "", ""), "fraction", paid, total=False),
    )


def _chosen(pick: Row, rows: list[Row]) -> Term:
    """Return the row of the chosen way."""
    term = rows[-1].term()
    for way in range(len(rows) - 1, 0, -1):
        term = when(pick <= way, rows[way - 1], term)
    return term


def _way(book: Book, rent: RentRow, hours: list[HoursRow], node: Row) -> tuple[Row, Row]:
    """Write price and share of the hours of one way to pay the horizon."""
    sheet, name = book.rent, rent.rent
    months = [
        next((row for row in hours if row.first_month <= month <= row.last_month), None)
        for month in book.source.axis.months
    ]
    keys = list(dict.fromkeys(row.price_input for row in months if row is not None))
    price = {key: _fact(book, rent, "price of an instance", key, "USD/h") for key in keys}
    quarters = np.array([float(row.price_quarter) if row else 0.0 for row in months])
    rule = (name, "", "quarter, from 0, whose price applies; fixed")
    quarter = sheet.frozen("price of quarter", rule, "", quarters, "derived", total=False)
    at = [price[row.price_input if row else keys[0]] for row in months]
    each = Term(np.array([row.value for row in at]), lambda t: at[t].cell.text())
    term = each / node
    change = book.rows.get(f"{sheet.name} {BookTerm.PRICE_CHANGE}")
    if change is not None:
        term = term * power(1 + change, quarter / QUARTERS_PER_YEAR)
    hourly = sheet.line("price of an hour", (name, "", PER_HOUR), "USD/h", term, total=False)
    parts = {Paid.USED.value: _work(book, BookTerm.UTILIZATION).cell, Paid.ALL.value: number(1.0)}
    if "days" in book.rows:
        parts[Paid.DAYS.value] = book.rows["days"].cell
    cells = [parts[str(row.paid)] if row else number(0.0) for row in months]
    share = Term(np.array([x.value for x in cells]), lambda t: cells[t].text())
    rule = (name, "", "used hours, or 1 under a commitment; fixed by month")
    paid = sheet.line("share of the hours paid", rule, "fraction", share, total=False)
    return hourly, paid
