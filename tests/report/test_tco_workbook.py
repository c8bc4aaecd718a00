"""The workbook of a comparison is live: other engines find the answer's figures, edited or not."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
import yaml

from dcplan.answers.imports.workbook import import_book
from dcplan.api.tco import tco
from dcplan.report.book.tco.source import tco_source
from dcplan.report.book.tco.write import computed
from dcplan.report.book.write import workbook
from dcplan.report.html.page import page
from dcplan.report.redact import redacted
from dcplan.result import Result
from tests.report.books import cells, edited, recalculated
from tests.report.compared_books import (
    SAME,
    Made,
    assert_each_edit_changes,
    assert_edits_change,
    assert_green,
    assert_libreoffice,
    assert_live,
    assert_same,
    figures,
)

PACKAGED = "own-or-rent-1024-h200"
HARD = """
dcplan: 1
name: hard
horizon: {start: 2027-Q3, quarters: 10}
finance:
  discount_rate: 0.12
  hardware_life_years: 4
  residual: {value: 0.15, low: 0.1, high: 0.2, source: own}
  tax: {income_rate: 0.25, depreciation: straight-line-5, sales_tax_frac: 0.05, property_tax_frac_per_year: 0.015}
  debt: {share: 0.6, rate: 0.08, term_years: 2}
  payment: {deposit_frac: 0.3, deposit_months_before: 5, acceptance_frac: 0.1, acceptance_months_after: 2}
sites:
  - id: own
    location: us-columbus
    utility_mw: 4
    energy: {usd_per_kwh: 0.07, demand_usd_per_kw_month: 9}
    halls: [{id: a, racks: 80, rack_kw_max: 45, it_mw: 2.4, cooling: [rear-door-tower]}]
fleet: {system: dgx-h200, accelerators: 504, utilization_frac: 0.55}
fabric: {id: ib-ndr-400}
storage: {usable_pb: 3}
cloud:
  offers: [aws-p5en-48xlarge, coreweave-h200]
  terms: [on-demand, reserved-1y, reserved-3y, spot, capacity-block]
  prices: {aws-p5en-48xlarge: {spot_usd_per_h: 25, capacity_block_usd_per_h: 40}}
  price_change_frac_per_year: -0.1
"""
"""Milestones before the horizon, a loan that ends within it, an own building, cut-off commitments."""
EDITS = {
    PACKAGED: {
        "systems.dgx-h200.price_usd": 381_500.0,
        "sites.colo.energy.usd_per_kwh": 0.091,
        "finance.discount_rate": 0.085,
        "finance.tax.income_rate": 0.27,
        "cloud.prices.coreweave-h200.reserved_3y_usd_per_h": 17.5,
        "finance.debt.share": 0.65,
    },
    "hard": {
        "finance.residual": 0.3,
        "finance.hardware_life_years": 4.28,
        "finance.payment.deposit_frac": 0.45,
        "finance.payment.acceptance_frac": 0.5,
        "finance.debt.term_years": 1.5,
        "fleet.utilization_frac": 0.71,
        "cloud.prices.coreweave-h200.reserved_3y_usd_per_h": 23.5,
        "prices.building-life-years.value": 25.0,
        "prices.support-of-aws.value": 0.03,
    },
}


@pytest.fixture(scope="module")
def packaged() -> Result:
    """The comparison of the packaged scenario."""
    return tco(PACKAGED)


@pytest.fixture(scope="module", params=[PACKAGED, "hard"])
def made(
    request: pytest.FixtureRequest, packaged: Result, tmp_path_factory: pytest.TempPathFactory
) -> Made:
    """A comparison and its workbook."""
    folder = tmp_path_factory.mktemp("tco")
    (folder / "hard.yaml").write_text(HARD, encoding="utf-8")
    name = PACKAGED if request.param == PACKAGED else str(folder / "hard.yaml")
    result = packaged if name == PACKAGED else tco(name)
    file = folder / "book.xlsx"
    file.write_bytes(workbook(result))
    return Made(name, result, file)


def edits_of(made: Made) -> dict[str, float]:
    return EDITS[PACKAGED if made.scenario == PACKAGED else "hard"]


def test_with_zeroed_caches_another_engine_finds_the_answers_figures(made: Made) -> None:
    assert_live(made, least_figures=20)


def test_edited_inputs_give_the_figures_of_a_new_run(made: Made) -> None:
    assert_edits_change(made, edits_of(made))


@pytest.mark.slow
def test_each_edited_input_gives_the_figures_of_a_new_run(made: Made) -> None:
    assert_each_edit_changes(made, edits_of(made))


@pytest.mark.office
@pytest.mark.slow
def test_libreoffice_finds_the_figures_of_the_answer_and_of_a_new_run(
    made: Made, tmp_path: Path
) -> None:
    assert_libreoffice(made, edits_of(made), tmp_path)


def test_checks_are_green_and_no_cell_is_an_error(made: Made) -> None:
    assert_green(made.file, least_checks=60)


def test_a_figure_that_differs_from_the_answer_turns_its_check(made: Made, tmp_path: Path) -> None:
    """The racks of the owned fleet in their month, overwritten by 1 M."""
    opened = openpyxl.load_workbook(made.file)
    sheet = opened["Own"]
    row = next(r for r in range(1, 60) if str(sheet.cell(r, 1).value).startswith("racks "))
    first = "2027-01" if made.scenario == PACKAGED else "2027-07"
    column = next(c for c in range(7, 20) if sheet.cell(4, c).value == first)
    sheet.cell(row, column).value = 1e6
    opened.save(tmp_path / "wrong.xlsx")
    again = cells(recalculated(tmp_path / "wrong.xlsx"), values=True)
    assert again["Summary", "B3"] == "CHECK"


def test_the_return_is_a_live_irr_that_discounts_the_saved_money_to_nothing(made: Made) -> None:
    """IRR is a formula on Return; at that yearly rate the row of saved money is worth nothing."""
    opened = openpyxl.load_workbook(made.file)
    rows = list(opened["Return"].iter_rows(min_row=5, values_only=True))
    assert sum("IRR(" in str(row[5]) for row in rows) == len(tco_source(made.result).rents)
    book = computed(tco_source(made.result))
    name = next(iter(book.rents))
    flow = next(r for r in book.back.rows if r.label == "money saved" and r.key[0] == name)
    years = next(r for r in book.back.rows if r.label == "time").values
    rate = book.rows[f"{name} irr"].value
    assert rate == pytest.approx(made.result.metrics["owned.irr_frac"].value, rel=SAME)
    worth = flow.values * (1.0 + rate) ** -years
    assert abs(worth.sum()) < 1e-9 * abs(worth).sum()


def test_money_saved_from_the_first_month_on_has_no_return(
    packaged: Result, tmp_path: Path
) -> None:
    """All capital is borrowed and nothing is taxed: no month of owning costs more than the rent."""
    file = tmp_path / "all-debt.xlsx"
    file.write_bytes(workbook(packaged))
    edits = {"finance.debt.share": 1.0, "finance.tax.sales_tax_frac": 0.0}
    found = figures(recalculated(edited(file, edits)))
    again = tco(PACKAGED, sets=[f"{key}={value!r}" for key, value in edits.items()])
    assert again.metrics["owned.irr_frac"].value is None
    assert (found["owned.irr_frac"], found["owned.payback_months"]) == ("none", 0.0)
    assert_same(found, again)


def test_schedules_by_hand(packaged: Result) -> None:
    """128 nodes of 350,000 USD are 44.8 M; half of 61.06 M is borrowed for 48 months at 9 % / 12.

    MACRS writes off 20, 32, 19.2 and 11.52 % of the racks; on the books a fifth a year.
    Level payment: 30,530,240 x 0.0075 / (1 - 1.0075^-48) = 759,746.
    """
    book = computed(tco_source(packaged))
    rows = {(r.label, r.key[1]): r for r in book.depreciation.rows if r.series is not None}
    racks = 128 * 350_000.0
    shares = [0.2, 0.32, 0.192, 0.1152]
    assert rows["tax write-off", "racks"].values == pytest.approx([racks * x for x in shares])
    assert rows["book depreciation", "racks"].values == pytest.approx([racks / 5] * 4)
    drawn = book.rows["borrowed"].values
    assert drawn[0] == pytest.approx(0.5 * (racks + 10e6 + 3_745_280 + 2_515_200))
    level = drawn[0] * 0.0075 / (1 - 1.0075**-48)
    assert book.rows["debt payments"].values[:2] == pytest.approx([0.0, level])
    assert book.rows["debt payments"].values[1] == pytest.approx(759_746, abs=1)
    assert book.rows["interest"].values[1] == pytest.approx(drawn[0] * 0.0075)


def test_milestones_move_payments_before_the_horizon(made: Made) -> None:
    book = computed(tco_source(made.result))
    names = book.own.quarters
    if made.scenario == PACKAGED:
        assert names[0] == "2027-01"
        return
    assert names[:6] == ("2027-02", "2027-03", "2027-04", "2027-05", "2027-06", "2027-07")
    moved = next(row for row in book.lines if row.label == "payment milestones")
    gear = 1.05 * sum(
        row.values[5] for row in book.own.rows if row.key[1] in ("racks", "network", "storage")
    )
    assert moved.values[[0, 5, 7]] == pytest.approx([0.3 * gear, -0.4 * gear, 0.1 * gear])


def test_inputs_are_those_of_formulas_and_come_back_as_overrides(
    made: Made, tmp_path: Path
) -> None:
    sheet = openpyxl.load_workbook(made.file)["Inputs"]
    keys = [str(row[0]) for row in sheet.iter_rows(min_row=6, values_only=True) if row[0]]
    assert "finance.discount_rate" in keys
    assert not any(key.startswith(("training.", "accelerators.")) for key in keys)
    edits = edits_of(made)
    answer, text = import_book(edited(made.file, edits))
    assert answer.metrics["rows.imported"].value == len(edits)
    block = yaml.safe_load(text)["overrides"]["workbook"]
    assert {key: entry["value"] for key, entry in block.items()} == edits


def test_two_exports_are_the_same_bytes(made: Made) -> None:
    assert workbook(made.result) == made.file.read_bytes()


def test_without_the_data_of_formulas_the_workbook_has_the_tables_of_the_answer(made: Made) -> None:
    bare = {k: x for k, x in made.result.tables.items() if k != "book_rents"}
    for result in (redacted(made.result), replace(made.result, tables=bare)):
        sheets = openpyxl.load_workbook(io.BytesIO(workbook(result))).sheetnames
        assert {"Summary", "rented", "Inputs"} <= set(sheets)
        assert not {"Own", "Rent", "Calc_Cost"} & set(sheets)


def test_the_page_of_a_comparison_has_no_ranks_of_a_plan(made: Made) -> None:
    assert "In alphabetical order of their keys." in page(made.result)
