"""A scenario of one hall whose only work is a demand of accelerator-hours in its last quarter."""

from __future__ import annotations

from pathlib import Path

TEXT = """\
dcplan: 1
name: one-hall
horizon: {start: 2027-Q1, quarters: 2}
sites:
  - id: s
    location: us-ashburn
    utility_mw: 1
    halls:
      - {id: h, existing: true, racks: 20, rack_kw_max: 42, it_mw: 0.5, cooling: [airside-economizer-air-chiller]}
systems: [dgx-h200]
fabrics: [ib-ndr-400]
"""
SUPPLY = "supply: [{system: dgx-h200, racks_per_quarter: 4, lead_quarters: 1}]\n"
"""A vendor that delivers 4 racks of 2 nodes of 8 accelerators, which is what air cools: 64."""


def one_hall(folder: Path, hours: int, more: str = "") -> str:
    """Write the scenario with a demand of ``hours``, and more sections; return the file."""
    work = f"{{id: r, accelerator_hours: [0, {hours}], utilization_frac: 1}}"
    file = folder / "one-hall.yaml"
    file.write_text(f"{TEXT}{more}workloads:\n  capacity:\n    - {work}\n", encoding="utf-8")
    return str(file)
