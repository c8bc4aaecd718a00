"""Warnings of a plan's answer."""

from __future__ import annotations

from typing import Any

from dcplan.answers.plan.tables.lead_times import late_notes
from dcplan.answers.plan.tables.network import too_small
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.specs.plan.money import BENCHMARKS, Inside
from dcplan.units import DAYS_PER_QUARTER, MONTHS_PER_QUARTER, si


def warnings_of(
    solved: Solved, question: Question, tables: dict[str, Table], gap: float
) -> list[dict[str, Any]]:
    """Return the warnings that accompany a plan."""
    given_pb = question.scenario.storage.usable_pb if question.scenario.storage else None
    kinds = {
        "note": [*solved.problem.warnings, *_late_starts(solved)],
        "given": [
            f"a given decision exceeds a limit: {text}"
            for text in (solved.audit.given if solved.audit else ())
        ],
        "lead": late_notes(tables["lead_times"]),
        "band": _outside(tables["benchmarks"]),
        "gap": _open_gap(solved, gap),
        "storage": too_small(tables["storage"], given_pb.value if given_pb else None),
    }
    return [{"code": code, "message": text} for code, texts in kinds.items() for text in texts]


def _outside(benchmarks: Table) -> list[str]:
    """Return a note for each unit cost or ratio outside its public range."""
    return [
        f"{row.figure}: {si(row.value, 4)} is outside the public range of {si(row.low)} to "
        f"{si(row.high)}"
        for row in BENCHMARKS.rows(benchmarks)
        if row.inside == Inside.OUTSIDE
    ]


def _open_gap(solved: Solved, gap: float) -> list[str]:
    """Explain a gap above the requested one."""
    found = []
    if solved.status == SolveStatus.OPTIMAL and solved.gap_frac > gap:
        found.append(
            f"the gap is {solved.gap_frac:.2%}: the search reached {gap:.2%}; the rest comes from "
            "integer counts of switches and scalable units, which the bound relaxes to fractions"
        )
    if solved.ended:
        found.append(
            f"the gap is {solved.gap_frac:.2%}: {solved.ended}; more time would give the same plan"
        )
    return found


def _late_starts(solved: Solved) -> list[str]:
    """Return a note for each start date set by the horizon rather than by demand."""
    problem, d = solved.problem, solved.decisions
    horizon_end = problem.quarters * DAYS_PER_QUARTER
    notes = []
    for run in d.runs if d else ():
        job = next(j for j in problem.jobs if j.id == run.job)
        late = run.start_month - job.first_month
        if job.end_day >= horizon_end and late >= 2 * MONTHS_PER_QUARTER:
            notes.append(
                f"{run.job} starts {late} months after its earliest start: the objective does not "
                "reward an early finish, and hardware bought later has a higher residual value; "
                "set `deadline` to require an earlier finish"
            )
    return notes
