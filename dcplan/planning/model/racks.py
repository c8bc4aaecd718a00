"""Racks: orders, deliveries, service and end of life; fleet, assets and orders; limits of vendors."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.money.leases import returned
from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.terms import ExistingTerms, PlanningProblem
from dcplan.units import USD_PER_MUSD


def add_racks(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Add the rack balance.

    .. math::
       n_{hkct} = f_{hkc} + \sum_i \Big(a_i - \sum_{\tau \le t} v_{i\tau}\Big)
         + \sum_{\tau:\ \tau + L_k \le t < \tau + L_k + E} b_{hkc\tau}
         - \sum_l \sum_{\tau:\ \tau + L_k + N_l \le t < \tau + L_k + E} y_{hkcl\tau}
    """
    problem = sets.problem
    going = [x for x in problem.existing if x.disposal_window]
    model.disposed_once = pyo.Constraint(
        [x.id for x in going],
        rule=lambda m, i: (
            sum(v for (k, _), v in m.disposed.items() if k == i) <= _racks_of(problem, i)
        ),
    )

    def balance(m: pyo.ConcreteModel, h: str, c: str, k: str, t: int) -> Any:
        key = (h, c, k)
        given = m.fleet[key] if key in sets.fleet and sets.fleet_alive(t) else 0
        there = sum(kept(m, x, t) for x in sets.existing(key) if x.serves(t))
        ordered = sum(m.buy[key, q] for q in sets.alive(key, t)) - returned(m, sets, key, t)
        return m.racks[key, t] == given + there + ordered

    model.racks_balance = pyo.Constraint(list(sets.places), list(sets.quarters), rule=balance)
    if problem.fleet:
        placed = sum(sets.places[key].accelerators * model.fleet[key] for key in sets.fleet)
        most = max(sets.places[key].accelerators for key in sets.fleet)
        wanted = problem.fleet.accelerators
        model.fleet_given = pyo.Constraint(expr=(wanted, placed, wanted + most - 1))
    if problem.forced:
        model.forced = pyo.Constraint(list(problem.forced), rule=lambda m, k: _some(m, sets, k))
    if problem.forced_sites:
        model.forced_sites = pyo.Constraint(
            list(problem.forced_sites), rule=lambda m, s: _some_at(m, sets, s)
        )


def _some(model: pyo.ConcreteModel, sets: Sets, system: str) -> Any:
    """Require at least one rack of a system; infeasible if it cannot be ordered."""
    orders = [model.buy[o] for o in sets.orders if o[2] == system]
    return sum(orders) >= 1 if orders else pyo.Constraint.Infeasible


def _some_at(model: pyo.ConcreteModel, sets: Sets, site: str) -> Any:
    """Require at least one rack at a site; infeasible if none can be ordered there."""
    halls = {h.id for h in sets.problem.halls if h.site == site}
    orders = [model.buy[o] for o in sets.orders if o[0] in halls]
    return sum(orders) >= 1 if orders else pyo.Constraint.Infeasible


def _racks_of(problem: PlanningProblem, existing: str) -> int:
    return next(x.racks for x in problem.existing if x.id == existing)


def kept(model: pyo.ConcreteModel, existing: ExistingTerms, t: int) -> Any:
    """Return the racks of an asset or order that are not sold or cancelled by a quarter."""
    return existing.racks - sum(
        model.disposed[existing.id, q] for q in existing.disposal_window if q <= t
    )


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
