"""Leases of racks: how many of an order, their payments and their return, in M USD."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.decision_specs import LEASED
from dcplan.planning.model.sets import P, Sets, most_racks
from dcplan.units import USD_PER_MUSD

M = USD_PER_MUSD


def declare_leases(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Declare ``leased``: racks of an order that are leased, by lease."""
    model.leased = pyo.Var(
        LEASED.index(sets),
        domain=pyo.NonNegativeIntegers,
        bounds=lambda _, h, c, k, lease, q: (0, most_racks(sets, (h, c, k), q)),
    )


def add_leases(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Limit the leased racks of an order to its racks.

    .. math::
       \sum_l y_{hckl\tau} \le b_{hck\tau}
    """
    orders = list(dict.fromkeys((h, c, k, q) for h, c, k, _, q in model.leased))
    model.leased_ordered = pyo.Constraint(orders, rule=lambda m, *o: leased(m, sets, o) <= m.buy[o])


def leased(model: pyo.ConcreteModel, sets: Sets, order: tuple[str, str, str, int]) -> Any:
    """Return the racks of an order that are leased [racks]."""
    h, c, k, q = order
    return sum(model.leased[h, c, k, x.id, q] for x in sets.problem.finance.leases if x.covers(k))


def returned(model: pyo.ConcreteModel, sets: Sets, key: P, t: int) -> Any:
    """Return the leased racks that went back by a quarter, and would serve if bought [racks]."""
    lead, life = sets.places[key].lead, sets.problem.finance.life_quarters
    return sum(
        model.leased[(*key, x.id, q)]
        for x in sets.problem.finance.leases
        if x.covers(key[2])
        for q in sets.order_quarters(key)
        if q + lead + x.quarters <= t < q + lead + life
    )


def leases_musd(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return the lease payments of a quarter, also of one after the horizon [M$]."""
    terms, total = {x.id: x for x in sets.problem.finance.leases}, 0.0
    for (h, c, k, lease, q), racks in model.leased.items():
        place = sets.places[h, c, k]
        first = q + place.lead
        if first <= t < first + terms[lease].quarters:
            total += terms[lease].usd_per_quarter(place.rack_usd(q)) / M * racks
    return total


def leases_after(model: pyo.ConcreteModel, sets: Sets) -> dict[int, Any]:
    """Return the lease payments of the quarters after the horizon [M$]."""
    terms, last = {x.id: x.quarters for x in sets.problem.finance.leases}, len(sets.quarters)
    ends = (q + sets.places[h, c, k].lead + terms[x] for h, c, k, x, q in model.leased)
    return {t: leases_musd(model, sets, t) for t in range(last, max(ends, default=last))}
