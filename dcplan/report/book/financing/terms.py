"""Terms of a plan's taxes, payments and debt, from which the pages of financing are computed."""

from __future__ import annotations

from dataclasses import replace

from dcplan.inputs.log import InputLog
from dcplan.planning.audit.existing import earlier_hardware
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.report.book.data.tables import BookData, tables_of
from dcplan.report.book.tco.data.terms import (
    earlier_rows,
    left_rows,
    live_terms,
    money_terms,
    site_tables,
    site_terms,
    write_off_rows,
)
from dcplan.result import Table
from dcplan.scenario.load import Question
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


def with_terms(
    data: BookData, problem: PlanningProblem, d: Decisions, question: Question, log: InputLog
) -> dict[str, Table]:
    """Return the tables of a workbook's data with those of its terms, write-off and residual values."""
    terms = [term for term in money_terms(question, log) if term.term not in OF_RENT]
    own = list(site_terms(question, log))
    more = live_terms([*terms, *own], question, log, existing=bool(problem.existing))
    months = problem.quarters * MONTHS_PER_QUARTER
    live = dict(sorted((more | dict(data.live)).items()))
    earlier = earlier_rows(earlier_hardware(problem, d), months)
    return tables_of(replace(data, live=live)) | {
        tco_book.TERMS.name: tco_book.TERMS.table(terms),
        tco_book.WRITE_OFF.name: tco_book.WRITE_OFF.table(write_off_rows(question)),
        tco_book.EARLIER.name: tco_book.EARLIER.table(earlier),
        tco_book.LEFT.name: tco_book.LEFT.table(left_rows(question, log, months)),
        **site_tables(own),
    }
