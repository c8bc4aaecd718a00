"""The loan by month: amounts borrowed, level payments, interest, balance."""

from __future__ import annotations

import numpy as np

from dcplan.economics.cash_flow import CAPITAL
from dcplan.report.book.data.term import Term, dot, largest, power, when
from dcplan.report.book.grid import Row, total
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.terms import before, flag, rounded
from dcplan.specs.plan.tco_book import BookTerm
from dcplan.units import MONTHS_PER_YEAR

NOT_GIVEN = "No loan. Run dcplan again with finance.debt: {share, rate, term_years}."


def loan_sheet(book: Book) -> None:
    """Write the loan on a share of each month's capital, if the scenario has one."""
    sheet = book.loan
    share, rate = book.term(sheet, BookTerm.DEBT_SHARE), book.term(sheet, BookTerm.DEBT_RATE)
    years = book.term(sheet, BookTerm.DEBT_YEARS)
    if share is None or rate is None or years is None:
        sheet.heading(NOT_GIVEN)
        return
    each = sheet.fact("rate of a month", ("", "", "nominal"), "", rate / MONTHS_PER_YEAR)
    term = sheet.fact(
        "payments", ("", "", ""), "months", largest(rounded(years * MONTHS_PER_YEAR), 1)
    )
    level = when(each > 0, each / (1 - power(1 + each, -term)), 1 / term.term())
    factor = sheet.fact("level payment of 1 USD", ("", "", "annuity"), "", level)
    sheet.heading("Schedule")
    lines = [row for row, asset in book.capital.items() if asset in CAPITAL]
    capital = sheet.line("capital", (book.side, "", "without sales tax"), "USD", total(lines))
    amount = sheet.line(
        "borrowed", (book.side, "", "in the month of payment"), "USD", share * largest(capital, 0)
    )
    borrowed = book.keep("borrowed", amount)
    paid = book.keep("debt payments", _payments(book, borrowed, term, factor))
    _balances(book, borrowed, paid, each)


def _payments(book: Book, borrowed: Row, term: Row, factor: Row) -> Row:
    """Write the level payments from the month after each payout, to the end of its term."""
    months, month = book.rows["month"], book.rows["month"]
    inside, span = book.inside, months.span()
    texts, values = [], []
    for t, now in enumerate(months.values):
        here = Term(float(now), lambda _, t=t: month.at(t))  # type: ignore[misc]
        due = dot(borrowed.span(), flag(here > span) * flag(here <= span + term))
        texts.append(due.text())
        values.append(due.value)
    owing = Term(np.array(values), lambda t: texts[t])
    rule = (book.side, "", "from the month after")
    return book.loan.line("payments", rule, "USD", inside * owing * factor)


def _balances(book: Book, borrowed: Row, paid: Row, each: Row) -> None:
    """Write interest and balance, each from the balance of the month before."""
    sheet, n = book.loan, len(borrowed.values)
    interest, balance = np.zeros(n), np.zeros(n)
    inside = book.source.axis.inside
    last = 0.0
    for t in range(n):
        interest[t] = inside[t] * last * each.value
        last = last + borrowed.values[t] + interest[t] - paid.values[t]
        balance[t] = last
    rule = (book.side, "", "")
    cost = sheet.line(
        "interest", (book.side, "", "rate x balance before"), "USD", Term(interest, str)
    )
    left = sheet.line("balance", rule, "USD", Term(balance, str), total=False)
    cost.formula = book.inside * before(left) * each
    left.formula = before(left) + borrowed + cost - paid
    book.keep("interest", cost)
    book.keep("balance", left)
    axis = book.source.axis
    at = int(np.flatnonzero(axis.months == axis.horizon - 1)[0])
    final = Term(float(balance[at]), lambda t: left.at(at))
    owed = final * power(1 + each, 0.5)
    rule = (book.side, "", "half a month after the last payment")
    book.keep("owed", sheet.fact("owed at the end of the horizon", rule, "USD", owed))
