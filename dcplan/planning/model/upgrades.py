"""Upgrades of existing halls: their order, the capacity of the hall, and racks out of service."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.sets import P, Sets
from dcplan.planning.problem.terms import HallTerms
from dcplan.units import USD_PER_MUSD

M = USD_PER_MUSD


def add_upgrades(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Add the upgrades of halls.

    .. math::
       y_{hut} \ge y_{hu,t-1}, \qquad y_{hut} \le z_{hct}, \qquad y_{h,u+1,t} \le y_{hu,t-W_u}, \\
       s_{hckt} \le n_{hckt}, \qquad s_{hckt} \le R_{hck} \sum_u (y_{hut} - y_{hu,t-W_u})

    with y the upgrades whose works have begun, W the quarters of the works, and s the racks that are
    out of service during works.
    """
    halls = [h for h in sets.problem.halls if h.upgrades]
    keys = [(h.id, x.id) for h in halls for x in h.upgrades]
    for hall in halls:
        for x in hall.upgrades:
            for t in range(min(x.first, len(sets.quarters))):
                model.upgraded[hall.id, x.id, t].setub(0)
    model.upgrade_stays = pyo.Constraint(
        keys,
        list(sets.quarters)[1:],
        rule=lambda m, h, u, t: m.upgraded[h, u, t] >= m.upgraded[h, u, t - 1],
    )

    def follows(m: pyo.ConcreteModel, h: str, u: str, t: int) -> Any:
        hall = sets.problem.hall(h)
        i = next(i for i, x in enumerate(hall.upgrades) if x.id == u)
        before = m.fitted[h, hall.coolings[0].id, t] if i == 0 else done(m, hall, i - 1, t)
        return m.upgraded[h, u, t] <= before

    def in_works(m: pyo.ConcreteModel, h: str, c: str, k: str, t: int) -> Any:
        hall = sets.problem.hall(h)
        works = sum(begun(m, hall, i, t) - done(m, hall, i, t) for i in stops(hall))
        return m.stopped[h, c, k, t] <= sets.places[h, c, k].max_racks_unit * works

    stopped = list(dict.fromkeys(key[:3] for key in model.stopped))
    model.upgrade_follows = pyo.Constraint(keys, list(sets.quarters), rule=follows)
    model.stopped_racks = pyo.Constraint(
        stopped,
        list(sets.quarters),
        rule=lambda m, h, c, k, t: m.stopped[h, c, k, t] <= m.racks[h, c, k, t],
    )
    model.stopped_in_works = pyo.Constraint(stopped, list(sets.quarters), rule=in_works)


def stops(hall: HallTerms) -> list[int]:
    """Return the upgrades of a hall that take capacity out of service."""
    return [i for i, x in enumerate(hall.upgrades) if x.out_frac and x.works]


def begun(model: pyo.ConcreteModel, hall: HallTerms, number: int, t: int) -> Any:
    """Return 1 where the works of an upgrade have begun by a quarter."""
    return model.upgraded[hall.id, hall.upgrades[number].id, t]


def done(model: pyo.ConcreteModel, hall: HallTerms, number: int, t: int) -> Any:
    """Return 1 where the works of an upgrade are complete in a quarter."""
    works = hall.upgrades[number].works
    return begun(model, hall, number, t - works) if t >= works else 0


def room(
    model: pyo.ConcreteModel,
    hall: HallTerms,
    what: str,
    t: int,
    kept: float = 0.0,
    *,
    standing: bool = False,
) -> Any:
    """Return the capacity of a hall with upgrades in a quarter, less a kept margin.

    It is that of before, with the change by each complete upgrade, less the share out of service
    during works.

    Parameters
    ----------
    what : str
        racks, it_mw, air_mw or liquid_mw.
    kept : float
        Part of the capacity that the rounding of switch counts needs, in the same unit.
    standing : bool
        Whether the share out of service counts: racks may stand there, but are off.
    """
    before = float(getattr(hall.capacity(0), what))
    total = (before - kept) * model.fitted[hall.id, hall.coolings[0].id, t]
    for i, x in enumerate(hall.upgrades):
        after, finished = float(getattr(x.after, what)), done(model, hall, i, t)
        total += (after - before) * finished
        if i in stops(hall) and not standing:
            total -= x.out_frac * before * (begun(model, hall, i, t) - finished)
        before = after
    return total


def upgrade_of(model: pyo.ConcreteModel, hall: HallTerms, cooling: str, t: int) -> Any:
    """Return 1 where racks may stand under a cooling option in a quarter."""
    added = hall.upgrade_for(cooling)
    return model.fitted[hall.id, cooling, t] if added is None else done(model, hall, added, t)


def powered(model: pyo.ConcreteModel, key: P, t: int) -> Any:
    """Return the racks of a placement in service in a quarter that are on."""
    index = (*key, t)
    on: Any = model.racks[index]
    if index in model.stopped:
        on -= model.stopped[index]
    return on


def upgrades_musd(model: pyo.ConcreteModel, halls: Iterable[HallTerms], t: int) -> list[Any]:
    """Return the price of each upgrade of halls if its works begin in a quarter, otherwise 0 [M$]."""
    return [
        x.usd / M * (begun(model, hall, i, t) - (begun(model, hall, i, t - 1) if t else 0))
        for hall in halls
        for i, x in enumerate(hall.upgrades)
    ]
