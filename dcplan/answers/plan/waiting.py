"""What a plan would save if its runs without a deadline waited."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dcplan.answers.plan.calendar import quarter_at
from dcplan.economics.cash_flow import FlowGroup, totals_usd
from dcplan.planning.goal import MONEY
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.jobs.soonest import with_later_starts
from dcplan.planning.solve.request import LEAST_S, SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import solve_problem
from dcplan.result import Metric
from dcplan.scenario.load import Question
from dcplan.specs.plan import metrics as specs
from dcplan.units import MONTHS_PER_QUARTER, USD_PER_MUSD, money

WAITING = "waiting"
"""Code of the warning on what later starts would save."""
LEAST_GAP = 0.02
"""Gap of the plan whose runs wait: it shows what waiting is worth, and nobody orders from it."""
MOST_OF = 0.5
"""Share of the saving from which a higher residual value is named as its cause."""


@dataclass(frozen=True)
class Waiting:
    """The best plan found whose runs may start later, against the plan that starts them at once."""

    saves_usd: float | None
    """Reduction of the net present cost, at least 0; None if time ended before a plan was found. [USD]"""
    open_usd: float
    """Difference between the cost of the plan and its bound. [USD]"""
    residual_usd: float = 0.0
    """Difference of the residual values at the end of the horizon, undiscounted. [USD]"""
    later: tuple[tuple[str, str, str], ...] = ()
    """Run, quarter of its start, and quarter of its later start."""
    basis: str = ""
    """What the cost of the objective is after."""
    owned: tuple[str, ...] = ()
    """Runs that this plan rents for, and the later one owns hardware for."""
    timed: bool = False
    """Whether time ended a part of the search, so that another machine may find another saving."""

    @property
    def metrics(self) -> dict[str, Metric]:
        """Return what waiting saves; its value is None if it is unknown."""
        return specs.WAITING_SAVES(self.saves_usd)

    @property
    def proved_usd(self) -> float:
        """Return what waiting saves if it is more than the proven gap, otherwise 0 [USD]."""
        saves_usd = self.saves_usd or 0.0
        return saves_usd if saves_usd > self.open_usd else 0.0

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """Return what waiting saves in a sentence, or that it is unknown."""
        if self.saves_usd is None:
            text = f"what later starts of runs would save is {specs.WAITING_SAVES.unknown}"
            return [{"code": WAITING, "message": text}]
        if not self.proved_usd:
            return []
        runs = ", ".join(f"{job} in {late} instead of {now}" for job, now, late in self.later)
        why = (
            ", because hardware that is bought later has a higher residual value"
            if self.residual_usd >= MOST_OF * self.proved_usd
            else ""
        )
        if self.owned:
            why += f", with own hardware in place of rent for {', '.join(self.owned)}"
        text = (
            f"runs without a deadline start as soon as own hardware can serve; a plan that starts {runs} "
            f"would reduce the net present cost{self.basis} by at least USD {money(self.proved_usd)}{why}; set "
            "`may_wait: true` for a run to let the plan wait"
        )
        return [{"code": WAITING, "message": text}]


def waiting_of(solved: Solved, question: Question, request: SolveRequest) -> Waiting | None:
    """Return what the runs of a plan would save if they waited.

    None if no run could wait, or after a request to stop.

    Later starts are solved in the time that the request has left, at least 1 s, from the plan as a
    start. The saving is a lower bound: the plan that waits has a proven gap of up to 2 %, and a large
    problem is screened.
    """
    problem = solved.problem
    if solved.audit is None or not problem.later or problem.goal.measure not in MONEY:
        return None
    if request.fixed is not None or (request.stop is not None and request.stop()):
        return None
    left_s = max(request.time_limit_s - solved.seconds, LEAST_S)
    asked = replace(
        request.within(left_s),
        gap=max(request.gap, LEAST_GAP),
        near=solved.integer_values,
        screen=True,
        team=None,
        progress=None,
    )
    other = solve_problem(with_later_starts(problem), question, asked)
    if other.status is SolveStatus.INTERRUPTED:
        return None
    open_usd = (solved.value - solved.bound) * USD_PER_MUSD
    if other.decisions is None or solved.decisions is None:  # the plan itself is one: time ended
        return Waiting(None, open_usd, timed=True)
    now = {run.job: run.start_month for run in solved.decisions.whole_runs}
    rented = {run.job for run in solved.decisions.runs if run.on_cloud}
    later = tuple(
        (run.job, _quarter(problem, now[run.job]), _quarter(problem, run.start_month))
        for run in other.decisions.whole_runs
        if run.start_month > now.get(run.job, run.start_month)
    )
    saves_usd = max(solved.value - other.value, 0.0) * USD_PER_MUSD
    residual_usd = _residual_usd(other) - _residual_usd(solved)
    timed = not other.reproducible
    return Waiting(
        saves_usd if later else 0.0,
        open_usd,
        residual_usd,
        later,
        solved.problem.goal.basis,
        tuple(x.job for x in other.decisions.whole_runs if x.job in rented and not x.on_cloud),
        timed,
    )


def _residual_usd(solved: Solved) -> float:
    return -totals_usd(solved.audit.books.flows)[FlowGroup.RESIDUAL] if solved.audit else 0.0


def _quarter(problem: PlanningProblem, month: int) -> str:
    return quarter_at(problem, month // MONTHS_PER_QUARTER)
