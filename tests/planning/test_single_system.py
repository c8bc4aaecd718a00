"""Halls that mix systems: each system alone is tried; limits of parts are met in whole switches."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.plan.answer import plan

TEXT = """
dcplan: 1
name: mixed
horizon: {start: 2027-Q1, quarters: 4}
sites:
  - id: fra
    location: de-frankfurt
    utility_mw: 2
    halls: [{id: h, existing: true, racks: 60, rack_kw_max: 45, it_mw: 1.5, cooling: [air-chiller]}]
systems: SYSTEMS
prices: {dgx-h200: {price_usd: 300e3}, dgx-h100: {price_usd: 250e3}}
fabrics: [ib-ndr-400]
parts_per_quarter: PARTS
workloads:
  capacity: [{id: research, accelerator_hours: [5.0e4, 1.0e5, 1.5e5, 1.5e5], utilization_frac: 0.6}]
  inference:
    - {id: chat, tokens_per_s: 1.0e5, peak_factor: 2,
       tokens_per_s_per_accelerator: {dgx-h100: 4000, dgx-h200: 5200, aws-p5en-48xlarge: 5200}}
cloud: {offers: [aws-p5en-48xlarge], max_accelerators: 2048}
"""


def cost(folder: Path, systems: str, parts: str = "{}") -> tuple[int, float | None]:
    file = folder / "mixed.yaml"
    file.write_text(TEXT.replace("SYSTEMS", systems).replace("PARTS", parts), encoding="utf-8")
    result = plan(file, gap=0.01)
    value = result.metrics.get("cost.npv_usd")
    return result.exit_code, float(value.value or 0.0) if value else None


def test_more_systems_to_choose_from_cost_no_more(tmp_path: Path) -> None:
    both = cost(tmp_path, "[dgx-h100, dgx-h200]")[1]
    alone = [cost(tmp_path, f"[{s}]")[1] for s in ("dgx-h100", "dgx-h200")]
    assert both is not None
    assert both <= min(x for x in alone if x is not None) * 1.01


@pytest.mark.parametrize("switches", [0, 6, 11, 16])
def test_few_switches_end_in_a_plan_that_keeps_them(tmp_path: Path, switches: int) -> None:
    code, value = cost(tmp_path, "[dgx-h100]", f"{{switches: {switches}}}")
    assert code == 0
    assert value is not None
    free = cost(tmp_path, "[dgx-h100]")[1]
    assert value >= (free or 0.0) * 0.99
