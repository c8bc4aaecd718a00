"""Terms of the workbook that inputs give, and what they write off and leave of a price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dcplan.answers.tco import rented
from dcplan.answers.tco.owned import LOST_GOODPUT
from dcplan.catalog.schema import DepreciationTable
from dcplan.economics.monthly.earlier import Earlier, earlier_book
from dcplan.inputs.cloud_prices import accompanying
from dcplan.inputs.financing import BUILDING_TABLE, EQUIPMENT_TABLE, SITE_TAX
from dcplan.inputs.log import InputLog
from dcplan.inputs.residual_value import residual_of
from dcplan.provenance import Quantity, Status
from dcplan.report.book.data.facts import Frozen
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.scenario.set_keys import set_key
from dcplan.specs.plan import tco_book as specs
from dcplan.specs.plan.tco_book import BookTerm
from dcplan.units import MONTHS_PER_YEAR, unit_of

DATES = "the dates of payments are fixed"
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
    BookTerm.MONTH_HOURS: "h",
    BookTerm.OWN_POWER: "kW",
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
    (BookTerm.MONTH_HOURS, ("comparison.hours_per_month",)),
    (BookTerm.OWN_POWER, ("comparison.average_accelerator_kw",)),
)
"""Terms that inputs give, each with the keys of the input; the first that the answer used counts."""


def editable(key: str, question: Question, log: InputLog) -> str | Frozen:
    """Return the name in ``--set`` of an input, or why it cannot be edited."""
    if log.rows[key].status == str(Status.DERIVED):
        return Frozen.DERIVED
    return set_key(key, question)


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


def site_tables(rows: Sequence[specs.SiteTermRow]) -> dict[str, Table]:
    """Return the table of the taxes by site; none where all sites have the same rates."""
    return {specs.SITE_TERMS.name: specs.SITE_TERMS.table(rows)} if rows else {}


def site_terms(question: Question, log: InputLog) -> Iterator[specs.SiteTermRow]:
    """Yield the rates of the sites with rates of their own; one that a site leaves out is that of all."""
    for site in question.scenario.sites:
        if site.tax is None or all(getattr(site.tax, name) is None for name in SITE_TAX):
            continue
        for term, (general, *_) in TERMS:
            name = general.removeprefix("finance.tax.")
            if name not in SITE_TAX:
                continue
            for key in (f"sites.{site.id}.tax.{name}", general):
                if key in log.rows:
                    unit = UNITS.get(term) or unit_of(key)
                    yield specs.SiteTermRow(site.id, term, float(log.rows[key].value), unit, key)
                    break


def live_terms(
    terms: Iterable[specs.TermRow | specs.SiteTermRow],
    question: Question,
    log: InputLog,
    *,
    existing: bool,
) -> dict[str, str | Frozen]:
    """Return the name in ``--set`` of the input of each term, or why it cannot be edited.

    The service life sets when existing hardware retires, so it cannot be edited in a plan with such
    hardware.
    """
    fixed = (BookTerm.LIFE,) if existing else ()
    return {
        term.input: Frozen.RETIRES if term.term in fixed else editable(term.input, question, log)
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
