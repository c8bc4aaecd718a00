"""Retrofits of an air hall for liquid-cooled racks: sidecars, water loops and rear doors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.answers.facility.answer import facility
from dcplan.errors import InputError
from dcplan.facility.retrofit import Group, Hall, Rack, on_loop, racks_that_fit, with_sidecars

HALL: dict[str, Any] = {
    "site": "us-phoenix",
    "cooling": "waterside-economizer",
    "system": "gb300-nvl72",
    "it_mw": 10.0,
    "retrofit": True,
}
SIDECARS = "liquid-to-air sidecars"
LOOP = "water loop; room air takes the air share"
DOORS = "water loop; rear doors take the air share"


def rows(**flags: Any) -> pd.DataFrame:
    return facility(**(HALL | flags)).frame("retrofit").set_index(["retrofit", "loop"])


def row(found: pd.DataFrame, name: str, loop: str = "direct-liquid-tower") -> Any:
    if name == SIDECARS:
        return found.xs(SIDECARS, level="retrofit").iloc[0]
    return found.loc[(name, loop)]


def test_sidecars_by_hand() -> None:
    """Liquid heat 450 kW on units of 200 kW: 3; 500 + 0.1 x 450 = 545 kW over 100 kW: 6 positions."""
    assert with_sidecars(Rack(500.0, 0.9), 200.0, 0.1, 100.0) == Group(3, 6, pytest.approx(545.0))
    assert with_sidecars(Rack(50.0, 0.9), 200.0, 0.0, 100.0).positions == 2  # the unit itself


def test_limits_by_hand() -> None:
    hall = Hall(1000.0, 600.0, 20)
    assert racks_that_fit(hall, Rack(100.0, 0.8), on_loop(Rack(100.0, 0.8), 30.0)) == (10, "power")
    assert racks_that_fit(hall, Rack(100.0, 0.0), Group(0, 4, 110.0)) == (5, "positions")
    assert racks_that_fit(hall, Rack(100.0, 0.0), Group(0, 1, 110.0)) == (5, "air")


@given(st.floats(10, 500), st.floats(0, 1), st.floats(10, 100))
def test_sidecars_take_no_less_room_than_a_loop(kw: float, liquid: float, position: float) -> None:
    rack = Rack(kw, liquid)
    with_air, with_water = with_sidecars(rack, 200.0, 0.035, position), on_loop(rack, position)
    assert with_air.positions >= with_water.positions
    assert with_air.room_kw >= with_water.room_kw
    assert with_air.positions * position >= with_air.room_kw - 1e-6


def test_retrofits_of_gb300() -> None:
    """Ten MW over 30 kW: 333 positions less 34 racks of network. Sidecars: 139.25 kW on 5 positions of
    30 kW: 59 racks. A loop: 9,000 / 135 = 66 racks by power, with 13.5 kW of air each."""
    found = rows()
    air = row(found, SIDECARS)
    assert (air["racks"], air["positions"], air["sidecars"], air["limit"]) == (
        59,
        5,
        1,
        "positions",
    )
    assert air["room_air_kw"] == pytest.approx(135 + 0.035 * 121.5)
    assert air["usd_per_kw"] == pytest.approx(1350 * 0.9)
    water = row(found, LOOP)
    assert (water["racks"], water["limit"], water["room_air_kw"]) == (66, "power", 13.5)
    doors = row(found, DOORS)
    assert doors["room_air_kw"] == 0
    assert doors["usd_per_kw"] > water["usd_per_kw"]
    assert "at most 32 C" in row(found, DOORS, "direct-liquid-dry-cooler")["why_not"]


def test_pue_of_the_retrofits() -> None:
    """Sidecars: the hall's PUE x (1 + 0.035 x 0.81); a loop lies between the air hall and the loop."""
    before = facility(site="us-phoenix", cooling="waterside-economizer", it_mw=10.0)
    hall = before.value("power.annual_pue")
    found = rows()
    assert row(found, SIDECARS)["annual_pue"] == pytest.approx(hall * (1 + 0.035 * 0.81))
    alone = row(found, DOORS)["annual_pue"]
    assert min(alone, hall) - 0.01 < row(found, LOOP)["annual_pue"] < max(alone, hall)


def test_more_positions_fit_more_racks_until_power_limits() -> None:
    few, many = (row(rows(rack_positions=n), SIDECARS) for n in (100, 2000))
    assert few["racks"] == (100 - 34) // 5
    assert (many["racks"], many["limit"]) == (64, "air")  # 9,000 / 139.25


def test_sidecars_are_too_warm_for_a_system_with_cold_water(tmp_path: Path) -> None:
    """Room air of 27 C and an approach of 24 K give coolant of 51 C; GB300 takes 45 C at most."""
    folder = tmp_path / "cooling"
    folder.mkdir()
    row_text = (
        "facility:\n  - {id: sidecar-approach-k, name: approach, value: {value: 24}, unit: K, "
        "source: {title: Boyd, as_of: 2026}}\n"
    )
    (folder / "parameters.yaml").write_text(row_text)
    why = row(rows(catalogs=(str(tmp_path),)), SIDECARS)["why_not"]
    assert "coolant of 51 C" in why
    assert "45 C at most" in why or "at most 45 C" in why


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"cooling": None}, "--retrofit needs the cooling of the existing hall"),
        ({"cooling": "direct-liquid-tower"}, "is no hall for air-cooled racks"),
        ({"system": "dgx-h200"}, "--retrofit needs a liquid-cooled system"),
        ({"compare": True}, "--compare is not used with --retrofit"),
        ({"retrofit": False, "rack_positions": 10}, "--rack-positions is not used"),
        ({"bridge_s": 60.0}, "--bridge-s is not used with --retrofit"),
    ],
)
def test_refused(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as error:
        facility(**(HALL | flags))
    assert any(words in problem.cause for problem in error.value.problems), error.value.problems


def test_a_wrong_option_names_the_retrofit() -> None:
    """F12: rear doors alone do not cool cold plates; the next step names the comparison."""
    with pytest.raises(InputError) as error:
        facility(site="us-phoenix", cooling="rear-door-tower", system="gb300-nvl72")
    assert "--retrofit" in (error.value.problems[0].help or "")
