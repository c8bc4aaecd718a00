"""Rented accelerators: limits, commitments, and the cost of both, also after the horizon."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyomo.core as pyo

from dcplan.inputs.cloud_prices import OfferTerms, cloud_place, offer_of
from dcplan.planning.decision_specs import COMMITTED
from dcplan.planning.model.rent_extras import add_extras, declare_extras, extras
from dcplan.planning.model.sets import Sets
from dcplan.units import (
    DAYS_PER_MONTH,
    HOURS_PER_DAY,
    HOURS_PER_QUARTER,
    MONTHS_PER_QUARTER,
    USD_PER_MUSD,
)

M = USD_PER_MUSD


def declare_cloud(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Declare commitments in nodes by start quarter, and the average monthly use they cover."""
    most = {
        (o.id, c.term): o.max_accelerators // o.node_accelerators
        for o in sets.problem.offers
        for c in o.committed
    }
    model.committed = pyo.Var(
        COMMITTED.index(sets),
        domain=pyo.NonNegativeIntegers,
        bounds=lambda _, o, c, t: (0, most[o, c]),
    )
    bound = list(dict.fromkeys(o for o, _ in most))
    model.covered = pyo.Var(
        bound, list(sets.periods), list(sets.months), domain=pyo.NonNegativeReals
    )
    declare_extras(model, sets)


def add_cloud(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Limit rented accelerators, and the use that commitments cover.

    .. math::
       \sum_{m\ active} g_m x_{jm} + \sum_d v_{dot} \le G_o, \qquad
       \sum_{\tau \le t < \tau + L_c} k_o\, b_{oc\tau} \le G_o, \\
       u_{oi} \le \sum_{c} \sum_{\tau\ in\ force} k_o\, b_{oc\tau}, \qquad
       u_{oi} \le \sum_m g_m\,\mathrm{days}_{mi}/D_{month}\; x_{jm} + \sum_d v_{dot}

    with u the use of a month that commitments cover. Each row holds in every period of the week. An
    offer without an on-demand price is used only
    under a commitment.
    """
    problem = sets.problem
    months, periods = list(sets.months), list(sets.periods)

    def one(m: pyo.ConcreteModel, offer: str, period: int, month: int) -> Any:
        parts = _committed(m, sets, offer, period, month)
        limit = next(o.max_accelerators for o in problem.offers if o.id == offer)
        return sum(parts) <= limit if parts else pyo.Constraint.Skip

    def every(m: pyo.ConcreteModel, period: int, month: int) -> Any:
        parts = [part for o in problem.offers for part in _committed(m, sets, o.id, period, month)]
        return sum(parts) <= problem.cloud_max_accelerators if parts else pyo.Constraint.Skip

    model.offer_limit = pyo.Constraint([o.id for o in problem.offers], periods, months, rule=one)
    if problem.cloud_max_accelerators is not None:
        model.cloud_limit = pyo.Constraint(periods, months, rule=every)
    _add_commitments(model, sets, months)
    add_extras(model, sets, partial(_committed, model, sets))


def _committed(
    model: pyo.ConcreteModel, sets: Sets, offer: str, period: int, month: int
) -> list[Any]:
    """Return the accelerators of an offer that are reserved in a period of a month."""
    t = month // MONTHS_PER_QUARTER
    runs = [
        sets.problem.run_options[i].accelerators * model.run[i]
        for i in sets.runs_in_month[cloud_place(offer), month]
    ]
    return runs + [
        model.rented[d.id, offer, t]
        for d in sets.problem.demands
        if (d.id, offer, t) in model.rented and d.active(period)
    ]


def _add_commitments(model: pyo.ConcreteModel, sets: Sets, months: list[int]) -> None:
    offers = {o.id: o for o in sets.problem.offers if o.committed}
    keys, t = list(offers), list(sets.quarters)

    def room(m: pyo.ConcreteModel, o: str, q: int) -> Any:
        return in_force(m, offers[o], q) <= offers[o].max_accelerators

    def within(m: pyo.ConcreteModel, o: str, p: int, month: int) -> Any:
        return m.covered[o, p, month] <= in_force(m, offers[o], month // MONTHS_PER_QUARTER)

    def used(m: pyo.ConcreteModel, o: str, p: int, month: int) -> Any:
        use, covered = _use(m, sets, o, p, month), m.covered[o, p, month]
        return covered == use if not offers[o].on_demand else covered <= use

    model.commit_limit = pyo.Constraint(keys, t, rule=room)
    model.commit_covers = pyo.Constraint(keys, list(sets.periods), months, rule=within)
    model.commit_used = pyo.Constraint(keys, list(sets.periods), months, rule=used)


def in_force(model: pyo.ConcreteModel, offer: OfferTerms, t: int) -> Any:
    """Return the committed accelerators in a quarter."""
    return sum(
        offer.node_accelerators * model.committed[offer.id, c.term, q]
        for c in offer.committed
        for q in range(max(0, t - c.quarters + 1), t + 1)
    )


def _use(model: pyo.ConcreteModel, sets: Sets, offer: str, period: int, month: int) -> Any:
    """Return the average accelerators of an offer in use in a period of a month."""
    begin, total = month * DAYS_PER_MONTH, 0.0
    for i in sets.runs_in_month[cloud_place(offer), month]:
        c = sets.problem.run_options[i]
        first = c.start_month * DAYS_PER_MONTH
        days = min(first + c.days, begin + DAYS_PER_MONTH) - max(first, begin)
        if days > 0:
            total += c.accelerators * days / DAYS_PER_MONTH * model.run[i]
    t = month // MONTHS_PER_QUARTER
    return total + sum(
        d.rent_frac * model.rented[d.id, offer, t]
        for d in sets.problem.demands
        if (d.id, offer, t) in model.rented and d.active(period)
    )


def cloud(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return the cost of rented accelerators in a quarter [M$].

    It is the use at the price by the hour with the accompanying costs, minus the use that
    commitments cover, and commitments, set-up and the costs of a quarter with rent.
    """
    price = {o.id: o.usd_per_used_hour(t) for o in sets.problem.offers}
    saved = {o.id: o.usd_per_covered_hour(t) for o in sets.problem.offers}
    total: Any = 0.0
    for i, config in sets.cloud_runs:
        days = sets.days_in_quarter(config, t)
        if days > 0:
            hourly = price[offer_of(config.place)]
            total += config.accelerators * days * HOURS_PER_DAY * hourly / M * model.run[i]
    served = {d.id: HOURS_PER_QUARTER * d.rented_hours_frac for d in sets.problem.demands}
    for d, o, q in model.rented:
        if q == t:
            total += served[d] * price[o] / M * model.rented[d, o, q]
    for o, p, month in model.covered:
        if month // MONTHS_PER_QUARTER == t:
            hours = DAYS_PER_MONTH * HOURS_PER_DAY * sets.problem.periods[p]
            total -= hours * saved[o] / M * model.covered[o, p, month]
    return total + _paid(model, sets, t) + extras(model, sets, t)


def after(model: pyo.ConcreteModel, sets: Sets) -> dict[int, Any]:
    """Return the cost of commitments in quarters after the horizon, with support [M$]."""
    terms = [c.quarters for o in sets.problem.offers for c in o.committed]
    last = len(sets.quarters)
    return {t: _paid(model, sets, t) for t in range(last, last + max(terms, default=1) - 1)}


def _paid(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    total: Any = 0.0
    terms = {(o.id, c.term): (o, c) for o in sets.problem.offers for c in o.committed}
    for (o, c, q), nodes in model.committed.items():
        offer, commit = terms[o, c]
        if q <= t < q + commit.quarters:
            total += (
                offer.node_accelerators
                * commit.usd_per_accelerator_hour[q]
                * (1.0 + offer.extras.support_frac)
                * HOURS_PER_QUARTER
                / M
                * nodes
            )
    return total
