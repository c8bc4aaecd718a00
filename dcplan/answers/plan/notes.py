"""What a plan's answer warns of, and its headline."""

from __future__ import annotations

from typing import Any

from dcplan.answers.plan.tables.lead_times import late_notes
from dcplan.answers.plan.tables.network import too_small
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.result import Metric, Table
from dcplan.scenario.load import Question
from dcplan.specs.metric import MetricSpec
from dcplan.specs.plan import metrics as figures
from dcplan.specs.plan.money import BENCHMARKS, Inside
from dcplan.units import DAYS_PER_QUARTER, MONTHS_PER_QUARTER, money

WHOLE_SWITCHES = 0.001
"""Part of a gap from whole switches that is worth a word."""


def warnings_of(
    solved: Solved, question: Question, tables: dict[str, Table], gap: float
) -> list[dict[str, Any]]:
    """Return what a reader of the plan must know besides its figures."""
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


def _outside(bands: Table) -> list[str]:
    """Name the unit figures outside their public range."""
    return [
        f"{row.figure}: {row.value:,.6g} is outside {row.low:,.6g} to {row.high:,.6g}"
        for row in BENCHMARKS.rows(bands)
        if row.inside == Inside.OUTSIDE
    ]


def _open_gap(solved: Solved, gap: float) -> list[str]:
    """Say what the printed gap is made of where it is above the asked one."""
    found = []
    if solved.status == SolveStatus.OPTIMAL and solved.gap_frac > gap:
        found.append(
            f"gap {solved.gap_frac:.2%}: the solver closed its part to {gap:.2%}; the rest is "
            "whole switches and scalable units, which the bound counts in fractions"
        )
    if solved.ended:
        found.append(
            f"gap {solved.gap_frac:.2%}: {solved.ended}; time did not run out, and more of it "
            "finds the same plan"
        )
    return found


def _late_starts(solved: Solved) -> list[str]:
    """Say where the horizon, not the demand, decided a date."""
    problem, d = solved.problem, solved.decisions
    horizon_end = problem.quarters * DAYS_PER_QUARTER
    notes = []
    for run in d.runs if d else ():
        job = next(j for j in problem.jobs if j.id == run.job)
        late = run.start_month - job.first_month
        if job.end_day >= horizon_end and late >= 2 * MONTHS_PER_QUARTER:
            notes.append(
                f"{run.job} starts {late} months after it may: nothing here rewards an early "
                "finish and hardware bought late keeps more value; give `deadline` to ask for it "
                "sooner"
            )
    return notes


def headline(question: Question, solved: Solved, metrics: dict[str, Metric], status: str) -> str:
    """Return the answer in one sentence."""

    def number(spec: MetricSpec, *ids: str) -> float:
        return float(metrics[spec.at(*ids)].value or 0.0)

    jobs = [
        f"{j.id} {number(figures.DAYS, j.id):.0f} days"
        for j in question.scenario.workloads.training
        if figures.DAYS.at(j.id) in metrics
    ]
    parts = [
        f"{number(figures.ALL_ACCELERATORS):,.0f} accelerators in "
        f"{number(figures.ALL_RACKS):,.0f} racks",
        f"{number(figures.PEAK_FACILITY):.1f} MW facility",
        f"USD {money(number(figures.CAPEX))} capex",
        f"USD {money(number(figures.NPV))} net present cost "
        f"after USD {money(number(figures.RESIDUAL))} residual value",
        *jobs,
        f"{status.replace('_', ' ')} (gap {number(figures.GAP):.2%}{_rounding(solved)})",
    ]
    given = "; given decisions exceed a limit" if solved.audit and solved.audit.given else ""
    return f"{question.scenario.name}: " + ", ".join(parts) + given


def _rounding(solved: Solved) -> str:
    """Say how much of the printed gap is whole switches rather than unfinished search."""
    part = solved.gap_frac - solved.solver_gap_frac
    told = solved.status == SolveStatus.OPTIMAL and part > WHOLE_SWITCHES
    return f", {part:.2%} of it whole switches" if told else ""
