"""The page of inputs with bounds, status and place; blue cells can be edited."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dcplan.report.book.grid import INPUT_ROW
from dcplan.report.book.source import Source
from dcplan.report.book.writer import Writer, head, local

INPUT_HEAD = (
    "Key",
    "Note",
    "Value",
    "Unit",
    "Low",
    "High",
    "Status",
    "Edit as (--set)",
    "As exported",
    "Changed",
    "Place",
    "Source",
    "Why an edit needs a new run",
)
NO_FORMULA = "no formula of this workbook uses it"
CHOICE = "a choice, not a number: what follows from it is fixed"
RATE = re.compile(r"(frac|rate)(?:[-_]per[-_]year)?$")
MOST = 1e15
ROOM = (
    (re.compile(r"pue$"), 1.0, 10.0, "enter a PUE of 1 or more"),
    (re.compile(r"(escalator|change).*$"), -1.0, 10.0, "enter a fraction, such as 0.03 for 3%"),
    (RATE, 0.0, 1.0, "enter a fraction from 0 to 1, such as 0.09 for 9%"),
    (re.compile(r""), 0.0, MOST, "enter a number of 0 or more"),
)
"""Allowed range of an edited cell, by the end of its key; the first match applies."""


def room_of(key: str) -> tuple[float, float, str]:
    """Return the lowest and highest value of an input, and its error message.

    Examples
    --------
    >>> room_of("finance.discount_rate")[:2], room_of("sites.oslo.halls.a.pue")[:2], room_of("x.price_usd")[0]
    ((0.0, 1.0), (1.0, 10.0), 0.0)
    """
    last = key.rpartition(".")[2]
    return next((low, high, text) for found, low, high, text in ROOM if found.search(last))


def look_of(key: str, unit: str) -> str:
    """Return the unit that sets a value's format: money, percent, or a plain number."""
    last = key.rpartition(".")[2]
    return "fraction per year" if RATE.search(last) else "USD" if unit == "USD" else "x"


def inputs_page(writer: Writer, source: Source) -> None:
    """Write every input of the plan; blue cells can be edited."""
    page = writer.sheets["Inputs"]
    head(writer, page, "Inputs", "Edit blue cells only; changes of other inputs need a new plan.")
    bold = writer.format(bold=True, bottom=1)
    for i, name in enumerate(INPUT_HEAD):
        page.write_string(INPUT_ROW - 2, i, name, bold)
    for i, row in enumerate(source.result.inputs):
        _input_row(writer, source, INPUT_ROW - 1 + i, row)
    page.freeze_panes(INPUT_ROW - 1, 1)
    page.autofilter(
        INPUT_ROW - 2, 0, INPUT_ROW - 2 + len(source.result.inputs), len(INPUT_HEAD) - 1
    )
    page.set_column(0, 0, 52)
    page.set_column(1, 1, 30)
    page.set_column(2, 9, 14)
    page.set_column(10, 12, 60)


def _input_row(writer: Writer, source: Source, at: int, row: Mapping[str, object]) -> None:
    page, key, value, unit = (
        writer.sheets["Inputs"],
        str(row["key"]),
        row["value"],
        str(row["unit"] or ""),
    )
    look = look_of(key, unit)
    edit = source.live.get(key)
    page.write_string(at, 0, key)
    page.write_string(at, 1, str(row.get("note") or "")[:250])
    page.write_string(at, 3, unit)
    if isinstance(value, int | float):
        kind = "input" if edit else "formula" if key in source.live else "derived"
        known = source.computed.get(key)
        if known is None:
            page.write_number(at, 2, float(value), writer.number(kind, look))
        else:
            text = f"={local(known.text(), 'Inputs')}"
            page.write_formula(at, 2, text, writer.number(kind, look), float(value))
        page.write_number(at, 8, float(value), writer.number("derived", look))
        if edit:
            low, high, text = room_of(key)
            page.data_validation(
                at,
                2,
                at,
                2,
                {
                    "validate": "decimal",
                    "criteria": "between",
                    "minimum": low,
                    "maximum": high,
                    "error_message": text,
                },
            )
            page.write_string(at, 7, edit)
            page.write_formula(
                at, 9, f'=IF(C{at + 1}=I{at + 1},"","changed")', writer.format(bold=True), ""
            )
    else:
        page.write_string(at, 2, str(value))
    for i, name in ((4, "low"), (5, "high")):
        bound = row.get(name)
        if isinstance(bound, int | float):
            page.write_number(at, i, float(bound), writer.number("derived", look))
    page.write_string(at, 6, str(row["status"]))
    page.write_string(at, 10, str(row.get("at") or ""))
    page.write_string(at, 11, str(row.get("source") or ""))
    if not edit:
        why = NO_FORMULA if isinstance(value, int | float) else CHOICE
        page.write_string(at, 12, source.fixed.get(key, why))
