"""Financial terms of a scenario: discount rate, budget, residual values."""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.catalog.schema import System
from dcplan.economics.cash_flow import AssetClass
from dcplan.economics.discounting import straight_line_frac
from dcplan.economics.loans import level_payment_usd
from dcplan.economics.monthly.weights import financed_weights
from dcplan.errors import InputError
from dcplan.inputs.financing import PLANT_LIFE, financing_of
from dcplan.inputs.leases import lease_payment_frac
from dcplan.inputs.log import InputLog
from dcplan.inputs.residual_value import residual_of
from dcplan.planning.problem.terms import FinanceTerms, LeaseTerms
from dcplan.provenance import Quantity
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Finance, HardwareLease, Scenario
from dcplan.units import (
    MONTHS_PER_QUARTER,
    MONTHS_PER_YEAR,
    QUARTERS_PER_YEAR,
    quarter_index,
    quarter_name,
)

COST_EPS = 1e-9
"""Negative present cost of one USD from which it is not a rounding of doubles."""


def finance_terms(scenario: Scenario, log: InputLog) -> FinanceTerms:
    """Resolve ``finance:`` with the catalog's defaults, and the taxes of sites.

    Hardware keeps the residual curve's share of its price at the end of the horizon; buildings,
    power and cooling keep their straight-line book value, and halls only the part that racks use.
    Otherwise the model would stop buying near the end.
    """
    finance, quarters = scenario.finance, scenario.horizon.quarters
    rate = log.chosen("finance.discount_rate", finance.discount_rate, "finance", "discount-rate")
    life = log.chosen(
        "finance.hardware_life_years", finance.hardware_life_years, "finance", "hardware-life-years"
    )
    ages = [(quarters - t) / QUARTERS_PER_YEAR for t in range(quarters)]
    total, by_quarter = _budget(finance.budget_usd, log)

    def book(asset: AssetClass) -> tuple[float, ...]:
        return tuple(straight_line_frac(age, years[asset]) for age in ages)

    share, service = _debt(finance, quarters, log)
    whole_life = (
        round(life * QUARTERS_PER_YEAR) / QUARTERS_PER_YEAR
    )  # hardware serves whole quarters
    financing = financing_of(finance, scenario.sites, rate, whole_life, log)
    years = {asset: log.parameter("finance", key) for asset, key in PLANT_LIFE.items()}
    return FinanceTerms(
        financing=financing if scenario.has_financing else None,
        debt_share_frac=share,
        debt_service_frac=service,
        discount_rate=rate,
        life_quarters=round(life * QUARTERS_PER_YEAR),
        budget_total_usd=total,
        budget_usd=by_quarter,
        hardware_residual_frac=hardware_left(finance, life, quarters, log),
        building_residual_frac=book(AssetClass.BUILDING),
        power_residual_frac=book(AssetClass.POWER),
        cooling_residual_frac=book(AssetClass.COOLING),
        price_level=price_level(finance, quarters, log),
        empty_hall_frac=log.chosen(
            "finance.empty_hall_residual_frac",
            finance.empty_hall_residual_frac,
            "finance",
            "empty-hall-residual-frac",
        ),
        plant_life_months=tuple((a, round(life * MONTHS_PER_YEAR)) for a, life in years.items()),
        leases=tuple(_lease(x, log) for x in finance.leases),
    )


def _lease(lease: HardwareLease, log: InputLog) -> LeaseTerms:
    names = (log.catalog.get("systems", name, System).id for name in lease.systems)
    quarters = lease.term_months // MONTHS_PER_QUARTER
    return LeaseTerms(lease.id, frozenset(names), quarters, lease_payment_frac(lease, log))


def refuse_profit(question: Question, finance: FinanceTerms, leads: Iterable[int]) -> None:
    """Reject terms under which hardware costs less than nothing after taxes, terms and debt.

    Its residual value is then above all that is paid for it, so a plan would buy without limit, and
    no cost is the least.

    Parameters
    ----------
    question : Question
        The scenario, for the place of the error.
    finance : FinanceTerms
        Its terms.
    leads : iterable of int
        Quarters from an order to service; payment terms count from there. [quarters]

    Raises
    ------
    InputError
        If an order of some quarter has a negative present cost.
    """
    terms, quarters = finance.financing, question.scenario.horizon.quarters
    if question.scenario.objective != "min_after_tax_cost" or terms is None:
        return
    weights = financed_weights(terms, quarters, 0)
    sites = [weights.at(site.id).capital for site in question.scenario.sites]
    paid = [min(x) for x in zip(*(x[AssetClass.RACKS] for x in sites), strict=True)]
    later = {0, *leads} if terms.milestones is not None else {0}
    for t, left in enumerate(finance.hardware_residual_frac):
        cost = min(paid[min(t + lead, quarters - 1)] for lead in later) - weights.end * left
        if cost < -COST_EPS:
            when = quarter_name(quarter_index(question.scenario.horizon.start) + t)
            cause = (
                f"hardware ordered in {when} costs less than nothing: USD 1 of it has a present cost of "
                f"USD {cost:.3f} after taxes, payment terms, debt and a residual value of {left:.1%} of "
                "the price, so a plan would buy without limit"
            )
            more = (
                "lower finance.residual, the late payments of finance.payment, finance.debt.share or "
                "the income tax rate, or use objective: min_cost"
            )
            raise InputError([question.tree.problem("DC015", cause, ("finance",), help=more)])


def hardware_left(
    finance: Finance, life_years: float, quarters: int, log: InputLog
) -> tuple[float, ...]:
    """Return the share of the price of hardware left at the end, by the quarter of its payment.

    Nothing is left after the end of life.
    """
    left = residual_of(finance, life_years, log)
    ages = [(quarters - t) / QUARTERS_PER_YEAR for t in range(quarters)]
    return tuple(left(age) if age <= life_years else 0.0 for age in ages)


def price_level(finance: Finance, quarters: int, log: InputLog) -> tuple[float, ...]:
    """Return the running costs of each quarter over those of today; empty without inflation.

    It is (1 + i)^(t / 4), with i the yearly rate.
    """
    if finance.inflation_frac_per_year is None:
        return ()
    rate = log.take("finance.inflation_frac_per_year", finance.inflation_frac_per_year)
    return tuple((1.0 + rate) ** (t / QUARTERS_PER_YEAR) for t in range(quarters))


def _debt(finance: Finance, quarters: int, log: InputLog) -> tuple[float, tuple[float, ...]]:
    """Return the borrowed share of capital cost, and its debt service.

    It has level monthly payments from the quarter after the loan on.
    """
    if finance.debt is None:
        return 0.0, ()
    rate = log.take("finance.debt.rate", finance.debt.rate)
    months = max(
        round(log.take("finance.debt.term_years", finance.debt.term_years) * MONTHS_PER_YEAR), 1
    )
    each = float(level_payment_usd(1.0, rate / MONTHS_PER_YEAR, months)) * MONTHS_PER_QUARTER
    term = -(-months // MONTHS_PER_QUARTER)
    last = each * (months - (term - 1) * MONTHS_PER_QUARTER) / MONTHS_PER_QUARTER
    service = (0.0, *(each if k < term else last if k == term else 0.0 for k in range(1, quarters)))
    return log.take("finance.debt.share", finance.debt.share), service


def _budget(
    series: list[Quantity] | None, log: InputLog
) -> tuple[float | None, tuple[float, ...] | None]:
    if series is None:
        return None, None
    if len(series) == 1:
        return log.take("finance.budget_usd", series[0]), None
    return None, log.series("finance.budget_usd", series, len(series))
