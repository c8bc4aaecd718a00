"""Residual value at the end of the horizon, in M USD."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.money.capital import M, added, backed, fitted, network, plant_usd
from dcplan.planning.model.racks import kept
from dcplan.planning.model.sets import Sets


def add_left(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Declare ``used_units``: hall units whose book value counts in full because racks use them.

    .. math::
       u_{hcq} \le z_{hcq} - z_{hc,q-1}, \qquad
       \sum_{c,q} u_{hcq} \le \sum_k w_k\,n_{hk,T-1} / W_h

    with z the fitted units, w the rated power of a rack in service in the last quarter, and W the
    rated power of racks at which a unit counts as full. Other units keep a share of their book
    value.
    """
    halls = [h for h in sets.problem.halls if _partly(sets)]
    index = [(h.id, c.id, q) for h in halls for c in h.coolings for q in sets.quarters]
    model.used_units = pyo.Var(index, domain=pyo.NonNegativeReals)
    last = len(sets.quarters) - 1

    def new(m: pyo.ConcreteModel, h: str, c: str, q: int) -> Any:
        return m.used_units[h, c, q] <= fitted(m, sets, h, c, q)

    def full(m: pyo.ConcreteModel, h: str) -> Any:
        hall = sets.problem.hall(h)
        units = sum(m.used_units[h, c.id, q] for c in hall.coolings for q in sets.quarters)
        racks = sum(
            sets.places[key].rated_kw / hall.full_kw * m.racks[key, last] for key in sets.in_hall[h]
        )
        return units <= racks

    model.used_units_fitted = pyo.Constraint(index, rule=new)
    model.used_units_full = pyo.Constraint([h.id for h in halls], rule=full)


def _partly(sets: Sets) -> bool:
    """Return whether hall units without racks keep only a share of their book value."""
    return sets.problem.finance.empty_hall_frac < 1.0


def residual(model: pyo.ConcreteModel, sets: Sets) -> Any:
    """Return the residual value at the end of the horizon [M$].

    It is the market value of hardware, and the book value of power equipment and of halls in use.
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
            * added(model.blocks, (s,), q)
            for s in backed(model)
        )
        plants = ((s, o, v) for (s, o, x), v in model.onsite_buy.items() if x == q)
        total += sum(
            plant_usd(sets, s, o) / M * finance.power_residual_frac[q] * v for s, o, v in plants
        )
        total += _halls(model, sets, q)
    return total


def _halls(model: pyo.ConcreteModel, sets: Sets, q: int) -> Any:
    """Return the value left of the hall units fitted in a quarter [M$]."""
    finance, total = sets.problem.finance, 0.0
    empty = finance.empty_hall_frac
    for hall in sets.problem.halls:
        for c in hall.coolings:
            book = (
                c.building_usd * finance.building_residual_frac[q]
                + c.fit_out_usd * finance.cooling_residual_frac[q]
            ) / M
            total += empty * book * fitted(model, sets, hall.id, c.id, q)
            if _partly(sets):
                total += (1.0 - empty) * book * model.used_units[hall.id, c.id, q]
    return total
