"""Residual value at the end of the horizon, in M USD."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.money.capital import M, added, backed, fitted, network, plant_usd
from dcplan.planning.model.money.land import land_left_musd
from dcplan.planning.model.money.leases import leased
from dcplan.planning.model.network.links import links_musd
from dcplan.planning.model.racks import kept
from dcplan.planning.model.sets import Sets
from dcplan.planning.model.upgrades import upgrades_musd


def residual(model: pyo.ConcreteModel, sets: Sets) -> Any:
    """Return the residual value at the end of the horizon [M$].

    It is the market value of hardware, the book value of power equipment and of halls in use, and the
    value of land.
    Leased racks have none: they belong to the lessor.
    """
    finance, t = sets.problem.finance, list(sets.quarters)
    hardware = finance.hardware_residual_frac
    total = sum(
        sets.places[o[:3]].order_usd(o[3]) / M * hardware[o[3]] * model.buy[o] for o in sets.orders
    )
    total -= sum(
        sets.places[o[:3]].rack_usd(o[3]) / M * hardware[o[3]] * leased(model, sets, o)
        for o in sets.orders
    )
    total += sum(sets.places[k].order_usd(0) / M * hardware[0] * model.fleet[k] for k in sets.fleet)
    total += sum(h.storage_usd for h in sets.problem.halls) / M * hardware[0]
    last = len(t) - 1
    total += sum(x.end_usd / M * kept(model, x, last) for x in sets.problem.existing)
    for q in t:
        total += hardware[q] * (network(model, sets, q, "usd") + links_musd(model, sets, q))
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
        total += _halls(model, sets, q) + land_left_musd(model, sets, q)
        for works in upgrades_musd(model, sets.problem.halls, q):
            total += finance.cooling_residual_frac[q] * works
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
            if empty < 1.0:
                total += (1.0 - empty) * book * model.used_units[hall.id, c.id, q]
    return total
