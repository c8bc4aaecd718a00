"""``dcplan tco``: a given fleet owned, against the same work rented."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dcplan.answers.describe import describe, inputs_of
from dcplan.answers.plan_refused import impossible
from dcplan.answers.tco_rented import HOURS_PER_MONTH, Work, rented_side, terms_of, work_of
from dcplan.answers.tco_tables import bridge_table, lines_table, pair_table, years_table
from dcplan.catalog.schema import DepreciationTable, System
from dcplan.economics.break_even import break_even_utilization_frac, npv_break_even_months
from dcplan.economics.cashflow import npv_usd
from dcplan.economics.monthly import (
    Loan,
    Side,
    loan_of,
    month_factors,
    owned_side,
    with_income_tax,
    with_property_tax,
    with_sales_tax,
)
from dcplan.economics.ranges import Array
from dcplan.errors import EXIT_OK, InputError
from dcplan.planning.menu.build import Built, build
from dcplan.planning.menu.finance import residual_of
from dcplan.planning.menu.work import OfferTerms
from dcplan.planning.presolve import presolve
from dcplan.planning.solve.run import Solved, solve_menu
from dcplan.result import Cell, Metric, Result, Table
from dcplan.scenario.load import Question, load
from dcplan.units import MONTHS_PER_YEAR, money

TANGIBLE = ("racks", "network", "storage")
"""First words of the capital lines that are equipment: sales and property tax, and the scenario's tax life."""
BUILDING_TABLE = "building-39"
BOOK_TABLE = "straight-line-5"


@dataclass(frozen=True)
class Owned:
    """The owned side, step by step."""

    plan_npv_usd: float
    before_tax: Side
    after_tax: Side
    loan: Loan | None
    steps: dict[str, float]
    """What each step from the plan's cost to the owned one adds. [USD]"""
    npv_usd: float
    shield: Array
    """Income tax that interest saves, by month. [USD]"""

    @property
    def cash_usd(self) -> Array:
        """Cash out by month after tax and debt."""
        financed = self.loan.payments - self.loan.drawn if self.loan is not None else 0.0
        return np.asarray(self.after_tax.cash_usd + financed - self.shield)


def tco(
    scenario: str | Path,
    *,
    variant: str | None = None,
    sets: Sequence[str] = (),
    catalogs: Sequence[str] = (),
) -> Result:
    """Compare owning the scenario's ``fleet`` with renting the same accelerators on every offer and term.

    Cash by month, discounted from mid-month at the scenario's nominal rate; after income tax on both sides where a
    rate is given, losses used at once elsewhere. Rent on demand is paid for used hours, commitments for all hours.

    Raises
    ------
    InputError
        When the scenario is wrong, or has no fleet or no cloud offers.
    """
    began = time.monotonic()
    question = load(str(scenario), variant=variant, sets=sets, catalogs=catalogs)
    _asked(question)
    built = build(question)
    problems = presolve(question, built)
    if problems:
        return impossible(question, built, problems)
    solved = solve_menu(built.menu, question, gap=0.001, time_limit_s=60.0)
    if solved.audit is None or solved.decisions is None:
        cause = "the fleet does not fit its limits: dcplan plan shows which"
        raise InputError([question.tree.problem("DC033", cause, ("fleet",))])
    owned = owned_of(question, built, solved)
    count = built.menu.fleet.accelerators if built.menu.fleet else 0
    work = work_of(question.scenario, built.ledger, count)
    rate, tax = built.menu.finance.discount_rate, _tax_rate(question, built)
    offers: dict[str, tuple[Side, float, list[str]]] = {}
    for offer in _alike(question, built):
        for term in terms_of(offer):
            side, notes = rented_side(offer, term, work, owned.before_tax.months, built.ledger)
            after = with_income_tax(side, {}, tax, np.zeros(side.months)) if tax else side
            offers[f"{offer.id}.{term}"] = (after, after.npv_usd(rate), notes)
    return _result(question, built, solved, owned, work, offers, began)


def _asked(question: Question) -> None:
    problems = []
    if question.scenario.fleet is None:
        cause = "tco compares a given fleet: name it under fleet: {system, accelerators}; plan chooses one"
        problems.append(question.tree.problem("DC003", cause, ("fleet",)))
    if question.scenario.cloud is None:
        problems.append(question.tree.problem("DC003", "tco needs cloud: {offers, terms}", ("cloud",)))
    if problems:
        raise InputError(problems)


def _alike(question: Question, built: Built) -> list[OfferTerms]:
    """Offers of the fleet's own accelerator; others do other work in the hour."""
    fleet = question.scenario.fleet
    chip = question.catalog.get("systems", fleet.system, System).accelerator if fleet else ""
    return [o for o in built.menu.offers if o.accelerator == chip]


def _tax_rate(question: Question, built: Built) -> float:
    given = question.scenario.finance.tax.income_rate
    return built.ledger.take("finance.tax.income_rate", given) if given else 0.0


def owned_of(question: Question, built: Built, solved: Solved) -> Owned:
    """The plan's owned flows by month, then sales and property tax, income tax and debt, each step priced."""
    if solved.audit is None:
        msg = "no audited plan"
        raise ValueError(msg)
    finance, ledger, terms = question.scenario.finance, built.ledger, built.menu.finance
    flows = [f for f in solved.audit.books.flows if f.group not in ("cloud", "after", "unmet")]
    rate = terms.discount_rate
    start = npv_usd(flows, rate)
    side = owned_side(flows, built.menu.quarters)
    steps = {"payments by month instead of mid-quarter": side.npv_usd(rate) - start}
    gear = [name for name in side.lines if name.split()[0] in TANGIBLE]
    if finance.tax.sales_tax_frac:
        side = _stepped(
            steps, "sales tax", rate, side,
            with_sales_tax(side, gear, ledger.take("finance.tax.sales_tax_frac", finance.tax.sales_tax_frac)),
        )  # fmt: skip
        gear.append("sales tax")
    if finance.tax.property_tax_frac_per_year:
        each = ledger.take("finance.tax.property_tax_frac_per_year", finance.tax.property_tax_frac_per_year)
        side = _stepped(
            steps, "property tax", rate, side, with_property_tax(side, gear, each, terms.life_quarters / 4)
        )  # fmt: skip
    before = side
    loan = _loan(question, built, side)
    tax = _tax_rate(question, built)
    if tax:
        shares = _shares(question, side, gear)
        side = _stepped(steps, "income tax", rate, side, with_income_tax(side, shares, tax, np.zeros(side.months)))
    total, shield = side.npv_usd(rate), np.zeros(side.months)
    if loan is not None:
        shield = tax * _year_end(loan.interest)
        steps["debt at its own rate, discounted at the discount rate"] = _loan_npv(loan, rate)
        steps["interest saves income tax"] = -float(shield @ month_factors(rate, side.months))
        total = start + sum(steps.values())
    return Owned(start, before, side, loan, steps, total, shield)


def _stepped(steps: dict[str, float], name: str, rate: float, before: Side, after: Side) -> Side:
    steps[name] = after.npv_usd(rate) - before.npv_usd(rate)
    return after


def _year_end(values: Array) -> Array:
    """Yearly sums in the last month of each year, as taxes are paid."""
    cash = np.zeros(len(values))
    for first in range(0, len(values), MONTHS_PER_YEAR):
        last = min(first + MONTHS_PER_YEAR, len(values)) - 1
        cash[last] = values[first : last + 1].sum()
    return cash


def _capital(side: Side) -> dict[str, Array]:
    words = (*TANGIBLE, "building", "cooling", "power", "sales", "order")
    return {name: cash for name, cash in side.lines.items() if name.split()[0] in words}


def _loan(question: Question, built: Built, side: Side) -> Loan | None:
    debt = question.scenario.finance.debt
    if debt is None:
        return None
    ledger = built.ledger
    months = round(ledger.take("finance.debt.term_years", debt.term_years) * MONTHS_PER_YEAR)
    share, rate = ledger.take("finance.debt.share", debt.share), ledger.take("finance.debt.rate", debt.rate)
    capital = np.asarray(sum(cash for name, cash in _capital(side).items() if name != "sales tax"))
    return loan_of(capital, share, rate, months)


def _loan_npv(loan: Loan, rate: float) -> float:
    months = len(loan.drawn)
    end = float((1.0 + rate) ** (-months / MONTHS_PER_YEAR))
    owed = loan.end_balance_usd * end
    return float((loan.payments - loan.drawn) @ month_factors(rate, months)) + owed


def _shares(question: Question, side: Side, gear: Sequence[str]) -> dict[str, Sequence[float]]:
    """Tax write-off of each capital line: the scenario's table for equipment and fit-out, 39 years for buildings."""
    name = question.scenario.finance.tax.depreciation or BOOK_TABLE
    own = question.catalog.get("depreciation", name, DepreciationTable).share_frac
    house = question.catalog.get("depreciation", BUILDING_TABLE, DepreciationTable).share_frac
    return {line: house if line.startswith("building") else own for line in _capital(side)}


def _result(
    question: Question, built: Built, solved: Solved, owned: Owned, work: Work,
    offers: dict[str, tuple[Side, float, list[str]]], began: float,
) -> Result:  # fmt: skip
    rate, months = built.menu.finance.discount_rate, owned.after_tax.months
    hours = work.accelerators * HOURS_PER_MONTH * float(month_factors(rate, months).sum())
    metrics = {
        "owned.npv_usd": Metric(owned.npv_usd, "USD", "Present cost of owning, after tax and debt"),
        "owned.usd_per_accelerator_hour": Metric(
            owned.npv_usd / (hours * work.used_frac), "USD/h", "Over used hours, both discounted"
        ),
    }
    rows: list[tuple[Cell, ...]] = []
    for key, (side, npv, notes) in offers.items():
        committed = not key.endswith(".on-demand")
        found = _break_even(owned, side, npv, hours, work, rate, question, built, committed=committed)
        metrics |= {
            f"rented.{key}.npv_usd": Metric(npv, "USD", "Present cost of renting, after tax"),
            f"rented.{key}.usd_per_accelerator_hour": Metric(
                npv / (hours * work.used_frac), "USD/h", "Over used hours, both discounted"
            ),
            f"break_even.{key}.months": Metric(found[0], "months", "Owning has cost no more from then on; none: never"),
            f"break_even.{key}.utilization_frac": Metric(found[1], "", "Above it owning is cheaper; none: never"),
        }
        offer, _, term = key.rpartition(".")
        rows.append((offer, term, npv, npv - owned.npv_usd, npv / (hours * work.used_frac),
                     "never" if found[0] is None else round(found[0], 1),
                     "paid used or not" if committed else "never" if found[1] is None else found[1],
                     "; ".join(notes)))  # fmt: skip
    best = min(offers, key=lambda k: offers[k][1]) if offers else None
    sides = {"owned": owned.after_tax} | {key: side for key, (side, _, _) in offers.items()}
    columns = ("offer", "term", "npv_usd", "over_owned_usd", "usd_per_used_hour", "break_even_months",
               "break_even_utilization_frac", "note")  # fmt: skip
    rows.sort(key=lambda r: float(str(r[2])))
    words = f"{question.scenario.name}: owning {work.accelerators:,} accelerators for {months // 12} years costs USD "
    words += f"{money(owned.npv_usd)} in present value"
    if best is not None:
        cheaper = "more" if owned.npv_usd > offers[best][1] else "less"
        words += (
            f", USD {money(abs(owned.npv_usd - offers[best][1]))} {cheaper} than the cheapest rent ({best}, "
            f"USD {money(offers[best][1])}); used {work.used_frac:.0%} of the time"
        )
    return Result(
        "tco", "ok", EXIT_OK, words,
        scenario=describe(question),
        metrics=metrics,
        tables={
            "rented": Table(columns, tuple(rows)),
            "sides": pair_table(owned.after_tax, offers[best][0] if best else None, best or "", rate),
            "lines": lines_table(sides, rate),
            "bridge": bridge_table(owned.plan_npv_usd, owned.steps, owned.npv_usd),
            "years": years_table(
                {name: side.cash_usd for name, side in sides.items()} | {"owned": owned.cash_usd}, _ends(sides, owned)
            ),
        },
        inputs=inputs_of(built),
        warnings=[{"code": "note", "message": text} for text in _notes(question, built)],
        run={"seconds": round(time.monotonic() - began, 3)},
    )  # fmt: skip


def _ends(sides: dict[str, Side], owned: Owned) -> dict[str, float]:
    """Worth at the end of each side as money in, less what is still owed."""
    ends = {name: -sum(side.end_usd.values()) for name, side in sides.items()}
    return ends | {"owned": ends["owned"] + (owned.loan.end_balance_usd if owned.loan else 0.0)}


def _break_even(
    owned: Owned, side: Side, npv: float, hours: float, work: Work, rate: float, question: Question, built: Built,
    *, committed: bool,
) -> tuple[float | None, float | None]:  # fmt: skip
    """Months after which owning has cost no more, what the hardware would bring then counted; and in utilization."""
    cash = np.concatenate([[0.0], owned.cash_usd])
    rent = np.concatenate([[0.0], side.cash_usd])
    monthly = (1.0 + rate) ** (1.0 / MONTHS_PER_YEAR) - 1.0
    worth = _resale(owned, question, built)
    months = npv_break_even_months(cash, rent, monthly, residual_usd=worth, for_good=True)
    if committed:  # paid used or not: how much it is used changes nothing
        return _number(months), None
    return _number(months), _number(break_even_utilization_frac(owned.npv_usd / hours, npv / (hours * work.used_frac)))


def _number(value: object) -> float | None:
    return None if value is None else float(np.asarray(value))


def _resale(owned: Owned, question: Question, built: Built) -> Array:
    """What the equipment would bring by month, less what is owed on it."""
    life = built.menu.finance.life_quarters / 4
    left = residual_of(question.scenario.finance, life, built.ledger)
    months = owned.after_tax.months
    worth = np.zeros(months + 1)
    for name, cash in _capital(owned.after_tax).items():
        if name.split()[0] not in TANGIBLE:
            continue
        for first in np.flatnonzero(cash):
            ages = (np.arange(months + 1) - first) / MONTHS_PER_YEAR
            worth += np.array([float(cash[first]) * left(a) if 0 < a < life else 0.0 for a in ages])
    if owned.loan is not None:
        principal = owned.loan.drawn - (owned.loan.payments - owned.loan.interest)
        worth[1:] -= np.cumsum(principal)
    return worth


def _notes(question: Question, built: Built) -> list[str]:
    alike = {o.id for o in _alike(question, built)}
    other = [o.id for o in built.menu.offers if o.id not in alike]
    notes = [f"{key}: another accelerator than the fleet's, not compared" for key in other]
    notes += [f"{x.id}: left out, {x.reason}" for x in built.menu.left_out if x.kind in ("offer", "term")]
    count = built.menu.fleet.accelerators if built.menu.fleet else 0
    short = [o.id for o in _alike(question, built) if o.max_accelerators < count]
    if short:
        notes.append(
            f"{count:,} accelerators are more than {', '.join(short)} are taken to deliver without a special agreement "
            "(cloud.max_accelerators_per_offer)"
        )
    notes.append(
        "not in this version: hybrid of both, Monte Carlo, spot and capacity blocks, payment milestones; the goodput "
        "loss of the owned side is not priced"
    )
    return notes
