"""Data of the workbook of a comparison: facts of the owned fleet, terms, and hours of the rents."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from dcplan.answers.plan.tables import money
from dcplan.answers.tco import rented
from dcplan.answers.tco.comparison import Comparison, Rent
from dcplan.answers.tco.conventions import has_conventions
from dcplan.answers.tco.owned import LOST_GOODPUT
from dcplan.answers.tco.rented_hours import BLOCK, SPOT, Hours, schedules
from dcplan.catalog.schema import DepreciationTable, Offer, Parameter
from dcplan.economics.monthly.earlier import Earlier, earlier_book
from dcplan.inputs.cloud_prices import LENGTHS, accompanying, row_of
from dcplan.inputs.financing import BUILDING_TABLE, EQUIPMENT_TABLE
from dcplan.inputs.log import InputLog
from dcplan.inputs.residual_value import residual_of
from dcplan.provenance import Quantity, Status
from dcplan.report.book.data.facts import Frozen
from dcplan.report.book.data.tables import BookData, book_data, tables_of
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.scenario.set_keys import set_key
from dcplan.specs.plan import tco_book as specs
from dcplan.specs.plan.tco_book import BookTerm
from dcplan.units import MONTHS_PER_YEAR, unit_of

MOST_RENTS = 12
"""Rents that the workbook computes, the cheapest first; it lists the others as exported."""
STORED = "the number of storage blocks follows from it"
DATES = "the dates of payments are fixed"
GIVEN = "the fleet of the scenario"
UNITS = {
    BookTerm.PRICE_CHANGE: "fraction per year",
    BookTerm.INCOME_TAX: "fraction",
    BookTerm.PROPERTY_TAX: "fraction per year",
    BookTerm.BUILDING_TAX: "fraction per year",
    BookTerm.COOLING_TAX: "fraction per year",
    BookTerm.POWER_TAX: "fraction per year",
    BookTerm.DEBT_SHARE: "fraction",
    BookTerm.DEBT_RATE: "fraction per year",
    BookTerm.LOST_OWNED: "fraction",
    BookTerm.LOST_RENTED: "fraction",
    BookTerm.CPU_NODES: "USD/accelerator/month",
    BookTerm.NETWORK: "USD/accelerator/month",
    BookTerm.DEBUGGING: "USD/month",
}
"""Units that the key of the input does not contain."""

TERMS: tuple[tuple[BookTerm, tuple[str, ...]], ...] = (
    (BookTerm.UTILIZATION, ("fleet.utilization_frac",)),
    (BookTerm.EGRESS, ("cloud.egress_tb_per_month",)),
    (BookTerm.PRICE_CHANGE, ("cloud.price_change_frac_per_year",)),
    (BookTerm.INCOME_TAX, ("finance.tax.income_rate",)),
    (BookTerm.SALES_TAX, ("finance.tax.sales_tax_frac",)),
    (BookTerm.PROPERTY_TAX, ("finance.tax.property_tax_frac_per_year",)),
    (BookTerm.BUILDING_TAX, ("finance.tax.building_property_tax_frac_per_year",)),
    (BookTerm.COOLING_TAX, ("finance.tax.cooling_property_tax_frac_per_year",)),
    (BookTerm.POWER_TAX, ("finance.tax.power_property_tax_frac_per_year",)),
    (BookTerm.DEPOSIT, ("finance.payment.deposit_frac",)),
    (BookTerm.ACCEPTANCE, ("finance.payment.acceptance_frac",)),
    (BookTerm.DEBT_SHARE, ("finance.debt.share",)),
    (BookTerm.DEBT_RATE, ("finance.debt.rate",)),
    (BookTerm.DEBT_YEARS, ("finance.debt.term_years",)),
    (BookTerm.LIFE, ("finance.hardware_life_years", "finance.hardware-life-years")),
    (BookTerm.BUILDING_LIFE, ("finance.building-life-years",)),
    (BookTerm.COOLING_LIFE, ("finance.cooling-life-years",)),
    (BookTerm.POWER_LIFE, ("finance.power-life-years",)),
    (BookTerm.LOST_OWNED, (f"finance.{LOST_GOODPUT}",)),
    (BookTerm.LOST_RENTED, (f"finance.{rented.LOST_GOODPUT}",)),
    (BookTerm.CPU_NODES, (f"finance.{accompanying.CPU_PRICE}",)),
    (BookTerm.NETWORK, (f"finance.{accompanying.NETWORK_PRICE}",)),
    (BookTerm.SET_UP, (f"finance.{accompanying.SET_UP_PRICE}",)),
    (BookTerm.DEBUGGING, (f"finance.{accompanying.DEBUGGING_PRICE}",)),
)
"""Terms that inputs give, each with the keys of the input; the first that the answer used counts."""


def compared_tables(both: Comparison) -> dict[str, Table]:
    """Return the tables from which the workbook of a comparison with a fleet is computed.

    They are empty for a comparison with conventions of its own (``comparison:``, energy in tiers):
    its formulas are not those of the workbook, which then has the tables of the answer.

    Raises
    ------
    AuditError
        When a formula of the workbook does not give the answer's number.
    """
    solved, question, log = both.fleet.solved, both.question, both.log
    if solved.audit is None or solved.decisions is None or has_conventions(question):
        return {}
    books = solved.audit.books
    data = book_data(solved.problem, solved.decisions, books, question, log)
    terms = list(_terms(both))
    rents = sorted(both.rents, key=lambda rent: rent.npv_usd)[:MOST_RENTS]
    rows = [_rent(rent, both) for rent in rents]
    hours = [row for rent in rents for row in _hours(rent, both)]
    used = {term.input for term in terms} | {row.price_input for row in hours}
    for rent in rows:
        used |= {rent.storage_input, rent.support_input, rent.egress_input}
    flows = money.flows(solved.problem, books, question.catalog)
    return tables_of(_with_live(data, sorted(filter(None, used)), both)) | {
        specs.FLOWS.name: flows,
        specs.TERMS.name: specs.TERMS.table(terms),
        specs.WRITE_OFF.name: specs.WRITE_OFF.table(write_off_rows(question)),
        specs.LEFT.name: specs.LEFT.table(left_rows(question, log, both.owned.after_tax.months)),
        specs.RENTS.name: specs.RENTS.table(rows),
        specs.HOURS.name: specs.HOURS.table(hours),
    }


def _with_live(data: BookData, used: list[str], both: Comparison) -> BookData:
    """Add the inputs that only a comparison uses."""
    live = dict(data.live)
    for key in used:
        live.setdefault(key, editable(key, both.question, both.log))
    return replace(data, live=live)


def editable(key: str, question: Question, log: InputLog) -> str | Frozen:
    """Return the name in ``--set`` of an input, or why it cannot be edited."""
    if log.rows[key].status == str(Status.DERIVED):
        return Frozen.DERIVED
    return set_key(key, question)


def _terms(both: Comparison) -> Iterator[specs.TermRow]:
    """Yield the terms that the answer used."""
    work = both.work
    yield specs.TermRow(BookTerm.ACCELERATORS, float(work.accelerators), "", None, GIVEN)
    yield specs.TermRow(BookTerm.STORAGE, work.storage_pb, "PB", None, STORED)
    yield from money_terms(both.question, both.log)
    if not any(key in both.log.rows for key in dict(TERMS)[BookTerm.UTILIZATION]):
        none = "the scenario gives none"
        yield specs.TermRow(BookTerm.UTILIZATION, work.used_frac, "fraction", None, none)


def money_terms(question: Question, log: InputLog) -> Iterator[specs.TermRow]:
    """Yield the terms that inputs give, the residual value and the dates of payments."""
    rows, finance = log.rows, question.scenario.finance
    for term, keys in TERMS:
        key = next((k for k in keys if k in rows), None)
        if key is not None:
            unit = UNITS.get(term) or unit_of(key)
            yield specs.TermRow(term, float(rows[key].value), unit, key)
    if isinstance(finance.residual, Quantity):
        key = "finance.residual"
        yield specs.TermRow(BookTerm.RESIDUAL, finance.residual.value, "fraction", key)
    payment = finance.payment
    if payment is not None:
        for name, months in (
            (BookTerm.DEPOSIT_MONTHS, payment.deposit_months_before),
            (BookTerm.ACCEPTANCE_MONTHS, payment.acceptance_months_after),
        ):
            yield specs.TermRow(name, float(months), "months", None, DATES)


def live_terms(
    terms: Iterable[specs.TermRow], question: Question, log: InputLog, *, existing: bool
) -> dict[str, str | Frozen]:
    """Return the name in ``--set`` of the input of each term, or why it cannot be edited.

    The value of existing hardware follows from the residual value and the service life, but its
    payments have no formula. So neither can be edited in a plan with such hardware.
    """
    fixed = (BookTerm.RESIDUAL, BookTerm.LIFE) if existing else ()
    return {
        term.input: Frozen.RESALE if term.term in fixed else editable(term.input, question, log)
        for term in terms
        if term.input
    }


def write_off_rows(question: Question) -> Iterator[specs.WriteOffRow]:
    """Yield the tax write-off by year of equipment and of buildings, as shares that sum to 1."""
    given = question.scenario.finance.tax.depreciation or EQUIPMENT_TABLE
    for name, building in ((given, False), (BUILDING_TABLE, True)):
        shares = np.array(question.catalog.get("depreciation", name, DepreciationTable).share_frac)
        for i, share in enumerate(shares / shares.sum()):
            yield specs.WriteOffRow(name, building, i + 1, float(share))


def earlier_rows(hardware: Sequence[Earlier], months: int) -> Iterator[specs.EarlierRow]:
    """Yield the book value of earlier hardware by month; nothing where there is none."""
    found = earlier_book(hardware, months)
    if not found.opening_usd:
        return
    for month in range(months):
        charge, sold, value = (float(x[month]) for x in (found.charge, found.sold, found.value))
        yield specs.EarlierRow(month, charge, sold, value)


def left_rows(question: Question, log: InputLog, months: int) -> Iterator[specs.LeftRow]:
    """Yield the resale value of equipment by age, over the horizon."""
    row = next(log.rows[k] for k in dict(TERMS)[BookTerm.LIFE] if k in log.rows)
    life = float(row.value)
    left = residual_of(question.scenario.finance, life, log)
    for month in range(months + 1):
        age = month / MONTHS_PER_YEAR
        yield specs.LeftRow(month, left(age) if age <= life else 0.0)


def _rent(rent: Rent, both: Comparison) -> specs.RentRow:
    log, offer = both.log, rent.offer
    provider = log.catalog.get("cloud", row_of(offer.id), Offer).provider
    support = accompanying.support_parameter(provider, log)
    egress = accompanying.egress_parameter(provider, log) if both.work.egress_tb_per_month else ""
    one = functools.partial(same_row, log)
    return specs.RentRow(
        rent=rent.name,
        offer=offer.id,
        term=rent.term,
        node_accelerators=offer.node_accelerators,
        storage_input=one(accompanying.storage_parameter(provider, log)),
        support_input=one(support) if support else None,
        egress_input=one(egress) if egress else None,
        interruptions_frac=rented.interruptions_frac(offer, both.work, log, [])
        if rent.term == SPOT
        else None,
    )


def same_row(log: InputLog, name: str) -> str:
    """Return the first input that the catalog row of a parameter gives.

    Providers may share a row under several aliases; an edit changes it for all of them.
    """
    row = log.catalog.get("finance", name, Parameter).id
    names = sorted({name, row, *log.catalog.get("finance", name, Parameter).aliases})
    return next(f"finance.{x}" for x in names if f"finance.{x}" in log.rows)


def _hours(rent: Rent, both: Comparison) -> Iterator[specs.HoursRow]:
    """Yield the months of a rent in each way to pay it, those with the same price in one row."""
    months = both.owned.after_tax.months
    ways = schedules(rent.offer, rent.term, both.work.used_frac, months)
    for number, hours in enumerate(ways, start=1):
        yield from _way(rent, number, hours)


def _way(rent: Rent, way: int, hours: Hours) -> Iterator[specs.HoursRow]:
    known = list(zip(hours.terms, hours.quarters, strict=True))
    first = 0
    for month in range(1, len(known) + 1):
        if month < len(known) and known[month] == known[first]:
            continue
        term, quarter = known[first]
        yield specs.HoursRow(
            rent=rent.name,
            way=way,
            first_month=first,
            last_month=month - 1,
            price_input=f"cloud.{row_of(rent.offer.id)}.{term.replace('-', '_')}_usd_per_h",
            price_quarter=quarter,
            paid=_paid(term),
        )
        first = month


def _paid(term: str) -> specs.Paid:
    if term in LENGTHS:
        return specs.Paid.ALL
    return specs.Paid.DAYS if term == BLOCK else specs.Paid.USED
