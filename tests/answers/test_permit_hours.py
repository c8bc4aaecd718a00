"""Hours that a permit allows an on-site plant, in a plan, its limits, and its hours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dcplan
from tests.answers.test_plan_replay import price_file, site

PLANT = "spare_units: 0}"


def test_a_turbine_generates_for_the_hours_of_its_permit(tmp_path: Path) -> None:
    """One turbine of 35 MW with 1,200 h has 10,500 MWh a quarter. Of 2027 the horizon has two quarters with it,
    21,000 MWh, and of 2028 three, 31,500 MWh. In 2027 it needs all of them. Prices by hour far above its fuel let
    the hours generate more, and a note says so."""
    file = Path(site(tmp_path, "4"))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(PLANT, "spare_units: 0, permit_hours_per_year: 1200}"))
    prices = price_file(tmp_path, 100.0 + 80.0 * np.sin(np.arange(8760) * 2 * np.pi / 24))
    found = dcplan.plan(str(file), replay_hours=True, price_hours={"a": prices}, gap=0.03)
    made = found.frame("onsite").set_index("quarter")
    assert made["ordered_mw"].sum() == 35.0
    by_year = made["generated_mwh"].groupby(made.index.str[:4]).sum()
    assert by_year["2027"] == pytest.approx(35.0 * 1200 / 4 * 2)
    assert 0.0 < by_year["2028"] <= 35.0 * 1200 / 4 * 3 * (1 + 1e-9)
    checks = found.frame("checks")
    own = checks[checks["check"] == "energy beyond the hours of a permit MWh"]
    assert own["limit"].tolist() == pytest.approx([21_000.0, 31_500.0])
    limits = found.frame("limits").set_index("limit")
    (name,) = (x for x in limits.index if x.startswith("permit hours of a aeroderivative-turbine"))
    assert limits["cost_change_usd"][name] < 0.0
    assert limits["step"][name] == "100 MWh more"
    said = [w["message"] for w in found.warnings if "of its permit" in w["message"]]
    assert any("above the 21,000 MWh of its permit" in x for x in said)
