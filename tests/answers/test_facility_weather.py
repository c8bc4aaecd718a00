"""``dcplan facility`` with weather files and climate zones."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.facility.answer import facility
from dcplan.errors import InputError


def _epw(path: Path, hours: int = 8760, dry: str = "20.0") -> Path:
    """A year of one state: 20 C, 50 % at sea level; wet bulb 13.8 C (psychrometric chart)."""
    head = ["LOCATION,Nowhere,XX,XXX,TMY,000000,0,0,0,0"] + [f"LINE {i}" for i in range(7)]
    line = f"2020,{{month}},1,1,0,?9,{dry},9.0,50,101325" + ",0" * 25
    body = [line.format(month=1 + i * 12 // hours) for i in range(hours)]
    path.write_text("\n".join(head + body) + "\n", encoding="utf-8")
    return path


def test_a_bad_hour_of_a_leap_year_is_named_by_its_own_line(tmp_path: Path) -> None:
    """8 lines of head, then 31 + 28 days and the 24 hours that are left out: the 2nd of March
    starts at line 1473."""
    file = _epw(tmp_path / "leap.epw", hours=8784)
    lines = file.read_text(encoding="utf-8").splitlines()
    for hour in range(24):
        lines[8 + 59 * 24 + hour] = lines[8].replace("2020,1,1,", "2020,2,29,", 1)
    lines[1472] = lines[1472].replace(",20.0,", ",warm,", 1)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"leap\.epw:1473: "):
        facility(epw=str(file), cooling="direct-liquid-tower")


def test_weather_file(tmp_path: Path) -> None:
    """A year at 20 C and 50 %: no chillers at 26 C of water, and every quarter alike."""
    found = facility(epw=str(_epw(tmp_path / "x.epw")), cooling="direct-liquid-tower", supply_c=26)
    assert found.value("cooling.chiller_heat_frac") == 0.0
    quarters = found.frame("quarters")["pue"]
    assert quarters.max() - quarters.min() < 1e-9


@pytest.mark.parametrize(
    ("hours", "dry", "words"),
    [
        (8000, "20.0", "8008 lines"),
        (8760, "nan", "dry bulb nan is outside"),
        (8760, "warm", "could not convert"),
        (8760, "99.9", "dry bulb 99.9 is outside"),
    ],
)
def test_broken_weather_files(tmp_path: Path, hours: int, dry: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        facility(epw=str(_epw(tmp_path / "x.epw", hours, dry)), cooling="direct-liquid-tower")
    assert words in caught.value.problems[0].cause
    assert len(caught.value.problems) <= 20


def test_zone_without_weather_is_read_from_the_table() -> None:
    """Lei et al. 2025, subarctic zone 8, large hall with cold plates over towers: 1.114."""
    found = facility(
        climate_zone="8",
        cooling="direct-liquid-tower",
        system="gb300-nvl72",
        it_mw=50.0,
        electrical_losses="class",
    )
    assert found.value("power.annual_pue") == 1.114
    assert any("no weather data for zone-8" in w["message"] for w in found.warnings)
    assert "quarters" not in found.tables


def test_zone_neither_with_weather_nor_in_the_table_is_refused() -> None:
    with pytest.raises(InputError, match="no weather for zone 0B"):
        facility(climate_zone="0B", cooling="direct-liquid-tower")
