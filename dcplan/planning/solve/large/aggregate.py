"""A smaller relaxation of large models.

Runs on own hardware become the work that they need, without start, size and duration.

Most columns of a large model are runs, and their integrality changes the cost little
(docs/decisions.md). Each job on one system of one hall becomes one share of its work per quarter.
The work of the group is the least work of its run options, their peaks are ignored, and the row
that counts their hours may count more. Every plan of the model is therefore a plan of this
relaxation, and its bound holds. If a solution uses such shares, the runs themselves can replace
them (``kept``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dcplan.planning.decision_specs import RUN
from dcplan.planning.keys import Key
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.matrix import Matrix, Vector

BOOKED = "training_use"
"""Row that counts a run's hours, by hall, system and quarter."""
PEAKS = (
    *("accelerators_for_jobs", "serving_ahead", "fabric_speed"),
    *("pool_enough", "pool_needed"),
    *("firm_power", "called_load", "runs_pause", "ramp_storage"),
)
"""Rows of peaks, which apply to single runs."""
CREDITS = ("peak_runs_whole", "month_runs_active")
"""Rows to which a run gives room in proportion to its size: a group gives that of its largest run."""
MONTHS = ("peak_runs_months", "month_runs_active", "month_runs_chosen", "peak_month_once")
"""Rows of the busiest month of a hall, which a relaxation without single runs leaves out."""
MONTH_COLUMNS = ("month_runs", "peak_month")
"""Columns of these rows only."""
WORK = "work"
"""Name of the columns that replace runs: job, hall, system and the row that counts them."""
TINY = 1e-6

Group = tuple[str, str, str]
"""Job, hall and system."""


@dataclass
class _Column:
    cost: float
    upper: float
    key: Key
    entries: dict[int, float]


@dataclass
class _Work:
    """Common values of the runs of a group, and their minimum work."""

    least: float = np.inf
    quarters: dict[int, None] = field(default_factory=dict)
    sign: float = 0.0
    other: dict[int, float] | None = None
    credit: dict[int, float] = field(default_factory=dict)
    """Most room that a run gives, by row; negative."""
    cost: float = 0.0
    alike: bool = True
    members: list[int] = field(default_factory=list)

    def take(
        self,
        column: int,
        cost: float,
        booked: dict[int, float],
        credit: dict[int, float],
        other: dict[int, float],
    ) -> None:
        """Add a run to the group.

        Runs with another effect, in an objective or a limit, stay runs.
        """
        if self.other is None:
            self.other, self.cost = other, cost
        signs = {float(np.sign(v)) for v in booked.values()} | ({self.sign} if self.sign else set())
        self.alike &= bool(booked) and other == self.other and cost == self.cost and len(signs) == 1
        self.sign = signs.pop() if signs else 0.0
        for row, v in credit.items():
            self.credit[row] = min(self.credit.get(row, 0.0), v)
        self.least = min(self.least, sum(abs(v) for v in booked.values()))
        self.quarters |= dict.fromkeys(booked)
        self.members.append(column)


def with_work(matrix: Matrix, problem: PlanningProblem, kept: Iterable[Group] = ()) -> Matrix:
    """Relax runs into shares of work, except those of the groups ``kept``.

    Columns are named ``work[job,hall,system,row]``.
    """
    kinds = [row.name for row in matrix.rows]
    peaks = {i for i, kind in enumerate(kinds) if kind in PEAKS}
    kept = set(kept)
    works = _works(matrix, problem, kept, kinds, peaks)
    gone = {i for work in works.values() for i in work.members}
    dropped = () if kept else MONTHS
    if dropped:
        gone |= {i for i, key in enumerate(matrix.columns) if key.name in MONTH_COLUMNS}
    extra = []
    lower, upper = matrix.row_lower.copy(), matrix.row_upper.copy()
    for (job, hall, system), work in works.items():
        for row in work.quarters:  # the row may count more than is used
            (upper if work.sign < 0 else lower)[row] = np.inf if work.sign < 0 else -np.inf
            entries = {row: work.sign * work.least, **(work.other or {}), **work.credit}
            key = Key(WORK, (job, hall, system, matrix.rows[row]))
            extra.append(_Column(work.cost, 1.0, key, entries))
    own = [i for i in range(len(matrix.columns)) if i not in gone]
    single = np.zeros(len(matrix.columns), dtype=bool)
    single[[i for i in own if matrix.columns[i].name == RUN.variable]] = True
    used = set(matrix.index[single[matrix.owner]].tolist())
    rows = [
        i for i, kind in enumerate(kinds) if kind not in dropped and (i in used or i not in peaks)
    ]
    return _matrix(replace(matrix, row_lower=lower, row_upper=upper), own, rows, extra)


def groups_used(matrix: Matrix, values: Vector) -> set[Group]:
    """Return the groups whose work a solution of the relaxation uses."""
    used = (key for key, v in zip(matrix.columns, values, strict=True) if v > TINY)
    return {key.ids[:3] for key in used if key.name == WORK}


def runs_kept(matrix: Matrix, problem: PlanningProblem) -> set[Group]:
    """Return the groups of own hardware whose runs a relaxation keeps."""
    runs = (problem.run_options[matrix.columns[i].ids[0]] for i in matrix.of((RUN.variable,)))
    return {(run.job, run.place, run.system) for run in runs if not run.on_cloud}


def without(matrix: Matrix, closed: Iterable[int]) -> Matrix:
    """Return the model without some columns, as if they were fixed at 0."""
    gone = set(closed)
    own = [i for i in range(len(matrix.columns)) if i not in gone]
    return _matrix(matrix, own, range(len(matrix.rows)))


def _works(
    matrix: Matrix, problem: PlanningProblem, kept: set[Group], kinds: list[str], peaks: set[int]
) -> dict[Group, _Work]:
    works: dict[Group, _Work] = defaultdict(_Work)
    for i, key in enumerate(matrix.columns):
        if key.name != RUN.variable:
            continue
        config = problem.run_options[key.ids[0]]
        group = (config.job, config.place, config.system)
        decided = matrix.lower[i] > 0 or matrix.upper[i] < 1
        if config.on_cloud or decided or group in kept:
            continue
        part = slice(matrix.start[i], matrix.start[i + 1])
        pairs = zip(matrix.index[part].tolist(), matrix.value[part].tolist(), strict=True)
        entries = dict(pairs)
        booked = {row: v for row, v in entries.items() if kinds[row] == BOOKED}
        credit = {row: v for row, v in entries.items() if kinds[row] in CREDITS}
        rest = entries.keys() - booked.keys() - credit.keys() - peaks
        other = {row: entries[row] for row in rest}
        works[group].take(i, float(matrix.cost[i]), booked, credit, other)
    return {group: work for group, work in works.items() if work.alike}


def _matrix(
    matrix: Matrix, own: Sequence[int], rows: Iterable[int], extra: Sequence[_Column] = ()
) -> Matrix:
    """Return a program of some columns and rows of another one, in its order, and of new columns.

    The new columns have a lower bound of 0 and are continuous.
    """
    kept = list(rows)
    place = np.full(len(matrix.rows), -1)
    place[kept] = np.arange(len(kept))
    number = np.full(len(matrix.columns), -1)
    number[own] = np.arange(len(own))
    owner = number[matrix.owner]
    stays = (owner >= 0) & (place[matrix.index] >= 0)
    added = [{row: v for row, v in c.entries.items() if place[row] >= 0} for c in extra]
    sizes = np.bincount(owner[stays], minlength=len(own)).tolist() + [len(x) for x in added]
    new_rows = np.array([row for x in added for row in x], dtype=np.int64)
    zeros = np.zeros(len(extra))
    return Matrix(
        cost=np.concatenate([matrix.cost[own], [c.cost for c in extra]]),
        offset=matrix.offset,
        lower=np.concatenate([matrix.lower[own], zeros]),
        upper=np.concatenate([matrix.upper[own], [c.upper for c in extra]]),
        integer=np.concatenate([matrix.integer[own], zeros.astype(bool)]),
        columns=[*(matrix.columns[i] for i in own), *(c.key for c in extra)],
        row_lower=matrix.row_lower[kept],
        row_upper=matrix.row_upper[kept],
        rows=[matrix.rows[i] for i in kept],
        start=np.cumsum([0, *sizes]).astype(np.int32),
        index=place[np.concatenate([matrix.index[stays], new_rows])].astype(np.int32),
        value=np.concatenate([matrix.value[stays], [v for x in added for v in x.values()]]),
    )
