"""Workbooks of comparisons of owning and renting under test: their live figures against an answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import openpyxl
import pytest

from dcplan.api.tco import tco
from dcplan.result import Result

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
