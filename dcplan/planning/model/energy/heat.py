"""Power of the heat pump that lifts sold waste heat, on the site's connection."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.sets import Sets
from dcplan.planning.model.upgrades import powered
from dcplan.units import KW_PER_MW


def pump_mw(model: pyo.ConcreteModel, sets: Sets, site: str, t: int) -> Any:
    r"""Return the power of a site's heat pump at rated power of its liquid-cooled racks [MW].

    .. math:: W_{st} = \sum_{h,k,c} \frac{q^{liq}_k n_{hkct}}{COP_c - 1}

    It is 0 where no heat is sold, where the water is warm enough, and where the pump has a connection of its own.
    """
    terms = sets.problem.site(site)
    total: Any = 0.0
    if terms.heat is None:
        return total
    for hall in (h for h in sets.problem.halls if h.site == site):
        for key in sets.in_hall[hall.id]:
            heat_c = hall.cooling(key[1]).heat_c
            if heat_c is None:
                continue
            each = terms.heat.pump_mw_per_mw(heat_c, terms.usd_per_kwh[t], t)
            total += each * sets.places[key].liquid_kw / KW_PER_MW * powered(model, key, t)
    return total
