"""Contracts for power through the grid: steps by enumeration, hours by hand, matching, bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.energy.carbon import CARBON
from dcplan.planning.audit.energy.contracts import Matched, matched, output_mwh
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.contracts import ContractTerms, MatchedTerms, traded
from dcplan.planning.problem.energy import OnsiteTerms
from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.large.racks import MOST_STEPS
from tests.planning.optimum import judged, optimum, planned
from tests.planning.small import powered_menu

HOURS, LAST = 2191.5, 1
DAYS = np.arange(8760) // 24
SUN = np.clip(np.sin((np.arange(8760) % 24 - 6) / 12 * np.pi), 0.0, None)
WIND = 0.5 + 0.45 * np.sin(np.arange(8760) * 2 * np.pi / 77.0)
FLAT = np.ones(8760)


def contract(
    name: str,
    usd: float,
    shape: np.ndarray = FLAT,
    *,
    steps: int = 6,
    surplus: float = 0.0,
    delivery: float = 0.0,
    carbon_free: bool = True,
    first: int = 0,
) -> ContractTerms:
    """A contract with steps of 10 kW, with the same prices in both quarters."""
    return ContractTerms(
        *(name, 0.01, steps, (usd, usd), (surplus, surplus), (delivery, delivery)),
        profile=tuple(shape.tolist()),
        carbon_free=carbon_free,
        first=first,
    )


def contracted(
    *contracts: ContractTerms,
    least: MatchedTerms | None = None,
    onsite: tuple[OnsiteTerms, ...] = (),
) -> PlanningProblem:
    """The small menu with enough firm power at 12 cents a kWh, and contracts."""
    problem = powered_menu(2.0, 0.0)
    site = dataclasses.replace(
        problem.sites[0],
        onsite=onsite,
        tranches=(),
        usd_per_kwh=(0.12, 0.12),
        demand_usd_per_kw_month=0.0,
        contracts=contracts,
        matched=least or MatchedTerms(),
    )
    with_site = dataclasses.replace(problem, sites=(site,), margin_factor=0.0)
    return with_steps(with_site, MOST_STEPS, exact=True)


def enumerated(problem: PlanningProblem, d: Decisions) -> Iterator[tuple[Decisions, float]]:
    """Every number of steps from every quarter, with the hardware of a plan, that passes the audit."""
    site = problem.sites[0]
    columns = [(site.id, x.id, q) for x in site.contracts for q in range(x.first, problem.quarters)]
    most = {x.id: x.most_steps for x in site.contracts}
    for steps in product(*(range(most[x] + 1) for _, x, _ in columns)):
        chosen = {key: n for key, n in zip(columns, steps, strict=True) if n}
        if any(sum(n for (_, x, _), n in chosen.items() if x == k) > v for k, v in most.items()):
            continue
        tried, usd, broken = judged(problem, dataclasses.replace(d, contracted=chosen))
        if not broken:
            yield tried, usd


MENUS = {
    "one baseload": contracted(contract("base", 70.0, steps=20, surplus=42.0)),
    "baseload above the tariff": contracted(contract("base", 130.0, steps=4)),
    "sold surplus": contracted(contract("sun", 60.0, SUN, steps=20, surplus=35.0, delivery=20.0)),
    "lost surplus": contracted(contract("sun", 60.0, SUN, steps=20)),
    "sun and wind": contracted(
        contract("sun", 45.0, SUN, steps=5, surplus=10.0, first=LAST),
        contract("wind", 50.0, WIND, steps=5, first=LAST),
    ),
}


@pytest.mark.parametrize("name", MENUS)
def test_the_plan_signs_the_steps_of_an_enumeration(name: str) -> None:
    """The model's bound is never above the enumerated optimum, and the plan is it, exact for a flat
    contract, and else within 0.3 % of the energy used."""
    problem = MENUS[name]
    d, usd, bound = planned(problem)
    best, best_usd = min(enumerated(problem, d), key=lambda x: x[1])
    assert bound <= best_usd * (1 + 1e-9)
    used_usd = 120.0 * sum(best.contract_mwh.values())
    assert usd - best_usd <= 1e-6 * best_usd + 0.003 * used_usd
    assert usd - bound <= 1e-6 * best_usd + 0.003 * used_usd
    if name.endswith("baseload"):  # one limit is exact for a flat contract
        assert usd == pytest.approx(best_usd, rel=1e-9)
        assert bound == pytest.approx(best_usd, rel=1e-6)
        assert d.contracted == best.contracted != {}
    if name.startswith("baseload above"):
        assert d.contracted == {}


def clean_of(problem: PlanningProblem, d: Decisions) -> Matched:
    """Carbon-free energy of the only site in all its quarters."""
    books, site = make_accounts(problem, d), problem.sites[0]
    quarters = range(problem.quarters)
    loads = {t: books.site(problem, site.id, t, "facility_mwh") for t in quarters}
    return matched(problem, d, site, loads)


def test_energy_is_used_and_sold_by_the_hour() -> None:
    """20 steps of 10 kW of sun: by hand, the load takes the least of output and its mean in each hour; the
    rest is sold. Used energy saves the tariff, and pays delivery."""
    sun = contract("sun", 60.0, SUN, steps=20, surplus=35.0, delivery=20.0)
    problem = contracted(sun)
    base, base_usd, _ = planned(contracted(dataclasses.replace(sun, most_steps=0)))
    d, usd, _ = judged(problem, dataclasses.replace(base, contracted={("s", "sun", LAST): 20}))
    shape = SUN[2160:4344]
    each_h = HOURS / 2184
    load_mw = make_accounts(problem, d).site(problem, "s", LAST, "facility_mwh") / HOURS
    used = float(np.minimum(0.2 * shape, load_mw).sum()) * each_h
    made = float((0.2 * shape).sum()) * each_h
    assert 0.0 < used < made
    assert d.contract_mwh == {("s", "sun", LAST): pytest.approx(used, rel=1e-12)}
    hand = made * 60.0 + used * (20.0 - 120.0) - (made - used) * 35.0
    assert usd - base_usd == pytest.approx(hand * 1.1 ** (-1.5 / 4), rel=1e-9)


def test_contracts_whose_surplus_earns_least_are_used_first() -> None:
    """Two flat contracts of more than the load: the one without a sale is used, the other is sold."""
    lost, sold = contract("lost", 30.0, steps=200), contract("sold", 30.0, steps=200, surplus=25.0)
    problem = contracted(sold, lost)
    base, _, _ = planned(contracted(contract("none", 30.0, steps=0)))
    chosen = {("s", "lost", 0): 200, ("s", "sold", 0): 200}
    d, _, broken = judged(problem, dataclasses.replace(base, contracted=chosen))
    assert broken == []
    load = make_accounts(problem, d).site(problem, "s", LAST, "facility_mwh")
    assert d.contract_mwh["s", "lost", LAST] == pytest.approx(load)
    assert ("s", "sold", LAST) not in d.contract_mwh


def test_contracts_use_what_pv_and_engines_leave() -> None:
    """PV of 0.3 MW and an engine at constant power come before a flat contract: by hand and hour."""
    pv = OnsiteTerms(
        *("pv", 0.01, 0.0, 0.0, 0.0, 0.0),
        lead=1,
        most_units=30,
        spare_units=0,
        profile=tuple(SUN.tolist()),
    )
    engine = OnsiteTerms("engine", 0.05, 0.0, 0.0, 1.0, 450.0, lead=1, most_units=2, spare_units=1)
    problem = contracted(contract("base", 70.0, steps=4), onsite=(pv, engine))
    d, usd, bound = planned(problem)
    assert bound <= usd * (1 + 1e-9)
    engine_mwh, units = d.onsite_mwh.get(("s", "engine", LAST), 0.0), d.onsite["s", "pv", 0]
    assert engine_mwh > 0.0
    load = make_accounts(problem, d).site(problem, "s", LAST, "facility_mwh") / HOURS
    d, _, _ = judged(problem, dataclasses.replace(d, contracted={("s", "base", 0): 4}))
    engine_mwh = d.onsite_mwh["s", "engine", LAST]
    rest = load - np.minimum(units * 0.01 * SUN[2160:4344], load) - engine_mwh / HOURS
    hand = float(np.minimum(np.maximum(rest, 0.0), 0.04).sum()) * HOURS / 2184
    room = load * HOURS - d.onsite_mwh["s", "pv", LAST] - engine_mwh
    assert d.contract_mwh["s", "base", LAST] == pytest.approx(min(hand, room), rel=1e-9)


@pytest.mark.parametrize(
    ("least", "name"),
    [(MatchedTerms(annual_frac=0.8), "annual"), (MatchedTerms(hourly_frac=0.45), "hourly")],
)
def test_a_least_share_is_met_at_the_lowest_cost(least: MatchedTerms, name: str) -> None:
    """Contracts above the tariff are signed for the share alone: the enumerated steps that meet it and cost
    least. Sun alone can match at most half of the hours, so wind does the rest."""
    menu = (
        contract("sun", 125.0, SUN, steps=12, first=LAST),
        contract("wind", 130.0, WIND, steps=12, first=LAST),
        contract("brown", 1000.0, steps=1, carbon_free=False, first=LAST),
    )
    problem = contracted(*menu, least=least)
    outcome, found = optimum(problem)
    assert found is not None
    passing = (
        (tried, usd)
        for tried, usd in enumerated(problem, found)
        if not any(x == "brown" for _, x, _ in tried.contracted)
    )
    _, best_usd = min(passing, key=lambda x: x[1])
    assert outcome.objective * 1e6 <= best_usd * (1 + 1e-9)
    d, usd, broken = judged(problem, found)
    share = (
        clean_of(problem, d).annual_frac if name == "annual" else clean_of(problem, d).hourly_frac
    )
    wanted = least.annual_frac or least.hourly_frac or 0.0
    assert share >= wanted * (1 - 0.004)
    if not broken:
        assert usd == pytest.approx(best_usd, rel=1e-6)
    assert not any(x == "brown" for _, x, _ in d.contracted)


def test_a_least_share_without_contracts_has_no_plan() -> None:
    problem = contracted(
        contract("brown", 10.0, carbon_free=False, steps=9), least=MatchedTerms(0.5)
    )
    assert optimum(problem)[1] is None
    assert (
        optimum(
            dataclasses.replace(
                problem,
                sites=(dataclasses.replace(problem.sites[0], matched=MatchedTerms(None, 0.1)),),
            )
        )[1]
        is None
    )


def test_matching_and_carbon_of_a_flat_contract_by_hand() -> None:
    """A flat contract of half the load: annual and hourly matching are one half. With the residual mix of 500
    instead of 300 g/kWh, market-based carbon is 0.5 x 500 / 300 of the location-based one."""
    problem = contracted(contract("base", 70.0, steps=200))
    base, _, _ = planned(contracted(contract("base", 70.0, steps=0)))
    load = make_accounts(problem, base).site(problem, "s", LAST, "facility_mwh") / HOURS
    half = dataclasses.replace(problem.sites[0].contracts[0], step_mw=load / 2)
    site = dataclasses.replace(problem.sites[0], contracts=(half,), residual_g_per_kwh=500.0)
    problem = dataclasses.replace(problem, sites=(site,))
    d, _, _ = judged(problem, dataclasses.replace(base, contracted={("s", "base", LAST): 1}))
    found = clean_of(problem, d)
    assert found.load_mwh == pytest.approx(load * HOURS)
    assert found.annual_frac == pytest.approx(0.5)
    assert found.hourly_frac == pytest.approx(0.5)
    assert found.location_t == pytest.approx(load * HOURS * 0.3)
    assert found.market_t == pytest.approx(load * HOURS * 0.5 * 0.5)


def test_annual_matching_counts_energy_of_other_hours() -> None:
    """Sun with as much energy as the load: all matched over the year, and less than half by the hour."""
    base, _, _ = planned(contracted(contract("sun", 70.0, SUN, steps=0)))
    problem = contracted(contract("sun", 70.0, SUN, steps=500))
    load = make_accounts(problem, base).site(problem, "s", LAST, "facility_mwh")
    one = output_mwh(
        problem,
        dataclasses.replace(base, contracted={("s", "sun", LAST): 1}),
        problem.sites[0],
        problem.sites[0].contracts[0],
        LAST,
    )
    steps = int(load / one) + 1
    d, _, _ = judged(problem, dataclasses.replace(base, contracted={("s", "sun", LAST): steps}))
    found = clean_of(problem, d)
    assert found.annual_frac == 1.0
    assert 0.3 < found.hourly_frac < 0.5
    assert found.market_t == 0.0 < found.location_t


def reactor(usd_per_mwh: float) -> OnsiteTerms:
    """A plant of 10 kW units that burns nothing and serves in all hours."""
    return OnsiteTerms("reactor", 0.01, 0.0, 0.0, usd_per_mwh, 0.0, 0, 9, 0, steady=True)


@pytest.mark.parametrize("shape", [FLAT, SUN])
def test_a_steady_plant_without_carbon_counts_in_every_hour(shape: np.ndarray) -> None:
    """A plant at a quarter of the load leaves three quarters, of which a contract of half the load at its peak
    covers min(0.5 f, 0.75) of each hour: with a flat contract 0.25 + 0.5 of the year and of the hours."""
    base, _, _ = planned(contracted(contract("base", 70.0, shape, steps=0)))
    problem = contracted(contract("base", 70.0, shape, steps=500), onsite=(reactor(50.0),))
    site = problem.sites[0]
    load = make_accounts(problem, base).site(problem, "s", LAST, "facility_mwh")
    steps = round(0.5 * load / HOURS / 0.01)
    d = dataclasses.replace(
        base,
        contracted={("s", "base", LAST): steps},
        onsite_mwh={("s", "reactor", LAST): 0.25 * load},
    )
    found = matched(problem, d, site, {LAST: load})
    hours = steps * 0.01 * HOURS / load * shape[2160:4344]
    assert found.hourly_frac == pytest.approx(0.25 + np.minimum(hours, 0.75).mean())
    assert found.annual_frac == pytest.approx(0.25 + hours.mean())
    assert found.location_t == pytest.approx(0.75 * load * site.grid_g_per_kwh / 1e3)


def test_the_plan_meets_a_share_by_the_hour_with_a_steady_plant() -> None:
    """Sun covers at most half of the hours: a share of 0.9 needs the plant, at 50 USD/MWh above the tariff, for
    what the sun leaves; without a share it stays off."""
    menu = (contract("sun", 125.0, SUN, steps=12),)
    free, _, _ = planned(contracted(*menu, onsite=(reactor(170.0),)))
    assert sum(free.onsite_mwh.values()) == pytest.approx(0.0, abs=1e-6)
    problem = contracted(*menu, least=MatchedTerms(hourly_frac=0.9), onsite=(reactor(170.0),))
    _, found = optimum(problem)
    assert found is not None
    d, _, broken = judged(problem, found)
    share = clean_of(problem, d)
    assert not broken
    assert share.hourly_frac == pytest.approx(0.9, rel=0.004)
    assert sum(d.onsite_mwh.values()) >= 0.4 * share.load_mwh


@pytest.mark.parametrize("by_market", [False, True])
def test_a_price_of_carbon_is_paid_and_weighed(by_market: bool) -> None:
    """A flat contract at 125 USD/MWh against a tariff of 120 and 300 g/kWh at 100 USD/t: 30 USD/MWh. By market
    the contract saves 25 USD/MWh and covers the whole load; by location it saves nothing."""
    problem = contracted(contract("base", 125.0, steps=40, surplus=100.0))
    site = dataclasses.replace(
        problem.sites[0], carbon_usd_per_t=(100.0, 100.0), carbon_by_market=by_market
    )
    problem = dataclasses.replace(problem, sites=(site,))
    d, usd, bound = planned(problem)
    best, best_usd = min(enumerated(problem, d), key=lambda x: x[1])
    assert bound == pytest.approx(best_usd, rel=1e-6)
    assert bound <= best_usd * (1 + 1e-9)
    assert usd == pytest.approx(best_usd, rel=1e-9)
    assert bool(d.contracted) == bool(best.contracted) == by_market
    paid = sum(f.usd for f in make_accounts(problem, d).flows if f.line == CARBON)
    found = clean_of(problem, d)
    assert found.location_t > 0.0
    assert paid == pytest.approx(100.0 * (found.market_t if by_market else found.location_t))


def test_a_contract_that_earns_money_without_a_load_is_named() -> None:
    """Surplus at 30 USD/MWh of a contract at 20 from the second quarter on: the first quarter has no
    delivery. At the price of the contract nothing is earned."""
    late = ContractTerms(
        "w", 1.0, 9, (20.0, 20.0), (90.0, 30.0), (0.0, 0.0), (1.0,) * 8760, first=1
    )
    notes = traded("s", [late])
    assert len(notes) == 1
    assert "surplus of w sells at 30 USD/MWh in quarter 2, and the contract costs 20" in notes[0]
    equal = dataclasses.replace(late, surplus_usd_per_mwh=(20.0, 20.0))
    assert traded("s", [equal]) == []
