"""Loads and contracts of a plan by hour: heat pump of sold heat, racks that idle while they pause, output of PPA."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import dcplan
from dcplan.answers.plan.replay.load import Audited, load_of
from dcplan.answers.plan.replay.shapes import Shape, SiteShapes
from dcplan.inputs.power.weather import hours_of_quarter
from dcplan.planning.audit.accounts import make_accounts
from dcplan.result import Result
from tests.answers.one_hall import one_hall
from tests.answers.test_plan_replay import assert_parts_add_up, price_file
from tests.planning.small import HALL
from tests.planning.test_utilities import two_racks, utilities

TEXT = """\
dcplan: 1
name: loads
horizon: {start: 2027-Q2, quarters: 4}
sites:
  - id: a
    location: fi-helsinki
    utility_mw: [UTILITY]
    energy: {usd_per_kwh: 0.05}
MORE
    halls: [{id: h, existing: true, racks: 200, rack_kw_max: 140, it_mw: 12, cooling: [direct-liquid-tower]}]
systems: [gb200-nvl72]
fabrics: [ib-ndr-400]
workloads:
  capacity:
    - {id: r, h100_equivalents: [0, 8000, 8000, 8000], utilization_frac: 0.9,
       reference: {model: llama-3.1-70b, seq_len: 8192, precision: bf16}}
"""
HEAT = "    heat_reuse: {needed_c: 70, usd_per_mwh: 40, hours_frac: 0.25OWN}"
CUT = "    interruptible: [{id: flex, mw: [8], hours_per_year: 400}]"


def planned(folder: Path, utility: float, more: str, **flags: object) -> Result:
    file = folder / "loads.yaml"
    file.write_text(TEXT.replace("UTILITY", f"{utility:g}").replace("MORE", more), encoding="utf-8")
    return dcplan.plan(str(file), replay_hours=True, replay_rows=True, gap=0.02, **flags)  # type: ignore[arg-type]


@pytest.mark.parametrize("own", ["", ", own_grid_connection: true"])
def test_the_heat_pump_runs_in_the_coldest_hours_at_their_price(own: str, tmp_path: Path) -> None:
    """A fourth of the hours has demand. The plan pays the pump at the mean price; by hour it runs in the coldest
    hours. Twice the price in these hours: the pump costs twice as much as at their mean. Its load is on the site's
    connection, not in energy and CO2."""
    more = HEAT.replace("OWN", own)
    flat = planned(tmp_path, 12, more)
    assert flat.value("replay.largest_difference_frac") < 1e-9
    (row,) = flat.frame("replay").to_dict("records")
    assert row["energy_mwh"] == pytest.approx(flat.frame("power")["energy_mwh"].sum())
    assert row["energy_usd"] == pytest.approx(flat.value("cost.energy_usd"))
    paid = flat.frame("cost").set_index("line")["usd"]
    pump_usd = paid["electricity of the heat pump"]
    assert pump_usd > 0.0
    hours = flat.frame("replay_hours")
    prices = np.full(8760, 50.0)
    for _, mine in hours.groupby("quarter"):
        coldest = mine["outdoor_c"].to_numpy().argsort(kind="stable")[: len(mine) // 4]
        prices[mine["hour"].to_numpy()[coldest] - 1] = 100.0
    file = price_file(tmp_path, prices)
    varied = planned(tmp_path, 12, more, price_hours={"a": file}, prices_as_given=True)
    assert_parts_add_up(varied)
    (found,) = varied.frame("replay").to_dict("records")
    own_mwh, usd = hours["load_mw"] * hours["duration_h"], prices[hours["hour"].to_numpy() - 1]
    more = pump_usd + float(own_mwh @ (usd - 50.0))
    assert found["hours_usd"] - row["hours_usd"] == pytest.approx(more, rel=1e-9)
    assert found["hours_carbon_t"] == pytest.approx(row["carbon_t"])
    peak, alone = row["hours_peak_mw"], hours["load_mw"].max()
    assert (peak > alone + 0.1) == (not own)
    assert peak < row["peak_mw"] < row["limit_mw"]


def test_racks_that_idle_stay_on_in_interrupted_hours(tmp_path: Path) -> None:
    """4 MW of firm power: 100 hours of a quarter have no more, and all work is done."""
    found = planned(tmp_path, 4, f"{CUT}\n    paused_racks: idle")
    assert_parts_add_up(found)
    assert found.value("replay.unserved_mwh") == pytest.approx(0.0, abs=1e-6)
    hours = found.frame("replay_hours")
    own = hours[hours["quarter"] == "2027-Q4"]["grid_mw"]
    assert (own <= 4.0 + 1e-9).sum() == 100


def test_the_load_that_does_not_pause_is_idle_racks_and_network_by_hand() -> None:
    """Two racks of 60 kW idle at 15 kW each and train; the network draws the rest of the accounts. With a PUE of
    1.1 in the first and 1.2 in the second half of the quarter the racks idle at 33 and 36 kW."""
    problem = utilities()
    d = dataclasses.replace(two_racks(), training={(HALL, "wet", "b", 1): 8.0})
    books = make_accounts(problem, d)
    hours = hours_of_quarter(1)
    pue = np.full(8760, 1.1)
    pue[hours.start + 1092 :] = 1.2
    shape = Shape(pue, 0.0 * pue, by_hour=True)
    shapes = SiteShapes(None, {(HALL, "wet", "b"): shape, (HALL, "wet", ""): shape}, {}, None, ())
    plan = Audited(problem, d, books)
    load = load_of(plan, problem.sites[0], shapes, hours, 1)
    network = books.halls[HALL, 1].it_mwh_cooled["wet", ""] / 2191.5
    assert network > 0.0
    assert load.idle_mw[0] == pytest.approx((2 * 0.015 + network) * 1.1)
    assert load.idle_mw[-1] == pytest.approx((2 * 0.015 + network) * 1.2)
    it_mw = books.halls[HALL, 1].it_mwh / 2191.5
    assert it_mw > 2 * 0.015 + network
    assert load.mw[0] == pytest.approx(it_mw * 1.1)
    assert load.more_mw(0.5).idle_mw[0] == pytest.approx(load.idle_mw[0] + 0.5)


def test_contracts_are_used_in_cheap_hours_and_the_note_says_what_their_output_is_worth(
    tmp_path: Path,
) -> None:
    """Sun by day, and the same power in every hour, with one PUE: in hours of 10 USD/MWh as in those of 115,
    the load uses what it can take, and the rest is sold at 20 and 30 USD/MWh. What differs is the price of the
    energy that the tariff gives: sum of MW x (price of the hour - mean of the quarter), by hand from the hours."""
    sun = np.clip(np.sin((np.arange(8760) % 24 - 6) / 12 * np.pi), 0.0, None)
    (tmp_path / "pv.csv").write_text("\n".join(f"{x:.6f}" for x in sun) + "\n")
    hall = Path(one_hall(tmp_path, 50_000))
    added = (
        "    ppa:\n      - {id: sun, kind: as_produced, max_mw: 0.5, step_mw: 0.05, profile: pv.csv,"
        " usd_per_mwh: 25, surplus_usd_per_mwh: 20}\n      - {id: flat, kind: baseload, max_mw: 0.5,"
        " step_mw: 0.01, usd_per_mwh: 60, surplus_frac: 0.5}\n"
        "    matched_share_min: {hourly: 0.8}\n    halls:"
    )
    text = hall.read_text(encoding="utf-8").replace("    halls:", added, 1)
    hall.write_text(text, encoding="utf-8")
    low = price_file(tmp_path, 60.0 - 55.0 * sun)
    found = dcplan.plan(str(hall), replay_hours=True, replay_rows=True, price_hours={"s": low})
    contracts, hours = found.frame("contracts"), found.frame("replay_hours").fillna(0.0)
    hours = hours[hours["load_mw"] > 0.0]
    for name in ("sun", "flat"):
        used = contracts[contracts["contract"] == name]["used_mwh"].sum()
        assert used > 0.0
        assert hours[f"{name}_mw"] @ hours["duration_h"] == pytest.approx(used)
    price, weights = hours["usd_per_mwh"], hours["duration_h"]
    assert price.min() < 20.0  # both surplus prices are above it
    mean = float(np.average(price, weights=weights))
    more = float((hours["grid_mw"] * (price - mean)) @ weights)
    (row,) = found.frame("replay").to_dict("records")
    assert row["hours_usd"] - row["energy_usd"] == pytest.approx(more)
    assert more > 0.01 * row["energy_usd"]
    (part,) = found.frame("replay_parts").to_dict("records")
    assert part["part"] == "output of PV, wind and contracts times price"
    assert_parts_add_up(found)
    worth = more / contracts["used_mwh"].sum()
    (said,) = (w["message"] for w in found.warnings if "replaces energy" in w["message"])
    assert f"that costs {worth:,.2f} USD less than the mean of its quarter" in said
