"""The rented sides by month: paid hours at their price, and the accompanying costs."""

from __future__ import annotations

from dcplan.answers.tco import rented
from dcplan.answers.tco.conventions import RENTED
from dcplan.economics.monthly.side import GOODPUT_LOSS
from dcplan.report.book.data.term import Term, absolute, number, smallest
from dcplan.report.book.grid import Row, total
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.rent_hours import input_fact, rented_accelerators
from dcplan.report.book.tco.tax import rent_tax
from dcplan.report.book.tco.terms import flag, rounded_up
from dcplan.specs.plan.tco_book import BookTerm, Paid, RentRow
from dcplan.units import DAYS_PER_MONTH, GB_PER_TB, HOURS_PER_MONTH, TB_PER_PB

RENT_SIDE = RENTED.removesuffix(".")
ACCELERATORS, SPOT_LOSS = rented.ACCELERATORS.label, rented.SPOT_LOSS.label
STORAGE, NETWORK, CPU_NODES = (
    line.label for line in (rented.STORAGE, rented.NETWORK, rented.CPU_NODES)
)
SET_UP, DEBUGGING = rented.SET_UP.label, rented.DEBUGGING.label
LOST = GOODPUT_LOSS.label


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
    hours = book.term(sheet, BookTerm.MONTH_HOURS)
    if hours is None:  # an earlier result
        hours = sheet.fact("hours of a month", ("", "", ""), "h", HOURS_PER_MONTH)
    book.keep("hours", hours)
    used = _work(book, BookTerm.UTILIZATION)
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
    paid, used = rented_accelerators(book, rent)
    by_use, per_use = _by_hours(book, rent, paid)
    rows = [row for row in by_use if _counts(book, row.label)]
    rows += [
        sheet.line(label, (name, "", rule), "USD", book.inside * each)
        for label, rule, each in _monthly(book, rent)
    ]
    fee = (
        input_fact(book, rent, "support fee", rent.support_input, "fraction")
        if rent.support_input
        else None
    )
    if fee is not None:
        rows.append(sheet.line("support", (name, "", "fee x bill"), "USD", fee * total(rows)))
        per_use = per_use * (1 + fee)
    if _counts(book, LOST):
        loss = _quoted(book, rent, LOST, rent.goodput_loss_input, BookTerm.LOST_RENTED)
        rule = (name, "", "share x rent of accelerators")
        rows.append(sheet.line(LOST, rule, "USD", book.inside * loss * paid))
        per_use = per_use + loss
    rows += _once_and_people(book, rent)
    book.rents[name] = list(rows)
    tax = rent_tax(book, name)
    rows += [book.keep(f"{name} tax", tax)] if tax is not None else []
    book.rents[name] = rows
    rule = (name, "", "after tax")
    book.keep(f"{name} cash", sheet.line("cost of renting", rule, "USD", total(rows)))
    rule = (name, "", "before tax: accelerators and spot with support, goodput loss")
    hourly = sheet.line("memo: cost that follows the hours paid", rule, "USD", used * per_use)
    book.keep(f"{name} hourly", hourly)


def _counts(book: Book, line: str) -> bool:
    """Return whether a line of the rented side counts."""
    return book.source.conventions.counts(RENT_SIDE, line)


def _by_hours(book: Book, rent: RentRow, paid: Row) -> tuple[list[Row], Term]:
    """Write what follows the hours paid; return it with its share of the rent of accelerators."""
    sheet, name = book.rent, rent.rent
    per_use = number(1.0 if _counts(book, ACCELERATORS) else 0.0)
    if rent.interruptions_frac is None:
        return [paid], per_use
    rule = (name, "", "lost work and restarts, fixed for this size of job")
    extra = sheet.fact("paid over useful hours less 1", rule, "", rent.interruptions_frac)
    row = sheet.line(SPOT_LOSS, (name, "", "share x rent"), "USD", extra * paid)
    return [paid, row], per_use + extra if _counts(book, SPOT_LOSS) else per_use


def _once_and_people(book: Book, rent: RentRow) -> list[Row]:
    """Write set-up in the first month, and debugging."""
    sheet, name, rows = book.rent, rent.rent, []
    if _counts(book, SET_UP):
        first = flag(absolute(book.rows["month"]) <= 0)
        each = _of_fleet(book, rent, SET_UP, rent.set_up_input, BookTerm.SET_UP)
        rule = (name, "", "once, in the first month")
        rows.append(sheet.line(SET_UP, rule, "USD", each * first))
    if _counts(book, DEBUGGING):
        each = _quoted(book, rent, DEBUGGING, rent.debugging_input, BookTerm.DEBUGGING).term()
        rows.append(sheet.line(DEBUGGING, (name, "", "each month"), "USD", book.inside * each))
    return rows


def _quoted(book: Book, rent: RentRow, label: str, key: str | None, usual: BookTerm) -> Row:
    """Return a value of the quote, or the usual one."""
    return input_fact(book, rent, f"quote of {label}", key, "") if key else _work(book, usual)


def _of_fleet(book: Book, rent: RentRow, label: str, key: str | None, usual: BookTerm) -> Term:
    """Return an amount of the quote for the fleet, or the usual price of each accelerator."""
    if key:
        return input_fact(book, rent, f"quote of {label}", key, "USD").term()
    return _work(book, BookTerm.ACCELERATORS) * _work(book, usual)


def _monthly(book: Book, rent: RentRow) -> list[tuple[str, str, Term]]:
    """Return label, rule and amount of the costs that are equal in all months."""
    found = []
    if rent.storage_input:
        unit = "USD/month" if rent.storage_quoted else "USD/TB/month"
        stored = input_fact(book, rent, "price of storage", rent.storage_input, unit)
        kept = _work(book, BookTerm.STORAGE) * TB_PER_PB * stored
        rule = "quote" if rent.storage_quoted else "PB x 1,000 x price"
        found.append((STORAGE, rule, stored.term() if rent.storage_quoted else kept))
    if _counts(book, NETWORK):
        network = _of_fleet(book, rent, "network", rent.network_input, BookTerm.NETWORK)
        if rent.egress_input:
            each = input_fact(book, rent, "egress price", rent.egress_input, "USD/GB")
            network = network + _work(book, BookTerm.EGRESS) * GB_PER_TB * each
        rule = "quote" if rent.network_input else "accelerators x price + egress"
        found.append((NETWORK, rule, network))
    if _counts(book, CPU_NODES):
        nodes = _of_fleet(book, rent, CPU_NODES, rent.cpu_nodes_input, BookTerm.CPU_NODES)
        rule = "quote" if rent.cpu_nodes_input else "accelerators x price"
        found.append((CPU_NODES, rule, nodes))
    return found
