"""Workbooks under test: recalculated by another engine, edited, zeroed, and read back."""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import formualizer
import openpyxl
import xlsxwriter

from dcplan.answers.plan import answer
from dcplan.inputs.log import InputLog
from dcplan.planning.solve.solved import Solved
from dcplan.report.book.data.facts import Frozen
from dcplan.report.book.data.tables import BookData, book_data
from dcplan.report.book.financing.data import plan_tables
from dcplan.report.book.grid import FIRST, Sheet
from dcplan.report.book.writer import Writer, write_sheet
from dcplan.result import Result, Table
from dcplan.scenario.load import Question

HEADS = ("Line", "Metric", "Key", "Check")
"""First cell of a page's header."""
FORMULA = re.compile(rb"(<f>[^<]*</f>)<v>[^<]*</v>")


def planned_with_facts(name: str, sets: Sequence[str] = ()) -> tuple[Result, BookData]:
    """Plan a scenario; return the plan, and the facts that its workbook is computed from."""
    found: list[BookData] = []

    def tables(solved: Solved, question: Question, log: InputLog) -> dict[str, Table]:
        assert solved.decisions is not None
        assert solved.audit is not None
        books = solved.audit.books
        found.append(book_data(solved.problem, solved.decisions, books, question, log))
        return plan_tables(solved, question, log)

    return answer.plan(name, gap=0.0005, sets=sets, more_tables=(tables,)), found[0]


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


def by_libreoffice(book: Path, folder: Path) -> Path:
    """The same workbook with every formula computed by LibreOffice, which trusts caches by default."""
    office = shutil.which("soffice")
    assert office, "LibreOffice Calc is not installed"
    profile = folder / "profile" / "user"
    profile.mkdir(parents=True, exist_ok=True)
    item = (
        '<item oor:path="/org.openoffice.Office.Calc/Formula/Load">'
        '<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>'
    )
    names = 'xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema"'
    (profile / "registrymodifications.xcu").write_text(
        f'<?xml version="1.0" encoding="UTF-8"?><oor:items {names}>{item}</oor:items>',
        encoding="utf-8",
    )
    subprocess.run(
        [
            office,
            "--headless",
            f"-env:UserInstallation=file://{folder / 'profile'}",
            "--convert-to",
            "xlsx:Calc MS Excel 2007 XML",
            "--outdir",
            str(folder / "out"),
            str(book),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return folder / "out" / book.name


def saved(sheet: Sheet, book: Path) -> Path:
    """Write a workbook of one sheet, as the tool writes it."""
    with xlsxwriter.Workbook(book) as opened:
        write_sheet(Writer(opened, holds=True), sheet)
        opened.define_name("all_checks_ok", "=Cover!$A$1")
    return book


def live_cells(book: Path) -> str:
    """List every cell with a formula, one a line: sheet, labels of its row, head of its column.

    The quarters of a row are one entry where all of them hold a formula.
    """
    found = []
    for sheet in openpyxl.load_workbook(book):
        heads: tuple[Any, ...] = ()
        for row in sheet.iter_rows(values_only=True):
            if row[0] in HEADS:
                heads = row
            timed = heads[:1] == ("Line",)
            live = [i for i, x in enumerate(row) if isinstance(x, str) and x.startswith("=")]
            columns = [str(heads[i]) if heads else "" for i in live]
            if timed and set(range(FIRST, len(heads))) <= set(live):
                columns = [*(c for c in columns if c == "Value"), "quarters"]
            labels = (sheet.title, *(row[:4] if timed else row[:1]))
            found += [" | ".join(str(x) for x in (*labels, c) if x) for c in columns]
    return "".join(f"{line}\n" for line in found)


def frozen_cells(data: BookData) -> str:
    """List the facts without a formula and the inputs that are not edited, each with its reason."""
    found = dict.fromkeys(
        f"fact {' | '.join(str(x) for x in where if x)}: {reason.name}"
        for (*where, _), reason in data.facts.frozen.items()
    )
    found |= dict.fromkeys(
        f"input {key}: {reason.name}"
        for key, reason in data.live.items()
        if isinstance(reason, Frozen)
    )
    return "".join(f"{line}\n" for line in found)
