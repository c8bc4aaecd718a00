"""An earlier plan to repeat or to revise: its decisions as columns of this planning problem."""

from __future__ import annotations

from dcplan.answers.plan.request import PlanRequest
from dcplan.errors import InputError, Place, Problem
from dcplan.planning.decision_table import columns_of
from dcplan.planning.goal import EarlierPlan
from dcplan.planning.problem.build import Built
from dcplan.result import Result, Table
from dcplan.scenario.load import Question
from dcplan.specs.plan.decided import DECISIONS
from dcplan.units import quarter_index


def decisions_of(result: Result, flag: str) -> Table:
    """Return the decisions of a result.

    Raises
    ------
    InputError
        When the result given by this flag has none.
    """
    if DECISIONS.name not in result.tables:
        cause = f"this result of `{result.verb}` contains no decisions"
        raise InputError(
            [Problem("DC015", cause, Place(flag), help="dcplan plan FILE -f json -o result.json")]
        )
    return result.tables[DECISIONS.name]


def kept_from(request: PlanRequest, question: Question, built: Built) -> EarlierPlan | None:
    """Return the earlier plan as columns of this planning problem, or None.

    Raises
    ------
    InputError
        When it starts in another quarter, or a frozen decision is no longer possible.
    """
    if request.earlier is None:
        return None
    horizon = question.scenario.horizon
    began = request.earlier.scenario.get("start")
    if began != horizon.start:
        cause = (
            f"the earlier plan starts in {began}, but this scenario starts in {horizon.start}: "
            "keep horizon.start and use --freeze-through"
        )
        raise InputError([Problem("DC015", cause, Place("--from"))])
    last = -1
    if request.freeze_through is not None:
        last = _quarter(request.freeze_through) - quarter_index(horizon.start)
        if not 0 <= last < horizon.quarters:
            cause = f"{request.freeze_through} is outside the horizon"
            raise InputError([Problem("DC015", cause, Place("--freeze-through"))])
    table = decisions_of(request.earlier, "--from")
    values, impossible = columns_of(built.problem, table)
    _offered(table, impossible, last)
    lost = [x for x in impossible if x.startswith(("order", "fabric"))]
    most = request.max_changes
    if most is not None and len(lost) > most:
        cause = (
            f"{len(lost)} earlier decisions are no longer possible, more than --max-changes "
            f"{most}: " + "; ".join(lost[:5])
        )
        raise InputError([Problem("DC015", cause, Place("--max-changes"))])
    return EarlierPlan(values, last, None if most is None else most - len(lost))


def _quarter(text: str) -> int:
    try:
        return quarter_index(text)
    except ValueError:
        cause = f"{text!r} is not a quarter such as 2027-Q2"
        raise InputError([Problem("DC015", cause, Place("--freeze-through"))]) from None


def _offered(table: Table, impossible: list[str], last: int) -> None:
    """Reject decisions without a quarter, and frozen ones that are no longer possible."""
    early, wrong = [], []
    for cells in table.rows:
        row = dict(zip(table.columns, cells, strict=False))
        t, text = row.get("quarter"), " ".join(str(v) for v in row.values() if v is not None)
        if row.get("decision") == "fabric":  # decided once per hall
            continue
        if not isinstance(t, int | float) or isinstance(t, bool) or float(t) != int(t):
            wrong.append(text)
        elif t <= last:
            early.append(text)
    if wrong:
        cause = "decisions without a quarter: " + "; ".join(wrong[:5])
        raise InputError([Problem("DC015", cause, Place("--from"))])
    frozen = [x for x in impossible if x in set(early)]
    if frozen:
        cause = "frozen decisions that are no longer possible in this scenario: " + "; ".join(
            frozen[:5]
        )
        raise InputError([Problem("DC015", cause, Place("--from"))])
