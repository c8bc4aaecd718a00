"""Runs without a deadline start as soon as their hardware can serve, and the plan says what waiting saves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.answers.plan.request import PlanRequest
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem, SupplyTerms
from dcplan.planning.problem.work.jobs.soonest import (
    first_quarter,
    planned,
    planned_together,
    with_later_starts,
)
from dcplan.planning.problem.work.terms import RunOption
from dcplan.result import Result
from dcplan.scenario.load import load
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
    """GB200 racks ordered in the first quarter serve in the second, so no start is later."""
    lead = {p.system: p.lead for p in problem.placements}
    owned = [run for run in problem.run_options if not run.on_cloud]
    assert owned
    for run in owned:
        assert run.start_month <= MONTHS_PER_QUARTER * lead[run.system]
    assert problem.later
    assert all(
        run.start_month > MONTHS_PER_QUARTER * first_quarter(problem, run) for run in problem.later
    )


def test_the_first_quarter_follows_from_power_and_supply(problem: PlanningProblem) -> None:
    """3,580 GB200 need 50 racks of 132 kW: 6.6 MW, with the PUE of the design day more."""
    run = next(r for r in problem.run_options if r.system == "gb200-nvl72")
    assert first_quarter(problem, run) == 1
    site = problem.sites[0]
    ramp = replace(site, utility_mw=(*(2.0,) * 3, *site.utility_mw[3:]))
    assert first_quarter(replace(problem, sites=(ramp,)), run) == 3
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
    late = tuple(r for r in with_later_starts(problem).run_options if r in problem.later)
    assert planned(replace(problem, run_options=late, later=())).run_options == late


def test_variants_that_share_decisions_share_their_starts(problem: PlanningProblem) -> None:
    """Power comes in the third quarter of one variant: runs may start then in both."""
    late = build(load(NAME, sets=["sites.ashburn.utility_mw=[0.1,0.1,14,14]"])).problem
    both = planned_together([problem, late])
    for one in both:
        own = [run.start_month for run in one.run_options if run.system == "gb200-nvl72"]
        assert max(own) == 2 * MONTHS_PER_QUARTER
        assert all(run.start_month > max(own) for run in one.later if run.system == "gb200-nvl72")
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
    assert "flagship starts in 2027-Q2" in notes[0]
    assert "cheapest: 2027-Q4" in notes[0]


@pytest.mark.slow
def test_a_run_waits_where_no_plan_starts_at_once() -> None:
    """A budget that pays for the hardware in the third quarter only: the run starts after it."""
    found = _plan("finance.budget_usd=[1e6,1e6,600e6,600e6]")
    assert found.status == "ok"
    run = next(iter(found.tables["jobs"].records()))
    assert run["start_quarter"] == "2027-Q4"
    assert any("no plan starts every run as soon as" in w["message"] for w in found.warnings)
    assert SAVES not in found.metrics
