"""The workbook of an answer without formulas of its own has its tables, and their own sums."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from dcplan.answers.train.answer import train
from dcplan.report.book.plain.sums import formulas
from dcplan.report.book.write import workbook
from dcplan.result import Metric, Result, Table
from tests.report.books import cells, recalculated, zeroed

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
