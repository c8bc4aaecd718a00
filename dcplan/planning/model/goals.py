"""Objectives other than cost, and upper limits on any measure (epsilon constraints)."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.inputs.cloud_prices import cloud_place, offer_of
from dcplan.planning.goal import (
    AFTER_TAX,
    CAPEX,
    CARBON,
    COMPUTE,
    COST,
    DAYS,
    OWN_CARBON,
    PEAK,
    TIME,
    WAIT,
)
from dcplan.planning.model.money.capital import capex
from dcplan.planning.model.money.cost import after_tax_cost, present_cost
from dcplan.planning.model.onsite import grid_mwh
from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.work.jobs.soonest import wait_months
from dcplan.planning.problem.work.terms import PFLOPS, RunOption
from dcplan.units import (
    DAYS_PER_MONTH,
    DAYS_PER_QUARTER,
    HOURS_PER_DAY,
    HOURS_PER_QUARTER,
    KG_PER_TONNE,
)


def add_goal(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Set the objective, :math:`\min m_0` with :math:`m_i \le \epsilon_i`.

    Measures: present cost before and after taxes and debt, and capital cost [M$], carbon of owned
    sites without and with the cloud [t], the negative of delivered research [PFLOP-days], the sum
    of all jobs' finish days, the days of one job, the facility peak over all sites [MW].
    """
    goal = sets.problem.goal
    if sets.problem.carbon_known or CARBON in goal.measures:
        _without_unknown(model, sets)
    if goal.measures & {PEAK}:
        model.peak_all_mw = pyo.Var(domain=pyo.NonNegativeReals)
        model.peak_of_all = pyo.Constraint(
            list(sets.quarters),
            rule=lambda m, q: m.peak_all_mw >= sum(m.peak_mw[s.id, q] for s in sets.problem.sites),
        )
    if goal.measure != COST:
        model.npv.deactivate()
        model.goal = pyo.Objective(expr=measure(model, sets, goal.measure), sense=pyo.minimize)
    if goal.limits:
        limits = {limit.measure: limit.most for limit in goal.limits}
        model.goal_limit = pyo.Constraint(
            list(limits), rule=lambda m, name: measure(m, sets, name) <= limits[name]
        )


def _without_unknown(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Forbid offers with unknown carbon if carbon counts.

    Otherwise they would count as carbon-free.
    """
    unknown = {o.id for o in sets.problem.offers if o.kg_per_accelerator_hour is None}
    for i, config in enumerate(sets.problem.run_options):
        if config.on_cloud and offer_of(config.place) in unknown:
            model.run[i].setub(0)
    for (_, offer, _), rented in model.rented.items():
        if offer in unknown:
            rented.setub(0)


def measure(model: pyo.ConcreteModel, sets: Sets, name: str) -> Any:
    """Return one measure as an expression of the model."""
    if name.startswith(DAYS):
        return _jobs(model, sets, lambda c: c.days, name.removeprefix(DAYS))
    found: dict[str, Any] = {
        COST: lambda: present_cost(model, sets),
        AFTER_TAX: lambda: after_tax_cost(model, sets),
        CAPEX: lambda: sum(capex(model, sets, q) for q in sets.quarters),
        OWN_CARBON: lambda: _own_carbon(model, sets),
        CARBON: lambda: _own_carbon(model, sets) + _cloud_carbon(model, sets),
        COMPUTE: lambda: -_delivered(model, sets),
        TIME: lambda: _jobs(model, sets, lambda c: c.start_month * DAYS_PER_MONTH + c.finish_days),
        PEAK: lambda: model.peak_all_mw,
        WAIT: lambda: _jobs(model, sets, lambda c: wait_months(sets.problem, c)),
    }
    return found[name]()


def _jobs(model: pyo.ConcreteModel, sets: Sets, of: Any, job: str | None = None) -> Any:
    return sum(
        of(c) * model.run[i]
        for i, c in enumerate(sets.problem.run_options)
        if c.leads and (job is None or c.job == job)
    ) + 0.0 * sum(model.run.values())


def _own_carbon(model: pyo.ConcreteModel, sets: Sets) -> Any:
    total: Any = 0.0
    for site in sets.problem.sites:
        stacks = {o.id: o.g_per_kwh for o in site.onsite}
        for q in sets.quarters:
            total += site.grid_g_per_kwh / KG_PER_TONNE * grid_mwh(model, site.id, q)
            for o, grams in stacks.items():
                if (site.id, o, q) in model.onsite_mwh:
                    total += grams / KG_PER_TONNE * model.onsite_mwh[site.id, o, q]
    return total


def _cloud_carbon(model: pyo.ConcreteModel, sets: Sets) -> Any:
    each = {
        o.id: (o.kg_per_accelerator_hour or 0.0) / KG_PER_TONNE for o in sets.problem.offers
    }  # unknown: cannot be rented
    total: Any = 0.0
    for i, config in enumerate(sets.problem.run_options):
        if config.on_cloud:
            total += _hours(config) * each[offer_of(config.place)] * model.run[i]
    hours = {d.id: HOURS_PER_QUARTER * d.rented_hours_frac for d in sets.problem.demands}
    for (d, offer, _), rented in model.rented.items():
        total += hours[d] * each[offer] * rented
    return total


def _hours(config: RunOption) -> float:
    return config.accelerators * config.days * HOURS_PER_DAY


def _delivered(model: pyo.ConcreteModel, sets: Sets) -> Any:
    """Return the delivered research on the reference jobs, including rented work [PFLOP-days]."""
    total: Any = 0.0
    chips = {o.id: o.accelerator for o in sets.problem.offers}
    for demand in (x for x in sets.problem.demands if x.unit == PFLOPS):
        days = DAYS_PER_QUARTER * demand.hours_frac
        for (d, h, _, k, _), used in model.serving.items():
            total += days * demand.each[h, k] * used if d == demand.id else 0.0
        for (d, offer, _), rented in model.rented.items():
            each = demand.each.get((cloud_place(offer), chips[offer]), 0.0)
            total += days * each * rented if d == demand.id else 0.0
    return total
