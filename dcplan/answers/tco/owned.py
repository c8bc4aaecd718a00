"""Both sides of a comparison by month: the owned fleet, and every offer and term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.plan.plan_cost import FleetPlan, PlanCost, fleet_plan
from dcplan.answers.tco.conventions import (
    GOODPUT,
    RESIDUAL,
    Conventions,
    conventions_of,
    planned_question,
)
from dcplan.answers.tco.owned_bill import Bill
from dcplan.answers.tco.rented import Work, paid_in_full, rented_side, terms_of, work_of
from dcplan.catalog.schema import DepreciationTable, System
from dcplan.economics.cash_flow import CAPITAL, EQUIPMENT, AssetClass, Flow, FlowGroup, npv_usd
from dcplan.economics.monthly import (
    GOODPUT_LOSS,
    SALES_TAX,
    BookYears,
    Line,
    Loan,
    Side,
    TaxYears,
    book_years,
    loan_of,
    month_factors,
    owned_side,
    tax_years,
    with_income_tax,
    with_lost_goodput,
    with_milestones,
    with_property_tax,
    with_sales_tax,
)
from dcplan.economics.ranges import Array
from dcplan.errors import InputError
from dcplan.inputs.cloud_prices import OfferTerms, offers
from dcplan.inputs.log import InputLog
from dcplan.inputs.payment import payment_of
from dcplan.inputs.residual_value import residual_of
from dcplan.provenance import Status
from dcplan.scenario.load import Question
from dcplan.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR, QUARTERS_PER_YEAR, TB_PER_PB

OWNED = "owned"
"""Name of the owned side; a rent has the name of its offer and term."""
NOT_OWNED = frozenset({FlowGroup.CLOUD, FlowGroup.POST_HORIZON, FlowGroup.UNSERVED})
WRITTEN_OFF = CAPITAL | {AssetClass.SALES_TAX}
BUILDING_TABLE = "building-39"
BOOK_TABLE = "straight-line-5"
LOST_GOODPUT = "goodput-loss-frac-of-owned"
DEBT_SERVICE, TAX_SHIELD = "debt service less payout", "income tax saved by interest"
ValuedLine = tuple[str, float, float]
"""Label, sum and present value of a cost line [USD]."""
BOOK_LIVES = {
    AssetClass.BUILDING: "building-life-years",
    AssetClass.POWER: "power-life-years",
    AssetClass.COOLING: "cooling-life-years",
}
"""Catalog parameters of service lives; all other capital has the life of hardware."""


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
        lines = [(DEBT_SERVICE, service, _loan_npv(self.loan, rate))]
        if self.shield.any():
            saved = float(self.shield @ month_factors(rate, len(self.shield)))
            lines.append((TAX_SHIELD, -float(self.shield.sum()), -saved))
        return lines


@dataclass(frozen=True)
class Rent:
    """The same work rented on one offer and term."""

    offer: OfferTerms
    term: str
    side: Side
    """After tax."""
    npv_usd: float
    notes: tuple[str, ...]
    committed_usd: float = 0.0
    """Undiscounted payments of commitments, used or not; 0 without a commitment."""
    paid_in_full: bool = False
    """Whether all hours are paid, used or not."""

    @property
    def name(self) -> str:
        """Name of the side in tables."""
        return f"{self.offer.id}.{self.term}"


@dataclass(frozen=True)
class Comparison:
    """An owned fleet, and the rent for the same work on every offer and term."""

    question: Question
    fleet: FleetPlan
    owned: Owned
    work: Work
    rents: tuple[Rent, ...]
    offers: tuple[OfferTerms, ...] = ()
    """The compared offers."""

    @property
    def conventions(self) -> Conventions:
        """How hours and lines count."""
        return self.work.conventions

    @property
    def log(self) -> InputLog:
        """The input log."""
        return self.fleet.log

    @property
    def rate(self) -> float:
        """Nominal discount rate [1/year]."""
        return self.fleet.cost.discount_rate

    def rented_npv_usd(self, rent: Rent, used_frac: float) -> float:
        """Return the present cost of a rent for another share of used hours."""
        work, log = replace(self.work, used_frac=used_frac), self.log
        months = self.owned.after_tax.months
        side, _, _ = rented_side(rent.offer, rent.term, work, months, log)
        return _taxed(side, tax_rate(self.question, log)).npv_usd(self.rate)

    @property
    def hours(self) -> float:
        """Discounted accelerator-hours, used or not."""
        months = self.owned.after_tax.months
        each = self.conventions.hours_per_month * float(month_factors(self.rate, months).sum())
        return self.work.accelerators * each

    @property
    def used_hours(self) -> float:
        """Discounted accelerator-hours in use."""
        return self.hours * self.work.used_frac


def compared(question: Question) -> Comparison:
    """Compute both sides of the comparison.

    Raises
    ------
    InputError
        When there is no fleet or no cloud, or the fleet does not fit.
    """
    _asked(question)
    planned = planned_question(question)
    fleet = fleet_plan(planned)
    log, cost = fleet.log, fleet.cost
    conventions = conventions_of(question, log)
    stored_pb = fleet.accelerators * cost.storage_tb_per_accelerator / TB_PER_PB
    work = work_of(planned.scenario, log, fleet.accelerators, stored_pb, conventions)
    owned = owned_of(question, cost, log, bill=Bill(fleet, conventions, work.used_frac))
    tax = tax_rate(question, log)
    found = same_accelerator(planned, log) if conventions.counts_any_rent else []
    compared_with = tuple(found)
    rents = []
    for offer in compared_with:
        for term in terms_of(offer, conventions):
            side, rent, notes = rented_side(offer, term, work, owned.before_tax.months, log)
            side = _taxed(side, tax)
            npv, full = side.npv_usd(cost.discount_rate), paid_in_full(term, conventions)
            rents.append(Rent(offer, term, side, npv, tuple(notes), rent.committed_usd, full))
    return Comparison(question, fleet, owned, work, tuple(rents), compared_with)


def _taxed(rented: Side, tax: float) -> Side:
    """Return a rent after income tax."""
    return with_income_tax(rented, {}, tax, np.zeros(rented.months)) if tax else rented


def _asked(question: Question) -> None:
    problems = []
    if question.scenario.fleet is None:
        cause = "tco needs fleet: {system, accelerators}, or workloads to plan for"
        problems.append(question.tree.problem("DC003", cause, ("fleet",)))
    fleet = question.scenario.fleet
    if (
        fleet is not None
        and fleet.utilization_frac is not None
        and not fleet.utilization_frac.value
    ):
        cause = "fleet.utilization_frac is 0, so there is no work to compare: set a value above 0"
        problems.append(question.tree.problem("DC015", cause, ("fleet", "utilization_frac")))
    if question.scenario.cloud is None:
        problems.append(
            question.tree.problem("DC003", "tco needs cloud: {offers, terms}", ("cloud",))
        )
    if problems:
        raise InputError(problems)


def same_accelerator(question: Question, log: InputLog) -> list[OfferTerms]:
    """List the offers of the fleet's accelerator under every requested term.

    Other accelerators do a different amount of work per hour. Instances without a known network
    cannot do the work of a fleet that is larger than their scale-up domain.
    """
    fleet = question.scenario.fleet
    if fleet is None:
        return []
    chip = question.catalog.get("systems", fleet.system, System).accelerator
    found = offers(question.scenario, log, [], fleet=True)
    return [o for o in found if o.accelerator == chip and o.connects(fleet.accelerators)]


def tax_rate(question: Question, log: InputLog) -> float:
    """Return the income tax rate of the scenario, 0 by default."""
    given = question.scenario.finance.tax.income_rate
    return log.take("finance.tax.income_rate", given) if given else 0.0


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
    flows = [f for f in cost.flows if f.group not in NOT_OWNED]
    rate = cost.discount_rate
    start = npv_usd(flows, rate)
    side = owned_side(flows, cost.quarters)
    if not side.lines:  # everything is rented
        side = Side({Line("nothing owned"): np.zeros(cost.quarters * MONTHS_PER_QUARTER)})
    steps = {"payments by month instead of mid-quarter": side.npv_usd(rate) - start}
    for name, after in bill.steps(side, question, log) if bill is not None else ():
        side = _stepped(steps, name, rate, side, after)
    gear = side.of(EQUIPMENT)
    if rent:
        side = _stepped(
            steps,
            "rent with accompanying costs",
            rate,
            side,
            replace(side, lines={**side.lines, **rent}),
        )
    if finance.tax.sales_tax_frac and gear:
        side = _stepped(
            steps,
            "sales tax",
            rate,
            side,
            with_sales_tax(
                side, gear, log.take("finance.tax.sales_tax_frac", finance.tax.sales_tax_frac)
            ),
        )
        gear.append(SALES_TAX)
    if finance.tax.property_tax_frac_per_year and gear:
        each = log.take(
            "finance.tax.property_tax_frac_per_year", finance.tax.property_tax_frac_per_year
        )
        years = cost.life_quarters / QUARTERS_PER_YEAR
        side = _stepped(
            steps, "property tax", rate, side, with_property_tax(side, gear, each, years)
        )
    before = side
    loan = _loan(question, log, side)
    tax = tax_rate(question, log)
    shares = _shares(question, log if tax else InputLog(question.catalog), side)
    interest = loan.interest if loan is not None else np.zeros(side.months)
    taxes = tax_years(side, shares, tax, interest)
    if tax:
        side = _stepped(
            steps,
            "income tax",
            rate,
            side,
            with_income_tax(side, shares, tax, np.zeros(side.months)),
        )
    unserved = _unserved(cost.flows, side.months)
    if (
        unserved.any()
    ):  # not a payment, so not taxed; without it, a side that does less work would look cheaper
        side = _stepped(
            steps,
            "value of unserved demand",
            rate,
            side,
            replace(side, lines={**side.lines, Line("unserved demand"): unserved}),
        )
    payment = finance.payment
    if payment is not None and gear:
        side = _stepped(
            steps,
            "payment milestones",
            rate,
            side,
            with_milestones(side, gear, payment_of(payment, log)),
        )
    # the duration of a plan's runs includes goodput; a given fleet has no runs
    if rent is None and (bill is None or bill.conventions.counts_owned(GOODPUT)):
        loss = log.parameter("finance", LOST_GOODPUT)
        side = _stepped(steps, "lost goodput", rate, side, with_lost_goodput(side, loss))
    total, shield = side.npv_usd(rate), np.zeros(side.months)
    if loan is not None:
        shield = tax * _year_end(loan.interest)
        steps["debt service at the loan's rate, discounted at the discount rate"] = _loan_npv(
            loan, rate
        )
        steps[TAX_SHIELD] = -float(shield @ month_factors(rate, side.months))
        total = start + sum(steps.values())
    book = _book(before, cost, log)
    return Owned(start, before, side, loan, steps, total, shield, taxes, book)


def _book(side: Side, cost: PlanCost, log: InputLog) -> BookYears:
    """Return the book depreciation of all capital, each class over its service life."""
    hardware = cost.life_quarters / QUARTERS_PER_YEAR
    lives = {asset: log.parameter("finance", key) for asset, key in BOOK_LIVES.items()}
    found = [
        book_years(side.lines[line], lives.get(line.asset, hardware))
        for line in side.of(WRITTEN_OFF)
    ]
    years = -(-side.months // MONTHS_PER_YEAR)
    none = BookYears(np.zeros(years), np.zeros(years))
    return BookYears(
        np.asarray(sum((x.charge_usd for x in found), none.charge_usd)),
        np.asarray(sum((x.value_usd for x in found), none.value_usd)),
    )


def from_today(cash: Array, outside: Mapping[int, float]) -> Array:
    """Return payments from today on, one per month.

    Deposits before the first month count today, later payments in the last month.
    """
    found = np.concatenate([[0.0], cash])
    for month, usd in outside.items():
        found[0 if month < 0 else -1] += usd
    return found


def _unserved(flows: Sequence[Flow], months: int) -> Array:
    """Return the value of a plan's unserved demand by month [USD]."""
    value = np.zeros(months)
    for flow in flows:
        if flow.group is FlowGroup.UNSERVED:
            first = flow.quarter * MONTHS_PER_QUARTER
            value[first : first + MONTHS_PER_QUARTER] += flow.usd / MONTHS_PER_QUARTER
    return value


def _stepped(steps: dict[str, float], name: str, rate: float, before: Side, after: Side) -> Side:
    steps[name] = after.npv_usd(rate) - before.npv_usd(rate)
    return after


def _year_end(values: Array) -> Array:
    """Return yearly sums in the last month of each year, when taxes are paid."""
    cash = np.zeros(len(values))
    for first in range(0, len(values), MONTHS_PER_YEAR):
        last = min(first + MONTHS_PER_YEAR, len(values)) - 1
        cash[last] = values[first : last + 1].sum()
    return cash


def _loan(question: Question, log: InputLog, side: Side) -> Loan | None:
    debt = question.scenario.finance.debt
    if debt is None:
        return None
    months = max(round(log.take("finance.debt.term_years", debt.term_years) * MONTHS_PER_YEAR), 1)
    share, rate = (
        log.take("finance.debt.share", debt.share),
        log.take("finance.debt.rate", debt.rate),
    )
    capital = sum((side.lines[line] for line in side.of(CAPITAL)), np.zeros(side.months))
    return loan_of(capital, share, rate, months)


def _loan_npv(loan: Loan, rate: float) -> float:
    months = len(loan.drawn)
    end = float((1.0 + rate) ** (-months / MONTHS_PER_YEAR))
    owed = loan.owed_at_end_usd * end
    return float((loan.payments - loan.drawn) @ month_factors(rate, months)) + owed


def _shares(question: Question, log: InputLog, side: Side) -> dict[Line, Sequence[float]]:
    """Return the yearly tax depreciation of each capital line.

    Equipment and fit-out follow the scenario's table, buildings depreciate over 39 years.
    """
    given = question.scenario.finance.tax.depreciation
    name = log.text(
        "finance.tax.depreciation", given or BOOK_TABLE, Status.INPUT if given else Status.DEFAULT
    )
    own = question.catalog.get("depreciation", name, DepreciationTable).share_frac
    house = question.catalog.get("depreciation", BUILDING_TABLE, DepreciationTable).share_frac
    return {
        line: house if line.asset is AssetClass.BUILDING else own for line in side.of(WRITTEN_OFF)
    }


def resale_usd(both: Comparison) -> Array:
    """Return the value of all purchases at the end of each month, less outstanding debt [USD].

    The first value is today's. Equipment follows its residual value curve. Buildings, cooling and
    power fall linearly to their residual value at the end of the horizon, and the share for lost
    goodput falls in proportion. The last value is the residual value.
    """
    if not both.conventions.counts_owned(RESIDUAL):
        return _less_debt(np.zeros(both.owned.after_tax.months + 1), both.owned.loan)
    life = both.fleet.cost.life_quarters / QUARTERS_PER_YEAR
    left = residual_of(both.question.scenario.finance, life, both.log)
    owned, months = both.owned, both.owned.after_tax.months
    end = owned.after_tax.end_usd
    residual = np.zeros(months + 1)
    for line in owned.after_tax.of(CAPITAL):
        cash = owned.after_tax.lines[line]
        for first in np.flatnonzero(cash):
            ages = (np.arange(months + 1) - first) / MONTHS_PER_YEAR
            if line.asset in EQUIPMENT:
                share = np.array([left(a) if 0 < a <= life else 0.0 for a in ages])
            else:
                last = end.get(line, 0.0) / float(cash.sum())
                share = np.where(ages > 0, 1.0 - (1.0 - last) * ages / max(ages[-1], 1e-9), 0.0)
            residual += float(cash[first]) * share
    others = sum(end.values()) - end.get(GOODPUT_LOSS, 0.0)
    residual *= 1.0 + (end.get(GOODPUT_LOSS, 0.0) / others if others else 0.0)
    return _less_debt(residual, owned.loan)


def _less_debt(value_usd: Array, loan: Loan | None) -> Array:
    """Return the value at the end of each month less the outstanding debt."""
    if loan is None:
        return value_usd
    owed = np.cumsum(loan.drawn - (loan.payments - loan.interest))
    return np.asarray(value_usd - np.concatenate([[0.0], owed]))
