"""Halls: fit-out with a cooling option, rack positions, electrical, liquid and air limits."""

from __future__ import annotations

import math
from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.network.links import link_kw
from dcplan.planning.model.sets import Sets
from dcplan.planning.model.upgrades import powered, room, stops, upgrade_of
from dcplan.planning.problem.terms import HallTerms
from dcplan.units import KW_PER_MW

TINY = 1e-9


def network_kw(model: pyo.ConcreteModel, sets: Sets, hall: str, t: int, *, upper: bool) -> Any:
    """Return the power of the hall's network and of its links [kW].

    It uses integer switch counts if the model has them; otherwise ideal per-port shares, or upper
    shares that cover rounding.
    """
    fabric = _of_fabrics(model, sets, hall, t, "upper_kw" if upper else "kw", model.network_kw)
    return fabric + link_kw(model, sets, hall, t)


def storage_kw(model: pyo.ConcreteModel, sets: Sets, hall: str, t: int) -> Any:
    """Return the power of the hall's storage: the given storage and that of each rack [kW]."""
    return sets.problem.hall(hall).storage_kw + _sum(
        model, sets, sets.in_hall[hall], "storage_kw", t
    )


def network_racks(model: pyo.ConcreteModel, sets: Sets, hall: str, t: int) -> Any:
    """Return the rack positions of the hall's switches: integer counts or upper shares [racks]."""
    return _of_fabrics(model, sets, hall, t, "upper_racks", model.network_racks)


def _of_fabrics(
    model: pyo.ConcreteModel, sets: Sets, hall: str, t: int, what: str, stepped: pyo.Var
) -> Any:
    """Return an amount with integer switch counts where the model has them, else by shares."""
    return sum(
        stepped[hall, f, c, t]
        if (hall, f, c) in sets.step_loads
        else sets.share(hall, f, c, what) * model.ports_served[hall, f, c, t]
        for f, c in sets.served[hall]
    )


def margin(sets: Sets, hall: str, what: str) -> float:
    """Return the rounding margin of each fitted unit of a hall.

    It is the largest margin of its fabric options.
    """
    found = [getattr(o, what) for o in sets.problem.fabrics if o.hall == hall]
    return (
        float(max(found, default=0.0)) * sets.problem.margin_factor / sets.problem.hall(hall).count
    )


def add_halls(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Constrain the use of fitted hall units.

    The number of fitted units multiplies the capacity (convex hull).

    .. math::
       \sum_k s_k n_{hkct} \le R_h z_{hct}, \quad
       \sum_k (w_k + o_{kc}) n_{hkct} \le Q_h z_{hct}, \quad
       \sum_k l_k n_{hkct} \le Q^{liq}_{hc} z_{hct}, \quad
       \sum_k a_k n_{hkct} + w^{net}_{ht} \le Q^{air}_{hc} z_{hct}

    Constraints over all cooling options of a hall add switches and storage; fit-out is permanent.
    A hall with upgrades has their capacity in place of that of its fitted units, and racks that are
    on in place of all racks.
    """
    problem, t = sets.problem, list(sets.quarters)
    halls = [h.id for h in problem.halls]
    pairs = [(h.id, c.id) for h in problem.halls for c in h.coolings]
    many = [
        (h.id, c.id)
        for h in problem.halls
        for c in h.coolings
        if len(h.coolings) > 1 and not h.upgrades
    ]

    model.hall_units = pyo.Constraint(
        halls, t, rule=lambda m, h, q: _units(m, sets, h, q) <= most_units(problem.hall(h), q)
    )
    model.hall_stays = pyo.Constraint(
        pairs, t[1:], rule=lambda m, h, c, q: m.fitted[h, c, q] >= m.fitted[h, c, q - 1]
    )
    model.rack_bound = pyo.Constraint(
        list(sets.places),
        t,
        rule=lambda m, h, c, k, q: (
            m.racks[h, c, k, q]
            <= sets.places[h, c, k].max_racks_unit * upgrade_of(m, problem.hall(h), c, q)
        ),
    )
    _positions(model, sets, halls, many, t)
    _electrical(model, sets, halls, many, t)
    _heat(model, sets, halls, pairs, t)


def most_units(hall: HallTerms, t: int) -> int:
    """Return the most units of a hall that may be fitted out by a quarter, at the pace of the works.

    Those of assets are fitted before the plan begins.
    """
    pace = hall.fit_out_mw_per_quarter
    if pace is None:
        return hall.count
    ready = max(t - hall.available_from + 1, 0) * pace / (hall.start or hall).it_mw
    return min(hall.count, sum(hall.existing_units.values()) + math.floor(ready + TINY))


def _units(model: pyo.ConcreteModel, sets: Sets, hall: str, t: int) -> Any:
    return sum(model.fitted[hall, c.id, t] for c in sets.problem.hall(hall).coolings)


def _most(
    model: pyo.ConcreteModel, sets: Sets, hall: str, what: str, t: int, kept: float = 0.0
) -> Any:
    """Return racks or it_mw of the units of a hall in a quarter, each unit less a kept margin."""
    terms = sets.problem.hall(hall)
    if terms.upgrades:
        return room(model, terms, what, t, kept, standing=what == "racks")
    return (float(getattr(terms, what)) - kept) * _units(model, sets, hall, t)


def _sum(
    model: pyo.ConcreteModel, sets: Sets, keys: list[tuple[str, str, str]], what: str, t: int
) -> Any:
    return sum(float(getattr(sets.places[key], what)) * model.racks[key, t] for key in keys)


def _holds_fleet(sets: Sets, hall: str) -> bool:
    return sets.problem.fleet is not None and sets.problem.fleet.hall == hall


def _positions(
    model: pyo.ConcreteModel,
    sets: Sets,
    halls: list[str],
    many: list[tuple[str, str]],
    t: list[int],
) -> None:
    def all_coolings(m: pyo.ConcreteModel, h: str, q: int) -> Any:
        hall = sets.problem.hall(h)
        used = _sum(m, sets, sets.in_hall[h], "slots", q)
        if _holds_fleet(sets, h):  # a given fleet may fill the hall; the audit reports its switches
            return used <= _most(m, sets, h, "racks", q)
        used += network_racks(m, sets, h, q) + _sum(m, sets, sets.in_hall[h], "storage_racks", q)
        kept = margin(sets, h, "margin_racks")
        return used + hall.storage_racks <= _most(m, sets, h, "racks", q, kept)

    def working(m: pyo.ConcreteModel, h: str, q: int) -> Any:
        hall = sets.problem.hall(h)
        used = sum(sets.places[k].slots * powered(m, k, q) for k in sets.in_hall[h])
        if _holds_fleet(sets, h):
            return used <= room(m, hall, "racks", q)
        used += network_racks(m, sets, h, q) + _sum(m, sets, sets.in_hall[h], "storage_racks", q)
        return used + hall.storage_racks <= room(
            m, hall, "racks", q, margin(sets, h, "margin_racks")
        )

    def one_cooling(m: pyo.ConcreteModel, h: str, c: str, q: int) -> Any:
        keys = sets.with_cooling[h, c]
        return (
            _sum(m, sets, keys, "slots", q) <= sets.problem.hall(h).racks * m.fitted[h, c, q]
            if keys
            else pyo.Constraint.Skip
        )

    model.hall_racks = pyo.Constraint(halls, t, rule=all_coolings)
    stopping = [h for h in halls if stops(sets.problem.hall(h)) and sets.in_hall[h]]
    model.working_racks = pyo.Constraint(stopping, t, rule=working)
    model.cooling_racks = pyo.Constraint(many, t, rule=one_cooling)


def _electrical(
    model: pyo.ConcreteModel,
    sets: Sets,
    halls: list[str],
    many: list[tuple[str, str]],
    t: list[int],
) -> None:
    def load_mw(m: pyo.ConcreteModel, keys: list[tuple[str, str, str]], q: int) -> Any:
        return sum(
            (sets.places[k].rated_kw + sets.places[k].overhead_kw) / KW_PER_MW * powered(m, k, q)
            for k in keys
        )

    def all_coolings(m: pyo.ConcreteModel, h: str, q: int) -> Any:
        extra = (network_kw(m, sets, h, q, upper=True) + storage_kw(m, sets, h, q)) / KW_PER_MW
        kept = margin(sets, h, "margin_kw") / KW_PER_MW
        return load_mw(m, sets.in_hall[h], q) + extra <= _most(m, sets, h, "it_mw", q, kept)

    def one_cooling(m: pyo.ConcreteModel, h: str, c: str, q: int) -> Any:
        keys = sets.with_cooling[h, c]
        return (
            load_mw(m, keys, q) <= sets.problem.hall(h).it_mw * m.fitted[h, c, q]
            if keys
            else pyo.Constraint.Skip
        )

    def feeders(m: pyo.ConcreteModel, h: str, q: int) -> Any:
        kept = margin(sets, h, "margin_kw") / KW_PER_MW * _units(m, sets, h, q)
        extra = (network_kw(m, sets, h, q, upper=True) + storage_kw(m, sets, h, q)) / KW_PER_MW
        used = load_mw(m, sets.in_hall[h], q) + extra + kept
        if not hasattr(used, "is_expression_type"):
            return pyo.Constraint.Skip
        return used <= sets.problem.hall(h).energized_mw[q]

    model.hall_it_mw = pyo.Constraint(halls, t, rule=all_coolings)
    fed = [h for h in halls if sets.problem.hall(h).energized_mw]
    model.hall_energized_mw = pyo.Constraint(fed, t, rule=feeders)
    model.cooling_it_mw = pyo.Constraint(many, t, rule=one_cooling)


def _heat(
    model: pyo.ConcreteModel,
    sets: Sets,
    halls: list[str],
    pairs: list[tuple[str, str]],
    t: list[int],
) -> None:
    def path(m: pyo.ConcreteModel, h: str, c: str, q: int, what: str, limit: str) -> Any:
        hall = sets.problem.hall(h)
        keys = sets.in_hall[h] if hall.upgrades else sets.with_cooling[h, c]
        if not keys:
            return pyo.Constraint.Skip
        heat = sum(
            float(getattr(sets.places[k], what)) / KW_PER_MW * powered(m, k, q) for k in keys
        )
        if hall.upgrades:
            return heat <= room(m, hall, limit, q)
        return heat <= float(getattr(hall.cooling(c), limit)) * m.fitted[h, c, q]

    def air_all(m: pyo.ConcreteModel, h: str, q: int) -> Any:
        hall = sets.problem.hall(h)
        extra = (network_kw(m, sets, h, q, upper=True) + storage_kw(m, sets, h, q)) / KW_PER_MW
        kept = margin(sets, h, "margin_kw") / KW_PER_MW
        heat = sum(sets.places[k].air_kw / KW_PER_MW * powered(m, k, q) for k in sets.in_hall[h])
        if hall.upgrades:
            return heat + extra <= room(m, hall, "air_mw", q, kept)
        return heat + extra <= sum((c.air_mw - kept) * m.fitted[h, c.id, q] for c in hall.coolings)

    own = [(h, c) for h, c in pairs if sets.problem.hall(h).upgrade_for(c) is None]
    model.cooling_air_mw = pyo.Constraint(
        own, t, rule=lambda m, h, c, q: path(m, h, c, q, "air_kw", "air_mw")
    )
    model.cooling_liquid_mw = pyo.Constraint(
        own, t, rule=lambda m, h, c, q: path(m, h, c, q, "liquid_kw", "liquid_mw")
    )
    model.hall_air_mw = pyo.Constraint(halls, t, rule=air_all)
