"""The three statements of a side by month: result, cash and balance sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.economics.cash_flow import AssetClass
from dcplan.economics.monthly.book import book_life_years, book_months
from dcplan.economics.monthly.earlier import Earlier, earlier_book
from dcplan.economics.monthly.financing import UNSERVED, WRITTEN_OFF, Financed
from dcplan.economics.monthly.payments import Loan
from dcplan.economics.monthly.side import GOODPUT_LOSS, INCOME_TAX, MILESTONES, Line
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
    side, months = found.after_tax, found.after_tax.months
    outside = [m for pairs in side.outside.values() for m, _ in pairs]
    first, end = min([0, *outside]), max([months, *(m + 1 for m in outside)])

    def padded(values: Array) -> Array:
        return np.concatenate([np.zeros(-first), values, np.zeros(end - months)])

    def paid(line: Line) -> Array:
        cash = padded(side.lines.get(line, np.zeros(months)))
        for month, usd in side.outside.get(line, ()):
            cash[month - first] += usd
        return cash

    lines = [x for x in dict.fromkeys((*side.lines, *side.outside)) if x not in NOT_PAID]
    capital = [x for x in lines if x.asset in WRITTEN_OFF]
    disposals = [x for x in lines if x.asset is AssetClass.DISPOSAL]
    apart, zero = {*capital, *disposals, MILESTONES, INCOME_TAX}, np.zeros(end - first)
    operating = sum((paid(x) for x in lines if x not in apart), zero)
    before = earlier_book(earlier, months)
    written, value = padded(before.charge), padded(before.value)
    value[:-first] = before.opening_usd  # deposits come before the first month
    land = zero.copy()
    for x in capital:
        life = book_life_years(x.asset, life_years, usual_years)
        charges, left = book_months(side.basis_usd(x), life)
        written, value = written + padded(charges), value + padded(left)
        land = land + padded(left) if x.asset is AssetClass.LAND else land
    last = months - 1 - first
    worth = sum(usd for x, usd in side.end_usd.items() if x not in NOT_PAID)
    sold = sum((-paid(x) for x in disposals), zero.copy())
    gain = sold - padded(before.sold)
    ahead = sum(side.advances.values(), np.zeros(months))
    lost = sum((v for x, v in side.advances.items() if x not in capital), np.zeros(months))
    gain = gain - padded(lost)
    sold[last], gain[last] = sold[last] + worth, gain[last] + worth - value[last]
    value[last:] = land[last:] = 0.0
    due, moved = zero.copy(), paid(MILESTONES)
    interest, debt, service = zero, zero, zero
    if found.loan is not None:
        interest, debt, service = (padded(x) for x in _debt_of(found.loan))
        due[last] = found.loan.owed_at_end_usd - found.loan.end_balance_usd
    expense = tax_rate_frac * (gain - operating - written - interest)
    tax = paid(INCOME_TAX) - padded(found.shield)
    return Statements(
        first,
        operating,
        written,
        interest + due,  # half a month of interest at the end is not deducted from income
        gain,
        expense,
        sum((paid(x) for x in capital), zero) + moved,
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


def _debt_of(loan: Loan) -> tuple[Array, Array, Array]:
    """Return interest, balance and payments less new debt by month, paid back in the last one."""
    service = loan.payments - loan.drawn
    balance = np.cumsum(loan.interest - service)
    balance[-1] -= loan.end_balance_usd
    service[-1] += loan.owed_at_end_usd
    return loan.interest, balance, service
