"""Hall units that work fills: their book value counts in full at the end of the horizon."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.money.capital import fitted
from dcplan.planning.model.sets import Sets
from dcplan.planning.model.work import of_runs


def add_filled(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Declare ``used_units``: hall units whose book value counts in full, because work fills them.

    .. math::
       u_{hcq} \le z_{hcq} - z_{hc,q-1}, \qquad
       \sum_{c,q} u_{hcq} \le \sum_{k,q} w_k\,b_{hkq} / W_h, \qquad
       \sum_{c,q} u_{hcq} \le \left(\sum_{d,k} w'_k\,p_{dhk} + r_h\right) / W_h, \\
       r_h \le \sum_i w'_k\,g_i x_i, \qquad r_h \le \sum_m r_{hm}, \qquad
       r_{hm} \le \sum_{i\ active\ in\ m} w'_k\,g_i x_i, \qquad r_{hm} \le R_{hm}\,s_{hm}, \qquad
       \sum_m s_{hm} \le 1, \\
       p_{dhk} \le v_{dhk,T_d}, \qquad \sum_{h,k} w_d\,\tau\,p_{dhk} \le D_{d,T_d}

    with z the fitted units, b all racks of the hall, w the rated power of a rack and w' that of an
    accelerator, v the accelerators that serve demand d in its peak quarter, p those that it needs, x
    the runs, g their accelerators times the share of a quarter that they last, at most 1, r the rated
    power of the runs in the month in which they need most (s is binary, R a bound on r), and W the
    rated power at which a unit counts as full. Runs that follow each other fill a hall once. Racks
    without work add nothing: otherwise they would be bought to keep the value of a hall.
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
        _add_peak_runs(model, sets, [h.id for h in halls])
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


def _add_peak_runs(model: pyo.ConcreteModel, sets: Sets, halls: list[str]) -> None:
    """Declare ``peak_runs``: the rated power of the runs of a hall in the month of most, in kW.

    Run options of a single job exclude each other, so that a hall with only those needs no months.
    """
    options = sets.problem.run_options
    here = {h: [i for i, run in enumerate(options) if run.place == h] for h in halls}
    here = {h: found for h, found in here.items() if found}
    active = {
        h: _months_of_most(sets, h) for h in here if len({options[i].job for i in here[h]}) > 1
    }
    index = [(h, month) for h, months in active.items() for month in months]
    most = {(h, month): _most_kw(sets, h, active[h][month]) for h, month in index}
    model.peak_runs = pyo.Var(list(here), domain=pyo.NonNegativeReals)
    model.month_runs = pyo.Var(index, domain=pyo.NonNegativeReals)
    model.peak_month = pyo.Var(index, domain=pyo.Binary)

    def whole(m: pyo.ConcreteModel, h: str) -> Any:
        return m.peak_runs[h] <= _runs_kw(m, sets, h, here[h])

    def months(m: pyo.ConcreteModel, h: str) -> Any:
        return m.peak_runs[h] <= sum(m.month_runs[h, month] for month in active[h])

    def running(m: pyo.ConcreteModel, h: str, month: int) -> Any:
        return m.month_runs[h, month] <= _runs_kw(m, sets, h, active[h][month])

    def chosen(m: pyo.ConcreteModel, h: str, month: int) -> Any:
        return m.month_runs[h, month] <= most[h, month] * m.peak_month[h, month]

    def once(m: pyo.ConcreteModel, h: str) -> Any:
        return sum(m.peak_month[h, month] for month in active[h]) <= 1

    model.peak_runs_whole = pyo.Constraint(list(here), rule=whole)
    model.peak_runs_months = pyo.Constraint(list(active), rule=months)
    model.month_runs_active = pyo.Constraint(index, rule=running)
    model.month_runs_chosen = pyo.Constraint(index, rule=chosen)
    model.peak_month_once = pyo.Constraint(list(active), rule=once)


def _months_of_most(sets: Sets, hall: str) -> dict[int, list[int]]:
    """Return the months that can be the busiest of a hall, with the run options active in them.

    A month whose options are all active in another one cannot be busier.
    """
    starts = sorted({run.start_month for run in sets.problem.run_options if run.place == hall})
    active = {month: frozenset(sets.runs_in_month[hall, month]) for month in starts}

    def busiest(month: int) -> bool:
        own = active[month]
        return not any(own < other or (own == other and m < month) for m, other in active.items())

    return {month: sets.runs_in_month[hall, month] for month in starts if busiest(month)}


def _most_kw(sets: Sets, hall: str, runs: list[int]) -> float:
    """Return the most rated power that some run options can use together, one of each job [kW]."""
    each, options = sets.problem.accelerator_kw, sets.problem.run_options
    most: dict[str, float] = defaultdict(float)
    for i in runs:
        run = options[i]
        kw = each[hall, run.system] * run.peak_use
        most[run.job] = max(most[run.job], kw)
    return sum(most.values())


def _runs_kw(model: pyo.ConcreteModel, sets: Sets, hall: str, runs: list[int]) -> Any:
    """Return the rated power that some run options of a hall need on average over a quarter [kW]."""
    each, options = sets.problem.accelerator_kw, sets.problem.run_options
    return of_runs(model, ((i, each[hall, options[i].system] * options[i].peak_use) for i in runs))


def _work_kw(model: pyo.ConcreteModel, sets: Sets, hall: str) -> Any:
    """Return the rated power of the accelerators that demands and runs need in a hall [kW]."""
    each = sets.problem.accelerator_kw
    total = sum(each[h, k] * v for (_, h, _, k), v in model.peak_work.items() if h == hall)
    return total + sum(v for h, v in model.peak_runs.items() if h == hall)


def _racks_kw(model: pyo.ConcreteModel, sets: Sets, hall: str) -> Any:
    """Return the rated power of all racks of a hall, in service at any time [kW]."""
    kw = {key: sets.places[key].rated_kw for key in sets.in_hall[hall]}
    total = sum(kw[o[:3]] * model.buy[o] for o in sets.orders if o[:3] in kw)
    total += sum(kw[key] * model.fleet[key] for key in sets.fleet if key in kw)
    return total + sum(kw[x.key] * x.racks for x in sets.problem.existing if x.key in kw)
