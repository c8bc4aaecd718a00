"""The purchase schedule: its amounts are those of the plan's cost, its payments and dates by hand."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import pytest

import dcplan
from dcplan.answers.plan.tables.excluded import speed_tflops
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import System
from dcplan.report.redact import redacted
from dcplan.result import Result
from dcplan.specs.plan.money import CASH_FLOW, COST
from dcplan.specs.plan.purchases import PURCHASES, PurchaseRow
from tests.answers.one_hall import one_hall
from tests.answers.purchasing import purchasing
from tests.plans import planned

CENT = 0.005
MILESTONES = (
    "finance.payment={deposit_frac: 0.3, deposit_months_before: 6, acceptance_frac: 0.1, "
    "acceptance_months_after: 2}"
)


@pytest.fixture(scope="module")
def bought(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A plan with a new hall, a plant on site and commitments to rent."""
    return dcplan.plan(purchasing(tmp_path_factory.mktemp("purchasing")))


@pytest.fixture(scope="module")
def paid_in_parts() -> Result:
    return planned("starter", sets=[MILESTONES])


@pytest.fixture(scope="module")
def renewed() -> Result:
    """A plan with hardware on order, debt, and rent on demand with its support and storage."""
    rent = "cloud.leave_out=[set-up, debugging]"  # at their full cost the plan rents nothing
    return planned("fleet-renewal", sets=["uncertainty.samples=20", rent])


def rows(result: Result) -> list[PurchaseRow]:
    return PURCHASES.rows(result.tables["purchases"])


def test_the_engine_on_site_has_the_embodied_carbon_of_its_class(bought: Result) -> None:
    """One engine of 2.5 MW x 656 kg/kW (242 to 1,071) is 1,640 t (605 to 2,677.5), in the sum too."""
    items = bought.frame("embodied").to_dict("records")
    engine = next(x for x in items if x["item"] == "reciprocating-engine-gas")
    assert (engine["quantity"], engine["value"]) == (2500.0, "class of equipment")
    found = (engine["embodied_t"], engine["low_t"], engine["high_t"])
    assert found == pytest.approx((1640.0, 605.0, 2677.5))
    assert bought.value("carbon.embodied_t") == pytest.approx(sum(x["embodied_t"] for x in items))
    year = bought.frame("sustainability")
    goods = year[year["indicator"] == "scope 3 category 2, capital goods"]["value"]
    assert goods.astype(float).sum() == pytest.approx(bought.value("carbon.embodied_t"))


@pytest.mark.parametrize("name", ["bought", "paid_in_parts", "renewed"])
def test_the_amounts_are_the_lines_of_the_plans_cost(
    name: str, request: pytest.FixtureRequest
) -> None:
    result: Result = request.getfixturevalue(name)
    by_line: dict[str, float] = defaultdict(float)
    rent = 0.0
    for row in rows(result):
        if row.group == "capex":
            by_line[row.line] += row.amount_usd
        else:
            rent += row.amount_usd
    cost = COST.rows(result.tables["cost"])
    capital = {x.line: x.usd for x in cost if x.group == "capex"}
    assert by_line.keys() == capital.keys()
    assert all(abs(by_line[line] - usd) < CENT for line, usd in capital.items())
    assert sum(by_line.values()) == pytest.approx(result.value("cost.capex_usd"), abs=CENT)
    assert rent == pytest.approx(
        sum(x.usd for x in cost if x.group in ("cloud", "post_horizon")), abs=CENT
    )
    assert bool(rent) == (name != "paid_in_parts")


@pytest.mark.parametrize("name", ["bought", "paid_in_parts", "renewed"])
def test_parts_of_a_price_add_up_and_units_give_the_amount(
    name: str, request: pytest.FixtureRequest
) -> None:
    for row in rows(request.getfixturevalue(name)):
        parts = row.deposit_usd + row.balance_usd + row.acceptance_usd
        assert parts == pytest.approx(row.amount_usd, abs=CENT)
        assert row.quantity * row.unit_price_usd == pytest.approx(row.amount_usd, abs=CENT)


@pytest.mark.parametrize("name", ["bought", "renewed"])
def test_without_payment_terms_the_balance_falls_in_the_quarter_of_the_plans_capital_cost(
    name: str, request: pytest.FixtureRequest
) -> None:
    result: Result = request.getfixturevalue(name)
    due: dict[str, float] = defaultdict(float)
    for row in rows(result):
        if row.group == "capex":
            year, month = row.balance_month.split("-")
            due[f"{year}-Q{(int(month) + 2) // 3}"] += row.balance_usd
    for x in CASH_FLOW.rows(result.tables["cash_flow"]):
        assert due.get(x.quarter, 0.0) == pytest.approx(x.capex_usd, abs=CENT)


def test_deposit_balance_and_acceptance_of_the_starter(paid_in_parts: Result) -> None:
    """29 racks of 2 systems at 515,000 USD each: 29.87 M USD. In service from April 2027; 30 % six
    months before, 10 % two months after, the rest on delivery."""
    (row,) = [x for x in rows(paid_in_parts) if x.item == "dgx-b200"]
    assert (row.vendor, row.quantity, row.unit_price_usd) == ("NVIDIA", 29, 1_030_000.0)
    assert row.contents == "58 nodes, 464 accelerators"
    assert row.deposit_usd == pytest.approx(8.961e6, abs=CENT)
    assert row.balance_usd == pytest.approx(17.922e6, abs=CENT)
    assert row.acceptance_usd == pytest.approx(2.987e6, abs=CENT)
    dates = (row.deposit_month, row.order_month, row.delivery_month, row.acceptance_month)
    assert dates == ("2026-10", "2027-01", "2027-04", "2027-06")
    assert row.balance_month == "2027-04"
    assert row.note == "the deposit is due before the order of the plan"
    (hall,) = [x for x in rows(paid_in_parts) if x.line == "cooling and fit-out"]
    assert (hall.deposit_usd, hall.terms) == (0.0, "in full")  # terms are of equipment


def test_a_new_hall_is_ordered_before_it_is_paid(bought: Result) -> None:
    """47 weeks of switchgear before 1 April 2027 are 7 May 2026."""
    (hall,) = [x for x in rows(bought) if x.item == "building"]
    assert (hall.order_month, hall.delivery_month) == ("2026-05", "2027-04")
    assert hall.lead_months == pytest.approx(47 * 7 / 30.4375)
    assert "Cushman & Wakefield" in hall.lead_source
    assert hall.note == "must be ordered before the plan starts in 2027-01"
    (plant,) = [x for x in rows(bought) if x.unit == "plants"]
    assert (plant.order_month, plant.delivery_month) == ("2027-07", "2027-10")
    assert plant.lead_source == "scenario"


def test_a_commitment_is_listed_as_it_is_paid(bought: Result) -> None:
    """13 nodes of 8 accelerators for 4 quarters of 2,191.5 hours at 18 / 8 USD: 512,811 a quarter."""
    name = "aws-p5en-48xlarge reserved-1y"
    found = [x for x in rows(bought) if x.item == name and x.order_month == "2027-01"]
    assert [x.quarter for x in found] == ["2027-Q1", "2027-Q2", "2027-Q3", "2027-Q4"]
    assert [x.balance_month for x in found] == ["2027-01", "2027-04", "2027-07", "2027-10"]
    each = 13 * 8 * 2191.5 * 18 / 8
    assert [x.amount_usd for x in found] == pytest.approx(4 * [each], abs=CENT)
    for x in found:
        assert (x.vendor, x.contents) == ("aws", "13 nodes, 104 accelerators")
        assert x.terms == "committed, paid by quarter, 2027-Q1 to 2027-Q4"


@pytest.mark.parametrize("name", ["bought", "renewed"])
def test_rent_by_quarter_is_that_of_the_cash_flow(
    name: str, request: pytest.FixtureRequest
) -> None:
    result: Result = request.getfixturevalue(name)
    due: dict[str, float] = defaultdict(float)
    for row in rows(result):
        if row.group == "cloud":
            due[row.quarter] += row.amount_usd
    cash = CASH_FLOW.rows(result.tables["cash_flow"])
    for x in cash:
        assert due.pop(x.quarter, 0.0) == pytest.approx(x.cloud_usd, abs=CENT)
    later = [x for x in rows(result) if x.quarter in due]  # only what is due after the horizon
    assert all(x.note == "paid after the horizon" for x in later)
    after = sum(x.usd for x in COST.rows(result.tables["cost"]) if x.group == "post_horizon")
    assert sum(due.values()) == pytest.approx(after, abs=CENT)


def test_an_order_of_before_the_plan_has_its_balance_on_arrival(renewed: Result) -> None:
    """4 racks at 3.4 M USD, 20 % paid: 2.72 M USD a rack in July 2027."""
    (row,) = [x for x in rows(renewed) if x.line == "order po-1"]
    assert (row.quantity, row.unit_price_usd, row.terms) == (4, 2.72e6, "on arrival")
    assert (row.order_month, row.balance_month, row.lead_months) == ("", "2027-07", None)


def test_the_alternative_does_the_same_rate_with_whole_racks(paid_in_parts: Result) -> None:
    catalog = load_catalog(())
    (row,) = [x for x in rows(paid_in_parts) if x.item == "dgx-b200"]
    other = catalog.get("systems", row.alternative, System)
    assert row.alternative == "dgx-h200"
    assert row.alternative_difference_usd is not None
    assert other.price_usd is not None
    # what air cools in a rack: 2 nodes of 8 accelerators
    ratio = speed_tflops(catalog, "b200-sxm") / speed_tflops(catalog, other.accelerator)
    racks = (row.amount_usd + row.alternative_difference_usd) / (2 * other.price_usd.value)
    assert racks == pytest.approx(math.ceil(464 * ratio / 16), abs=1e-6)


def test_a_redacted_schedule_has_no_amounts(bought: Result) -> None:
    for row in rows(redacted(bought)):
        assert (row.amount_usd, row.unit_price_usd, row.balance_usd) == (None, None, None)
        assert row.alternative_difference_usd is None
        assert row.item


def test_a_fabric_that_later_racks_outgrow_is_no_alternative(tmp_path: Path) -> None:
    """46 accelerators fit on one switch of 64 ports, 92 of a later quarter do not."""
    file = Path(one_hall(tmp_path, 100_000))
    text = file.read_text(encoding="utf-8")
    grown = text.replace("[0, 100000]", "[0, 100000, 200000]").replace("quarters: 2", "quarters: 3")
    networks = {}
    for name, words in (("one order", text), ("grown", grown)):
        file.write_text(words, encoding="utf-8")
        found = rows(dcplan.plan(str(file)))
        networks[name] = [x for x in found if x.line == "network"]
    (one,) = networks["one order"]
    assert {one.item, one.alternative} == {"ib-ndr-400/1t", "ib-ndr-400/2t"}
    assert [x.item for x in networks["grown"]] == ["ib-ndr-400/2t"] * 2
    assert not any(x.alternative.endswith("/1t") for x in networks["grown"])
