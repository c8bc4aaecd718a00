"""Batteries of 2, 4 and 8 hours at one site: the plan takes the one that costs least, by hand."""

from __future__ import annotations

import itertools
import math
from functools import cache
from pathlib import Path

import pytest

import dcplan
from dcplan.catalog.loader import load
from dcplan.catalog.schema import OnsitePower
from dcplan.result import Result

DURATIONS_H = (2, 4, 8)
TEXT = """\
dcplan: 1
name: durations
horizon: {{start: 2027-Q1, quarters: 4}}
finance: {{discount_rate: 0.09}}
sites:
  - id: a
    location: us-ashburn
    utility_mw: 0.1
    interruptible: [{{id: flex, mw: 60, hours_per_year: 100, event_h: {event_h}}}]
    onsite: [{onsite}]
    halls: [{{id: new, racks: 900, rack_kw_max: 50, it_mw: 40, cooling: [air-chiller], existing: true}}]
systems: [dgx-h200]
fabrics: [ib-ndr-400]
workloads:
  inference:
    - id: chat
      model: llama-3.1-70b
      isl: 2048
      osl: 512
      slo: {{ttft_ms: 1500, tpot_ms: 40}}
      tokens_per_s: [0, 0, 2.4e6, 2.4e6]
      kept_frac_without_site: 0
"""


@cache
def row(hours: int) -> OnsitePower:
    return load().get("onsite", f"lithium-battery-{hours}h", OnsitePower)


def plan(folder: Path, event_h: float, durations_h: tuple[int, ...]) -> Result:
    """Plan a service behind interruptible power, with batteries of some durations."""
    plants = ", ".join(f"{{id: {row(h).id}, max_mw: 60, lead_quarters: 1}}" for h in durations_h)
    file = folder / "durations.yaml"
    file.write_text(TEXT.format(event_h=event_h, onsite=plants), encoding="utf-8")
    return dcplan.plan(str(file))


def units(result: Result) -> dict[str, int]:
    rows = result.frame("onsite")
    return {
        str(x["source"]): int(x["units_ordered"])
        for x in rows.to_dict("records")
        if x["units_ordered"]
    }


def test_prices_by_duration_have_the_ratios_of_nrel() -> None:
    """ATB 2024, utility scale, USD/kW of 2 and 8 hours over that of 4 hours: 1,150.5 and 3,225.16 over
    1,842.05. A battery of 4 hours is 1,100 USD/kW, 22 USD/kW a year and 115 kg/kWh."""
    for hours, ratio in ((2, 1150.5 / 1842.05), (4, 1.0), (8, 3225.16 / 1842.05)):
        found = row(hours)
        assert found.capex_usd_per_kw.value == pytest.approx(1100 * ratio, abs=0.5)
        assert found.fixed_usd_per_kw_year.value == pytest.approx(22 * ratio, abs=0.05)
        assert found.embodied_kg_per_kw is not None
        assert found.embodied_kg_per_kw.value == 115 * hours
        assert found.hours is not None
        assert found.hours.value == hours


@pytest.fixture(scope="module")
def carried_mw(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Power carried through interruptions: a quarter of 100 h a year loses 25 h x (1 / 0.88 - 1) of it."""
    only = plan(tmp_path_factory.mktemp("one"), 1.0, (2,))
    lost_mwh = -only.frame("onsite")["generated_mwh"].min()
    return float(lost_mwh / (25 * (1 / 0.88 - 1)))


@pytest.mark.parametrize(("event_h", "most"), [(1.0, 2), (3.6, 4), (7.0, 8)])
def test_the_plan_takes_the_units_of_least_cost(
    event_h: float, most: int, carried_mw: float, tmp_path: Path
) -> None:
    """A unit of 1 MW and h hours has 98 % of its modules and carries min(1, h sqrt(0.88) / event) of them.
    Of all numbers of units of 2, 4 and 8 hours that carry the load, the plan buys the cheapest."""

    def carries_mw(h: int) -> float:
        return 0.98 * min(1.0, h * math.sqrt(0.88) / event_h)

    def usd(counts: tuple[int, ...]) -> float:
        pairs = zip(DURATIONS_H, counts, strict=True)
        return sum(n * row(h).capex_usd_per_kw.value for h, n in pairs)

    enough = (
        counts
        for counts in itertools.product(range(15), repeat=len(DURATIONS_H))
        if sum(n * carries_mw(h) for h, n in zip(DURATIONS_H, counts, strict=True)) >= carried_mw
    )
    cheapest = min(enough, key=usd)
    best = plan(tmp_path, event_h, DURATIONS_H)
    bought = units(best)
    assert tuple(bought.get(row(h).id, 0) for h in DURATIONS_H) == cheapest
    assert max(bought, key=lambda name: bought[name]) == row(most).id
    goods = {r["item"]: r["embodied_t"] for r in best.frame("embodied").to_dict("records")}
    for h, count in zip(DURATIONS_H, cheapest, strict=True):
        if count:
            assert goods[row(h).id] == pytest.approx(count * 115 * h)
