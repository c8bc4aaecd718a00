"""Batteries on the site: shaved peaks, and interruptions of the grid that they carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.onsite import serving
from dcplan.planning.model.power import racks_mean_mw, racks_peak_mw, site_peak_mw
from dcplan.planning.model.sets import Sets
from dcplan.planning.model.upgrades import powered
from dcplan.planning.problem.energy import BatteryTerms, OnsiteTerms, TrancheTerms
from dcplan.units import HOURS_PER_QUARTER, KW_PER_MW


@dataclass(frozen=True)
class _Batteries:
    """Batteries of all sites, and the interruptible power that each may carry."""

    sets: Sets
    found: Mapping[tuple[str, str], tuple[OnsiteTerms, BatteryTerms]]
    """Plant and battery by site and id."""
    carried: list[tuple[str, str, str]]
    """Site, battery and tranche of what may be carried."""

    @classmethod
    def of(cls, sets: Sets) -> _Batteries:
        """Return the batteries that a plan may buy."""
        found, carried = {}, []
        for site in sets.problem.sites:
            for plant in site.onsite:
                if plant.battery is not None and plant.most_units:
                    found[site.id, plant.id] = plant, plant.battery
                    own = (y.id for y in site.tranches if plant.battery.carries(y))
                    carried += [(site.id, plant.id, y) for y in own]
        return cls(sets, found, carried)

    def bridged(
        self,
        m: pyo.ConcreteModel,
        key: tuple[str, str],
        t: int,
        each: Callable[[TrancheTerms], float],
    ) -> Any:
        """Return the sum of the power of tranches that a battery carries, each times a factor."""
        site = self.sets.problem.site(key[0])
        terms = {y.id: y for y in site.tranches}
        mine = (y for (s, o, y) in self.carried if (s, o) == key)
        return sum(each(terms[y]) * m.bridged[*key, y, t] for y in mine)

    def used_mw(self, m: pyo.ConcreteModel, key: tuple[str, str], t: int) -> Any:
        """Return the rated power that a battery uses for peaks and interruptions [MW]."""
        battery = self.found[key][1]
        shaved = battery.mw_per_mw(battery.peak_h) * m.onsite_mw[*key, t]
        return shaved + self.bridged(m, key, t, lambda y: battery.mw_per_mw(y.event_h))


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
    batteries, quarters = _Batteries.of(sets), list(sets.quarters)

    def able(m: pyo.ConcreteModel, s: str, o: str, t: int) -> Any:
        plant, battery = batteries.found[s, o]
        most = plant.unit_mw * battery.available_frac * serving(m, s, plant, t)
        return batteries.used_mw(m, (s, o), t) <= most

    def ramp(m: pyo.ConcreteModel, s: str, job: str, t: int) -> Any:
        terms = sets.problem.site(s).ramp
        runs = _ramps(sets, s, job, t)
        if terms is None or terms.battery is None or not runs:
            return pyo.Constraint.Skip
        plant, battery = batteries.found[s, terms.battery]
        needed = sum(sets.problem.run_options[i].ramp_mw * m.run[i] for i in runs)
        most = plant.unit_mw * serving(m, s, plant, t)
        return batteries.used_mw(m, (s, plant.id), t) / battery.available_frac + needed <= most

    for key, (_, battery) in batteries.found.items():
        for t in quarters:
            model.onsite_mw[*key, t].setub(None if battery.peak_h else 0.0)
    model.battery_mw = pyo.Constraint(list(batteries.found), quarters, rule=able)
    limited = [x.id for x in sets.problem.sites if x.ramp is not None]
    model.ramp_storage = pyo.Constraint(
        limited, [j.id for j in sets.problem.jobs], quarters, rule=ramp
    )
    _add_energy(model, sets, batteries)


def _add_energy(model: pyo.ConcreteModel, sets: Sets, batteries: _Batteries) -> None:
    """Count the losses of batteries, leave room to refill them, and carry no more than a tranche has."""
    found, quarters = batteries.found, list(sets.quarters)

    def losses(m: pyo.ConcreteModel, s: str, o: str, t: int) -> Any:
        battery = found[s, o][1]
        shaved = battery.shaving_loss_h * m.onsite_mw[s, o, t]
        lost = shaved + batteries.bridged(m, (s, o), t, battery.event_loss_h)
        return m.onsite_mwh[s, o, t] == -lost

    def refilled(m: pyo.ConcreteModel, s: str, t: int) -> Any:
        shaved = sum(
            b.peak_over_mean * m.onsite_mw[a, o, t]
            for (a, o), (_, b) in found.items()
            if a == s and b.peak_h
        )
        return shaved <= _room_mw(m, sets, s, t)

    def within(m: pyo.ConcreteModel, s: str, y: str, t: int) -> Any:
        carried = (m.bridged[a, o, x, t] for a, o, x in batteries.carried if (a, x) == (s, y))
        return sum(carried) <= m.interruptible_mw[s, y, t]

    shaving = dict.fromkeys(s for (s, _), (_, b) in found.items() if b.peak_h)
    model.battery_losses = pyo.Constraint(list(found), quarters, rule=losses)
    model.battery_refill = pyo.Constraint(list(shaving), quarters, rule=refilled)
    tranches = dict.fromkeys((s, y) for s, _, y in batteries.carried)
    model.bridged_used = pyo.Constraint(list(tranches), quarters, rule=within)
