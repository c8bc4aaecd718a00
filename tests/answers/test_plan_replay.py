"""`dcplan plan --replay-hours`: years of a plan by hour, their difference, and its parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dcplan
from dcplan.answers.plan.replay.given import Given
from dcplan.answers.plan.replay.load import Audited
from dcplan.answers.plan.replay.quarters import plant_hours
from dcplan.answers.plan.replay.shapes import SiteShapes, UnitHours, shapes_of
from dcplan.errors import InputError
from dcplan.inputs.power.weather import hours_of_quarter
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.build import build
from dcplan.result import Result
from dcplan.scenario.load import load
from tests.answers.one_hall import one_hall
from tests.planning.small import powered_menu
from tests.plans import planned

TEXT = """\
dcplan: 1
name: replay
horizon: {start: 2027-Q2, quarters: 6}
sites:
  - id: a
    location: us-phoenix
    utility_mw: [UTILITY]
    onsite: [{id: aeroderivative-turbine, max_mw: 70, lead_quarters: 0, spare_units: 0}]
    interruptible: TRANCHES
    halls: [{id: h, existing: true, racks: 2000, rack_kw_max: 42, it_mw: 30, cooling: [COOLING]}]
systems: [dgx-h200]
fabrics: [ib-ndr-400]
workloads:
  capacity:
    - {id: r, h100_equivalents: [0, 8000, 8000, 8000, 8000, 8000], utilization_frac: 0.9,
       reference: {model: llama-3.1-70b, seq_len: 8192, precision: bf16}}
"""


def site(
    folder: Path, utility: str, tranches: str = "[]", cooling: str = "waterside-economizer"
) -> str:
    """Write a scenario of one hot site with gas turbines; return the file."""
    text = TEXT.replace("UTILITY", utility).replace("TRANCHES", tranches)
    file = folder / "replay.yaml"
    file.write_text(text.replace("COOLING", cooling), encoding="utf-8")
    return str(file)


def price_file(folder: Path, usd_per_mwh: np.ndarray) -> str:
    file = folder / "prices.csv"
    lines = [f"{hour},{usd:.6f}" for hour, usd in enumerate(usd_per_mwh.tolist(), 1)]
    file.write_text("\n".join(["hour,usd_per_mwh", *lines]) + "\n", encoding="utf-8")
    return str(file)


def parts_of(result: Result, what: str) -> dict[tuple[str, str], float]:
    """The sum of the parts by site and year."""
    frame = result.frame("replay_parts")
    if frame.empty:
        return {}
    return frame.groupby(["site", "first_quarter"])[what].sum().to_dict()


def assert_parts_add_up(result: Result) -> None:
    for now, before, what in (
        ("hours_mwh", "energy_mwh", "energy_mwh"),
        ("hours_usd", "energy_usd", "energy_usd"),
        ("hours_carbon_t", "carbon_t", "carbon_t"),
        ("hours_water_m3", "water_m3", "water_m3"),
    ):
        sums = parts_of(result, what)
        for row in result.frame("replay").to_dict("records"):
            own = sums.get((row["site"], row["first_quarter"]), 0.0)
            assert own == pytest.approx(row[now] - row[before], abs=1e-7 * max(row[before], 1.0))


def assert_rows_of_the_plan(result: Result) -> None:
    """Energy of the rows is that of the table of power, cost that of the plan without demand
    charges."""
    rows = result.frame("replay")
    assert rows["energy_mwh"].sum() == pytest.approx(result.frame("power")["energy_mwh"].sum())
    energy = result.metrics["cost.energy_usd"].value
    assert rows["energy_usd"].sum() == pytest.approx(energy)
    carbon = result.metrics["carbon.operational_t"].value
    assert rows["carbon_t"].sum() == pytest.approx(carbon)


def test_a_plan_without_variation_by_hour_is_replayed_exactly(tmp_path: Path) -> None:
    """A table gives one PUE for all hours, the tariff one price: nothing changes."""
    found = dcplan.plan(one_hall(tmp_path, 50_000), replay_hours=True)
    assert_rows_of_the_plan(found)
    (row,) = found.frame("replay").to_dict("records")
    assert row["quarters"] == 2
    for what in ("energy", "cost", "carbon", "water"):
        assert abs(row[f"{what}_change_frac"]) < 1e-9
    assert row["hours_peak_mw"] < row["peak_mw"] < row["limit_mw"]
    assert found.frame("replay_parts").empty
    assert found.metrics["replay.largest_difference_frac"].value < 1e-9
    said = [w["message"] for w in found.warnings if w["code"] == "replay"]
    assert any("one PUE for all hours" in text for text in said)
    assert any("every hour has the price of its quarter" in text for text in said)


def test_the_hours_have_the_energy_of_the_plans_seasons(tmp_path: Path) -> None:
    """A plan that works from July to September of the next year, with the grid alone: the quarters of the
    plan have the PUE of their season, as the hours do, so nothing changes."""
    found = dcplan.plan(site(tmp_path, "60"), replay_hours=True, replay_rows=True, gap=0.02)
    assert_rows_of_the_plan(found)
    assert_parts_add_up(found)
    assert found.frame("replay_parts").empty
    assert found.value("replay.largest_difference_frac") < 1e-9
    hours = found.frame("replay_hours")
    first = hours[hours["quarter"] < "2028-Q2"]
    year, rest = found.frame("replay").to_dict("records")
    assert (first["load_mw"] * first["duration_h"]).sum() == pytest.approx(year["hours_mwh"])
    for row in (year, rest):
        for what in ("energy", "cost", "carbon", "water"):
            assert abs(row[f"{what}_change_frac"]) < 1e-9
    by_quarter = hours.groupby("quarter")["load_mw"].mean()
    assert by_quarter["2027-Q3"] > by_quarter["2027-Q4"]
    assert hours.groupby("quarter")["duration_h"].sum().to_numpy() == pytest.approx(2191.5)
    assert (hours["load_mw"] - hours["grid_mw"]).abs().max() < 1e-9


def test_a_pue_of_the_scenario_is_the_same_in_all_seasons_of_the_plan(tmp_path: Path) -> None:
    """The hours keep the weather: the third quarter alone is warmer in Phoenix than the year, and the note
    says why the hours differ."""
    file = Path(site(tmp_path, "60"))
    text = file.read_text(encoding="utf-8").replace("it_mw: 30,", "it_mw: 30, pue: 1.3,")
    text = text.replace("start: 2027-Q2, quarters: 6", "start: 2027-Q3, quarters: 5")
    text = text.replace("8000, 8000, 8000, 8000, 8000]", "8000, 8000, 8000, 8000]")
    file.write_text(text, encoding="utf-8")
    found = dcplan.plan(str(file), replay_hours=True, gap=0.02)
    power = found.frame("power")
    used = power[power["energy_mwh"] > 0.0]
    assert used["energy_mwh"].max() == pytest.approx(used["energy_mwh"].min(), rel=1e-9)
    assert found.value("power.annual_pue") == pytest.approx(1.3, rel=1e-12)
    assert set(found.frame("replay_parts")["part"]) == {"PUE and WUE times load"}
    said = [w["message"] for w in found.warnings if w["code"] == "replay"]
    large = found.frame("replay")["energy_change_frac"].max() > 0.01
    assert large == any("the PUE of the scenario is the same in every quarter" in x for x in said)
    assert large


def test_prices_by_hour_keep_the_mean_of_the_plan_or_their_own(tmp_path: Path) -> None:
    """One PUE and no plant: prices with the plan's mean change nothing; prices of 100 USD/MWh cost
    100 USD for each MWh of the plan."""
    rng = np.random.default_rng(3)
    file = price_file(tmp_path, rng.uniform(10, 90, 8760))
    hall = one_hall(tmp_path, 50_000)
    scaled = dcplan.plan(hall, replay_hours=True, price_hours={"s": file})
    assert scaled.metrics["replay.largest_difference_frac"].value < 1e-9
    flat = price_file(tmp_path, np.full(8760, 100.0))
    given = dcplan.plan(hall, replay_hours=True, price_hours={"s": flat}, prices_as_given=True)
    (row,) = given.frame("replay").to_dict("records")
    assert row["hours_usd"] == pytest.approx(100 * row["energy_mwh"])
    (part,) = given.frame("replay_parts").to_dict("records")
    assert part["part"] == "price level of the file"
    assert part["energy_usd"] == pytest.approx(row["hours_usd"] - row["energy_usd"])


def test_plants_that_cannot_follow_are_named(tmp_path: Path) -> None:
    """Turbines without a spare in the heat of Phoenix, and a grid that is cut: derating, outages and
    interruptions each have their part, and the parts add up."""
    prices = 50 + 40 * np.sin(np.arange(8760) * 2 * np.pi / 24)
    flags: dict[str, Any] = {"price_hours": {"a": price_file(tmp_path, prices)}, "gap": 0.03}
    file = site(tmp_path, "4", "[{id: flex, mw: [2], hours_per_year: 400}]")
    found = dcplan.plan(file, replay_hours=True, replay_rows=True, **flags)
    assert_rows_of_the_plan(found)
    assert_parts_add_up(found)
    parts = found.frame("replay_parts")
    assert {"plants by hour", "planned outages of plants"} <= set(parts["part"])
    hours = found.frame("replay_hours").fillna(0.0)
    made = hours["grid_mw"] + hours["aeroderivative-turbine_mw"] + hours["unserved_mw"]
    assert (made - hours["load_mw"]).abs().max() < 1e-6
    rows = found.frame("replay")
    unserved = (hours["unserved_mw"] * hours["duration_h"]).sum()
    assert unserved == pytest.approx(rows["unserved_mwh"].sum())
    assert found.metrics["replay.unserved_mwh"].value == pytest.approx(unserved)
    cost = hours["grid_mw"] * hours["usd_per_mwh"] * hours["duration_h"]
    fuel = rows["hours_usd"].sum() - cost.sum()
    burnt = (hours["aeroderivative-turbine_mw"] * hours["duration_h"]).sum()
    each = found.frame("onsite")
    each = each[each["generated_mwh"] > 0]
    price = each["energy_usd"].sum() / each["generated_mwh"].sum()
    assert fuel == pytest.approx(burnt * price, rel=1e-6)
    said = [w["message"] for w in found.warnings if w["code"] == "replay"]
    large = rows[["energy_change_frac", "cost_change_frac"]].abs().max().max()
    assert large > 0.01
    assert any("by hour the cost of energy is" in text for text in said)


def test_a_weather_file_changes_the_mean_and_the_hours(tmp_path: Path) -> None:
    """A year at 40 C has more PUE than Phoenix in every hour: it is a part of its own."""
    head = ["LOCATION,Hot,XX,XXX,TMY,000000,0,0,0,0"] + [f"LINE {i}" for i in range(7)]
    days = np.repeat(np.arange(1, 13), [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    body = [f"2020,{m},1,1,0,?9,40.0,9.0,30,101325" + ",0" * 25 for m in np.repeat(days, 24)]
    epw = tmp_path / "hot.epw"
    epw.write_text("\n".join([*head, *body]) + "\n", encoding="utf-8")
    found = dcplan.plan(
        site(tmp_path, "60"), replay_hours=True, weather_hours={"a": str(epw)}, gap=0.02
    )
    assert_parts_add_up(found)
    parts = found.frame("replay_parts").groupby("part")[["energy_mwh", "water_m3"]].sum()
    # the file has no seasons, and the plan has those of the packaged weather
    assert set(parts.index) == {"PUE and WUE of the weather file", "PUE and WUE times load"}
    assert parts["energy_mwh"]["PUE and WUE times load"] < 0.0  # its quarters are the warm ones
    assert parts["water_m3"]["PUE and WUE times load"] != 0.0
    assert found.frame("replay")["energy_change_frac"].min() > 0


@pytest.mark.parametrize("place", ["us-phoenix", "fi-helsinki", "us-dallas", "sg-singapore"])
@pytest.mark.parametrize(
    "option", ["direct-liquid-dry-cooler", "direct-liquid-tower", "waterside-economizer"]
)
def test_the_hours_of_a_quarter_have_the_pue_and_water_of_its_season(
    place: str, option: str, tmp_path: Path
) -> None:
    """The plan and the hours have one PUE and one WUE: the mean of the hours of each quarter is that of its
    season, and the mean of the four, which are equally long, that of the year. Dry coolers spray most in the
    third quarter."""
    file = Path(site(tmp_path, "60", cooling=option))
    text = file.read_text(encoding="utf-8").replace("us-phoenix", place)
    file.write_text(text.replace("dgx-h200", "gb200-nvl72"), encoding="utf-8")
    question = load(str(file))
    built = build(question)
    hall = built.problem.halls[0]
    cooled = hall.cooling(option).cooled("gb200-nvl72")
    assert sum(cooled.water_by_season) == pytest.approx(4.0)
    key, none = (hall.id, option, "gb200-nvl72"), Given({}, {}, as_given=False)
    shape = shapes_of(question.scenario.sites[0], {key: cooled}, [], none, built.log).halls[key]
    shares = cooled.pue_by_season
    assert sum(cooled.pue_at(x) for x in range(4)) / 4 == pytest.approx(cooled.pue, rel=1e-9)
    assert shape.mean_pue == pytest.approx(cooled.pue, rel=1e-9)
    assert max(shares) > 1.0 > min(shares)
    assert max(shares) * cooled.pue <= cooled.peak_pue
    for season in range(4):
        of_pue = shape.pue[hours_of_quarter(season)]
        assert of_pue.mean() == pytest.approx(cooled.pue_at(season), rel=1e-9)
        hours = shape.wue_l_per_kwh[hours_of_quarter(season)]
        assert hours.mean() == pytest.approx(cooled.wue_at(season), rel=5e-3, abs=1e-5)
    assert shape.mean_wue_l_per_kwh == pytest.approx(cooled.wue_l_per_kwh)
    if option.endswith("dry-cooler") and place != "sg-singapore":
        assert max(range(4), key=cooled.wue_at) == 2
        assert cooled.wue_at(0) < 0.2 * cooled.wue_l_per_kwh


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"price_hours": {"s": "x.csv"}}, "--price-hours needs --replay-hours"),
        ({"prices_as_given": True, "replay_hours": True}, "needs --price-hours"),
        ({"replay_hours": True, "price_hours": {"t": "x.csv"}}, "the plan has no site 't'"),
        ({"replay_hours": True, "price_hours": ["s"]}, "SITE=FILE is needed"),
        ({"replay_hours": True, "hedge": True}, "--replay-hours replays one plan"),
    ],
)
def test_flags_without_effect_are_refused(tmp_path: Path, flags: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        dcplan.plan(one_hall(tmp_path, 50_000), **flags)


def test_prices_that_cannot_be_scaled_are_refused(tmp_path: Path) -> None:
    hall = one_hall(tmp_path, 50_000)
    negative = price_file(tmp_path, np.full(8760, -5.0))
    with pytest.raises(InputError, match=r"not above 0") as found:
        dcplan.plan(hall, replay_hours=True, price_hours={"s": negative})
    assert "--prices-as-given" in found.value.problems[0].help
    short = price_file(tmp_path, np.full(24, 5.0))
    with pytest.raises(InputError, match="24 values, and a year has 8,760 hours"):
        dcplan.plan(hall, replay_hours=True, price_hours={"s": short})


def test_the_hours_of_an_example_are_within_one_percent_or_have_a_reason() -> None:
    """The plan of docs/examples, with its decisions."""
    name = "train-405b-in-90-days"
    found = dcplan.plan(name, fix_decisions=planned(name), replay_hours=True)
    assert_parts_add_up(found)
    said = [w["message"] for w in found.warnings if w["code"] == "replay"]
    for row in found.frame("replay").to_dict("records"):
        large = max(abs(row["energy_change_frac"]), abs(row["cost_change_frac"]))
        assert large < 0.01 or any(f"{row['site']}, year from" in text for text in said)
        assert abs(row["water_change_frac"]) < 1e-3  # the plan has the water of the season


def test_spare_units_run_only_for_units_that_are_out() -> None:
    """Three engines of 0.05 MW, one of them spare, at 0.9 of their rating in the heat: two run, 0.1
    and 0.09 MW. One of the three is out for planned work in the first 6,570 hours: two are left,
    and run. Each has failed a tenth of the time: of three, two run with 0.729 + 0.243 and one with
    0.027, 1.971 in the mean; of two, 2 x 0.9."""
    problem = powered_menu(0.1, 0.0)
    site = problem.sites[0]
    plan = Audited(
        problem,
        Decisions(onsite={("s", "engine", 0): 3}, onsite_mwh={("s", "engine", 1): 20.0}),
        Accounts(),
    )
    unit = UnitHours(np.full(8760, 0.9), 2190.0, 0.1)
    shapes = SiteShapes(None, {}, {"engine": unit}, None, ())
    found = plant_hours(plan, site, site.onsite[0], shapes, slice(6560, 6580), 1)
    assert site.onsite[0].spare_units == 1
    assert found.rated_mw == pytest.approx(np.full(20, 0.1))
    assert found.derated_mw == pytest.approx(np.full(20, 0.09))
    assert found.kept_mw == pytest.approx(np.full(20, 0.09))
    by_hand = [1.8 * 0.045] * 10 + [1.971 * 0.045] * 10
    assert found.mean_mw == pytest.approx(by_hand)
    assert (found.planned_mwh, found.usd_per_mwh) == (20.0, 90.0)


def test_pv_gives_its_profile_and_the_contract_is_paid_as_planned() -> None:
    """Three units of 50 kW give 0.15 MW x profile; nothing is derated or out a second time."""
    problem = powered_menu(0.1, 0.0)
    shape = np.linspace(0.0, 1.0, 8760)
    pv = replace(problem.sites[0].onsite[0], id="pv", spare_units=0, profile=tuple(shape.tolist()))
    d = Decisions(onsite={("s", "pv", 0): 3}, onsite_mwh={("s", "pv", 1): 20.0})
    plan, none = Audited(problem, d, Accounts()), SiteShapes(None, {}, {}, None, ())
    site = replace(problem.sites[0], onsite=(pv,))
    found = plant_hours(plan, site, pv, none, slice(6560, 6580), 1)
    for mw in (found.rated_mw, found.derated_mw, found.kept_mw, found.mean_mw):
        assert mw == pytest.approx(0.15 * shape[6560:6580])


def test_interrupted_hours_pause_work_that_the_quarter_makes_up(tmp_path: Path) -> None:
    """4 MW firm and no plant: a quarter of 400 hours without the tranche has 4 MW at most, 100 in a
    row; the other hours have more than the mean. The work of the quarter is that of the plan."""
    file = Path(site(tmp_path, "4", "[{id: flex, mw: [40], hours_per_year: 400}]"))
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(x for x in lines if "onsite" not in x), encoding="utf-8")
    found = dcplan.plan(str(file), replay_hours=True, replay_rows=True, gap=0.03)
    assert_parts_add_up(found)
    assert set(found.frame("replay_parts")["part"]) == {"interruptions of the grid"}
    hours = found.frame("replay_hours")
    for quarter in ("2027-Q3", "2028-Q3"):
        own = hours[hours["quarter"] == quarter]["grid_mw"].to_numpy()
        cut = own <= 4.0 + 1e-9
        assert cut.sum() == 100
        # from the first to the last in a row; the quarter follows itself
        assert np.abs(np.diff(cut.astype(int))).sum() <= 2
    assert found.metrics["replay.unserved_mwh"].value == pytest.approx(0.0, abs=1e-6)


def test_contracts_and_called_load_are_replayed_by_the_hour(tmp_path: Path) -> None:
    """One PUE and one price: the contract gives by hour what the plan says, and only the calls move work."""
    hall = Path(one_hall(tmp_path, 50_000))
    wind = 0.5 + 0.4 * np.sin(np.arange(8760) * 2 * np.pi / 77)
    (tmp_path / "wind.csv").write_text("\n".join(f"{x:.6f}" for x in wind) + "\n")
    added = (
        "    ppa: [{id: wind, kind: as_produced, max_mw: 0.06, step_mw: 0.01, profile: wind.csv, usd_per_mwh: 20,"
        " surplus_usd_per_mwh: 5}]\n    demand_response: {max_mw: 1, usd_per_mw_year: 90e3,"
        " hours_per_year: 40}\n    halls:"
    )
    text = hall.read_text(encoding="utf-8")
    assert "    halls:" in text
    hall.write_text(text.replace("    halls:", added, 1), encoding="utf-8")
    found = dcplan.plan(str(hall), replay_hours=True, replay_rows=True)
    contracts, hours = found.frame("contracts"), found.frame("replay_hours")
    used = (hours["wind_mw"].fillna(0.0) * hours["duration_h"]).groupby(hours["quarter"]).sum()
    for row in contracts.to_dict("records"):
        assert used[row["quarter"]] == pytest.approx(row["used_mwh"], rel=5e-3)
    assert contracts["surplus_mwh"].sum() > 0.0
    assert_parts_add_up(found)
    (row,) = found.frame("replay").to_dict("records")
    assert abs(row["energy_change_frac"]) < 1e-9
    assert abs(row["cost_change_frac"]) < 5e-3
    paid = found.frame("cost").set_index("line")["usd"]
    assert paid["demand response"] < 0.0
    kept = row["energy_usd"] - paid["energy"] - paid["energy of wind"] - paid["surplus of wind"]
    assert kept == pytest.approx(0.0, abs=1e-6 * row["energy_usd"])
    called = hours[hours["load_mw"] < 0.999 * hours.groupby("quarter")["load_mw"].transform("max")]
    assert len(called) == 10 * (hours["load_mw"] > 0.0).groupby(hours["quarter"]).any().sum()
