"""Scenarios that once gave wrong answers: fleets, tight halls, retirement, caps, restricted sites,
edited decisions."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.errors import InputError
from dcplan.result import Result, Table

BASE = """\
dcplan: 1
name: t
horizon: {{start: 2027-Q1, quarters: {quarters}}}
sites:
  - id: s
    location: us-ashburn
    utility_mw: 20
    energy: {{usd_per_kwh: 0.08}}
    halls:
      - {{id: h, racks: {racks}, rack_kw_max: {rack_kw}, it_mw: {it_mw}, cooling: [{cooling}]}}
systems: [{systems}]
fabrics: [ib-ndr-400, eth-800]
"""
RESEARCH = """\
workloads:
  capacity:
    - id: r
      pflops_delivered: {demand}
      utilization_frac: 0.6
      reference: {{model: llama-3.1-70b, seq_len: 8192, precision: bf16}}
"""


def answer(tmp_path: Path, text: str, **changes: object) -> Result:
    values: dict[str, object] = {
        "quarters": 6,
        "racks": 60,
        "rack_kw": 250,
        "it_mw": 8,
        "cooling": "direct-liquid-dry-cooler",
        "systems": "gb200-nvl72",
        "demand": [0, 0, 30, 30, 30, 30],
    }
    file = tmp_path / "t.yaml"
    file.write_text(text.format(**{**values, **changes}), encoding="utf-8")
    return plan(str(file))


@pytest.mark.parametrize(
    "cooling", ["rear-door-tower, air-chiller", "air-chiller, rear-door-tower"]
)
def test_a_fleet_keeps_its_accelerators_under_any_cooling(tmp_path: Path, cooling: str) -> None:
    """Four nodes a rack under the rear door, two under the chiller: 512 accelerators either way."""
    text = BASE + "fleet: {{system: dgx-h200, accelerators: 512}}\n"
    result = answer(tmp_path, text, rack_kw=45, it_mw=2.4, racks=80, cooling=cooling, systems="")
    assert result.value("accelerators.total") == 512


def test_a_given_rack_beyond_its_limits_is_said(tmp_path: Path) -> None:
    text = BASE + "fleet: {{system: dgx-h200, accelerators: 64, nodes_per_rack: 50}}\n"
    result = answer(tmp_path, text, systems="")
    assert result.value("accelerators.total") == 64
    assert any(w["code"] == "given" and "nodes per rack" in w["message"] for w in result.warnings)
    assert "given decisions exceed 1 limit" in result.headline


def test_purchases_do_not_hide_behind_a_fleet(tmp_path: Path) -> None:
    """A fleet of 7 racks and a demand of more than 9 racks do not fit 16 positions."""
    text = BASE + "fleet: {{system: dgx-h200, accelerators: 256}}\n" + RESEARCH
    result = answer(tmp_path, text, racks=16, demand=[0, 0, 300, 300, 600, 600])
    assert result.exit_code == 3


def test_one_rack_fits_a_hall_that_rounding_margins_would_close(tmp_path: Path) -> None:
    """132 kW of rack and its share of eight switches fit 200 kW of hall; margins of a whole unit
    do not."""
    result = answer(tmp_path, BASE + RESEARCH, it_mw=0.2)
    assert result.status == "ok"
    assert result.value("racks.total") == 1
    assert result.value("solver.bound_usd") <= result.value("cost.npv_usd")


def test_hardware_is_replaced_after_its_life(tmp_path: Path) -> None:
    """Seven racks for ten quarters with one year of life: bought three times, never more than
    twelve at once."""
    text = BASE + RESEARCH + "finance: {{hardware_life_years: 1}}\n"
    result = answer(tmp_path, text, quarters=12, racks=12, demand=[0, 0] + [300] * 10)
    # where hardware retires, the bound has switches by port only, and the answer says so
    assert result.status == "incomplete"
    assert any("switches" in str(w["message"]) for w in result.warnings)
    assert result.value("racks.total") >= 14
    racks = result.frame("halls")["racks"].max()
    assert racks <= 12


def test_a_binding_carbon_cap_holds_with_whole_switches(tmp_path: Path) -> None:
    text = (
        BASE.replace("    energy:", "    carbon: {{max_operational_t_per_year: 1200}}\n    energy:")
        + RESEARCH
    )
    text += (
        "cloud: {{offers: [aws-p5en-48xlarge], max_accelerators: 100000, "
        "max_accelerators_per_offer: 100000}}\n"
    )
    result = answer(tmp_path, text, quarters=4, demand=[100, 200, 300, 300])
    assert result.exit_code == 0
    assert result.value("carbon.operational_t") <= 1200 * (1 + 1e-6)


def test_demand_bound_to_sites_rents_nothing(tmp_path: Path) -> None:
    text = BASE + RESEARCH.replace("      utilization", "      sites: [s]\n      utilization")
    text += "cloud: {{offers: [aws-p5en-48xlarge], max_accelerators: 4000}}\n"
    assert answer(tmp_path, text).value("cost.cloud_usd") == 0
    assert (
        answer(tmp_path, text, demand=[20] * 6).exit_code == 3
    )  # nothing of its own serves in the first quarter


def test_two_supply_entries_for_a_system_are_refused(tmp_path: Path) -> None:
    text = (
        BASE
        + RESEARCH
        + "supply: [{{system: gb200-nvl72, racks_per_quarter: 3}}, {{system: gb200_nvl72, "
        "lead_quarters: 2}}]\n"
    )
    with pytest.raises(InputError) as caught:
        answer(tmp_path, text)
    assert [p.code for p in caught.value.problems] == ["DC011"]


@pytest.mark.parametrize("amount", ["abc", 1.5, -3, None, math.inf, 1e30])
def test_edited_decisions_are_refused_by_name(tmp_path: Path, amount: object) -> None:
    result = answer(tmp_path, BASE + RESEARCH)
    table = result.tables["decisions"]
    at = table.columns.index("amount")
    row = (*table.rows[0][:at], amount, *table.rows[0][at + 1 :])
    edited = dataclasses.replace(
        result, tables={"decisions": Table(table.columns, (row, *table.rows[1:]))}
    )  # type: ignore[arg-type]
    with pytest.raises(InputError) as caught:
        plan(str(tmp_path / "t.yaml"), fix_decisions=edited)
    assert caught.value.problems[0].code == "DC015"


def test_fixed_decisions_that_break_a_limit_name_it(tmp_path: Path) -> None:
    result = answer(tmp_path, BASE + RESEARCH)
    again = plan(str(tmp_path / "t.yaml"), fix_decisions=result, sets=["sites.s.utility_mw=0.1"])
    assert again.exit_code == 3
    text = " ".join(
        str(cell) for table in again.tables.values() for row in table.rows for cell in row
    )
    assert "utility" in text
