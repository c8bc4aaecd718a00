"""The workbook of `tco` without a fleet is live: other engines find the present cost of each option,
edited or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import openpyxl
import pytest
import yaml

from dcplan.answers.imports.workbook import import_book
from dcplan.answers.tco.comparison import from_today
from dcplan.answers.tco.optimized import PricedPlans
from dcplan.answers.tco.request import TcoRequest
from dcplan.api.tco import tco
from dcplan.economics.break_even import npv_break_even_months
from dcplan.report.book.data.deliveries import delivered
from dcplan.report.book.options.source import plans_source
from dcplan.report.book.options.write import computed
from dcplan.report.book.write import workbook
from dcplan.report.redact import redacted
from dcplan.result import Result, Table
from tests.report.books import by_libreoffice, cells, edited, recalculated, zeroed
from tests.report.compared_books import assert_green
from tests.research import TAXED

SAME = 1e-9
STAGED = (
    TAXED.replace("name: taxed", "name: staged")
    .replace("quarters: 4", "quarters: 6")
    .replace("[0, 40, 60, 20]", "[0, 40, 60, 20, 30, 40]")
    .replace(
        "finance:\n",
        """finance:
  residual: {value: 0.15, low: 0.1, high: 0.2, source: own}
  payment: {deposit_frac: 0.3, deposit_months_before: 5, acceptance_frac: 0.1, acceptance_months_after: 2}
""",
    )
    .replace("cloud:\n", "cloud:\n  egress_tb_per_month: 30\n")
)
"""With payment terms from the quarter in service, and commitments that end after the horizon."""
EDITS = {
    "taxed": {
        "systems.mi325x-8.price_usd": 289_000.0,
        "sites.frankfurt.energy.usd_per_kwh": 0.131,
        "finance.discount_rate": 0.098,
        "finance.tax.income_rate": 0.22,
        "finance.debt.share": 0.55,
        "cloud.prices.aws-p5en-48xlarge.on_demand_usd_per_h": 68.2,
        "prices.support-of-aws.value": 0.049,
    },
    "staged": {
        "finance.residual": 0.16,
        "finance.payment.deposit_frac": 0.35,
        "finance.debt.rate": 0.075,
        "finance.tax.property_tax_frac_per_year": 0.012,
        "cloud.prices.aws-p5en-48xlarge.reserved_1y_usd_per_h": 43.1,
        "prices.cloud-setup-usd-per-accelerator.value": 810.0,
    },
}


class Made(NamedTuple):
    """A scenario, its sourcing options and their workbook."""

    name: str
    scenario: str
    result: Result
    priced: PricedPlans
    file: Path


@pytest.fixture(scope="module", params=["taxed", "staged"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The answer of a scenario without a fleet, its priced options and its workbook."""
    folder = tmp_path_factory.mktemp("options")
    scenario = folder / f"{request.param}.yaml"
    scenario.write_text(TAXED if request.param == "taxed" else STAGED, encoding="utf-8")
    found: list[PricedPlans] = []

    def priced(plans: PricedPlans) -> dict[str, Table]:
        found.append(plans)
        return {}

    result = tco(TcoRequest(str(scenario), more_tables=(priced,)))
    file = folder / "book.xlsx"
    file.write_bytes(workbook(result))
    return Made(str(request.param), str(scenario), result, found[0], file)


def figures(file: Path) -> dict[str, float]:
    """Live present cost of each option on the summary, by its key in the answer."""
    sheet = openpyxl.load_workbook(file, data_only=True)["Summary"]
    rows = sheet.iter_rows(min_row=8, values_only=True)
    return {f"{row[0]}.npv_usd": float(str(row[1])) for row in rows if row[5] == "live"}


def assert_same(found: Mapping[str, float], result: Result) -> None:
    """Compare present costs with an answer, to 1e-9 of each."""
    assert set(found) == {"hybrid.npv_usd", "owned.npv_usd", "rented.npv_usd"}
    for key, value in found.items():
        assert value == pytest.approx(result.metrics[key].value, rel=SAME), key


def changed(made: Made, edits: Mapping[str, float]) -> Result:
    return tco(made.scenario, sets=[f"{key}={value!r}" for key, value in edits.items()])


def test_with_zeroed_caches_another_engine_finds_the_answers_figures(made: Made) -> None:
    bare = zeroed(made.file)
    assert set(figures(bare).values()) == {0.0}
    assert_same(figures(recalculated(bare)), made.result)


def test_edited_inputs_give_the_figures_of_a_new_run(made: Made) -> None:
    """The edits are small, so that a new run chooses the same plans."""
    edits = EDITS[made.name]
    found, before = figures(recalculated(edited(made.file, edits))), figures(made.file)
    assert all(found[key] != before[key] for key in found)
    assert_same(found, changed(made, edits))


@pytest.mark.slow
def test_each_edited_input_gives_the_figures_of_a_new_run(made: Made) -> None:
    before = figures(made.file)
    for key, value in EDITS[made.name].items():
        found = figures(recalculated(edited(made.file, {key: value})))
        assert found != before, key
        assert_same(found, changed(made, {key: value}))


@pytest.mark.office
@pytest.mark.slow
def test_libreoffice_finds_the_figures_of_the_answer_and_of_a_new_run(
    made: Made, tmp_path: Path
) -> None:
    assert_same(figures(by_libreoffice(zeroed(made.file), tmp_path)), made.result)
    edits = EDITS[made.name]
    found = figures(by_libreoffice(edited(made.file, edits), tmp_path))
    assert_same(found, changed(made, edits))


def test_checks_are_green_and_no_cell_is_an_error(made: Made) -> None:
    assert_green(made.file, least_checks=50)


def test_a_payment_that_differs_from_the_answer_turns_its_check(made: Made, tmp_path: Path) -> None:
    """The racks of the owned plan, overwritten by 1 M in a month."""
    opened = openpyxl.load_workbook(made.file)
    sheet = opened["Owned_Payments"]
    row = next(r for r in range(1, 60) if str(sheet.cell(r, 1).value).startswith("racks "))
    sheet.cell(row, 12).value = 1e6
    opened.save(tmp_path / "wrong.xlsx")
    again = cells(recalculated(tmp_path / "wrong.xlsx"), values=True)
    assert again["Summary", "B3"] == "CHECK"


def test_cash_by_month_is_that_of_the_answer_on_every_option(made: Made) -> None:
    """Payments inside the horizon, and those before and after it in their own month."""
    books, _, _ = computed(plans_source(made.result))
    for option in made.priced.options[:3]:
        assert option.owned is not None
        book = books[option.name]
        axis, flow = book.source.axis, book.rows[f"{option.name} flow"].values
        inside = flow[(axis.months >= 0) & (axis.months < axis.horizon)]
        assert inside == pytest.approx(option.owned.cash_usd, rel=SAME, abs=1e-6)
        outside = {
            int(m): x for m, x in zip(axis.months, flow, strict=True) if not 0 <= m < axis.horizon
        }
        expected = option.owned.after_tax.outside_usd
        assert {m: x for m, x in outside.items() if abs(x) > 1e-6} == pytest.approx(
            {m: x for m, x in expected.items() if abs(x) > 1e-6}, rel=SAME
        )


def test_break_even_is_that_of_the_function_on_the_answers_cash(made: Made) -> None:
    """Resale by month is that of the sheets; cash, discount and crossing are computed again."""
    books, _, rows = computed(plans_source(made.result))
    rate = 1.1 ** (1 / 12) - 1
    costs, resale = {}, {}
    for option in made.priced.options[:3]:
        assert option.owned is not None
        side = option.owned.after_tax
        costs[option.name] = from_today(option.owned.cash_usd, side.outside_usd)
        sheet = books[option.name].even
        resale[option.name] = next(r for r in sheet.rows if r.label == "resale value").values
    for first, second in (("owned", "rented"), ("hybrid", "rented")):
        left = resale[first] - resale[second]
        months = npv_break_even_months(
            costs[first], costs[second], rate, residual_usd=left, for_good=True
        )
        assert months is not None
        assert rows[f"{first} over {second}"].value == pytest.approx(float(np.asarray(months)))
    assert np.all(resale["rented"] == 0.0)


def test_the_chart_has_the_curve_of_each_option(made: Made) -> None:
    sheet = openpyxl.load_workbook(made.file)["Break_even"]
    (chart,) = sheet._charts
    assert len(chart.series) == 3


def test_inputs_are_those_of_formulas_and_come_back_as_overrides(made: Made) -> None:
    edits = EDITS[made.name]
    answer, text = import_book(edited(made.file, edits))
    assert answer.metrics["rows.imported"].value == len(edits)
    block = yaml.safe_load(text)["overrides"]["workbook"]
    assert {key: entry["value"] for key, entry in block.items()} == edits


def test_two_exports_are_the_same_bytes(made: Made) -> None:
    assert workbook(made.result) == made.file.read_bytes()


def test_without_the_data_of_formulas_the_workbook_has_the_tables_of_the_answer(
    made: Made, tmp_path: Path
) -> None:
    bare = {k: x for k, x in made.result.tables.items() if k != "book_options"}
    for result in (redacted(made.result), replace(made.result, tables=bare)):
        file = tmp_path / "bare.xlsx"
        file.write_bytes(workbook(result))
        sheets = openpyxl.load_workbook(file).sheetnames
        assert {"Summary", "sourcing", "Inputs"} <= set(sheets)
        assert not {"Owned_Cash", "Break_even"} & set(sheets)


def test_an_option_without_a_plan_has_no_sheets(tmp_path: Path) -> None:
    """Work in the first quarter cannot be owned: hardware arrives later."""
    early = tmp_path / "early.yaml"
    early.write_text(TAXED.replace("[0, 40, 60, 20]", "[10, 40, 60, 20]"), encoding="utf-8")
    file = tmp_path / "early.xlsx"
    file.write_bytes(workbook(tco(str(early))))
    opened = openpyxl.load_workbook(file)
    assert not [name for name in opened.sheetnames if name.startswith("Owned_")]
    notes = {row[0]: row[5] for row in opened["Summary"].iter_rows(min_row=8, values_only=True)}
    assert str(notes["owned"]).startswith("no plan for the work within the limits")


def test_orders_of_one_quarter_that_serve_apart_have_no_single_date() -> None:
    order = {"quarter": "2027-Q1", "group": "capex", "line": "racks a", "site": "s"}
    rows = [
        {**order, "asset": "racks", "serves_from": "2027-Q2"},
        {**order, "asset": "racks", "serves_from": "2028-Q1"},
        {**order, "asset": "cooling", "serves_from": "2027-Q3", "line": "cooling and fit-out"},
    ]
    first = 2027 * 4
    assert delivered(rows[:1], first, 4) == {("racks a", "s"): {0: 1}}
    assert delivered(rows[1:], first, 4) == {("racks a", "s"): {0: 3}}
    with pytest.raises(ValueError, match="serve from different quarters"):
        delivered(rows, first, 4)
