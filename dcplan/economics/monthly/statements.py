"""The three statements of a side by month: result, cash and balance sheet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.economics.cash_flow import AssetClass
from dcplan.economics.monthly.book import book_life_years, book_months
from dcplan.economics.monthly.earlier import Earlier, EarlierBook, earlier_book
from dcplan.economics.monthly.financing import UNSERVED, WRITTEN_OFF, Financed
from dcplan.economics.monthly.payments import Loan
from dcplan.economics.monthly.side import GOODPUT_LOSS, INCOME_TAX, MILESTONES, Line, Side
from dcplan.economics.ranges import Array

NOT_PAID = frozenset({UNSERVED, GOODPUT_LOSS})
"""Lines that are valued, but not paid."""


@dataclass(frozen=True)
class Statements:
    """Result, cash and balance sheet by month; costs are positive in the first two. [USD].

    Equipment is sold at its residual value and debt is paid back at the end of the horizon, in its
    last month. Owners contribute what is paid, so there is no cash balance.
    """

    first_month: int
    """Month of the first entry; negative with deposits before the horizon."""
    operating: Array
    depreciation: Array
    interest: Array
    gain: Array
    """Sales less book value: of earlier hardware in its month, of all the rest at the end. Advances for
    canceled orders are a loss."""
    tax_expense: Array
    capital_paid: Array
    tax_paid: Array
    debt_paid: Array
    """Debt service less new debt."""
    sold: Array
    book_value: Array
    prepaid: Array
    """Deposits for equipment that is not delivered, also those of before the plan; negative: acceptance
    payments that are due."""
    debt: Array
    deferred_tax: Array
    """Income tax that the result bears and that is not yet paid; negative is an asset."""
    land: Array
    """Part of the book value that is land, at cost."""
    opening_equity: float = 0.0
    """Book value of earlier hardware at the start, less the deferred tax on it, plus advances for orders
    of before the plan."""

    @property
    def result(self) -> Array:
        """Return the result after tax; negative is a loss."""
        costs = self.operating + self.depreciation + self.interest + self.tax_expense
        return np.asarray(self.gain - costs)

    @property
    def contributed(self) -> Array:
        """Return the cash that owners pay in; negative is money paid out."""
        paid = self.operating + self.capital_paid + self.tax_paid + self.debt_paid
        return np.asarray(paid - self.sold)

    @property
    def equity(self) -> Array:
        """Return the equity at the start, with the contributions and results so far."""
        return np.asarray(self.opening_equity + np.cumsum(self.contributed + self.result))

    @property
    def difference(self) -> Array:
        """Return assets less liabilities and equity; 0 in every month of a correct balance."""
        return np.asarray(
            self.book_value + self.prepaid - self.debt - self.deferred_tax - self.equity
        )


def statements(
    found: Financed,
    tax_rate_frac: float,
    life_years: Mapping[AssetClass, float],
    usual_years: float,
    earlier: Sequence[Earlier] = (),
) -> Statements:
    r"""Return the three statements of a side.

    The result bears income tax on itself, :math:`\tau (gain - operating - depreciation - interest)`.
    What is paid later or earlier is deferred tax, which ends at 0, because all assets are sold. Book
    values and debt come from their own schedules, so the balance checks them against the payments.

    Hardware in service before the plan is on the balance sheet at its straight-line value. Its sale
    earns the proceeds less that value. It is written off for tax, because proceeds are taxed in
    full, so its value carries deferred tax from the start.

    What was paid before the plan for an order is prepaid until the goods arrive. It then is part of
    their book value, of the base of their property tax and of their tax write-off. What was paid for
    a canceled order is lost; a refund is a negative cost.

    Parameters
    ----------
    found : Financed
        A side after taxes and debt.
    tax_rate_frac : float
        Rate of income tax, 0 to 1. [-]
    life_years : mapping of AssetClass to float
        Service lives for book depreciation; land has none and keeps its cost. [years]
    usual_years : float
        Life of every other class. [years]
    earlier : sequence of Earlier
        Hardware in service before the plan.
    """
    side, ledger = found.after_tax, _Ledger.of(found.after_tax)
    lines = [x for x in dict.fromkeys((*side.lines, *side.outside)) if x not in NOT_PAID]
    capital = [x for x in lines if x.asset in WRITTEN_OFF]
    disposals = [x for x in lines if x.asset is AssetClass.DISPOSAL]
    apart = {*capital, *disposals, MILESTONES, INCOME_TAX}
    operating = ledger.total(x for x in lines if x not in apart)
    before = earlier_book(earlier, side.months)
    lives = {x: book_life_years(x.asset, life_years, usual_years) for x in capital}
    written, value, land = _book(ledger, lives, before)
    last, padded = ledger.last, ledger.padded
    ahead = sum(side.advances.values(), np.zeros(side.months))
    lost = sum((v for x, v in side.advances.items() if x not in capital), np.zeros(side.months))
    sold = 0.0 - ledger.total(disposals)  # proceeds are negative payments
    gain = sold - padded(before.sold) - padded(lost)
    worth = sum(usd for x, usd in side.end_usd.items() if x not in NOT_PAID)
    sold[last], gain[last] = sold[last] + worth, gain[last] + worth - value[last]
    value[last:] = land[last:] = 0.0
    moved = ledger.paid(MILESTONES)
    interest, debt, service, due = _debt_of(found.loan, ledger)
    expense = tax_rate_frac * (gain - operating - written - interest)
    tax = ledger.paid(INCOME_TAX) - padded(found.shield)
    return Statements(
        ledger.first,
        operating,
        written,
        interest + due,  # half a month of interest at the end is not deducted from income
        gain,
        expense,
        ledger.total(capital) + moved,
        tax,
        service,
        sold,
        value,
        ahead.sum() - np.cumsum(padded(ahead)) + np.cumsum(moved),
        debt,
        tax_rate_frac * before.opening_usd + np.cumsum(expense - tax),
        land,
        (1.0 - tax_rate_frac) * before.opening_usd + float(ahead.sum()),
    )


@dataclass(frozen=True)
class _Ledger:
    """The lines of a side by month, from its first payment to its last."""

    side: Side
    first: int
    """First month, 0 or earlier."""
    end: int
    """Month after the last."""

    @classmethod
    def of(cls, side: Side) -> _Ledger:
        """Return the ledger over the horizon and the payments before and after it."""
        outside = [m for pairs in side.outside.values() for m, _ in pairs]
        return cls(side, min([0, *outside]), max([side.months, *(m + 1 for m in outside)]))

    @property
    def last(self) -> int:
        """Return the place of the last month of the horizon."""
        return self.side.months - 1 - self.first

    def padded(self, values: Array) -> Array:
        """Return amounts of the horizon by month of the ledger."""
        return np.concatenate(
            [np.zeros(-self.first), values, np.zeros(self.end - self.side.months)]
        )

    def paid(self, line: Line) -> Array:
        """Return the payments of a line."""
        cash = self.padded(self.side.lines.get(line, np.zeros(self.side.months)))
        for month, usd in self.side.outside.get(line, ()):
            cash[month - self.first] += usd
        return cash

    def total(self, lines: Iterable[Line]) -> Array:
        """Return the sum of the payments of some lines."""
        return sum((self.paid(x) for x in lines), np.zeros(self.end - self.first))


def _book(
    ledger: _Ledger, lives: Mapping[Line, float], before: EarlierBook
) -> tuple[Array, Array, Array]:
    """Return depreciation, book value and the book value of land by month; land is not written off."""
    written, value = ledger.padded(before.charge), ledger.padded(before.value)
    value[: -ledger.first] = before.opening_usd  # deposits come before the first month
    land = np.zeros(ledger.end - ledger.first)
    for line, life_years in lives.items():
        charges, left = book_months(ledger.side.basis_usd(line), life_years)
        written, value = written + ledger.padded(charges), value + ledger.padded(left)
        land = land + ledger.padded(left) if line.asset is AssetClass.LAND else land
    return written, value, land


def _debt_of(loan: Loan | None, ledger: _Ledger) -> tuple[Array, Array, Array, Array]:
    """Return interest, balance, payments less new debt, and interest due at the end, by month.

    The debt is paid back in the last month of the horizon.
    """
    due = np.zeros(ledger.end - ledger.first)
    if loan is None:
        return due.copy(), due.copy(), due.copy(), due
    service = loan.payments - loan.drawn
    balance = np.cumsum(loan.interest - service)
    balance[-1] -= loan.end_balance_usd
    service[-1] += loan.owed_at_end_usd
    due[ledger.last] = loan.owed_at_end_usd - loan.end_balance_usd
    return ledger.padded(loan.interest), ledger.padded(balance), ledger.padded(service), due
