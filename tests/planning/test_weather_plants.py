"""PV and wind of a plan: what the load takes by hour, whole units by enumeration, contracts."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.cash_flow import totals_usd
from dcplan.energy.taken import cuts, taken_mw
from dcplan.errors import InputError
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.onsite import weather_mwh
from dcplan.planning.problem.build import build
from dcplan.planning.problem.energy import OnsiteTerms
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.scenario.load import load
from tests.planning.optimum import optimum, planned
from tests.planning.small import powered_menu

ROOT = Path(__file__).parents[2]
HOURS, LAST = 2191.5, 1
DAYS = np.arange(8760) // 24
SUN = np.clip(np.sin((np.arange(8760) % 24 - 6) / 12 * np.pi), 0.0, None)
SHAPE = SUN * (0.75 - 0.25 * np.cos(2 * np.pi * (DAYS + 10) / 365))
"""Noon of the summer 1, of the winter 0.5; no sun from 18 to 6 o'clock."""


def sunny(
    units: int, usd: float, contract: float = 0.0, shape: np.ndarray = SHAPE
) -> PlanningProblem:
    """The small menu with enough firm power, 12 cents a kWh, and up to some units of 10 kW of PV."""
    problem = powered_menu(2.0, 0.0)
    pv = OnsiteTerms(
        *("pv", 0.01, usd, 0.0, 0.0, 0.0),
        lead=1,
        most_units=units,
        spare_units=0,
        profile=tuple(shape.tolist()),
        taken_usd_per_mwh=contract,
    )
    site = dataclasses.replace(
        problem.sites[0],
        onsite=(pv,) if units else (),
        tranches=(),
        usd_per_kwh=(0.12, 0.12),
        demand_usd_per_kw_month=0.0,
    )
    return dataclasses.replace(problem, sites=(site,))


@given(
    st.lists(st.lists(st.floats(0.0, 1.0), min_size=24, max_size=24), min_size=1, max_size=3),
    st.lists(st.floats(0.0, 50.0), min_size=3, max_size=3),
    st.floats(0.0, 30.0),
)
@settings(max_examples=60, deadline=None)
def test_no_limit_is_below_what_the_load_takes(
    shapes: list[list[float]], mw: list[float], load_mw: float
) -> None:
    fractions = np.array(shapes)
    power = np.array(mw[: len(shapes)])
    taken = float(taken_mw(power[:, None] * fractions, load_mw).sum())
    assert taken <= load_mw * 24 + 1e-9
    for cut in cuts(fractions):
        limit = float(np.dot(cut.plant_h, power)) + cut.load_h * load_mw
        assert limit >= taken - 1e-6


@pytest.mark.parametrize("ratio", [0.2, 0.7, 1.0, 1.5, 3.0, 8.0])
def test_the_least_limit_is_near_what_the_load_takes(ratio: float) -> None:
    """PV of 0.2 to 8 times the load: within 0.3 % of the sum over the hours of the first quarter."""
    shape = SHAPE[None, :2160]
    exact = float(np.minimum(shape * ratio, 1.0).sum())
    least = min(c.plant_h[0] * ratio + c.load_h for c in cuts(shape))
    assert exact - 1e-9 <= least <= exact * 1.003


def test_the_plan_buys_the_units_that_an_enumeration_finds() -> None:
    """A unit costs 1,000 USD, of which none is left. k units save 0.12 USD x sum of min(10 kW k f, mean load)
    in the second quarter, discounted as the plan does; the best k is where the next unit saves less."""
    problem = sunny(80, 1000.0)
    d, usd, _ = planned(problem)
    without, base_usd, _ = planned(sunny(0, 1000.0))
    assert d.ordered == without.ordered
    load_mw = make_accounts(problem, d).site(problem, "s", LAST, "facility_mwh") / HOURS
    shape = SHAPE[2160:4344]

    def saved_usd(k: int) -> float:
        taken_mwh = float(np.minimum(0.01 * k * shape, load_mw).sum()) * HOURS / 2184
        return taken_mwh * 120.0

    # discounts of the middle of the second quarter and of the order, 10 % a year
    run, order = 1.1 ** (-1.5 / 4), 1.1 ** (-0.5 / 4)
    left = problem.finance.power_residual_frac[0] * 1.1 ** (-2 / 4)
    net = {k: saved_usd(k) * run - k * 1000.0 * (order - left) for k in range(81)}
    best = max(net, key=net.__getitem__)
    units = d.onsite["s", "pv", 0]
    assert 0 < best < 80
    assert net[units] == pytest.approx(net[best], rel=0.003)
    assert base_usd - usd == pytest.approx(net[units], rel=1e-6)


def test_energy_is_that_of_the_hours() -> None:
    """Summer noon: 30 units of 10 kW give up to 0.3 MW, the load takes no more than its mean."""
    problem = sunny(30, 0.0)
    d, _, _ = planned(problem)
    books = make_accounts(problem, d)
    mwh = books.site(problem, "s", LAST, "facility_mwh")
    units = d.onsite["s", "pv", 0]
    hand = np.minimum(units * 0.01 * SHAPE[2160:4344], mwh / HOURS).sum() * HOURS / 2184
    assert d.onsite_mwh["s", "pv", LAST] == pytest.approx(hand, rel=1e-12)
    assert weather_mwh(problem, d, problem.sites[0], mwh, LAST)["pv"] == pytest.approx(hand)
    grid = totals_usd([f for f in books.flows if f.quarter == LAST and "pv" not in f.line])[
        "energy"
    ]
    assert grid == pytest.approx((mwh - hand) * 120.0, rel=1e-9)


def test_a_contract_pays_all_output_and_one_above_the_tariff_is_not_signed() -> None:
    """50 USD/MWh for all output of 10 kW x sum of f; at 130 USD/MWh the grid is cheaper."""
    problem = sunny(8, 0.0, contract=50.0)
    d, _, _ = planned(problem)
    units = d.onsite["s", "pv", 0]
    output_mwh = units * 0.01 * SHAPE[2160:4344].sum() * HOURS / 2184
    paid = [f.usd for f in make_accounts(problem, d).flows if f.line == "energy of pv"]
    assert paid == [pytest.approx(output_mwh * 50.0)]
    assert not planned(sunny(8, 0.0, contract=130.0))[0].onsite


def test_pv_carries_no_peak() -> None:
    """With too little firm power, no PV makes a plan possible."""
    problem = sunny(500, 1.0, shape=np.ones(8760))
    site = dataclasses.replace(problem.sites[0], utility_mw=(0.05, 0.05))
    assert optimum(dataclasses.replace(problem, sites=(site,)))[1] is None


def test_a_profile_outside_the_project_or_with_wrong_values_is_named(tmp_path: Path) -> None:
    text = (ROOT / "scenarios" / "starter.yaml").read_text()
    plant = "    onsite: [{id: solar-pv, max_mw: 20, profile: %s}]\n    halls:\n"
    file = tmp_path / "s.yaml"
    for name, said in (
        ("../pv.csv", "leaves the project"),
        ("pv.csv", "'1.5' is no capacity factor"),
    ):
        (tmp_path / "pv.csv").write_text("cf\n" + "0.5\n" * 8759 + "1.5\n")
        file.write_text(text.replace("    halls:\n", plant % name, 1))
        with pytest.raises(InputError, match=said):
            build(load(str(file)))
