"""Costs that accompany rent: set-up of the largest number in use, and costs of a month with rent."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyomo.core as pyo

from dcplan.inputs.cloud_prices import OfferTerms, cloud_place, is_cloud, offer_of
from dcplan.planning.decision_specs import RENTING
from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import RunOption
from dcplan.units import MONTHS_PER_QUARTER, USD_PER_MUSD

M = USD_PER_MUSD


def declare_extras(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Declare ``set_up`` accelerators by quarter, ``renting`` at each fixed cost, ``rent_fixed_musd``."""
    quarters = list(sets.quarters)
    paid = [o.id for o in sets.problem.offers if o.extras.set_up_usd]
    model.set_up = pyo.Var(paid, quarters, domain=pyo.NonNegativeReals)
    model.renting = pyo.Var(RENTING.index(sets), domain=pyo.Binary)
    fixed = quarters if sets.problem.rent_fixed_usd_per_month else []
    model.rent_fixed_musd = pyo.Var(fixed, domain=pyo.NonNegativeReals)


def add_extras(model: pyo.ConcreteModel, sets: Sets, reserved: Any) -> None:
    r"""Limit the accelerators in use to those set up, and charge each quarter with rent.

    .. math::
       r_{opm} \le \sum_{\tau \le t} s_{o\tau}, \qquad F_t \ge f\,z_{ft}, \\
       \sum_{i \in j,\ f} x_{im} \le z_{ft}, \qquad
       \sum_{o \in f} v_{dot} / V_{dot} \le z_{ft}

    with r the accelerators of offer o reserved in period p of month m, s the accelerators set up, z
    whether an offer of fixed cost f is in use, F the fixed cost of the quarter, x the runs of job j,
    v the accelerators rented for demand d, and V those that serve all of it.

    Parameters
    ----------
    model : ConcreteModel
        Model with the declared variables.
    sets : Sets
        Index sets of the model.
    reserved : callable
        Terms of the accelerators of an offer reserved in a period and month.
    """
    paid = [o.id for o in sets.problem.offers if o.extras.set_up_usd]

    def set_up(m: pyo.ConcreteModel, o: str, p: int, month: int) -> Any:
        parts = reserved(o, p, month)
        done = [m.set_up[o, q] for q in range(month // MONTHS_PER_QUARTER + 1)]
        return sum(parts) <= sum(done) if parts else pyo.Constraint.Skip

    model.rent_set_up = pyo.Constraint(paid, list(sets.periods), list(sets.months), rule=set_up)
    costs = sets.problem.rent_fixed_usd_per_month
    if costs:
        _add_fixed(model, sets, costs)
    _add_whole_runs(model, sets, paid)


def _add_fixed(model: pyo.ConcreteModel, sets: Sets, costs: tuple[float, ...]) -> None:
    """Charge the costs of a quarter with rent, by the offers that each job and demand uses."""
    problem, levels = sets.problem, range(len(costs))
    level = {
        o.id: costs.index(o.extras.fixed_usd_per_month)
        for o in problem.offers
        if o.extras.fixed_usd_per_month
    }
    runs: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for (place, month), found in sets.runs_in_month.items():
        for i in found if offer_of(place) in level and is_cloud(place) else ():
            runs[problem.run_options[i].job, level[offer_of(place)], month].append(i)

    def job(m: pyo.ConcreteModel, j: str, n: int, month: int) -> Any:
        return sum(m.run[i] for i in runs[j, n, month]) <= m.renting[n, month // MONTHS_PER_QUARTER]

    def demand(m: pyo.ConcreteModel, d: str, n: int, t: int) -> Any:
        parts = [
            m.rented[d, o.id, t] / _all_of(problem, d, o, t)
            for o in problem.offers
            if level.get(o.id) == n and (d, o.id, t) in m.rented
        ]
        return sum(parts) <= m.renting[n, t] if parts else pyo.Constraint.Skip

    def charge(m: pyo.ConcreteModel, n: int, t: int) -> Any:
        return m.rent_fixed_musd[t] >= costs[n] * MONTHS_PER_QUARTER / M * m.renting[n, t]

    model.rent_of_job = pyo.Constraint(list(runs), rule=job)
    demands = [d.id for d in problem.demands]
    model.rent_of_demand = pyo.Constraint(demands, levels, list(sets.quarters), rule=demand)
    model.rent_charged = pyo.Constraint(levels, list(sets.quarters), rule=charge)


def _add_whole_runs(model: pyo.ConcreteModel, sets: Sets, paid: list[str]) -> None:
    r"""Add rows that follow for whole runs, because fractions of a run share quarters and set-up.

    .. math::
       \sum_{i \in j,\ o} g_i x_i \le \sum_\tau s_{o\tau}, \qquad
       \sum_{i \in j} f_i\,n_i\,x_i \le \sum_t F_t

    with g the accelerators of run option i, f the fixed cost of its offer, n its quarters.
    """
    problem, quarters = sets.problem, list(sets.quarters)
    fixed = {o.id: o.extras.fixed_usd_per_month * MONTHS_PER_QUARTER / M for o in problem.offers}
    rented: dict[str, list[int]] = defaultdict(list)
    for i, run in enumerate(problem.run_options):
        if run.on_cloud:
            rented[run.job].append(i)

    def set_up(m: pyo.ConcreteModel, j: str, o: str) -> Any:
        found = [i for i in rented[j] if offer_of(problem.run_options[i].place) == o]
        used = sum(problem.run_options[i].accelerators * m.run[i] for i in found)
        return used <= sum(m.set_up[o, q] for q in quarters) if found else pyo.Constraint.Skip

    def charge(m: pyo.ConcreteModel, j: str) -> Any:
        runs = [(i, problem.run_options[i]) for i in rented[j]]
        cost = sum(fixed[offer_of(run.place)] * _quarters(sets, run) * m.run[i] for i, run in runs)
        return cost <= sum(m.rent_fixed_musd[t] for t in quarters)

    model.set_up_of_run = pyo.Constraint(list(rented), paid, rule=set_up)
    charged = list(rented) if problem.rent_fixed_usd_per_month else []
    model.charge_of_run = pyo.Constraint(charged, rule=charge)


def _quarters(sets: Sets, run: RunOption) -> int:
    """Return the quarters of the horizon in which a run reserves accelerators."""
    first, end = run.start_month, min(run.start_month + run.months, len(sets.months))
    return (end - 1) // MONTHS_PER_QUARTER - first // MONTHS_PER_QUARTER + 1


def _all_of(problem: PlanningProblem, demand: str, offer: OfferTerms, t: int) -> float:
    """Return the accelerators of an offer that serve all of a demand.

    Without an amount of its own, such as that of a pool, it is what all offers have.
    """
    terms = problem.demand(demand)
    each = terms.share * terms.each[cloud_place(offer.id), offer.accelerator]
    wanted = problem.demand(terms.row_id).wanted[t]
    if wanted > 0 and each > 0:
        return wanted / each
    return float(max(offer.max_accelerators, 1) * len(problem.offers))


def extras(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return set-up and the fixed cost of rent in a quarter [M$]."""
    total: Any = sum(model.rent_fixed_musd[q] for q in (t,) if q in model.rent_fixed_musd)
    for o in sets.problem.offers:
        if (o.id, t) in model.set_up:
            total += o.extras.set_up_usd / M * model.set_up[o.id, t]
    return total
