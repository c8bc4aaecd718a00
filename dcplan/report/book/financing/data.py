"""Data of a plan's workbook: that of its cost, and with taxes or debt that of its financing."""

from __future__ import annotations

from dcplan.answers.plan.tables import money
from dcplan.inputs.log import InputLog
from dcplan.planning.solve.solved import Solved
from dcplan.report.book.data.deliveries import datable
from dcplan.report.book.data.tables import book_data, tables_of
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.specs.plan import money as money_specs


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
    # what the terms of a loan or tax write off is imported where a plan has them
    from dcplan.report.book.financing.terms import with_terms

    return with_terms(data, problem, solved.decisions, question, log)
