"""Supply: deliveries of racks, switches, optics and power blocks, and shares of makers."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.sets import Sets
from dcplan.units import USD_PER_MUSD


def add_supply(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Add the limits of vendors.

    .. math::
       \sum_{h,c} b_{hkc\tau} \le U_{k\tau}, \qquad \sum_{hfg} s_{fg}\, q_{hfg\tau} \le
       U^{part}_\tau, \qquad \sum_s (B_{s\tau} - B_{s,\tau-1}) \le U^{block}_\tau, \qquad \sum_{k
       \in v,\tau} p_{k\tau} b_{hkc\tau} \le \phi_v \sum_{k,\tau} p_{k\tau} b_{hkc\tau}

    The model counts switches and transceivers in shares per NIC port, the audit as integers.
    """
    problem = sets.problem
    limits = {s.system: s.racks for s in problem.supply}

    def supply(m: pyo.ConcreteModel, k: str, q: int) -> Any:
        orders = [m.buy[o] for o in sets.orders if o[2] == k and o[3] == q]
        return sum(orders) <= limits[k][q] if orders else pyo.Constraint.Skip

    model.supply = pyo.Constraint(list(limits), list(sets.quarters), rule=supply)
    parts = {p.part: p.most for p in problem.parts}

    def bought(m: pyo.ConcreteModel, part: str, q: int) -> Any:
        used = _parts(m, sets, part, q)
        return (
            used <= parts[part][q] if hasattr(used, "is_expression_type") else pyo.Constraint.Skip
        )

    model.parts_supply = pyo.Constraint(list(parts), list(sets.quarters), rule=bought)

    def share(m: pyo.ConcreteModel, maker: str) -> Any:
        own = [o for o in sets.orders if maker in sets.places[o[:3]].makers]
        usd = {o: sets.places[o[:3]].rack_usd(o[3]) / USD_PER_MUSD for o in sets.orders}
        if not own:
            return pyo.Constraint.Skip
        return sum(usd[o] * m.buy[o] for o in own) <= problem.vendor_share[maker] * sum(
            usd[o] * m.buy[o] for o in sets.orders
        )

    model.vendor_share = pyo.Constraint(list(problem.vendor_share), rule=share)


def _parts(model: pyo.ConcreteModel, sets: Sets, part: str, t: int) -> Any:
    """Return the parts bought in a quarter, without the network of assets."""
    if part == "power_blocks":
        return sum(
            v - (model.blocks[s, t - 1] if t else 0) for (s, q), v in model.blocks.items() if q == t
        )
    total: Any = 0.0
    for h, pairs in sets.served.items():
        for f, c in pairs:
            each = sets.share(h, f, c, f"upper_{part}")
            total += each * model.ports_bought[h, f, c, t]
    if t == 0:
        there = {
            (h.id, f): n
            for h in sets.problem.halls
            for f, n in h.existing_parts.get(part, {}).items()
            if (h.id, f) in model.fabric
        }
        total -= sum(n * model.fabric[key] for key, n in there.items())
    return total
