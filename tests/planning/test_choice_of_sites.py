"""The number of sites: a plan chooses some of several candidates."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.audit.run import settled
from dcplan.planning.check_ids import CheckId
from dcplan.planning.problem.terms import PlanningProblem
from tests.planning.optimum import best_plan, optimum
from tests.planning.small import HALL, small_menu

PRICES = {"dear": 0.2, "mean": 0.08, "cheap": 0.03}
"""USD/kWh of the sites."""


def three_sites(racks: int, most: int | None) -> PlanningProblem:
    """The small menu at three sites that differ in the price of energy; a hall has a few racks."""
    menu = small_menu()
    hall = replace(menu.hall(HALL), racks=racks, count=1)
    sites, halls, placed, fabrics = [], [], [], []
    for name, price in PRICES.items():
        sites.append(replace(menu.sites[0], id=name, usd_per_kwh=(price, price)))
        halls.append(replace(hall, id=name, site=name))
        placed += [replace(p, hall=name) for p in menu.placements if p.hall == HALL]
        fabrics += [replace(f, hall=name) for f in menu.fabrics if f.hall == HALL]
    own = {k[1]: x for k, x in menu.demands[0].each.items() if k[0] == HALL}
    demand = replace(
        menu.demands[0],
        each={(name, system): x for name in PRICES for system, x in own.items()},
        wanted=(0.0, 14.0),
    )
    return replace(
        menu,
        sites=tuple(sites),
        halls=tuple(halls),
        placements=tuple(placed),
        fabrics=tuple(fabrics),
        demands=(demand,),
        jobs=(),
        run_options=(),
        offers=(),
        sites_max=most,
    )


def only(problem: PlanningProblem, names: tuple[str, ...]) -> PlanningProblem:
    """The problem with some of the sites, without a limit on their number."""
    return replace(
        problem,
        sites=tuple(s for s in problem.sites if s.id in names),
        halls=tuple(h for h in problem.halls if h.site in names),
        placements=tuple(p for p in problem.placements if p.hall in names),
        fabrics=tuple(f for f in problem.fabrics if f.hall in names),
        demands=(
            replace(
                problem.demands[0],
                each={k: x for k, x in problem.demands[0].each.items() if k[0] in names},
            ),
        ),
        sites_max=None,
    )


@pytest.mark.parametrize(("racks", "most"), [(4, 1), (3, 2), (4, 2), (2, 3)])
def test_the_chosen_sites_are_those_of_an_enumeration(racks: int, most: int) -> None:
    problem = three_sites(racks, most)
    costs = {}
    for names in combinations(PRICES, most):
        found, d = optimum(only(problem, names))
        if d is not None:
            costs[names] = found.objective
    d, cost = best_plan(problem)
    assert costs
    assert cost == pytest.approx(min(costs.values()), rel=1e-6)
    d = settled(problem, d)
    used = {hall for (hall, _, _), n in d.fitted.items() if n}
    assert used <= set(min(costs, key=costs.__getitem__))
    checks = list(all_checks(problem, d, make_accounts(problem, d)))
    assert [c.name for c in checks if not c.holds] == []
    assert next(c.limit for c in checks if c.id is CheckId.SITES_USED) == most


def test_too_few_sites_for_the_demand_have_no_plan() -> None:
    """A site with three positions holds two racks and a switch: 14 PFLOP/s take three racks of b."""
    assert optimum(three_sites(3, 1))[1] is None
    assert optimum(three_sites(3, 2))[1] is not None


def test_the_limit_takes_one_large_site_where_two_small_ones_cost_less() -> None:
    """Energy at the large site costs 20 USD/kWh: without a limit the plan takes the two small ones."""
    problem = three_sites(3, 1)
    sites = tuple(
        replace(s, usd_per_kwh=(20.0, 20.0)) if s.id == "dear" else s for s in problem.sites
    )
    halls = tuple(replace(h, racks=6) if h.id == "dear" else h for h in problem.halls)
    problem = replace(problem, sites=sites, halls=halls)
    used = [
        {hall for (hall, _, _), n in best_plan(x)[0].fitted.items() if n}
        for x in (problem, replace(problem, sites_max=None))
    ]
    assert used == [{"dear"}, {"mean", "cheap"}]


PRICE_OF_FOUR = {**PRICES, "dearest": 0.3}


def four_sites(**limits: int) -> PlanningProblem:
    """Four sites that differ in the price of energy only; a hall has positions for two racks of b."""
    base = three_sites(3, None)
    like = base.sites[0].id
    hall, site = base.hall(like), base.site(like)
    dearest = replace(site, id="dearest", usd_per_kwh=(0.3, 0.3))
    demand = base.demands[0]
    own = {k[1]: x for k, x in demand.each.items() if k[0] == like}
    return replace(
        base,
        sites=(*base.sites, dearest),
        halls=(*base.halls, replace(hall, id="dearest", site="dearest")),
        placements=(
            *base.placements,
            *(replace(p, hall="dearest") for p in base.placements if p.hall == like),
        ),
        fabrics=(
            *base.fabrics,
            *(replace(f, hall="dearest") for f in base.fabrics if f.hall == like),
        ),
        demands=(
            replace(demand, each={**demand.each, **{("dearest", k): x for k, x in own.items()}}),
        ),
        **limits,
    )


def usd_of_pairs() -> dict[tuple[str, ...], float]:
    """Cost of each pair of the four sites [M USD]."""
    problem = four_sites()
    found = {names: optimum(only(problem, names)) for names in combinations(PRICE_OF_FOUR, 2)}
    return {names: x.objective for names, (x, d) in found.items() if d is not None}


def test_two_of_four_sites_with_one_of_them_forced() -> None:
    costs = usd_of_pairs()
    assert len(costs) == 6
    for site in PRICE_OF_FOUR:
        problem = replace(four_sites(sites_max=2), forced_sites=(site,))
        d, cost = best_plan(problem)
        assert cost == pytest.approx(
            min(x for names, x in costs.items() if site in names), rel=1e-6
        )
        assert any(h == site and n for (h, _, _, _), n in d.ordered.items())


def test_at_least_so_many_sites_have_racks() -> None:
    """Two sites are enough for the work; with four, each has a rack, and the plan costs more."""
    least = best_plan(four_sites(sites_max=2))[1]
    problem = four_sites(sites_min=4)
    d, cost = best_plan(problem)
    assert cost > least
    d = settled(problem, d)
    assert {h for (h, _, _, _), n in d.ordered.items() if n} == set(PRICE_OF_FOUR)
    checks = list(all_checks(problem, d, make_accounts(problem, d)))
    assert [c.name for c in checks if not c.holds] == []
    two = settled(problem, best_plan(four_sites(sites_max=2))[0])
    broken = [c.id for c in all_checks(problem, two, make_accounts(problem, two)) if not c.holds]
    assert broken == [CheckId.SITES_LEAST]
