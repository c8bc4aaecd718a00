"""A price of operational carbon, by location or by market."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.energy.contracts import clean, signed
from dcplan.planning.model.onsite import grid_mwh
from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.terms import SiteTerms
from dcplan.units import KG_PER_TONNE, QUARTERS_PER_YEAR, USD_PER_MUSD


def add_carbon_price(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Add the energy of each year that no carbon-free contract covers, where its carbon has a price.

    .. math:: u_{sy} \ge \sum_{t \in y} \Bigl(E_{st} - \sum_o e_{sot} - \sum_x o_{xt} n_{sxt}\Bigr),
              \quad u_{sy} \ge 0
    """
    sites = [s for s in sets.problem.sites if s.carbon_usd_per_t and s.carbon_by_market]
    years = range(-(-len(sets.quarters) // QUARTERS_PER_YEAR))
    model.uncovered_mwh = pyo.Var([s.id for s in sites], list(years), domain=pyo.NonNegativeReals)

    def uncovered(m: pyo.ConcreteModel, s: str, year: int) -> Any:
        site = sets.problem.site(s)
        return m.uncovered_mwh[s, year] >= sum(
            grid_mwh(m, s, t) - _covered_mwh(m, sets, site, t)
            for t in sets.quarters
            if t // QUARTERS_PER_YEAR == year
        )

    model.uncovered = pyo.Constraint([s.id for s in sites], list(years), rule=uncovered)


def carbon_musd(model: pyo.ConcreteModel, sets: Sets, site: SiteTerms, t: int) -> Any:
    """Return the price of carbon in a quarter [M$]: by market, that of the year in its last quarter."""
    if not site.carbon_usd_per_t:
        return 0.0
    rate = site.carbon_usd_per_t[t] / KG_PER_TONNE / USD_PER_MUSD
    if not site.carbon_by_market:
        grid = site.grid_g_per_kwh * grid_mwh(model, site.id, t)
        return rate * (grid + _stacks_kg(model, site, t))
    year = t // QUARTERS_PER_YEAR
    quarters = [q for q in sets.quarters if q // QUARTERS_PER_YEAR == year]
    if t != quarters[-1]:
        return 0.0
    stacks = sum(_stacks_kg(model, site, q) for q in quarters)
    return rate * (site.market_g_per_kwh * model.uncovered_mwh[site.id, year] + stacks)


def _covered_mwh(model: pyo.ConcreteModel, sets: Sets, site: SiteTerms, t: int) -> Any:
    start = sets.problem.start
    return sum(x.output_mwh(start, t) * signed(model, site.id, x, t) for x in clean(site))


def _stacks_kg(model: pyo.ConcreteModel, site: SiteTerms, t: int) -> Any:
    return sum(
        o.g_per_kwh * model.onsite_mwh[site.id, o.id, t]
        for o in site.onsite
        if o.g_per_kwh and (site.id, o.id, t) in model.onsite_mwh
    )
