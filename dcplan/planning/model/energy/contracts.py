"""Contracts for power through the grid, and the least share of carbon-free energy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyomo.core as pyo

from dcplan.energy.taken import Cut, cuts
from dcplan.planning.decision_specs import CONTRACT
from dcplan.planning.model.onsite import grid_mwh, serving
from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.contracts import ContractTerms
from dcplan.planning.problem.energy import OnsiteTerms, shapes_at
from dcplan.planning.problem.terms import SiteTerms
from dcplan.units import HOURS_PER_QUARTER, QUARTERS_PER_YEAR, USD_PER_MUSD

M = USD_PER_MUSD


def declare_contracts(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Declare ``contract_buy``, steps by first quarter, and ``contract_mwh``, energy that the load uses."""
    terms = {(s.id, x.id): x for s in sets.problem.sites for x in s.contracts}
    model.contract_buy = pyo.Var(
        CONTRACT.index(sets),
        domain=pyo.NonNegativeIntegers,
        bounds=lambda _, s, x, q: (0, terms[s, x].most_steps),
    )
    model.contract_mwh = pyo.Var(list(terms), list(sets.quarters), domain=pyo.NonNegativeReals)


def add_contracts(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Limit contracts to their most MW, and their used energy to what the load takes hour by hour.

    .. math::
       m_{sxt} \le o_{xt} n_{sxt}, \quad \sum_x m_{sxt} \le E_{st} - \sum_o e_{sot}, \quad
       \sum_x m_{sxt} \le \sum_x c_{xi} S_x n_{sxt} + \frac{n_i}{H}
       \Bigl(E_{st} - \sum_{firm\,o} e_{sot}\Bigr)

    for each limit i of :func:`dcplan.energy.taken.cuts`; with PV or wind on the site also the limits
    of both together, of the whole load.
    """
    with_contracts = [s for s in sets.problem.sites if s.contracts]
    rows = [
        x
        for s in with_contracts
        for t in sets.quarters
        for plants in ([], _weather(s))[: 2 if _weather(s) else 1]
        for x in _limits(sets, s, plants, s.contracts, t)
    ]

    def most(m: pyo.ConcreteModel, s: str, x: str) -> Any:
        own = _of(sets, s, x)
        return signed(m, s, own, sets.quarters[-1]) <= own.most_steps

    def output(m: pyo.ConcreteModel, s: str, x: str, t: int) -> Any:
        own = _of(sets, s, x)
        able = own.output_mwh(sets.problem.start, t) * signed(m, s, own, t)
        return m.contract_mwh[s, x, t] <= able

    keys = [(s.id, x.id) for s in with_contracts for x in s.contracts if x.first in sets.quarters]
    all_keys = [(s.id, x.id) for s in with_contracts for x in s.contracts]
    model.contract_most = pyo.Constraint(keys, rule=most)
    model.contract_output = pyo.Constraint(all_keys, list(sets.quarters), rule=output)
    model.contract_taken = pyo.Constraint(range(len(rows)), rule=lambda m, i: _taken(m, rows[i]))
    model.contract_load = pyo.Constraint(
        [s.id for s in with_contracts],
        list(sets.quarters),
        rule=lambda m, s, t: contracted_mwh(m, s, t) <= grid_mwh(m, s, t),
    )


@dataclass(frozen=True)
class TakenLimit:
    """An upper limit of the energy that the load takes from some sources in a quarter."""

    site: SiteTerms
    plants: Sequence[OnsiteTerms]
    contracts: Sequence[ContractTerms]
    t: int
    cut: Cut
    each_h: float
    """Length of an hour of the quarter."""

    def most_mwh(self, m: pyo.ConcreteModel, load_mwh: Any) -> Any:
        """Return the limit for a load of the quarter [MWh]."""
        s, of_plants = self.site.id, self.cut.plant_h[: len(self.plants)]
        able: Any = sum(
            hours * o.unit_mw * serving(m, s, o, self.t)
            for o, hours in zip(self.plants, of_plants, strict=True)
        )
        of_contracts = self.cut.plant_h[len(self.plants) :]
        able += sum(
            hours * x.step_mw * signed(m, s, x, self.t)
            for x, hours in zip(self.contracts, of_contracts, strict=True)
        )
        return self.each_h * (able + self.cut.load_h / HOURS_PER_QUARTER * load_mwh)


def _limits(
    sets: Sets,
    site: SiteTerms,
    plants: Sequence[OnsiteTerms],
    contracts: Sequence[ContractTerms],
    t: int,
) -> list[TakenLimit]:
    if not plants and not contracts:
        return []
    shapes, each_h = shapes_at([*plants, *contracts], sets.problem.start, t)
    return [TakenLimit(site, plants, contracts, t, cut, each_h) for cut in cuts(shapes)]


def _weather(site: SiteTerms) -> list[OnsiteTerms]:
    return [o for o in site.onsite if o.weather and o.most_units]


def _taken(m: pyo.ConcreteModel, limit: TakenLimit) -> Any:
    """Limit what the load uses of contracts, after firm plants; or of contracts, PV and wind together."""
    s, t = limit.site.id, limit.t
    used = contracted_mwh(m, s, t) + sum(m.onsite_mwh[s, o.id, t] for o in limit.plants)
    load: Any = m.energy_mwh[s, t]
    if not limit.plants:
        firm = [o.id for o in limit.site.onsite if o.firm]
        load -= sum(m.onsite_mwh[s, o, t] for o in firm if (s, o, t) in m.onsite_mwh)
    return used <= limit.most_mwh(m, load)


def add_matching(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Add the least shares of carbon-free energy of each year.

    .. math::
       \sum_{t \in y} \Bigl(\sum_{x} o_{xt} n_{sxt} + \sum_{o} e_{sot}\Bigr) \ge \alpha
       \sum_{t \in y} E_{st}, \quad \sum_{t \in y} (h_{st} + g_{st}) \ge \eta \sum_{t \in y} E_{st}

    with g the energy of nuclear and geothermal plants, at constant power in a quarter, and h the
    carbon-free energy that the rest of the load takes hour by hour, over carbon-free contracts, PV and
    wind.
    """
    sites, quarters = sets.problem.sites, list(sets.quarters)
    hourly = [s for s in sites if s.matched.hourly_frac is not None]
    model.matched_mwh = pyo.Var([s.id for s in hourly], quarters, domain=pyo.NonNegativeReals)
    rows = [x for s in hourly for t in quarters for x in _limits(sets, s, _weather(s), clean(s), t)]
    model.matched_taken = pyo.Constraint(
        range(len(rows)),
        rule=lambda m, i: (
            m.matched_mwh[rows[i].site.id, rows[i].t]
            <= rows[i].most_mwh(m, after_steady(m, rows[i].site, rows[i].t))
        ),
    )
    none = [(s.id, t) for s in hourly for t in quarters if not _weather(s) and not clean(s)]
    for key in none:
        model.matched_mwh[key].fix(0.0)
    years = list(range(-(-len(quarters) // QUARTERS_PER_YEAR)))

    def of(year: int) -> list[int]:
        return [t for t in quarters if t // QUARTERS_PER_YEAR == year]

    def annually(m: pyo.ConcreteModel, s: str, year: int) -> Any:
        site = sets.problem.site(s)
        made = sum(clean_mwh(m, sets, site, t) for t in of(year))
        need = sum(m.energy_mwh[s, t] for t in of(year))
        return made - (site.matched.annual_frac or 0.0) * need >= 0.0

    def by_hour(m: pyo.ConcreteModel, s: str, year: int) -> Any:
        site = sets.problem.site(s)
        share = 1.0 - (site.matched.hourly_frac or 0.0)
        left = sum(after_steady(m, site, t) - m.matched_mwh[s, t] for t in of(year))
        return share * sum(m.energy_mwh[s, t] for t in of(year)) - left >= 0.0

    annual = [s.id for s in sites if s.matched.annual_frac is not None]
    model.matched_annual = pyo.Constraint(annual, years, rule=annually)
    model.matched_hourly = pyo.Constraint([s.id for s in hourly], years, rule=by_hour)


def clean(site: SiteTerms) -> list[ContractTerms]:
    """Return the contracts of a site with certificates of carbon-free generation."""
    return [x for x in site.contracts if x.carbon_free]


def clean_mwh(model: pyo.ConcreteModel, sets: Sets, site: SiteTerms, t: int) -> Any:
    """Return the energy of carbon-free plants, and all output of carbon-free contracts [MWh]."""
    made: Any = sum(
        model.onsite_mwh[site.id, o.id, t]
        for o in site.onsite
        if o.clean and (site.id, o.id, t) in model.onsite_mwh
    )
    return made + sum(
        x.output_mwh(sets.problem.start, t) * signed(model, site.id, x, t) for x in clean(site)
    )


def after_steady(model: pyo.ConcreteModel, site: SiteTerms, t: int) -> Any:
    """Return the energy of a site less that of plants that generate in all hours without carbon [MWh]."""
    steady = [o.id for o in site.onsite if o.steady and (site.id, o.id, t) in model.onsite_mwh]
    return model.energy_mwh[site.id, t] - sum(model.onsite_mwh[site.id, o, t] for o in steady)


def signed(model: pyo.ConcreteModel, site: str, contract: ContractTerms, t: int) -> Any:
    """Return the steps of a contract in force in a quarter."""
    return sum(
        v for (s, x, q), v in model.contract_buy.items() if (s, x) == (site, contract.id) and q <= t
    )


def contracted_mwh(model: pyo.ConcreteModel, site: str, t: int) -> Any:
    """Return the energy of contracts that the load of a site uses [MWh]."""
    return sum(v for (s, _, q), v in model.contract_mwh.items() if (s, q) == (site, t))


def tariff_mwh(model: pyo.ConcreteModel, site: str, t: int) -> Any:
    """Return the energy that the tariff bills: from the grid without contracts [MWh]."""
    return grid_mwh(model, site, t) - contracted_mwh(model, site, t)


def contracts_musd(model: pyo.ConcreteModel, sets: Sets, site: SiteTerms, t: int) -> Any:
    """Return the cost of contracts: all output less the sold surplus, and delivery of what is used [M$]."""
    total: Any = 0.0
    for x in site.contracts:
        net = x.usd_per_mwh[t] - x.surplus_usd_per_mwh[t]
        total += net / M * x.output_mwh(sets.problem.start, t) * signed(model, site.id, x, t)
        total += x.used_usd_per_mwh(t) / M * model.contract_mwh[site.id, x.id, t]
    return total


def _of(sets: Sets, site: str, contract: str) -> ContractTerms:
    return next(x for x in sets.problem.site(site).contracts if x.id == contract)
