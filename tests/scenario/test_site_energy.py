"""Contracts for power, batteries, carbon prices and demand response in a scenario: errors with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.errors import InputError
from dcplan.planning.problem.build import build
from dcplan.scenario.load import load

ROOT = Path(__file__).parents[2]
HALLS = "    halls:\n"


def written(folder: Path, lines: str) -> str:
    """The starter with more lines of its site; return the file."""
    (folder / "wind.csv").write_text("cf\n" + "0.4\n" * 8760)
    (folder / "sun.csv").write_text("cf\n" + ("0\n" * 12 + "0.5\n" * 12) * 365)
    text = (ROOT / "scenarios" / "starter.yaml").read_text(encoding="utf-8")
    file = folder / "s.yaml"
    file.write_text(text.replace(HALLS, lines + HALLS, 1), encoding="utf-8")
    return str(file)


FLAT = "id: flat, kind: baseload, max_mw: 5, usd_per_mwh: 60"
SUN = "id: sun, kind: as_produced, max_mw: 5, usd_per_mwh: 60, profile: sun.csv"
WIND = "id: wind, kind: as_produced, max_mw: 5, usd_per_mwh: 60"
CELLS = "id: lithium-battery-4h, max_mw: 4"


@pytest.mark.parametrize(
    ("lines", "code", "said", "field"),
    [
        (f"    ppa: [{{{WIND}}}]\n", "DC003", "needs the output of its plant by hour", "{id: wind"),
        (f"    ppa: [{{{FLAT}, profile: wind.csv}}]\n", "DC015", "has no profile", "wind.csv"),
        (
            f"    ppa: [{{{FLAT}, surplus_frac: 0.5, surplus_usd_per_mwh: 9}}]\n",
            *("DC015", "two prices of its surplus", "0.5"),
        ),
        (f"    ppa: [{{{FLAT}, step_mw: 6}}]\n", "DC015", "less than one step of 6 MW", "5,"),
        (
            f"    ppa: [{{{FLAT}, surplus_usd_per_mwh: 70, delivery_usd_per_mwh: 6}}]\n",
            *("DC015", "a MWh that the load uses saves 69.00 USD", "70,"),
        ),
        (
            f"    ppa: [{{{WIND}, profile: ../wind.csv}}]\n",
            *("DC008", "leaves the project", "../wind.csv"),
        ),
        (
            f"    ppa: [{{{FLAT}, available_from: 2031-Q1}}]\n",
            *("DC015", "available_from 2031-Q1 is outside the horizon", "2031-Q1"),
        ),
        (
            "    matched_share_min: {annual: 0.5}\n",
            *("DC015", "no contract, PV or wind gives", "{annual"),
        ),
        (
            f"    ppa: [{{{FLAT}, carbon_free: false}}]\n    matched_share_min: {{hourly: 0.5}}\n",
            *("DC015", "no contract, PV or wind gives", "{hourly"),
        ),
        (
            f"    ppa: [{{{SUN}}}]\n    matched_share_min: {{hourly: 0.55}}\n",
            *("DC015", "in at most 50.0% of the hours", "0.55}"),
        ),
        (f"    onsite: [{{{CELLS}}}]\n", "DC015", "has nothing to carry", "lithium"),
        (
            f"    onsite: [{{{CELLS}, peak_h: 4, usd_per_mwh: 50}}]\n",
            *("DC015", "has no usd_per_mwh", "50}"),
        ),
        (
            f"    onsite: [{{{CELLS}, peak_h: 4, permit_hours_per_year: 50}}]\n",
            *("DC015", "has no permit_hours_per_year", "50}"),
        ),
        (
            "    onsite: [{id: solar-pv, max_mw: 20, profile: sun.csv, permit_hours_per_year: 60}]\n",
            *("DC015", "no permit limits them", "60}"),
        ),
        (
            "    onsite: [{id: reciprocating-engine-gas, max_mw: 20, permit_hours_per_year: 9000}]\n",
            *("DC004", "8", "9000}"),
        ),
        (f"    onsite: [{{{CELLS}, peak_h: 24}}]\n", "DC004", "below 24 h", "24}"),
        (
            "    onsite: [{id: reciprocating-engine-gas, max_mw: 20, peak_h: 3}]\n",
            *("DC015", "no battery", "3}"),
        ),
        (
            "    interruptible: [{id: flex, mw: 1, hours_per_year: 9, available_from: 2031-Q1}]\n",
            *("DC015", "flex: available_from 2031-Q1 is outside the horizon", "2031-Q1"),
        ),
        ("    carbon: {basis: market}\n", "DC015", "no effect without a price", "market"),
        ("    carbon: {residual_g_per_kwh: 4}\n", "DC015", "no effect without contracts", "4}"),
    ],
)
def test_a_wrong_field_is_one_error_with_its_place(
    tmp_path: Path, lines: str, code: str, said: str, field: str
) -> None:
    file = written(tmp_path, lines)
    with pytest.raises(InputError) as error:
        build(load(file))
    [problem] = error.value.problems
    assert problem.code == code
    assert said in problem.cause
    assert problem.place is not None
    at = Path(file).read_text(encoding="utf-8").splitlines()[problem.place.line - 1]
    assert at[problem.place.column - 1 :].startswith(field)


def test_prices_rise_with_inflation_and_by_quarter_are_nominal(tmp_path: Path) -> None:
    """2 % a year: after a year 60 x 1.02; a battery loses 2 % of its power to outages; 80 USD/t by market."""
    lines = (
        f"    ppa:\n      - {{{FLAT}, surplus_frac: 0.5, available_from: 2027-Q3}}\n"
        "      - {id: w, kind: as_produced, max_mw: 9.5, profile: wind.csv, step_mw: 2,"
        " usd_per_mwh: [50, 51, 52, 53, 54, 55], carbon_free: false}\n"
        "    matched_share_min: {annual: 0.8, hourly: 0.5}\n"
        "    carbon: {residual_g_per_kwh: 450, usd_per_t: 80, basis: market}\n"
        "    demand_response: {max_mw: 2, usd_per_mw_year: 40e3, hours_per_year: 60}\n"
        f"    interruptible: [{{id: flex, mw: 1, hours_per_year: 100, event_h: 6}}]\n"
        f"    onsite: [{{{CELLS}, peak_h: 3}}]\n"
    )
    file = written(tmp_path, lines)
    text = Path(file).read_text(encoding="utf-8")
    grown = text.replace("finance:\n", "finance:\n  inflation_frac_per_year: 0.02\n", 1)
    Path(file).write_text(grown, encoding="utf-8")
    site = build(load(file)).problem.sites[0]
    flat, wind = site.contracts
    assert flat.usd_per_mwh[4] == pytest.approx(60 * 1.02)
    assert flat.surplus_usd_per_mwh[4] == pytest.approx(30 * 1.02)
    assert (flat.first, flat.most_steps, set(flat.profile)) == (2, 5, {1.0})
    assert wind.usd_per_mwh == (50, 51, 52, 53, 54, 55)
    assert (wind.most_steps, wind.step_mw, wind.carbon_free) == (4, 2.0, False)
    assert (site.matched.annual_frac, site.matched.hourly_frac) == (0.8, 0.5)
    assert site.market_g_per_kwh == 450
    assert site.carbon_by_market
    assert site.carbon_usd_per_t[4] == pytest.approx(80 * 1.02)
    assert site.response is not None
    assert site.response.usd_per_mw_year[4] == pytest.approx(40e3 * 1.02)
    battery = site.onsite[0].battery
    assert battery is not None
    assert (battery.hours, battery.round_trip_frac, battery.peak_h) == (4, 0.88, 3)
    assert battery.available_frac == pytest.approx(0.98)
    assert site.tranches[0].event_h == 6
