"""Waste heat that a site sells and water that it buys: payments by hand, the model's bound, refusals."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import dcplan
from dcplan.economics.cash_flow import Charge, Unit, npv_usd
from dcplan.errors import InputError
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.audit.energy.utilities import CONNECTION, HEAT, PUMP, WATER
from dcplan.planning.audit.run import settled
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.terms.heat import HeatTerms
from dcplan.planning.solve.large.racks import MOST_STEPS
from tests.planning.optimum import optimum
from tests.planning.small import HALL, powered_menu

LAST = 1
BUYER = HeatTerms(70.0, (40.0, 40.0), (0.8, 0.8), 0.5, 2.25, connection_usd=5000.0, first=LAST)


def utilities(heat: HeatTerms | None = None, water_usd: float = 0.0) -> PlanningProblem:
    """The small menu with enough firm power at 12 cents a kWh; racks under `wet` return water of 46 C."""
    problem = powered_menu(2.0, 0.0)
    site = dataclasses.replace(
        problem.sites[0],
        onsite=(),
        tranches=(),
        usd_per_kwh=(0.12, 0.12),
        heat=heat,
        water_usd_per_m3=(water_usd, water_usd) if water_usd else (),
    )
    hall = problem.halls[0]
    coolings = tuple(
        dataclasses.replace(c, heat_c=46.0) if c.id == "wet" else c for c in hall.coolings
    )
    changed = dataclasses.replace(
        problem,
        sites=(site,),
        halls=(dataclasses.replace(hall, coolings=coolings),),
        margin_factor=0.0,
    )
    return with_steps(changed, MOST_STEPS, exact=True)


def planned(problem: PlanningProblem) -> tuple[Decisions, float, float]:
    """The audited decisions of the optimum, their cost in USD, and the bound of the model."""
    outcome, found = optimum(problem)
    assert found is not None
    d = settled(problem, found)
    books = make_accounts(problem, d)
    assert [c.id for c in all_checks(problem, d, books) if not c.holds] == []
    return d, npv_usd(books.flows, problem.finance.discount_rate), outcome.objective * 1e6


def lines(problem: PlanningProblem, d: Decisions) -> dict[str, float]:
    """The payments of water and heat, summed by line."""
    found = dict.fromkeys((HEAT, PUMP, CONNECTION, WATER), 0.0)
    for flow in make_accounts(problem, d).flows:
        if flow.line in found:
            found[flow.line] += flow.usd
    return found


def test_heat_of_two_racks_by_hand() -> None:
    """Two idle racks of 60 kW, a quarter of it idle, 70 % into liquid: 2 x 15 x 0.7 = 21 kW for 2,191.5 h
    and 80 % of them: 36.82 MWh. From 43.75 to 70 C the COP is 6.536: 6.65 MWh of electricity at 120 USD,
    43.47 MWh of heat at 40 USD."""
    problem = utilities(BUYER)
    plan = two_racks()
    found = lines(problem, plan)
    waste = 2 * 15 * 0.7 * 2191.5 / 1000 * 0.8
    assert waste == pytest.approx(36.82, abs=0.005)
    cop = 0.5 * 343.15 / (70 - 43.75)
    assert found[HEAT] == pytest.approx(-waste * cop / (cop - 1) * 40)
    assert found[PUMP] == pytest.approx(waste / (cop - 1) * 120)
    assert found[CONNECTION] == 5000.0
    dry = dataclasses.replace(
        plan, ordered={(HALL, "dry", "b", 0): 2}, fitted={(HALL, "dry", 1): 1}
    )
    assert lines(problem, dry)[HEAT] == 0.0


def test_heat_that_costs_more_than_it_earns_is_not_sold() -> None:
    """A pump of 0.181 MWh at 120 USD needs 1.181 x price above 21.7 USD: 18 USD is too low, 19 is not."""
    low, high = (dataclasses.replace(BUYER, usd_per_mwh=(x, x)) for x in (18.0, 19.0))
    assert low.net_usd_per_mwh(46.0, 0.12, 0) == 0.0
    cop = 0.5 * 343.15 / (70 - 43.75)
    net = (cop * 19 - 120) / (cop - 1)
    assert high.net_usd_per_mwh(46.0, 0.12, 0) == pytest.approx(net)
    assert net > 0.0


def seasonal(problem: PlanningProblem, shares: tuple[float, ...]) -> PlanningProblem:
    """The menu with the WUE of each calendar quarter over that of the year."""
    hall = problem.halls[0]
    own = tuple(dataclasses.replace(c, water_by_season=shares) for c in hall.coolings)
    return dataclasses.replace(problem, halls=(dataclasses.replace(hall, coolings=own),))


def test_water_has_the_season_of_its_quarter_by_hand() -> None:
    """From 2027-Q1, racks serve in the second quarter: 1.4 times the WUE of the year, in the payment, in
    the indicator and in the limit of the year. From 2027-Q2 they serve in the third: 2.1 times."""
    plain = utilities(water_usd=500.0)
    own = seasonal(plain, (0.1, 1.4, 2.1, 0.4))
    d, _, _ = planned(plain)
    year = make_accounts(plain, d).total("water_l")
    assert year > 0.0
    for start, share in (("2027-Q1", 1.4), ("2027-Q2", 2.1)):
        found = dataclasses.replace(own, start=start)
        assert make_accounts(found, d).total("water_l") == pytest.approx(share * year, rel=1e-12)
        assert lines(found, d)[WATER] == pytest.approx(share * lines(plain, d)[WATER], rel=1e-12)
        # two quarters have half of the limit of a year: 1.5 times the water
        site = dataclasses.replace(found.sites[0], max_l_per_year=3.0 * year)
        capped = dataclasses.replace(found, sites=(site,))
        broken = [x.id for x in all_checks(capped, d, make_accounts(capped, d)) if not x.holds]
        assert broken == ([] if share < 1.5 else [CheckId.WATER_L])


def with_pue(problem: PlanningProblem, **shares: tuple[float, ...]) -> PlanningProblem:
    """The menu with the PUE of each calendar quarter over that of the year, by cooling option."""
    hall = problem.halls[0]
    own = tuple(dataclasses.replace(c, pue_by_season=shares.get(c.id, ())) for c in hall.coolings)
    return dataclasses.replace(problem, halls=(dataclasses.replace(hall, coolings=own),))


PUE_SHARES = (0.95, 1.05, 1.08, 0.92)


def test_energy_has_the_pue_of_its_season_by_hand() -> None:
    """Two racks of 60 kW idle at a quarter of it, with a PUE of 1.1: 2 x 15 kW x 2,191.5 h x 1.1 = 72.32 MWh.
    From 2027-Q1 they serve in the second quarter: 75.94 MWh at 120 USD, 9,112 USD. From 2027-Q2 they serve in
    the third, 1.08. The year, four quarters from any start, has 4 x 72.32. The peak has no season."""
    plain, plan = utilities(), two_racks()
    own = with_pue(plain, wet=PUE_SHARES, dry=PUE_SHARES)
    year = make_accounts(plain, plan)
    starts = [f"2027-Q{q}" for q in (1, 2, 3, 4)]
    found = [make_accounts(dataclasses.replace(own, start=x), plan) for x in starts]
    racks = [x.total("racks_mwh") for x in found]
    assert racks[0] == pytest.approx(2 * 15 * 2191.5 * 1.1 / 1000 * 1.05, rel=1e-12)
    assert racks[0] * 120 == pytest.approx(9112, abs=0.5)
    assert racks == pytest.approx([72.3195 * PUE_SHARES[q] for q in (1, 2, 3, 0)], rel=1e-9)
    assert sum(racks) == pytest.approx(4 * year.total("racks_mwh"), rel=1e-12)
    for books, share in zip(found, (1.05, 1.08, 0.92, 0.95), strict=True):
        for what in ("facility_mwh", "racks_mwh", "idle_mwh"):
            assert books.total(what) == pytest.approx(share * year.total(what), rel=1e-12)
        assert books.total("it_mwh") == year.total("it_mwh")
        assert books.total("facility_mw") == year.total("facility_mw")
        paid, before = (
            sum(x.usd for x in own.flows if x.goods and x.goods.unit is Unit.KWH)
            for own in (books, year)
        )
        assert paid == pytest.approx(share * before, rel=1e-12)
        assert before > 0.0


@pytest.mark.parametrize("start", ["2027-Q1", "2027-Q2", "2027-Q3", "2027-Q4"])
def test_the_model_has_the_pue_of_the_season_of_the_audit(start: str) -> None:
    """The dry option has the lower PUE in some seasons; the bound of the model is at most the audited cost,
    and differs by what network and storage may have with the better option."""
    shares = {"wet": (1.1, 0.9, 1.2, 0.8), "dry": (0.8, 1.0, 0.9, 1.3)}
    problem = dataclasses.replace(with_pue(utilities(), **shares), start=start)
    _, usd, bound = planned(problem)
    assert bound <= usd * (1 + 1e-9)
    assert bound >= usd * (1 - 5e-3)


@pytest.mark.parametrize(
    "problem",
    [
        utilities(BUYER),
        utilities(water_usd=500.0),
        utilities(BUYER, 500.0),
        seasonal(utilities(water_usd=500.0), (0.1, 1.4, 2.1, 0.4)),
        with_pue(utilities(BUYER), wet=PUE_SHARES, dry=PUE_SHARES),
    ],
    ids=["heat", "water", "both", "water by season", "energy by season"],
)
def test_the_bound_of_the_model_holds_and_meets_the_audit(problem: PlanningProblem) -> None:
    """The payments of heat are those of the audit; water of network and storage counts in the model with
    the option that uses least, 5 % of all water here."""
    d, usd, bound = planned(problem)
    assert bound <= usd * (1 + 1e-9)
    found = lines(problem, d)
    assert usd - bound <= 0.05 * found[WATER] + 1e-9 * usd
    water = make_accounts(problem, d).total("water_l") / 1000
    paid = 500.0 if problem.sites[0].water_usd_per_m3 else 0.0
    assert found[WATER] == pytest.approx(water * paid)


PUMP_KW = 2 * 60 * 0.7 / (0.5 * 343.15 / (70 - 43.75) - 1)
"""Power of the pump for two racks of 60 kW, 70 % of them into liquid: 84 kW / 5.536 = 15.17 kW."""


def with_site(problem: PlanningProblem, **changed: Any) -> PlanningProblem:
    """The problem with other values of its site."""
    return dataclasses.replace(problem, sites=(dataclasses.replace(problem.sites[0], **changed),))


def two_racks() -> Decisions:
    """Two racks of `b` with liquid cooling from the second quarter on."""
    return Decisions(
        ordered={(HALL, "wet", "b", 0): 2},
        fitted={(HALL, "wet", 1): 1},
        fabric={HALL: "eth/2t"},
        blocks={("s", 1): 2},
    )


def test_the_pump_is_part_of_the_sites_load_by_hand() -> None:
    """15.17 kW at rated power of two racks, in addition to the peak of the data center. At 10 USD/kW a month it
    pays 15.17 x 3 x 10 = 455 USD a quarter, and nothing with a connection of its own."""
    assert pytest.approx(15.17, abs=0.005) == PUMP_KW
    demand = dataclasses.replace(BUYER, demand_usd_per_kw_month=(10.0, 10.0))
    own = dataclasses.replace(demand, own_grid_connection=True)
    charges = []
    for heat, kw in ((demand, PUMP_KW), (own, 0.0)):
        problem = with_site(utilities(heat), demand_usd_per_kw_month=10.0, minimum_take_frac=0.0)
        plan = two_racks()
        books = make_accounts(problem, plan)
        found = books.halls[HALL, 1]
        assert found.pump_mw == pytest.approx(kw / 1e3)
        assert found.load_mw == pytest.approx(found.facility_mw + kw / 1e3)
        (check,) = (
            c for c in all_checks(problem, plan, books) if c.id == CheckId.UTILITY_MW and c.quarter
        )
        assert check.used == pytest.approx(found.facility_mw + kw / 1e3)
        charges.append(sum(f.usd for f in books.flows if f.line == Charge.DEMAND))
    assert charges[0] - charges[1] == pytest.approx(PUMP_KW * 3 * 10.0)


def test_the_pump_takes_firm_power() -> None:
    """The optimum needs 197.8 kW, and 112 kW of heat a pump of 112 / 5.536 = 20.2 kW, 218.0 kW in all: 217
    kW have no plan, 219 have this one, and with a connection of the pump's own 198 have it. Bound and
    audit agree."""
    free, _, _ = planned(utilities(BUYER))
    own = dataclasses.replace(BUYER, own_grid_connection=True)
    for heat, mw in ((BUYER, 0.219), (own, 0.198)):
        problem = with_site(utilities(heat), utility_mw=(mw, mw))
        same, usd, bound = planned(problem)
        assert same.ordered == free.ordered
        assert bound == pytest.approx(usd, rel=1e-6)
    outcome, found = optimum(with_site(utilities(BUYER), utility_mw=(0.217, 0.217)))
    assert found is None
    assert outcome.status == "infeasible"


def test_heat_that_does_not_pay_the_demand_charge_of_the_pump_is_not_sold() -> None:
    """At 40 USD/MWh a MW of waste heat earns (1.1806 x 40 - 0.1806 x 120) x 0.8 x 2,191.5 = 44,796 USD a
    quarter. Its pump of 180.6 kW pays 541.9 USD for each USD/kW a month: above 82.66 it is not sold."""
    cop = 0.5 * 343.15 / (70 - 43.75)
    earned = (cop * 40 - 120) / (cop - 1) * 0.8 * 2191.5
    most = earned / (1000 / (cop - 1) * 3)
    assert most == pytest.approx(82.66, abs=0.01)
    for usd, sold in ((82.0, True), (83.0, False)):
        heat = dataclasses.replace(BUYER, demand_usd_per_kw_month=(usd, usd))
        assert (heat.net_usd_per_mwh(46.0, 0.12, 1) > 0.0) is sold
        assert (heat.pump_mw_per_mw(46.0, 0.12, 1) > 0.0) is sold
        own = dataclasses.replace(heat, own_grid_connection=True)
        assert own.net_usd_per_mwh(46.0, 0.12, 1) > 0.0
        assert own.pump_mw_per_mw(46.0, 0.12, 1) == 0.0


def test_prices_of_water_and_heat_choose_the_cooling() -> None:
    """The wet option is cheaper, uses 1.8 L/kWh instead of 0.1, and its heat can be sold: water at 2,000
    USD/m3 chooses the dry one, and heat at 20,000 USD/MWh the wet one again."""
    rich = dataclasses.replace(BUYER, usd_per_mwh=(20_000.0, 20_000.0))
    for problem, cooling in (
        (utilities(), "wet"),
        (utilities(water_usd=2000.0), "dry"),
        (utilities(rich, 2000.0), "wet"),
    ):
        d, _, _ = planned(problem)
        assert {key[1] for key in d.ordered} == {cooling}


def test_air_cooled_halls_sell_no_heat(tmp_path: Path) -> None:
    """The error names the site, its options, the place and the next step."""
    text = """\
dcplan: 1
name: air
horizon: {start: 2027-Q1, quarters: 2}
sites:
  - id: s
    location: us-ashburn
    utility_mw: 1
    heat_reuse: {needed_c: 70, usd_per_mwh: 30, hours_frac: 0.8}
    halls:
      - {id: h, existing: true, racks: 20, rack_kw_max: 42, it_mw: 0.5, cooling: [airside-economizer-air-chiller]}
systems: [dgx-h200]
workloads:
  capacity:
    - {id: r, accelerator_hours: [0, 60000], utilization_frac: 1}
"""
    file = tmp_path / "air.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as found:
        dcplan.plan(str(file))
    problem = found.value.problems[0]
    assert problem.code == "DC015"
    assert "no hall of s has liquid cooling" in problem.cause
    assert "direct-liquid-dry-cooler" in (problem.help or "")
    assert str(problem.place).endswith("air.yaml:8:17")
