"""Waste heat that a site sells, and the water that it buys."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.power import racks_kw, water_m3
from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.terms import SiteTerms
from dcplan.units import HOURS_PER_QUARTER, KW_PER_MW, USD_PER_MUSD


def utilities_musd(model: pyo.ConcreteModel, sets: Sets, site: SiteTerms, t: int) -> Any:
    """Return the price of water less the margin of sold heat in a quarter, with its connection [M$]."""
    total: Any = 0.0
    if site.water_usd_per_m3:
        total += site.water_usd_per_m3[t] / USD_PER_MUSD * water_m3(model, sets, site.id, t)
    if site.heat is None:
        return total
    if t == site.heat.first:
        total += site.heat.connection_usd / USD_PER_MUSD
    for hall in sets.problem.halls:
        if hall.site != site.id:
            continue
        for key in sets.in_hall[hall.id]:
            place, heat_c = sets.places[key], hall.cooling(key[1]).heat_c
            if heat_c is None:
                continue
            net = site.heat.net_usd_per_mwh(heat_c, site.usd_per_kwh[t], t)
            hours = site.heat.hours_frac[t] * HOURS_PER_QUARTER / KW_PER_MW
            rate = net * hours * place.liquid_kw / place.rated_kw / USD_PER_MUSD
            total -= rate * racks_kw(model, sets, key, t)
    return total
