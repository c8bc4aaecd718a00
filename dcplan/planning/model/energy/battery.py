"""Batteries on the site: shaved peaks, and interruptions of the grid that they carry."""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.onsite import serving
from dcplan.planning.model.power import racks_mean_mw, racks_peak_mw, site_peak_mw
from dcplan.planning.model.sets import Sets
from dcplan.planning.model.upgrades import powered
from dcplan.planning.problem.energy import BatteryTerms, OnsiteTerms
from dcplan.units import HOURS_PER_QUARTER, KW_PER_MW


def _batteries(sets: Sets) -> list[tuple[str, OnsiteTerms, BatteryTerms]]:
    return [
        (s.id, o, o.battery)
        for s in sets.problem.sites
        for o in s.onsite
        if o.battery is not None and o.most_units
    ]


def _more_mw(m: pyo.ConcreteModel, sets: Sets, site: str, t: int) -> Any:
    """Return what a day on which all racks that may train do so has above the mean load [MW]."""
    total: Any = 0.0
    season = sets.problem.season(t)
    for key, kw in sets.problem.training_kw_over_idle.items():
        hall, place = sets.problem.hall(key[0]), sets.places.get(key)
        if hall.site != site or place is None:
            continue
        now: Any = 0.0
        if (*key, t) in m.training:
            each = (place.training_kw - place.idle_average_kw) / place.accelerators
            now += each * m.training[key, t]
        for d in sets.problem.demands:
            if (d.id, *key, t) in m.serving:
                now += place.serving_kw(d) * m.serving[d.id, key, t]
        pue = sets.problem.cooled(key).pue_at(season)
        total += pue / KW_PER_MW * (kw * powered(m, key, t) - now)
    return total


def _room_mw(m: pyo.ConcreteModel, sets: Sets, site: str, t: int) -> Any:
    """Return the room between the peak and the mean of a busy day, in which batteries refill [MW].

    With ideal shares of switches, a relaxation gives at least the room of every plan: networks and storage
    may use what the racks leave of the IT power of a hall, at the PUE that gives most room.
    """
    more, season = _more_mw(m, sets, site, t), sets.problem.season(t)
    if not sets.relaxed or sets.problem.integer_switches:
        mean = m.energy_mwh[site, t] / HOURS_PER_QUARTER
        return site_peak_mw(m, sets, site, t, upper=False) - mean - more
    room = racks_peak_mw(m, sets, site, t) - racks_mean_mw(m, sets, site, t) - more
    for hall in sets.problem.halls:
        if hall.site != site or not hall.coolings:
            continue
        least = min(c.other.pue_at(season) for c in hall.coolings)
        pue = max(c.peak_pue for c in hall.coolings) - least
        fitted = sum(m.fitted[hall.id, c.id, t] for c in hall.coolings)
        racks = sum(sets.places[k].rated_kw * powered(m, k, t) for k in sets.in_hall[hall.id])
        other = hall.it_mw * KW_PER_MW * fitted - racks
        room += max(pue, 0.0) / KW_PER_MW * other
    return room


def _ramps(sets: Sets, site: str, job: str, t: int) -> list[int]:
    """Return the run options of a job in a quarter that need a battery for the ramp limit of a site."""
    halls = {hall.id for hall in sets.problem.halls if hall.site == site}
    return [
        i
        for (place, _, quarter), runs in sets.days_of_runs.items()
        if quarter == t and place in halls
        for i, _ in runs
        if sets.problem.run_options[i].job == job and sets.problem.run_options[i].ramp_mw
    ]


def add_battery(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Limit what batteries carry, by their power and energy, and by the room to refill in a day.

    .. math::
       k_p S_{bt} + \sum_y k_y c_{byt} \le B_b n_{bt}, \quad \sum_b c_{byt} \le d_{yt}, \quad
       \sum_b r_b S_{bt} \le P_t - \bar L_t, \quad e_{bt} = -\ell^p S_{bt} - \sum_y \ell^y c_{byt}

    A run i whose load falls faster than the site's ramp limit has :math:`A_b R_i x_i` on the left of the first
    row of the site's first battery, A the share of its modules that work.

    with L the mean load of a day on which all racks that may train do so, S the shaved peak
    (``onsite_mw``), c the interruptible power carried (``bridged``) and e the losses (``onsite_mwh``, not above 0).
    """
    found, quarters = _batteries(sets), list(sets.quarters)
    keys = [(s, o.id) for s, o, _ in found]
    of = {(s, o.id): (o, b) for s, o, b in found}
    tranches = [
        (s, o.id, y.id) for s, o, b in found for y in sets.problem.site(s).tranches if b.carries(y)
    ]
    terms = {(s.id, y.id): y for s in sets.problem.sites for y in s.tranches}

    def used_mw(m: pyo.ConcreteModel, s: str, o: str, t: int) -> Any:
        battery = of[s, o][1]
        used = battery.mw_per_mw(battery.peak_h) * m.onsite_mw[s, o, t]
        used += sum(
            battery.mw_per_mw(terms[s, y].event_h) * m.bridged[s, o, y, t]
            for (a, b, y) in tranches
            if (a, b) == (s, o)
        )
        return used

    def able(m: pyo.ConcreteModel, s: str, o: str, t: int) -> Any:
        plant, battery = of[s, o]
        most = plant.unit_mw * battery.available_frac * serving(m, s, plant, t)
        return used_mw(m, s, o, t) <= most

    def ramp(m: pyo.ConcreteModel, s: str, job: str, t: int) -> Any:
        terms = sets.problem.site(s).ramp
        runs = _ramps(sets, s, job, t)
        if terms is None or terms.battery is None or not runs:
            return pyo.Constraint.Skip
        plant, battery = of[s, terms.battery]
        needed = sum(sets.problem.run_options[i].ramp_mw * m.run[i] for i in runs)
        most = plant.unit_mw * serving(m, s, plant, t)
        return used_mw(m, s, plant.id, t) / battery.available_frac + needed <= most

    def losses(m: pyo.ConcreteModel, s: str, o: str, t: int) -> Any:
        battery = of[s, o][1]
        lost = battery.shaving_loss_h * m.onsite_mw[s, o, t] + sum(
            battery.event_loss_h(terms[s, y]) * m.bridged[s, o, y, t]
            for (a, b, y) in tranches
            if (a, b) == (s, o)
        )
        return m.onsite_mwh[s, o, t] == -lost

    def refilled(m: pyo.ConcreteModel, s: str, t: int) -> Any:
        shaved = sum(
            b.peak_over_mean * m.onsite_mw[a, o.id, t] for a, o, b in found if a == s and b.peak_h
        )
        return shaved <= _room_mw(m, sets, s, t)

    for (s, o), (_, battery) in of.items():
        for t in quarters:
            model.onsite_mw[s, o, t].setub(None if battery.peak_h else 0.0)
    model.battery_mw = pyo.Constraint(keys, quarters, rule=able)
    limited = [x.id for x in sets.problem.sites if x.ramp is not None]
    model.ramp_storage = pyo.Constraint(
        limited, [j.id for j in sets.problem.jobs], quarters, rule=ramp
    )
    model.battery_losses = pyo.Constraint(keys, quarters, rule=losses)
    model.battery_refill = pyo.Constraint(
        list(dict.fromkeys(s for s, _, b in found if b.peak_h)), quarters, rule=refilled
    )
    model.bridged_used = pyo.Constraint(
        list(dict.fromkeys((s, y) for s, _, y in tranches)),
        quarters,
        rule=lambda m, s, y, t: (
            sum(m.bridged[a, o, x, t] for a, o, x in tranches if (a, x) == (s, y))
            <= m.interruptible_mw[s, y, t]
        ),
    )
