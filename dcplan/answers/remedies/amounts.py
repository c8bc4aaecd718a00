"""Changes that give more of a limit, or a smaller demand: site power, halls, supply, budget, rent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dcplan.answers.remedies.change import Change, Move, both
from dcplan.answers.remedies.values import Field, base_of, change_of
from dcplan.planning.edits import Edit
from dcplan.planning.keys import Key
from dcplan.planning.limit_rows import edit_of
from dcplan.planning.limit_spec import Span
from dcplan.planning.limits import HALL, HALL_RACKS, LIMITS, PENALTIES, WITHOUT_SITE
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import workload_of
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.set_keys import value_at

FACTORS = (1.0, 1.1, 1.25, 1.5, 2.0, 4.0)
"""Sizes to try, relative to what the elastic relaxation lacks."""
NEARLY = 0.95
"""Size that is too small if the elastic program is right."""
SHARES = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 9.0)
"""Sizes to try where that is unknown, relative to the present value; the last one is ten times the value."""
Group = tuple[str, Path]
"""Limits that change together: their kind, and the field or the object that has the fields."""


def groups_of(rows: Iterable[Key], question: Question) -> dict[Group, list[Key]]:
    """Return the rows that a scenario can give more of, by what changes together."""
    found: dict[Group, list[Key]] = defaultdict(list)
    for row in rows:
        known = edit_of(row, question.scenario)
        if known is None or base_of(known[1], known[0], question) is None:
            continue
        edit, path = known
        found[edit.kind, path[:-1] if edit.kind == HALL else path].append(row)
    return dict(found)


def lacking_move(
    rows: Iterable[Key], lacks: Mapping[Key, float], problem: PlanningProblem, question: Question
) -> Move | None:
    """Return the move of a group of rows whose lack is known; None if it lacks nothing."""
    fields = [f for f in _fields(rows, lacks, problem, question) if any(f.needs.values())]
    if not fields:
        return None
    price = sum(PENALTIES.get(row.name, 0.0) * x for row, x in lacks.items())
    gives = not any(f.edit.less for f in fields)
    return Move(lambda size: _all(fields, size, question), FACTORS, NEARLY, price, gives=gives)


def sized_move(rows: Iterable[Key], problem: PlanningProblem, question: Question) -> Move:
    """Return the move of a group of rows by shares of the present values."""
    rows = list(rows)
    fields = []
    for field in _fields(rows, dict.fromkeys(rows, 1.0), problem, question):
        given = base_of(field.path, field.edit, question) or [0.0]
        fields.append(replace(field, needs={t: _share(field, given, t) for t in field.needs}))
    gives = not any(f.edit.less for f in fields)
    return Move(lambda size: _all(fields, size, question), SHARES, screened=True, gives=gives)


def sized_moves(rows: Sequence[Key], problem: PlanningProblem, question: Question) -> list[Move]:
    """Return the move of a group of rows by shares, and that of the racks of a hall alone.

    More power of a hall may cost more than the budget.
    """
    racks = [row for row in rows if row.name == HALL_RACKS.row]
    parts = [rows, racks] if 0 < len(racks) < len(rows) else [rows]
    return [sized_move(part, problem, question) for part in parts]


def joined(moves: Iterable[Move]) -> Move:
    """Return moves of one ladder as one, all with the same size."""
    parts = list(moves)

    def change(size: float) -> Change | None:
        found = [part.change(size) for part in parts]
        whole: Change | None = None
        for one in found:
            if one is None:
                return None
            whole = one if whole is None else both(whole, one)
        return whole

    price = sum(x.price_musd for x in parts)
    kinds = sum(x.kinds for x in parts)
    return replace(parts[0], change=change, price_musd=price, kinds=kinds, gives=False)


def _share(field: Field, given: list[float], t: int | None) -> float:
    """Return the need that one size of a move without known lack gives."""
    if field.edit.less:
        return 1.0
    base = given[t if t is not None and len(given) > 1 else 0]
    return base if base > 0 else 10.0 * field.edit.step


def _all(fields: list[Field], size: float, question: Question) -> Change | None:
    whole: Change | None = None
    for field in fields:
        one = change_of(field.scaled(size), question)
        if one is None:
            return None
        whole = one if whole is None else both(whole, one)
    return whole


def _fields(
    rows: Iterable[Key], lacks: Mapping[Key, float], problem: PlanningProblem, question: Question
) -> list[Field]:
    """Return the fields that rows change, with the largest lack of each quarter."""
    needs: dict[Path, dict[int | None, float]] = defaultdict(dict)
    known: dict[Path, tuple[Edit, Key]] = {}
    for row in rows:
        found = edit_of(row, question.scenario)
        if found is None:
            continue
        edit, path = found
        for each in _with_classes(path, question):
            if each not in known or edit.per_row:
                known[each] = edit, row
            t = row.ids[-1] if LIMITS[row.name].span is Span.QUARTER else None
            if not isinstance(value_at(each, question.scenario), list):
                t = None
            need = _in_field(row, edit, lacks.get(row, 0.0), problem)
            needs[each][t] = max(needs[each].get(t, 0.0), need)
    return [Field(edit, path, _ids(row), needs[path]) for path, (edit, row) in known.items()]


def _ids(row: Key) -> tuple[str, ...]:
    return tuple(workload_of(x) if isinstance(x, str) else str(x) for x in row.ids)


def _in_field(row: Key, edit: Edit, amount: float, problem: PlanningProblem) -> float:
    """Return what a row lacks in the unit of its field; of a demand, the share of the demand."""
    if not edit.less:
        return amount * edit.per_row
    demand = problem.demand(row.ids[0])
    kept = demand.kept_frac_without_site if row.name == WITHOUT_SITE.row else 1.0
    wanted = kept * demand.wanted[row.ids[-1]]
    return amount / wanted if wanted > 0 else 0.0


def _with_classes(path: Path, question: Question) -> list[Path]:
    """Return a field; for a class of a queue, the field of every class of its pool."""
    if path[:2] != ("workloads", "queue"):
        return [path]
    classes = question.scenario.workloads.queue
    pool = classes[int(path[2])].pool
    return [(*path[:2], i, path[3]) for i, one in enumerate(classes) if one.pool == pool]
