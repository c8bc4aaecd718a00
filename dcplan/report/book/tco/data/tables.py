"""The tables of a comparison from which its workbook is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dcplan.answers.plan.tables import money
from dcplan.answers.tco.comparison import Comparison
from dcplan.report.book.data.facts import Frozen
from dcplan.report.book.data.tables import BookData, book_data, tables_of
from dcplan.report.book.tco.data.conventions import (
    computed_rows,
    energy_rows,
    inputs_of,
    left_out_rows,
    own_line_rows,
    tier_rows,
)
from dcplan.report.book.tco.data.rents import hours_rows, part_rows, rent_inputs, rent_row
from dcplan.report.book.tco.data.terms import (
    TERMS,
    editable,
    left_rows,
    money_terms,
    site_tables,
    site_terms,
    write_off_rows,
)
from dcplan.result import Table
from dcplan.specs.plan import book
from dcplan.specs.plan import tco_book as specs
from dcplan.specs.plan.tco_book import BookTerm

MOST_RENTS = 12
"""Rents that the workbook computes, the cheapest first; it lists the others as exported."""
STORED = "the number of storage blocks follows from it"
GIVEN = "the fleet of the scenario"
CALENDAR = "calendar"


def compared_tables(both: Comparison) -> dict[str, Table]:
    """Return the tables from which the workbook of a comparison with a fleet is computed.

    Raises
    ------
    AuditError
        When a formula of the workbook does not give the answer's number.
    """
    solved, question, log = both.fleet.solved, both.question, both.log
    if solved.audit is None or solved.decisions is None:
        return {}
    books = solved.audit.books
    data = book_data(solved.problem, solved.decisions, books, question, log)
    terms = list(_terms(both))
    rents = sorted(both.rents, key=lambda rent: rent.npv_usd)[:MOST_RENTS]
    rows = [rent_row(rent, both) for rent in rents]
    parts = [row for rent in rents for row in part_rows(rent, both)]
    hours = [row for rent in rents for row in hours_rows(rent, both)]
    own, tiers, computed = list(own_line_rows(both)), list(tier_rows(both)), computed_rows(both)
    flows = money.flows(solved.problem, books, question.catalog)
    taxes = list(site_terms(question, log))
    used: set[str | None] = {term.input for term in terms} | {row.price_input for row in hours}
    used |= {row.input for row in taxes}
    used |= {key for row in rows for key in rent_inputs(row)}
    used |= _of_conventions(parts, own, tiers)
    used |= {key for row in computed for key in inputs_of(row.formula)}
    more = _with_live(data, sorted(filter(None, used)), both, {row.key for row in computed})
    return tables_of(more) | {
        book.COMPUTED.name: book.COMPUTED.table(computed),
        specs.FLOWS.name: flows,
        specs.TERMS.name: specs.TERMS.table(terms),
        specs.WRITE_OFF.name: specs.WRITE_OFF.table(write_off_rows(question)),
        specs.LEFT.name: specs.LEFT.table(left_rows(question, log, both.owned.after_tax.months)),
        specs.RENTS.name: specs.RENTS.table(rows),
        specs.PARTS.name: specs.PARTS.table(parts),
        specs.HOURS.name: specs.HOURS.table(hours),
        specs.LEFT_OUT.name: specs.LEFT_OUT.table(left_out_rows(both, flows)),
        specs.OWN_LINES.name: specs.OWN_LINES.table(own),
        specs.SITE_ENERGY.name: specs.SITE_ENERGY.table(energy_rows(both)),
        specs.TIERS.name: specs.TIERS.table(tiers),
        **site_tables(taxes),
    }


def _of_conventions(
    parts: Iterable[specs.PartRow], own: Iterable[specs.OwnLineRow], tiers: Iterable[specs.TierRow]
) -> set[str | None]:
    """Return the keys of the inputs of parts of rents, own lines and tiers."""
    used: set[str | None] = set()
    for part in parts:
        used |= {part.share_input, part.upfront_input, part.monthly_input}
    for line in own:
        used |= {line.once_input, line.month_input, line.hour_input}
        used |= {line.units_input, line.share_input}
    for tier in tiers:
        used |= {tier.price_input, tier.end_input}
    return used


def _with_live(
    data: BookData, used: Iterable[str], both: Comparison, computed: set[str]
) -> BookData:
    """Add the inputs that only a comparison uses; those that follow from others cannot be edited."""
    live = dict(data.live)
    for key in used:
        live.setdefault(key, editable(key, both.question, both.log))
    return replace(data, live=live | dict.fromkeys(computed & set(live), Frozen.DERIVED))


def _terms(both: Comparison) -> Iterator[specs.TermRow]:
    """Yield the terms that the answer used."""
    work, known = both.work, both.log.rows
    yield specs.TermRow(BookTerm.ACCELERATORS, float(work.accelerators), "", None, GIVEN)
    yield specs.TermRow(BookTerm.STORAGE, work.storage_pb, "PB", None, STORED)
    yield from money_terms(both.question, both.log)
    if not any(key in known for key in dict(TERMS)[BookTerm.UTILIZATION]):
        none = "the scenario gives none"
        yield specs.TermRow(BookTerm.UTILIZATION, work.used_frac, "fraction", None, none)
    if not any(key in known for key in dict(TERMS)[BookTerm.MONTH_HOURS]):
        hours = both.conventions.hours_per_month
        yield specs.TermRow(BookTerm.MONTH_HOURS, hours, "h", None, CALENDAR)
