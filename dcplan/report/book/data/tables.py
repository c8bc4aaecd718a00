"""Tables of a plan for its workbook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from dcplan.inputs.log import InputLog
from dcplan.inputs.stand_ins import Span, span_of
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import (
    FabricOption,
    HallTerms,
    Placement,
    PlanningProblem,
    PortClass,
)
from dcplan.report.book.data.amounts import amounts, leased_racks, lots, shares_left_at_bounds
from dcplan.report.book.data.editable import live_inputs
from dcplan.report.book.data.facts import Facts, Frozen
from dcplan.report.book.data.hardware import cooled_facts, hall_facts, piece_facts, rack_facts
from dcplan.report.book.data.sites import finance_facts, lease_facts, rent_facts, site_facts
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.scenario.set_keys import FIELDS
from dcplan.specs.plan import book as specs


@dataclass(frozen=True)
class BookData:
    """Data of a workbook."""

    facts: Facts
    amounts: tuple[specs.AmountRow, ...]
    live: Mapping[str, str | Frozen]
    """Name in ``--set`` of each input of a formula, or the reason why it cannot be edited."""
    spans: Mapping[str, Span] = field(default_factory=dict)
    """Bounds of these inputs, where there are any."""


def tables_of(data: BookData) -> dict[str, Table]:
    """Return the data of a workbook as tables of a result."""
    live = [
        specs.LiveRow(
            key,
            None if isinstance(name, Frozen) else name,
            *_ends(data.spans.get(key)),
            name if isinstance(name, Frozen) else None,
        )
        for key, name in data.live.items()
    ]
    return {
        specs.FACTS.name: specs.FACTS.table(data.facts.rows),
        specs.AMOUNTS.name: specs.AMOUNTS.table(data.amounts),
        specs.LIVE.name: specs.LIVE.table(live),
    }


def _ends(span: Span | None) -> tuple[float | None, float | None]:
    return (span[0], span[2]) if span is not None else (None, None)


def book_data(
    problem: PlanningProblem, d: Decisions, books: Accounts, question: Question, log: InputLog
) -> BookData:
    """Collect the facts and amounts of a plan, and its editable inputs.

    Raises
    ------
    AuditError
        When a formula of the workbook does not give the plan's number.
    """
    placed = [p for p in problem.placements if _is_used(problem, d, p)]
    facts = Facts(log.rows)
    for p in placed:
        rack_facts(facts, p)
    seasons = [problem.season(t) for t in range(problem.quarters)]
    for hall in problem.halls:
        fitted = [c for c in hall.coolings if _is_fitted(d, hall, c.id, placed)]
        hall_facts(facts, hall, fitted, seasons)
        cooled_facts(facts, hall, placed, seasons)
        for option, ports in _networks(problem, d, books, hall):
            piece_facts(facts, option, ports, question.catalog)
    for site in problem.sites:
        site_facts(facts, site, problem.finance, problem.quarters)
    finance_facts(facts, problem, d)
    hours = list(rent_facts(facts, problem, books))
    shares = shares_left_at_bounds(problem, question)
    known = amounts(problem, d, books, placed)
    lease_facts(facts, problem, d)
    leased = leased_racks(problem, d)
    rows = (*known, *hours, *shares, *lots(problem, d, question), *leased)
    live = live_inputs(facts, problem, d, question)
    spans = {
        key: span
        for key in live
        if (span := span_of(FIELDS.get(key, key), log.rows.get(key), question.catalog))
    }
    return BookData(facts, rows, live, spans)


def _is_used(problem: PlanningProblem, d: Decisions, p: Placement) -> bool:
    """Return whether a placement has racks in any quarter, or buys some."""
    bought = p.key in d.fleet or any((h, c, k) == p.key for h, c, k, _ in d.ordered)
    return bought or any(d.racks(problem, p.key, t) for t in range(problem.quarters))


def _is_fitted(d: Decisions, hall: HallTerms, cooling: str, placed: Iterable[Placement]) -> bool:
    """Return whether a plan fits a cooling option, or an upgrade adds it for racks of the plan."""
    if hall.upgrade_for(cooling) is not None:
        return any((p.hall, p.cooling) == (hall.id, cooling) for p in placed)
    return any(n for (h, c, _), n in d.fitted.items() if (h, c) == (hall.id, cooling))


def _networks(
    problem: PlanningProblem, d: Decisions, books: Accounts, hall: HallTerms
) -> Iterator[tuple[FabricOption, PortClass]]:
    """Yield the fabric of a hall with each NIC class that has pieces."""
    there = {
        ports
        for t in range(problem.quarters)
        for pieces in (books.pieces_bought[hall.id, t], books.halls[hall.id, t].network.parts)
        for ports, _ in pieces
    }
    for option in problem.fabrics:
        if (option.hall, option.id) == (hall.id, d.fabric.get(hall.id)):
            yield from ((option, ports) for ports in option.shares if ports.id in there)
