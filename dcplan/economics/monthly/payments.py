"""When a side is paid: milestones, loans, and the cost of lost work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dcplan.economics.cash_flow import AssetClass, Flow, FlowGroup
from dcplan.economics.loans import amortization
from dcplan.economics.monthly.side import GOODPUT_LOSS, MILESTONES, Side
from dcplan.economics.ranges import Array
from dcplan.units import MONTHS_PER_YEAR

DELIVERED = frozenset({AssetClass.RACKS, AssetClass.STORAGE, AssetClass.NETWORK})
"""Purchases with a lead time from their order to their service."""


def on_delivery(flows: Iterable[Flow], quarters: int) -> list[Flow]:
    """Return the flows with racks, storage and networks dated in their first quarter in service.

    Payment terms count from there, not from the order. A network serves with the first racks of its
    order. An order that serves after the horizon is dated in its last quarter.

    Examples
    --------
    >>> from dcplan.economics.cash_flow import AssetClass, FlowGroup, Goods, Unit
    >>> racks = Goods("gb200-nvl72", 2, Unit.RACK, "h1", serves_from=3)
    >>> bought = Flow(1, FlowGroup.CAPEX, "racks", 9.0, asset=AssetClass.RACKS, goods=racks)
    >>> [x.quarter for x in on_delivery([bought], 8)], [x.quarter for x in on_delivery([bought], 3)]
    ([3], [2])
    """

    def dated(flow: Flow) -> Flow:
        goods = flow.goods
        ordered = flow.group is FlowGroup.CAPEX and flow.asset in DELIVERED
        if not ordered or goods is None or goods.serves_from is None:
            return flow
        return replace(flow, quarter=min(goods.serves_from, quarters - 1))

    return [dated(flow) for flow in flows]


@dataclass(frozen=True)
class Milestones:
    """Payment milestones of a purchase.

    A deposit is paid before, an acceptance payment after, and the rest in the month of service.
    """

    deposit_frac: float
    deposit_months_before: int
    acceptance_frac: float
    acceptance_months_after: int


def with_milestones(side: Side, gross_usd: Array, due: Milestones) -> Side:
    """Add the line of differences from full payment on delivery.

    ``gross_usd`` are the purchases by month of delivery, with their sales tax, none negative.
    Payments before or after the horizon are recorded outside it, in their own month.

    Examples
    --------
    30 % six months early and 10 % two months late of 100 in the first month:

    >>> from dcplan.economics.cash_flow import AssetClass
    >>> from dcplan.economics.monthly.side import Line
    >>> racks = Line("racks", AssetClass.RACKS)
    >>> paid = Side({racks: np.array([100.0, 0, 0])})
    >>> moved = with_milestones(paid, paid.lines[racks], Milestones(0.3, 6, 0.1, 2))
    >>> moved.lines[MILESTONES].tolist(), moved.outside[MILESTONES]
    ([-40.0, 0.0, 10.0], ((-6, 30.0),))
    """
    months = side.months
    moved = 0.0 - (due.deposit_frac + due.acceptance_frac) * gross_usd
    outside: list[tuple[int, float]] = []
    for share, shift in (
        (due.deposit_frac, -due.deposit_months_before),
        (due.acceptance_frac, due.acceptance_months_after),
    ):
        for month in np.flatnonzero(gross_usd):
            at, usd = int(month) + shift, float(share * gross_usd[month])
            if 0 <= at < months:
                moved[at] += usd
            elif usd:
                outside.append((at, usd))
    more = {MILESTONES: tuple(outside)} if outside else {}
    return replace(side, lines={**side.lines, MILESTONES: moved}, outside={**side.outside, **more})


def with_lost_goodput(side: Side, loss_frac: float) -> Side:
    """Add the cost of hours whose work is lost.

    The cost is that of the additional fleet that would replace the lost work.

    Examples
    --------
    >>> from dcplan.economics.cash_flow import AssetClass
    >>> from dcplan.economics.monthly.side import Line
    >>> racks = Line("racks", AssetClass.RACKS)
    >>> more = with_lost_goodput(Side({racks: np.array([90.0, 10.0])}, {racks: 20.0}), 0.02)
    >>> more.lines[GOODPUT_LOSS].tolist(), round(more.end_usd[GOODPUT_LOSS], 9)
    ([1.8, 0.2], 0.4)
    """
    end = {**side.end_usd, GOODPUT_LOSS: loss_frac * sum(side.end_usd.values())}
    more = (
        {GOODPUT_LOSS: tuple((m, loss_frac * usd) for m, usd in side.outside_usd.items())}
        if side.outside
        else {}
    )
    lines = {**side.lines, GOODPUT_LOSS: loss_frac * side.cash_usd}
    return Side(lines, end, {**side.outside, **more}, side.advances)


@dataclass(frozen=True)
class Loan:
    """Cash flows of a loan by month; ``drawn`` is money in. [USD].

    The remaining balance is paid at the end.
    """

    drawn: Array
    payments: Array
    interest: Array
    end_balance_usd: float
    """Balance after the last payment, in the middle of the last month."""
    rate_per_month: float = 0.0

    @property
    def owed_at_end_usd(self) -> float:
        """Return the payoff of the loan at the end of the last month, half a month later."""
        return float(self.end_balance_usd * (1.0 + self.rate_per_month) ** 0.5)


def loan_of(capital_usd: Array, share_frac: float, rate_per_year: float, term_months: int) -> Loan:
    """Borrow a share of each month's capital, repaid in level payments from the month after.

    The monthly rate is the nominal rate / 12.
    """
    months = len(capital_usd)
    drawn = share_frac * np.maximum(capital_usd, 0.0)
    payments, interest, balance = np.zeros(months), np.zeros(months), 0.0
    for first in np.flatnonzero(drawn):
        plan = amortization(float(drawn[first]), rate_per_year / MONTHS_PER_YEAR, term_months)
        last = min(term_months, months - 1 - int(first))
        payments[first + 1 : first + 1 + last] += plan.payment_usd[1 : last + 1]
        interest[first + 1 : first + 1 + last] += plan.interest_usd[1 : last + 1]
        balance += float(plan.balance_usd[last])
    return Loan(drawn, payments, interest, balance, rate_per_year / MONTHS_PER_YEAR)
