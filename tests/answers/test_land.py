"""Land in the answer of `plan`: purchase, cash flow, statements, taxes, and refused combinations."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.plan.request import PlanRequest
from dcplan.api.plan import plan
from dcplan.errors import InputError
from dcplan.result import Result

SCENARIO = """
dcplan: 1
name: plots
horizon: {start: 2027-Q1, quarters: 8}
objective: OBJECTIVE
sites:
  - id: field
    location: us-ashburn
    utility_mw: 3
    energy: {usd_per_kwh: FIELD_PRICE}
    LAND
    halls: &hall
      - {id: ai, EXISTING racks: 20, rack_kw_max: 60, it_mw: 1, pue: 1.2, peak_pue: 1.3, cooling: [rear-door-tower]}
  - {id: town, location: us-ashburn, utility_mw: TOWN_MW, energy: {usd_per_kwh: 0.09}, halls: *hall}
systems: [dgx-h200]
fabrics: [ib-ndr-400]
finance: {FINANCE}
workloads:
  capacity: [{id: research, accelerator_hours: [0, 5e5, 5e5, 5e5, 5e5, 5e5, 5e5, 5e5], utilization_frac: 0.8}]
"""
LAND = "land: {area_m2: 40e3, usd_per_m2: 250, growth_frac_per_year: 0.02}"
"""10 M USD; at the end, 7 quarters after April 2027, it is worth 10 x 1.02^(7/4) M USD."""
LEFT = 1.02**1.75


def answer(
    tmp_path: Path, land: str = LAND, finance: str = "discount_rate: 0.1", **more: str
) -> Result:
    words = {"FIELD_PRICE": "0.04", "TOWN_MW": "0", "EXISTING": "", "OBJECTIVE": "min_cost"} | more
    text = SCENARIO.replace("LAND", land).replace("{FINANCE}", "{" + finance + "}")
    for name, word in words.items():
        text = text.replace(name, word)
    file = tmp_path / "plots.yaml"
    file.write_text(text, encoding="utf-8")
    return plan(PlanRequest(str(file), gap=1e-4))


def rows(result: Result, table: str) -> list[dict[str, object]]:
    return [dict(row) for row in result.tables[table].records()]


def number(result: Result, key: str) -> float:
    return float(result.metrics[key].value or 0.0)


def test_land_is_a_purchase_a_cash_flow_and_a_residual_value(tmp_path: Path) -> None:
    """10 M USD in the second quarter, 10.353 M USD at the end; all lines give the net present cost."""
    found, free = answer(tmp_path), answer(tmp_path, land="")
    flows = [x for x in rows(found, "flows") if x["line"] == "land"]
    assert [x["usd"] for x in flows] == pytest.approx([10e6, -10e6 * LEFT])
    cost = {(x["group"], x["line"]): x["usd"] for x in rows(found, "cost")}
    assert cost["capex", "land"] == pytest.approx(10e6)
    (bought,) = [x for x in rows(found, "purchases") if x["item"] == "land"]
    assert (bought["place"], bought["amount_usd"]) == ("field", 10e6)
    assert (bought["terms"], bought["balance_month"]) == ("in full", "2027-04")
    capex = [
        (a["capex_usd"], b["capex_usd"])
        for a, b in zip(rows(found, "cash_flow"), rows(free, "cash_flow"), strict=True)
    ]
    assert [x - y for x, y in capex] == pytest.approx([0, 10e6, 0, 0, 0, 0, 0, 0])
    more = 10e6 * (1.1**-0.375 - LEFT * 1.1**-2)
    key = "cost.npv_usd"
    assert number(found, key) - number(free, key) == pytest.approx(more, abs=1.0)
    total = 0.0
    for x in rows(found, "flows"):
        quarter = 4 * (int(str(x["quarter"])[:4]) - 2027) + int(str(x["quarter"])[-1]) - 1
        years = (quarter + (1.0 if x["falls"] == "end" else 0.5)) / 4
        total += float(str(x["usd"])) * 1.1**-years
    assert number(found, key) == pytest.approx(total, rel=1e-9)


def test_land_keeps_its_cost_in_the_books_and_its_gain_is_taxed(tmp_path: Path) -> None:
    """At 20 % income tax only the gain at the end is taxed, in the last month: 0.2 x 0.353 M USD.

    The land is paid in April, month 4. The balance sheet has it at 10 M USD until December of the second year.
    """
    finance = "discount_rate: 0.1, tax: {income_rate: 0.2}"
    found = answer(tmp_path, finance=finance, OBJECTIVE="min_after_tax_cost")
    free = answer(tmp_path, land="", finance=finance, OBJECTIVE="min_after_tax_cost")
    month = [x["land_usd"] for x in rows(found, "statements")]
    assert month == pytest.approx([0.0] * 3 + [10e6] * 20 + [0.0])
    assert max(abs(float(str(x["difference_usd"]))) for x in rows(found, "statements")) < 0.01
    written = [
        (a["depreciation_usd"], b["depreciation_usd"])
        for a, b in zip(rows(found, "statements"), rows(free, "statements"), strict=True)
    ]
    assert [x for x, _ in written] == pytest.approx([y for _, y in written], abs=1.0)
    sold, gain = 10e6 * LEFT, 10e6 * (LEFT - 1.0)
    more = 10e6 * 1.1 ** (-3.5 / 12) - sold * 1.1**-2 + 0.2 * gain * 1.1 ** (-23.5 / 12)
    key = "cost.after_tax_npv_usd"
    assert number(found, key) - number(free, key) == pytest.approx(more, abs=1.0)


def test_debt_is_borrowed_for_land(tmp_path: Path) -> None:
    """Half of the land is borrowed in its month, and the balance sheet balances."""
    finance = "discount_rate: 0.1, debt: {share: 0.5, rate: 0.08, term_years: 4}"
    found, free = answer(tmp_path, finance=finance), answer(tmp_path, land="", finance=finance)
    drawn = [
        (a["debt_drawn_usd"], b["debt_drawn_usd"])
        for a, b in zip(rows(found, "cash_flow"), rows(free, "cash_flow"), strict=True)
    ]
    assert [x - y for x, y in drawn] == pytest.approx([0, 5e6, 0, 0, 0, 0, 0, 0])
    assert max(abs(float(str(x["difference_usd"]))) for x in rows(found, "statements")) < 0.01


def test_property_tax_is_on_the_price_without_an_assessed_value(tmp_path: Path) -> None:
    """1 % of 10 M USD a year in 7 of 8 quarters: 175,000 USD; of an assessed 4 M USD, 70,000 USD."""
    finance = "discount_rate: 0.1, tax: {land_property_tax_frac_per_year: 0.01}"
    for land, usd in ((LAND, 175e3), (f"{LAND}\n    land_usd: 4e6", 70e3)):
        found = answer(tmp_path, land=land, finance=finance)
        (tax,) = [x["usd"] for x in rows(found, "cost") if x["line"] == "property tax on land"]
        assert tax == pytest.approx(usd)


def test_expensive_land_moves_the_plan_to_the_other_site(tmp_path: Path) -> None:
    """The field saves 5 cents a kWh; 10 M USD of land cost more, 0.1 M USD less."""
    for price, site in (("250", "town"), ("2.5", "field")):
        land = LAND.replace("250", price)
        found = answer(tmp_path, land=land, TOWN_MW="3")
        chosen = {x["site"]: x for x in rows(found, "sites")}
        assert [name for name, x in chosen.items() if x["chosen"]] == [site]
        assert chosen["field"]["land_price_usd"] == pytest.approx(40e3 * float(price))


@pytest.mark.parametrize(
    ("land", "more", "cause"),
    [
        ("land: {area_m2: 40e3}", {}, "an area without a price of a square meter"),
        ("land: {usd: 1e6, area_m2: 40e3, usd_per_m2: 3}", {}, "land has two prices"),
        ("land: {growth_frac_per_year: 0.01}", {}, "land has no price"),
        (LAND, {"EXISTING": "existing: true,"}, "the site has a hall that exists"),
        (f"{LAND}\n    lease: {{usd_per_kw_month: 150}}", {}, "the site is leased"),
    ],
)
def test_land_without_one_price_or_without_land_to_buy_is_refused(
    land: str, more: dict[str, str], cause: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as refused:
        answer(tmp_path, land=land, **more)
    (problem,) = refused.value.problems
    assert problem.code == "DC015"
    assert cause in problem.cause
