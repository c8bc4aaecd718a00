"""The comparison of owning and renting with the data of its workbook: what callers get."""

from __future__ import annotations

from dataclasses import replace

from dcplan.answers.tco import answer
from dcplan.answers.tco.comparison import Comparison
from dcplan.answers.tco.optimized import PricedPlans
from dcplan.answers.tco.request import TcoRequest
from dcplan.report.book.options.data import planned_tables
from dcplan.report.book.tco.data.tables import compared_tables
from dcplan.result import Result, Table
from dcplan.specs.verb import verb


@verb(TcoRequest, "tco")
def tco(request: TcoRequest) -> Result:
    """Compare owning with renting, with what an exported workbook is computed from.

    Raises
    ------
    InputError
        When the scenario has errors, or has no fleet or no cloud offers.
    """
    return answer.tco(replace(request, more_tables=(*request.more_tables, book_tables)))


def book_tables(found: Comparison | PricedPlans) -> dict[str, Table]:
    """Return the data of the workbook of a comparison: of a fleet, or of sourcing options."""
    return compared_tables(found) if isinstance(found, Comparison) else planned_tables(found)
