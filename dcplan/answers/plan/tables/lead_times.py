"""Long-lead equipment of the plan's new halls against its quarters: what must be ordered by when."""

from __future__ import annotations

from datetime import date, timedelta

from dcplan.answers.facility.heat_rejection import HALL_LEAD
from dcplan.answers.plan.metrics import calendar_date
from dcplan.catalog.schema import Parameter
from dcplan.inputs.log import Ledger
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import Menu
from dcplan.result import Cell, Table
from dcplan.units import DAYS_PER_QUARTER, DAYS_PER_WEEK

COLUMNS = (
    "hall",
    "powered_from",
    "equipment",
    "weeks",
    "high_weeks",
    "order_by",
    "weeks_before_start",
)


def lead_times(menu: Menu, d: Decisions, ledger: Ledger) -> Table:
    """Last day to order for each new hall's first use; positive ``weeks_before_start`` is before
    the plan begins.
    """
    start = date.fromisoformat(calendar_date(menu.start, 0.0))
    rows: list[tuple[Cell, ...]] = []
    for hall in menu.halls:
        used = [t for (h, _, t), n in d.fitted.items() if h == hall.id and n]
        if not hall.needs_blocks or not used:
            continue
        first = date.fromisoformat(calendar_date(menu.start, min(used) * DAYS_PER_QUARTER))
        for name in HALL_LEAD:
            key = f"lead-{name}-weeks"
            weeks = ledger.parameter("facility", key)
            high = ledger.catalog.get("facility", key, Parameter).value.bounds[1]
            by = first - timedelta(weeks=weeks)
            before = (start - by).days / DAYS_PER_WEEK
            rows.append((hall.id, str(first), name, weeks, high, str(by), max(before, 0.0)))
    return Table(COLUMNS, tuple(rows))


def late_notes(table: Table) -> list[str]:
    """One sentence a hall whose equipment had to be ordered before the plan begins."""
    worst: dict[str, tuple[float, str, str]] = {}
    for hall, first, name, _, _, by, before in table.rows:
        if float(before or 0.0) > worst.get(str(hall), (0.0, "", ""))[0]:
            worst[str(hall)] = (float(before or 0.0), f"{name} by {by}", str(first))
    return [
        f"{hall} is powered from {first}: its long-lead equipment had to be ordered before the plan begins "
        f"({what}, {weeks:.0f} weeks before); see lead_times, or set power.lead_quarters and available_from"
        for hall, (weeks, what, first) in worst.items()
    ]
