"""Runs without a deadline start as soon as their hardware can serve, and the plan says what waiting saves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcplan.answers.explain.answer import explain
from dcplan.answers.plan import waiting
from dcplan.answers.plan.answer import plan
from dcplan.answers.plan.request import PlanRequest
from dcplan.answers.plan.waiting import Waiting, waiting_of
from dcplan.planning.problem.build import build
from dcplan.planning.problem.energy import OnsiteTerms, TrancheTerms
from dcplan.planning.problem.terms import PlanningProblem, SupplyTerms
from dcplan.planning.problem.work.jobs.soonest import (
    first_quarter,
    planned,
    planned_together,
    wait_months,
    with_later_starts,
)
from dcplan.planning.problem.work.terms import RunOption
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import solve_problem
from dcplan.result import Result
from dcplan.scenario.load import load
from dcplan.specs.explain import LATE_STARTS
from dcplan.units import MONTHS_PER_QUARTER

NAME = "train-405b-in-90-days"
SAVES = "cost.waiting_saves_usd"


@pytest.fixture(scope="module")
def problem() -> PlanningProblem:
    return build(load(NAME)).problem


def _shape(run: RunOption) -> tuple[str, str, int, int]:
    return run.place, run.system, run.accelerators, run.start_month


def _plan(*sets: str) -> Result:
    return plan(PlanRequest(scenario=NAME, sets=sets, gap=0.005, time_limit_s=60))


def test_own_hardware_ordered_at_once_serves_after_its_lead(problem: PlanningProblem) -> None:
    """Racks ordered in the first quarter serve in the second, so no start is later."""
    job = problem.jobs[0]
    assert {p.lead for p in problem.placements} == {1}
    assert job.planned_month == MONTHS_PER_QUARTER
    assert max(run.start_month for run in problem.run_options) == MONTHS_PER_QUARTER
    assert problem.later
    assert min(run.start_month for run in problem.later) > MONTHS_PER_QUARTER
    assert all(
        wait_months(problem, run) == run.start_month - MONTHS_PER_QUARTER for run in problem.later
    )


def test_the_first_quarter_follows_from_power_and_supply(problem: PlanningProblem) -> None:
    """3,580 GB200 need 50 racks of 132 kW: 6.6 MW, with the PUE of the design day more."""
    run = next(r for r in problem.run_options if r.system == "gb200-nvl72")
    assert first_quarter(problem, run) == 1
    site = problem.sites[0]
    ramp = replace(site, utility_mw=(*(2.0,) * 3, *site.utility_mw[3:]))
    assert first_quarter(replace(problem, sites=(ramp,)), run) == 3
    plant = OnsiteTerms("gas", 20.0, 1e6, 0.0, 50.0, 400.0, 2, 1, 0)
    dark = replace(site, utility_mw=(0.0,) * 4, onsite=(plant,))
    assert first_quarter(replace(problem, sites=(dark,)), run) == 2
    tranche = TrancheTerms("night", (0.0, 20.0, 20.0, 20.0), 100.0)
    cut = replace(site, utility_mw=(0.0,) * 4, tranches=(tranche,))
    assert first_quarter(replace(problem, sites=(cut,)), run) == 1
    placed = next(p for p in problem.placements if p.system == run.system)
    racks = -(-run.accelerators // placed.accelerators)
    slow = _with_supply(problem, run.system, racks)
    assert first_quarter(slow, run) == placed.lead + 1


def _with_supply(problem: PlanningProblem, system: str, racks: int) -> PlanningProblem:
    """Return the problem with a vendor that delivers all but one rack in its first quarter."""
    most = (float(racks - 1), *(1.0,) * (problem.quarters - 1))
    return replace(problem, supply=(SupplyTerms(system, most),))


def test_no_start_is_lost_and_a_run_with_a_deadline_keeps_its_own(problem: PlanningProblem) -> None:
    everything = with_later_starts(problem)
    assert not everything.later
    assert everything.run_options == problem.run_options + problem.later
    assert build(load("retrofit-air-hall")).problem.later == ()
    free = build(load(NAME, sets=["workloads.training.flagship.may_wait=true"])).problem
    assert free.later == ()
    assert sorted(map(_shape, free.run_options)) == sorted(map(_shape, everything.run_options))


def test_a_run_without_an_early_start_keeps_all(problem: PlanningProblem) -> None:
    job = replace(problem.jobs[0], first_month=0, planned_month=0)
    late = problem.later
    alone = planned(replace(problem, jobs=(job,), run_options=late, later=()))
    assert alone.run_options == late


def test_variants_that_share_decisions_share_their_starts(problem: PlanningProblem) -> None:
    """Power comes in the third quarter of one variant: runs may start then in both."""
    late = build(load(NAME, sets=["sites.ashburn.utility_mw=[0.1,0.1,14,14]"])).problem
    both = planned_together([problem, late])
    for one in both:
        assert max(run.start_month for run in one.run_options) == 2 * MONTHS_PER_QUARTER
        assert all(run.start_month > 2 * MONTHS_PER_QUARTER for run in one.later)
    assert planned_together([problem])[0].run_options == problem.run_options


@pytest.mark.slow
def test_the_plan_says_what_waiting_saves() -> None:
    """It is the difference from the plan that may wait, within the proven gaps."""
    soon, late = _plan(), _plan("workloads.training.flagship.may_wait=true")
    starts = [next(iter(x.tables["jobs"].records()))["start_quarter"] for x in (soon, late)]
    assert starts == ["2027-Q2", "2027-Q4"]
    npv_usd = [float(x.metrics["cost.npv_usd"].value or 0.0) for x in (soon, late)]
    saves_usd = float(soon.metrics[SAVES].value or 0.0)
    assert saves_usd == pytest.approx(npv_usd[0] - npv_usd[1], abs=0.02 * npv_usd[1])
    assert SAVES not in late.metrics
    notes = [w["message"] for w in soon.warnings if w["code"] == "waiting"]
    assert len(notes) == 1
    assert "starts flagship in 2027-Q4 instead of 2027-Q2" in notes[0]
    assert "later starts would save at least USD" in soon.headline


@pytest.mark.parametrize(
    ("saves_usd", "proved_usd"), [(2.0, 2.0), (1.0, 0.0), (0.0, 0.0), (None, 0.0)]
)
def test_a_saving_counts_above_the_proven_gap(saves_usd: float | None, proved_usd: float) -> None:
    later = (("flagship", "2027-Q2", "2027-Q4"),)
    found = Waiting(saves_usd, 1.0, residual_usd=0.0, later=later)
    assert found.proved_usd == proved_usd
    assert bool(found.warnings) is (saves_usd is None or proved_usd > 0)


def test_a_saving_that_time_left_open_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second solve ends without a plan: the answer, its gate and its note say so."""

    def no_plan(_problem: object, _question: object, request: SolveRequest) -> Solved:
        status = SolveStatus.LIMIT
        assert request.screen
        return replace(solved, status=status, decisions=None, audit=None)

    question = load(NAME)
    built = build(question)
    request = SolveRequest(gap=0.1, time_limit_s=60.0)
    solved = solve_problem(built.problem, question, request)
    monkeypatch.setattr(waiting, "solve_problem", no_plan)
    found = waiting_of(solved, question, request)
    assert found is not None
    assert found.metrics[SAVES].value is None
    assert [w["code"] for w in found.warnings] == ["waiting"]
    assert "give a higher --time-limit" in found.warnings[0]["message"]


@pytest.mark.slow
def test_a_run_waits_where_no_plan_starts_at_once() -> None:
    """A budget that pays for the hardware in the third quarter only: the run starts after it."""
    found = _plan("finance.budget_usd=[1e6,1e6,600e6,600e6]")
    assert found.status == "ok"
    run = next(iter(found.tables["jobs"].records()))
    assert run["start_quarter"] == "2027-Q4"
    assert any("wait as few months in all as they must" in w["message"] for w in found.warnings)


@pytest.mark.slow
def test_runs_wait_no_longer_than_they_must() -> None:
    """Hardware is paid in the second quarter: the run starts in the third, not in the fourth."""
    found = _plan("finance.budget_usd=[1e6,600e6,600e6,600e6]")
    run = next(iter(found.tables["jobs"].records()))
    assert run["start_quarter"] == "2027-Q3"
    assert float(found.metrics[SAVES].value or 0.0) > 0.0


@pytest.mark.slow
def test_a_plan_that_waited_can_be_kept() -> None:
    late = _plan("workloads.training.flagship.may_wait=true")
    kept = plan(PlanRequest(scenario=NAME, earlier=late, max_changes=0, time_limit_s=60))
    assert kept.status == "ok"
    assert kept.metrics["cost.npv_usd"].value == pytest.approx(late.metrics["cost.npv_usd"].value)


@pytest.mark.slow
def test_explain_names_the_budget_that_makes_a_run_wait() -> None:
    """Hardware is paid in the third quarter only, so the run cannot start in the second."""
    late = ["finance.budget_usd=[1e6,1e6,600e6,600e6]"]
    found = explain(NAME, sets=late, gap=0.02, time_limit_s=120)
    limits = [row.limit for row in LATE_STARTS.rows(found.tables["late_starts"])]
    assert limits == ["budget up to 2027-Q1"]
    (note,) = [w["message"] for w in found.warnings if w["code"] == "late"]
    assert note.startswith("flagship waits")
    assert "late_starts" not in explain(NAME, gap=0.02, time_limit_s=120).tables
