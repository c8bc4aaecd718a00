"""Costs that accompany rent: set-up of the largest number in use, and costs of a month with rent."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.inputs.cloud_prices import OfferTerms, is_cloud, offer_of
from dcplan.planning.decisions import RENTING
from dcplan.planning.model.sets import Sets
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
       r_{opm} \le \sum_{\tau \le t} s_{o\tau}, \qquad
       r_{opm} \le R_o\,z_{f(o)t}, \qquad F_t \ge f\,z_{ft}

    with r the accelerators of offer o reserved in period p of month m, s the accelerators set up, z
    whether an offer of fixed cost f is in use, and F the fixed cost of the quarter.

    Parameters
    ----------
    model : ConcreteModel
        Model with the declared variables.
    sets : Sets
        Index sets of the model.
    reserved : callable
        Terms of the accelerators of an offer reserved in a period and month.
    """
    offers = {o.id: o for o in sets.problem.offers}
    most = {o.id: _most(sets, o) for o in offers.values()}
    costs = sets.problem.rent_fixed_usd_per_month
    charged = [o.id for o in offers.values() if o.extras.fixed_usd_per_month]
    periods, months = list(sets.periods), list(sets.months)

    def set_up(m: pyo.ConcreteModel, o: str, p: int, month: int) -> Any:
        parts = reserved(o, p, month)
        done = [m.set_up[o, q] for q in range(month // MONTHS_PER_QUARTER + 1)]
        return sum(parts) <= sum(done) if parts else pyo.Constraint.Skip

    def in_use(m: pyo.ConcreteModel, o: str, p: int, month: int) -> Any:
        parts = reserved(o, p, month)
        if not parts or not most[o]:
            return pyo.Constraint.Skip
        level = costs.index(offers[o].extras.fixed_usd_per_month)
        return sum(parts) <= most[o] * m.renting[level, month // MONTHS_PER_QUARTER]

    def charge(m: pyo.ConcreteModel, level: int, t: int) -> Any:
        each = costs[level] * MONTHS_PER_QUARTER / M
        return m.rent_fixed_musd[t] >= each * m.renting[level, t]

    paid = [o.id for o in offers.values() if o.extras.set_up_usd]
    model.rent_set_up = pyo.Constraint(paid, periods, months, rule=set_up)
    model.rent_in_use = pyo.Constraint(charged, periods, months, rule=in_use)
    model.rent_charged = pyo.Constraint(range(len(costs)), list(sets.quarters), rule=charge)


def _most(sets: Sets, offer: OfferTerms) -> float:
    """Return the most accelerators of an offer that the work can take at the same time."""
    problem = sets.problem
    jobs: dict[str, int] = {}
    for run in problem.run_options:
        if is_cloud(run.place) and offer_of(run.place) == offer.id:
            jobs[run.job] = max(jobs.get(run.job, 0), run.accelerators)
    served = any(offer.accelerator in {k for _, k in d.each} for d in problem.demands)
    return offer.max_accelerators if served else min(offer.max_accelerators, sum(jobs.values()))


def extras(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return set-up and the fixed cost of rent in a quarter [M$]."""
    total: Any = sum(model.rent_fixed_musd[q] for q in (t,) if q in model.rent_fixed_musd)
    for o in sets.problem.offers:
        if (o.id, t) in model.set_up:
            total += o.extras.set_up_usd / M * model.set_up[o.id, t]
    return total
