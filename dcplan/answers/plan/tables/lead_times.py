"""Long-lead equipment of the plan's new halls, with the last day to order."""

from __future__ import annotations

from datetime import timedelta

from dcplan.answers.common.long_lead import HALL_LEAD, lead_time
from dcplan.answers.plan.calendar import first_day
from dcplan.inputs.log import InputLog
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.result import Table
from dcplan.specs.plan.places import site as specs
from dcplan.units import DAYS_PER_WEEK


def lead_times(problem: PlanningProblem, d: Decisions, log: InputLog) -> Table:
    """Return the last day to order for each new hall's first use.

    A positive ``weeks_before_start`` is a day before the plan starts.
    """
    start = first_day(problem, 0)
    rows = []
    for hall in problem.halls:
        used = [t for (h, _, t), n in d.fitted.items() if h == hall.id and n]
        if not hall.needs_blocks or hall.lead or not used:
            continue
        first = first_day(problem, min(used))
        for name in HALL_LEAD:
            lead = lead_time(name, log)
            by = first - timedelta(weeks=lead.weeks)
            before = max((start - by).days / DAYS_PER_WEEK, 0.0)
            rows.append(
                specs.LeadTimeRow(
                    hall.id, str(first), name, lead.weeks, lead.high_weeks, str(by), before
                )
            )
    return specs.LEAD_TIMES.table(rows)


def late_notes(table: Table) -> list[str]:
    """Write one note per hall whose equipment must be ordered before the plan starts."""
    worst: dict[str, specs.LeadTimeRow] = {}
    for row in specs.LEAD_TIMES.rows(table):
        before = worst[row.hall].weeks_before_start if row.hall in worst else 0.0
        if row.weeks_before_start > before:
            worst[row.hall] = row
    return [
        f"{hall} needs power from {row.powered_from}, so its long-lead equipment must be ordered "
        f"before the plan starts ({row.equipment} by {row.order_by}, {row.weeks_before_start:.0f} "
        'weeks earlier); see the table "Long-lead equipment", or set power.lead_quarters and available_from'
        for hall, row in worst.items()
    ]
