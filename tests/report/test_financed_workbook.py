"""The pages of taxes, debt and statements in a plan's workbook are live: other engines find the
printed cost after taxes and debt, edited or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import openpyxl
import pytest

from dcplan.answers.imports.workbook import import_book
from dcplan.api.plan import plan
from dcplan.report.book.financing.source import financed_source
from dcplan.report.book.financing.write import PAGES, plan_book
from dcplan.report.book.grid import FIRST, HEAD
from dcplan.report.book.source import source_of
from dcplan.report.book.write import workbook
from dcplan.report.redact import redacted
from dcplan.result import Result
from dcplan.units import quarter_index
from tests.report.books import by_libreoffice, cells, edited, recalculated, summary, zeroed

SAME = 1e-9
COST = "cost.after_tax_npv_usd"
STAGED = """
dcplan: 1
name: staged
objective: min_after_tax_cost
horizon: {start: 2027-Q3, quarters: 6}
finance:
  discount_rate: 0.11
  residual: {value: 0.15, low: 0.1, high: 0.2, source: own}
  tax: {income_rate: 0.25, depreciation: macrs-5, sales_tax_frac: 0.05, property_tax_frac_per_year: 0.015,
        building_property_tax_frac_per_year: 0.011, cooling_property_tax_frac_per_year: 0.012,
        power_property_tax_frac_per_year: 0.013, land_property_tax_frac_per_year: 0.014}
  debt: {share: 0.6, rate: 0.08, term_years: 1.0}
  payment: {deposit_frac: 0.3, deposit_months_before: 5, acceptance_frac: 0.1, acceptance_months_after: 2}
sites:
  - id: own
    location: us-columbus
    utility_mw: 4
    land_usd: 2e6
    land: {area_m2: 20e3, usd_per_m2: 150, growth_frac_per_year: 0.03}
    energy: {usd_per_kwh: 0.07, demand_usd_per_kw_month: 9}
    halls: [{id: a, racks: 80, rack_kw_max: 45, it_mw: 2.4, cooling: [rear-door-tower]}]
systems: [dgx-h200]
fabrics: [ib-ndr-400]
storage: {usable_pb: 3}
workloads:
  capacity:
    - {id: research, pflops_delivered: [0, 20, 30, 40, 60, 60], utilization_frac: 0.6,
       reference: {model: llama-3.1-70b, seq_len: 8192}}
"""
"""Deposits before the horizon, a loan that ends within it, an own building; taxes decide the plan."""
RENEWED = """
dcplan: 1
name: renewed
horizon: {start: 2027-Q1, quarters: 6}
finance:
  residual: {value: 0.15, low: 0.1, high: 0.2, source: own}
  tax: {income_rate: 0.21, property_tax_frac_per_year: 0.012}
  debt: {share: 0.5, rate: 0.09, term_years: 4}
sites:
  - id: frankfurt
    location: de-frankfurt
    utility_mw: [4, 4, 6, 6, 9, 9]
    halls:
      - {id: old-air, existing: true, racks: 120, rack_kw_max: 34, it_mw: 1.8, cooling: [air-chiller]}
      - {id: liquid, existing: true, racks: 24, rack_kw_max: 160, it_mw: 3, air_mw: 0.6,
         cooling: [direct-liquid-dry-cooler]}
systems: [gb200-nvl72]
fabrics: [ib-ndr-400, eth-800]
assets:
  - {id: h100-2023, system: dgx-h100, hall: old-air, accelerators: 512, in_service: 2023-Q4, fabric: ib-ndr-400,
     price_usd: {value: 290e3, source: "invoice 2023-11"}, may_sell: true}
orders:
  - {id: po-1, system: gb200-nvl72, hall: liquid, accelerators: 288, placed: 2026-Q4, expected: 2027-Q3,
     paid_frac: 0.2, cancellation_fee_frac: 0.3}
workloads:
  capacity:
    - {id: research, h100_equivalents: [200, 200, 500, 600, 700, 900], utilization_frac: 1,
       reference: {model: llama-3.1-70b, seq_len: 8192, precision: bf16}}
"""
"""Hardware in service that is sold, an order that is paid on arrival; the objective is before tax."""
LEASED = STAGED.replace("name: staged", "name: leased").replace(
    "sites:\n",
    """  leases:
    - {id: short, term_months: 9, payment_frac_per_month: {value: 0.018, low: 0.016, high: 0.02, source: offer}}
    - {id: long, systems: [dgx-h200], term_months: 24, rate: 0.07, residual_frac: 0.4}
sites:
""",
    1,
)
"""The first scenario with two leases: racks of one go back within the horizon."""
SITED = (
    STAGED.replace("name: staged", "name: sited")
    .replace(
        "systems:",
        """  - id: free
    location: us-columbus
    utility_mw: 4
    land_usd: 1e6
    energy: {usd_per_kwh: 0.07, demand_usd_per_kw_month: 9}
    tax: {sales_tax_frac: 0.0, property_tax_frac_per_year: 0.004, building_property_tax_frac_per_year: 0.002,
          power_property_tax_frac_per_year: 0.003, land_property_tax_frac_per_year: 0.005}
    halls: [{id: b, racks: 40, rack_kw_max: 45, it_mw: 0.3, cooling: [rear-door-tower]}]
sites_min: 2
systems:""",
        1,
    )
    .replace("it_mw: 2.4,", "it_mw: 0.3,", 1)
)
"""The first scenario with a second site, which has taxes of its own; the plan needs both."""
SCENARIOS = {"staged": STAGED, "renewed": RENEWED, "leased": LEASED, "sited": SITED}
EDITS = {
    "staged": {
        "finance.tax.income_rate": 0.26,
        "finance.discount_rate": 0.105,
        "finance.debt.share": 0.55,
        "finance.debt.rate": 0.083,
        "finance.payment.deposit_frac": 0.33,
        "finance.tax.property_tax_frac_per_year": 0.012,
        "finance.tax.building_property_tax_frac_per_year": 0.009,
        "finance.tax.cooling_property_tax_frac_per_year": 0.01,
        "finance.tax.power_property_tax_frac_per_year": 0.008,
        "finance.tax.land_property_tax_frac_per_year": 0.016,
        "sites.own.land_usd": 2.1e6,
        "sites.own.land.usd_per_m2": 163.0,
        "finance.residual": 0.16,
        "systems.dgx-h200.price_usd": 352_000.0,
    },
    "renewed": {
        "finance.tax.income_rate": 0.24,
        "finance.discount_rate": 0.101,
        "finance.debt.share": 0.6,
        "finance.debt.rate": 0.07,
        "finance.debt.term_years": 3.5,
        "finance.residual": 0.155,
    },
}
EDITS["leased"] = {
    "finance.tax.income_rate": 0.26,
    "finance.discount_rate": 0.105,
    "finance.debt.share": 0.55,
    "finance.leases.short.payment_frac_per_month": 0.0177,
    "systems.dgx-h200.price_usd": 352_000.0,
}
EDITS["sited"] = {
    "finance.tax.income_rate": 0.26,
    "finance.debt.share": 0.55,
    "finance.tax.sales_tax_frac": 0.048,
    "finance.tax.cooling_property_tax_frac_per_year": 0.01,
    "sites.free.tax.sales_tax_frac": 0.001,
    "sites.free.tax.property_tax_frac_per_year": 0.005,
    "sites.free.tax.building_property_tax_frac_per_year": 0.003,
    "sites.free.tax.power_property_tax_frac_per_year": 0.004,
    "sites.free.tax.land_property_tax_frac_per_year": 0.006,
}
STATED = {
    "operating cost": "operating_usd",
    "book depreciation": "depreciation_usd",
    "gain on sales": "gain_usd",
    "income tax on the result": "tax_expense_usd",
    "result after tax": "result_usd",
    "capital paid": "capital_paid_usd",
    "income tax paid": "tax_paid_usd",
    "debt service less new debt": "debt_paid_usd",
    "received for sales": "sold_usd",
    "paid in by owners": "contributed_usd",
    "book value held": "book_value_usd",
    "prepaid": "prepaid_usd",
    "debt": "debt_usd",
    "deferred tax": "deferred_tax_usd",
    "equity": "equity_usd",
    "balance check": "difference_usd",
}
"""Row of the workbook, and the column of the answer's statements."""


class Made(NamedTuple):
    """A scenario, its plan and its workbook."""

    name: str
    scenario: str
    result: Result
    file: Path


@pytest.fixture(scope="module", params=list(EDITS))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A plan with taxes and debt, and its workbook."""
    folder = tmp_path_factory.mktemp("financed")
    name = str(request.param)
    scenario = folder / f"{name}.yaml"
    scenario.write_text(SCENARIOS[name], encoding="utf-8")
    result = plan(str(scenario))
    file = folder / "book.xlsx"
    file.write_bytes(workbook(result))
    return Made(name, str(scenario), result, file)


def changed(made: Made, edits: Mapping[str, float]) -> Result:
    return plan(made.scenario, sets=[f"{key}={value!r}" for key, value in edits.items()])


def assert_same(found: Mapping[str, float], result: Result) -> None:
    """Compare the cost before and after taxes and debt with an answer, to 1e-9 of each."""
    for key in (COST, "cost.npv_usd"):
        assert found[key] == pytest.approx(result.metrics[key].value, rel=SAME), key


def test_with_zeroed_caches_another_engine_finds_the_printed_cost(made: Made) -> None:
    bare = zeroed(made.file)
    assert summary(bare)[COST] == 0.0
    assert_same(summary(recalculated(bare)), made.result)


def test_edited_inputs_give_the_cost_of_a_new_run(made: Made) -> None:
    """The edits are small, so that a new run chooses the same plan."""
    edits = EDITS[made.name]
    found = summary(recalculated(edited(made.file, edits)))
    assert found[COST] != pytest.approx(made.result.metrics[COST].value, rel=1e-6)
    assert_same(found, changed(made, edits))


@pytest.mark.slow
def test_each_edited_input_gives_the_cost_of_a_new_run(made: Made) -> None:
    before = summary(made.file)[COST]
    for key, value in EDITS[made.name].items():
        found = summary(recalculated(edited(made.file, {key: value})))
        assert found[COST] != pytest.approx(before, rel=1e-9), key
        assert_same(found, changed(made, {key: value}))


@pytest.mark.office
@pytest.mark.slow
def test_libreoffice_finds_the_printed_cost_and_that_of_a_new_run(
    made: Made, tmp_path: Path
) -> None:
    assert_same(summary(by_libreoffice(zeroed(made.file), tmp_path)), made.result)
    edits = EDITS[made.name]
    assert_same(summary(by_libreoffice(edited(made.file, edits), tmp_path)), changed(made, edits))


def test_statements_by_month_are_those_of_the_answer(made: Made) -> None:
    book = plan_book(financed_source(source_of(made.result)))
    rows = {row.label: row for row in book.statements.rows if row.series is not None}
    answer = made.result.tables["statements"].records()
    at = {int(month) + 1: i for i, month in enumerate(book.source.axis.months)}
    assert {row["month"] for row in answer} <= set(at)
    for label, column in STATED.items():
        found = [float(rows[label].values[at[int(str(row["month"]))]]) for row in answer]
        assert found == pytest.approx([row[column] for row in answer], rel=SAME, abs=1e-5), label
    interest = rows["interest"].values + rows["interest of the last half-month"].values
    assert interest.sum() == pytest.approx(sum(float(str(row["interest_usd"])) for row in answer))
    assert np.all(rows["balance check"].values == 0.0)


def test_pages_of_financing_follow_the_cash_flow_and_no_check_fails(made: Made) -> None:
    names = openpyxl.load_workbook(made.file, read_only=True).sheetnames
    at = names.index("Cashflow") + 1
    assert tuple(names[at : at + len(PAGES)]) == PAGES
    again = cells(recalculated(zeroed(made.file)), values=True)
    assert not [at for at, value in again.items() if str(value).startswith("#")]
    verdicts = [v for (sheet, place), v in again.items() if sheet == "Checks" and place[0] == "D"]
    assert set(verdicts) == {"Result", "OK"}


def test_a_payment_out_of_balance_turns_the_check(made: Made, tmp_path: Path) -> None:
    """The debt of one month, overwritten."""
    opened = openpyxl.load_workbook(made.file)
    sheet = opened["Statements"]
    (row,) = (r for r in range(HEAD, sheet.max_row + 1) if sheet.cell(r, 1).value == "debt")
    sheet.cell(row, FIRST + 9).value = 1.0
    opened.save(tmp_path / "wrong.xlsx")
    again = cells(recalculated(tmp_path / "wrong.xlsx"), values=True)
    labels = {at[1:]: v for (s, at), v in again.items() if s == "Checks" and at[0] == "A"}
    wrong = [
        labels[at[1:]]
        for (s, at), v in again.items()
        if s == "Checks" and at[0] == "D" and v == "CHECK" and at[1:] in labels
    ]
    assert wrong == ["the balance sheet of plan balances in every month", "All checks"]


def test_edits_come_back_as_overrides_and_exports_are_the_same_bytes(made: Made) -> None:
    answer, text = import_book(edited(made.file, EDITS[made.name]))
    assert answer.metrics["rows.imported"].value == len(EDITS[made.name])
    assert "finance.tax.income_rate" in text
    assert workbook(made.result) == made.file.read_bytes()


def test_with_existing_hardware_the_service_life_cannot_be_edited(made: Made) -> None:
    """It sets when the hardware retires; the residual value alone can be edited."""
    live = {row["key"]: row for row in made.result.tables["book_live"].records()}
    (life,) = (x for x in live if str(x).startswith("finance.hardware") and "life" in str(x))
    assert (live[life]["set_as"] is None) == (made.name == "renewed")
    assert (live[life]["fixed_because"] is not None) == (made.name == "renewed")
    assert live["finance.residual"]["set_as"] == "finance.residual"


def test_what_existing_hardware_brings_by_hand(made: Made) -> None:
    """512 accelerators for 290,000 USD each eight, from 2023-Q4 on: 1 - 0.85 x age / 5 years."""
    if made.name != "renewed":
        return
    book = plan_book(financed_source(source_of(made.result)))
    flows = made.result.tables["flows"].records()
    sold = [row for row in flows if row["line"] == "sale h100-2023"]
    (line,) = (row for row in book.running if row.label == "sale h100-2023")
    assert sold
    for row in sold:
        t = quarter_index(str(row["quarter"])) - quarter_index("2027-Q1")
        share = 1 - 0.85 * (13 + t + 0.5) / 4 / 5
        racks = row["usd"] / (-290_000.0 * share)  # a rack has one or more nodes of eight
        assert racks == pytest.approx(round(racks), rel=1e-9)
        assert line.values[3 * t] == pytest.approx(row["usd"], rel=1e-12)


def test_without_taxes_or_debt_the_workbook_has_no_such_pages(tmp_path: Path) -> None:
    """Nor has the result: a redacted plan has no data of formulas."""
    bare = "".join(
        line
        for line in STAGED.splitlines(keepends=True)
        if not line.startswith(
            ("objective", "  tax", " " * 8, "  debt", "  payment", "    land_usd")
        )
    )
    file = tmp_path / "bare.yaml"
    file.write_text(bare, encoding="utf-8")
    result = plan(str(file))
    book = tmp_path / "bare.xlsx"
    book.write_bytes(workbook(result))
    assert not set(PAGES) & set(openpyxl.load_workbook(book, read_only=True).sheetnames)
    with pytest.raises(ValueError, match="unredacted"):
        workbook(redacted(result))
