"""An earlier plan to repeat or to replan from: its decisions as columns of this menu."""

from __future__ import annotations

from dcplan.errors import InputError, Place, Problem
from dcplan.planning.decisions import columns_of
from dcplan.planning.goal import Keep
from dcplan.planning.problem.build import Built
from dcplan.result import Result, Table
from dcplan.scenario.load import Question
from dcplan.units import quarter_index


def decisions_of(result: Result, flag: str = "--fix-decisions") -> Table:
    """Decisions table of a result; refused where there is none."""
    if "decisions" not in result.tables:
        cause = f"this result of `{result.verb}` holds no decisions"
        raise InputError(
            [Problem("DC015", cause, Place(flag), help="dcplan plan FILE -f json -o result.json")]
        )
    return result.tables["decisions"]


def kept_from(
    question: Question,
    built: Built,
    earlier: Result | None,
    freeze_through: str | None,
    max_changes: int | None,
    *,
    fixed: bool,
) -> Keep | None:
    """The earlier plan as columns of this menu; what is frozen must still be in it."""
    if earlier is not None and fixed:
        cause = "--fix-decisions keeps every decision: --from changes nothing then"
        raise InputError([Problem("DC015", cause, Place("--from"), help="leave one of them out")])
    if earlier is None:
        flags = {"--freeze-through": freeze_through, "--max-changes": max_changes}
        idle = [
            Problem("DC015", f"{f} needs --from", Place(f))
            for f, v in flags.items()
            if v is not None
        ]
        if idle:
            raise InputError(idle)
        return None
    horizon = question.scenario.horizon
    began = earlier.scenario.get("start")
    if began != horizon.start:
        cause = f"the earlier plan begins in {began}, this scenario in {horizon.start}: keep horizon.start and freeze"
        raise InputError([Problem("DC015", cause, Place("--from"))])
    last = -1
    if freeze_through is not None:
        last = _quarter(freeze_through) - quarter_index(horizon.start)
        if not 0 <= last < horizon.quarters:
            raise InputError(
                [
                    Problem(
                        "DC015",
                        f"{freeze_through} is outside the horizon",
                        Place("--freeze-through"),
                    )
                ]
            )
    if max_changes is not None and max_changes < 0:
        raise InputError([Problem("DC015", f"{max_changes}: 0 or more", Place("--max-changes"))])
    table = decisions_of(earlier, "--from")
    values, gone = columns_of(built.menu, table)
    _offered(table, gone, last)
    lost = [x for x in gone if x.startswith(("order", "fabric"))]
    if max_changes is not None and len(lost) > max_changes:
        cause = (
            f"{len(lost)} decisions are not offered any more, more than --max-changes {max_changes}: "
            + "; ".join(lost[:5])
        )
        raise InputError([Problem("DC015", cause, Place("--max-changes"))])
    max_changes = None if max_changes is None else max_changes - len(lost)
    return Keep(values, last, max_changes)


def _quarter(text: str) -> int:
    try:
        return quarter_index(text)
    except ValueError:
        problem = Problem(
            "DC015", f"{text!r}: a quarter such as 2027-Q2 is needed", Place("--freeze-through")
        )
        raise InputError([problem]) from None


def _offered(table: Table, gone: list[str], last: int) -> None:
    """Refuse decisions without a quarter, and frozen ones that are gone."""
    early, wrong = [], []
    for row in table.rows:
        cell = dict(zip(table.columns, row, strict=False))
        t, text = cell.get("quarter"), " ".join(str(v) for v in row if v is not None)
        if cell.get("decision") == "fabric":  # chosen once for a hall
            continue
        if not isinstance(t, int | float) or isinstance(t, bool) or float(t) != int(t):
            wrong.append(text)
        elif t <= last:
            early.append(text)
    if wrong:
        cause = "decisions without a quarter: " + "; ".join(wrong[:5])
        raise InputError([Problem("DC015", cause, Place("--from"))])
    frozen = [x for x in gone if x in set(early)]
    if frozen:
        cause = "frozen decisions that this scenario does not offer any more: " + "; ".join(
            frozen[:5]
        )
        raise InputError([Problem("DC015", cause, Place("--from"))])
