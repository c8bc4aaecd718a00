"""The workbook of an answer without formulas of its own has its tables, and their own sums."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from dcplan.answers.tco.answer import tco
from dcplan.answers.train.answer import train
from dcplan.report.book.grid import column
from dcplan.report.book.plain.sums import formulas
from dcplan.report.book.write import workbook
from dcplan.result import Metric, Result, Table
from tests.report.books import cells, recalculated, zeroed
from tests.research import BOTH

ON_DEMAND = BOTH.replace("[on-demand, reserved-1y]", "[on-demand]")
"""Work that may be owned or rented, without a fleet."""
COSTS = Table(
    ("part", "usd", "share_frac"), (("a", 2.0, 0.4), ("b", 3.0, 0.6), ("total", 5.0, 1.0))
)
CHANGES = Table(
    ("metric", "before", "after", "delta", "delta_frac"),
    (("x", -2.0, 5.0, 7.0, 3.5), ("y", "a", "b", None, None)),
)


def made(tables: dict[str, Table], folder: Path) -> Path:
    """Write the workbook of an answer with these tables."""
    result = Result(
        "train",
        "ok",
        0,
        "=HYPERLINK(1)",
        metrics={"train.days": Metric(2.5, "days", "Duration")},
        tables=tables,
    )
    file = folder / "book.xlsx"
    file.write_bytes(workbook(result))
    return file


def test_sums_and_differences_of_a_table_are_formulas(tmp_path: Path) -> None:
    """2 + 3 = 5; 5 - (-2) = 7, which is 3.5 times 2."""
    file = made({"costs": COSTS, "changes": CHANGES}, tmp_path)
    known = cells(file, values=False)
    assert known["costs", "B8"] == "=SUM(B6:B7)"
    assert [known["changes", at] for at in ("D6", "E6")] == ["=C6-B6", "=D6/ABS(B6)"]
    found = cells(recalculated(zeroed(file)), values=True)
    assert found["costs", "B8"] == 5.0
    assert [found["changes", at] for at in ("D6", "E6")] == [7.0, 3.5]


def test_a_cell_that_differs_from_its_formula_stays_a_value() -> None:
    assert formulas(Table(("part", "usd"), (("a", 2.0), ("total", 5.0))), 6) == {}
    error = Table(("published", "predicted", "error_frac"), ((4.0, 5.0, 0.25), (4.0, 5.0, 0.3)))
    assert formulas(error, 6) == {(0, 2): "B6/A6-1"}
    assert formulas(Table(("published", "predicted", "error_frac"), ((0.0, 1.0, 1.0),)), 6) == {}


def test_texts_and_names_of_any_table_are_safe(tmp_path: Path) -> None:
    long = "a_table_with_a_name_that_is_longer_than_a_sheet_may_have"
    tables = {"inputs": COSTS, long: COSTS, f"{long}_2": Table(("x",), ()), "book_facts": COSTS}
    file = made(tables, tmp_path)
    names = openpyxl.load_workbook(file).sheetnames
    assert names == ["Summary", "inputs_", long[:31], f"{long[:30]}_", "Inputs", "Columns"]
    opened = openpyxl.load_workbook(file)
    assert (opened["Summary"]["A2"].value, opened["Summary"]["A2"].data_type) == (
        "=HYPERLINK(1)",
        "s",
    )
    assert opened[f"{long[:30]}_"]["A6"].value == "no rows"


def test_an_answer_of_training_has_every_value_of_its_tables(tmp_path: Path) -> None:
    result = train("llama-3.1-8b", system="dgx-h100", accelerators=64)
    file = tmp_path / "book.xlsx"
    file.write_bytes(workbook(result))
    assert workbook(result) == file.read_bytes()
    found = cells(recalculated(file), values=True)
    table = result.tables["memory"]
    for n, row in enumerate(table.rows):
        assert found["memory", f"A{6 + n}"] == row[0]
        assert found["memory", f"B{6 + n}"] == pytest.approx(row[1], rel=1e-12)
    heads = [found["memory", f"{letter}5"] for letter in "AB"]
    assert heads == ["Part", "Memory, GiB"]
    assert found["Summary", "A2"] == result.headline
    meanings = [value for (sheet, at), value in found.items() if sheet == "Columns"]
    assert "Memory, GiB" in meanings


def test_statements_and_steps_follow_from_their_columns() -> None:
    """Result 9 - 1 - 2 - 3 - 1 = 2; paid in 1 + 5 + 1 - 4 - 9 = -6; equity -4, then -4 - 4 = -8."""
    names = (
        "month", "operating_usd", "depreciation_usd", "interest_usd", "gain_usd", "tax_expense_usd",
        "result_usd", "capital_paid_usd", "tax_paid_usd", "debt_paid_usd", "sold_usd",
        "contributed_usd", "equity_usd",
    )  # fmt: skip
    row = (1.0, 2.0, 3.0, 9.0, 1.0, 2.0, 5.0, 1.0, -4.0, 9.0, -6.0)
    found = formulas(Table(names, ((1, *row, -4.0), (2, *row, -8.0))), 6)
    assert found[0, 6] == "E6-B6-C6-D6-F6"
    assert found[0, 11] == "B6+H6+I6+J6-K6"
    assert [found[0, 12], found[1, 12]] == ["L6+G6", "M6+L7+G7"]
    steps = Table(("step", "usd"), (("cost", 5.0), ("tax", -2.0), ("owned", 3.0)))
    assert formulas(steps, 6) == {(2, 1): "SUM(B6:B7)"}
    options = Table(("option", "npv_usd", "above_hybrid_usd"), (("a", 5.0, 0.0), ("b", 7.0, 2.0)))
    assert formulas(options, 6) == {(0, 2): "B6-B$6", (1, 2): "B7-B$6"}


def test_a_comparison_without_a_fleet_has_a_workbook_with_its_statements(tmp_path: Path) -> None:
    (tmp_path / "both.yaml").write_text(ON_DEMAND, encoding="utf-8")
    result = tco(tmp_path / "both.yaml")
    file = tmp_path / "book.xlsx"
    file.write_bytes(workbook(result))
    again = cells(recalculated(zeroed(file)), values=True)
    assert {"Summary", "sourcing", "bridge", "taxes", "statements", "years", "Inputs"} <= {
        sheet for sheet, _ in again
    }
    live = cells(file, values=False)
    for name, least in (("statements", 60), ("sourcing", 3), ("bridge", 1), ("taxes", 1)):
        table = result.tables[name]
        formed = 0
        for n, row in enumerate(table.rows):
            for i, value in enumerate(row):
                at = f"{column(i)}{6 + n}"
                formed += str(live.get((name, at), "")).startswith("=")
                if isinstance(value, int | float):
                    assert again[name, at] == pytest.approx(value, rel=1e-9, abs=0.01), (name, at)
        assert formed >= least, name
