"""A plan as FOCUS rows: what is billed, what an asset costs in service, and every column."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from dataclasses import replace

import pytest

from dcplan.economics.cash_flow import NO_CASH, AssetClass, FlowGroup, Unit
from dcplan.report.focus.charges import UNITS, charges_of
from dcplan.report.focus.export import focus_csv
from dcplan.report.focus.payments import Payment
from dcplan.report.focus.rows import COLUMNS, row_of
from dcplan.result import Result, Table
from dcplan.specs.plan.money import FLOWS, Falls, FlowRow
from tests.plans import planned

CENT = 0.005
PLANS = (
    "own-or-rent-1024-h200",
    "fleet-renewal",
    pytest.param("services-two-sites", marks=pytest.mark.slow),
)
"""A given fleet with debt; sales, an order on its way and rent; two sites with rent."""
QUARTER = 8109
"""2027-Q2, counted from year 0."""
RACKS = Payment(
    quarter=QUARTER,
    group=FlowGroup.CAPEX,
    line="racks x",
    asset=AssetClass.RACKS,
    site="a",
    provider="",
    at_end=False,
    usd=600.0,
    term="",
    item="x",
    place="a/b",
    quantity=4.0,
    unit=Unit.RACK,
    used=None,
    serves_from=QUARTER + 1,
    life_months=60,
)
COMMITTED = replace(
    RACKS,
    group=FlowGroup.CLOUD,
    asset=AssetClass.OTHER,
    site="",
    provider="aws",
    term="reserved-1y",
    place="us-east-2",
    usd=35_064.0,
    quantity=17_532.0,
    used=13_149.0,
    unit=Unit.ACCELERATOR_HOUR,
    serves_from=QUARTER,
    life_months=None,
)
"""8 accelerators at 2 USD: 17,532 h and 35,064 USD a quarter; 3/4 of the hours are used."""

REFUND = replace(
    RACKS,
    line="cancellation old",
    asset=AssetClass.OTHER,
    usd=-150e3,
    quantity=2.0,
    serves_from=None,
    life_months=None,
)
"""2 racks of 1.5 M USD, 20 % paid and a fee of 15 %: 0.05 x 3 M USD come back."""


def rows_of(result: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(focus_csv(result))))


def plan_of(name: str) -> Result:
    return planned(name, gap=0.05)


def months_of(quarter: str) -> list[str]:
    """Return the three charge periods of a quarter."""
    year, q = quarter.split("-Q")
    return [f"{year}-{3 * int(q) - 2 + i:02d}-01T00:00:00Z" for i in range(3)]


def paid_of(flow: FlowRow) -> bool:
    """Whether a flow is money that changes hands in the horizon: cash out, or a real sale."""
    sold = flow.group == FlowGroup.RESIDUAL and flow.falls == Falls.MIDDLE
    return sold or FlowGroup(flow.group) not in NO_CASH


@pytest.mark.parametrize("name", PLANS)
def test_the_bill_of_each_month_and_site_is_the_cash_paid_less_real_sales(name: str) -> None:
    result = plan_of(name)
    cash: dict[tuple[str, str], float] = defaultdict(float)
    for flow in filter(paid_of, FLOWS.rows(result.tables["flows"])):
        months = months_of(flow.quarter)
        set_up = flow.group == FlowGroup.CLOUD and flow.unit == Unit.ACCELERATOR
        once = set_up or flow.group in (FlowGroup.CAPEX, FlowGroup.RESIDUAL)
        for month in months[:1] if once else months:
            cash[month, flow.site] += flow.usd if once else flow.usd / 3
    billed: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows_of(result):
        if row["x_AfterHorizon"] == "false":
            billed[row["ChargePeriodStart"], row["x_SiteId"]] += float(row["BilledCost"])
    assert {k: v for k, v in billed.items() if v} == pytest.approx(cash, abs=CENT)
    costs = ("capex_usd", "energy_usd", "opex_usd", "cloud_usd")
    spent = sum(float(r[c] or 0) for r in result.tables["cash_flow"].records() for c in costs)
    sold = sum(f.usd for f in FLOWS.rows(result.tables["flows"]) if f.line.startswith("sale "))
    assert sum(billed.values()) == pytest.approx(spent + sold, abs=CENT)


@pytest.mark.parametrize("name", PLANS)
def test_the_cost_of_an_asset_over_its_life_is_its_bill(name: str) -> None:
    bill: dict[str, float] = defaultdict(float)
    cost: dict[str, float] = defaultdict(float)
    for row in rows_of(plan_of(name)):
        if row["x_Group"] == "capex":
            bill[row["ResourceId"]] += float(row["BilledCost"])
            cost[row["ResourceId"]] += float(row["EffectiveCost"])
    assert bill
    assert cost == pytest.approx(bill, abs=CENT)


def test_racks_cost_the_same_each_month_from_the_first_month_in_service() -> None:
    """600 USD ordered in 2027-Q2, in service from 2027-Q3, 60 months: 10 USD a month."""
    charges = [row_of(c, "s", end=12 * 2030) for c in charges_of(RACKS)]
    bought, used = charges[0], charges[1:]
    assert (bought["ChargePeriodStart"], bought["BilledCost"], bought["EffectiveCost"]) == (
        "2027-04-01T00:00:00Z",
        600.0,
        0.0,
    )
    assert (bought["PricingQuantity"], bought["PricingUnit"], bought["ListUnitPrice"]) == (
        4.0,
        "Racks",
        150.0,
    )
    assert {(r["BilledCost"], r["EffectiveCost"]) for r in used} == {(0.0, 10.0)}
    assert (used[0]["ChargePeriodStart"], used[-1]["ChargePeriodEnd"], len(used)) == (
        "2027-07-01T00:00:00Z",
        "2032-07-01T00:00:00Z",
        60,
    )
    assert (used[0]["ConsumedQuantity"], used[0]["ConsumedUnit"], used[0]["ListUnitPrice"]) == (
        4.0,
        "Rack-Months",
        2.5,
    )
    assert {r["ResourceId"] for r in charges} == {"a/b/x/2027-Q2"}
    assert {r["SkuId"] for r in charges} == {"x"}


def test_the_plan_that_sells_nothing_has_no_credit() -> None:
    rows = rows_of(plan_of("own-or-rent-1024-h200"))
    assert {r["ChargeCategory"] for r in rows} == {"Purchase", "Usage"}
    assert min(float(r["BilledCost"]) for r in rows) >= 0.0
    racks = [r for r in rows if r["x_Line"] == "racks dgx-h200"]
    # 32 racks of 4 nodes at 350,000 USD, 5 years
    assert sum(float(r["BilledCost"]) for r in racks) == pytest.approx(128 * 350_000)
    assert float(racks[-1]["EffectiveCost"]) == pytest.approx(128 * 350_000 / 60)


def test_a_sale_is_a_credit_at_its_price() -> None:
    result = plan_of("fleet-renewal")
    sales = [f for f in FLOWS.rows(result.tables["flows"]) if f.line.startswith("sale ")]
    credits = [r for r in rows_of(result) if r["ChargeCategory"] == "Credit"]
    assert len(sales) == 1
    (sale,), (credit,) = sales, credits
    assert credit["ChargePeriodStart"] == months_of(sale.quarter)[0]
    for column in ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost"):
        assert float(credit[column]) == pytest.approx(sale.usd)
    assert sale.usd < 0
    assert sale.quantity is not None
    assert float(credit["PricingQuantity"]) == -sale.quantity
    assert float(credit["ListUnitPrice"]) == pytest.approx(-sale.usd / sale.quantity)


def test_a_refund_corrects_the_purchase_that_was_paid_before_the_plan() -> None:
    (row,) = (row_of(c, "s", end=12 * 2030) for c in charges_of(REFUND))
    assert (row["ChargeCategory"], row["ChargeClass"]) == ("Purchase", "Correction")
    assert row["BilledCost"] == row["EffectiveCost"] == row["ListCost"] == -150e3
    assert (row["PricingQuantity"], row["ListUnitPrice"]) == (-2.0, 75e3)
    (fee,) = (row_of(c, "s", end=12 * 2030) for c in charges_of(replace(REFUND, usd=150e3)))
    assert (fee["ChargeCategory"], fee["ChargeClass"]) == ("Purchase", None)


def test_a_commitment_is_billed_each_month_and_costs_as_used_and_unused_hours() -> None:
    rows = [row_of(c, "s", end=12 * 2030) for c in charges_of(COMMITTED)]
    assert len(rows) == 9  # a purchase, used and unused hours, in three months
    bought, used, unused = rows[:3]
    assert [r["CommitmentDiscountStatus"] for r in (bought, used, unused)] == [
        *(None, "Used", "Unused")
    ]
    assert [r["BilledCost"] for r in (bought, used, unused)] == [11_688.0, 0.0, 0.0]
    assert [r["EffectiveCost"] for r in (bought, used, unused)] == [0.0, 8_766.0, 2_922.0]
    assert [r["CommitmentDiscountQuantity"] for r in (bought, used, unused)] == [
        *(5_844.0, 4_383.0, 1_461.0)
    ]
    assert [r["PricingCategory"] for r in (bought, used, unused)] == [
        *("Standard", "Committed", "Committed")
    ]
    assert [r.get("ConsumedQuantity") for r in rows[:3]] == [*(None, 4_383.0, None)]
    assert {r["CommitmentDiscountId"] for r in rows} == {"aws/us-east-2/x/reserved-1y/2027-Q2"}
    assert {r["ListUnitPrice"] for r in rows} == {2.0}


def test_spot_is_priced_dynamically() -> None:
    spot = replace(RACKS, group=FlowGroup.CLOUD, term="spot", provider="aws", life_months=None)
    assert {row_of(c, "s", end=0)["PricingCategory"] for c in charges_of(spot)} == {"Dynamic"}


def test_the_unit_and_the_provider_make_the_service_not_the_text_of_a_line() -> None:
    def service(asset: AssetClass, unit: Unit, provider: str = "") -> tuple[object, object]:
        paid = replace(RACKS, line="network", asset=asset, unit=unit, provider=provider)
        row = row_of(next(iter(charges_of(paid))), "s", end=0)
        return row["ServiceCategory"], row["ProviderName"]

    assert service(AssetClass.RACKS, Unit.RACK) == ("Compute", "on-prem")
    assert service(AssetClass.NETWORK, Unit.LOT) == ("Networking", "on-prem")
    assert service(AssetClass.STORAGE, Unit.LOT) == ("Storage", "on-prem")
    assert service(AssetClass.EXISTING, Unit.RACK) == ("Compute", "on-prem")
    assert service(AssetClass.EXISTING, Unit.LOT) == ("Storage", "on-prem")
    assert service(AssetClass.COOLING, Unit.HALL) == ("Other", "on-prem")
    assert service(AssetClass.OTHER, Unit.ACCELERATOR_HOUR, "lambda") == ("Compute", "lambda")


def test_a_result_without_flows_is_refused() -> None:
    with pytest.raises(ValueError, match="only a plan"):
        focus_csv(Result("train", "ok", 0, "", tables={"x": Table((), ())}))


def test_flows_of_an_earlier_version_are_refused() -> None:
    old = Table(("quarter", "group", "line", "site", "falls", "usd"), ())
    cash = Table(("quarter",), ())
    with pytest.raises(ValueError, match=r"asset, provider, .*run dcplan plan again"):
        focus_csv(Result("plan", "ok", 0, "", tables={"flows": old, "cash_flow": cash}))


def test_every_payment_of_a_plan_has_goods_and_every_asset_a_life() -> None:
    flows = FLOWS.rows(plan_of("fleet-renewal").tables["flows"])
    assert {f.asset for f in flows} >= {
        *(AssetClass.NETWORK, AssetClass.COOLING, AssetClass.EXISTING, AssetClass.GRID_ENERGY)
    }
    for flow in filter(paid_of, flows):
        assert flow.item
        assert flow.unit
        assert flow.quantity
        if flow.group == FlowGroup.CAPEX and flow.asset != AssetClass.OTHER:
            assert flow.life_months
            assert flow.serves_from >= flow.quarter
    # catalogs/finance/parameters.yaml: cooling lives 15 years, hardware 5
    lives = {f.asset: f.life_months for f in flows if f.life_months}
    assert (lives["cooling"], lives["network"]) == (180, 60)
    assert {f.provider for f in flows if f.group == "cloud"} <= {"aws"}


def test_columns_are_in_the_order_of_the_specification() -> None:
    own = [c for c in COLUMNS if c.startswith("x_")]
    assert list(COLUMNS) == [*sorted(set(COLUMNS) - set(own)), *sorted(own)]


def test_every_unit_of_goods_has_a_name_in_focus() -> None:
    assert set(UNITS) == set(Unit)
