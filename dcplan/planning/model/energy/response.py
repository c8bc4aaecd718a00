"""Demand response: load that is enrolled for a payment, and pauses when it is called."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.onsite import interruptible_mw
from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.terms import SiteTerms
from dcplan.units import HOURS_PER_QUARTER, QUARTERS_PER_YEAR, USD_PER_MUSD


def add_response(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Limit the enrolled load to the mean load, and to the peak without interruptible power.

    .. math:: a_{st} \le E_{st} / H, \quad a_{st} + \sum_y d_{syt} \le P_{st}

    Its work pauses as that of interruptible power does (``paused_work``).
    """
    sites, quarters = [s.id for s in sets.problem.sites if s.response], list(sets.quarters)
    model.enrolled_load = pyo.Constraint(
        sites,
        quarters,
        rule=lambda m, s, t: m.enrolled[s, t] <= m.energy_mwh[s, t] / HOURS_PER_QUARTER,
    )
    model.enrolled_peak = pyo.Constraint(
        sites,
        quarters,
        rule=lambda m, s, t: m.enrolled[s, t] + interruptible_mw(m, s, t) <= m.peak_mw[s, t],
    )


def response_musd(model: pyo.ConcreteModel, site: SiteTerms, t: int) -> Any:
    """Return the payment for enrolled load in a quarter, below 0 [M$]."""
    if site.response is None:
        return 0.0
    usd = site.response.usd_per_mw_year[t] / QUARTERS_PER_YEAR
    return -usd / USD_PER_MUSD * model.enrolled[site.id, t]
