"""Site power: peak load, redundant blocks, billed demand, energy, carbon and water."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyomo.core as pyo

from dcplan.facility.electrical.power import RULES
from dcplan.planning.decision_specs import BLOCK_PAIRS
from dcplan.planning.model.energy.heat import pump_mw
from dcplan.planning.model.halls import margin, network_kw, storage_kw
from dcplan.planning.model.onsite import generated_mw, generated_mwh, interruptible_mw
from dcplan.planning.model.sets import P, Sets
from dcplan.planning.model.upgrades import powered
from dcplan.planning.problem.terms import Cooled
from dcplan.units import HOURS_PER_QUARTER, KG_PER_TONNE, KW_PER_MW, L_PER_M3, QUARTERS_PER_YEAR


def add_power(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Constrain the power of each site.

    .. math::
       P_{st} = \sum_{h,k,c} w_k\,\mathrm{PUE}^{peak}_c n_{hkct} + w^{net}\,\mathrm{PUE}^{peak},
       \quad P_{st} \le G_{st}, \quad B (b_{st} - r\,u_{st}) \ge \rho\, P^{new}_{st}, \quad B
       (b_{st} - u_{st}) \ge P^{new}_{st}

    Energy is average power by state times the mean PUE, in the season, of the racks' system and
    cooling option.
    """
    problem, t = sets.problem, list(sets.quarters)
    sites = [s.id for s in problem.sites]
    pairs = [(h.id, c.id) for h in problem.halls for c in h.coolings]
    site_of = {h.id: h.site for h in problem.halls}
    count = {h.id: h.count for h in problem.halls}
    model.site_peak = pyo.Constraint(
        sites, t, rule=lambda m, s, q: m.peak_mw[s, q] == site_peak_mw(m, sets, s, q, upper=True)
    )
    model.utility_mw = pyo.Constraint(
        sites,
        t,
        rule=lambda m, s, q: (
            m.peak_mw[s, q] + pump_mw(m, sets, s, q)
            <= problem.site(s).utility_mw[q] + interruptible_mw(m, s, q) + generated_mw(m, s, q)
        ),
    )
    model.site_used = pyo.Constraint(
        pairs, t, rule=lambda m, h, c, q: m.fitted[h, c, q] <= count[h] * m.used[site_of[h], q]
    )
    if problem.sites_max is not None:
        model.sites_max = pyo.Constraint(
            expr=sum(model.used[s, t[-1]] for s in sites) <= problem.sites_max
        )
    if problem.sites_min is not None:
        model.sites_min = pyo.Constraint(
            expr=sum(model.used[s, t[-1]] for s in sites) >= problem.sites_min
        )
        model.site_occupied = pyo.Constraint(
            sites, rule=lambda m, s: m.used[s, t[-1]] <= _racks_at(m, sets, s, t[-1])
        )
    _add_blocks(model, sets, t, pairs)
    billed = [s.id for s in problem.sites if s.demand_usd_per_kw_month > 0]
    model.billed_peak = pyo.Constraint(
        billed,
        t,
        rule=lambda m, s, q: (
            m.billed_mw[s, q]
            >= site_peak_mw(m, sets, s, q, upper=False)
            + pump_mw(m, sets, s, q)
            - generated_mw(m, s, q)
        ),
    )
    model.billed_minimum = pyo.Constraint(billed, t, rule=lambda m, s, q: _minimum(m, sets, s, q))
    model.site_energy = pyo.Constraint(
        sites, t, rule=lambda m, s, q: m.energy_mwh[s, q] == _energy_mwh(m, sets, s, q)
    )
    mixed = [s.id for s in problem.sites if s.tranches or s.onsite]
    model.grid_energy = pyo.Constraint(mixed, t, rule=lambda m, s, q: _grid_energy(m, sets, s, q))
    _add_caps(model, sets)


def _racks_at(model: pyo.ConcreteModel, sets: Sets, site: str, t: int) -> Any:
    """Return the racks in service at a site."""
    halls = {h.id for h in sets.problem.halls if h.site == site}
    return sum(model.racks[key, t] for key in sets.places if key[0] in halls)


def _grid_energy(model: pyo.ConcreteModel, sets: Sets, site: str, t: int) -> Any:
    """Limit grid energy to firm and used interruptible power; plants generate the rest."""
    need = _energy_mwh(model, sets, site, t, upper=True) - generated_mwh(model, site, t)
    return need <= HOURS_PER_QUARTER * (
        sets.problem.site(site).utility_mw[t] + interruptible_mw(model, site, t)
    )


def _minimum(model: pyo.ConcreteModel, sets: Sets, site: str, t: int) -> Any:
    terms = sets.problem.site(site)
    return (
        model.billed_mw[site, t]
        >= terms.minimum_take_frac * terms.utility_mw[t] * model.used[site, t]
    )


def site_peak_mw(
    model: pyo.ConcreteModel, sets: Sets, site: str, t: int, *, upper: bool, new_only: bool = False
) -> Any:
    """Return the facility peak of a site on the design day, from rated power [MW]."""
    total: Any = 0.0
    for hall in sets.problem.halls:
        if hall.site != site or (new_only and not hall.needs_blocks) or not hall.coolings:
            continue
        pue = [c.peak_pue for c in hall.coolings]
        network = max(pue) if upper and not sets.relaxed else min(pue)
        total += sum(
            sets.places[k].rated_kw
            * sets.problem.cooled(k).peak_pue
            / KW_PER_MW
            * powered(model, k, t)
            for k in sets.in_hall[hall.id]
        )
        total += network_kw(model, sets, hall.id, t, upper=upper) * (
            network / KW_PER_MW
        ) + storage_kw(model, sets, hall.id, t) * (network / KW_PER_MW)
        if upper:
            kept = margin(sets, hall.id, "margin_kw") * network / KW_PER_MW
            total += sum(kept * model.fitted[hall.id, c.id, t] for c in hall.coolings)
    return total


def racks_peak_mw(model: pyo.ConcreteModel, sets: Sets, site: str, t: int) -> Any:
    """Return the rated power of a site's racks that are on, at the peak PUE of their cooling [MW]."""
    return sum(
        sets.places[k].rated_kw * sets.problem.cooled(k).peak_pue / KW_PER_MW * powered(model, k, t)
        for k in sets.places
        if sets.problem.hall(k[0]).site == site
    )


def racks_mean_mw(model: pyo.ConcreteModel, sets: Sets, site: str, t: int) -> Any:
    """Return the mean load of a site's racks in a quarter, with their cooling [MW]."""
    season = sets.problem.season(t)
    return sum(
        sets.problem.cooled(k).pue_at(season) / KW_PER_MW * racks_kw(model, sets, k, t)
        for k in sets.places
        if sets.problem.hall(k[0]).site == site
    )


def _add_blocks(
    model: pyo.ConcreteModel, sets: Sets, t: list[int], pairs: list[tuple[str, str]]
) -> None:
    backed, paired = sets.backed, sets.two_sided
    new = [(h, c) for h, c in pairs if sets.problem.hall(h).needs_blocks]

    def enough(m: pyo.ConcreteModel, s: str, q: int) -> Any:
        terms = sets.problem.site(s)
        factor, spare = RULES[terms.redundancy]
        carried = terms.block_mw * (m.blocks[s, q] - spare * m.used_new[s, q])
        return carried >= factor * site_peak_mw(m, sets, s, q, upper=True, new_only=True)

    def one_may_fail(m: pyo.ConcreteModel, s: str, q: int) -> Any:
        terms = sets.problem.site(s)
        if RULES[terms.redundancy] in (RULES["n"], RULES["n+1"]):
            return (
                pyo.Constraint.Skip
            )  # N has no spare block; for N+1 the constraint above is the same
        carried = terms.block_mw * (m.blocks[s, q] - m.used_new[s, q])
        return carried >= site_peak_mw(m, sets, s, q, upper=True, new_only=True)

    for s in backed:
        for q in range(min(sets.problem.site(s).block_lead, len(t))):
            model.blocks[s, q].setub(0)
    model.power_blocks = pyo.Constraint(backed, t, rule=enough)
    model.power_block_may_fail = pyo.Constraint(backed, t, rule=one_may_fail)
    if paired:
        model.block_pairs = pyo.Var(BLOCK_PAIRS.index(sets), domain=pyo.NonNegativeIntegers)
        model.two_sides = pyo.Constraint(
            paired, t, rule=lambda m, s, q: m.blocks[s, q] == 2 * m.block_pairs[s, q]
        )
    model.blocks_stay = pyo.Constraint(
        backed, t[1:], rule=lambda m, s, q: m.blocks[s, q] >= m.blocks[s, q - 1]
    )
    model.new_hall_used = pyo.Constraint(
        new,
        t,
        rule=lambda m, h, c, q: (
            m.fitted[h, c, q]
            <= sets.problem.hall(h).count * m.used_new[sets.problem.hall(h).site, q]
        ),
    )


def _pue(sets: Sets, t: int) -> Callable[[Cooled], float]:
    """Return the PUE of the season of a quarter."""
    season = sets.problem.season(t)
    return lambda cooled: cooled.pue_at(season)


def _wue(sets: Sets, t: int) -> Callable[[Cooled], float]:
    """Return the WUE of the season of a quarter."""
    season = sets.problem.season(t)
    return lambda cooled: cooled.wue_at(season)


def _energy_mwh(
    model: pyo.ConcreteModel,
    sets: Sets,
    site: str,
    t: int,
    given: Callable[[Cooled], float] | None = None,
    *,
    upper: bool = False,
) -> Any:
    """Return average power by state times the mean PUE of the season.

    All racks use idle power, and more while they train or do research.

    With the WUE as ``given`` the same sum is site water in m3, because WUE is per IT energy.
    """
    total: Any = 0.0
    rate = given or _pue(sets, t)
    for hall in sets.problem.halls:
        if hall.site != site or not hall.coolings:
            continue
        pue = [rate(c.other) for c in hall.coolings]
        network = max(pue) if upper and not sets.relaxed else min(pue)
        for key in sets.in_hall[hall.id]:
            own = rate(sets.problem.cooled(key))
            total += HOURS_PER_QUARTER * own / KW_PER_MW * racks_kw(model, sets, key, t)
        total += network_kw(model, sets, hall.id, t, upper=upper) * (
            HOURS_PER_QUARTER * network / KW_PER_MW
        )
        if upper:
            kept = margin(sets, hall.id, "margin_kw") * HOURS_PER_QUARTER * network / KW_PER_MW
            total += sum(kept * model.fitted[hall.id, c.id, t] for c in hall.coolings)
        total += storage_kw(model, sets, hall.id, t) * (HOURS_PER_QUARTER * network / KW_PER_MW)
    return total


def racks_kw(model: pyo.ConcreteModel, sets: Sets, key: P, t: int) -> Any:
    """Return the mean IT power of the racks of a placement: idle power, and more while they work [kW]."""
    place = sets.places[key]
    total: Any = place.idle_average_kw * powered(model, key, t)
    if (key, t) in model.training or (*key, t) in model.training:
        more = (place.training_kw - place.idle_average_kw) / place.accelerators
        total += more * model.training[key, t]
    for demand in sets.problem.demands:
        if (demand.id, *key, t) in model.serving:
            total += place.serving_kw(demand) * model.serving[demand.id, key, t]
    return total


def water_m3(model: pyo.ConcreteModel, sets: Sets, site: str, t: int) -> Any:
    """Return the site water of a quarter [m3]."""
    return _energy_mwh(model, sets, site, t, _wue(sets, t))


def _add_caps(model: pyo.ConcreteModel, sets: Sets) -> None:
    years = range(-(-len(sets.quarters) // QUARTERS_PER_YEAR))

    def carbon(m: pyo.ConcreteModel, s: str, year: int) -> Any:
        terms = sets.problem.site(s)
        part = [q for q in sets.quarters if q // QUARTERS_PER_YEAR == year]
        limit = (terms.max_t_per_year or 0.0) * len(part) / QUARTERS_PER_YEAR
        made = sum(
            (o.g_per_kwh - terms.grid_g_per_kwh) * m.onsite_mwh[s, o.id, q]
            for o in terms.onsite
            for q in part
            if (s, o.id, q) in m.onsite_mwh
        )
        mwh = sum(_energy_mwh(m, sets, s, q, upper=True) for q in part)
        return (mwh * terms.grid_g_per_kwh + made) / KG_PER_TONNE <= limit

    def water(m: pyo.ConcreteModel, s: str, year: int) -> Any:
        part = [q for q in sets.quarters if q // QUARTERS_PER_YEAR == year]
        limit = (
            (sets.problem.site(s).max_l_per_year or 0.0) / L_PER_M3 * len(part) / QUARTERS_PER_YEAR
        )
        used = sum(_energy_mwh(m, sets, s, q, _wue(sets, q), upper=True) for q in part)
        return used <= limit if hasattr(used, "is_expression_type") else pyo.Constraint.Skip

    dry = [s.id for s in sets.problem.sites if s.max_l_per_year is not None]
    model.water_cap = pyo.Constraint(dry, list(years), rule=water)
    owned = [s.id for s in sets.problem.sites if s.water_right_m3]
    model.water_right = pyo.Constraint(
        owned, list(sets.quarters), rule=lambda m, s, q: _within_right(m, sets, s, q)
    )
    capped = [s.id for s in sets.problem.sites if s.max_t_per_year is not None]
    model.carbon_cap = pyo.Constraint(capped, list(years), rule=carbon)


def _within_right(model: pyo.ConcreteModel, sets: Sets, site: str, t: int) -> Any:
    """Limit the site water of a quarter, with the WUE of its season."""
    used = _energy_mwh(model, sets, site, t, _wue(sets, t), upper=True)
    if not hasattr(used, "is_expression_type"):
        return pyo.Constraint.Skip
    return used <= sets.problem.site(site).water_right_m3[t]
