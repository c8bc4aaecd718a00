"""Money: spending by quarter, budgets, residual value, the discounted objective. All in M$."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from dcplan.economics.discount import discount_factor
from dcplan.planning.menu.types import SiteTerms
from dcplan.planning.model.onsite import grid_mwh
from dcplan.planning.model.sets import Sets
from dcplan.units import (
    HOURS_PER_DAY,
    HOURS_PER_QUARTER,
    KW_PER_MW,
    MONTHS_PER_QUARTER,
    QUARTERS_PER_YEAR,
    USD_PER_MUSD,
)

M = USD_PER_MUSD


def add_money(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""State budgets and the objective.

    .. math::
       \min \sum_t \beta_t\,(C_t + E_t + O_t + R_t) - \beta_T V, \qquad
       \sum_{\tau \le t} (C + E + O + R)_\tau \le \sum_{\tau \le t} b_\tau

    Payments are discounted at mid-quarter, the residual V at the end of the horizon. Budget rows use the
    upper network shares, so that rounded-up switch counts stay within them.
    """
    t = list(sets.quarters)
    spent = {q: capex(model, sets, q) + running(model, sets, q) + cloud(model, sets, q) for q in t}
    _add_budget(model, sets, spent)
    model.npv = pyo.Objective(expr=_present(model, sets, spent), sense=pyo.minimize)


def present_cost(model: pyo.ConcreteModel, sets: Sets) -> Any:
    """Discounted spending less the discounted residual value. [M$]"""
    t = sets.quarters
    return _present(
        model, sets, {q: capex(model, sets, q) + running(model, sets, q) + cloud(model, sets, q) for q in t}
    )


def _present(model: pyo.ConcreteModel, sets: Sets, spent: dict[int, Any]) -> Any:
    rate = sets.menu.finance.discount_rate
    end = discount_factor(rate, len(spent) / QUARTERS_PER_YEAR)
    value = sum(discount_factor(rate, (q + 0.5) / QUARTERS_PER_YEAR) * spent[q] for q in spent)
    return value - end * residual(model, sets)


def _add_budget(model: pyo.ConcreteModel, sets: Sets, spent: dict[int, Any]) -> None:
    finance, t = sets.menu.finance, list(sets.quarters)
    kept = max(sets.menu.margin_factor - 1.0, 0.0) * sum(o.margin_usd for o in sets.menu.fabrics) / M

    def by_quarter(m: pyo.ConcreteModel, q: int) -> Any:
        paid = sum(spent[x] + _rounding(m, sets, x) for x in t if x <= q)
        return paid <= sum((finance.budget_usd or ())[: q + 1]) / M - kept

    if finance.budget_usd is not None:
        model.budget = pyo.Constraint(t, rule=by_quarter)
    if finance.budget_total_usd is not None:
        paid = sum(spent[x] + _rounding(model, sets, x) for x in t)
        model.budget_total = pyo.Constraint(expr=paid <= finance.budget_total_usd / M - kept)


def capex(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Racks, network, hall units, power blocks and storage bought in a quarter. [M$]"""
    total = sum(sets.places[o[:3]].order_usd / M * model.buy[o] for o in sets.orders if o[3] == t)
    if t == 0:
        total += sum(sets.places[k].order_usd / M * model.fleet[k] for k in sets.fleet)
        total += sum(h.storage_usd for h in sets.menu.halls) / M
    total += network(model, sets, t, "usd")
    total += sum(usd / M * _added(model.fitted, (h, c), t) for h, c, usd in unit_costs(sets))
    total += sum(sets.menu.site(s).block_usd / M * _added(model.blocks, (s,), t) for s in _backed(model))
    total += sum(_plant_usd(sets, s, o) / M * v for (s, o, q), v in model.onsite_buy.items() if q == t)
    return total


def _plant_usd(sets: Sets, site: str, plant: str) -> float:
    return next(o.usd for o in sets.menu.site(site).onsite if o.id == plant)


def unit_costs(sets: Sets) -> list[tuple[str, str, float]]:
    """Hall, cooling and USD of fitting one unit: building for new ones, fit-out for all."""
    return [(h.id, c.id, c.building_usd + c.fit_out_usd) for h in sets.menu.halls for c in h.coolings]


def network(model: pyo.ConcreteModel, sets: Sets, t: int, what: str) -> Any:
    """Network bought in a quarter: in whole switches where the model knows them, else by per-port shares. [M$]"""
    total: Any = 0.0
    for h, pairs in sets.served.items():
        for f, c in pairs:
            if (h, f, c) in sets.stairs:
                total += _added(model.network_musd, (h, f, c), t)
            else:
                total += sets.share(h, f, c, what) / M * model.ports_bought[h, f, c, t]
    return total


def _rounding(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    return network(model, sets, t, "upper_usd") - network(model, sets, t, "usd")


def _added(variable: pyo.Var, key: tuple[str, ...], t: int) -> Any:
    return variable[(*key, t)] - (variable[(*key, t - 1)] if t > 0 else 0)


def _backed(model: pyo.ConcreteModel) -> list[str]:
    return list(dict.fromkeys(s for s, _ in model.blocks))


def running(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Energy, demand charge, maintenance, facility cost, staff and lease of a quarter. [M$]"""
    total: Any = 0.0
    for site in sets.menu.sites:
        total += site.usd_per_kwh[t] * KW_PER_MW / M * grid_mwh(model, site.id, t)
        total += _onsite(model, site, t)
        if site.demand_usd_per_kw_month > 0:
            total += site.demand_usd_per_kw_month * KW_PER_MW * MONTHS_PER_QUARTER / M * model.billed_mw[site.id, t]
        total += site.staff_usd_per_quarter / M * model.used[site.id, t]
    for key, place in sets.places.items():
        site = sets.menu.site(sets.menu.hall(key[0]).site)
        total += (
            (place.maintenance_usd_per_quarter + site.opex_usd_per_kw_quarter * place.rated_kw)
            / M
            * model.racks[key, t]
        )
    for hall in sets.menu.halls:
        rent = sets.menu.site(hall.site).lease_usd_per_kw_month
        if rent:
            unit = rent[t] * MONTHS_PER_QUARTER * hall.it_mw * KW_PER_MW / M
            total += sum(unit * model.fitted[hall.id, c.id, t] for c in hall.coolings)
    return total


def _onsite(model: pyo.ConcreteModel, site: SiteTerms, t: int) -> Any:
    """Fuel and upkeep of plants on the site. [M$]"""
    total: Any = 0.0
    for o in site.onsite:
        if (site.id, o.id, t) in model.onsite_mwh:
            total += o.usd_per_mwh / M * model.onsite_mwh[site.id, o.id, t]
        serving = [v for (s, k, q), v in model.onsite_buy.items() if (s, k) == (site.id, o.id) and q + o.lead <= t]
        total += o.fixed_usd_per_quarter / M * sum(serving)
    return total


def cloud(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Rented accelerators of a quarter: jobs and research. [M$]"""
    price = {o.id: o.usd_per_accelerator_hour[t] for o in sets.menu.offers}
    total: Any = 0.0
    for i, config in enumerate(sets.menu.configs):
        days = sets.days_in_quarter(config, t) if config.on_cloud else 0.0
        if days > 0:
            hourly = price[config.place.removeprefix("cloud:")]
            total += config.accelerators * days * HOURS_PER_DAY * hourly / M * model.run[i]
    for d, o, q in model.rented:
        if q == t:
            total += HOURS_PER_QUARTER * price[o] / M * model.rented[d, o, q]
    return total


def residual(model: pyo.ConcreteModel, sets: Sets) -> Any:
    """Value left at the end of the horizon: market share of hardware, book value of the building. [M$]"""
    finance, t = sets.menu.finance, list(sets.quarters)
    hardware = finance.hardware_residual_frac
    total = sum(sets.places[o[:3]].order_usd / M * hardware[o[3]] * model.buy[o] for o in sets.orders)
    total += sum(sets.places[k].order_usd / M * hardware[0] * model.fleet[k] for k in sets.fleet)
    total += sum(h.storage_usd for h in sets.menu.halls) / M * hardware[0]
    for q in t:
        total += hardware[q] * network(model, sets, q, "usd")
        total += sum(
            sets.menu.site(s).block_usd / M * finance.power_residual_frac[q] * _added(model.blocks, (s,), q)
            for s in _backed(model)
        )
        plants = ((s, o, v) for (s, o, x), v in model.onsite_buy.items() if x == q)
        total += sum(_plant_usd(sets, s, o) / M * finance.power_residual_frac[q] * v for s, o, v in plants)
        for hall in sets.menu.halls:
            for c in hall.coolings:
                kept = (
                    c.building_usd * finance.building_residual_frac[q]
                    + c.fit_out_usd * finance.cooling_residual_frac[q]
                )
                total += kept / M * _added(model.fitted, (hall.id, c.id), q)
    return total
