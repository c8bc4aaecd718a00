"""A given fleet against the power and the network that it finds: shown before solving."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.explain.answer import explain
from dcplan.answers.plan.answer import plan

FLEET = """\
dcplan: 1
name: fleet
horizon: {start: 2027-Q1, quarters: 2}
sites:
  - id: s
    location: us-ashburn
    utility_mw: 1.0
    interruptible: [{id: x, mw: EXTRA, hours_per_year: 100}]
    halls:
      - {id: h, existing: true, racks: 64, rack_kw_max: 42, it_mw: 2, cooling: [airside-economizer-air-chiller]}
systems: []
fleet: {system: dgx-h200, accelerators: 1024}
fabric: {id: ib-ndr-400, topology: fat-tree, tiers: TIERS}
"""


@pytest.fixture
def write(tmp_path: Path):
    def make(extra: float, tiers: int) -> Path:
        file = tmp_path / "fleet.yaml"
        file.write_text(
            FLEET.replace("EXTRA", str(extra)).replace("TIERS", str(tiers)), encoding="utf-8"
        )
        return file

    return make


def test_interruptible_power_carries_a_fleet(write) -> None:
    """128 DGX H200 of 10.2 kW are 1.3 MW before any cooling: too much for 1 MW of firm grid, not
    with 3 MW beside."""
    short, enough = plan(write(0.1, 2)), plan(write(3, 2))
    assert short.exit_code == 3
    assert "the fleet needs" in short.headline
    assert enough.exit_code == 0


def test_a_network_that_ends_too_soon_is_named(write) -> None:
    """One tier is one switch of 64 ports; the fleet has 1,024."""
    found = plan(write(3, 1))
    assert found.exit_code == 3
    assert "the fleet has 1,024 NIC ports" in found.headline


EXISTING = """\
dcplan: 1
name: held
horizon: {start: 2027-Q1, quarters: 2}
sites:
  - id: s
    location: us-ashburn
    utility_mw: 2
    halls:
      - {id: h, existing: true, racks: 40, rack_kw_max: 42, it_mw: 1, cooling: [airside-economizer-air-chiller]}
fabrics: [ib-ndr-400]
systems: [dgx-h200]
assets:
  - {id: old, system: dgx-h100, accelerators: 256, in_service: 2025-Q1, fabric: ib-ndr-400, may_sell: false}
workloads:
  capacity: [{id: r, accelerator_hours: 400000, utilization_frac: 1}]
"""


def test_what_stands_there_serves_before_anything_can_be_ordered(tmp_path: Path) -> None:
    """400,000 hours of a quarter of 2,191.5 are 182.5 accelerators; 256 are there, and nothing can
    be bought for Q1."""
    file = tmp_path / "held.yaml"
    file.write_text(EXISTING, encoding="utf-8")
    assert plan(file).exit_code == 0


def test_why_not_of_a_system_beside_assets(tmp_path: Path) -> None:
    """A forced system stays orderable where plainer plans close a hall to all others; where it
    cannot be, no plan."""
    file = tmp_path / "held.yaml"
    file.write_text(EXISTING.replace("400000", "[400000, 900000]"), encoding="utf-8")
    row = explain(file, why_not=["dgx-h200"], resolve_limits=0).tables["why_not"].records()[0]
    assert row["system"] == "dgx-h200"
    assert (
        explain(file, why_not=["dgx-b200"], resolve_limits=0)
        .tables["why_not"]
        .records()[0]["npv_usd"]
        is None
    )
