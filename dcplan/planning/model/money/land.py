"""Land of sites, bought in the quarter in which a site is first used, in M USD."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.terms import SiteTerms
from dcplan.units import USD_PER_MUSD


def add_land(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Let a site with land be used only while a hall of it is fitted out.

    .. math::
       u_{st} \le \sum_{h \in s} \sum_c f_{hct}

    Fitted halls stay, so that the land is bought once, with the first of them.
    """
    halls = {
        s.id: [(h.id, c.id) for h in sets.problem.halls if h.site == s.id for c in h.coolings]
        for s in _with_land(sets)
    }

    def fitted(m: pyo.ConcreteModel, s: str, t: int) -> Any:
        units = sum(m.fitted[h, c, t] for h, c in halls[s])
        return m.used[s, t] <= units if halls[s] else m.used[s, t] == 0

    model.land_fitted = pyo.Constraint(list(halls), list(sets.quarters), rule=fitted)


def land_musd(
    model: pyo.ConcreteModel, sets: Sets, t: int, sites: Collection[str] | None = None
) -> Any:
    """Return the price of the land bought in a quarter at some sites, or at all [M$]."""
    here = (s for s in _with_land(sets) if sites is None or s.id in sites)
    return sum(_bought_musd(model, s, t) for s in here)


def land_left_musd(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return the value at the end of the horizon of the land bought in a quarter [M$]."""
    return sum(s.land_left_frac[t] * _bought_musd(model, s, t) for s in _with_land(sets))


def _with_land(sets: Sets) -> list[SiteTerms]:
    return [s for s in sets.problem.sites if s.land_usd]


def _bought_musd(model: pyo.ConcreteModel, site: SiteTerms, t: int) -> Any:
    before = model.used[site.id, t - 1] if t else 0
    return site.land_usd / USD_PER_MUSD * (model.used[site.id, t] - before)
