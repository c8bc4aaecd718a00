"""Sales and property tax by site: the chosen site by hand, and plans against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest

from dcplan.economics.cash_flow import CAPITAL, AssetClass
from dcplan.economics.monthly.financing import Financing, PlantTax, SiteTaxes
from dcplan.economics.monthly.statements import statements
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.measures import after_tax
from dcplan.planning.model.build import build_model
from dcplan.planning.model.money.capital import capital
from dcplan.planning.problem.terms import PlanningProblem
from tests.planning.brute_site_taxes import MONTHS, T, after_tax_usd, choices, menu
from tests.planning.optimum import optimum, planned
from tests.planning.test_after_tax import taxed, worse_than_none
from tests.planning.test_runs_over_halls import two_halls
from tests.planning.test_upgrades import menu as upgraded
from tests.planning.tiny_sites import sites_menu

GAIN_USD = 0.04 * 30.0 * 1.2 * 91.3125 * 24 / 3
"""What energy costs less at the second site in a month: 0.04 USD/kWh on 30 kW of racks at a PUE of 1.2.
[USD]"""
EQUIPMENT_USD = 1e6 + 16 * 2500.0
"""One rack, and 16 ports of its network. [USD]"""


def factor(month: int) -> float:
    return float(1.1 ** (-(month + 0.5) / 12))


def two_sites(taxes: SiteTaxes) -> PlanningProblem:
    """One rack of USD 1 M for a demand of one rack: energy is cheap at site b, which has own taxes."""
    base = menu(0)
    share = replace(next(iter(base.fabrics[0].shares.values())), usd=2500.0, kw=0.0)
    placed = tuple(
        replace(
            p,
            price_usd=1e6,
            lead=0,
            accelerators=16,
            ports=16,
            idle_kw=30.0,
            idle_average_kw=30.0,
            training_kw=30.0,
            research_kw=30.0,
            rated_kw=40.0,
        )
        for p in base.placements
        if p.system == "alpha"
    )
    price = {"a": 0.10, "b": 0.06}
    demand = replace(
        base.demands[0],
        wanted=(4.0,) * T,
        each={key: 0.3 for key in base.demands[0].each if key[1] == "alpha"},
        unmet_usd=1e9,
    )
    terms = Financing(0.1, 5.0, site_taxes=(taxes,))
    return replace(
        base,
        sites=tuple(replace(s, usd_per_kwh=(price[s.id],) * T) for s in base.sites),
        placements=placed,
        fabrics=tuple(replace(f, shares=dict.fromkeys(f.shares, share)) for f in base.fabrics),
        demands=(demand,),
        supply=(),
        orderable=frozenset({"alpha"}),
        finance=replace(base.finance, financing=terms),
    )


def chosen(taxes: SiteTaxes) -> str:
    found, d = optimum(two_sites(taxes))
    assert d is not None
    assert found.values is not None
    ((hall, *_),) = d.ordered
    return str(hall)[0]


def test_sales_tax_moves_the_plan_at_the_break_even_by_hand() -> None:
    """The rate at which the tax on USD 1.04 M in the first month is worth the cheaper energy of 18
    months: 0.0170.
    """
    saved = GAIN_USD * sum(factor(m) for m in range(MONTHS))
    even = saved / (EQUIPMENT_USD * factor(0))
    assert even == pytest.approx(0.0170, abs=5e-5)
    assert chosen(SiteTaxes("b", 0.999 * even)) == "b"
    assert chosen(SiteTaxes("b", 1.001 * even)) == "a"


def test_property_tax_moves_the_plan_at_the_break_even_by_hand() -> None:
    """Tax of the first year on USD 1.04 M in month 12, of half a year on 4/5 of it in month 18."""
    saved = GAIN_USD * sum(factor(m) for m in range(MONTHS))
    even = saved / (EQUIPMENT_USD * (factor(11) + 0.5 * 0.8 * factor(17)))
    assert even == pytest.approx(0.0135, abs=5e-5)
    assert chosen(SiteTaxes("b", 0.0, 0.999 * even)) == "b"
    assert chosen(SiteTaxes("b", 0.0, 1.001 * even)) == "a"


@pytest.mark.parametrize("asset", [AssetClass.BUILDING, AssetClass.COOLING])
def test_property_tax_of_plants_moves_the_plan_at_the_break_even_by_hand(asset: AssetClass) -> None:
    """A hall is fitted in the first month; its class loses 1/10 of its value in the first year."""
    cooling = menu(0).halls[0].coolings[0]
    paid = cooling.building_usd if asset is AssetClass.BUILDING else cooling.fit_out_usd
    saved = GAIN_USD * sum(factor(m) for m in range(MONTHS))
    even = saved / (paid * (factor(11) + 0.5 * 0.9 * factor(17)))
    for share, site in ((0.999, "b"), (1.001, "a")):
        tax = PlantTax(asset, share * even, 10.0)
        assert chosen(SiteTaxes("b", plant_taxes=(tax,))) == site


@pytest.mark.parametrize("seed", range(24))
def test_the_optimum_is_the_least_of_all_choices(seed: int) -> None:
    problem = menu(seed)
    least = min(after_tax_usd(problem, x) for x in choices(problem))
    found, _ = optimum(problem)
    assert 1e6 * found.objective == pytest.approx(least, rel=1e-9)


def test_the_menus_have_plans_at_both_sites_and_all_kinds_of_terms() -> None:
    """The enumeration would say little about menus that buy nothing, or that have no payment terms."""
    problems = [menu(seed) for seed in range(24)]
    best = [min(choices(p), key=lambda x, p=p: after_tax_usd(p, x)) for p in problems]  # type: ignore[misc]
    used = [{site for site, *_ in x.buy} for x in best]
    terms = [p.finance.financing for p in problems if p.finance.financing is not None]
    assert {"a"} in used
    assert {"b"} in used
    assert {len(x.site_taxes) for x in terms} == {1, 2}
    assert len([x for x in terms if x.milestones is not None]) > 5


@pytest.mark.parametrize("seed", range(8))
def test_the_statements_of_a_plan_balance_in_every_month(seed: int) -> None:
    problem = menu(seed)
    d, _, _ = planned(problem)
    cost = after_tax(problem, make_accounts(problem, d).flows)
    terms = problem.finance.financing
    assert terms is not None
    lives = {AssetClass.BUILDING: 20.0, AssetClass.COOLING: 12.0}
    stated = statements(cost, terms.income_rate_frac, lives, 5.0)
    assert np.abs(stated.difference).max() < 1e-9 * abs(cost.npv_usd)


def own_taxes(seed: int) -> PlanningProblem:
    """A menu of blocks, plants, assets and orders at two sites, one or both with taxes of their own."""
    problem, rng = taxed(seed), np.random.default_rng(7000 + seed)
    terms = problem.finance.financing
    assert terms is not None

    def plants() -> tuple[PlantTax, ...]:
        kinds = (AssetClass.BUILDING, AssetClass.COOLING, AssetClass.POWER)
        return tuple(PlantTax(x, float(rng.uniform(0, 0.05)), 15.0) for x in kinds)

    own = tuple(
        SiteTaxes(s.id, float(rng.uniform(0, 0.2)), float(rng.uniform(0, 0.05)), plants())
        for s in problem.sites
        if s.id == "r" or rng.random() < 0.5
    )
    terms = replace(terms, plant_taxes=plants(), site_taxes=own)
    return replace(problem, finance=replace(problem.finance, financing=terms))


@pytest.mark.parametrize("seed", range(10))
def test_no_alternative_beats_the_plan(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    worse_than_none(seed, own_taxes(seed), monkeypatch)


@pytest.mark.slow
def test_no_alternative_beats_any_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [worse_than_none(seed, own_taxes(seed), monkeypatch) for seed in range(10, 60)]
    assert sum(counts) > 2_500


def with_links() -> PlanningProblem:
    """Two linked halls, the second one at a site of its own."""
    base = two_halls(4, 1e6)
    first, second = base.halls
    site = replace(base.sites[0], id="r")
    return replace(base, sites=(*base.sites, site), halls=(first, replace(second, site="r")))


@pytest.mark.parametrize(
    "problem",
    [sites_menu(1), sites_menu(7), upgraded(), with_links()],
    ids=["plants", "orders", "upgrades", "links"],
)
def test_the_capital_of_sites_is_that_of_the_plan(problem: PlanningProblem) -> None:
    """At any values of the variables; a place that is no site of the plan has none."""
    model, sets = build_model(problem)
    rng = np.random.default_rng(3)
    for x in model.component_data_objects(pyo.Var):
        x.set_value(float(rng.uniform(1.0, 2.0)), skip_validation=True)

    def usd(t: int, sites: set[str] | None) -> dict[AssetClass, float]:
        found = capital(model, sets, t, sites)
        return {asset: float(pyo.value(x)) for asset, x in found.items()}

    for t in sets.quarters:
        each = [usd(t, {site.id}) for site in problem.sites]
        parts = {asset: sum(x[asset] for x in each) for asset in CAPITAL}
        assert parts == pytest.approx(usd(t, None), rel=1e-12)
        assert not any(usd(t, {"elsewhere"}).values())
