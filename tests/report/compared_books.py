"""Workbooks of comparisons of owning and renting under test: their live figures against an answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import openpyxl
import pytest

from dcplan.api.tco import tco
from dcplan.result import Result
from tests.report.books import by_libreoffice, cells, edited, recalculated, zeroed

SAME = 1e-9


class Made(NamedTuple):
    """A scenario, its comparison and its workbook."""

    scenario: str
    result: Result
    file: Path


def figures(file: Path) -> dict[str, float | str]:
    """Live figures of the summary, by their keys in the answer; "never" and "none" as text."""
    sheet = openpyxl.load_workbook(file, data_only=True)["Summary"]
    found: dict[str, float | str] = {
        "owned.irr_frac": _number(sheet["B6"].value),
        "owned.payback_months": _number(sheet["B7"].value),
    }
    for row in sheet.iter_rows(min_row=10, values_only=True):
        if not str(row[12]).startswith("live"):
            continue
        name = str(row[0])
        side = "owned" if name == "owned" else f"rented.{name}"
        found[f"{side}.npv_usd"] = float(str(row[1]))
        found[f"{side}.usd_per_accelerator_hour"] = float(str(row[5]))
        if name == "owned":
            continue
        found[f"break_even.{name}.months"] = _number(row[6])
        found[f"break_even.{name}.cash_months"] = _number(row[8])
        found[f"break_even.{name}.hours"] = _number(row[9])
        if row[7] != "n/a" and "as exported" not in str(row[12]):
            found[f"break_even.{name}.utilization_frac"] = _number(row[7])
    return found


def _number(cell: object) -> float | str:
    return float(cell) if isinstance(cell, int | float) else str(cell)


def assert_same(found: Mapping[str, float | str], result: Result) -> None:
    """Compare figures with an answer, to 1e-9 of each."""
    for key, value in found.items():
        answer = result.metrics[key].value
        if answer is None:
            assert value in ("never", "none"), key
        else:
            assert value == pytest.approx(answer, rel=SAME), key


def changed(made: Made, edits: Mapping[str, float]) -> Result:
    return tco(made.scenario, sets=[f"{key}={value!r}" for key, value in edits.items()])


def assert_live(made: Made, *, least_figures: int) -> None:
    """With its caches set to 0, another engine finds more than so many figures of the answer."""
    bare = zeroed(made.file)
    assert {x for x in figures(bare).values() if isinstance(x, float)} == {0.0}
    found = figures(recalculated(bare))
    assert len(found) > least_figures
    assert_same(found, made.result)


def assert_edits_change(made: Made, edits: Mapping[str, float]) -> None:
    """All edits together change the present costs that a new run changes, and give its figures."""
    found, answer = figures(recalculated(edited(made.file, edits))), changed(made, edits)
    costs = [key for key in found if key.endswith("npv_usd")]
    before = {key: made.result.metrics[key].value for key in costs}
    moved = [key for key in costs if answer.metrics[key].value != pytest.approx(before[key])]
    assert moved  # the cost of an offer that no edit reaches stays
    assert all(found[key] != pytest.approx(before[key]) for key in moved)
    assert_same(found, answer)


def assert_each_edit_changes(made: Made, edits: Mapping[str, float]) -> None:
    """Each edit alone changes a figure, and gives the figures of a new run."""
    before = figures(made.file)
    for key, value in edits.items():
        found = figures(recalculated(edited(made.file, {key: value})))
        assert found != before, key
        assert_same(found, changed(made, {key: value}))


def assert_libreoffice(made: Made, edits: Mapping[str, float], folder: Path) -> None:
    """LibreOffice finds the figures of the answer, and those of a new run after edits."""
    assert_same(figures(by_libreoffice(zeroed(made.file), folder)), made.result)
    found = figures(by_libreoffice(edited(made.file, edits), folder))
    assert_same(found, changed(made, edits))


def assert_green(file: Path, *, least_checks: int) -> None:
    """No cell is an error, and more than so many checks all hold."""
    again = cells(recalculated(zeroed(file)), values=True)
    assert not [at for at, value in again.items() if str(value).startswith("#")]
    verdicts = [v for (sheet, at), v in again.items() if sheet == "Checks" and at[0] == "D"]
    assert set(verdicts) == {"Result", "OK"}
    assert len(verdicts) > least_checks
    assert again["Summary", "B3"] == "OK"
