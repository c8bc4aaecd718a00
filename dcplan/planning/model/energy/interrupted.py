"""Work while the grid interrupts power: runs that pause, and work that keeps its power."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.demands import reserved
from dcplan.planning.model.onsite import generated_mw, mw_each
from dcplan.planning.model.power import racks_peak_mw
from dcplan.planning.model.sets import P, Sets
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
        if isinstance(load, int) or not any(x.mw[t] for x in sets.problem.site(s).tranches):
            return pyo.Constraint.Skip
        carried = sum(v for (a, _, _, q), v in m.bridged.items() if (a, q) == (s, t))
        return load <= sets.problem.site(s).utility_mw[t] + generated_mw(m, s, t) + carried

    def called(m: pyo.ConcreteModel, s: str, period: int, month: int) -> Any:
        load, t = always.mw(m, s, period, month), month // MONTHS_PER_QUARTER
        if isinstance(load, int):
            return pyo.Constraint.Skip
        return load <= racks_peak_mw(m, sets, s, t) - m.enrolled[s, t]

    model.firm_power = pyo.Constraint(tranches, *index, rule=firm)
    model.called_load = pyo.Constraint(responses, *index, rule=called)


class _AlwaysOn:
    """Load of a site that does not pause, by period of the week and month."""

    def __init__(self, sets: Sets) -> None:
        self.sets = sets
        self.each: dict[tuple[str, str], float] = {}
        """Power of one accelerator by hall and system: the most of its cooling options, the least in
        a relaxation. [MW]"""
        of: dict[tuple[str, str], list[float]] = defaultdict(list)
        for key in sets.places:
            of[key[0], key[2]].append(mw_each(sets, key))
        self.each = {key: (min if sets.relaxed else max)(found) for key, found in of.items()}
        self.services = [d for d in sets.problem.demands if d.always_on]

    def mw(self, model: pyo.ConcreteModel, site: str, period: int, month: int) -> Any:
        """Return the load of runs that keep their power, and of services; 0 without any."""
        sets, t = self.sets, month // MONTHS_PER_QUARTER
        total: Any = 0
        for hall in (h.id for h in sets.problem.halls if h.site == site):
            for i in sets.runs_in_month[hall, month]:
                run = sets.problem.run_options[i]
                if run.kept_frac > 0.0:
                    each = self.each[hall, run.system] * run.kept_frac
                    total += each * run.accelerators * model.run[i]
            total += sum(self._serving(model, key, period, t) for key in sets.in_hall[hall])
        return total

    def _serving(self, model: pyo.ConcreteModel, key: P, period: int, t: int) -> Any:
        return sum(
            mw_each(self.sets, key) * reserved(model, d, key, t)
            for d in self.services
            if d.active(period) and (d.id, *key, t) in model.serving
        )
