"""Both sides of a comparison by month: the owned fleet, and every offer and term."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.plan.plan_cost import FleetPlan, fleet_plan
from dcplan.answers.tco.conventions import (
    GOODPUT,
    RESIDUAL,
    Conventions,
    conventions_of,
    planned_question,
)
from dcplan.answers.tco.owned import LOST_GOODPUT, Owned, owned_of
from dcplan.answers.tco.owned_bill import Bill
from dcplan.answers.tco.rented import Work, paid_in_full, rented_side, terms_of, work_of
from dcplan.catalog.schema import System
from dcplan.economics.cash_flow import CAPITAL, EQUIPMENT
from dcplan.economics.monthly.payments import Loan
from dcplan.economics.monthly.side import GOODPUT_LOSS, MILESTONES, Side, month_factors
from dcplan.economics.monthly.taxes import with_income_tax
from dcplan.economics.ranges import Array
from dcplan.errors import InputError
from dcplan.inputs.cloud_prices import OfferTerms, offers
from dcplan.inputs.log import InputLog
from dcplan.inputs.residual_value import residual_of
from dcplan.scenario.load import Question
from dcplan.units import MONTHS_PER_YEAR, QUARTERS_PER_YEAR, TB_PER_PB

OWNED = "owned"
"""Name of the owned side; a rent has the name of its offer and term."""


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
    def bill(self) -> Bill:
        """The owned fleet under the conventions."""
        return Bill(self.fleet, self.conventions, self.work.used_frac)

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
        return _taxed(side, self.owned.tax_rate_frac).npv_usd(self.rate)

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
    tax = owned.tax_rate_frac
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


def from_today(cash: Array, outside: Mapping[int, float]) -> Array:
    """Return payments from today on, one per month.

    Deposits before the first month count today, later payments in the last month.
    """
    found = np.concatenate([[0.0], cash])
    for month, usd in outside.items():
        found[0 if month < 0 else -1] += usd
    return found


def resale_usd(both: Comparison) -> Array:
    """Return the value of all purchases at the end of each month, less what is still owed [USD].

    Owed are outstanding debt and acceptance payments that are due later. The first value is
    today's. Equipment follows its residual value curve. Buildings, cooling and power fall linearly
    to their residual value at the end of the horizon, and the share for lost goodput falls in
    proportion. The last value is the residual value.
    """
    if not both.conventions.counts_owned(RESIDUAL):
        return _less_owed(np.zeros(both.owned.after_tax.months + 1), both)
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
    return _less_owed(residual, both)


def _less_owed(value_usd: Array, both: Comparison) -> Array:
    """Return the value at the end of each month less debt and acceptance payments to come."""
    owed = _acceptance_due_usd(both)
    if both.owned.loan is not None:
        owed = owed + _debt_usd(both.owned.loan)
    return np.asarray(value_usd - np.concatenate([[0.0], owed]))


def _debt_usd(loan: Loan) -> Array:
    """Return the outstanding debt at the end of each month."""
    return np.cumsum(loan.drawn - (loan.payments - loan.interest))


def _acceptance_due_usd(both: Comparison) -> Array:
    """Return what delivered equipment still costs at the end of each month, with lost goodput.

    In the last month it is 0: payments after the horizon count there.
    """
    side = both.owned.after_tax
    moved = side.lines.get(MILESTONES, np.zeros(side.months))
    deposits = sum(usd for month, usd in side.outside.get(MILESTONES, ()) if month < 0)
    due = np.maximum(-(deposits + np.cumsum(moved)), 0.0)
    due[-1] = 0.0
    lost = (
        both.log.parameter("finance", LOST_GOODPUT) if both.conventions.counts_owned(GOODPUT) else 0
    )
    return np.asarray((1.0 + lost) * due)
