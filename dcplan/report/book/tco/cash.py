"""Cash by month of both sides, present values and their sums."""

from __future__ import annotations

from dcplan.report.book.data.term import Term, dot
from dcplan.report.book.grid import Row
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.terms import flag, picked
from dcplan.specs.plan.tco_book import BookTerm


def cash_sheet(book: Book) -> None:
    """Write the cash of each side, cumulative and discounted, and present values by line."""
    _owned(book)
    for name in book.rents:
        _rented(book, name)
    _by_line(book)
    _financing(book)
    _hours(book)


def plan_cash(book: Book) -> None:
    """Write the cash of a plan, which contains its rent, and present values by line."""
    _owned(book)
    _by_line(book)
    _financing(book)


def _owned(book: Book) -> None:
    sheet, key = book.cash, (book.side, "")
    sheet.heading(book.side.capitalize())
    parts = sheet.line(
        "payments", (*key, f"from {book.own.name}"), "USD", book.rows["own cash"].term()
    )
    flow = parts.term()
    borrowed, paid, shield = (
        book.rows.get(name) for name in ("borrowed", "debt payments", "shield")
    )
    if borrowed is not None and paid is not None:
        received = sheet.line("loan received", (*key, "money in"), "USD", -borrowed.term())
        service = sheet.line("debt service", (*key, "from Loan"), "USD", paid.term())
        flow = flow + received + service
    if shield is not None:
        saved = book.rows["year end"] * picked(shield, book.rows["year"])
        rule = (*key, "last month of the year; from Tax")
        row = sheet.line("income tax saved by interest", rule, "USD", -saved)
        flow = flow + book.keep("saved by interest", row)
    cash = _flow(book, book.side, flow)
    left = -book.rows["end"].term()
    owed = book.rows.get("owed")
    rule = (*key, "debt owed less residual value")
    end = sheet.fact("end of the horizon", rule, "USD", left + owed if owed is not None else left)
    book.keep("owned end", end)
    worth = dot(cash.span(), book.rows["factor"].span()) + end * book.rows["end factor"]
    book.keep("owned npv", sheet.fact("present cost of owning", (*key, ""), "USD", worth))


def _financing(book: Book) -> None:
    """Write the present value of the debt, and of the tax that its interest saves."""
    sheet, key = book.cash, (book.side, "")
    borrowed, paid, owed = (book.rows.get(x) for x in ("borrowed", "debt payments", "owed"))
    saved = book.rows.get("saved by interest")
    factor = book.rows["factor"].span()
    if borrowed is not None and paid is not None and owed is not None:
        worth = dot(paid.span(), factor) - dot(borrowed.span(), factor)
        worth = worth + owed * book.rows["end factor"]
        rule = (*key, "part of the cash of owning")
        _value(book, sheet.fact("present value of the debt", rule, "USD", worth))
    if saved is not None:
        rule = (*key, "part of the cash of owning; money in")
        worth = dot(saved.span(), factor)
        label = "present value of the income tax saved by interest"
        _value(book, sheet.fact(label, rule, "USD", worth))


def _rented(book: Book, name: str) -> None:
    sheet = book.cash
    sheet.heading(name)
    cash = _flow(book, name, book.rows[f"{name} cash"].term())
    worth = dot(cash.span(), book.rows["factor"].span())
    book.keep(f"{name} npv", sheet.fact("present cost of renting", (name, "", ""), "USD", worth))


def _flow(book: Book, name: str, flow: Term) -> Row:
    """Write the cash of a side, its running sum and its present value by month."""
    sheet, key = book.cash, (name, "", "")
    cash = book.keep(f"{name} flow", sheet.line("cash out", key, "USD", flow))
    sheet.line("cumulative", key, "USD", cash.so_far(), total=False)
    sheet.line("present value", key, "USD", cash * book.rows["factor"])
    return cash


def _hours(book: Book) -> None:
    """Write the discounted accelerator-hours in use, the base of the cost of an hour."""
    sheet = book.cash
    sheet.heading("Work")
    n, used = (
        book.rows[f"{book.rent.name} {name}"]
        for name in (BookTerm.ACCELERATORS, BookTerm.UTILIZATION)
    )
    factors = dot(book.rows["factor"].span(), flag(book.rows["quarter"].span() > 0))
    hours = n * used * book.rows["hours"] * factors
    rule = ("", "", "discounted")
    book.keep("used hours", sheet.fact("accelerator-hours in use", rule, "h", hours))


def _by_line(book: Book) -> None:
    """Write the present value of every line of each side."""
    sheet, factor = book.cash, book.rows["factor"].span()
    sheet.heading("Present value by line, after tax and before debt")
    for row in book.lines:
        fact = sheet.fact(row.label, (book.side, row.key[1], ""), "USD", dot(row.span(), factor))
        _value(book, fact)
    for row in book.ends.values():
        worth = -row.cell * book.rows["end factor"]
        fact = sheet.fact(row.label, (book.side, "", "money in"), "USD", worth)
        _value(book, fact)
    for name, rows in book.rents.items():
        for row in rows:
            fact = sheet.fact(row.label, (name, "", ""), "USD", dot(row.span(), factor))
            _value(book, fact)


def _value(book: Book, fact: Row) -> None:
    """Remember a present value under its side and line."""
    book.values.setdefault((fact.key[0], fact.label), []).append(fact)
