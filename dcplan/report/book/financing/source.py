"""A plan's result in the form that its financing pages need."""

from __future__ import annotations

import numpy as np

from dcplan.report.book.data.deliveries import delivered
from dcplan.report.book.options.source import axis_of, terms_of
from dcplan.report.book.source import Source
from dcplan.report.book.tco.source import TcoSource, advances_of, site_terms_of, write_offs
from dcplan.result import Result
from dcplan.specs.plan import tco_book
from dcplan.specs.plan.tco_book import BookTerm
from dcplan.units import MONTHS_PER_QUARTER, quarter_index

NEEDED = tuple(
    t.name for t in (tco_book.TERMS, tco_book.WRITE_OFF, tco_book.LEFT, tco_book.EARLIER)
)


def is_financed(result: Result) -> bool:
    """Return whether the result of a plan has the data of financing pages."""
    return all(name in result.tables for name in NEEDED)


def financed_source(base: Source) -> TcoSource:
    """Return the data of the financing pages of a plan.

    Parameters
    ----------
    base : Source
        Data of the plan's workbook, of a result with the tables of financing.
    """
    result = base.result
    terms, flows = terms_of(result), result.tables["flows"].records()
    first = quarter_index(base.quarters[0])
    axis = axis_of(flows, first, base.horizon * MONTHS_PER_QUARTER, terms)
    write_off, names = write_offs(result, axis.years)
    left = tco_book.LEFT.rows(result.tables[tco_book.LEFT.name])
    return TcoSource(
        base,
        result,
        axis,
        terms,
        write_off,
        names,
        np.array([row.left_frac for row in left]),
        (),
        {},
        delivered(flows, first, base.horizon) if BookTerm.DEPOSIT in terms else {},
        tuple(tco_book.EARLIER.rows(result.tables[tco_book.EARLIER.name])),
        advances=advances_of(flows, axis),
        site_terms=site_terms_of(result),
    )
