"""Workbooks under test: recalculated by another engine, edited, with zeroed caches, and read back."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import formualizer
import openpyxl

FORMULA = re.compile(rb"(<f>[^<]*</f>)<v>[^<]*</v>")


def recalculated(book: Path) -> Path:
    """The same workbook with every formula computed by formualizer."""
    out = book.with_name(book.stem + "-again.xlsx")
    found = formualizer.recalculate_xlsx_file(str(book), str(out))["summary"]
    assert found["total_errors"] == 0, found
    return out


def zeroed(book: Path) -> Path:
    """The same workbook with 0 as the cached value of every formula."""
    out = book.with_name(book.stem + "-zero.xlsx")
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name.startswith("xl/worksheets/sheet"):
                data = re.sub(rb' t="str"(?=[^>]*><f>)', b"", data)
                data = FORMULA.sub(rb"\1<v>0</v>", data)
            new.writestr(name, data)
    return out


def edited(book: Path, changes: Mapping[str, float]) -> Path:
    """The same workbook with other values of inputs, by their name in ``--set``."""
    opened = openpyxl.load_workbook(book)
    sheet = opened["Inputs"]
    left = dict(changes)
    for row in range(6, sheet.max_row + 1):
        name = sheet.cell(row, 8).value
        if name in left:
            sheet.cell(row, 3).value = left.pop(name)
    assert not left, f"no such inputs: {left}"
    out = book.with_name(book.stem + "-edited.xlsx")
    opened.save(out)
    return out


def editable(book: Path) -> dict[str, float]:
    """Inputs that may be edited and their values."""
    sheet = openpyxl.load_workbook(book, read_only=True)["Inputs"]
    return {
        str(row[7]): float(str(row[2]))
        for row in sheet.iter_rows(min_row=6, values_only=True)
        if row[7]
    }


def summary(book: Path) -> dict[str, float]:
    """Live metrics as the file holds them."""
    sheet = openpyxl.load_workbook(book, data_only=True)["Summary"]
    rows = sheet.iter_rows(min_row=6, values_only=True)
    return {str(row[0]): float(str(row[2])) for row in rows if row[6] == "live"}


def cells(book: Path, *, values: bool) -> dict[tuple[str, str], Any]:
    """Every cell that holds something."""
    opened = openpyxl.load_workbook(book, data_only=values)
    return {
        (sheet.title, cell.coordinate): cell.value
        for sheet in opened
        for row in sheet.iter_rows()
        for cell in row
        if cell.value is not None
    }


def recalculated_with_errors(book: Path) -> Path:
    """The same, where some cells are expected to be errors."""
    out = book.with_name(book.stem + "-errors.xlsx")
    formualizer.recalculate_xlsx_file(str(book), str(out))
    return out
