"""How much later a run must end for a plan to exist: tried by solving, the nearest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import build
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.strategy import solve_menu
from dcplan.scenario.load import Question, load
from dcplan.scenario.schema import Job
from dcplan.units import DAYS_PER_QUARTER, quarter_index, quarter_name

FACTORS = (1.1, 1.25, 1.5, 2.0, 3.0)
HALVINGS = 4
ROUGH_GAP = 0.05
TRY_S = 30.0


@dataclass(frozen=True)
class Later:
    """A later end of one job with which there is a plan."""

    job: str
    key: str
    value: str
    more: float
    unit: str
    cost_usd: float


def later_ends(
    scenario: str | Path,
    asked: tuple[str | None, Sequence[str], Sequence[str]],
    question: Question,
    left_s: Callable[[], float],
    stop: Callable[[], bool] | None = None,
) -> list[Later]:
    """For each job with a deadline, the nearest later one tried that lets a plan exist, everything
    else as asked.
    """
    found = []

    def tried(job: Job, key: str, value: str, more: float, unit: str) -> Later | None:
        if left_s() <= 1.0 or (stop is not None and stop()):
            return None
        cost = _cost_usd(
            scenario, asked, f"workloads.training.{job.id}.{key}={value}", min(left_s(), TRY_S)
        )
        return None if cost is None else Later(job.id, key, value, more, unit, cost)

    for job in question.scenario.workloads.training:
        before = 0.0
        for key, value, more, unit in _tries(job, question):
            later = tried(job, key, value, more, unit)
            if later is not None:
                found.append(
                    _nearer(job, later, before, tried) if key == "deadline_days" else later
                )
                break
            before = more
    return found


def _nearer(job: Job, later: Later, before: float, tried: Callable[..., Later | None]) -> Later:
    """Halve the days between the last deadline without a plan and the first with one."""
    given = job.deadline_days.value if job.deadline_days else 0.0
    for _ in range(HALVINGS):
        middle = (before + later.more) / 2
        better = tried(job, later.key, f"{given + middle:.1f}", middle, later.unit)
        if better is None:
            before = middle
        else:
            later = better
    return later


def _tries(job: Job, question: Question) -> list[tuple[str, str, float, str]]:
    horizon = question.scenario.horizon
    if job.deadline_days is not None:
        most = horizon.quarters * DAYS_PER_QUARTER
        days = [job.deadline_days.value * f for f in FACTORS]
        return [
            ("deadline_days", f"{d:.1f}", d - job.deadline_days.value, "days more")
            for d in days
            if d <= most
        ]
    if job.deadline is None:
        return []
    now, end = quarter_index(job.deadline), quarter_index(horizon.start) + horizon.quarters
    return [
        ("deadline", quarter_name(q), float(q - now), "quarters later") for q in range(now + 1, end)
    ]


def _cost_usd(
    scenario: str | Path,
    asked: tuple[str | None, Sequence[str], Sequence[str]],
    change: str,
    time_limit_s: float,
) -> float | None:
    variant, sets, catalogs = asked
    question = load(str(scenario), variant=variant, sets=(*sets, change), catalogs=catalogs)
    built = build(question)
    if presolve(question, built):
        return None
    solved = solve_menu(
        built.menu, question, SolveRequest(gap=ROUGH_GAP, time_limit_s=time_limit_s)
    )
    return solved.audit.npv_usd if solved.audit else None
