"""Racks: orders, deliveries, service and end of life; fleet, assets and orders."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.terms import ExistingTerms, PlanningProblem


def add_racks(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Add the rack balance.

    .. math::
       n_{hkct} = f_{hkc} + \sum_i \Big(a_i - \sum_{\tau \le t} v_{i\tau}\Big)
         + \sum_{\tau:\ \tau + L_k \le t < \tau + L_k + E} b_{hkc\tau}
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
        return m.racks[key, t] == given + there + sum(m.buy[key, q] for q in sets.alive(key, t))

    model.racks_balance = pyo.Constraint(list(sets.places), list(sets.quarters), rule=balance)
    if problem.fleet:
        placed = sum(sets.places[key].accelerators * model.fleet[key] for key in sets.fleet)
        most = max(sets.places[key].accelerators for key in sets.fleet)
        wanted = problem.fleet.accelerators
        model.fleet_given = pyo.Constraint(expr=(wanted, placed, wanted + most - 1))
    if problem.forced:
        model.forced = pyo.Constraint(list(problem.forced), rule=lambda m, k: _some(m, sets, k))


def _some(model: pyo.ConcreteModel, sets: Sets, system: str) -> Any:
    """Require at least one rack of a system; infeasible if it cannot be ordered."""
    orders = [model.buy[o] for o in sets.orders if o[2] == system]
    return sum(orders) >= 1 if orders else pyo.Constraint.Infeasible


def _racks_of(problem: PlanningProblem, existing: str) -> int:
    return next(x.racks for x in problem.existing if x.id == existing)


def kept(model: pyo.ConcreteModel, existing: ExistingTerms, t: int) -> Any:
    """Return the racks of an asset or order that are not sold or cancelled by a quarter."""
    return existing.racks - sum(
        model.disposed[existing.id, q] for q in existing.disposal_window if q <= t
    )
