"""Work: each job runs once, and an accelerator has one use at a time."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyomo.core as pyo

from dcplan.fabric.effective import LinkSpeed
from dcplan.planning.model.demands import add_demands, reserved
from dcplan.planning.model.sets import Sets
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
            sum(m.run[i] for i in of_job[j]) == 1 if of_job[j] else pyo.Constraint.Infeasible
        ),
    )
    _add_sharing(model, sets)
    _add_fabric_speed(model, sets)
    add_demands(model, sets)


def _add_sharing(model: pyo.ConcreteModel, sets: Sets) -> None:
    run_options = sets.problem.run_options
    places = list(dict.fromkeys((c.place, c.system) for c in run_options if not c.on_cloud))

    def room(m: pyo.ConcreteModel, h: str, k: str, month: int) -> Any:
        active = [i for i in sets.runs_in_month[h, month] if run_options[i].system == k]
        if not active:
            return pyo.Constraint.Skip
        have = sum(
            sets.places[p].accelerators * m.racks[p, month // MONTHS_PER_QUARTER]
            for p in sets.same_system[h, k]
        )
        return sum(run_options[i].accelerators * m.run[i] for i in active) <= have

    ahead: dict[tuple[str, str, str, int], list[int]] = defaultdict(list)
    for i, config in enumerate(run_options):
        if not config.on_cloud and config.lead_months:
            ahead[config.job, config.place, config.system, config.serving_quarter].append(i)

    def serving(m: pyo.ConcreteModel, j: str, h: str, k: str, t: int) -> Any:
        have = sum(sets.places[p].accelerators * m.racks[p, t] for p in sets.same_system[h, k])
        return sum(run_options[i].accelerators * m.run[i] for i in ahead[j, h, k, t]) <= have

    def use(m: pyo.ConcreteModel, h: str, k: str, t: int) -> Any:
        need = sum(
            run_options[i].accelerators
            * run_options[i].training_frac
            * (days / DAYS_PER_QUARTER)
            * m.run[i]
            for i, days in sets.runs_in_quarter[h, t]
            if run_options[i].system == k
        )
        return sum(m.training[p, t] for p in sets.same_system[h, k]) == need

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
        return sum(busy) <= sets.places[key].accelerators * m.racks[key, t]

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
        return sum(m.run[i] for i in groups[keys[n]]) <= sum(m.fabric[hall, f] for f in able)

    model.fabric_speed = pyo.Constraint(range(len(keys)), rule=speed)
