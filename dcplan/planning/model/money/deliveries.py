"""Weighted cost of networks that are paid for when they are delivered, in M USD."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.money.capital import network_of_hall
from dcplan.planning.model.sets import P, Sets
from dcplan.units import USD_PER_MUSD


def delivered_networks(
    model: pyo.ConcreteModel,
    sets: Sets,
    weights: Mapping[int, float],
    t: int,
    sites: Collection[str],
) -> Any:
    r"""Return the weighted cost of the networks that sites order in a quarter, paid when delivered [M$].

    A network is delivered with the first racks of its order. With integer switch counts, the parts
    :math:`a_q` of its cost N by quarter of delivery are

    .. math::
       \sum_q a_q \ge N, \quad a_q \le M \sum_{k: d_k = q} b_k, \quad
       \sum_{k: d_k \le q} b_k \le B_q e_q, \quad a_{q'} \le M (1 - e_q) \;\; (q' > q),

    with the racks b of the order, their quarter of delivery d, and binary e. Without them the lowest
    weight counts, so that the cost is never above that of the audit.
    """
    _declare(model, sets)
    total: Any = 0.0
    for hall in (h for h in sets.served if sets.problem.hall(h).site in sites):
        by_quarter = _orders(sets, hall, t)
        least = min(weights[q] for q in by_quarter)
        total += least * network_of_hall(model, sets, hall, t, "usd")
        total += sum(
            (weights[q] - least) * model.delivered_musd[hall, t, q]
            for q in by_quarter
            if (hall, t, q) in model.delivered_musd
        )
    return total


def _orders(sets: Sets, hall: str, t: int) -> dict[int, list[P]]:
    """Return the placements that may be ordered for a hall in a quarter, by quarter of delivery.

    Without an order of racks a network is delivered in the same quarter: that of a given fleet, or
    of racks that were ordered before.
    """
    found: dict[int, list[P]] = {}
    for h, c, k, ordered in sets.orders:
        if (h, ordered) == (hall, t):
            found.setdefault(t + sets.places[h, c, k].lead, []).append((h, c, k))
    if not found or _may_lack_orders(sets, hall, t):
        found.setdefault(t, [])
    return dict(sorted(found.items()))


def _may_lack_orders(sets: Sets, hall: str, t: int) -> bool:
    """Return whether a network may be bought in a quarter without an order of racks."""
    fleet = t == 0 and any(key[0] == hall for key in sets.fleet)
    return fleet or any(x.key[0] == hall for x in sets.problem.existing)


def _declare(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Declare the parts of networks by quarter of delivery, where there are several."""
    if hasattr(model, "delivered_musd"):
        return
    index: list[tuple[str, int, int]] = []
    orders: dict[tuple[str, int], dict[int, list[P]]] = {}
    for hall in sets.served if sets.problem.integer_switches else ():
        for t in sets.quarters:
            found = _orders(sets, hall, t)
            if len(found) > 1 and all(found.values()) and not _may_lack_orders(sets, hall, t):
                orders[hall, t] = found
                index += [(hall, t, q) for q in found]
    after = [(h, t, q) for h, t, q in index if q > min(orders[h, t])]
    model.delivered_musd = pyo.Var(index, domain=pyo.NonNegativeReals)
    model.delivered_by = pyo.Var(
        [(h, t, q) for h, t, q in index if q < max(orders[h, t])], domain=pyo.Binary
    )
    most = {hall: _most_musd(sets, hall) for hall in {h for h, *_ in index}}

    def all_parts(m: pyo.ConcreteModel, h: str, t: int) -> Any:
        parts = sum(m.delivered_musd[h, t, q] for q in orders[h, t])
        return parts >= network_of_hall(m, sets, h, t, "usd")

    def ordered(m: pyo.ConcreteModel, h: str, t: int, q: int) -> Any:
        racks = sum(m.buy[*key, t] for key in orders[h, t][q])
        return m.delivered_musd[h, t, q] <= most[h] * racks

    def by(m: pyo.ConcreteModel, h: str, t: int, q: int) -> Any:
        there = [m.buy[*key, t] for x, keys in orders[h, t].items() if x <= q for key in keys]
        return sum(there) <= sum(b.ub for b in there) * m.delivered_by[h, t, q]

    def not_after(m: pyo.ConcreteModel, h: str, t: int, q: int) -> Any:
        before = max(x for x in orders[h, t] if x < q)
        return m.delivered_musd[h, t, q] <= most[h] * (1 - m.delivered_by[h, t, before])

    model.delivered_parts = pyo.Constraint(list(orders), rule=all_parts)
    model.delivered_ordered = pyo.Constraint(index, rule=ordered)
    model.delivered_first = pyo.Constraint(list(model.delivered_by), rule=by)
    model.delivered_once = pyo.Constraint(after, rule=not_after)


def _most_musd(sets: Sets, hall: str) -> float:
    """Return an upper bound on the cost of a hall's network [M$]."""
    costs: dict[str, float] = {}
    for f, c in sets.served[hall]:
        ports = sets.ports_cap(hall, sets.class_of[c]) + sets.existing_ports(hall, c)
        usd = sets.share(hall, f, c, "usd") * ports
        steps = sets.step_costs.get((hall, f, c))
        if steps is not None:
            leaves = steps.per_leaf.get("usd", 0.0) * sum(steps.widths)
            usd = max(usd, sum(steps.jumps["usd"]) + steps.per_port["usd"] * ports + leaves)
        costs[f] = costs.get(f, 0.0) + usd
    return max(costs.values(), default=0.0) / USD_PER_MUSD
