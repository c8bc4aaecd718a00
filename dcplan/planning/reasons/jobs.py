"""Reasons why a job has no run option."""

from __future__ import annotations

from dcplan.errors import Problem
from dcplan.inputs.excluded import Cause, ExcludedOption, Kind
from dcplan.planning.problem.terms import Placement, PlanningProblem
from dcplan.scenario.load import Question
from dcplan.scenario.schema import PostTrainingJob, ScheduledJob, job_path
from dcplan.units import quarter_index, quarter_name

SHOWN = 4
"""Most reasons in a message."""


def job_problems(question: Question, problem: PlanningProblem) -> list[Problem]:
    """Return a problem for each job without a run option."""
    able = {c.job for c in problem.run_options}
    jobs = question.scenario.workloads.jobs
    return [_no_option(question, problem, job) for job in jobs if job.id not in able]


def _no_option(question: Question, problem: PlanningProblem, job: ScheduledJob) -> Problem:
    """Return the problem of a job without a run option, with the reasons of its candidates."""
    reasons = [x for x in problem.excluded if x.kind is Kind.JOB and x.id == job.id]
    words = list(dict.fromkeys(f"{x.where}: {x.reason}{_serves_from(problem, x)}" for x in reasons))
    shown = "; ".join(words[:SHOWN]) or _unplaced(problem)
    shown = shown or "none of the available systems may run it"
    more = f" (and {len(words) - SHOWN} more)" if len(words) > SHOWN else ""
    key = next((k for k in ("deadline_days", "deadline") if getattr(job, k) is not None), "id")
    help_text = "allow a later deadline, more power or racks, more systems, or cloud offers"
    causes = {x.cause for x in reasons}
    if causes == {Cause.UNSUPPORTED}:
        code, what = "DC015", "no system supports its software and precision"
        key, help_text = _unsupported(job)
    elif causes == {Cause.MEMORY}:
        code, what = "DC032", "the model does not fit in the memory of any system"
    elif reasons:
        code, what = "DC031", "no run option meets its deadline"
    else:
        code, what = "DC032", "no system or offer can run it"
    where = (*job_path(job.id, question.scenario), key)
    return question.tree.problem(code, f"{job.id}: {what}: {shown}{more}", where, help=help_text)


def _serves_from(problem: PlanningProblem, option: ExcludedOption) -> str:
    """Return when the hardware of an option that is too late serves, if it does not yet."""
    if option.cause is not Cause.LATE:
        return ""
    for p in problem.placements:
        if f"{p.hall} {p.system}" == option.where:
            quarter = _first_of(problem, p)
            if 0 < quarter < problem.quarters:
                name = quarter_name(quarter_index(problem.start) + quarter)
                return f"; the hardware serves from {name}"
    return ""


def _first_of(problem: PlanningProblem, placed: Placement) -> int:
    """Return the first quarter in which a placement has existing, ordered or new racks."""
    fleet = problem.fleet
    if fleet and (fleet.hall, fleet.system) == (placed.hall, placed.system):
        return 0
    firsts = [x.first for x in problem.existing if x.key == placed.key]
    if placed.system in problem.orderable:
        firsts.append(placed.first_order + placed.lead)
    opens = problem.hall(placed.hall).opens(placed.cooling)
    return max(min(firsts, default=problem.quarters), opens)


def _unsupported(job: ScheduledJob) -> tuple[str, str]:
    """Return the field of a job that no system supports, and what to do."""
    if isinstance(job, PostTrainingJob) and (job.rl.rollout_precision or job.rl.rollout_tp):
        return "rl", "choose a layout and a precision of the rollout engines that a system supports"
    key = "stack" if job.stack is not None else "precision"
    return key, "choose a stack and a precision that a system supports, or other systems"


def _unplaced(problem: PlanningProblem) -> str:
    """Return why the systems have no place, if no system has one."""
    if problem.placements:
        return ""
    lost = [x for x in problem.excluded if x.kind is Kind.SYSTEM]
    return "; ".join(dict.fromkeys(f"{x.id}: {x.reason}" for x in lost[:SHOWN]))
