"""Demand response: load that is enrolled for a payment, and pauses when it is called."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.onsite import generated_mw, interruptible_mw
from dcplan.planning.model.power import racks_mean_mw
from dcplan.planning.model.sets import Sets
from dcplan.planning.model.upgrades import powered
from dcplan.planning.problem.terms import SiteTerms
from dcplan.units import KW_PER_MW, QUARTERS_PER_YEAR, USD_PER_MUSD


def add_response(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Limit the enrolled load to the mean load of the racks, and to the peak without interruptible power.

    .. math:: a_{st} \le \sum_{hkc} \mathrm{PUE}_c w_{hkct}, \quad a_{st} + \sum_y d_{syt} \le P_{st}

    Its work pauses as that of interruptible power does (``paused_work``). Networks and storage stay on
    in a call. Load earns money here, so a row that counts too little of it makes the bound wrong, and one
    that counts an amount which the model only bounds from below makes it useless: the load of racks is
    exact in every model. With ideal shares, firm power and plants limit the enrolled load instead of the
    peak, which follows from both rows of the peak: :math:`a_{st} \le G_{st} + \sum_o g_{sot}`.
    """
    sites, quarters = [s.id for s in sets.problem.sites if s.response], list(sets.quarters)

    def within_peak(m: pyo.ConcreteModel, s: str, t: int) -> Any:
        if sets.relaxed:
            return m.enrolled[s, t] <= sets.problem.site(s).utility_mw[t] + generated_mw(m, s, t)
        return m.enrolled[s, t] + interruptible_mw(m, s, t) <= m.peak_mw[s, t]

    model.enrolled_load = pyo.Constraint(
        sites, quarters, rule=lambda m, s, t: m.enrolled[s, t] <= _able_mw(m, sets, s, t)
    )
    model.enrolled_peak = pyo.Constraint(sites, quarters, rule=within_peak)


def _able_mw(m: pyo.ConcreteModel, sets: Sets, site: str, t: int) -> Any:
    """Return the mean load of racks, less their idle power where they draw it in a call [MW]."""
    mean = racks_mean_mw(m, sets, site, t)
    if not sets.problem.site(site).pauses_idle:
        return mean
    season = sets.problem.season(t)
    return mean - sum(
        sets.problem.cooled(k).pue_at(season)
        / KW_PER_MW
        * sets.places[k].idle_average_kw
        * powered(m, k, t)
        for k in sets.places
        if sets.problem.hall(k[0]).site == site
    )


def response_musd(model: pyo.ConcreteModel, site: SiteTerms, t: int) -> Any:
    """Return the payment for enrolled load in a quarter, below 0 [M$]."""
    if site.response is None:
        return 0.0
    usd = site.response.usd_per_mw_year[t] / QUARTERS_PER_YEAR
    return -usd / USD_PER_MUSD * model.enrolled[site.id, t]
