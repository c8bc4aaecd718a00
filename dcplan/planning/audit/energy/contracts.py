"""Contracts for power through the grid, recomputed by hour: energy, payments, matching, carbon."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.energy.taken import taken_mw
from dcplan.planning.audit.onsite import generated_mwh, stacks_kg, weather_hours
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.contracts import ContractTerms
from dcplan.planning.problem.energy import Array, shapes_at
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from dcplan.units import HOURS_PER_QUARTER, KG_PER_TONNE, KW_PER_MW, QUARTERS_PER_YEAR


def signed(d: Decisions, site: SiteTerms, contract: ContractTerms, t: int) -> int:
    """Return the steps of a contract in force in a quarter."""
    return sum(
        n for (s, x, q), n in d.contracted.items() if (s, x) == (site.id, contract.id) and q <= t
    )


def output_mwh(
    problem: PlanningProblem, d: Decisions, site: SiteTerms, contract: ContractTerms, t: int
) -> float:
    """Return all energy of a contract in a quarter, used or not [MWh]."""
    steps = signed(d, site, contract, t)
    return steps * contract.output_mwh(problem.start, t) if steps else 0.0


def contracted_mwh(d: Decisions, site: SiteTerms, t: int) -> float:
    """Return the energy of contracts that the load of a site uses [MWh]."""
    return sum(e for (s, _, q), e in d.contract_mwh.items() if (s, q) == (site.id, t))


def tariff_mwh(d: Decisions, site: SiteTerms, facility_mwh: float, t: int) -> float:
    """Return the energy that the tariff bills: neither from plants on the site nor from contracts [MWh]."""
    return facility_mwh - generated_mwh(d, site, t) - contracted_mwh(d, site, t)


def used_mwh(
    problem: PlanningProblem, d: Decisions, site: SiteTerms, facility_mwh: float, t: int
) -> dict[str, float]:
    """Return what the load of a site uses of each contract in a quarter, hour by hour [MWh].

    The load is the mean of the quarter, less the output of PV and wind that it takes in the hour, and
    less other plants at constant power. Contracts whose surplus earns least, after delivery, come first.
    """
    if not site.contracts:
        return {}
    order = sorted(site.contracts, key=lambda x: x.used_usd_per_mwh(t))
    shapes, each_h = shapes_at(order, problem.start, t)
    taken, _ = weather_hours(problem, d, site, facility_mwh, t)
    firm_mwh = sum(d.onsite_mwh.get((site.id, o.id, t), 0.0) for o in site.onsite if o.firm)
    load = (facility_mwh - firm_mwh) / HOURS_PER_QUARTER - taken.sum(axis=0)
    mw = taken_mw(
        _rated(d, site, order, t) * shapes, np.maximum(load, 0.0) + np.zeros(shapes.shape[1])
    )
    found = mw.sum(axis=1) * each_h
    most = facility_mwh - generated_mwh(d, site, t)
    total = float(found.sum())
    scale = most / total if total > most > 0.0 else 1.0
    return {x.id: float(mwh) * scale for x, mwh in zip(order, found, strict=True)}


def _rated(d: Decisions, site: SiteTerms, contracts: Iterable[ContractTerms], t: int) -> Array:
    return np.array([[x.step_mw * signed(d, site, x, t)] for x in contracts])


def with_used_energy(
    problem: PlanningProblem, d: Decisions, facility_mwh: dict[tuple[str, int], float]
) -> Decisions:
    """Return the plan with the energy of contracts that the exact load uses."""
    found = {
        (site.id, x, t): mwh
        for site in problem.sites
        if site.contracts
        for t in range(problem.quarters)
        for x, mwh in used_mwh(problem, d, site, facility_mwh[site.id, t], t).items()
        if mwh > 0.0
    }
    return replace(d, contract_mwh=found)


def contract_flows(problem: PlanningProblem, d: Decisions, site: SiteTerms) -> Iterable[Flow]:
    """Yield the payments for contracts: all output, delivery of what is used, and sold surplus."""
    shared, other = Sharing(Driver.ENERGY), AssetClass.OTHER
    for x in site.contracts:
        for t in range(problem.quarters):
            made = output_mwh(problem, d, site, x, t)
            used = d.contract_mwh.get((site.id, x.id, t), 0.0)
            for line, mwh, usd in (
                (f"energy of {x.id}", made, x.usd_per_mwh[t]),
                (f"delivery of {x.id}", used, x.delivery_usd_per_mwh[t]),
                (f"surplus of {x.id}", max(made - used, 0.0), -x.surplus_usd_per_mwh[t]),
            ):
                if mwh * usd:
                    kwh = Goods(x.id, mwh * KW_PER_MW, Unit.KWH)
                    paid = mwh * usd
                    group = FlowGroup.ENERGY
                    yield Flow(t, group, line, paid, site.id, asset=other, shared=shared, goods=kwh)


@dataclass(frozen=True)
class Matched:
    """Carbon-free energy of a site over some quarters, against its load."""

    load_mwh: float
    clean_mwh: float
    """Output of carbon-free contracts, and energy of carbon-free plants on the site."""
    hourly_mwh: float
    """The same, in each hour no more than the load."""
    location_t: float
    """Operational carbon with that of the grid for every MWh from it."""
    market_t: float
    """With no carbon for carbon-free contracts of the year, and the residual mix for the rest."""

    @property
    def annual_frac(self) -> float:
        """Return the share of the load that carbon-free energy of the year covers, at most 1."""
        return min(self.clean_mwh / self.load_mwh, 1.0) if self.load_mwh else 0.0

    @property
    def hourly_frac(self) -> float:
        """Return the share of the load that carbon-free energy of the same hour covers."""
        return self.hourly_mwh / self.load_mwh if self.load_mwh else 0.0


def matched(
    problem: PlanningProblem, d: Decisions, site: SiteTerms, facility_mwh: dict[int, float]
) -> Matched:
    """Return the carbon-free energy and the carbon of a site over a year.

    Parameters
    ----------
    facility_mwh : dict
        Energy of the site by quarter of the year.
    """
    quarters = list(facility_mwh)
    load = sum(facility_mwh.values())
    clean = [x for x in site.contracts if x.carbon_free]
    bought = sum(output_mwh(problem, d, site, x, t) for x in clean for t in quarters)
    clean_plants = {o.id for o in site.onsite if o.clean}
    own = sum(
        e
        for (s, o, t), e in d.onsite_mwh.items()
        if s == site.id and o in clean_plants and t in quarters
    )
    from_grid = load - sum(generated_mwh(d, site, t) for t in quarters)
    stacks = sum(stacks_kg(d, site, t) for t in quarters)
    location = from_grid * site.grid_g_per_kwh + stacks
    market = max(from_grid - bought, 0.0) * site.market_g_per_kwh + stacks
    return Matched(
        load_mwh=load,
        clean_mwh=bought + own,
        hourly_mwh=sum(_hourly_mwh(problem, d, site, facility_mwh[t], t) for t in quarters),
        location_t=location / KG_PER_TONNE,
        market_t=market / KG_PER_TONNE,
    )


def _hourly_mwh(
    problem: PlanningProblem, d: Decisions, site: SiteTerms, facility_mwh: float, t: int
) -> float:
    """Return the carbon-free energy of a quarter, in each hour no more than the mean load [MWh]."""
    clean = [x for x in site.contracts if x.carbon_free]
    made, each_h = weather_hours(problem, d, site, facility_mwh, t)
    total = made.sum(axis=0)
    if clean:
        shapes, each_h = shapes_at(clean, problem.start, t)
        total = total + (_rated(d, site, clean, t) * shapes).sum(axis=0)
    steady = sum(d.onsite_mwh.get((site.id, o.id, t), 0.0) for o in site.onsite if o.steady)
    room = (facility_mwh - steady) / HOURS_PER_QUARTER
    return float(np.minimum(total, room).sum()) * each_h + steady


def years_of(problem: PlanningProblem) -> list[range]:
    """Return the quarters of each year of the plan; the last year may have fewer."""
    return [
        range(first, min(first + QUARTERS_PER_YEAR, problem.quarters))
        for first in range(0, problem.quarters, QUARTERS_PER_YEAR)
    ]


def contract_limits(
    problem: PlanningProblem, d: Decisions, site: SiteTerms, facility_mwh: dict[int, float]
) -> Iterable[tuple[CheckId, str, int, float, float]]:
    """Yield check, place, quarter, use and limit: steps of contracts, their energy, matching of years."""
    for x in site.contracts:
        for t in range(problem.quarters):
            where, steps = f"{site.id} {x.id}", signed(d, site, x, t)
            used = d.contract_mwh.get((site.id, x.id, t), 0.0)
            yield CheckId.CONTRACT_STEPS, where, t, steps, x.most_steps if t >= x.first else 0
            able = used_mwh(problem, d, site, facility_mwh[t], t)[x.id]
            yield CheckId.CONTRACT_MWH, where, t, used, able
    least = site.matched
    if least.annual_frac is None and least.hourly_frac is None:
        return
    for year in years_of(problem):
        found = matched(problem, d, site, {t: facility_mwh[t] for t in year})
        for check, share, made in (
            (CheckId.MATCHED_ANNUAL_MWH, least.annual_frac, found.clean_mwh),
            (CheckId.MATCHED_HOURLY_MWH, least.hourly_frac, found.hourly_mwh),
        ):
            if share is not None:
                yield check, site.id, year.start, share * found.load_mwh, made
