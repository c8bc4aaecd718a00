"""A hall of two liquid-cooled systems: energy and water of each by its own air share, in all outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

import dcplan
from dcplan.planning.problem.build import build
from dcplan.report.book.write import workbook
from dcplan.result import Result
from dcplan.scenario.load import load
from tests.report.books import cells, recalculated, summary, zeroed

TEXT = """\
dcplan: 1
name: mixed
horizon: {start: 2027-Q1, quarters: 4}
sites:
  - id: a
    location: us-phoenix
    utility_mw: 30
    water: {max_m3_per_quarter: [1e6]}
    halls: [{id: h, existing: true, racks: 120, rack_kw_max: 250, it_mw: 12, cooling: [COOLING]}]
assets:
  - {id: nv, system: gb300-nvl72, accelerators: 1440, in_service: 2026-Q1, fabric: eth-800}
  - {id: amd, system: mi355x-8-dlc, accelerators: 640, in_service: 2026-Q1, fabric: eth-800}
systems: []
fabrics: [eth-800]
workloads:
  capacity:
    - {id: r, h100_equivalents: 1000, utilization_frac: 0.9,
       reference: {model: llama-3.1-70b, seq_len: 8192, precision: bf16}}
"""


def written(folder: Path, cooling: str) -> str:
    file = folder / "mixed.yaml"
    file.write_text(TEXT.replace("COOLING", cooling), encoding="utf-8")
    return str(file)


def by_hand(name: str, result: Result) -> tuple[float, float]:
    """Facility power on the design day [MW] with the PUE of each system, and of the hall as designed.

    The hall as designed has the larger air share, so that the second figure is the larger one.
    """
    problem = build(load(name)).problem
    (hall,) = problem.halls
    (other,) = hall.coolings
    racks = {
        (row["system"]): row["racks"]
        for row in result.frame("fleet").to_dict("records")
        if row["quarter"] == "2027-Q1"
    }
    rated = {p.system: p.rated_kw * racks[p.system] / p.slots for p in problem.placements}
    extra = result.value("power.peak_it_mw") * 1e3 - sum(rated.values())
    own = sum(kw * other.cooled(system).peak_pue for system, kw in rated.items())
    designed = sum(rated.values()) * other.peak_pue
    rest = extra * other.peak_pue
    return (own + rest) / 1e3, (designed + rest) / 1e3


@pytest.mark.parametrize("cooling", ["direct-liquid-dry-cooler", "direct-liquid-tower"])
def test_outputs_agree_on_the_energy_of_two_systems(cooling: str, tmp_path: Path) -> None:
    """Audit, replay by hour and workbook: each rack has the PUE of its system."""
    name = written(tmp_path, cooling)
    found = dcplan.plan(name, replay_hours=True, gap=0.02)
    own, designed = by_hand(name, found)
    assert found.value("power.peak_facility_mw") == pytest.approx(own, rel=1e-9)
    assert designed - own > 0.01
    rows = found.frame("replay")
    assert rows["energy_mwh"].sum() == pytest.approx(found.frame("power")["energy_mwh"].sum())
    assert abs(rows["energy_change_frac"]).max() < 0.02
    file = tmp_path / "book.xlsx"
    file.write_bytes(workbook(found))
    again = recalculated(zeroed(file))
    values = summary(again)
    assert values["power.annual_pue"] == pytest.approx(found.value("power.annual_pue"), rel=1e-9)
    for key, value in values.items():
        assert value == pytest.approx(found.metrics[key].value, rel=1e-9), key
    assert cells(again, values=True)["Summary", "B3"] == "OK"


def test_a_given_peak_is_never_below_the_warmest_season_in_the_workbook(tmp_path: Path) -> None:
    """A peak PUE of 1.01 is below the PUE of each summer: the plan and the workbook have that of the summer, and
    the workbook computes energy by quarter with the PUE of the season."""
    name = written(tmp_path, "direct-liquid-dry-cooler")
    text = Path(name).read_text(encoding="utf-8").replace("cooler]}", "cooler], peak_pue: 1.01}")
    Path(name).write_text(text.replace("quarters: 4", "quarters: 3"), encoding="utf-8")
    (hall,) = build(load(name)).problem.halls
    (cooling,) = hall.coolings
    for cooled in (cooling.other, *(x for _, x in cooling.by_system)):
        assert cooled.peak_pue == max(cooled.pue_at(season) for season in range(4))
    found = dcplan.plan(name, gap=0.02)
    energy = found.frame("power")["energy_mwh"].tolist()
    assert energy[2] > energy[1] > energy[0]  # from January to September
    file = tmp_path / "book.xlsx"
    file.write_bytes(workbook(found))
    again = recalculated(zeroed(file))
    for key, value in summary(again).items():
        assert value == pytest.approx(found.metrics[key].value, rel=1e-9), key
    assert cells(again, values=True)["Summary", "B3"] == "OK"
