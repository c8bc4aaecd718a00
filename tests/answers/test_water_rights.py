"""Water rights of a site by quarter, with the WUE of the season."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import dcplan
from dcplan.result import Result

HALL = {
    "id": "ai",
    "count": 1,
    "racks": 40,
    "rack_kw_max": 150,
    "it_mw": 2,
    "cooling": ["direct-liquid-tower"],
}


def planned(folder: Path, sites: list[dict[str, Any]], pflops: list[float], **more: Any) -> Result:
    """Plan research at sites with towers from the second quarter on."""
    research = {
        "id": "research",
        "pflops_delivered": pflops,
        "utilization_frac": 0.55,
        "reference": {"model": "llama-3.1-70b", "seq_len": 8192, "precision": "bf16"},
    }
    data = {
        "dcplan": 1,
        "name": "water",
        "horizon": {"start": "2027-Q1", "quarters": len(pflops)},
        "sites": [{"utility_mw": 3, "halls": [HALL], **s} for s in sites],
        "systems": ["dgx-b200"],
        "fabrics": ["eth-400"],
        "workloads": {"capacity": [research]},
        **more,
    }
    file = folder / "water.yaml"
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    return dcplan.plan(str(file), gap=1e-4)


def used_of(found: Result) -> dict[str, float]:
    """Water of each quarter at the site, from the audit [m3]."""
    checks = found.frame("checks")
    rows = checks[checks["check"] == "water of a quarter m3"]
    return dict(zip(rows["quarter"], rows["used"], strict=True))


PHOENIX = {"id": "phoenix", "location": "us-phoenix"}


def test_water_follows_the_season_by_hand(tmp_path: Path) -> None:
    """The same racks do the same work from the second quarter on, so their water goes as the WUE of the
    calendar quarters, and their energy as the PUE. The WUE of the plan is that of its three quarters, without
    the cool first one."""
    right = {**PHOENIX, "water": {"max_m3_per_quarter": 1e6}}
    found = planned(tmp_path, [right], [0, 40, 40, 40])
    water = used_of(found)
    power = found.frame("power").set_index("quarter")
    mwh = power["energy_mwh"]
    assert mwh["2027-Q3"] > mwh["2027-Q2"] > mwh["2027-Q4"]
    wue, pue = (found.value(f"{x}") for x in ("water.annual_wue_l_per_kwh", "power.annual_pue"))
    mean = mwh.sum() / 3 / pue * wue
    seasons = [water[f"2027-Q{q}"] / mean for q in (2, 3, 4)]
    assert seasons[1] > seasons[0] > seasons[2]  # summer, spring, autumn with November and December
    assert water["2027-Q3"] > 1.05 * mean
    assert sum(water.values()) / 3 == pytest.approx(mean, rel=1e-6)


def test_a_right_of_a_dry_summer_moves_work_to_another_site(tmp_path: Path) -> None:
    """Phoenix takes all work; with little water in its third quarter, the other site takes a part."""
    other = {"id": "columbus", "location": "us-columbus", "energy": {"usd_per_kwh": 0.30}}
    free = planned(tmp_path, [PHOENIX, other], [0, 40, 40, 40])
    needed = used_of(
        planned(
            tmp_path, [{**PHOENIX, "water": {"max_m3_per_quarter": 1e6}}, other], [0, 40, 40, 40]
        )
    )
    power = free.frame("power").set_index(["site", "quarter"])["it_mw"]
    assert power["columbus", "2027-Q3"] == 0
    most = [1e6, 1e6, 0.5 * needed["2027-Q3"], 1e6]
    dry = {**PHOENIX, "water": {"max_m3_per_quarter": most}}
    found = planned(tmp_path, [dry, other], [0, 40, 40, 40])
    assert used_of(found)["2027-Q3"] <= most[2] * (1 + 1e-6)
    power = found.frame("power").set_index(["site", "quarter"])["it_mw"]
    assert power["columbus", "2027-Q3"] > 0
    assert found.value("cost.npv_usd") > free.value("cost.npv_usd")
