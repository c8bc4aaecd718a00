"""When a job may run."""

from __future__ import annotations

from dcplan.inputs.log import InputLog
from dcplan.planning.problem.work.terms import JobTerms
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Scenario, ScheduledJob
from dcplan.scenario.schema.jobs import DEADLINE_CONFIDENCE
from dcplan.units import DAYS_PER_QUARTER, MONTHS_PER_QUARTER, quarter_index


def _key(job: ScheduledJob, scenario: Scenario) -> str:
    """Return the key of a job for ``--set``."""
    block = "training" if job in scenario.workloads.training else "post_training"
    return f"workloads.{block}.{job.id}"


def job_terms(job: ScheduledJob, question: Question, log: InputLog) -> JobTerms:
    """Return when a job may run, in months and days from the start of the horizon."""
    scenario = question.scenario
    start = quarter_index(scenario.horizon.start)
    first = quarter_index(job.start) - start if job.start else 0
    last = quarter_index(job.deadline) - start + 1 if job.deadline else scenario.horizon.quarters
    if job.deadline is None:  # a run with a deadline may always wait for it
        log.answered(_key(job, scenario) + ".may_wait", given=job.may_wait, default=False)
    return JobTerms(
        id=job.id,
        first_month=first * MONTHS_PER_QUARTER,
        end_day=last * DAYS_PER_QUARTER,
        deadline_days=job.deadline_days.value if job.deadline_days else None,
        confidence=log.assumed(
            f"jobs.{job.id}.deadline_confidence", job.deadline_confidence, DEADLINE_CONFIDENCE
        ),
        sites=job.sites or tuple(s.id for s in scenario.sites),
        cloud=job.sites is None,
        dated=job.deadline is not None,
        may_wait=job.deadline is not None or job.may_wait,
    )
