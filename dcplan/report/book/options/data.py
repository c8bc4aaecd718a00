"""Data of the workbook of ``tco`` without a fleet: facts, amounts and payments of each option."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from dcplan.answers.plan.tables import money
from dcplan.answers.tco.optimized import PricedPlans
from dcplan.catalog.schema import Offer
from dcplan.errors import AuditError
from dcplan.inputs.cloud_prices import OfferTerms, accompanying, row_of
from dcplan.inputs.cloud_prices.accompanying import Extra
from dcplan.inputs.log import InputLog
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.existing import earlier_hardware
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.solved import Solved
from dcplan.report.book.cost import EXTRA, SUPPORT
from dcplan.report.book.data.deliveries import datable
from dcplan.report.book.data.facts import Facts, Frozen, Place
from dcplan.report.book.data.tables import BookData, book_data, tables_of
from dcplan.report.book.data.term import Term
from dcplan.report.book.tco.data.rents import same_row
from dcplan.report.book.tco.data.terms import (
    earlier_rows,
    editable,
    left_rows,
    live_terms,
    money_terms,
    site_tables,
    site_terms,
    write_off_rows,
)
from dcplan.result import Table
from dcplan.specs.plan import book, tco_book
from dcplan.specs.plan import money as money_specs
from dcplan.specs.plan import plans_book as specs
from dcplan.specs.plan.money import FlowRow
from dcplan.specs.plan.tco_book import BookTerm
from dcplan.units import MONTHS_PER_QUARTER, quarter_index

SHOWN = 3
"""Options with sheets: hybrid, owned, rented; those with one offer are listed as exported."""
FIXED_DATES = "the horizon is fixed"
R = TypeVar("R")


def planned_tables(found: PricedPlans) -> dict[str, Table]:
    """Return the tables from which the workbook of sourcing options is computed.

    They are empty where no option has a plan, and where payment terms would need orders of one
    quarter and line to be paid in different quarters.

    Raises
    ------
    AuditError
        When a formula of the workbook does not give the answer's number.
    """
    options, own = _options(found)
    data = {name: _data(solved, found) for name, solved in own.items()}
    if not own or not datable(found.question, [flows for _, flows in data.values()]):
        return {}
    rows = [
        (
            _named(each.facts.rows, specs.OptionFactRow, name),
            _named(each.amounts, specs.OptionAmountRow, name),
            _named(flows, specs.OptionFlowRow, name),
        )
        for name, (each, flows) in data.items()
    ]
    return {
        specs.OPTIONS.name: specs.OPTIONS.table(options),
        specs.FACTS.name: specs.FACTS.table(x for facts, _, _ in rows for x in facts),
        specs.AMOUNTS.name: specs.AMOUNTS.table(x for _, amounts, _ in rows for x in amounts),
        specs.FLOWS.name: specs.FLOWS.table(x for _, _, flows in rows for x in flows),
        specs.EARLIER.name: specs.EARLIER.table(
            x for name, solved in own.items() for x in _earlier(name, solved)
        ),
    } | _common(found, [each for each, _ in data.values()])


def _earlier(name: str, solved: Solved) -> list[specs.OptionEarlierRow]:
    """Return the book value of earlier hardware of one option by month."""
    if solved.decisions is None:
        return []
    months = solved.problem.quarters * MONTHS_PER_QUARTER
    rows = earlier_rows(earlier_hardware(solved.problem, solved.decisions), months)
    return _named(list(rows), specs.OptionEarlierRow, name)


def _options(found: PricedPlans) -> tuple[list[specs.OptionRow], dict[str, Solved]]:
    """Return the options with a plan, and the plans that differ."""
    own: dict[str, Solved] = {}
    rows = []
    for option in found.options[:SHOWN]:
        solved = option.plan.solved
        if solved is None:
            continue
        same = next((name for name, other in own.items() if other is solved), "")
        if not same:
            own[option.name] = solved
        rows.append(specs.OptionRow(option.name, same))
    return rows, own


def _common(found: PricedPlans, plans: Sequence[BookData]) -> dict[str, Table]:
    """Return the tables that all options share: inputs, terms, write-off and resale value."""
    question, log = found.question, found.made.log
    live: dict[str, str | Frozen] = {}
    for each in plans:  # what one option fixes cannot be edited
        live |= {k: x for k, x in each.live.items() if not isinstance(live.get(k), Frozen)}
    terms = list(money_terms(question, log))
    existing = bool(question.scenario.assets)
    own = list(site_terms(question, log))
    live = live_terms([*terms, *own], question, log, existing=existing) | live
    start = float(quarter_index(question.scenario.horizon.start))
    terms.append(tco_book.TermRow(BookTerm.START, start, "", None, FIXED_DATES))
    months = question.scenario.horizon.quarters * MONTHS_PER_QUARTER
    spans = {key: span for each in plans for key, span in each.spans.items()}
    inputs = tables_of(BookData(Facts(log.rows), (), dict(sorted(live.items())), spans))
    return {
        book.LIVE.name: inputs[book.LIVE.name],
        tco_book.TERMS.name: tco_book.TERMS.table(terms),
        tco_book.WRITE_OFF.name: tco_book.WRITE_OFF.table(write_off_rows(question)),
        tco_book.LEFT.name: tco_book.LEFT.table(left_rows(question, log, months)),
        **site_tables(own),
    }


def _named(rows: Sequence[Any], make: Callable[..., R], option: str) -> list[R]:
    """Return rows with the option that they belong to."""
    return [
        make(**{f.name: getattr(row, f.name) for f in fields(row)}, option=option) for row in rows
    ]


def _data(solved: Solved, found: PricedPlans) -> tuple[BookData, list[FlowRow]]:
    """Return the facts, amounts and payments of one option.

    Its decisions are fixed, those of rent included, so the prices of rent can be edited.

    Raises
    ------
    AuditError
        When the option has no audited plan, or a formula does not give the answer's number.
    """
    question, log = found.question, found.made.log
    if solved.audit is None or solved.decisions is None:
        msg = "the workbook needs the audited plan of each option"
        raise AuditError(msg)
    problem, books = solved.problem, solved.audit.books
    data = book_data(problem, solved.decisions, books, question, log)
    extras = list(_extra_facts(data.facts, problem, books, log))
    live = dict(data.live)
    for key in data.facts.live:
        rent = key.startswith("cloud.") and live.get(key) is Frozen.SHARED_WORK
        if rent or key not in live:
            live[key] = editable(key, question, log)
    flows = money_specs.FLOWS.rows(money.flows(problem, books, question.catalog))
    return BookData(data.facts, (*data.amounts, *extras), live, data.spans), flows


def _extra_facts(
    facts: Facts, problem: PlanningProblem, books: Accounts, log: InputLog
) -> Iterator[book.AmountRow]:
    """Write the prices of what accompanies rent; yield the pieces of each line at that price."""
    for offer in problem.offers:
        paid = [f for f in books.flows if f.offer == offer.id and f.goods is not None]
        for extra, usd in _prices(offer).items():
            own = [f for f in paid if f.goods is not None and f.goods.item == extra.value]
            if not own or not usd:
                continue
            at = Place(facts, (offer.id, extra.value, ""))
            if extra is Extra.SUPPORT:
                fee = facts.input(_input(log, extra, offer))
                at.write("support_frac", "fraction", usd, fee)
                yield from _rows(own, SUPPORT, offer.id, extra, usd)
                continue
            each = facts.input(_input(log, extra, offer))
            at.write("usd_each", "USD", usd, _price(each, extra, usd))
            yield from _rows(own, EXTRA, offer.id, extra, usd)


def _rows(
    flows: Sequence[Any], what: str, offer: str, extra: Extra, usd: float
) -> Iterator[book.AmountRow]:
    sums: dict[tuple[str, int], float] = {}
    for f in flows:
        line = f"{f.group} {f.line}"
        sums[line, f.quarter] = sums.get((line, f.quarter), 0.0) + f.usd / usd
    for (line, quarter), amount in sums.items():
        yield book.AmountRow(what, offer, extra.value, line, quarter, amount)


def _prices(offer: OfferTerms) -> dict[Extra, float]:
    """Return the price of each cost that accompanies the rent of an offer."""
    extras = offer.extras
    prices = dict(extras.by_use) | dict(extras.by_time)
    return prices | {Extra.SET_UP: extras.set_up_usd, Extra.SUPPORT: extras.support_frac}


def _input(log: InputLog, extra: Extra, offer: OfferTerms) -> str:
    """Return the key of the input with the price of a cost."""
    provider = log.catalog.get("cloud", row_of(offer.id), Offer).provider
    name = {
        Extra.SUPPORT: accompanying.support_parameter(provider, log),
        Extra.STORAGE: accompanying.storage_parameter(provider, log),
        Extra.NETWORK: accompanying.NETWORK_PRICE,
        Extra.CPU_NODES: accompanying.CPU_PRICE,
        Extra.SET_UP: accompanying.SET_UP_PRICE,
        Extra.DEBUGGING: accompanying.DEBUGGING_PRICE,
        Extra.EGRESS: accompanying.egress_parameter(provider, log),
    }[extra]
    return same_row(log, name)


def _price(each: Term, extra: Extra, usd: float) -> Term:
    """Return the formula of a price: the input, times what one piece stores or sends."""
    return each * (usd / each.value) if extra in (Extra.STORAGE, Extra.EGRESS) else each
