"""Cost: spending by quarter, budgets, residual value, the discounted objective, all in M$."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.economics.discounting import discount_factor
from dcplan.planning.model.cloud import after, cloud
from dcplan.planning.model.onsite import grid_mwh
from dcplan.planning.model.racks import kept
from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.terms import SiteTerms
from dcplan.units import KW_PER_MW, MONTHS_PER_QUARTER, QUARTERS_PER_YEAR, USD_PER_MUSD

M = USD_PER_MUSD


def add_money(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Add budgets and the objective.

    .. math::
       \min \sum_t \beta_t\,(C_t + E_t + O_t + R_t) - \beta_T V, \qquad
       \sum_{\tau \le t} (C + E + O + R)_\tau - \phi\,C_\tau + \phi \sum_{u < \tau} a_{\tau-u} C_u
       \le \sum_{\tau \le t} b_\tau

    Payments are discounted at mid-quarter, the residual value V at the end of the horizon, and the
    cost of commitments after the horizon at its own time. Budget constraints use the upper network
    shares, so that rounded-up switch counts stay within them.
    """
    t = list(sets.quarters)
    spent = {q: capex(model, sets, q) + running(model, sets, q) + cloud(model, sets, q) for q in t}
    _add_budget(model, sets, spent)
    model.npv = pyo.Objective(expr=_present(model, sets, spent), sense=pyo.minimize)


def present_cost(model: pyo.ConcreteModel, sets: Sets) -> Any:
    """Return discounted spending minus discounted residual value [M$]."""
    t = sets.quarters
    return _present(
        model,
        sets,
        {q: capex(model, sets, q) + running(model, sets, q) + cloud(model, sets, q) for q in t},
    )


def _present(model: pyo.ConcreteModel, sets: Sets, spent: dict[int, Any]) -> Any:
    rate = sets.problem.finance.discount_rate
    end = discount_factor(rate, len(spent) / QUARTERS_PER_YEAR)
    middle = {q: discount_factor(rate, (q + 0.5) / QUARTERS_PER_YEAR) for q in spent}
    value = sum(
        middle[q] * (spent[q] + _unmet(model, sets, q) - _sold(model, sets, q)) for q in spent
    )
    value += sum(
        discount_factor(rate, (q + 0.5) / QUARTERS_PER_YEAR) * usd
        for q, usd in after(model, sets).items()
    )
    return value - end * residual(model, sets)


def _unmet(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return the cost of unserved demand, which is not a payment, so no budget counts it [M$]."""
    priced = {d.id: d.unmet_usd for d in sets.problem.demands}
    return sum((priced[d] or 0.0) / M * v for (d, q), v in model.unmet.items() if q == t)


def _add_budget(model: pyo.ConcreteModel, sets: Sets, spent: dict[int, Any]) -> None:
    finance, t = sets.problem.finance, list(sets.quarters)
    free = (
        max(sets.problem.margin_factor - 1.0, 0.0)
        * sum(o.margin_usd for o in sets.problem.fabrics)
        / M
    )

    def by_quarter(m: pyo.ConcreteModel, q: int) -> Any:
        paid = sum(spent[x] + _rounding(m, sets, x) + _debt(m, sets, x) for x in t if x <= q)
        return paid <= sum((finance.budget_usd or ())[: q + 1]) / M - free

    if finance.budget_usd is not None:
        model.budget = pyo.Constraint(t, rule=by_quarter)
    if finance.budget_total_usd is not None:
        paid = sum(spent[x] + _rounding(model, sets, x) + _debt(model, sets, x) for x in t)
        model.budget_total = pyo.Constraint(expr=paid <= finance.budget_total_usd / M - free)


def capex(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return the cost of racks, network, hall units, power blocks and storage of a quarter [M$]."""
    total = sum(
        sets.places[o[:3]].order_usd(t) / M * model.buy[o] for o in sets.orders if o[3] == t
    )
    if t == 0:
        total += sum(sets.places[k].order_usd(0) / M * model.fleet[k] for k in sets.fleet)
        total += sum(h.storage_usd for h in sets.problem.halls) / M
    total += _existing_capex(model, sets, t)
    total += network(model, sets, t, "usd")
    total += sum(usd / M * _fitted(model, sets, h, c, t) for h, c, usd in unit_costs(sets))
    total += sum(
        sets.problem.site(s).block_usd / M * _added(model.blocks, (s,), t) for s in _backed(model)
    )
    total += sum(
        _plant_usd(sets, s, o) / M * v for (s, o, q), v in model.onsite_buy.items() if q == t
    )
    return total


def _plant_usd(sets: Sets, site: str, plant: str) -> float:
    return next(o.usd for o in sets.problem.site(site).onsite if o.id == plant)


def unit_costs(sets: Sets) -> list[tuple[str, str, float]]:
    """Return hall, cooling and USD to fit one unit: building for new units, fit-out for all."""
    return [
        (h.id, c.id, c.building_usd + c.fit_out_usd) for h in sets.problem.halls for c in h.coolings
    ]


def network(model: pyo.ConcreteModel, sets: Sets, t: int, what: str) -> Any:
    """Return the cost of the network bought in a quarter [M$].

    It uses integer switch counts if the model has step costs, otherwise per-port shares.

    Ports that replace ended ports on their switches cost at least their own optics and cable.
    """
    total: Any = 0.0
    for h, pairs in sets.served.items():
        for f, c in pairs:
            if (h, f, c) in sets.step_costs:
                total += _added(model.network_musd, (h, f, c), t)
            else:
                total += sets.share(h, f, c, what) / M * model.ports_bought[h, f, c, t]
                if (h, f, c, t) in model.reused and (what == "usd" or sets.relaxed):
                    total -= sets.freed_usd(h, f, c) / M * model.reused[h, f, c, t]
    if t == 0:
        paid = {  # the search of large models keeps only some of the options
            (h.id, f): usd
            for h in sets.problem.halls
            for f, usd in h.existing_units_usd.items()
            if (h.id, f) in model.fabric
        }
        total -= sum(usd / M * model.fabric[key] for key, usd in paid.items())
    return total


def _rounding(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    return network(model, sets, t, "upper_usd") - network(model, sets, t, "usd")


def _existing_capex(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return payments for orders that arrive in a quarter [M$].

    Payments for cancelled orders are in the first quarter.
    """
    total: Any = 0.0
    for x in sets.problem.existing:
        if x.due_usd and x.first == t:
            total += x.due_usd / M * kept(model, x, t)
        if x.cancel_usd is not None and t == 0:
            total += x.cancel_usd / M * model.disposed[x.id, 0]
    return total


def _sold(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return the sale value of assets in a quarter, which no budget counts [M$]."""
    return sum(
        x.resale_usd[t] / M * model.disposed[x.id, t]
        for x in sets.problem.existing
        if x.resale_usd and t in x.disposal_window
    )


def _fitted(model: pyo.ConcreteModel, sets: Sets, hall: str, cooling: str, t: int) -> Any:
    """Return the hall units fitted in a quarter, without those in use by assets [units]."""
    return _added(model.fitted, (hall, cooling), t) - (
        sets.problem.hall(hall).existing_units.get(cooling, 0) if t == 0 else 0
    )


def _debt(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return debt service minus new debt of a quarter [M$]."""
    finance = sets.problem.finance
    if not finance.debt_share_frac:
        return 0.0
    back = sum(finance.debt_service_frac[t - q] * capex(model, sets, q) for q in range(t))
    return finance.debt_share_frac * (back - capex(model, sets, t))


def _added(variable: pyo.Var, key: tuple[str, ...], t: int) -> Any:
    return variable[(*key, t)] - (variable[(*key, t - 1)] if t > 0 else 0)


def _backed(model: pyo.ConcreteModel) -> list[str]:
    return list(dict.fromkeys(s for s, _ in model.blocks))


def running(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return energy, demand charge, maintenance, facility cost, staff and lease of a quarter [M$]."""
    total: Any = 0.0
    for site in sets.problem.sites:
        total += site.usd_per_kwh[t] * KW_PER_MW / M * grid_mwh(model, site.id, t)
        total += _onsite(model, site, t)
        if site.demand_usd_per_kw_month > 0:
            total += (
                site.demand_usd_per_kw_month
                * KW_PER_MW
                * MONTHS_PER_QUARTER
                / M
                * model.billed_mw[site.id, t]
            )
        total += site.staff_usd_per_quarter / M * model.used[site.id, t]
    for key, place in sets.places.items():
        site = sets.problem.site(sets.problem.hall(key[0]).site)
        total += (
            (place.maintenance_usd_per_quarter + site.opex_usd_per_kw_quarter * place.rated_kw)
            / M
            * model.racks[key, t]
        )
    for hall in sets.problem.halls:
        rent = sets.problem.site(hall.site).lease_usd_per_kw_month
        if rent:
            unit = rent[t] * MONTHS_PER_QUARTER * hall.it_mw * KW_PER_MW / M
            total += sum(unit * model.fitted[hall.id, c.id, t] for c in hall.coolings)
    return total


def _onsite(model: pyo.ConcreteModel, site: SiteTerms, t: int) -> Any:
    """Return fuel and fixed cost of on-site plants [M$]."""
    total: Any = 0.0
    for o in site.onsite:
        if (site.id, o.id, t) in model.onsite_mwh:
            total += o.usd_per_mwh / M * model.onsite_mwh[site.id, o.id, t]
        serving = [
            v
            for (s, k, q), v in model.onsite_buy.items()
            if (s, k) == (site.id, o.id) and q + o.lead <= t
        ]
        total += o.fixed_usd_per_quarter / M * sum(serving)
    return total


def residual(model: pyo.ConcreteModel, sets: Sets) -> Any:
    """Return the residual value at the end of the horizon [M$].

    It is the market value of hardware, and the book value of buildings.
    """
    finance, t = sets.problem.finance, list(sets.quarters)
    hardware = finance.hardware_residual_frac
    total = sum(
        sets.places[o[:3]].order_usd(o[3]) / M * hardware[o[3]] * model.buy[o] for o in sets.orders
    )
    total += sum(sets.places[k].order_usd(0) / M * hardware[0] * model.fleet[k] for k in sets.fleet)
    total += sum(h.storage_usd for h in sets.problem.halls) / M * hardware[0]
    last = len(t) - 1
    total += sum(x.end_usd / M * kept(model, x, last) for x in sets.problem.existing)
    for q in t:
        total += hardware[q] * network(model, sets, q, "usd")
        total += sum(
            sets.problem.site(s).block_usd
            / M
            * finance.power_residual_frac[q]
            * _added(model.blocks, (s,), q)
            for s in _backed(model)
        )
        plants = ((s, o, v) for (s, o, x), v in model.onsite_buy.items() if x == q)
        total += sum(
            _plant_usd(sets, s, o) / M * finance.power_residual_frac[q] * v for s, o, v in plants
        )
        for hall in sets.problem.halls:
            for c in hall.coolings:
                book = (
                    c.building_usd * finance.building_residual_frac[q]
                    + c.fit_out_usd * finance.cooling_residual_frac[q]
                )
                total += book / M * _fitted(model, sets, hall.id, c.id, q)
    return total
