"""The cost of a plan is that of its workbook and of `tco`, before and after taxes and debt."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.answers.plan.request import PlanRequest
from dcplan.answers.tco.answer import tco
from dcplan.answers.tco.request import TcoRequest
from dcplan.api.plan import plan as planned
from dcplan.report.book.write import workbook
from dcplan.specs.tco import costs
from tests.report.books import recalculated, summary, zeroed

BASE = "train-405b-in-90-days.yaml"
TAX = "finance.tax={income_rate: 0.25, depreciation: macrs-5, sales_tax_frac: 0.06}"
DEBT = "finance.debt={share: 0.6, rate: 0.08, term_years: 4}"
DUE = "finance.payment={deposit_frac: 0.3, deposit_months_before: 9, acceptance_frac: 0.1, acceptance_months_after: 2}"
CASES = {
    "taxes": [TAX],
    "debt": [DEBT],
    "payment terms": [DUE],
    "all": [TAX, DEBT, DUE],
    "no residual value": [TAX, DEBT, "finance.residual=none"],
    "property tax": ["finance.tax={income_rate: 0.3, property_tax_frac_per_year: 0.02}"],
}


GAP = 0.004
"""Gap at which both verbs find one plan; at 0.005 one of them buys its power blocks a quarter earlier."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_both_verbs_give_one_cost(name: str) -> None:
    """The steps of both start at the plan's cost and end at the same cost."""
    file, sets = str(Path("scenarios") / BASE), tuple(CASES[name])
    own = plan(PlanRequest(file, sets=sets, gap=GAP))
    other = tco(TcoRequest(file, sets=sets, gap=GAP))
    usd = float(own.metrics["cost.after_tax_npv_usd"].value or 0.0)
    assert usd == pytest.approx(float(other.metrics["owned.npv_usd"].value or 0.0), rel=1e-9)
    steps = dict(own.tables["financing"].rows)
    total = sum(float(x or 0.0) for x in list(steps.values())[:-1])
    assert total == pytest.approx(usd, rel=1e-9)
    table = own.tables["statements"]
    at = table.columns.index("difference_usd")
    assert max(abs(float(row[at] or 0.0)) for row in table.rows) <= 1e-2


HEAD = """
dcplan: 1
name: one-cost
objective: min_after_tax_cost
horizon: {start: 2027-Q1, quarters: 5}
systems: [mi325x-8]
fabrics: [eth-400]
"""
QUARTERS = ["2027-Q1", "2027-Q2", "2027-Q3", "2027-Q4", "2028-Q1"]
AIR = "{id: air, existing: true, racks: 60, rack_kw_max: 34, it_mw: 1.8, cooling: [air-chiller]}"
SHELL = "{id: new, racks: 60, rack_kw_max: 34, it_mw: 1.8, modules: 3, cooling: [air-chiller]}"
WORK = """
workloads:
  capacity:
    - {id: research, pflops_delivered: WANTED, utilization_frac: 0.6, MORE
       reference: {model: llama-3.1-70b, seq_len: 8192}}
"""
RENT = """
cloud: {offers: [aws-p5en-48xlarge], terms: [on-demand, reserved-1y], egress_tb_per_month: 15}
"""
DEAR_RENT = RENT.replace(
    "15}", "15, prices: {aws-p5en-48xlarge: {on_demand_usd_per_h: 90, reserved_1y_usd_per_h: 70}}}"
)
BATCH = """    - {id: batch, pflops_delivered: [3, 3, 3, 3, 3], utilization_frac: 0.6, usd_per_unmet_quarter: 1000,
       reference: {model: llama-3.1-70b, seq_len: 8192}}"""
"""Work that is worth less than any hardware."""


def scenario(
    hall: str, finance: str, wanted: str, *, site: str = "", more: str = "", end: str = ""
) -> str:
    """Return a scenario with one site and one demand."""
    place = (
        f"sites:\n  - {{id: s, location: de-frankfurt, utility_mw: 4, {site} halls: [{hall}]}}\n"
    )
    work = WORK.replace("WANTED", wanted).replace("MORE", more)
    terms = finance.replace("{", "{discount_rate: 0.1, ", 1)
    return f"{HEAD}finance: {terms}\n{place}{work}{end}"


LEASE = "lease: {usd_per_kw_month: 150, escalator_frac_per_year: 0.03}, staff: {people: 2},"
ASSETS = """
assets:
  - {id: old, system: mi325x-8, accelerators: 48, site: s, hall: air, in_service: 2026-Q1, may_sell: true}
"""
SCENARIOS = {
    "rent and commitments, taxes": scenario(
        AIR,
        "{tax: {income_rate: 0.21, depreciation: macrs-5, sales_tax_frac: 0.05}}",
        "[0, 40, 60, 20, 20]",
        end=RENT,
    ),
    "new hall in modules, debt": scenario(
        SHELL, "{debt: {share: 0.6, rate: 0.08, term_years: 3}}", "[0, 0, 50, 50, 50]"
    ),
    "lease and payment terms": scenario(
        AIR,
        "{payment: {deposit_frac: 0.3, deposit_months_before: 4, acceptance_frac: 0.1, acceptance_months_after: 2}}",
        "[0, 40, 40, 40, 40]",
        site=LEASE,
    ),
    "unserved demand, property tax": scenario(
        AIR,
        "{tax: {income_rate: 0.3, property_tax_frac_per_year: 0.02}}",
        "[10, 40, 60, 20, 20]",
        more="usd_per_unmet_quarter: 60000,",
    ),
    "plants and land, property tax": scenario(
        SHELL,
        "{tax: {income_rate: 0.3, building_property_tax_frac_per_year: 0.012, "
        "cooling_property_tax_frac_per_year: 0.01, power_property_tax_frac_per_year: 0.011, "
        "land_property_tax_frac_per_year: 0.015}}",
        "[0, 0, 50, 50, 50]",
        site="land_usd: 3e6, staff: {people: 2},",
    ),
    "assets that may be sold": scenario(
        AIR, "{tax: {income_rate: 0.25}, residual: none}", "[10, 10, 30, 30, 30]", end=ASSETS
    ),
    "everything": scenario(
        SHELL,
        "{tax: {income_rate: 0.25, depreciation: straight-line-5}, debt: {share: 0.5, rate: 0.09, term_years: 2}}",
        "[20, 20, 60, 60, 60]",
        more="usd_per_unmet_quarter: 100000,",
        end=BATCH + DEAR_RENT,
    ),
}
"""Seven scenarios that differ in what they own, rent, sell, build, owe and leave unserved."""
PAID_FOR = {
    "rent and commitments, taxes": {"capex", "cloud"},
    "unserved demand, property tax": {"capex", "unserved"},
    "everything": {"capex", "cloud", "unserved"},
}
"""Groups of payments without which a scenario would not test what its name says."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_plan_workbook_and_tco_have_one_net_present_cost(name: str, tmp_path: Path) -> None:
    """Before taxes in the plan, its workbook recalculated, and the first step of tco; after taxes in
    the plan and tco: 1e-9 relative."""
    file = tmp_path / "one-cost.yaml"
    file.write_text(SCENARIOS[name], encoding="utf-8")
    own, other = planned(str(file), gap=0.0), tco(TcoRequest(str(file), gap=0.0))
    assert (own.status, other.status) == ("ok", "ok")
    before, after = own.metrics["cost.npv_usd"].value, own.metrics["cost.after_tax_npv_usd"].value
    book = tmp_path / "book.xlsx"
    book.write_bytes(workbook(own))
    assert summary(recalculated(zeroed(book)))["cost.npv_usd"] == pytest.approx(before, rel=1e-9)
    assert other.metrics["hybrid.npv_usd"].value == pytest.approx(after, rel=1e-9)
    paid, *_ = costs.BRIDGE.rows(other.tables["bridge"])
    rows = own.tables["flows"].records()
    assert PAID_FOR.get(name, {"capex"}) <= {r["group"] for r in rows}
    unserved = sum(
        float(str(r["usd"])) * 1.1 ** -((QUARTERS.index(str(r["quarter"])) + 0.5) / 4)
        for r in rows
        if r["group"] == "unserved"
    )
    assert paid.usd + unserved == pytest.approx(before, rel=1e-9)
