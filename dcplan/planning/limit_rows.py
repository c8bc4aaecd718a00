"""What a row of the model means to a user: text, unit, place in the scenario and how to change it."""

from __future__ import annotations

from dcplan.planning.edits import Edit
from dcplan.planning.keys import Key
from dcplan.planning.limit_spec import Span
from dcplan.planning.limits import DEMAND_MET, LIMITS
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Scenario
from dcplan.units import quarter_index, quarter_name


def edit_of(row: Key, scenario: Scenario) -> tuple[Edit, Path] | None:
    """Return how a scenario gives more of the limit of a row, and the field that changes.

    It is None for a limit that no field gives.
    """
    spec = LIMITS.get(row.name)
    if spec is None or spec.edit is None or spec.path is None:
        return None
    path = spec.path(row.ids, scenario)
    if path is None:
        return None
    if path[-1] == "id" and spec.edit.fallback:
        path = (*path[:-1], spec.edit.fallback)
    return spec.edit, path


def is_users(row: Key) -> bool:
    """Return whether a user sets the limit of a row."""
    return row.name in LIMITS and bool(LIMITS[row.name].words)


def family_of(row: Key) -> Key:
    """Return the key of a limit without its quarter or month.

    Examples
    --------
    >>> str(family_of(Key("utility_mw", ("ashburn", 2)))), str(family_of(Key("budget", (3,))))
    ('utility_mw[ashburn]', 'budget')
    >>> str(family_of(Key("job_runs_once", ("base",))))
    'job_runs_once[base]'
    """
    spec = LIMITS.get(row.name)
    if spec is not None and spec.span in (Span.QUARTER, Span.MONTH):
        return Key(row.name, row.ids[:-1])
    return row


def is_monthly(row: Key) -> bool:
    """Return whether the rows of a limit are by month, not by quarter."""
    return LIMITS[row.name].span is Span.MONTH


def words_of(row: Key, start: str) -> tuple[str, str]:
    """Return the text of a limit, and the unit of a relaxation."""
    spec = LIMITS[row.name]
    quarter = ""
    if spec.span is Span.QUARTER and row.ids and isinstance(row.ids[-1], int):
        quarter = quarter_name(quarter_index(start) + row.ids[-1])
    return spec.words.format(*row.ids, *[""] * 4, t=quarter), spec.more


def in_its_unit(row: Key, problem: PlanningProblem, amount: float) -> tuple[float, str]:
    """Return an amount of a row in the unit of the scenario, and the unit of a relaxation."""
    unit = words_of(row, problem.start)[1]
    if row.name != DEMAND_MET.row:
        return amount, unit
    field, size = next(d.scenario_unit for d in problem.demands if d.id == row.ids[0])
    return amount * size, f"{field} {unit}"


def place_of(row: Key, question: Question) -> str:
    """Return ``file:line:col`` of a limit in the scenario.

    For a default it is the place of the nearest value above it.
    """
    path = LIMITS[row.name].path
    found = path(row.ids, question.scenario) if path else None
    return str(question.tree.place(found)) if found is not None else ""
