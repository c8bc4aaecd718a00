"""Permits of on-site plants: hours of operation in a calendar year."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.onsite import serving
from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.energy import calendar_years
from dcplan.units import QUARTERS_PER_YEAR


def add_permits(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Limit the energy of plants with a permit in each calendar year y of the horizon.

    .. math::
       \sum_{t \in y} e_{sot} \le \frac{h_o}{4} B_o \sum_{t \in y} \sum_{\tau \le t - L_o} b_{so\tau}

    A unit has a fourth of the hours for each quarter in service.
    """
    problem = sets.problem
    years = calendar_years(problem.start, problem.quarters)
    permitted = {
        (f"{s.id} {o.id}", year.start): (s.id, o, year)
        for s in problem.sites
        for o in s.onsite
        if o.permit_h_per_year is not None and o.most_units > o.spare_units
        for year in years
    }

    def hours(m: pyo.ConcreteModel, where: str, first: int) -> Any:
        s, o, year = permitted[where, first]
        each_h = (o.permit_h_per_year or 0.0) / QUARTERS_PER_YEAR
        able = sum(o.unit_mw * each_h * serving(m, s, o, t) for t in year)
        return sum(m.onsite_mwh[s, o.id, t] for t in year) <= able

    model.onsite_permit = pyo.Constraint(list(permitted), rule=hours)
