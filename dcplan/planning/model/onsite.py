"""Power in addition to firm grid power.

It models interruptible tranches with the work that they pause, and on-site plants.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from dcplan.energy.taken import cuts
from dcplan.planning.decision_specs import ONSITE_BUY, ONSITE_ON
from dcplan.planning.model.sets import Sets
from dcplan.planning.problem.energy import OnsiteTerms, TrancheTerms, shapes_at
from dcplan.units import HOURS_PER_QUARTER, KW_PER_MW


def _tranches(sets: Sets) -> dict[tuple[str, str], TrancheTerms]:
    return {(s.id, i.id): i for s in sets.problem.sites for i in s.tranches}


def _plants(sets: Sets) -> dict[tuple[str, str], OnsiteTerms]:
    return {
        (s.id, o.id): o
        for s in sets.problem.sites
        for o in s.onsite
        if o.most_units > o.spare_units
    }


def declare_onsite(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Declare variables of sites with tranches or plants.

    ``interruptible_mw`` of a tranche; load ``enrolled`` for demand response; ``paused`` accelerators;
    ``onsite_buy`` units of plants ordered, ``onsite_on`` in use, ``onsite_mw`` of peak and ``onsite_mwh``
    of energy, of batteries their losses, not above 0; ``bridged`` interruptible power that a battery
    carries.
    """
    t = list(sets.quarters)
    tranches, plants = _tranches(sets), _plants(sets)
    model.interruptible_mw = pyo.Var(
        list(tranches), t, bounds=lambda _, s, i, q: (0, tranches[s, i].mw[q])
    )
    responses = {s.id: s.response for s in sets.problem.sites if s.response is not None}
    model.enrolled = pyo.Var(list(responses), t, bounds=lambda _, s, q: (0, responses[s].max_mw))
    cut = {s for s, _ in tranches} | set(responses)
    model.paused = pyo.Var(
        [k for k in sets.places if sets.problem.hall(k[0]).site in cut],
        t,
        domain=pyo.NonNegativeReals,
    )
    keys = list(plants)
    model.onsite_buy = pyo.Var(
        ONSITE_BUY.index(sets),
        domain=pyo.NonNegativeIntegers,
        bounds=lambda _, s, o, q: (0, plants[s, o].most_units),
    )
    model.bridged = pyo.Var(
        [
            (s, o, y.id)
            for (s, o), x in plants.items()
            for y in sets.problem.site(s).tranches
            if x.battery is not None and x.battery.carries(y)
        ],
        t,
        domain=pyo.NonNegativeReals,
    )
    model.onsite_on = pyo.Var(ONSITE_ON.index(sets), domain=pyo.Binary)
    firm = [key for key, x in plants.items() if x.firm]
    stored = [key for key, x in plants.items() if x.battery is not None]
    model.onsite_mw = pyo.Var([*firm, *stored], t, domain=pyo.NonNegativeReals)
    model.onsite_mwh = pyo.Var(
        keys, t, bounds=lambda _, s, o, q: (0, None) if plants[s, o].battery is None else (None, 0)
    )


def add_onsite(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Constrain the sources of a site's peak and energy in addition to firm grid power.

    .. math::
       P_{st} \le G_{st} + \sum_i d_{sit} + \sum_o g_{sot}, \quad d_{sit} \le D_{sit}, \quad
       g_{sot} \le B_o \Bigl(\sum_{\tau \le t - L_o} b_{so\tau} - r_o u_{sot}\Bigr), \\
       0 \le E_{st} - \sum_o e_{sot} \le H (G_{st} + \sum_i d_{sit}), \quad e_{sot} \le H g_{sot},
       \quad \sum_{h,k,c} w_k\,\mathrm{PUE}^{peak}_c\, p_{hkct} / a_k \ge \sum_i \frac{h_i}{8766}
       d_{sit}

    The load on a tranche pauses while it is interrupted: accelerators p pause on the quarter's
    average, and the constraints of shared accelerators (``work``) subtract them. No energy is sold
    to the grid.
    """
    t = list(sets.quarters)
    tranches, plants = _tranches(sets), _plants(sets)
    called = {s.id: s.response.called_frac for s in sets.problem.sites if s.response is not None}
    cut = {s for s, _ in tranches} | set(called)
    _add_plants(model, plants, t)
    _add_weather(model, sets, plants)
    model.no_export = pyo.Constraint(
        sorted({s for s, _ in plants}), t, rule=lambda m, s, q: grid_mwh(m, s, q) >= 0
    )

    def pause(m: pyo.ConcreteModel, s: str, q: int) -> Any:
        saved = sum(
            mw_each(sets, k) * m.paused[k, q]
            for k in sets.places
            if (*k, q) in m.paused and _at(sets, k, s)
        )
        lost = sum(
            x.interrupted_frac * m.interruptible_mw[key, q]
            for key, x in tranches.items()
            if key[0] == s
        )
        carried = sum(
            tranches[a, y].interrupted_frac * v
            for (a, _, y, t), v in m.bridged.items()
            if (a, t) == (s, q)
        )
        if s in called:
            lost += called[s] * m.enrolled[s, q]
        return saved >= lost - carried

    model.paused_work = pyo.Constraint(sorted(cut), t, rule=pause)


def _add_plants(
    model: pyo.ConcreteModel, plants: dict[tuple[str, str], OnsiteTerms], t: list[int]
) -> None:
    keys = [key for key, x in plants.items() if x.firm]

    def carried(m: pyo.ConcreteModel, s: str, o: str, q: int) -> Any:
        x = plants[s, o]
        return m.onsite_mw[s, o, q] <= x.unit_mw * (
            serving(m, s, x, q) - x.spare_units * m.onsite_on[s, o, q]
        )

    def used(m: pyo.ConcreteModel, s: str, o: str, q: int) -> Any:
        x = plants[s, o]
        return (
            m.onsite_mw[s, o, q]
            <= x.unit_mw * (x.most_units - x.spare_units) * m.onsite_on[s, o, q]
        )

    model.onsite_spare = pyo.Constraint(keys, t, rule=carried)
    model.onsite_used = pyo.Constraint(keys, t, rule=used)
    model.onsite_most = pyo.Constraint(
        [k for k, x in plants.items() if x.lead < len(t)],
        rule=lambda m, s, o: serving(m, s, plants[s, o], len(t) - 1) <= plants[s, o].most_units,
    )
    model.onsite_energy = pyo.Constraint(
        keys,
        t,
        rule=lambda m, s, o, q: m.onsite_mwh[s, o, q] <= HOURS_PER_QUARTER * m.onsite_mw[s, o, q],
    )


def _add_weather(
    model: pyo.ConcreteModel, sets: Sets, plants: dict[tuple[str, str], OnsiteTerms]
) -> None:
    r"""Limit the energy of PV and wind to what the mean load of a quarter takes, hour by hour.

    .. math:: \sum_o e_{sot} \le \sum_o c_{oi} B_o \sum_{\tau \le t - L_o} b_{so\tau}
              + n_i E_{st} / H

    for each limit i of :func:`dcplan.energy.taken.cuts`; the peak of the site has nothing of it.
    """
    rows = []
    for site in sets.problem.sites:
        group = [x for key, x in plants.items() if key[0] == site.id and x.weather]
        for t in sets.quarters if group else ():
            shapes, each_h = shapes_at(group, sets.problem.start, t)
            rows += [(site.id, group, t, cut, each_h) for cut in cuts(shapes)]

    def taken(m: pyo.ConcreteModel, i: int) -> Any:
        s, group, t, cut, each_h = rows[i]
        made = sum(m.onsite_mwh[s, x.id, t] for x in group)
        able = sum(
            hours * x.unit_mw * serving(m, s, x, t)
            for x, hours in zip(group, cut.plant_h, strict=True)
        )
        return made <= each_h * (able + cut.load_h / HOURS_PER_QUARTER * m.energy_mwh[s, t])

    model.weather_taken = pyo.Constraint(range(len(rows)), rule=taken)


def serving(model: pyo.ConcreteModel, site: str, plant: OnsiteTerms, t: int) -> Any:
    """Return the units of a plant in service in a quarter."""
    return sum(
        v
        for (s, o, q), v in model.onsite_buy.items()
        if (s, o) == (site, plant.id) and q + plant.lead <= t
    )


def interruptible_mw(model: pyo.ConcreteModel, site: str, t: int) -> Any:
    """Return the interruptible power that a site uses [MW]."""
    return sum(v for (s, _, q), v in model.interruptible_mw.items() if (s, q) == (site, t))


def generated_mw(model: pyo.ConcreteModel, site: str, t: int) -> Any:
    """Return the peak load that on-site plants carry [MW]."""
    return sum(v for (s, _, q), v in model.onsite_mw.items() if (s, q) == (site, t))


def generated_mwh(model: pyo.ConcreteModel, site: str, t: int) -> Any:
    """Return the energy that on-site plants generate [MWh]."""
    return sum(v for (s, _, q), v in model.onsite_mwh.items() if (s, q) == (site, t))


def grid_mwh(model: pyo.ConcreteModel, site: str, t: int) -> Any:
    """Return the energy from the grid [MWh]."""
    return model.energy_mwh[site, t] - generated_mwh(model, site, t)


def mw_each(sets: Sets, key: tuple[str, str, str]) -> float:
    """Return the rated power of one accelerator at the peak PUE of its cooling [MW]."""
    place = sets.places[key]
    pue = sets.problem.cooled(key).peak_pue
    return place.rated_kw / place.accelerators * pue / KW_PER_MW


def _at(sets: Sets, key: tuple[str, str, str], site: str) -> bool:
    return sets.problem.hall(key[0]).site == site
