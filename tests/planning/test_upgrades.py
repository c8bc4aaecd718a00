"""Upgrades of an existing hall: whether and when, against the enumeration of all decisions."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from dcplan.economics.cash_flow import npv_usd
from dcplan.planning.audit import run as audit_run
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decision_table import columns_of, to_table
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.existing.fit_out import with_existing_fit_out
from dcplan.planning.problem.terms import Capacity, ExistingTerms, PlanningProblem, UpgradeTerms
from dcplan.planning.solve import strategy
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.scenario.load import load
from tests.planning.small import HALL, open_menu

OLD, NEW = (HALL, "dry", "a"), (HALL, "wet", "b")
QUARTERS = 4
MORE = 2
"""Most new racks: 300 kW hold 3 old ones of 41 kW and 2 of 61 kW, with 5 kW of switches."""


def menu(
    *, usd: float = 600e3, works: int = 1, out_frac: float = 0.5, rent_usd: float = 8.0
) -> PlanningProblem:
    """An air hall with three old racks that takes liquid-cooled racks after an upgrade.

    A demand of 3 grows to 8 in the third quarter; what the hall does not serve is rented.
    """
    base = open_menu(quarters=QUARTERS, rent_usd=rent_usd)
    hall = base.halls[0]
    air, liquid = hall.coolings
    start, after = Capacity(6, 0.14, 0.14, 0.0), Capacity(8, 0.30, 0.2, 0.2)
    most = {"air_mw": 0.2, "liquid_mw": 0.2, "building_usd": 0.0}
    upgrade = UpgradeTerms("water", after, usd, 1, works, lead=1, out_frac=out_frac, cooling="wet")
    own = replace(
        hall,
        count=1,
        racks=8,
        it_mw=0.30,
        existing=True,
        needs_blocks=False,
        coolings=(replace(air, **most), replace(liquid, **most, fit_out_usd=0.0)),
        upgrades=(upgrade,),
        start=start,
    )
    old = ExistingTerms("old", OLD, 3, 0, 20, 100e3, (), in_service=True)
    each = {(HALL, "a"): 0.0625, (HALL, "b"): 0.15, ("cloud:o", "chip"): 0.0625}
    demand = replace(base.demands[0], wanted=(3.0, 3.0, 8.0, 8.0), each=each)
    return with_existing_fit_out(
        replace(
            base,
            halls=(own,),
            placements=tuple(
                replace(p, max_racks_unit=4) for p in base.placements if p.key in (OLD, NEW)
            ),
            demands=(demand,),
            existing=(old,),
            orderable=frozenset({"b"}),
        )
    )


def serve(problem: PlanningProblem, d: Decisions) -> None:
    """Serve the demand with the racks that are on, the best first, and rent the rest."""
    (demand,) = problem.demands
    for t in range(problem.quarters):
        left = demand.wanted[t]
        for key in (NEW, OLD):
            place = problem.placed[key]
            rate = demand.each[key[0], key[2]]
            used = min(d.powered(problem, key, t) * place.accelerators, left / rate)
            if used > 0:
                d.serving[demand.id, *key, t] = used
                left -= used * rate
        if left > 1e-9:
            d.rented[demand.id, "o", t] = left / demand.each["cloud:o", "chip"]


def points(problem: PlanningProblem) -> Iterator[Decisions]:
    """Every integer decision: the quarter of the works, the orders, and the racks that are off."""
    (hall,) = problem.halls
    upgrade, orders = hall.upgrades[0], range(QUARTERS - 1)
    for begin in (None, *range(upgrade.first, QUARTERS)):
        for counts in itertools.product(range(MORE + 1), repeat=len(orders)):
            if sum(counts) > MORE:
                continue
            ordered = {(*NEW, q): n for q, n in zip(orders, counts, strict=True) if n}
            works = () if begin is None else range(begin, min(begin + upgrade.works, QUARTERS))
            for off in itertools.product(range(4), repeat=len(works)):
                d = Decisions(ordered=dict(ordered), fabric={HALL: "eth/2t"})
                d.fitted = {(HALL, "dry", t): 1 for t in range(QUARTERS)}
                if begin is not None:
                    d.upgrades = {(HALL, "water", t): 1 for t in range(begin, QUARTERS)}
                d.stopped = {(*OLD, t): n for t, n in zip(works, off, strict=True) if n}
                serve(problem, d)
                yield d


def cost(problem: PlanningProblem, d: Decisions) -> float:
    """The audited cost of decisions in USD; infinite where a check does not hold."""
    books = make_accounts(problem, d)
    if any(not c.holds for c in all_checks(problem, d, books)):
        return math.inf
    return npv_usd(books.flows, problem.finance.discount_rate)


@cache
def best(case: tuple[tuple[str, float], ...]) -> tuple[float, Decisions]:
    problem = menu(**dict(case))  # type: ignore[arg-type]
    found = [(cost(problem, d), d) for d in points(problem)]
    return min(found, key=lambda x: x[0])


def solved(problem: PlanningProblem) -> Solved:
    request = SolveRequest(gap=1e-6, time_limit_s=60.0)
    return strategy.solve_problem(problem, load("retrofit-air-hall"), request)


@pytest.fixture(autouse=True)
def _systems_in_no_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_run, "differences", lambda *_: [])


CASES = {
    "soon": {"usd": 100e3, "works": 1, "out_frac": 0.5},
    "long works": {"usd": 100e3, "works": 2, "out_frac": 0.2, "rent_usd": 20.0},
    "long works stop all": {"usd": 100e3, "works": 2, "out_frac": 1.0},
    "no downtime": {"usd": 100e3, "works": 1, "out_frac": 0.0},
    "dear": {"usd": 9e6, "works": 1, "out_frac": 0.5},
    "works stop all": {"usd": 100e3, "works": 1, "out_frac": 1.0, "rent_usd": 20.0},
}
NONE = ("dear", "long works stop all", "works stop all")
"""Cases in which the hall stays as it is: the price, or the rent during the works, is too high."""


@pytest.mark.parametrize("name", list(CASES))
def test_the_plan_upgrades_a_hall_where_that_is_cheapest(name: str) -> None:
    problem = menu(**CASES[name])  # type: ignore[arg-type]
    least, d = best(tuple(CASES[name].items()))
    found = solved(problem)
    assert found.decisions is not None
    assert found.audit is not None
    assert found.audit.passed
    assert found.bound_usd <= least + 1e-6 * abs(least) + 0.1
    assert 1e6 * found.value == pytest.approx(least, rel=1e-5)
    assert found.decisions.upgrades == d.upgrades
    assert bool(d.upgrades) == (name not in NONE)


def test_the_search_of_large_models_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    least, d = best(tuple(CASES["soon"].items()))
    monkeypatch.setattr(strategy, "SMALL_COLUMNS", 0)
    found = solved(menu(**CASES["soon"]))  # type: ignore[arg-type]
    assert found.decisions is not None
    usd = 1e6 * found.value
    assert found.bound_usd <= least + 1e-6 * abs(least) + 0.1
    assert least - 0.1 <= usd
    assert usd - least <= found.gap_frac * abs(usd) + 1e-5 * abs(least)
    assert found.decisions.upgrades == d.upgrades


def test_racks_out_of_service_by_hand() -> None:
    # 140 kW of IT and air: 3 racks of 40 kW + 1 kW of fans and a network of 48 ports; half of it is
    # out of service, so that 70 kW hold one rack and the switches, and two racks are off
    problem = menu(usd=100e3)
    _, d = best(tuple(CASES["soon"].items()))
    (begin,) = {t for (*_, t) in d.stopped}
    assert d.stopped == {(*OLD, begin): 2}
    on = make_accounts(problem, d).halls[HALL, begin]
    assert 41.0 < on.hall_kw < 70.0
    assert on.racks == 3
    alone = dataclasses.replace(d, stopped={(*OLD, begin): 1})
    assert CheckId.HALL_IT_MW in broken(problem, alone)


def test_an_upgrade_costs_its_price_less_what_is_left() -> None:
    cheap, dear = menu(usd=100e3), menu(usd=300e3)
    _, d = best(tuple(CASES["soon"].items()))
    begin = min(t for (*_, t) in d.upgrades)
    left = cheap.finance.cooling_residual_frac[begin]
    by_hand = 200e3 * (1.1 ** -((begin + 0.5) / 4) - left * 1.1**-1)
    assert cost(dear, d) - cost(cheap, d) == pytest.approx(by_hand, rel=1e-9)


def broken(problem: PlanningProblem, d: Decisions) -> set[str]:
    return {c.name for c in all_checks(problem, d, make_accounts(problem, d)) if not c.holds}


def test_the_audit_finds_racks_and_stops_without_works() -> None:
    problem = menu(usd=100e3)
    _, d = best(tuple(CASES["soon"].items()))
    assert broken(problem, d) == set()
    begin = min(t for (*_, t) in d.upgrades)
    without = dataclasses.replace(d, upgrades={})
    assert {CheckId.RACKS_BEFORE_UPGRADE, CheckId.STOPPED_RACKS} <= broken(problem, without)
    early = {(HALL, "water", t): 1 for t in range(QUARTERS)}
    assert CheckId.UPGRADE_BEFORE_LEAD_TIME in broken(
        problem, dataclasses.replace(d, upgrades=early)
    )
    short = {(HALL, "water", begin): 1}
    assert CheckId.UPGRADE_STAYS in broken(problem, dataclasses.replace(d, upgrades=short))
    assert CheckId.UPGRADE_ORDER in broken(problem, dataclasses.replace(d, fitted={}))


def test_a_second_upgrade_waits_for_the_first() -> None:
    problem = menu(usd=100e3)
    (hall,) = problem.halls
    first = hall.upgrades[0]
    second = replace(first, id="more", usd=10e3, first=2, cooling="")
    both = replace(problem, halls=(replace(hall, upgrades=(first, second)),))
    _, d = best(tuple(CASES["soon"].items()))
    begin = min(t for (*_, t) in d.upgrades)
    at_once = {(HALL, "more", t): 1 for t in range(begin, QUARTERS)}
    assert CheckId.UPGRADE_ORDER in broken(
        both, dataclasses.replace(d, upgrades={**d.upgrades, **at_once})
    )


def test_upgrades_return_from_the_table_of_decisions() -> None:
    problem = menu(usd=100e3)
    _, d = best(tuple(CASES["soon"].items()))
    wanted, wrong = columns_of(problem, to_table(d))
    assert wrong == []
    found = {key.ids for key, n in wanted.items() if key.name == "upgraded" and n}
    assert found == set(d.upgrades)
