"""The owned side of a comparison by month, step by step from the plan's cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dcplan.answers.plan.plan_cost import PlanCost
from dcplan.answers.tco.conventions import GOODPUT
from dcplan.answers.tco.owned_bill import Bill
from dcplan.answers.tco.owned_steps import (
    Steps,
    add_equipment_taxes,
    book_of,
    loan_npv_usd,
    loan_on,
    payment_of,
    tax_rate,
    tax_shares,
    unserved_usd,
    year_end,
)
from dcplan.economics.cash_flow import EQUIPMENT, FlowGroup, npv_usd
from dcplan.economics.monthly import (
    BookYears,
    Line,
    Loan,
    Side,
    TaxYears,
    month_factors,
    owned_side,
    tax_years,
    with_income_tax,
    with_lost_goodput,
    with_milestones,
)
from dcplan.economics.ranges import Array
from dcplan.inputs.log import InputLog
from dcplan.scenario.load import Question
from dcplan.units import MONTHS_PER_QUARTER, QUARTERS_PER_YEAR

NOT_OWNED = frozenset({FlowGroup.CLOUD, FlowGroup.POST_HORIZON, FlowGroup.UNSERVED})
LOST_GOODPUT = "goodput-loss-frac-of-owned"
DEBT_SERVICE, TAX_SHIELD = "debt service less payout", "income tax saved by interest"
ValuedLine = tuple[str, float, float]
"""Label, sum and present value of a cost line [USD]."""


@dataclass(frozen=True)
class Owned:
    """The owned side, step by step."""

    plan_npv_usd: float
    before_tax: Side
    after_tax: Side
    loan: Loan | None
    steps: dict[str, float]
    """Cost added by each step from the plan's cost to the cost of owning [USD]."""
    npv_usd: float
    shield: Array
    """Income tax saved by interest, by month [USD]."""
    taxes: TaxYears
    """Income tax by year, with interest."""
    book: BookYears
    """Book depreciation by year."""

    @property
    def cash_usd(self) -> Array:
        """Payments by month after tax and debt."""
        financed = self.loan.payments - self.loan.drawn if self.loan is not None else 0.0
        return np.asarray(self.after_tax.cash_usd + financed - self.shield)

    def debt_lines(self, rate: float) -> list[ValuedLine]:
        """Return the lines that debt adds: its service less its payout, and the tax it saves.

        With them, the lines of the owned side add up to its net present cost.
        """
        if self.loan is None:
            return []
        service = float((self.loan.payments - self.loan.drawn).sum()) + self.loan.owed_at_end_usd
        lines = [(DEBT_SERVICE, service, loan_npv_usd(self.loan, rate))]
        if self.shield.any():
            saved = float(self.shield @ month_factors(rate, len(self.shield)))
            lines.append((TAX_SHIELD, -float(self.shield.sum()), -saved))
        return lines


def owned_of(
    question: Question,
    cost: PlanCost,
    log: InputLog,
    rent: Mapping[Line, Array] | None = None,
    *,
    bill: Bill | None = None,
) -> Owned:
    """Add rent, taxes and debt to the plan's owned flows by month, and price each step.

    ``bill`` has the conventions of a given fleet; a plan has none.
    """
    finance = question.scenario.finance
    start, steps = _payments(cost)
    for name, after in bill.steps(steps.side, question, log) if bill is not None else ():
        steps.add(name, after)
    gear = steps.side.of(EQUIPMENT)
    if rent:
        steps.add_lines("rent with accompanying costs", rent)
    add_equipment_taxes(steps, gear, finance.tax, cost.life_quarters / QUARTERS_PER_YEAR, log)
    before = steps.side
    loan, tax = loan_on(question, log, before), tax_rate(question, log)
    shares = tax_shares(question, log if tax else InputLog(question.catalog), before)
    interest = loan.interest if loan is not None else np.zeros(before.months)
    taxes = tax_years(before, shares, tax, interest)
    if tax:
        steps.add("income tax", with_income_tax(before, shares, tax, np.zeros(before.months)))
    unserved = unserved_usd(cost.flows, before.months)
    if unserved.any():
        # not a payment, so not taxed; without it, a side that does less work would look cheaper
        steps.add_lines("value of unserved demand", {Line("unserved demand"): unserved})
    if finance.payment is not None and gear:
        due = payment_of(finance.payment, log)
        steps.add("payment milestones", with_milestones(steps.side, gear, due))
    # the duration of a plan's runs includes goodput; a given fleet has no runs
    if rent is None and (bill is None or bill.conventions.counts_owned(GOODPUT)):
        loss = log.parameter("finance", LOST_GOODPUT)
        steps.add("lost goodput", with_lost_goodput(steps.side, loss))
    shield = tax * year_end(loan.interest) if loan is not None else np.zeros(before.months)
    total = _financed_usd(steps, start, loan, shield)
    book = book_of(before, cost, log)
    return Owned(start, before, steps.side, loan, steps.usd, total, shield, taxes, book)


def _payments(cost: PlanCost) -> tuple[float, Steps]:
    """Return the present cost of the plan's owned flows, and the flows by month [USD]."""
    flows = [f for f in cost.flows if f.group not in NOT_OWNED]
    rate = cost.discount_rate
    side = owned_side(flows, cost.quarters)
    if not side.lines:  # everything is rented
        side = Side({Line("nothing owned"): np.zeros(cost.quarters * MONTHS_PER_QUARTER)})
    start = npv_usd(flows, rate)
    more = side.npv_usd(rate) - start
    return start, Steps(rate, side, {"payments by month instead of mid-quarter": more})


def _financed_usd(steps: Steps, start_usd: float, loan: Loan | None, shield: Array) -> float:
    """Return the present cost with debt, and add the steps of the debt."""
    if loan is None:
        return steps.side.npv_usd(steps.rate)
    steps.usd["debt service at the loan's rate, discounted at the discount rate"] = loan_npv_usd(
        loan, steps.rate
    )
    steps.usd[TAX_SHIELD] = -float(shield @ month_factors(steps.rate, steps.side.months))
    return start_usd + sum(steps.usd.values())
