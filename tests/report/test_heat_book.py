"""A site that sells heat: the power of the heat pump in result, workbook and demand charge."""

from __future__ import annotations

from pathlib import Path

import pytest

import dcplan
from dcplan.report.book.write import workbook
from tests.report.books import recalculated, summary, zeroed

TEXT = """\
dcplan: 1
name: heat
horizon: {start: 2027-Q1, quarters: 2}
sites:
  - id: a
    location: us-phoenix
    utility_mw: 30
    energy: {usd_per_kwh: 0.05, demand_usd_per_kw_month: 5}
    heat_reuse: {needed_c: 70, usd_per_mwh: 60, hours_frac: 0.9}
    halls: [{id: h, existing: true, racks: 120, rack_kw_max: 250, it_mw: 12, cooling: [direct-liquid-dry-cooler]}]
assets:
  - {id: nv, system: gb300-nvl72, accelerators: 1440, in_service: 2026-Q1, fabric: eth-800}
systems: []
fabrics: [eth-800]
workloads:
  capacity:
    - {id: r, h100_equivalents: 1000, utilization_frac: 0.9,
       reference: {model: llama-3.1-70b, seq_len: 8192, precision: bf16}}
"""


def test_the_workbook_has_the_pump_in_load_and_demand_charge(tmp_path: Path) -> None:
    """The demand charge is 5 USD/kW x 6 months x (facility + pump); own_grid_connection takes the pump out."""
    costs = []
    for text in (
        TEXT,
        TEXT.replace("hours_frac: 0.9", "hours_frac: 0.9, own_grid_connection: true"),
    ):
        file = tmp_path / "heat.yaml"
        file.write_text(text, encoding="utf-8")
        found = dcplan.plan(str(file), gap=0.02)
        power, flows = found.frame("power"), found.frame("flows")
        load_mw = power["facility_mw"] + power["heat_pump_mw"]
        charge = flows[flows["line"] == "demand charge"]["usd"].sum()
        assert charge == pytest.approx(load_mw.sum() * 1e3 * 3 * 5.0, rel=1e-9)
        book = tmp_path / "book.xlsx"
        book.write_bytes(workbook(found))
        values = summary(recalculated(zeroed(book)))
        assert values["cost.npv_usd"] == pytest.approx(found.value("cost.npv_usd"), rel=1e-9)
        costs.append((power["heat_pump_mw"].max(), charge))
    (pump, paid), (none, less) = costs
    assert pump > 0.1
    assert none == 0.0
    assert paid - less == pytest.approx(pump * 1e3 * 6 * 5.0, rel=1e-6)
