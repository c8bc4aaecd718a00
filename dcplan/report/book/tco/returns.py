"""Return and payback of owning over each rent, and break-even as calculators publish it.

The rate of return is ``IRR`` over half-months, since payments fall in the middle of a month and the
value at the end on its last day. A row of present values over many rates counts the returns: with
none or several, a rate of return has no meaning.
"""

from __future__ import annotations

import numpy as np

from dcplan.economics.cash_flow import CAPITAL
from dcplan.economics.discounting import irr
from dcplan.report.book.data.term import Term, added, dot, largest, sum_of, when
from dcplan.report.book.grid import Row
from dcplan.report.book.tco.basis.start import RATES
from dcplan.report.book.tco.book import HALVES, Book
from dcplan.report.book.tco.even import months_ahead
from dcplan.report.book.tco.terms import flag, picked
from dcplan.units import MONTHS_PER_YEAR

PER_YEAR = HALVES * MONTHS_PER_YEAR


def return_sheets(book: Book) -> None:
    """Write the money that owning saves by half-month, its return, and payback and break-even."""
    sheet, axis = book.back, book.source.axis
    times = np.array([float(x) for x in sheet.quarters])
    sheet.heading("Half-months")
    place = np.where(times % 1.0 == 0.5, times + 0.5 - axis.months[0], 0.0)
    place = np.where(place <= len(axis.months), place, 0.0)
    rule = ("", "", "0 at the end of a month")
    at = sheet.frozen("column of the month", rule, "", place, "derived", total=False)
    mark = 1.0 * (times == axis.horizon)
    rule = ("", "", "1 at the end of the horizon")
    end = sheet.frozen("end", rule, "", mark, "derived", total=False)
    steps = np.arange(len(times)) / PER_YEAR
    rule = ("", "", "from the first payment")
    years = sheet.frozen("time", rule, "years", steps, "derived", total=False)
    rule = ("", "", "rates of the search")
    rates = book.rates.frozen("rate", rule, "fraction per year", RATES, "derived", total=False)
    for name in book.rents:
        _return(book, name, (at, end, years, rates))
        _cash(book, name)
        _hours(book, name)


def _return(book: Book, name: str, axes: tuple[Row, Row, Row, Row]) -> None:
    """Write the internal rate of return of owning over a rent, and how many there are."""
    sheet, (at, end, years, rates) = book.back, axes
    sheet.heading(name)
    saved = picked(book.rows[f"{name} flow"], at) - picked(book.rows[f"{book.side} flow"], at)
    rule = (name, "", "rent less owned; at the end residual value less debt owed")
    flow = sheet.line("money saved", rule, "USD", saved - end * book.rows["owned end"].cell)
    worth = np.array(
        [float(flow.values @ (1.0 + r) ** -years.values) for r in rates.values.tolist()]
    )
    label = "present value of the money saved"
    present = book.rates.line(
        label,
        (name, "", "at the rate of the column"),
        "USD",
        Term(
            worth,
            lambda t: (
                f"SUMPRODUCT({flow.span().text()} * "
                f"(1 / (1 + {rates.at(t)})) ^ {years.span().text()})"
            ),
        ),
        total=False,
    )
    rule = (name, "", "1 at or above 0")
    signs = book.rates.line("sign", rule, "", flag(present >= 0), total=False)
    change = Term(
        np.abs(np.diff(signs.values, prepend=signs.values[0])),
        lambda t: f"ABS({signs.at(t)} - {signs.at(t - 1)})" if t else "0",
    )
    rule = (name, "", "1 at the first rate beyond a return")
    changes = book.rates.line("change of sign", rule, "", change, total=False)
    count = sheet.fact("returns", (name, "", "from Rates"), "", sum_of(changes.span()))
    beyond = dot(changes.span(), rates.span())
    found = irr(flow.values, years.values).rate if count.value == 1 else None
    guess = f"(POWER(1 + {beyond.text()}, 1/{PER_YEAR}) - 1)"
    one = Term(
        0.0 if found is None else found,
        lambda t: (
            f"POWER(1 + IFERROR(IRR({flow.span().text()}, {guess}), {guess}), {PER_YEAR}) - 1"
        ),
    )
    rule = (name, "", "IRR of the row above, a year; 0 where there is not exactly one")
    rate = sheet.fact("return of owning", rule, "fraction", _only(count, one))
    book.keep(f"{name} returns", count)
    book.keep(f"{name} irr", rate)


def _only(count: Row, one: Term) -> Term:
    return Term(
        one.value if count.value == 1 else 0.0,
        lambda t: f"IF({count.cell.text()} = 1, {one.text()}, 0)",
    )


def _cash(book: Book, name: str) -> None:
    """Write payback, and the break-even by cash, which also counts payments after the horizon."""
    sheet, even = book.even, book.rows
    sheet.heading(f"{name}: by cash, without discount and resale")
    spent, own = even[f"{name} from today"], even[f"{book.side} from today"]
    lead = sheet.line("cash saved", (name, "", "rent less owned"), "USD", spent - own)
    whole = sheet.line(
        "cash saved so far", (name, "", "rent less owned"), "USD", lead.so_far(), total=False
    )
    rule = (name, "", "by cash, linear inside the month; -1: never")
    months = months_ahead(sheet, name, whole, -1.0)
    book.keep(f"{name} cash months", sheet.fact("break-even by cash", rule, "months", months))
    inside = whole.term()
    for side, sign in ((name, -1.0), (book.side, 1.0)):
        if f"{side} late" in even:
            inside = inside + sign * even[f"{side} late"]
    rule = (name, "", "without payments after the horizon")
    paid = sheet.line("cash saved so far", rule, "USD", inside, total=False)
    rule = (name, "", "without payments after the horizon; -1: never")
    months = months_ahead(sheet, name, paid, -1.0)
    book.keep(f"{name} payback", sheet.fact("payback", rule, "months", months))


def _hours(book: Book, name: str) -> None:
    """Write the clock hours until the saved rent equals the purchase."""
    sheet, rows = book.even, book.rows
    bought = added(row.cell for row, asset in book.capital.items() if asset in CAPITAL)
    tax = rows.get("own income tax")
    owned = added(row.cell for row in book.lines if row is not tax)
    rented = added(row.cell for row in book.rents[name] if row is not rows.get(f"{name} tax"))
    clock = rows["hours"] * float(book.source.axis.horizon)
    saved = (largest(rented, 0) - largest(owned - bought, 0)) / clock
    rule = (name, "", "before tax, undiscounted")
    hourly = sheet.fact("rent less running cost", rule, "USD/h", saved)
    price = sheet.fact("purchase", (name, "", "without sales tax"), "USD", bought)
    found = when(hourly > 0, price / hourly, -1)
    rule = (name, "", "clock hours, before tax; -1: never")
    book.keep(f"{name} hours", sheet.fact("break-even in hours", rule, "h", found))
