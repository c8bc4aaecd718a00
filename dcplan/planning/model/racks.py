"""Racks: ordered, delivered, in service, retired; the given fleet; vendor supply."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from dcplan.planning.model.sets import Sets


def add_racks(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""State the rack balance.

    .. math::
       n_{hkct} = f_{hkc} + \sum_{\tau:\ \tau + L_k \le t < \tau + L_k + E} b_{hkc\tau}, \qquad
       \sum_{h,c} b_{hkc\tau} \le U_{k\tau}
    """
    menu = sets.menu

    def balance(m: pyo.ConcreteModel, h: str, c: str, k: str, t: int) -> Any:
        key = (h, c, k)
        given = m.fleet[key] if key in sets.fleet and sets.fleet_alive(t) else 0
        return m.racks[key, t] == given + sum(m.buy[key, q] for q in sets.alive(key, t))

    model.racks_balance = pyo.Constraint(list(sets.places), list(sets.quarters), rule=balance)
    if menu.fleet:
        placed = sum(sets.places[key].accelerators * model.fleet[key] for key in sets.fleet)
        most = max(sets.places[key].accelerators for key in sets.fleet)
        wanted = menu.fleet.accelerators
        model.fleet_given = pyo.Constraint(expr=(wanted, placed, wanted + most - 1))
    limits = {s.system: s.racks for s in menu.supply}

    def supply(m: pyo.ConcreteModel, k: str, q: int) -> Any:
        orders = [m.buy[o] for o in sets.orders if o[2] == k and o[3] == q]
        return sum(orders) <= limits[k][q] if orders else pyo.Constraint.Skip

    if menu.forced:
        model.forced = pyo.Constraint(
            list(menu.forced), rule=lambda m, k: sum(m.buy[o] for o in sets.orders if o[2] == k) >= 1
        )
    model.supply = pyo.Constraint(list(limits), list(sets.quarters), rule=supply)
