"""A plan as rows of the FinOps Foundation's cost format (FOCUS 1.2).

Each row is marked as a plan, not an invoice.
"""

from __future__ import annotations

from dcplan.report.csvs import csv_text
from dcplan.report.focus.charges import charges_of
from dcplan.report.focus.payments import payments_of
from dcplan.report.focus.rows import COLUMNS, row_of
from dcplan.result import Result
from dcplan.specs.plan.money import CASH_FLOW
from dcplan.units import MONTHS_PER_QUARTER, quarter_index

VERSION = "1.2"


def focus_csv(result: Result) -> str:
    """Return monthly rows of a saved plan.

    The billed column has what is paid in a month, and a credit only for hardware that is sold: over
    the horizon it sums to the capital cost, the running cost and the sales of the plan. The
    effective column spreads the price of an asset evenly over its life, from its first month in
    service, also after the horizon. Residual value and unserved demand have no row.

    Raises
    ------
    ValueError
        When the result is no plan, is redacted or comes from an earlier version.

    References
    ----------
    .. [1] FinOps Foundation, FOCUS specification 1.2, columns.
    """
    paid = payments_of(result)
    quarters = [str(row["quarter"]) for row in result.tables[CASH_FLOW.name].records()]
    end = (max(map(quarter_index, quarters), default=0) + 1) * MONTHS_PER_QUARTER
    name = str(result.scenario.get("name") or result.verb)
    charges = sorted(
        (charge for payment in paid for charge in charges_of(payment)),
        key=lambda c: (c.month, c.paid.group, c.paid.line, c.paid.site, c.category),
    )
    rows = (row_of(charge, name, end) for charge in charges)
    return csv_text(COLUMNS, ([row.get(column) for column in COLUMNS] for row in rows))
