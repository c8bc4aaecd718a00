"""The table of a plan's decisions: written from decisions, and read back as columns of the model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dcplan.planning.decision_specs import DECISIONS, FABRIC, FLEET, RUN, DecisionSpec
from dcplan.planning.decisions import Decisions
from dcplan.planning.keys import Key
from dcplan.planning.model.sets import make_sets
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import RunOption
from dcplan.result import Cell, Table

COLUMNS = (
    "decision",
    "hall",
    "cooling",
    "item",
    "lease",
    "quarter",
    "amount",
    "accelerators",
    "precision",
    "start_month",
)
MOST = 1_000_000
"""Maximum amount of a decision; a larger number is a typing mistake."""
DECISIONS_IN_TABLE = tuple(x for x in DECISIONS.values() if x.row)
"""Decisions in the order of the table."""


def to_table(d: Decisions) -> Table:
    """Write integer decisions as a table; ``plan --fix-decisions`` reads it back."""
    rows: list[dict[str, Cell]] = []
    for spec in DECISIONS_IN_TABLE:
        if spec.field:
            amounts: dict[tuple[Any, ...], int] = getattr(d, spec.field)
            rows += [_row(spec, index, n) for index, n in sorted(amounts.items())]
    rows += [_row(FABRIC, pair, 1) for pair in sorted(d.fabric.items())]
    rows += [_run_row(r) for r in sorted(d.runs, key=lambda r: r.job)]
    rows.sort(key=lambda row: [x.row for x in DECISIONS_IN_TABLE].index(str(row["decision"])))
    return Table(COLUMNS, tuple(tuple(row.get(c) for c in COLUMNS) for row in rows))


def _row(spec: DecisionSpec, index: tuple[Any, ...], amount: int) -> dict[str, Cell]:
    cells: dict[str, Cell] = dict(zip(spec.cells, index, strict=True))
    if spec is FLEET:
        cells["quarter"] = 0
    return {"decision": spec.row, "amount": amount, **cells}


def _run_row(r: RunOption) -> dict[str, Cell]:
    return {
        "decision": RUN.row,
        "hall": r.place,
        "item": _run_name(r),
        "quarter": r.serving_quarter,
        "amount": 1,
        "accelerators": r.accelerators,
        "precision": r.precision,
        "start_month": r.start_month,
    }


def _run_name(r: RunOption) -> str:
    """Return the name of a run, or of the part of a run over several halls."""
    name = f"{r.job} on {r.system}"
    if r.cuts.hours_per_year:
        name += f", {'slows' if r.cuts.power_frac else 'pauses'} in interruptions"
    return name if r.part is None else f"{name}, over {r.whole.place}"


def columns_of(problem: PlanningProblem, table: Table) -> tuple[dict[Key, float], list[str]]:
    """Read a decisions table.

    It returns columns with their amounts, and the rows that are wrong or no longer available.
    """
    wanted: dict[Key, float] = {}
    wrong: list[str] = []
    sets = make_sets(problem)
    offered = {spec.key(*index) for spec in DECISIONS_IN_TABLE for index in spec.index(sets)}
    cells = [dict(zip(table.columns, row, strict=False)) for row in table.rows]
    fabrics = {
        str(c.get("hall")): str(c.get("item")) for c in cells if c.get("decision") == FABRIC.row
    }
    for cell in cells:
        key = _column(problem, cell, fabrics)
        amount = cell.get("amount")
        whole = _int(amount)
        if (
            key is None
            or key not in offered
            or whole is None
            or not 0 <= whole <= MOST
            or float(str(amount)) != whole
        ):
            wrong.append(" ".join(str(v) for v in cell.values() if v is not None))
        else:
            wanted[key] = float(whole)
    return wanted, wrong


def fixed_columns(
    problem: PlanningProblem, keys: Sequence[Key], integer: Sequence[bool], table: Table
) -> dict[int, float] | list[str]:
    """Return the columns that repeat the decisions of a table.

    If rows are wrong or no longer available, it returns these rows.
    """
    wanted, wrong = columns_of(problem, table)
    known = set(keys)
    wrong += [str(key) for key in wanted if key not in known]
    if wrong:
        return wrong
    return {
        i: wanted.get(key, 0.0)
        for i, (key, is_whole) in enumerate(zip(keys, integer, strict=True))
        if is_whole and not DECISIONS[key.name].follows
    }


def _column(
    problem: PlanningProblem, cell: Mapping[str, object], fabrics: Mapping[str, str]
) -> Key | None:
    """Return the model column of a decision row; None if the row is not a decision."""
    spec = next((x for x in DECISIONS_IN_TABLE if x.row == cell.get("decision")), None)
    if spec is None:
        return None
    if spec is RUN:
        return _run_column(problem, cell, fabrics)
    index = [_int(cell.get(c)) if c == "quarter" else cell.get(c) for c in spec.cells]
    return spec.key(*index)


def _run_column(
    problem: PlanningProblem, cell: Mapping[str, object], fabrics: Mapping[str, str]
) -> Key | None:
    """Return the run of a row: of several that differ by their link, the fastest on its fabric."""
    t = _int(cell.get("quarter"))
    found: list[tuple[bool, float, int]] = []
    for i, c in enumerate(problem.run_options):
        same = (
            cell.get("item") == _run_name(c)
            and cell.get("hall") == c.place
            and cell.get("precision") == c.precision
            and _int(cell.get("accelerators")) == c.accelerators
            and _int(cell.get("start_month")) == c.start_month
        )
        if same and t in (None, c.serving_quarter):
            found.append((_connected(problem, c, fabrics), c.link.gbps, i))
    return RUN.key(max(found)[-1]) if found else None


def _connected(problem: PlanningProblem, run: RunOption, fabrics: Mapping[str, str]) -> bool:
    """Return whether the fabric of a run's hall gives it the link for which it was computed."""
    if run.on_cloud:
        return True
    classes = {
        p.port_class for p in problem.placements if (p.hall, p.system) == (run.place, run.system)
    }
    return any(
        option.speeds[c].serves(run.link)
        for option in problem.fabrics
        if (option.hall, option.id) == (run.place, fabrics.get(run.place))
        for c in classes
        if c in option.speeds
    )


def _int(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value)
