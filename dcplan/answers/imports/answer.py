"""``dcplan import``: every row of a file is imported, or rejected with a reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dcplan.answers.imports.currencies import fx_of
from dcplan.answers.imports.prices import import_prices
from dcplan.answers.imports.request import ImportRequest, Kind
from dcplan.answers.imports.spend import import_spend
from dcplan.answers.imports.workbook import import_book
from dcplan.result import Result


def imported(request: ImportRequest) -> tuple[Result, str]:
    """Return the outcome of every row, and the YAML of an overlay or of overrides.

    The YAML is empty when there is nothing to set.

    Raises
    ------
    InputError
        When the file cannot be read as its ``kind``, or a workbook has a rate, which it cannot use.
    """
    if request.kind is Kind.WORKBOOK:
        fx_of(request.fx).refuse_unused("value of a workbook, which is in USD,")
        return import_book(request.file)
    read = import_prices if request.kind is Kind.PRICES else import_spend
    catalogs = tuple(Path(c) for c in request.catalogs)
    rates = fx_of(request.fx)
    result, text = read(request.file, catalogs=catalogs, fx=rates)
    said = [
        {"code": "unused-rate", "message": f"--fx {name}: no imported row is in {name}"}
        for name in rates.unused
    ]
    return replace(result, warnings=[*result.warnings, *said]), text
