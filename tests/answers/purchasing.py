"""A scenario that buys a new hall, plants, racks of a maker with a quote, and commits to rent."""

from __future__ import annotations

from pathlib import Path

TEXT = """\
dcplan: 1
name: purchasing
horizon: {start: 2027-Q1, quarters: 6}
finance: {discount_rate: 0.09}
sites:
  - id: a
    location: us-ashburn
    utility_mw: [0.2, 0.2, 0.2, 0.2, 0.2, 0.2]
    onsite: [{id: reciprocating-engine-gas, max_mw: 10, lead_quarters: 1, spare_units: 0}]
    halls: [{id: new, racks: 60, rack_kw_max: 40, it_mw: 1.5, cooling: [air-chiller]}]
systems: [dgx-h200, mi325x-8]
fabrics: [ib-ndr-400, eth-400]
prices: {mi325x-8: {price_usd: 230e3}}
workloads:
  capacity:
    - id: research
      h100_equivalents: [100, 200, 200, 400, 400, 400]
      utilization_frac: 0.9
      reference: {model: llama-3.1-70b, seq_len: 8192, precision: bf16}
cloud:
  offers: [aws-p5en-48xlarge]
  terms: [on-demand, reserved-1y]
  prices: {aws-p5en-48xlarge: {reserved_1y_usd_per_h: 18, on_demand_usd_per_h: 60}}
  max_accelerators: 160
  leave_out: [storage, network-and-egress, cpu-nodes, support, set-up, debugging]
"""


def purchasing(folder: Path) -> str:
    """Write the scenario and return its file."""
    file = folder / "purchasing.yaml"
    file.write_text(TEXT, encoding="utf-8")
    return str(file)
