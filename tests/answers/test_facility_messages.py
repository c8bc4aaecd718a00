"""What `dcplan facility` says about wrong flags, and about weather that a reader may not expect."""

from __future__ import annotations

import pytest

from dcplan.answers.facility.answer import facility
from dcplan.answers.facility.hours import hours_of
from dcplan.answers.facility.request import FacilityRequest
from dcplan.answers.facility.resolve import resolve
from dcplan.catalog.loader import load
from dcplan.catalog.schema import CoolingOption
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog

HALL = {
    "site": "us-phoenix",
    "cooling": "direct-liquid-dry-cooler",
    "system": "gb300-nvl72",
    "it_mw": 20.0,
}


@pytest.mark.parametrize(
    ("flags", "place", "text"),
    [
        ({"duty_cycle": 0.5}, "--duty-cycle", "is not used without --oversubscription"),
        ({"redundancy": "4N3"}, "--redundancy", 'did you mean "4n/3"'),
        ({"onsite": ("solar-pv=-3",)}, "--onsite", "solar-pv: -3 MW: a power above 0"),
        ({"job": "nope"}, "--job", "'nope' is not a catalog model"),
        (
            {"job": "llama-3.1-405b", "job_batch_tokens": 1.0},
            "--job-batch-tokens",
            "less than one sequence",
        ),
        ({"climate_zone": "4A"}, "facility", "but --site and --climate-zone are given"),
        ({"site": None}, "facility", "but none of them is given"),
    ],
)
def test_errors_name_the_flag_of_the_hall(flags: dict[str, object], place: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        facility(**(HALL | flags))
    (problem,) = caught.value.problems
    assert str(problem.place) == place
    assert text in problem.text()


def test_a_duty_cycle_with_oversubscription_is_used() -> None:
    low, high = (
        facility(**HALL, oversubscription=1.6, duty_cycle=x).frame("oversubscription")
        for x in (0.4, 0.9)
    )
    assert (high["over_frac"] > low["over_frac"]).any()


def test_heat_of_trim_chillers_has_a_unit_that_shows_it() -> None:
    """0.375 of 0.1 MW is 37 kW, which one decimal of a MW shows as 0.0."""
    assert "trim chillers for 37 kW of heat" in facility(**(HALL | {"it_mw": 0.1})).headline
    large = facility(**(HALL | {"it_mw": 10_000.0})).headline
    assert "with 10,000 MW of IT" in large
    assert "trim chillers for 3,7" in large


def notes(**flags: object) -> list[str]:
    return [str(w["message"]) for w in facility(**(HALL | flags)).warnings]


def test_hours_above_the_design_day_are_told() -> None:
    """Phoenix has hours of 37 C with 33 C of wet bulb; its design day has 43.6 C with 24.2 C."""
    (note,) = [x for x in notes() if "more power than the design day" in x]
    log = InputLog(load())
    at = resolve(FacilityRequest(**HALL), log)
    option = log.catalog.get("cooling", "direct-liquid-dry-cooler", CoolingOption)
    setting = at.setting(option, log)
    weather = setting.climate
    assert weather is not None
    pues = facility(**HALL)
    hottest = weather.wet_c == weather.wet_c.max()
    found = hours_of(option, setting, weather, log).pue.mean(axis=0)
    assert found[hottest].max() == pytest.approx(found.max())
    assert found.max() > 1.05 * pues.value("power.peak_pue")
    assert note.startswith("51 hours of the weather")
    assert "up to 26.04 MW" in note


def test_hours_near_the_design_day_need_no_words() -> None:
    """Ashburn: 3 % above it at most."""
    assert not [x for x in notes(site="us-ashburn") if "more power than the design day" in x]


def test_weather_of_another_city_is_told_with_its_design_day() -> None:
    (note,) = [x for x in notes(site="se-stockholm") if "reference city" in x]
    assert "33.0 °C dry bulb and 25.0 °C wet bulb" in note
    assert "--epw" in note


def test_a_limit_above_the_load_needs_no_battery() -> None:
    assert any("peak shaving needs no battery" in x for x in notes(shave_to_mw=100.0))
    assert not any("peak shaving needs no battery" in x for x in notes(shave_to_mw=23.0))
