"""Later deadlines that make a plan possible, tested by solving, the nearest first."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.answers.explain.resolve import Asked
from dcplan.planning.presolve import presolve
from dcplan.planning.solve.request import LEAST_S, SolveRequest
from dcplan.planning.solve.strategy import solve_problem
from dcplan.scenario.load import Question
from dcplan.scenario.schema import ScheduledJob, job_path
from dcplan.units import DAYS_PER_QUARTER, quarter_index, quarter_name

FACTORS = (1.1, 1.25, 1.5, 2.0, 3.0)
HALVINGS = 4
ROUGH_GAP = 0.05
TRY_S = 30.0


@dataclass(frozen=True)
class Trial:
    """A later deadline of one job."""

    job: str
    key: str
    """Field of the job, ``deadline`` or ``deadline_days``."""
    value: str
    more: float
    unit: str


@dataclass(frozen=True)
class LaterDeadline:
    """A later deadline of one job with a plan."""

    trial: Trial
    cost_usd: float


def later_deadlines(asked: Asked) -> list[LaterDeadline]:
    """Find for each job with a deadline the nearest tested later deadline with a plan."""
    found = []
    for job in asked.question.scenario.workloads.jobs:
        before = 0.0
        for trial in _trials(job, asked.question):
            later = _tried(asked, trial)
            if later is not None:
                found.append(_nearer(asked, job, later, before))
                break
            before = trial.more
    return found


def _nearer(asked: Asked, job: ScheduledJob, later: LaterDeadline, before: float) -> LaterDeadline:
    """Bisect the days between the last deadline without a plan and the first with one."""
    if job.deadline_days is None:
        return later
    for _ in range(HALVINGS):
        more = (before + later.trial.more) / 2
        better = _tried(asked, _days(job.id, job.deadline_days.value, more))
        if better is None:
            before = more
        else:
            later = better
    return later


def _trials(job: ScheduledJob, question: Question) -> list[Trial]:
    horizon = question.scenario.horizon
    if job.deadline_days is not None:
        given = job.deadline_days.value
        most = horizon.quarters * DAYS_PER_QUARTER
        return [_days(job.id, given, given * f - given) for f in FACTORS if given * f <= most]
    if job.deadline is None:
        return []
    now, end = quarter_index(job.deadline), quarter_index(horizon.start) + horizon.quarters
    return [
        Trial(job.id, "deadline", quarter_name(q), float(q - now), "quarters later")
        for q in range(now + 1, end)
    ]


def _days(job: str, given: float, more: float) -> Trial:
    return Trial(job, "deadline_days", f"{given + more:.1f}", more, "days more")


def _tried(asked: Asked, trial: Trial) -> LaterDeadline | None:
    """Solve with a later deadline and a wide gap; None if no plan is found or no time remains."""
    left_s = asked.left_s()
    if left_s <= LEAST_S or asked.stopped:
        return None
    kind = job_path(trial.job, asked.question.scenario)[1]
    question, built = asked.changed(f"workloads.{kind}.{trial.job}.{trial.key}={trial.value}")
    if presolve(question, built):
        return None
    solved = solve_problem(
        built.problem, question, SolveRequest(ROUGH_GAP, time_limit_s=min(left_s, TRY_S))
    )
    return LaterDeadline(trial, solved.audit.npv_usd) if solved.audit else None
