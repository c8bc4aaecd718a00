"""The air share of a liquid hall: every system has a cooling answer, or physics is the reason."""

from __future__ import annotations

import pytest

from dcplan.answers.facility.answer import facility
from dcplan.answers.facility.feasibility import holds
from dcplan.answers.facility.request import FacilityRequest
from dcplan.answers.facility.resolve import resolve
from dcplan.catalog.loader import load
from dcplan.catalog.schema import CoolingOption, System
from dcplan.inputs.log import InputLog

CATALOG = load()
NO_OPTION = {"mi350x-64-air": "125 kW of air heat per rack"}
"""A rack with more air heat than the largest printed rear door carries, 75 to 80 kW."""


@pytest.mark.parametrize("name", list(CATALOG.table("systems", System)))
def test_every_system_has_a_cooling_option(name: str) -> None:
    log = InputLog(CATALOG)
    resolved = resolve(FacilityRequest(site="ie-dublin", system=name, it_mw=12.0), log)
    options = CATALOG.table("cooling", CoolingOption).values()
    reasons = [holds(option, resolved, log) for option in options]
    if name in NO_OPTION:
        assert all(reasons)
        assert any(NO_OPTION[name] in cause for why in reasons for cause, _ in why)
    else:
        assert not all(reasons), name


def test_air_handlers_beyond_the_usual_share_are_paid() -> None:
    """MI355X: 0.9 of the power at 75 % liquid leaves 1 - 0.9 x 0.75 = 0.325 in air; the fit-out has
    handlers for 0.3, and 0.025 x 12,000 kW are bought at the price of an air hall."""
    asked = {"site": "us-ashburn", "cooling": "direct-liquid-tower", "it_mw": 12.0}
    found = facility(system="mi355x-8-dlc", **asked)
    rows = {row["key"]: row["value"] for row in found.inputs}
    chillers = found.frame("plant").set_index("equipment").loc["chiller", "design_heat_mw"]
    each = rows["cooling.direct-liquid-tower.fit_out_usd_per_kw"]
    extra = 0.025 * rows["power.cooling-air-hall-usd-per-kw"]
    trim = chillers * 1000 * rows["power.cooling-air-chiller-usd-per-kw"]
    assert found.value("cooling.capex_usd") == pytest.approx(12_000 * (each + extra) + trim)
    heat = found.frame("heat").set_index("path")
    assert heat.loc["air", "capacity_kw"] == pytest.approx(0.325 * 12_000)


@pytest.mark.parametrize(
    ("system", "share"),
    [("gb300-nvl72", 1 - 0.9 * 0.9), ("mi355x-8-dlc", 1 - 0.9 * 0.75), (None, 0.13)],
)
def test_an_answer_has_one_air_share(system: str | None, share: float) -> None:
    """A tenth of the power is network and storage; 90 % of GB300 and 75 % of MI355X are in liquid."""
    found = facility(site="us-phoenix", cooling="direct-liquid-tower", it_mw=50.0, system=system)
    shares = {
        row["key"]: row["value"] for row in found.inputs if row["key"].endswith("room_air_frac")
    }
    assert list(shares.values()) == [pytest.approx(share)]
    heat = found.frame("heat").set_index("path")
    assert heat.loc["air", "heat_kw"] == pytest.approx(share * 50_000)
