"""Halls in phases: lead time, pace of the fit-out and feeders, against the enumeration of all decisions."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import pytest

from dcplan.economics.cash_flow import npv_usd
from dcplan.planning.audit import run as audit_run
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.model.halls import most_units
from dcplan.planning.problem.terms import HallTerms, PlanningProblem
from dcplan.planning.solve import strategy
from dcplan.planning.solve.request import SolveRequest
from dcplan.scenario.load import load
from tests.planning.small import HALL, open_menu

KEY = (HALL, "dry", "a")
QUARTERS, UNITS = 4, 3


def menu(**phases: object) -> PlanningProblem:
    """A shell of three units of 100 kW, each for two racks of 41 kW; the demand grows to six racks."""
    base = open_menu(quarters=QUARTERS, rent_usd=20.0)
    hall = base.halls[0]
    dry = replace(hall.coolings[0], air_mw=0.1, building_usd=0.0)
    shell = replace(
        hall,
        count=UNITS,
        racks=3,
        it_mw=0.1,
        existing=True,
        needs_blocks=False,
        coolings=(dry,),
        **phases,
    )
    demand = replace(
        base.demands[0],
        wanted=(0.0, 4.0, 5.0, 6.0),
        each={(HALL, "a"): 0.0625, ("cloud:o", "chip"): 0.0625},
    )
    return replace(
        base,
        halls=(shell,),
        placements=tuple(replace(p, max_racks_unit=2) for p in base.placements if p.key == KEY),
        demands=(demand,),
        orderable=frozenset({"a"}),
    )


def points(problem: PlanningProblem) -> Iterator[Decisions]:
    """Every order of up to six racks, in the fewest units, with rent for the rest of the demand."""
    (demand,) = problem.demands
    for counts in itertools.product(range(2 * UNITS + 1), repeat=QUARTERS - 1):
        if sum(counts) > 2 * UNITS:
            continue
        ordered = {(*KEY, q): n for q, n in enumerate(counts) if n}
        d = Decisions(ordered=ordered, fabric={HALL: "eth/2t"} if ordered else {})
        for t in range(QUARTERS):
            racks = d.racks(problem, KEY, t)
            if racks:
                d.fitted[HALL, "dry", t] = math.ceil(racks / 2)
                d.serving[demand.id, *KEY, t] = min(16.0 * racks, demand.wanted[t] / 0.0625)
            left = demand.wanted[t] / 0.0625 - d.serving.get((demand.id, *KEY, t), 0.0)
            if left > 1e-9:
                d.rented[demand.id, "o", t] = left
        yield d


def broken(problem: PlanningProblem, d: Decisions) -> set[str]:
    return {c.name for c in all_checks(problem, d, make_accounts(problem, d)) if not c.holds}


def cost(problem: PlanningProblem, d: Decisions) -> float:
    books = make_accounts(problem, d)
    if any(not c.holds for c in all_checks(problem, d, books)):
        return math.inf
    return npv_usd(books.flows, problem.finance.discount_rate)


@pytest.fixture(autouse=True)
def _systems_in_no_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_run, "differences", lambda *_: [])


@pytest.mark.parametrize(
    ("phases", "racks"),
    [
        ({}, (0, 4, 5, 6)),
        ({"available_from": 2, "lead": 2}, (0, 0, 5, 6)),
        ({"available_from": 1, "fit_out_mw_per_quarter": 0.1}, (0, 2, 4, 6)),
        ({"available_from": 1, "fit_out_mw_per_quarter": 0.05}, (0, 0, 2, 2)),
        ({"energized_mw": (0.0, 0.1, 0.1, 0.2)}, (0, 2, 2, 4)),
    ],
)
def test_the_plan_fills_a_hall_as_its_phases_allow(
    phases: dict[str, object], racks: tuple[int, ...]
) -> None:
    problem = menu(**phases)
    least, best = min(((cost(problem, d), d) for d in points(problem)), key=lambda x: x[0])
    found = strategy.solve_problem(
        problem, load("retrofit-air-hall"), SolveRequest(gap=1e-6, time_limit_s=60.0)
    )
    assert found.decisions is not None
    assert found.audit is not None
    assert found.audit.passed
    assert found.bound_usd <= least + 1e-6 * abs(least) + 0.1
    assert 1e6 * found.value == pytest.approx(least, rel=1e-5)
    for d in (best, found.decisions):
        assert tuple(d.racks(problem, KEY, t) for t in range(QUARTERS)) == racks


def test_the_audit_finds_units_before_their_fit_out_and_racks_without_feeders() -> None:
    problem = menu(available_from=1, fit_out_mw_per_quarter=0.1, energized_mw=(0.0, 0.3, 0.3, 0.3))
    d = next(d for d in points(problem) if d.ordered == {(*KEY, 0): 2, (*KEY, 1): 2, (*KEY, 2): 2})
    assert broken(problem, d) == set()
    soon = dataclasses.replace(d, fitted={**d.fitted, (HALL, "dry", 1): 2})
    assert broken(problem, soon) == {CheckId.FIT_OUT_PACE}
    (hall,) = problem.halls
    dark = replace(problem, halls=(replace(hall, energized_mw=(0.0, 0.1, 0.1, 0.2)),))
    assert broken(dark, d) == {CheckId.HALL_ENERGIZED_MW}


def test_units_open_at_the_pace_of_the_works_by_hand() -> None:
    # 1.5 MW a quarter from the third quarter on, in units of 1 MW, one of them with assets
    hall = HallTerms(
        *("s/h", "s", "h", 8, 10, 1.0, True, 2, False, ()),
        fit_out_mw_per_quarter=1.5,
        existing_units={"dry": 1},
    )
    assert [most_units(hall, t) for t in range(6)] == [1, 1, 2, 4, 5, 7]
    assert most_units(hall, 9) == 8
