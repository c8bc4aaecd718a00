"""``dcplan import --kind workbook``: edited inputs of an exported workbook as overrides."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from dcplan.answers.imports.refused import Refusal, rejected_tables
from dcplan.catalog.yaml12 import dump
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.result import Result
from dcplan.specs import imports as specs

SHEET = "Inputs"
COLUMNS = {"Key": "key", "Value": "value", "Edit as (--set)": "edit", "As exported": "exported"}
OVERRIDE = "workbook"


def import_book(path: Path) -> tuple[Result, str]:
    """Return changed inputs of a workbook, and an ``overrides:`` block that makes them; empty if there are none.

    Raises
    ------
    InputError
        When the file is not a workbook of dcplan, or a changed cell holds no number.
    """
    rows = list(_rows(path))
    changed: list[specs.ChangeRow] = []
    refused: list[specs.RejectedRow] = []
    problems: list[Problem] = []
    for number, key, edit, value, exported in rows:
        place = Place(f"{path}, sheet {SHEET}, row {number}")
        if value == exported:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            problems.append(
                Problem(
                    "DC004",
                    f"{key}: {value!r} is not a number",
                    place,
                    help="save the file in Excel, then import it again",
                )
            )
        elif not edit:
            refused.append(
                Refusal("not editable in a workbook: change it in the scenario").row(number, key)
            )
        elif not abs(value) < 1e18:
            problems.append(Problem("DC004", f"{key}: {value!r} is not a finite number", place))
        else:
            changed.append(specs.ChangeRow(number, key, edit, exported, now=float(value)))
    if problems:
        raise InputError(problems)
    overrides = {c.set_as: {"value": c.now, "source": f"{path.name}, row {c.row}"} for c in changed}
    result = Result(
        "import",
        "ok",
        EXIT_OK,
        f"{path.name}: {len(changed)} of {len(rows)} inputs changed",
        metrics={
            **specs.ROWS_USED(len(changed), label="Inputs changed in the workbook"),
            **specs.ROWS_REJECTED(len(refused), label="Changed cells that are not editable inputs"),
        },
        tables={specs.CHANGES.name: specs.CHANGES.table(changed), **rejected_tables(refused)},
    )
    return result, dump({"overrides": {OVERRIDE: overrides}}) if overrides else ""


def _rows(path: Path) -> Iterator[tuple[int, str, str, object, float]]:
    """Yield row, key, name in ``--set``, value and exported value of every number.

    An input that follows from others is a formula, which follows their edits.
    """
    import openpyxl  # takes a quarter of a second to import
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book, written = (
            openpyxl.load_workbook(path, read_only=True, data_only=values)
            for values in (True, False)
        )
    except (OSError, zipfile.BadZipFile, KeyError, ValueError, InvalidFileException) as error:
        raise InputError(
            [Problem("DC006", f"cannot be read as a workbook: {error}", Place(str(path)))]
        ) from error
    if SHEET not in book.sheetnames:
        raise InputError(
            [
                Problem(
                    "DC006",
                    f"the file has no sheet {SHEET}, so it is not a workbook of dcplan",
                    Place(str(path)),
                )
            ]
        )
    head: dict[str, int] = {}
    pages = (page[SHEET].iter_rows(values_only=True) for page in (book, written))
    for number, (cells, formulas) in enumerate(zip(*pages, strict=True), start=1):
        if not head:
            names = [str(cell) for cell in cells]
            head = {field: names.index(name) for name, field in COLUMNS.items() if name in names}
            head = head if len(head) == len(COLUMNS) else {}
            continue
        exported = cells[head["exported"]] if len(cells) > head["exported"] else None
        follows = str(formulas[head["value"]]).startswith("=") and not cells[head["edit"]]
        if isinstance(exported, int | float) and not follows:
            yield (
                number,
                str(cells[head["key"]]),
                str(cells[head["edit"]] or ""),
                cells[head["value"]],
                float(exported),
            )
    if not head:
        cause = f"sheet {SHEET} has no columns {', '.join(COLUMNS)}"
        raise InputError([Problem("DC006", cause, Place(str(path)))])
