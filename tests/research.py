"""A scenario of research capacity that may be owned or rented, on one existing hall."""

from __future__ import annotations

HALL = """
sites:
  - id: frankfurt
    location: de-frankfurt
    utility_mw: 4
    halls: [{id: air, existing: true, racks: 60, rack_kw_max: 34, it_mw: 1.8, cooling: [air-chiller]}]
systems: [mi325x-8]
fabrics: [eth-400]
workloads:
  capacity:
    - {id: research, pflops_delivered: [0, 40, 60, 20], utilization_frac: 0.6,
       reference: {model: llama-3.1-70b, seq_len: 8192}}
cloud:
  offers: [aws-p5en-48xlarge]
  terms: [on-demand, reserved-1y]
  max_accelerators: 2048
  max_accelerators_per_offer: 2048
"""
BOTH = f"""
dcplan: 1
name: both
horizon: {{start: 2027-Q1, quarters: 4}}
finance: {{tax: {{income_rate: 0.21, depreciation: macrs-5, sales_tax_frac: 0.05}}}}
{HALL.strip()}
"""
EARLY = BOTH.replace("[0, 40, 60, 20]", "[10, 40, 60, 20]")
"""The same with work in the first quarter, in which no order serves yet."""
TAXED = f"""
dcplan: 1
name: taxed
horizon: {{start: 2027-Q1, quarters: 4}}
finance:
  tax: {{income_rate: 0.21, depreciation: macrs-5, sales_tax_frac: 0.05, property_tax_frac_per_year: 0.01}}
  debt: {{share: 0.5, rate: 0.08, term_years: 3}}
{HALL.strip()}
"""
