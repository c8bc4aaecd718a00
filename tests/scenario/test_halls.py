"""Halls in a scenario: upgrades, modules and shells, with errors at their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.errors import InputError
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import Capacity
from dcplan.scenario.load import load

START = """dcplan: 1
name: halls
horizon: {start: 2027-Q1, quarters: 6}
sites:
  - id: s
    location: de-frankfurt
    utility_mw: 8
"""
OLD = "racks: 60, rack_kw_max: 34, it_mw: 1.2, cooling: [air-chiller]"
WATER = "id: water, usd: 4e6, cooling: direct-liquid-dry-cooler, it_mw: 2.4, rack_kw_max: 160"


def written(folder: Path, hall: str, more: str = "") -> str:
    file = folder / "s.yaml"
    systems = "systems: [gb200-nvl72, dgx-h100]\nfabrics: [eth-800, ib-ndr-400]\n"
    file.write_text(f"{START}{more}    halls:\n      - {{id: h, {hall}}}\n{systems}")
    return str(file)


def upgraded(*upgrades: str, hall: str = f"existing: true, {OLD}") -> str:
    return f"{hall}, upgrades: [{', '.join(f'{{{x}}}' for x in upgrades)}]"


@pytest.mark.parametrize(
    ("hall", "code", "said"),
    [
        (upgraded(WATER, hall=OLD), "DC015", "h is new"),
        (upgraded(WATER, hall=f"existing: true, count: 2, {OLD}"), "DC015", "has several units"),
        (upgraded(WATER, hall=f"existing: true, modules: 2, {OLD}"), "DC015", "several units"),
        (upgraded(WATER, WATER), "DC011", "the id 'water' occurs twice"),
        (upgraded("id: x, usd: 1e6"), "DC015", "the upgrade changes nothing"),
        (upgraded("id: x, usd: 1e6, cooling: air-chiller"), "DC011", "already has the cooling"),
        (upgraded("id: x, usd: 1e6, cooling: air-chillr"), "DC010", "no cooling row 'air-chillr'"),
        (upgraded("id: x, usd: 1e6, it_mw: 2, rack_kw_max: 90"), "DC015", "rack_kw_max is that"),
        (upgraded(f"{WATER}, out_of_service_frac: 0.5"), "DC015", "which take no quarter"),
        (upgraded(f"{WATER}, lead_quarters: 3, works_quarters: 3"), "DC015", "serves 6 quarters"),
        (upgraded("id: x, usd: 1, it_mw: 1"), "DC015", "it lowers it_mw from 1.2 to 1 and adds"),
        (upgraded("id: x, usd: 1, it_mw: 1.2, racks: 9"), "DC015", "lowers racks from 60 to 9"),
        (
            upgraded("id: x, usd: 1, it_mw: 2", "id: y, usd: 1, it_mw: 1.5"),
            "DC015",
            "y: it lowers it_mw from 2 to 1.5",
        ),
        (upgraded("id: x, it_mw: 2"), "DC003", "usd"),
        (f"existing: true, building_usd_per_kw: 9000, {OLD}", "DC015", "the hall exists"),
        (f"existing: true, power_included: true, {OLD}", "DC015", "the hall exists"),
        (f"lead_quarters: 6, {OLD}", "DC015", "in use 6 quarters after its order"),
        (f"energized_mw: [1, 2], {OLD}", "DC012", "2 values for 6 quarters"),
    ],
)
def test_wrong_halls_are_errors_with_their_place(
    hall: str, code: str, said: str, tmp_path: Path
) -> None:
    file = written(tmp_path, hall)
    with pytest.raises(InputError) as error:
        load(file)
    found = [x for x in error.value.problems if x.code == code and said in x.cause]
    assert found, [(x.code, x.cause) for x in error.value.problems]
    assert all(str(x.place).startswith(file) for x in found)


@pytest.mark.parametrize(
    "upgrade",
    [
        "id: x, usd: 1, it_mw: 1, cooling: direct-liquid-dry-cooler",
        "id: x, usd: 1, it_mw: 2, racks: 40",
        "id: x, usd: 1, it_mw: 1, air_mw: 2",
    ],
)
def test_an_upgrade_may_trade_one_capacity_for_another(upgrade: str, tmp_path: Path) -> None:
    """A cooling plant takes power or positions; a hall of fewer racks has more power."""
    assert load(written(tmp_path, upgraded(upgrade))).scenario.sites[0].halls[0].upgrades


def test_a_leased_hall_has_no_upgrade_and_no_building(tmp_path: Path) -> None:
    lease = "    lease: {usd_per_kw_month: 150}\n"
    for hall in (upgraded(WATER), f"building_usd_per_kw: 9000, {OLD}"):
        with pytest.raises(InputError, match="leased"):
            load(written(tmp_path, hall, lease))


def test_the_states_of_a_hall_by_hand(tmp_path: Path) -> None:
    more = "id: more, usd: 1e6, it_mw: 3, air_mw: 1, works_quarters: 1"
    water = f"{WATER}, liquid_mw: 2, lead_quarters: 1, works_quarters: 2, out_of_service_frac: 0.5"
    problem = build(load(written(tmp_path, upgraded(water, more)))).problem
    (hall,) = problem.halls
    # all heat of air-chiller goes into air; what an upgrade does not give stays as before
    assert hall.start == Capacity(60, 1.2, 1.2, 0.0)
    assert [x.after for x in hall.upgrades] == [
        Capacity(60, 2.4, 1.2, 2.0),
        Capacity(60, 3.0, 1.0, 2.0),
    ]
    # ordered in 2027-Q1, works from Q2, capacity from Q4; the next works begin then
    assert [(x.first, x.works) for x in hall.upgrades] == [(1, 2), (3, 1)]
    assert [hall.opens(c.id) for c in hall.coolings] == [0, 3]
    # the limits of the hall are the largest that it ever has, as bounds of racks and networks
    assert (hall.racks, hall.it_mw) == (60, 3.0)
    assert {(c.air_mw, c.liquid_mw) for c in hall.coolings} == {(1.2, 2.0)}
    # a GB200 rack of 132 kW stands under the new option only, whose racks may have 160 kW
    placed = {p.cooling for p in problem.placements if p.system == "gb200-nvl72"}
    assert placed == {"direct-liquid-dry-cooler"}


def test_an_upgrade_without_liquid_mw_has_the_share_of_its_option(tmp_path: Path) -> None:
    (hall,) = build(load(written(tmp_path, upgraded(WATER)))).problem.halls
    fresh = f"existing: true, {OLD}".replace("air-chiller", "direct-liquid-dry-cooler")
    (new,) = build(load(written(tmp_path, fresh))).problem.halls
    share = new.coolings[0].liquid_mw / 1.2
    assert hall.upgrades[0].after.liquid_mw == pytest.approx(2.4 * share, rel=1e-12)


def test_the_price_and_power_of_a_module_by_hand(tmp_path: Path) -> None:
    own = "building_usd_per_kw: 9000, power_included: true, lead_quarters: 3, modules: 2"
    (hall,) = build(load(written(tmp_path, f"{own}, {OLD}"))).problem.halls
    # 0.6 MW of IT in each of two modules
    assert (hall.count, hall.racks, hall.it_mw) == (2, 30, 0.6)
    assert hall.coolings[0].building_usd == pytest.approx(9000 * 600)
    assert not hall.needs_blocks
    assert (hall.available_from, hall.lead) == (3, 3)
    late = f"{own}, available_from: 2028-Q1, {OLD}"
    assert build(load(written(tmp_path, late))).problem.halls[0].available_from == 4
