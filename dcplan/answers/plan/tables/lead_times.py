"""Long-lead equipment of the plan's new halls: what must be ordered by when."""

from __future__ import annotations

from datetime import date, timedelta

from dcplan.answers.facility.heat_rejection import HALL_LEAD
from dcplan.answers.plan.calendar import calendar_date
from dcplan.catalog.schema import Parameter
from dcplan.inputs.log import InputLog
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.result import Table
from dcplan.specs.plan import site as specs
from dcplan.units import DAYS_PER_QUARTER, DAYS_PER_WEEK


def lead_times(problem: PlanningProblem, d: Decisions, log: InputLog) -> Table:
    """Return the last day to order for each new hall's first use.

    Positive ``weeks_before_start`` is before the plan begins.
    """
    start = date.fromisoformat(calendar_date(problem.start, 0.0))
    rows = []
    for hall in problem.halls:
        used = [t for (h, _, t), n in d.fitted.items() if h == hall.id and n]
        if not hall.needs_blocks or not used:
            continue
        first = date.fromisoformat(calendar_date(problem.start, min(used) * DAYS_PER_QUARTER))
        for name in HALL_LEAD:
            key = f"lead-{name}-weeks"
            weeks = log.parameter("facility", key)
            high = log.catalog.get("facility", key, Parameter).value.bounds[1]
            by = first - timedelta(weeks=weeks)
            before = max((start - by).days / DAYS_PER_WEEK, 0.0)
            rows.append(specs.LeadTimeRow(hall.id, str(first), name, weeks, high, str(by), before))
    return specs.LEAD_TIMES.table(rows)


def late_notes(table: Table) -> list[str]:
    """Write one sentence a hall whose equipment had to be ordered before the plan begins."""
    worst: dict[str, specs.LeadTimeRow] = {}
    for row in specs.LEAD_TIMES.rows(table):
        before = worst[row.hall].weeks_before_start if row.hall in worst else 0.0
        if row.weeks_before_start > before:
            worst[row.hall] = row
    return [
        f"{hall} is powered from {row.powered_from}: its long-lead equipment had to be ordered "
        f"before the plan begins ({row.equipment} by {row.order_by}, "
        f"{row.weeks_before_start:.0f} weeks before); see lead_times, "
        "or set power.lead_quarters and available_from"
        for hall, row in worst.items()
    ]
