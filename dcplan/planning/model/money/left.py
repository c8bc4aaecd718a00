"""Residual value at the end of the horizon, in M USD."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.money.capital import M, added, backed, fitted, network, plant_usd
from dcplan.planning.model.network.links import links_musd
from dcplan.planning.model.racks import kept
from dcplan.planning.model.sets import Sets
from dcplan.planning.model.upgrades import upgrades_musd


def add_left(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Declare ``used_units``: hall units whose book value counts in full, because work fills them.

    .. math::
       u_{hcq} \le z_{hcq} - z_{hc,q-1}, \qquad
       \sum_{c,q} u_{hcq} \le \sum_{k,q} w_k\,b_{hkq} / W_h, \qquad
       \sum_{c,q} u_{hcq} \le \left(\sum_{d,k} w'_k\,p_{dhk} + \sum_i w'_k\,g_i x_i\right) / W_h, \\
       p_{dhk} \le v_{dhk,T_d}, \qquad \sum_{h,k} w_d\,\tau\,p_{dhk} \le D_{d,T_d}

    with z the fitted units, b all racks of the hall, w the rated power of a rack and w' that of an
    accelerator, v the accelerators that serve demand d in its peak quarter, p those that it needs, x
    the runs, g their accelerators times the share of a quarter that they last, at most 1, and W the
    rated power at which a unit counts as full. Racks without work add nothing: otherwise they would
    be bought to keep the value of a hall.
    """
    halls = [h for h in sets.problem.halls if sets.problem.finance.empty_hall_frac < 1.0]
    index = [(h.id, c.id, q) for h in halls for c in h.coolings for q in sets.quarters]
    model.used_units = pyo.Var(index, domain=pyo.NonNegativeReals)

    def new(m: pyo.ConcreteModel, h: str, c: str, q: int) -> Any:
        return m.used_units[h, c, q] <= fitted(m, sets, h, c, q)

    def units(m: pyo.ConcreteModel, h: str) -> Any:
        return sum(
            m.used_units[h, c.id, q] for c in sets.problem.hall(h).coolings for q in sets.quarters
        )

    def racks(m: pyo.ConcreteModel, h: str) -> Any:
        return units(m, h) <= _racks_kw(m, sets, h) / sets.problem.hall(h).full_kw

    def work(m: pyo.ConcreteModel, h: str) -> Any:
        return units(m, h) <= _work_kw(m, sets, h) / sets.problem.hall(h).full_kw

    model.used_units_fitted = pyo.Constraint(index, rule=new)
    model.used_units_racks = pyo.Constraint([h.id for h in halls], rule=racks)
    if halls and sets.problem.has_work:
        _add_peak_work(model, sets)
        model.used_units_work = pyo.Constraint([h.id for h in halls], rule=work)


def _add_peak_work(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Declare ``peak_work``: the accelerators that a demand needs in its peak quarter, by placement."""
    problem = sets.problem
    peaks = {d.id: problem.peak_quarter(d) for d in problem.demands}
    index = [
        (d, *key) for d, t in peaks.items() for key in sets.places if (d, *key, t) in model.serving
    ]
    model.peak_work = pyo.Var(index, domain=pyo.NonNegativeReals)

    def served(m: pyo.ConcreteModel, d: str, h: str, c: str, k: str) -> Any:
        return m.peak_work[d, h, c, k] <= m.serving[d, h, c, k, peaks[d]]

    def needed(m: pyo.ConcreteModel, d: str) -> Any:
        terms = problem.demand(d)
        parts = [
            terms.share * terms.each[h, k] * m.peak_work[d, h, c, k]
            for x, h, c, k in index
            if x == d
        ]
        wanted = problem.demand(terms.row_id).wanted[peaks[d]]
        return sum(parts) <= wanted if parts else pyo.Constraint.Skip

    model.peak_work_served = pyo.Constraint(index, rule=served)
    model.peak_work_needed = pyo.Constraint(list(peaks), rule=needed)


def _work_kw(model: pyo.ConcreteModel, sets: Sets, hall: str) -> Any:
    """Return the rated power of the accelerators that demands and runs need in a hall [kW]."""
    each = sets.problem.accelerator_kw
    total = sum(each[h, k] * v for (_, h, _, k), v in model.peak_work.items() if h == hall)
    return total + sum(
        each[hall, run.system] * run.peak_use * model.run[i]
        for i, run in enumerate(sets.problem.run_options)
        if run.place == hall
    )


def _racks_kw(model: pyo.ConcreteModel, sets: Sets, hall: str) -> Any:
    """Return the rated power of all racks of a hall, in service at any time [kW]."""
    kw = {key: sets.places[key].rated_kw for key in sets.in_hall[hall]}
    total = sum(kw[o[:3]] * model.buy[o] for o in sets.orders if o[:3] in kw)
    total += sum(kw[key] * model.fleet[key] for key in sets.fleet if key in kw)
    return total + sum(kw[x.key] * x.racks for x in sets.problem.existing if x.key in kw)


def residual(model: pyo.ConcreteModel, sets: Sets) -> Any:
    """Return the residual value at the end of the horizon [M$].

    It is the market value of hardware, and the book value of power equipment and of halls in use.
    """
    finance, t = sets.problem.finance, list(sets.quarters)
    hardware = finance.hardware_residual_frac
    total = sum(
        sets.places[o[:3]].order_usd(o[3]) / M * hardware[o[3]] * model.buy[o] for o in sets.orders
    )
    total += sum(sets.places[k].order_usd(0) / M * hardware[0] * model.fleet[k] for k in sets.fleet)
    total += sum(h.storage_usd for h in sets.problem.halls) / M * hardware[0]
    last = len(t) - 1
    total += sum(x.end_usd / M * kept(model, x, last) for x in sets.problem.existing)
    for q in t:
        total += hardware[q] * (network(model, sets, q, "usd") + links_musd(model, sets, q))
        total += sum(
            sets.problem.site(s).block_usd
            / M
            * finance.power_residual_frac[q]
            * added(model.blocks, (s,), q)
            for s in backed(model)
        )
        plants = ((s, o, v) for (s, o, x), v in model.onsite_buy.items() if x == q)
        total += sum(
            plant_usd(sets, s, o) / M * finance.power_residual_frac[q] * v for s, o, v in plants
        )
        total += _halls(model, sets, q)
        for works in upgrades_musd(model, sets, q):
            total += finance.cooling_residual_frac[q] * works
    return total


def _halls(model: pyo.ConcreteModel, sets: Sets, q: int) -> Any:
    """Return the value left of the hall units fitted in a quarter [M$]."""
    finance, total = sets.problem.finance, 0.0
    empty = finance.empty_hall_frac
    for hall in sets.problem.halls:
        for c in hall.coolings:
            book = (
                c.building_usd * finance.building_residual_frac[q]
                + c.fit_out_usd * finance.cooling_residual_frac[q]
            ) / M
            total += empty * book * fitted(model, sets, hall.id, c.id, q)
            if empty < 1.0:
                total += (1.0 - empty) * book * model.used_units[hall.id, c.id, q]
    return total
