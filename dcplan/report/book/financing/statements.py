"""The three statements by month: result, cash and balance sheet, with the row that checks them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.economics.cash_flow import AssetClass
from dcplan.report.book.checks import Check, Relation
from dcplan.report.book.data.term import Operand, Term, absolute, added, number, peak_of, sum_of
from dcplan.report.book.grid import Row, total
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.depreciation import life_of_class, straight
from dcplan.report.book.tco.terms import before, to_digits
from dcplan.specs.plan.tco_book import BookTerm

DIGITS = 4
"""Decimals of a USD in the check of the balance."""
DIFFERENCE = "balance difference"
OPENING, SOLD = "earlier at the start", "earlier sold"


@dataclass
class _Sheet:
    """The statements under construction."""

    book: Book
    last: Row
    """1 in the last month of the horizon, in which all is sold and debt is paid back."""
    held: Row
    """1 in the months before it."""

    def line(self, label: str, rule: str, term: Operand, *, total: bool = True) -> Row:
        """Write one line by month."""
        return self.book.statements.line(
            label, (self.book.side, "", rule), "USD", term, total=total
        )

    def of(self, *names: str) -> Term:
        """Return the sum of the rows that the answer has; 0 without any."""
        found = (self.book.rows.get(name) for name in names)
        return added(row for row in found if row is not None)


@dataclass(frozen=True)
class _Result:
    """Lines of the result that the balance sheet needs."""

    operating: Row
    sales: Row
    expense: Row
    result: Row


def statements_sheet(book: Book) -> None:
    """Write result, cash and balance sheet of a side, from its payments, loan and taxes."""
    sheet, axis = book.statements, book.source.axis
    at_end = np.where(axis.months == axis.horizon - 1, 1.0, 0.0)
    so_far = np.where(axis.months < axis.horizon - 1, 1.0, 0.0)
    key = (book.side, "", "calendar")
    made = _Sheet(
        book,
        sheet.frozen("last month of the horizon", key, "", at_end, "derived", total=False),
        sheet.frozen("months before it", key, "", so_far, "derived", total=False),
    )
    charge, value = _book_value(made)
    result = _result(made, charge, value)
    contributed = _cash(made, result)
    _balance(made, value, result, contributed)


def _book_value(made: _Sheet) -> tuple[Row, Row]:
    """Write depreciation and book value of each class; return their sums, before the sale."""
    book, month = made.book, made.book.rows["month"]
    sheet = book.statements
    sheet.heading("Book value, straight line from the month of payment on")
    charges, values = [], []
    for asset in dict.fromkeys(book.basis.values()):
        lines = [row for row, known in book.basis.items() if known is asset]
        if asset is AssetClass.LAND:
            paid = sheet.line("purchases", (book.side, asset.value, ""), "USD", total(lines))
            left = paid.so_far() * book.inside
        else:
            life = life_of_class(book, sheet, asset)
            left = straight(book, lines, month + 1, life, at_once=False) * book.inside
        key = (book.side, asset.value, "at the end of the month, before the sale")
        value = sheet.line(f"book value of {asset.value}", key, "USD", left, total=False)
        key = (book.side, asset.value, "value before, plus purchases, less value")
        cost = (before(value) + total(lines) - value) * book.inside
        charges.append(sheet.line(f"depreciation of {asset.value}", key, "USD", cost))
        values.append(value)
    if book.source.earlier:
        charge, value = _earlier(made)
        charges.append(charge)
        values.append(value)
    charge = made.line("book depreciation", "all classes", added(charges))
    return charge, made.line(
        "book value", "all classes, before the sale", added(values), total=False
    )


def _earlier(made: _Sheet) -> tuple[Row, Row]:
    """Write depreciation and book value of hardware in service before the plan, as planned."""
    book, sheet, found = made.book, made.book.statements, made.book.source.earlier
    months = book.source.axis.months
    opening = found[0].value_usd + found[0].charge_usd + found[0].sold_value_usd
    at = {row.month: row for row in found}

    def frozen(label: str, name: str, before: float, *, total: bool) -> Row:
        values = [
            getattr(at[int(m)], name) if int(m) in at else before if m < 0 else 0.0 for m in months
        ]
        key = (book.side, "existing", "as planned")
        return sheet.frozen(label, key, "USD", np.array(values), "derived", total=total)

    key = (book.side, "existing", "as planned")
    book.keep(OPENING, sheet.fact("earlier hardware at the start", key, "USD", opening))
    book.keep(
        SOLD, frozen("book value of earlier hardware sold", "sold_value_usd", 0.0, total=True)
    )
    value = frozen("book value of earlier hardware", "value_usd", opening, total=False)
    return frozen("depreciation of earlier hardware", "charge_usd", 0.0, total=True), value


def _result(made: _Sheet, charge: Row, value: Row) -> _Result:
    """Write the result after income tax."""
    book = made.book
    book.statements.heading("Result")
    rule = "all lines but capital, sales, milestones and income tax"
    sales = [row for row in book.running if row.key[1] == AssetClass.DISPOSAL]
    paid = [row for row in book.running if row not in sales]
    operating = made.line("operating cost", rule, total(paid))
    made.line("depreciation", "from above", charge)
    interest = made.line("interest", f"from {book.loan.name}", made.of("interest"))
    late = number(0.0)
    owed, balance = book.rows.get("owed"), book.rows.get("balance")
    if owed is not None and balance is not None:
        late = made.last * (owed - balance)
    due = made.line("interest of the last half-month", "not deducted from taxable income", late)
    residual = made.line("sale at the end", "residual value", made.last * book.rows["residual"])
    rule = "hardware in service before the plan"
    early = made.line("sale of earlier hardware", rule, -total(sales))
    worth = residual + early - made.last * value - made.of(SOLD)
    if book.lost:
        worth = worth - total(book.lost)
    rule = "sales less book value, and advances of canceled orders"
    gain = made.line("gain on sales", rule, worth)
    rate = book.rows.get(f"{book.tax.name} {BookTerm.INCOME_TAX}")
    taxed = gain - operating - charge - interest
    borne = number(0.0) if rate is None else rate * taxed
    expense = made.line("income tax on the result", "rate x result before tax", borne)
    result = made.line("result after tax", "negative: a loss", taxed - due - expense)
    residual = made.line("sales", "both", residual + early)
    return _Result(operating, residual, expense, result)


def _cash(made: _Sheet, result: _Result) -> Row:
    """Write the payments, and what owners pay in."""
    book = made.book
    book.statements.heading("Cash")
    made.line("operating cost paid", "as in the result", result.operating)
    bought = total(book.capital) + made.of("milestones")
    capital = made.line("capital paid", "with sales tax, by the payment terms", bought)
    # the tax that interest saves is a payment of its own, with its sign
    tax = made.line("income tax paid", "last month of the year", made.of("own income tax", SHIELD))
    service = made.of("debt payments") - made.of("borrowed")
    if "owed" in book.rows:
        service = service + made.last * book.rows["owed"]
    debt = made.line("debt service less new debt", f"from {book.loan.name}", service)
    sold = made.line("received for sales", "residual value, and earlier hardware", result.sales)
    paid = result.operating + capital + tax + debt - sold
    book.keep("statement tax", tax)
    return made.line("paid in by owners", "negative: paid out to them", paid)


SHIELD = "saved by interest"


def _balance(made: _Sheet, value: Row, result: _Result, contributed: Row) -> None:
    """Write the balance sheet, and the row that checks it."""
    book, moved = made.book, made.book.rows.get("milestones")
    book.statements.heading("Balance sheet at the end of the month")
    assets = made.line("book value held", "0 after the sale", value * made.held, total=False)
    early = number(0.0) if moved is None else moved.so_far()
    ahead = number(0.0)
    if book.ahead:
        used = made.line(
            "advances of orders of before the plan", "arrived or lost", total(book.ahead)
        )
        ahead = sum_of(used.span())
        early = early + ahead - used.so_far()
    rule = "deposits before delivery; negative: acceptance payments due"
    prepaid = made.line("prepaid", rule, early, total=False)
    owed = made.line("debt", "balance of the loan", made.of("balance") * made.held, total=False)
    unpaid = made.line(
        "tax of the result not yet paid", "", result.expense - book.rows["statement tax"]
    )
    rate = book.rows.get(f"{book.tax.name} {BookTerm.INCOME_TAX}")
    opening = made.of(OPENING)
    owing = number(0.0) if rate is None else rate * opening
    rule = "at the start on earlier hardware, then so far"
    deferred = made.line("deferred tax", rule, owing + unpaid.so_far(), total=False)
    each = made.line("paid in and earned", "", contributed + result.result)
    rule = "at the start in earlier hardware and advances, then so far"
    equity = made.line("equity", rule, opening + ahead - owing + each.so_far(), total=False)
    apart = to_digits(assets + prepaid - owed - deferred - equity, DIGITS)
    rule = "assets less debt, deferred tax and equity: 0"
    row = made.line("balance check", rule, apart, total=False)
    size = made.line("size of the difference", "", absolute(row), total=False)
    key = (book.side, "", "0 in a correct balance")
    worst = book.statements.fact("largest difference", key, "USD", peak_of(size.span()))
    book.keep(DIFFERENCE, worst)


def balance_check(book: Book) -> Check:
    """Return the check that the balance sheet of a side balances in every month."""
    label = f"the balance sheet of {book.side} balances in every month"
    return label, book.rows[DIFFERENCE], number(0.0), Relation.EQUAL
