"""The plan with the data of its workbook: what the command line and ``dcplan.plan`` return."""

from __future__ import annotations

from dataclasses import replace

from dcplan.answers.plan import answer
from dcplan.answers.plan.request import PlanRequest
from dcplan.report.book.financing.data import plan_tables
from dcplan.result import Result
from dcplan.specs.verb import verb


@verb(PlanRequest, "plan")
def plan(request: PlanRequest) -> Result:
    """Find the optimal plan of a scenario, with what an exported workbook is computed from.

    Raises
    ------
    InputError
        When the scenario is wrong; carries every problem.
    AuditError
        When a plan fails its own audit: a bug.
    """
    return answer.plan(replace(request, more_tables=(*request.more_tables, plan_tables)))
