"""Demands: each is met in its hours, services have complete replicas, pools of a pair balance."""

from __future__ import annotations

import math
from typing import Any

import pyomo.core as pyo

from dcplan.inputs.cloud_prices import cloud_place, is_cloud
from dcplan.planning.model.sets import P, Sets
from dcplan.planning.problem.work.terms import DemandTerms

TINY = 1e-9


def add_demands(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Add the demands.

    .. math::
       \sum_{e \in d} w_e \sum \tau_e\,(u_e + v_e) + \mathrm{unmet}_{dt} \ge D_{dt}, \qquad
       u_e \le g\,(r - k\,y), \quad r \le R\,y, \\
       \sum \tau_p\,u_p \ge \sum \tau_q\,u_q, \qquad
       \sum_{h \notin s} \tau\,(u + v) + \mathrm{unmet}_{dt} \ge \kappa\,D_{dt}

    Accelerators u serve, v are rented; a service has r replicas of g accelerators, of which k are
    spare where it is hosted (y). The prefill pool p of a pair takes every request of the decode pool
    q. The last rows are the demand without one site.
    """
    problem, t = sets.problem, list(sets.quarters)
    terms = {d.id: d for d in problem.demands}

    def meet(m: pyo.ConcreteModel, d: str, q: int) -> Any:
        parts = [x.share * amount(m, sets, x, q) for x in problem.demand_parts(d)]
        total = sum(parts) + sum(m.unmet[d, x] for x in (q,) if (d, x) in m.unmet)
        if not hasattr(total, "is_expression_type"):  # no hardware can serve the demand
            met = terms[d].wanted[q] <= 0
            return pyo.Constraint.Feasible if met else pyo.Constraint.Infeasible
        return total >= terms[d].wanted[q]

    model.demand_met = pyo.Constraint([d.id for d in problem.required], t, rule=meet)
    _add_replicas(model, sets)

    def balance(m: pyo.ConcreteModel, i: int, q: int) -> Any:
        first, then = (terms[x] for x in (problem.pairs[i].prefill, problem.pairs[i].decode))
        prefill, decode = amount(m, sets, first, q), amount(m, sets, then, q)
        # without a place for either pool, as in the program of a plan's own purchases, both are 0
        none = isinstance(prefill, int) and isinstance(decode, int)
        return pyo.Constraint.Skip if none else prefill >= decode

    model.pools_balance = pyo.Constraint(range(len(problem.pairs)), t, rule=balance)
    _add_site_loss(model, sets)


def amount(
    model: pyo.ConcreteModel, sets: Sets, demand: DemandTerms, t: int, without: str = ""
) -> Any:
    """Return what serves a demand in a quarter, in its unit; optionally without a site."""
    problem = sets.problem
    owned = sum(
        demand.each[k[0], k[2]] * model.serving[demand.id, k, t]
        for k in sets.places
        if (demand.id, *k, t) in model.serving and problem.hall(k[0]).site != without
    )
    rented = sum(
        demand.each[cloud_place(o.id), o.accelerator] * model.rented[demand.id, o.id, t]
        for o in problem.offers
        if (demand.id, o.id, t) in model.rented
    )
    return owned + rented


def reserved(model: pyo.ConcreteModel, demand: DemandTerms, key: P, t: int) -> Any:
    """Return the accelerators that a demand takes in a placement: complete replicas with spares.

    Below its highest load, a service takes at most one replica more than its load needs.
    """
    replica = demand.replica.get((key[0], key[2]))
    if replica is None:
        return model.serving[demand.id, key, t]
    if not demand.peak_part:
        return replica.accelerators * model.replicas[demand.id, key, t]
    kept = (demand.spare_replicas + 1) * replica.accelerators
    return model.serving[demand.id, key, t] + kept * model.hosted[demand.peak_id, key, t]


def _add_replicas(model: pyo.ConcreteModel, sets: Sets) -> None:
    problem = sets.problem
    terms = {d.id: d for d in problem.demands}
    most = {d.id: _most_replicas(sets, d) for d in problem.demands if d.replica}

    def serve(m: pyo.ConcreteModel, d: str, h: str, c: str, k: str, t: int) -> Any:
        index = (terms[d].peak_id, h, c, k, t)
        active = m.replicas[index] - terms[d].spare_replicas * m.hosted[index]
        return m.serving[d, h, c, k, t] <= terms[d].replica[h, k].accelerators * active

    def host(m: pyo.ConcreteModel, d: str, h: str, c: str, k: str, t: int) -> Any:
        return m.replicas[d, h, c, k, t] <= most[d][h, c, k, t] * m.hosted[d, h, c, k, t]

    served = [
        (d.id, *key, t)
        for d in problem.demands
        for key in sets.places
        if (key[0], key[2]) in d.replica
        for t in sets.quarters
    ]
    model.replicas_serve = pyo.Constraint(served, rule=serve)
    model.spares_hosted = pyo.Constraint(list(model.replicas), rule=host)


def _most_replicas(sets: Sets, demand: DemandTerms) -> dict[tuple[str, str, str, int], int]:
    """Return the replicas that serve all of a demand alone with spares, or that fill the hall."""
    problem = sets.problem
    wanted = problem.demand(demand.row_id).wanted
    found = {}
    for key, place in sets.places.items():
        replica = demand.replica.get((key[0], key[2]))
        if replica is None:
            continue
        room = place.max_racks_unit * problem.hall(key[0]).count * place.accelerators
        each = demand.each[key[0], key[2]] * replica.accelerators
        for t in sets.quarters:
            alone = math.ceil(wanted[t] / each - TINY) + demand.spare_replicas if each else 0
            found[(*key, t)] = min(room // replica.accelerators, max(alone, 0))
    return found


def _add_site_loss(model: pyo.ConcreteModel, sets: Sets) -> None:
    problem = sets.problem
    rows = [
        (d.id, site.id)
        for d in problem.required
        for site in problem.sites
        if d.kept_frac_without_site
        and any(not is_cloud(h) and problem.hall(h).site == site.id for h, _ in _halls(sets, d))
    ]

    def kept(m: pyo.ConcreteModel, d: str, site: str, t: int) -> Any:
        terms = problem.demand(d)
        parts = [x.share * amount(m, sets, x, t, site) for x in problem.demand_parts(d)]
        total = sum(parts) + sum(m.unmet[d, x] for x in (t,) if (d, x) in m.unmet)
        wanted = terms.kept_frac_without_site * terms.wanted[t]
        if not hasattr(total, "is_expression_type"):
            return pyo.Constraint.Feasible if wanted <= 0 else pyo.Constraint.Infeasible
        return total >= wanted

    model.without_site = pyo.Constraint(rows, list(sets.quarters), rule=kept)


def _halls(sets: Sets, demand: DemandTerms) -> set[tuple[str, str]]:
    """Return the halls and systems that may serve a demand or its parts."""
    return {key for x in sets.problem.demand_parts(demand.id) for key in x.each}
