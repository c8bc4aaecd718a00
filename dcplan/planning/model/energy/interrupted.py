"""Work while the grid interrupts power: runs that pause, and work that keeps its power."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.demands import reserved
from dcplan.planning.model.onsite import generated_mw, idle_mw_each, mw_each
from dcplan.planning.model.power import racks_peak_mw
from dcplan.planning.model.sets import P, Sets
from dcplan.planning.model.upgrades import powered
from dcplan.units import DAYS_PER_QUARTER, MONTHS_PER_QUARTER


def add_interrupted(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Let runs pause, and give firm power to the work that does not.

    .. math::
       \sum_c u_{hkct} \ge \sum_m g_m f_m (1 - p_m)\, \mathrm{days}_{mt}/D\; x_m, \\
       U_{s\tau} = \sum_{m\ active} w_k p_m g_m x_m + \sum_{services} w_k n, \quad
       U_{s\tau} \le G_{st} + \sum_o g_{sot} + \sum_{o,y} b_{soyt}, \quad
       U_{s\tau} \le R_{st} - a_{st}

    f is the share of the time with interruptions, p the share of the power that goes on; p is 1 for a
    run that keeps its power, and R the rated power of racks. U is in each month and period of the week.
    Where racks pause at idle power w0, U counts what is above it, the first limit on its left the load
    that stays on, :math:`P_{st} - R_{st} + \sum_{hkc} w^0_k n_{hkct}`, and R is less by the last sum.
    """
    sites = sets.problem.sites
    runs = sets.problem.run_options
    pausing = sorted({(x.place, x.system) for x in runs if x.cuts.freed_frac > 0.0})

    def pause(m: pyo.ConcreteModel, h: str, k: str, t: int) -> Any:
        need = sum(
            runs[i].accelerators * runs[i].cuts.freed_frac * (days / DAYS_PER_QUARTER) * m.run[i]
            for i, days in sets.days_of_runs.get((h, k, t), ())
            if runs[i].cuts.freed_frac > 0.0
        )
        if isinstance(need, int):
            return pyo.Constraint.Skip
        return sum(m.paused[p, t] for p in sets.same_system[h, k]) >= need

    model.runs_pause = pyo.Constraint(pausing, list(sets.quarters), rule=pause)
    always = _AlwaysOn(sets)
    tranches = [s.id for s in sites if any(any(x.mw) for x in s.tranches)]
    responses = [s.id for s in sites if s.response is not None]
    index = (list(sets.periods), list(sets.months))

    def firm(m: pyo.ConcreteModel, s: str, period: int, month: int) -> Any:
        t = month // MONTHS_PER_QUARTER
        load = always.mw(m, s, period, month)
        if not any(x.mw[t] for x in sets.problem.site(s).tranches):
            return pyo.Constraint.Skip
        if sets.problem.site(s).pauses_idle:
            load += m.peak_mw[s, t] - racks_peak_mw(m, sets, s, t) + _idle_mw(m, sets, s, t)
        if isinstance(load, int):
            return pyo.Constraint.Skip
        carried = sum(v for (a, _, _, q), v in m.bridged.items() if (a, q) == (s, t))
        return load <= sets.problem.site(s).utility_mw[t] + generated_mw(m, s, t) + carried

    def called(m: pyo.ConcreteModel, s: str, period: int, month: int) -> Any:
        load, t = always.mw(m, s, period, month), month // MONTHS_PER_QUARTER
        if sets.problem.site(s).pauses_idle:
            load += _idle_mw(m, sets, s, t)
        if isinstance(load, int):
            return pyo.Constraint.Skip
        return load <= racks_peak_mw(m, sets, s, t) - m.enrolled[s, t]

    model.firm_power = pyo.Constraint(tranches, *index, rule=firm)
    model.called_load = pyo.Constraint(responses, *index, rule=called)


def _idle_mw(m: pyo.ConcreteModel, sets: Sets, site: str, t: int) -> Any:
    """Return the power that racks draw while they pause, with cooling on the design day [MW]."""
    return sum(
        idle_mw_each(sets, k) * sets.places[k].accelerators * powered(m, k, t)
        for k in sets.places
        if sets.problem.hall(k[0]).site == site
    )


class _AlwaysOn:
    """Load of a site that does not pause, above what pauses draw, by period of the week and month."""

    def __init__(self, sets: Sets) -> None:
        self.sets = sets
        self.of: dict[tuple[str, str], list[P]] = defaultdict(list)
        """Placements of a system in a hall: one for each cooling option."""
        for key in sets.places:
            self.of[key[0], key[2]].append(key)
        self.services = [d for d in sets.problem.demands if d.always_on]

    def mw(self, model: pyo.ConcreteModel, site: str, period: int, month: int) -> Any:
        """Return the load of runs that keep their power, and of services; 0 without any."""
        sets, t = self.sets, month // MONTHS_PER_QUARTER
        total: Any = 0
        for hall in (h.id for h in sets.problem.halls if h.site == site):
            for i in sets.runs_in_month[hall, month]:
                run = sets.problem.run_options[i]
                if run.kept_frac > 0.0:
                    each = self._each_mw(hall, run.system, run.kept_frac)
                    total += each * run.accelerators * model.run[i]
            total += sum(self._serving(model, key, period, t) for key in sets.in_hall[hall])
        return total

    def _each_mw(self, hall: str, system: str, kept_frac: float) -> float:
        """Return the power that one accelerator of a run keeps above idle power [MW].

        It is the most of the cooling options, the least in a relaxation.
        """
        found = (
            max(kept_frac * mw_each(self.sets, key) - idle_mw_each(self.sets, key), 0.0)
            for key in self.of[hall, system]
        )
        return min(found) if self.sets.relaxed else max(found)

    def _serving(self, model: pyo.ConcreteModel, key: P, period: int, t: int) -> Any:
        return sum(
            (mw_each(self.sets, key) - idle_mw_each(self.sets, key)) * reserved(model, d, key, t)
            for d in self.services
            if d.active(period) and (d.id, *key, t) in model.serving
        )
