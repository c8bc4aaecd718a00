"""A relaxed limit never gives a clearly worse plan: plans on a grid of utility power.

A plan for less power is a plan for more power too. So its cost is not below the bound for more power,
and with a proved gap g the plan for more power costs at most as much divided by 1 - g.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from dcplan.answers.plan.answer import plan
from tests.planning.test_single_system import TEXT

GRID_MW = [round(2.0 + 0.1 * i, 1) for i in range(11)]
GAP = 0.01
MIXED = TEXT.replace("SYSTEMS", "[dgx-h100, dgx-h200]").replace("PARTS", "{}")
POWER = """
dcplan: 1
name: power
horizon: {start: 2027-Q1, quarters: 8}
sites:
  - id: fra
    location: de-frankfurt
    utility_mw: 2
    halls:
HALLS
systems: [dgx-h100, dgx-h200]
prices: {dgx-h200: {price_usd: 300e3}, dgx-h100: {price_usd: 250e3}}
fabrics: [ib-ndr-400]
workloads:
  capacity:
    - id: research
      accelerator_hours: [1.6e5, 3.2e5, 4.0e5, 6.4e5, 8.0e5, 9.6e5, 1.0e6, 1.0e6]
      utilization_frac: 0.6
  inference:
    - {id: chat, tokens_per_s: 1.0e5, peak_factor: 2,
       tokens_per_s_per_accelerator: {dgx-h100: 4000, dgx-h200: 5200, aws-p5en-48xlarge: 5200}}
cloud: {offers: [aws-p5en-48xlarge], max_accelerators: 640}
"""
HALL = (
    "      - {id: NAME, existing: OLD, racks: RACKS, rack_kw_max: 45, it_mw: MW,"
    " cooling: [air-chiller]}"
)


def halls(*rows: tuple[str, str, int, float]) -> str:
    """Name, whether it exists, rack positions and IT power of each hall."""
    return "\n".join(
        HALL.replace("NAME", name)
        .replace("OLD", old)
        .replace("RACKS", str(racks))
        .replace("MW", str(mw))
        for name, old, racks, mw in rows
    )


ONE = POWER.replace("HALLS", halls(("h", "true", 120, 3.0)))
THREE = POWER.replace(
    "HALLS", halls(("h", "true", 60, 1.5), ("n", "false", 40, 1.0), ("m", "false", 30, 0.8))
)
SCENARIOS = [
    pytest.param(MIXED, id="mixed"),
    pytest.param(ONE, id="one hall"),
    pytest.param(THREE, id="three halls"),
]


def planned_usd(folder: Path, text: str, mw: float) -> tuple[float, float]:
    """Cost of the plan, whose status says that the gap is proved, and the bound."""
    file = folder / f"at-{mw}.yaml"
    file.write_text(text.replace("utility_mw: 2\n", f"utility_mw: {mw}\n"), encoding="utf-8")
    found = plan(file, gap=GAP)
    assert found.status == "ok"
    value, bound = (found.metrics[x].value for x in ("cost.npv_usd", "solver.bound_usd"))
    assert isinstance(value, float)
    assert isinstance(bound, float)
    return value, bound


@pytest.mark.slow
@pytest.mark.parametrize("text", SCENARIOS)
def test_more_power_never_gives_a_clearly_worse_plan(text: str, tmp_path: Path) -> None:
    found = {mw: planned_usd(tmp_path, text, mw) for mw in GRID_MW}
    worse, refuted = [], []
    for a, b in itertools.combinations(GRID_MW, 2):
        less, (value, bound) = found[a][0], found[b]
        if value > less / (1.0 - GAP) + 1e-9:
            worse.append(f"{a} MW: {less:,.0f} USD, {b} MW: {value:,.0f} USD")
        if bound > less * (1.0 + 1e-9):
            refuted.append(f"{a} MW: {less:,.0f} USD, bound at {b} MW: {bound:,.0f} USD")
    assert worse == []
    assert refuted == []
