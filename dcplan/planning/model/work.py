"""Work: each job runs once, and an accelerator has one use at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pyomo.core as pyo
from pyomo.core.expr.numeric_expr import LinearExpression

from dcplan.fabric.effective import LinkSpeed
from dcplan.planning.model.demands import add_demands, reserved
from dcplan.planning.model.sets import Sets
from dcplan.planning.model.upgrades import powered
from dcplan.units import DAYS_PER_QUARTER, MONTHS_PER_QUARTER


def add_work(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Add the workloads.

    .. math::
       \sum_m x_{jm} = 1, \quad \sum_{m\ active} g_m x_{jm} \le \sum_c a_k n_{hkct}, \quad
       \sum_{m\ ahead} g_m x_{jm} \le \sum_c a_k n_{hkc,t-1}, \quad
       \sum_c d_{hkct} = \sum_m g_m\,\mathrm{days}_{mt}/D\; x_{jm}, \quad d + u \le a_k n
    """
    problem = sets.problem
    run_options = problem.run_options
    of_job: dict[str, list[int]] = defaultdict(list)
    for i, config in enumerate(run_options):
        if config.leads:
            of_job[config.job].append(i)
    model.job_runs_once = pyo.Constraint(
        [j.id for j in problem.jobs],
        rule=lambda m, j: (
            of_runs(m, ((i, 1) for i in of_job[j])) == 1 if of_job[j] else pyo.Constraint.Infeasible
        ),
    )
    _add_pools(model, sets)
    _add_sharing(model, sets)
    _add_fabric_speed(model, sets)
    add_demands(model, sets)


def of_runs(model: pyo.ConcreteModel, weights: Iterable[tuple[int, float]]) -> LinearExpression:
    """Return the sum of run options times their weights, as an expression made at once.

    A large plan has a million of these terms, and a sum by terms takes twice as long.
    """
    numbers, coefs = zip(*weights, strict=True)
    return LinearExpression(linear_coefs=coefs, linear_vars=[model.run[i] for i in numbers])


def _pool(model: pyo.ConcreteModel, sets: Sets, hall: str, system: str, month: int) -> Any:
    """Return the spare accelerators that the runs of a system in a hall share in a month."""
    spares = sets.pooled_months.get((hall, system, month), ())
    if not spares:
        return 0.0
    each = sets.problem.pools[hall, system].node_accelerators
    return each * sum(model.pooled[hall, system, month, k] for k in spares)


def _add_pools(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Count the spare nodes that the runs of a system in a hall share in a month.

    .. math::
       \sum_i n_i x_i \le N_0 + \sum_k (N_k - N_{k-1})\,y_k, \quad y_k \le y_{k-1}, \quad
       (N_{k-1} + 1)\,y_k \le \sum_i n_i x_i

    with the nodes n of a run and the most nodes N that k spares cover.
    """
    options, pools = sets.problem.run_options, sets.problem.pools
    months = list(sets.pooled_months)

    def nodes(m: pyo.ConcreteModel, h: str, s: str, month: int) -> LinearExpression:
        return of_runs(m, ((i, options[i].pooled_nodes) for i in sets.runs_of_system[h, s, month]))

    def enough(m: pyo.ConcreteModel, h: str, s: str, month: int) -> Any:
        most, spares = pools[h, s].most, sets.pooled_months[h, s, month]
        more = sum((most(k) - most(k - 1)) * m.pooled[h, s, month, k] for k in spares)
        return nodes(m, h, s, month) <= most(0) + more

    def in_order(m: pyo.ConcreteModel, h: str, s: str, month: int, k: int) -> Any:
        if k == 1:
            return pyo.Constraint.Skip
        return m.pooled[h, s, month, k] <= m.pooled[h, s, month, k - 1]

    def needed(m: pyo.ConcreteModel, h: str, s: str, month: int, k: int) -> Any:
        least = pools[h, s].most(k - 1) + 1
        return least * m.pooled[h, s, month, k] <= nodes(m, h, s, month)

    model.pool_enough = pyo.Constraint(months, rule=enough)
    model.pool_in_order = pyo.Constraint(sets.pool_steps, rule=in_order)
    model.pool_needed = pyo.Constraint(sets.pool_steps, rule=needed)


def _add_sharing(model: pyo.ConcreteModel, sets: Sets) -> None:
    run_options = sets.problem.run_options
    places = list(dict.fromkeys((c.place, c.system) for c in run_options if not c.on_cloud))

    def accelerators(m: pyo.ConcreteModel, runs: Sequence[int]) -> LinearExpression:
        return of_runs(m, ((i, run_options[i].accelerators) for i in runs))

    def room(m: pyo.ConcreteModel, h: str, k: str, month: int) -> Any:
        active = sets.runs_of_system.get((h, k, month))
        if not active:
            return pyo.Constraint.Skip
        have = sum(
            sets.places[p].accelerators * powered(m, p, month // MONTHS_PER_QUARTER)
            for p in sets.same_system[h, k]
        )
        return accelerators(m, active) + _pool(m, sets, h, k, month) <= have

    ahead: dict[tuple[str, str, str, int], list[int]] = defaultdict(list)
    for i, config in enumerate(run_options):
        if not config.on_cloud and config.lead_months:
            ahead[config.job, config.place, config.system, config.serving_quarter].append(i)

    def serving(m: pyo.ConcreteModel, j: str, h: str, k: str, t: int) -> Any:
        have = sum(sets.places[p].accelerators * powered(m, p, t) for p in sets.same_system[h, k])
        return accelerators(m, ahead[j, h, k, t]) <= have

    def use(m: pyo.ConcreteModel, h: str, k: str, t: int) -> Any:
        used = sum(m.training[p, t] for p in sets.same_system[h, k])
        runs = [(i, run_options[i], days) for i, days in sets.days_of_runs.get((h, k, t), ())]
        if not runs:
            return used == 0
        each = ((i, x.accelerators * x.training_frac * (d / DAYS_PER_QUARTER)) for i, x, d in runs)
        months = range(t * MONTHS_PER_QUARTER, (t + 1) * MONTHS_PER_QUARTER)
        pools = sum(_pool(m, sets, h, k, month) for month in months) / MONTHS_PER_QUARTER
        return used == of_runs(m, each) + pools

    def split(m: pyo.ConcreteModel, h: str, c: str, k: str, p: int, t: int) -> Any:
        key = (h, c, k)
        busy = [m.training[key, t]] if (*key, t) in m.training else []
        busy += [
            reserved(m, d, key, t)
            for d in sets.problem.demands
            if d.active(p) and (d.id, *key, t) in m.serving
        ]
        busy += [m.paused[key, t]] if (*key, t) in m.paused else []
        if not busy:
            return pyo.Constraint.Skip
        return sum(busy) <= sets.places[key].accelerators * powered(m, key, t)

    model.accelerators_for_jobs = pyo.Constraint(places, list(sets.months), rule=room)
    model.serving_ahead = pyo.Constraint(list(ahead), rule=serving)
    model.training_use = pyo.Constraint(places, list(sets.quarters), rule=use)
    model.accelerators_shared = pyo.Constraint(
        list(sets.places), list(sets.periods), list(sets.quarters), rule=split
    )


def _add_fabric_speed(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Require a fabric with the link speed of each run option."""
    groups: dict[tuple[str, str, str, LinkSpeed], list[int]] = defaultdict(list)
    for i, config in enumerate(sets.problem.run_options):
        if not config.on_cloud:
            groups[config.job, config.place, config.system, config.link].append(i)
    keys = list(groups)

    def speed(m: pyo.ConcreteModel, n: int) -> Any:
        _, hall, system, link = keys[n]
        ports = sets.places[sets.same_system[hall, system][0]].port_class
        able = [
            o.id
            for o in sets.problem.fabrics
            if o.hall == hall and ports in o.shares and o.speeds[ports].serves(link)
        ]
        runs = of_runs(m, ((i, 1) for i in groups[keys[n]]))
        return runs <= sum(m.fabric[hall, f] for f in able)

    model.fabric_speed = pyo.Constraint(range(len(keys)), rule=speed)
