"""Leases of racks that a scenario offers: their payments, and whether they are operating leases."""

from __future__ import annotations

from dcplan.economics.loans import annuity_factor, level_payment_usd
from dcplan.errors import InputError, Problem
from dcplan.inputs.log import InputLog
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.schema import HardwareLease
from dcplan.units import MONTHS_PER_YEAR

MAJOR_PART_FRAC = 0.75
"""Share of the service life from which a term is the major part of it (ASC 842-10-55-2)."""
SUBSTANTIALLY_ALL_FRAC = 0.9
"""Share of the price from which payments are substantially all of it (ASC 842-10-55-2)."""


def lease_payment_frac(lease: HardwareLease, log: InputLog) -> float:
    r"""Return the payment of a month as a share of the price of the rack.

    With the yearly rate r of the lessor, the residual value R and n months, it is the level payment
    :math:`(1 - R (1+i)^{-n}) / a`, with :math:`i = r/12` and the annuity factor a of
    :func:`dcplan.economics.loans.annuity_factor`, paid at the end of each month. [1/month]
    """
    key = f"finance.leases.{lease.id}"
    log.assumed(f"{key}.term_months", lease.term_months, lease.term_months)
    if lease.payment_frac_per_month is not None:
        return log.take(f"{key}.payment_frac_per_month", lease.payment_frac_per_month)
    if lease.rate is None or lease.residual_frac is None:
        msg = "a lease has a payment, or a rate and a residual value"
        raise ValueError(msg)
    rate = log.take(f"{key}.rate", lease.rate) / MONTHS_PER_YEAR
    left = log.take(f"{key}.residual_frac", lease.residual_frac)
    return float(level_payment_usd(1.0, rate, lease.term_months, balloon_usd=left))


def refuse_leases(question: Question, life_months: int, rate_per_year: float) -> None:
    """Reject leases that are no operating leases, or that cover no hardware of the plan.

    A term never exceeds the service life. With taxes, payment terms or debt a plan has statements, and
    they have the payments of an operating lease. So a lease is then refused that is a finance lease by
    ASC 842-10-25-2: a term of 75 % of the life, or payments with a present value of 90 % of the price.

    Parameters
    ----------
    question : Question
        The scenario, for the place of the error.
    life_months : int
        Service life of hardware. [months]
    rate_per_year : float
        Effective discount rate, which discounts payments if the scenario has no debt. [1/year]

    Raises
    ------
    InputError
        For each such lease.
    """
    finance, problems = question.scenario.finance, list[Problem]()
    names = question.scenario.systems
    if finance.leases and not names:
        cause = "finance.leases has no effect: the scenario has no systems that a plan may order"
        more = "name the systems that may be leased under systems:, too"
        problems.append(question.tree.problem("DC015", cause, ("finance", "leases"), help=more))
    debt = finance.debt
    rate = (1.0 + rate_per_year) ** (1.0 / MONTHS_PER_YEAR) - 1.0
    at = f"the discount rate of {rate_per_year:.2%} a year"
    if debt is not None:
        rate, at = debt.rate.value / MONTHS_PER_YEAR, f"the rate of debt of {debt.rate.value:.2%}"
    for i, lease in enumerate(finance.leases):
        path: Path = ("finance", "leases", i)
        for j, name in enumerate(lease.systems):
            if names != "all" and name not in names:
                cause = f"lease {lease.id}: the plan may not order {name}, so it cannot lease it"
                problems.append(
                    question.tree.problem(
                        *("DC015", cause, (*path, "systems", j)), help="name it under systems:, too"
                    )
                )
        if lease.term_months > life_months:
            cause = (
                f"lease {lease.id}: its term of {lease.term_months} months is longer than the service "
                f"life of {life_months} months"
            )
            more = "shorten term_months, or give another finance.hardware_life_years"
            problems.append(
                question.tree.problem("DC015", cause, (*path, "term_months"), help=more)
            )
        elif question.scenario.has_financing:
            each = lease_payment_frac(lease, InputLog(question.catalog))
            worth = each * float(annuity_factor(rate, lease.term_months))
            why = _finance_lease(lease.term_months / life_months, worth, at)
            if why:
                cause = f"lease {lease.id} is a finance lease: {why}"
                more = (
                    "a plan has operating leases only; give a shorter term or a lower payment, or model "
                    "the purchase with finance.debt"
                )
                problems.append(question.tree.problem("DC015", cause, path, help=more))
    if problems:
        raise InputError(problems)


def _finance_lease(term_frac: float, worth_frac: float, at: str) -> str:
    """Return why a lease is a finance lease; empty for an operating lease."""
    if term_frac >= MAJOR_PART_FRAC:
        return f"its term is {term_frac:.0%} of the service life ({MAJOR_PART_FRAC:.0%} or more)"
    if worth_frac >= SUBSTANTIALLY_ALL_FRAC:
        return (
            f"its payments are worth {worth_frac:.1%} of the price at {at} "
            f"({SUBSTANTIALLY_ALL_FRAC:.0%} or more)"
        )
    return ""
