"""Land of candidate sites: bought with the first hall, worth its value at the end of the horizon."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dcplan.economics.cash_flow import AssetClass, FlowGroup, npv_usd
from dcplan.planning.audit import run as audit_run
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.decisions import Decisions
from dcplan.planning.goal import Goal
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import strategy
from dcplan.planning.solve.request import SolveRequest
from dcplan.scenario.load import Question, load
from tests.planning.brute_sites import Best, Enumeration
from tests.planning.optimum import optimum, planned
from tests.planning.test_choice_of_sites import only, three_sites
from tests.planning.test_sites_brute import ABS_USD, REL, agrees
from tests.planning.tiny_sites import sites_menu

MENUS = (*range(24), 25, 27, 35, 40, 44, 45, 49, 51, 52)
"""The first menus, and others with land that changes the plan or is bought."""
CHEAP, MEAN = 0.03, 0.08
"""USD/kWh of the two sites."""


def plots(land_usd: float, left: float = 1.0) -> PlanningProblem:
    """Two sites that differ in the price of energy; the one with cheap energy has land to buy."""
    problem = only(three_sites(4, 1), ("mean", "cheap"))
    sites = tuple(
        replace(s, land_usd=land_usd, land_left_frac=(left, left)) if s.id == "cheap" else s
        for s in problem.sites
    )
    return replace(problem, sites=sites)


def used(d: Decisions) -> set[str]:
    return {hall for (hall, _, _), n in d.fitted.items() if n}


@pytest.mark.parametrize("left", [1.0, 0.5, 1.02])
def test_the_price_of_land_flips_the_site_at_the_price_by_hand(left: float) -> None:
    """The halls open in the second quarter. The 238,144 kWh of that quarter save 0.05 USD each, paid in its
    middle: 11,907 / 1.1^(1.5/4) = 11,489 USD; the model, with ideal shares of the network, has 2.9 % less.
    The land costs L / 1.1^(1.5/4) less its value after another half of a quarter, left L / 1.1^(2/4).
    """
    d, _, _ = planned(plots(0.0))
    assert used(d) == {"cheap"}
    flows = make_accounts(plots(0.0), d).flows
    kwh = sum(f.goods.quantity for f in flows if f.asset is AssetClass.GRID_ENERGY and f.goods)
    assert kwh == pytest.approx(238_144, abs=1)
    cheap, mean = (optimum(only(plots(0.0), (x,)))[0].objective for x in ("cheap", "mean"))
    saved = 1e6 * (mean - cheap)
    assert saved == pytest.approx(kwh * (MEAN - CHEAP) * 1.1**-0.375, rel=0.03)
    price = saved / (1.1**-0.375 - left * 1.1**-0.5)
    below, above = (optimum(plots(x * price, left)) for x in (0.999, 1.001))
    assert below[1] is not None
    assert above[1] is not None
    assert (used(below[1]), used(above[1])) == ({"cheap"}, {"mean"})
    assert 1e6 * (below[0].objective - cheap) == pytest.approx(0.999 * saved, rel=1e-6)
    assert above[0].objective == pytest.approx(mean, rel=1e-9)


def test_land_is_one_payment_with_its_value_at_the_end() -> None:
    """1 M USD in the second quarter; at 4 % a year it is worth 1.04^(1/4) M USD a quarter later."""
    problem = only(plots(1e6, 1.04**0.25), ("cheap",))
    d, usd, _ = planned(problem)
    flows = make_accounts(problem, d).flows
    land = [(f.quarter, f.group, f.usd) for f in flows if f.asset is AssetClass.LAND]
    assert land == [
        (1, FlowGroup.CAPEX, 1e6),
        (1, FlowGroup.RESIDUAL, pytest.approx(-1e6 * 1.04**0.25)),
    ]
    assert npv_usd(flows, 0.10) == pytest.approx(usd, rel=1e-12)
    more = 1e6 * (1.1**-0.375 - 1.04**0.25 * 1.1**-0.5)
    assert usd - planned(only(plots(0.0), ("cheap",)))[1] == pytest.approx(more, rel=1e-9)


def test_a_budget_counts_land() -> None:
    """With a budget that holds the plan and half of the land, the plan takes the other site."""
    free, d = plots(0.0), planned(plots(0.0))[0]
    paid = sum(f.usd for f in make_accounts(free, d).flows if f.group is not FlowGroup.RESIDUAL)
    finance = replace(free.finance, budget_total_usd=1.2 * paid)
    rich = replace(plots(0.4 * paid, 1.0), finance=finance)
    assert used(planned(replace(rich, sites=free.sites))[0]) == {"cheap"}
    assert used(planned(rich)[0]) == {"mean"}
    assert optimum(only(rich, ("cheap",)))[1] is None


@pytest.mark.parametrize("goal", ["capex", "carbon"])
def test_other_goals_count_land_once(goal: str) -> None:
    """The audit finds the payment of the model: capital cost has the land, carbon does not."""
    problem = replace(only(plots(2e6), ("cheap",)), goal=Goal(goal))
    found, d = optimum(problem)
    assert d is not None
    flows = make_accounts(problem, d).flows
    assert sum(f.usd for f in flows if f.asset is AssetClass.LAND and not f.at_end) == 2e6
    free = optimum(replace(only(plots(0.0), ("cheap",)), goal=Goal(goal)))[0]
    more = found.objective - free.objective
    assert more == pytest.approx(2.0 if goal == "capex" else 0.0, abs=1e-9)


def with_land(seed: int) -> PlanningProblem:
    """A tiny menu of sites, each with land of up to 20 M USD or none."""
    problem, rng = sites_menu(seed), np.random.default_rng(70_000 + seed)
    sites = []
    for site in problem.sites:
        price = float(rng.choice([0.0, rng.uniform(5e4, 2e7)]))
        growth = float(rng.uniform(-0.3, 0.09))
        left = tuple((1 + growth) ** ((problem.quarters - t) / 4) for t in range(problem.quarters))
        sites.append(replace(site, land_usd=price, land_left_frac=left))
    return replace(problem, sites=tuple(sites))


@cache
def enumerated(seed: int) -> Best:
    return Enumeration(with_land(seed)).best(3)


@pytest.fixture(scope="module")
def question() -> Question:
    return load("retrofit-air-hall")


@pytest.fixture(autouse=True)
def _systems_in_no_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalog does not know the systems of tiny menus; all other checks of the audit stay."""
    monkeypatch.setattr(audit_run, "differences", lambda *_: [])


@pytest.mark.parametrize("seed", MENUS)
def test_plans_with_land_agree_with_the_enumeration(seed: int, question: Question) -> None:
    problem, best = with_land(seed), enumerated(seed)
    points = [*best.others, *([(best.usd, best.decisions)] if best.decisions else [])]
    for usd, d in points:
        assert d is not None
        books = make_accounts(problem, d)
        assert [c for c in all_checks(problem, d, books) if not c.holds] == []
        found = npv_usd(books.flows, problem.finance.discount_rate)
        assert found == pytest.approx(usd, rel=REL, abs=ABS_USD)
    request = SolveRequest(gap=REL, time_limit_s=60.0)
    agrees(strategy.solve_problem(problem, question, request), best)


@pytest.mark.parametrize("seed", MENUS[:6])
def test_the_search_of_large_models_agrees(
    seed: int, question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strategy, "SMALL_COLUMNS", 0)
    request = SolveRequest(gap=REL, time_limit_s=60.0)
    agrees(strategy.solve_problem(with_land(seed), question, request), enumerated(seed))


def test_land_changes_the_plan_of_some_menus_and_is_bought_in_most() -> None:
    bought = changed = 0
    for seed in MENUS:
        d, plain = enumerated(seed).decisions, Enumeration(sites_menu(seed)).best().decisions
        if d is None or plain is None:
            continue
        flows = make_accounts(with_land(seed), d).flows
        bought += any(f.asset is AssetClass.LAND for f in flows)
        changed += used(d) != used(plain)
    assert bought >= 8
    assert changed >= 4
