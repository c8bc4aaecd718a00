"""Running cost of a quarter: energy, operation and leases, in M USD."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.energy.carbon import carbon_musd
from dcplan.planning.model.energy.contracts import contracts_musd, tariff_mwh
from dcplan.planning.model.energy.response import response_musd
from dcplan.planning.model.energy.utilities import utilities_musd
from dcplan.planning.model.money.leases import leases_musd
from dcplan.planning.model.network.links import links_lease_musd
from dcplan.planning.model.onsite import serving
from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.energy import contract_usd
from dcplan.planning.problem.terms import SiteTerms
from dcplan.units import KW_PER_MW, MONTHS_PER_QUARTER, USD_PER_MUSD

M = USD_PER_MUSD


def running(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return energy, demand charge, maintenance, facility cost, staff, land and leases of a quarter [M$]."""
    total: Any = leases_musd(model, sets, t)
    level = sets.problem.finance.level(t)
    for site in sets.problem.sites:
        total += site.usd_per_kwh[t] * KW_PER_MW / M * tariff_mwh(model, site.id, t)
        total += contracts_musd(model, sets, site, t) + carbon_musd(model, sets, site, t)
        total += response_musd(model, site, t) + utilities_musd(model, sets, site, t)
        total += level * _onsite(model, sets, site, t)
        if site.demand_usd_per_kw_month > 0:
            total += (
                level
                * site.demand_usd_per_kw_month
                * KW_PER_MW
                * MONTHS_PER_QUARTER
                / M
                * model.billed_mw[site.id, t]
            )
        held = level * site.staff_usd_per_quarter + site.land_tax_usd_per_quarter
        total += held / M * model.used[site.id, t]
    total += level * links_lease_musd(model, sets, t)
    for key, place in sets.places.items():
        site = sets.problem.site(sets.problem.hall(key[0]).site)
        total += (
            level
            * (place.maintenance_usd_per_quarter + site.opex_usd_per_kw_quarter * place.rated_kw)
            / M
            * model.racks[key, t]
        )
        if (*key, t) in model.stopped:  # a rack that is off needs no upkeep of the facility
            upkeep = level * site.opex_usd_per_kw_quarter * place.rated_kw / M
            total -= upkeep * model.stopped[key, t]
    for hall in sets.problem.halls:
        rent = sets.problem.site(hall.site).lease_usd_per_kw_month
        if rent:
            unit = rent[t] * MONTHS_PER_QUARTER * hall.it_mw * KW_PER_MW / M
            total += sum(unit * model.fitted[hall.id, c.id, t] for c in hall.coolings)
    return total


def _onsite(model: pyo.ConcreteModel, sets: Sets, site: SiteTerms, t: int) -> Any:
    """Return fuel, contracts and fixed cost of on-site plants [M$]."""
    total: Any = 0.0
    for o in site.onsite:
        if (site.id, o.id, t) in model.onsite_mwh:
            total += o.usd_per_mwh / M * model.onsite_mwh[site.id, o.id, t]
        fixed = o.fixed_usd_per_quarter + contract_usd(o, sets.problem.start, t)
        total += fixed / M * serving(model, site.id, o, t)
    return total
