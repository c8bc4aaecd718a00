"""Battery of a hall by its duties: swings, peak shaving, bridging, and all of them together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.answers.facility.answer import facility
from dcplan.energy.duties import Cells, Duty, rating, shaved, split, together
from dcplan.errors import InputError

HALL: dict[str, Any] = {
    "site": "us-ashburn",
    "cooling": "direct-liquid-tower",
    "system": "gb300-nvl72",
    "it_mw": 50.0,
}
ONE_WAY = 0.88**0.5


def test_refill_loses_energy_both_ways() -> None:
    """2 MW over the limit for 3 h take 6 / n from the cells; each hour below it gives 2 n at most,
    because the rating is 2 MW: 6 / n^2 / 2 = 3.41 hours at a round trip of 0.88."""
    load = np.array([12.0, 12.0, 12.0, *[5.0] * 4])
    assert shaved(load, 10.0, 0.88).mwh == pytest.approx(6.0)
    with pytest.raises(ValueError, match="no battery keeps the limit"):
        shaved(load[:-1], 10.0, 0.88)


def test_two_peaks_with_a_short_refill_between() -> None:
    """4 MWh, one hour of 1 MW refill, 4 MWh: cells lack 4 / n - n + 4 / n, times n: 8 - 0.88."""
    load = np.array([14.0, 9.0, 14.0, *[6.0] * 8])
    assert shaved(load, 10.0, 0.88) == Duty(4.0, pytest.approx(8.0 - 0.88))


def test_the_last_hours_count_before_the_first() -> None:
    """A peak over the turn of the year is one peak of 4 MWh."""
    load = np.array([12.0, *[8.0] * 6, 12.0])
    assert shaved(load, 10.0, 1.0).mwh == 4.0


@given(st.lists(st.floats(0.0, 20.0), min_size=3, max_size=40), st.floats(10.0, 20.0))
def test_a_higher_limit_needs_no_more(load: list[float], limit: float) -> None:
    hours = np.array([*load, *[0.0] * 80])
    lower, higher = (shaved(hours, x, 0.9) for x in (limit, limit + 1.0))
    assert higher.mw <= lower.mw + 1e-9
    assert higher.mwh <= lower.mwh + 1e-9


def test_rule_of_coincidence() -> None:
    swings, peak, bridge = Duty(30.0, 0.1), Duty(5.0, 8.0), Duty(33.0, 1.0)
    assert together([swings, peak], [bridge]) == Duty(35.0, pytest.approx(9.1))
    assert together([swings], [bridge]).mw == 33.0
    assert together([], []) == Duty(0.0, 0.0)


def test_rating_at_the_end_of_life() -> None:
    """Half of the modules failed, 80 % depth, 0.81 round trip, 70 % left: 1 / (0.5 x 0.8 x 0.9 x 0.7)."""
    found = rating(Duty(2.0, 6.0), Cells(0.8, 0.81, 0.7, 0.5, 1.0))
    assert (found.mw, found.mwh) == pytest.approx((4.0, 6.0 / (0.5 * 0.8 * 0.9 * 0.7)))


def test_duties_of_a_hall() -> None:
    """33.7 MW of swings with the grid, the design day's power for 120 s without it."""
    found = facility(job="llama-3.1-70b", ramp_limit_mw_per_s=5.0, bridge_s=120.0, **HALL)
    rows = found.frame("battery_duties").set_index("duty")
    events = found.frame("swing_events").set_index("event")
    assert (
        rows.loc["end of the job", "energy_mwh"] == events.loc["end of the job", "store_kwh"] / 1e3
    )
    peak = found.value("power.peak_facility_mw")
    bridge = rows.loc["bridging to generators"]
    assert (bridge["power_mw"], bridge["energy_mwh"]) == pytest.approx((peak, peak / 30.0))
    usable = 0.98 * 0.9 * ONE_WAY * 0.7
    assert bridge["rated_mwh"] == pytest.approx(max(peak / 30.0 / usable, peak / 0.98))
    whole = rows.loc["all duties"]
    assert whole["power_mw"] == pytest.approx(peak)
    swings = rows.loc["end of the job", "energy_mwh"]
    assert whole["energy_mwh"] == pytest.approx(peak / 30.0 + swings)
    assert found.value("battery.rated_mw") == pytest.approx(peak / 0.98)
    assert list(rows.index[rows["counts"]])[-1] == "all duties"
    assert not rows.loc["one training step", "counts"]


def test_price_by_power_and_capacity() -> None:
    """1,100 USD/kW for four hours, 24.9 % of it by power: 273.9 USD/kW and 206.5 USD/kWh."""
    found = facility(bridge_s=120.0, **HALL)
    row = found.frame("battery_duties").set_index("duty").loc["all duties"]
    per_kw, per_kwh = 0.249 * 1100, 0.751 * 1100 / 4
    by_hand = 1e3 * (per_kw * row["rated_mw"] + per_kwh * row["rated_mwh"])
    assert row["capex_usd"] == pytest.approx(by_hand)
    price = found.metrics["battery.capex_usd"]
    assert price.value == pytest.approx(by_hand)
    assert row["rated_mwh"] == pytest.approx(row["rated_mw"])
    kw = 1e3 * row["rated_mw"]
    assert price.low == pytest.approx(kw * 500 * (0.223 + 0.777 / 4))
    assert price.high == pytest.approx(kw * 1745 * (0.489 + 0.511 / 4))


def test_price_of_the_durations_of_the_source() -> None:
    """NREL ATB 2024, 2025, Market, Moderate: USD/kW of plants of 2, 4, 6, 8 and 10 hours."""
    published = {2: 1150.5, 4: 1842.05, 6: 2533.61, 8: 3225.16, 10: 3916.72}
    share = (2 * published[2] - published[4]) / published[4]
    assert share == pytest.approx(0.249, abs=5e-4)
    for hours, usd_per_kw in published.items():
        found = split(published[4], 4.0, 0.249).usd(Duty(1.0, float(hours)))
        assert found / 1e3 == pytest.approx(usd_per_kw, rel=1e-3)


def test_a_flat_load_at_the_end_of_a_job_has_no_battery() -> None:
    found = facility(job="llama-3.1-70b", **HALL)
    row = found.frame("battery_duties").set_index("duty").loc["end of the job"]
    assert np.isnan(row["energy_mwh"])
    assert not row["counts"]
    assert any("--ramp-limit-mw-per-s" in w["message"] for w in found.warnings)


def test_shaving_of_a_series(tmp_path: Path) -> None:
    """58 MW in two hours of a year at 50 MW, limit 55 MW: 3 MW and 6 MWh."""
    file = tmp_path / "load.csv"
    load = [50.0] * 8760
    load[100] = load[101] = 58.0
    file.write_text("mw\n" + "\n".join(map(str, load)))
    found = facility(shave_to_mw=55.0, load_hours=str(file), **HALL)
    row = found.frame("battery_duties").set_index("duty").loc["peak shaving"]
    assert (row["power_mw"], row["energy_mwh"]) == pytest.approx((3.0, 6.0))
    assert row["rated_mwh"] == pytest.approx(6.0 / (0.98 * 0.9 * ONE_WAY * 0.7))


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            {"load_hours": "load.csv"},
            "--load-hours is not used without --onsite, --utility-mw or --shave-to-mw",
        ),
        ({"shave_to_mw": 20.0}, "no battery keeps the limit"),
        ({"bridge_s": 60.0, "compare": True, "cooling": None}, "--bridge-s is not used"),
    ],
)
def test_refused(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as error:
        facility(**(HALL | flags))
    assert words in str(error.value) or any(words in p.cause for p in error.value.problems)


def test_a_wrong_number_is_named_by_line(tmp_path: Path) -> None:
    file = tmp_path / "load.csv"
    file.write_text("mw\n50\n-3\n")
    with pytest.raises(InputError) as error:
        facility(shave_to_mw=55.0, load_hours=str(file), **HALL)
    assert error.value.problems[0].place.line == 3
