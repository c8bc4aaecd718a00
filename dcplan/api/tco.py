"""The comparison of owning and renting with the data of its workbook: what callers get."""

from __future__ import annotations

from dataclasses import replace

from dcplan.answers.tco import answer
from dcplan.answers.tco.request import TcoRequest
from dcplan.report.book.tco.data import compared_tables
from dcplan.result import Result
from dcplan.specs.request import verb


@verb(TcoRequest, "tco")
def tco(request: TcoRequest) -> Result:
    """Compare owning with renting, with what an exported workbook is computed from.

    Raises
    ------
    InputError
        When the scenario has errors, or has no fleet or no cloud offers.
    """
    return answer.tco(replace(request, more_tables=(*request.more_tables, compared_tables)))
