"""Power in addition to firm grid power, recomputed.

It covers the load of plants and tranches, paused work, cost and carbon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.energy.taken import taken_mw
from dcplan.planning.audit.energy.battery import bridged_mw, losses_mwh
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.energy import Array, OnsiteTerms, contract_usd, shapes_at
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from dcplan.units import HOURS_PER_QUARTER, KG_PER_TONNE, KW_PER_MW, MONTHS_PER_QUARTER


def units_serving(d: Decisions, site: SiteTerms, plant: OnsiteTerms, t: int) -> int:
    """Return the units of a plant in service in a quarter."""
    return sum(
        n
        for (s, o, q), n in d.onsite.items()
        if (s, o) == (site.id, plant.id) and q + plant.lead <= t
    )


def plants_mw(d: Decisions, site: SiteTerms, t: int) -> float:
    """Return the load that the plants of a site can carry, without spare units [MW].

    Of a battery it is the peak that it shaves.
    """
    return sum(
        x.unit_mw * max(units_serving(d, site, x, t) - x.spare_units, 0)
        if x.firm
        else d.onsite_mw.get((site.id, x.id, t), 0.0)
        for x in site.onsite
    )


def weather_hours(
    problem: PlanningProblem, d: Decisions, site: SiteTerms, facility_mwh: float, t: int
) -> tuple[Array, float]:
    """Return what a steady load takes from PV and wind in each hour [MW], and the length of an hour [h].

    The load is the mean of the quarter. Plants of equal cost come in the order of the scenario.
    """
    plants = weather_plants(site)
    shapes, each_h = shapes_at(plants, problem.start, t)
    rated = np.array([[x.unit_mw * units_serving(d, site, x, t)] for x in plants])
    if not plants:
        return shapes, each_h
    return taken_mw(rated * shapes, facility_mwh / HOURS_PER_QUARTER), each_h


def weather_plants(site: SiteTerms) -> list[OnsiteTerms]:
    """Return PV and wind of a site, those first that the load takes first."""
    return sorted((x for x in site.onsite if x.weather), key=lambda x: x.usd_per_mwh)


def weather_mwh(
    problem: PlanningProblem, d: Decisions, site: SiteTerms, facility_mwh: float, t: int
) -> dict[str, float]:
    """Return what a steady load takes from PV and wind in a quarter, hour by hour [MWh]."""
    taken, each_h = weather_hours(problem, d, site, facility_mwh, t)
    plants = weather_plants(site)
    return {x.id: float(mw.sum()) * each_h for x, mw in zip(plants, taken, strict=True)}


def interruptible_use_mw(
    d: Decisions, site: SiteTerms, peak_mw: float, facility_mwh: float, t: int
) -> dict[str, float]:
    """Return the interruptible power that a quarter needs beyond firm power [MW].

    It carries the peak that plants cannot carry, and supplies the mean power that plants do not
    generate, because a plant may stand still while the grid supplies its load. Power that batteries
    carry through interruptions comes first, then tranches with few hours of interruption.
    """
    mean_mw = (facility_mwh - generated_mwh(d, site, t)) / HOURS_PER_QUARTER
    left = max(peak_mw - plants_mw(d, site, t), mean_mw) - site.utility_mw[t]
    order = sorted(site.tranches, key=lambda x: x.hours_per_year)
    found = dict.fromkeys((x.id for x in order), 0.0)
    carried = {x.id: min(bridged_mw(d, site, x.id, t), x.mw[t]) for x in order}
    for most in (carried, {x.id: x.mw[t] for x in order}):
        for key, mw in most.items():
            more = min(max(left, 0.0), mw - found[key])
            found[key] += more
            left -= more
    return found


def limit_mw(d: Decisions, site: SiteTerms, t: int) -> float:
    """Return the maximum peak load of a site [MW]."""
    return site.utility_mw[t] + sum(x.mw[t] for x in site.tranches) + plants_mw(d, site, t)


def generated_mwh(d: Decisions, site: SiteTerms, t: int) -> float:
    """Return the energy from on-site plants [MWh]."""
    return sum(e for (s, _, q), e in d.onsite_mwh.items() if (s, q) == (site.id, t))


def generated_mw(d: Decisions, site: SiteTerms, t: int) -> float:
    """Return the peak load that plants carry instead of the grid [MW]."""
    return sum(e for (s, _, q), e in d.onsite_mw.items() if (s, q) == (site.id, t))


def carbon_t(d: Decisions, site: SiteTerms, facility_mwh: float, t: int) -> float:
    """Return the operational carbon of a site: grid and plants [t]."""
    from_grid = (facility_mwh - generated_mwh(d, site, t)) * site.grid_g_per_kwh
    return (from_grid + stacks_kg(d, site, t)) / KG_PER_TONNE


def stacks_kg(d: Decisions, site: SiteTerms, t: int) -> float:
    """Return the carbon of the plants of a site [kg]."""
    own = {o.id: o.g_per_kwh for o in site.onsite}
    return sum(own[o] * e for (s, o, q), e in d.onsite_mwh.items() if (s, q) == (site.id, t))


def redispatched(
    problem: PlanningProblem, d: Decisions, facility_mwh: Callable[[str, int], float]
) -> Decisions:
    """Return the plan with the plants' energy for the exact load.

    Integer switch counts raise the load above that of the model. Energy that the grid cannot
    supply comes from the running plants, the cheapest first. Energy beyond the load is not
    generated, the most expensive plants first. PV and wind give what the load takes from them.
    """
    made = dict(d.onsite_mwh)
    for site in (s for s in problem.sites if s.onsite):
        for t in range(problem.quarters):
            lost = losses_mwh(d, site, t)
            made |= {
                (site.id, key, t): -mwh
                for key, mwh in lost.items()
                if mwh > 0.0 or (site.id, key, t) in made
            }
            load = facility_mwh(site.id, t) + sum(lost.values())
            interruptible_mw = sum(x.mw[t] for x in site.tranches)
            given = weather_mwh(problem, d, site, load, t)
            plants = sorted(
                (o for o in site.onsite if o.battery is None), key=lambda o: (o.firm, o.usd_per_mwh)
            )
            room = {
                o.id: o.unit_mw
                * max(units_serving(d, site, o, t) - o.spare_units, 0)
                * HOURS_PER_QUARTER
                for o in plants
                if o.firm
            } | given
            now = {o.id: made.get((site.id, o.id, t), 0.0) for o in plants} | given
            short = (
                load
                - sum(now.values())
                - (site.utility_mw[t] + interruptible_mw) * HOURS_PER_QUARTER
            )
            for o in plants:
                more = min(max(short, 0.0), max(room[o.id] - now[o.id], 0.0))
                now[o.id], short = now[o.id] + more, short - more
            beyond = sum(now.values()) - load
            for o in reversed(plants):
                less = min(max(beyond, 0.0), now[o.id])
                now[o.id], beyond = now[o.id] - less, beyond - less
            made |= {
                (site.id, key, t): mwh
                for key, mwh in now.items()
                if mwh > 0.0 or (site.id, key, t) in made
            }
    return replace(d, onsite_mwh=made)


def flows_of(problem: PlanningProblem, d: Decisions, site: SiteTerms) -> Iterable[Flow]:
    """Yield the payments for plants: purchase, upkeep and fuel."""
    quarters, life = problem.quarters, problem.finance.life_months(AssetClass.POWER)
    power, other = AssetClass.POWER, AssetClass.OTHER
    rated, burned = Sharing(Driver.RATED), Sharing(Driver.ENERGY)
    for o in site.onsite:
        for t in range(quarters):
            level = problem.finance.level(t)
            use = Sharing(Driver.RATED, serves=(t + o.lead, quarters))
            new = d.onsite.get((site.id, o.id, t), 0)
            if new and o.usd:
                line, usd = f"power on site {o.id}", new * o.usd
                plants = Goods(o.id, new, Unit.PLANT, "", t + o.lead, life)
                yield Flow(
                    t, FlowGroup.CAPEX, line, usd, site.id, asset=power, shared=use, goods=plants
                )
            units = units_serving(d, site, o, t)
            contract = units * contract_usd(o, problem.start, t)
            if contract:
                line, usd = f"energy of {o.id}", level * contract
                kwh = Goods(o.id, contract / o.taken_usd_per_mwh * KW_PER_MW, Unit.KWH)
                yield Flow(
                    t, FlowGroup.ENERGY, line, usd, site.id, asset=other, shared=burned, goods=kwh
                )
            if units and o.fixed_usd_per_quarter:
                line, usd = f"upkeep of {o.id}", level * units * o.fixed_usd_per_quarter
                months = Goods(o.id, units * MONTHS_PER_QUARTER, Unit.PLANT_MONTH)
                yield Flow(
                    t, FlowGroup.OPEX, line, usd, site.id, asset=other, shared=rated, goods=months
                )
            mwh = d.onsite_mwh.get((site.id, o.id, t), 0.0)
            if mwh and o.usd_per_mwh:
                line, usd = f"energy of {o.id}", level * mwh * o.usd_per_mwh
                kwh = Goods(o.id, mwh * KW_PER_MW, Unit.KWH)
                yield Flow(
                    t, FlowGroup.ENERGY, line, usd, site.id, asset=other, shared=burned, goods=kwh
                )
