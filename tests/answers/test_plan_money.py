"""What the headline and the notes of a plan say about money."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.answers.plan.request import PlanRequest
from dcplan.errors import InputError
from dcplan.units import money
from tests.answers.one_hall import one_hall

ASSET = (
    "assets: [{id: old, system: dgx-h100, hall: h, accelerators: 96, in_service: 2025-Q1, "
    "may_sell: true, fabric: ib-ndr-400}]\n"
)


def test_sales_are_no_residual_value(tmp_path: Path) -> None:
    """All hardware is sold: nothing is owned at the end, and the headline says where money is from."""
    found = plan(one_hall(tmp_path, 40_000, ASSET))
    rows = [row for row in found.tables["flows"].records() if row["group"] == "residual"]
    sold = -sum(row["usd"] for row in rows if row["falls"] == "middle")
    left = -sum(row["usd"] for row in rows if row["falls"] == "end")
    assert sold > 0.0
    assert f"USD {money(sold)} from sales and USD {money(left)} residual value" in found.headline
    assert found.value("cost.residual_usd") == pytest.approx(sold + left)


def test_the_headline_names_what_a_commitment_pays_without_use(tmp_path: Path) -> None:
    """45.6 accelerators for a quarter are 6 instances of 8, for three years of 8,766 h: 1,262,304 h.

    100,000 h of them are used. A budget of 400,000 USD buys nothing.
    """
    cloud = "cloud: {offers: [coreweave-h200], terms: [reserved-3y]}\nfinance: {budget_usd: 4e5}\n"
    found = plan(one_hall(tmp_path, 100_000, cloud))
    hours = [x for x in found.tables["flows"].records() if x["used_quantity"] is not None]
    assert sum(x["quantity"] for x in hours) == pytest.approx(6 * 8 * 3 * 8_766)
    assert "(commitments pay 1.16 M more without use in this plan)" in found.headline


def test_a_plan_says_what_bears_no_property_tax(tmp_path: Path) -> None:
    """A shell of 0.5 MW x 1.5 at 8.5 M a MW is 6.375 M, two blocks of 2.5 MW at 800 a kW are 4 M."""
    tax = "finance: {tax: {property_tax_frac_per_year: 0.01}}\n"
    file = Path(one_hall(tmp_path, 100_000, tax))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("existing: true", "pue: 1.3, peak_pue: 1.5"), encoding="utf-8")
    said = "not on building, cooling, power of USD"
    found, plain = plan(str(file)), plan(str(file), sets=["finance={}"])
    (note,) = (str(x["message"]) for x in found.warnings if said in str(x["message"]))
    assert note.endswith("inside the fixed operating cost per kW, which the plan counts")
    assert not any("counts twice" in str(x["message"]) for x in found.warnings)
    assert not any("property_tax" in str(x["message"]) for x in plain.warnings)


def test_named_staff_replaces_the_lump_and_its_property_tax(tmp_path: Path) -> None:
    """With staff the lump of fixed cost is not paid, so plants bear no property tax without a rate."""
    tax = "finance: {tax: {property_tax_frac_per_year: 0.01}}\n"
    found = plan(taxed_site(tmp_path, tax, "staff: {people: 2}"))
    (note,) = (str(x["message"]) for x in found.warnings if "they bear none" in str(x["message"]))
    assert "give finance.tax.{building_property_tax_frac_per_year, cooling_" in note
    assert not any("inside the fixed operating cost" in str(x["message"]) for x in found.warnings)


def test_a_rate_of_buildings_next_to_the_lump_counts_twice(tmp_path: Path) -> None:
    tax = "finance: {tax: {property_tax_frac_per_year: 0.01, building_property_tax_frac_per_year: 0.01}}\n"
    found = plan(taxed_site(tmp_path, tax, "climate_zone: 4A"))
    (note,) = (str(x["message"]) for x in found.warnings if "counts twice" in str(x["message"]))
    assert note.startswith("finance.tax.building_property_tax_frac_per_year is already inside")
    assert any("not on cooling, power of USD" in str(x["message"]) for x in found.warnings)


LAND = """finance:
  discount_rate: 0
  tax: {building_property_tax_frac_per_year: 0.01, power_property_tax_frac_per_year: 0.02,
        land_property_tax_frac_per_year: 0.012}
"""


def taxed_site(tmp_path: Path, finance: str, land: str = "land_usd: 1e6") -> str:
    """A hall to be built, with work in five of six quarters."""
    file = Path(one_hall(tmp_path, 100_000, finance))
    text = file.read_text(encoding="utf-8").replace("quarters: 2", "quarters: 6")
    text = text.replace("existing: true", "pue: 1.3, peak_pue: 1.5")
    text = text.replace("[0, 100000]", "[0, 100000, 100000, 100000, 100000, 100000]")
    file.write_text(text.replace("    utility_mw", f"    {land}\n    utility_mw", 1), "utf-8")
    return str(file)


def test_plants_and_land_bear_property_tax_by_hand(tmp_path: Path) -> None:
    """Bought in month 3, taxed on the book value at the start of year 2, of which 6 months count.

    Shell 6.375 M x (1 - 9 / 240) x 1 % / 2 = 30,679.69. Blocks 4 M x (1 - 9 / 180) x 2 % / 2 = 38,000.
    Land 1 M x 1.2 % / 4 = 3,000 in each of the five quarters in which the hall is fitted.
    """
    found = plan(taxed_site(tmp_path, LAND))
    bought = {
        row["line"]: (row["quarter"], row["usd"])
        for row in found.tables["flows"].records()
        if row["group"] == "capex"
    }
    assert bought["building"] == ("2027-Q2", pytest.approx(6_375_000.0))
    assert bought["power blocks"] == ("2027-Q2", pytest.approx(4_000_000.0))
    steps = dict(found.tables["financing"].rows)
    assert steps["property tax"] == pytest.approx(30_679.6875 + 38_000.0)
    (land,) = (r for r in found.tables["cost"].records() if r["line"] == "property tax on land")
    assert land["usd"] == pytest.approx(5 * 3_000.0)


def test_land_without_a_rate_and_a_rate_without_land_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        plan(taxed_site(tmp_path, "finance: {discount_rate: 0}\n"))
    (problem,) = caught.value.problems
    assert (problem.code, problem.place.line) == ("DC015", 7)
    assert "the land has a value and no rate" in problem.cause
    with pytest.raises(InputError) as caught:
        plan(taxed_site(tmp_path, LAND, "climate_zone: 4A"))
    (problem,) = caught.value.problems
    assert problem.code == "DC015"
    assert "no site has land_usd" in problem.cause


EARLY = """dcplan: 1
name: early
horizon: {start: 2027-Q1, quarters: 8}
finance: {discount_rate: 0.09, residual: none, tax: {income_rate: 0.4, depreciation: bonus-100}}
objective: min_after_tax_cost
sites:
  - id: a
    location: us-ashburn
    utility_mw: 4
    halls: [{id: new, racks: 60, rack_kw_max: 40, it_mw: 1.5, cooling: [air-chiller]}]
systems: [dgx-h200]
fabrics: [ib-ndr-400]
workloads: {capacity: [{id: r, accelerator_hours: [0, 1e5, 1e5, 1e5, 2e5, 2e5, 2e5, 2e5], utilization_frac: 1}]}
"""
LATE = """objective: min_after_tax_cost
finance: {discount_rate: 0.09, payment: {acceptance_frac: 1.0, acceptance_months_after: 40}}
"""


def test_an_earlier_payment_may_cost_less_after_taxes(tmp_path: Path) -> None:
    """Written off at once: USD 1 paid in month 10 costs 0.934 - 0.4 x 0.921 = 0.566 after tax.

    Paid in month 13 it costs 0.914 - 0.4 x 0.845 = 0.576. A network that is bought for the end of the
    year and given back after it would earn the difference, so no plan was found.
    """
    file = tmp_path / "early.yaml"
    file.write_text(EARLY, encoding="utf-8")
    found = plan(str(file))
    assert found.status == "ok"
    bought = [r for r in found.tables["flows"].records() if r["line"] == "network"]
    assert sum(r["usd"] for r in bought) > 0.0


def test_hardware_below_no_cost_is_refused(tmp_path: Path) -> None:
    """Paid 40 months after delivery at 9 %, hardware costs 0.75 of its price; more of it is left."""
    with pytest.raises(InputError) as caught:
        plan(taxed_site(tmp_path, LATE, "climate_zone: 4A"))
    (problem,) = caught.value.problems
    assert (problem.code, problem.place.line) == ("DC015", 14)
    assert "costs less than nothing" in problem.cause
    assert plan(taxed_site(tmp_path, LATE.replace("min_after_tax_", "min_"), "climate_zone: 4A"))


CANCELED = """
dcplan: 1
name: canceled
horizon: {start: 2027-Q1, quarters: 8}
objective: min_after_tax_cost
finance:
  residual: low
  tax: {income_rate: 0.25, depreciation: macrs-5, property_tax_frac_per_year: 0.01}
sites:
  - id: paris
    location: fr-paris
    utility_mw: 3
    halls: [{id: a, existing: true, racks: 40, rack_kw_max: 45, it_mw: 1.5, cooling: [rear-door-tower]}]
systems: [dgx-h200]
fabrics: [ib-ndr-400]
orders:
  - {id: po-1, system: dgx-h200, accelerators: 64, expected: 2027-Q2, paid_frac: 0.3,
     cancellation_fee_frac: 0.05, price_usd: 300e3}
workloads: {capacity: [{id: research, accelerator_hours: [0, 1e4, 1e4, 1e4, 1e4, 1e4, 1e4, 1e4],
    utilization_frac: 0.8}]}
"""
"""2 racks of 4 nodes at 300,000 USD, of which one rack is enough: 1.2 M USD a rack, 0.36 M paid."""


def test_what_was_paid_for_an_order_is_prepaid_until_it_arrives_or_is_lost(tmp_path: Path) -> None:
    """720,000 are prepaid at the start. The canceled rack returns 0.25 x 1.2 M; 60,000 are the fee. The other one
    is an asset of 1.2 M in April, when the rest of it, 0.84 M, is due."""
    file = tmp_path / "canceled.yaml"
    file.write_text(CANCELED, encoding="utf-8")
    found = plan(PlanRequest(str(file), gap=0.02))
    assert "cancel 4 nodes dgx-h200 (po-1) with USD 300 k back in 2027-Q1" in found.headline
    rows = list(found.tables["statements"].records())
    assert [row["prepaid_usd"] for row in rows[:4]] == pytest.approx([360e3, 360e3, 360e3, 0.0])
    assert rows[0]["gain_usd"] == pytest.approx(-360e3)
    flows = {(x["line"], x["falls"]): x for x in found.tables["flows"].records()}
    refund, due = flows["cancellation po-1", "middle"], flows["order po-1", "middle"]
    assert (refund["usd"], refund["advance_usd"]) == pytest.approx((-300e3, 360e3))
    assert (due["usd"], due["advance_usd"]) == pytest.approx((840e3, 360e3))
    assert max(abs(float(row["difference_usd"] or 0.0)) for row in rows) < 0.01
