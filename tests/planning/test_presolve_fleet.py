"""A given fleet against the power and the network that it finds: shown before solving."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.plan import plan

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
        file.write_text(FLEET.replace("EXTRA", str(extra)).replace("TIERS", str(tiers)), encoding="utf-8")
        return file

    return make


def test_interruptible_power_carries_a_fleet(write) -> None:
    """128 DGX H200 of 10.2 kW are 1.3 MW before any cooling: too much for 1 MW of firm grid, not with 3 MW beside."""
    short, enough = plan(write(0.1, 2)), plan(write(3, 2))
    assert short.exit_code == 3
    assert "the fleet draws" in short.headline
    assert enough.exit_code == 0


def test_a_network_that_ends_too_soon_is_named(write) -> None:
    """One tier is one switch of 64 ports; the fleet has 1,024."""
    found = plan(write(3, 1))
    assert found.exit_code == 3
    assert "the fleet has 1,024 NIC ports" in found.headline
