"""Indicators in the terms of EED and ESRS: ratios by hand, values and reasons of `plan` and `facility`."""

from __future__ import annotations

from pathlib import Path

import pytest

import dcplan
from dcplan.answers.common.indicators import Known, Report, rows_of
from dcplan.energy.indicators import SiteYear

YEAR = SiteYear(1000.0, 1200.0, 1500.0, 300.0, 400.0, 80.0, 360.0)


def test_ratios_by_hand() -> None:
    """1,200 MWh for 1,000 of IT; 1,500 m3 over 1 GWh is 1.5 L/kWh; 300 and 480 of 1,200; 360 t over 1 GWh."""
    assert (YEAR.pue, YEAR.wue_l_per_kwh) == pytest.approx((1.2, 1.5))
    assert (YEAR.erf, YEAR.ref) == pytest.approx((300 / 1200, 480 / 1200))
    assert YEAR.cue_kg_per_kwh == pytest.approx(0.36)


def test_no_indicator_is_empty_without_a_reason() -> None:
    """A year without IT, water or carbon: ratios have no value, and each row says why."""
    rows = list(rows_of(Report("2027", "s", SiteYear(0.0, 0.0), 0.0, water="the water is unknown")))
    assert len({(r.framework, r.indicator) for r in rows}) == len(rows)
    assert all(r.basis for r in rows)
    by_symbol = {r.symbol: r for r in rows}
    assert by_symbol["PUE"].value is None
    assert by_symbol["PUE"].basis == "no IT energy in the year"
    assert by_symbol["W_IN"].value is None
    assert by_symbol["WUE"].basis == "the water is unknown"
    assert by_symbol["CUE"].basis == "the carbon of the grid is unknown"


def test_parts_of_a_year_are_marked() -> None:
    """A plan that begins in the third quarter has half of its first year."""
    part = "2 of 4 quarters are in the plan"
    rows = rows_of(Report("2027", "s", YEAR, 500.0, part=part, capital_t=Known(None, "no")))
    for row in rows:
        assert (part in row.basis) == (row.value is not None)


def test_facility_has_the_same_sums_as_its_metrics() -> None:
    """10 MW of IT for 8,766 h; energy, water and carbon are those of the metrics."""
    found = dcplan.facility(
        site="ie-dublin", cooling="direct-liquid-tower", system="gb300-nvl72", it_mw=10.0
    )
    rows = found.frame("sustainability").set_index(["framework", "symbol"])["value"]
    load = found.value("energy.annual_mwh") / found.value("power.annual_pue")
    assert rows["EED", "E_IT"] == pytest.approx(load * 1000)
    assert rows["EED", "E_DC"] == pytest.approx(found.value("energy.annual_mwh") * 1000)
    assert rows["EED", "PUE"] == pytest.approx(found.value("power.annual_pue"))
    assert rows["EED", "WUE"] == pytest.approx(found.value("water.annual_wue_l_per_kwh"), rel=1e-6)
    assert rows["EED", "W_IN"] == pytest.approx(found.value("water.annual_m3"))
    assert rows["EED", "S_CR"] == pytest.approx(found.value("floor.area_m2"))
    assert rows["ESRS E1", "E1-6 49(a)"] == pytest.approx(found.value("carbon.operational_t"))


PLAN = """\
dcplan: 1
name: reported
horizon: {start: 2027-Q3, quarters: 4}
sites:
  - id: s
    location: us-ashburn
    utility_mw: 2
    floor_m2: 1500
    carbon: {grid_g_per_kwh: 300, residual_g_per_kwh: 500}
    water: {stressed: true}
    ppa:
      - {id: wind, kind: baseload, max_mw: 0.01, step_mw: 0.01, usd_per_mwh: 1}
    halls:
      - {id: h, existing: true, racks: 20, rack_kw_max: 42, it_mw: 0.5, cooling: [airside-economizer-water-chiller]}
systems: [dgx-h200]
fabrics: [ib-ndr-400]
workloads:
  capacity:
    - {id: r, accelerator_hours: [0, 60000, 60000, 60000], utilization_frac: 1}
"""


def test_a_plan_by_calendar_year(tmp_path: Path) -> None:
    """Two quarters of 2027 and two of 2028: sums equal those of the tables, a contract of 10 kW is
    renewable and carries no market-based carbon, and the racks are capital goods of 2027."""
    file = tmp_path / "reported.yaml"
    file.write_text(PLAN, encoding="utf-8")
    found = dcplan.plan(str(file))
    rows = found.frame("sustainability").set_index(["year", "framework", "symbol"]).sort_index()
    value = rows["value"]
    power = found.frame("power")
    for year in ("2027", "2028"):
        mwh = power[power["quarter"].str.startswith(year)]["energy_mwh"].sum()
        assert value[year, "EED", "E_DC"] == pytest.approx(mwh * 1000)
        contract = 0.01 * 2 * 2191.5 if year == "2028" else None
        ppa = value[year, "EED", "E_RES-PPA"] / 1000
        if contract:
            assert ppa == pytest.approx(contract)
            assert value[year, "EED", "REF"] == pytest.approx(contract / mwh)
        assert value[year, "ESRS E1", "E1-6 49(a)"] == pytest.approx(mwh * 0.3)
        assert value[year, "ESRS E1", "E1-6 49(b)"] == pytest.approx((mwh - ppa) * 0.5)
        water = value[year, "EED", "W_IN"]
        assert water > 0.0
        assert value[year, "EED", "S_DC"] == 1500.0
        stressed = rows.xs((year, "ESRS E3"))
        assert stressed[stressed["indicator"].str.contains("stress")]["value"].iloc[0] == water
    total = found.value("carbon.operational_t")
    assert sum(value[y, "ESRS E1", "E1-6 49(a)"] for y in ("2027", "2028")) == pytest.approx(total)
    capital = rows[rows["indicator"].str.contains("capital goods")]["value"]
    assert capital.sum() == pytest.approx(found.value("carbon.embodied_t"))
    assert capital.iloc[0] > 0.0
    assert "2 of 4 quarters" in rows["basis"]["2027", "EED", "E_DC"]
