"""Present cost before and after taxes, and budgets, in M USD."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.economics.cash_flow import AssetClass
from dcplan.economics.monthly.weights import FlowWeights, financed_weights, level_weights
from dcplan.planning.model.cloud import after, cloud
from dcplan.planning.model.money.capital import (
    arrived_advances,
    cancelled,
    capex,
    capital,
    lost_advances,
    network,
    sold,
)
from dcplan.planning.model.money.deliveries import delivered_networks
from dcplan.planning.model.money.filled import add_filled
from dcplan.planning.model.money.leases import leases_after
from dcplan.planning.model.money.left import residual
from dcplan.planning.model.money.running import running
from dcplan.planning.model.network.links import links_musd
from dcplan.planning.model.sets import Sets
from dcplan.units import USD_PER_MUSD

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
    finance = sets.problem.finance
    add_filled(model, sets)
    if finance.budget_usd is not None or finance.budget_total_usd is not None:
        _add_budget(model, sets)
    model.npv = pyo.Objective(expr=present_cost(model, sets), sense=pyo.minimize)


def present_cost(model: pyo.ConcreteModel, sets: Sets) -> Any:
    """Return discounted spending minus discounted residual value, before taxes and debt [M$]."""
    quarters, later = len(sets.quarters), len(_after(model, sets))
    return _present(model, sets, level_weights(sets.problem.finance.discount_rate, quarters, later))


def after_tax_cost(model: pyo.ConcreteModel, sets: Sets) -> Any:
    """Return the present cost of all payments by month after taxes, payment terms and debt [M$].

    Raises
    ------
    ValueError
        If the problem has no financing.
    """
    terms = sets.problem.finance.financing
    if terms is None:
        msg = "the problem has no taxes, payment terms or debt"
        raise ValueError(msg)
    quarters, later = len(sets.quarters), len(_after(model, sets))
    weights = financed_weights(terms, quarters, later)
    return _present(model, sets, weights, delivered=terms.milestones is not None)


def _present(
    model: pyo.ConcreteModel, sets: Sets, weights: FlowWeights, *, delivered: bool = False
) -> Any:
    """Return the weighted sum of all payments, minus the residual value [M$]."""
    value: Any = 0.0
    for t in sets.quarters:
        for own, sites in _by_rates(sets, weights):
            value += _bought(model, sets, own, sites, t, delivered=delivered)
        value += weights.fees[t] * (cancelled(model, sets, t) - sold(model, sets, t))
        value += weights.running[t] * (running(model, sets, t) + cloud(model, sets, t))
        value += weights.unserved[t] * _unmet(model, sets, t)
    if weights.lost:
        value += weights.lost * lost_advances(model, sets)
    value += sum(
        weight * usd
        for weight, usd in zip(weights.after, _after(model, sets).values(), strict=True)
    )
    return value - weights.end * residual(model, sets)


def _by_rates(sets: Sets, weights: FlowWeights) -> list[tuple[FlowWeights, frozenset[str]]]:
    """Return the weights of purchases, each with the sites that have them."""
    every = frozenset(s.id for s in sets.problem.sites)
    own = [(found, frozenset({site})) for site, found in weights.sites.items() if site in every]
    rest = every - weights.sites.keys()
    return [(weights, rest), *own] if rest else own


def _bought(
    model: pyo.ConcreteModel,
    sets: Sets,
    weights: FlowWeights,
    sites: frozenset[str],
    t: int,
    *,
    delivered: bool,
) -> Any:
    """Return the weighted cost of what some sites buy in a quarter [M$]."""
    value: Any = 0.0
    bought = capital(model, sets, t, sites, delivered=delivered)
    if delivered:
        bought.pop(AssetClass.NETWORK)
        each = dict(enumerate(weights.capital[AssetClass.NETWORK]))
        value += delivered_networks(model, sets, each, t, sites)
        value += each[t] * links_musd(model, sets, t, sites)
    value += sum(weights.capital[asset][t] * usd for asset, usd in bought.items())
    if weights.arrived[t]:
        value += weights.arrived[t] * arrived_advances(model, sets, t, sites)
    return value


def _after(model: pyo.ConcreteModel, sets: Sets) -> dict[int, Any]:
    """Return commitments of rent and leases of racks in the quarters after the horizon [M$]."""
    rent, leases = after(model, sets), leases_after(model, sets)
    return {t: rent.get(t, 0.0) + leases.get(t, 0.0) for t in sorted({*rent, *leases})}


def _unmet(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return the cost of unserved demand, which is not a payment, so no budget counts it [M$]."""
    priced = {d.id: d.unmet_usd for d in sets.problem.demands}
    return sum((priced[d] or 0.0) / M * v for (d, q), v in model.unmet.items() if q == t)


def _add_budget(model: pyo.ConcreteModel, sets: Sets) -> None:
    finance, t = sets.problem.finance, list(sets.quarters)
    spent = {q: capex(model, sets, q) + running(model, sets, q) + cloud(model, sets, q) for q in t}
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


def _rounding(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    return network(model, sets, t, "upper_usd") - network(model, sets, t, "usd")


def _debt(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return debt service minus new debt of a quarter [M$]."""
    finance = sets.problem.finance
    if not finance.debt_share_frac:
        return 0.0
    back = sum(finance.debt_service_frac[t - q] * capex(model, sets, q) for q in range(t))
    return finance.debt_share_frac * (back - capex(model, sets, t))
