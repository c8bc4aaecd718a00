"""Demand of the coming quarters of one cluster: the growth that is given, or the forecast of the log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from dcplan.answers.demand.request import DemandRequest
from dcplan.answers.demand.sized import Sized
from dcplan.demand.log.forecast import Forecast, forecast, lead_quarters, least_weeks, weekly_use
from dcplan.demand.log.jobs import Array
from dcplan.inputs.logs.checks import REMARK_DATE_S
from dcplan.units import MONTHS_PER_QUARTER, QUARTERS_PER_YEAR, quarter_index

GIVEN = "growth as given"
MOVES, FADES = "level that moves", "level that stays or returns"
MOSTLY = 0.5
"""Weight of the models whose level moves for good, from which the answer says so."""


@dataclass(frozen=True)
class Ahead:
    """Demand of each quarter over the demand of the log."""

    model: str
    factor: Array
    low: Array
    high: Array
    forecast: Forecast | None
    """None: the growth is given, or the log is too short."""
    why_not: str = ""
    """Why there is no demand of the coming quarters."""


def lead_of(request: DemandRequest, first_s: float, last_s: float) -> float:
    """Return the quarters from the middle of a log to that of the first quarter of the demand.

    Without ``--start``, or without dates in the log, the first quarter follows the log.
    """
    if request.start is None or first_s < REMARK_DATE_S:
        return lead_quarters(float(first_s), float(last_s))
    year, quarter = divmod(quarter_index(request.start), QUARTERS_PER_YEAR)
    month = 1 + quarter * MONTHS_PER_QUARTER
    start_s = datetime(year, month, 1, tzinfo=UTC).timestamp()
    return lead_quarters(float(first_s), float(last_s), start_s)


def ahead(request: DemandRequest, found: Sized) -> Ahead:
    """Return the demand of each quarter over that of the log.

    A growth that is given has no spread of its own, and grows from the middle of the log on. Without
    it, the log must be as long as the horizon.
    """
    growth = request.growth_frac_per_quarter
    if growth is not None:
        at_s = found.cluster.recorded.work.submit_s
        lead = lead_of(request, at_s[0], at_s[-1])
        factor = (1.0 + growth) ** (lead + np.arange(request.quarters))
        given = np.asarray(factor, dtype=np.float64)
        text = f"{GIVEN}, for {lead:.2g} quarters from the middle of the log to that of the first"
        return Ahead(text if growth else GIVEN, given, given, given, None)
    none = np.zeros(0)
    weekly = weekly_use(found.cluster.whole.work)
    needed = least_weeks(request.quarters)
    if len(weekly) < needed:
        why = (
            f"the log of {found.cluster.name} has {len(weekly)} whole weeks, and a forecast of "
            f"{request.quarters} quarters needs {needed}: set --growth-frac-per-quarter"
        )
        return Ahead("", none, none, none, None, why)
    if not np.all(weekly > 0.0):
        why = (
            f"{found.cluster.name} has weeks without jobs, which have no rate of growth: set "
            "--growth-frac-per-quarter"
        )
        return Ahead("", none, none, none, None, why)
    made = forecast(weekly, request.quarters)
    now = found.load.mean  # of the jobs that were replayed
    model = MOVES if made.moving_frac >= MOSTLY else FADES
    return Ahead(model, made.level / now, made.low / now, made.high / now, made)
