"""Data of a plan's workbook: that of its cost, and with taxes or debt that of its financing."""

from __future__ import annotations

from dataclasses import replace

from dcplan.answers.plan.tables import money
from dcplan.inputs.log import InputLog
from dcplan.planning.audit.existing import earlier_hardware
from dcplan.planning.solve.solved import Solved
from dcplan.report.book.data.deliveries import datable
from dcplan.report.book.data.tables import book_data, tables_of
from dcplan.report.book.tco.data.terms import (
    earlier_rows,
    left_rows,
    live_terms,
    money_terms,
    write_off_rows,
)
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.specs.plan import money as money_specs
from dcplan.specs.plan import tco_book
from dcplan.specs.plan.tco_book import BookTerm
from dcplan.units import MONTHS_PER_QUARTER

OF_RENT = frozenset(
    {
        BookTerm.UTILIZATION,
        BookTerm.EGRESS,
        BookTerm.PRICE_CHANGE,
        BookTerm.LOST_OWNED,
        BookTerm.LOST_RENTED,
        BookTerm.CPU_NODES,
        BookTerm.NETWORK,
        BookTerm.SET_UP,
        BookTerm.DEBUGGING,
    }
)
"""Terms that no formula of a plan uses: what accompanies its rent is shown as planned."""


def plan_tables(solved: Solved, question: Question, log: InputLog) -> dict[str, Table]:
    """Return the tables from which the workbook of a plan is computed.

    The pages of financing need taxes, payment terms or debt in the scenario. They are left out where
    payment terms would need orders of one quarter and line to be paid in different quarters.

    Raises
    ------
    AuditError
        When a formula of the workbook does not give the plan's number.
    """
    if solved.audit is None or solved.decisions is None:
        return {}
    problem, books = solved.problem, solved.audit.books
    data = book_data(problem, solved.decisions, books, question, log)
    if problem.finance.financing is None:
        return tables_of(data)
    flows = money_specs.FLOWS.rows(money.flows(problem, books, question.catalog))
    if not datable(question, [flows]):
        return tables_of(data)
    terms = [term for term in money_terms(question, log) if term.term not in OF_RENT]
    more = live_terms(terms, question, log, existing=bool(problem.existing))
    months = problem.quarters * MONTHS_PER_QUARTER
    live = dict(sorted((more | dict(data.live)).items()))
    return tables_of(replace(data, live=live)) | {
        tco_book.TERMS.name: tco_book.TERMS.table(terms),
        tco_book.WRITE_OFF.name: tco_book.WRITE_OFF.table(write_off_rows(question)),
        tco_book.EARLIER.name: tco_book.EARLIER.table(
            earlier_rows(earlier_hardware(problem, solved.decisions), months)
        ),
        tco_book.LEFT.name: tco_book.LEFT.table(left_rows(question, log, months)),
    }
