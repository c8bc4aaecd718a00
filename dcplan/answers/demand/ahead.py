"""Demand of the coming quarters of one cluster: the growth that is given, or the forecast of the log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.answers.demand.request import DemandRequest
from dcplan.answers.demand.sized import Sized
from dcplan.demand.log.forecast import Forecast, forecast, least_weeks, weekly_use
from dcplan.demand.log.jobs import Array

GIVEN = "growth as given"


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


def ahead(request: DemandRequest, found: Sized) -> Ahead:
    """Return the demand of each quarter over that of the log.

    A growth that is given has no spread of its own. Without it, the log must be as long as the
    horizon.
    """
    quarters = np.arange(request.quarters)
    if request.growth_frac_per_quarter is not None:
        given = np.asarray((1.0 + request.growth_frac_per_quarter) ** quarters, dtype=np.float64)
        return Ahead(GIVEN, given, given, given, None)
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
    return Ahead(made.model, made.level / now, made.low / now, made.high / now, made)
