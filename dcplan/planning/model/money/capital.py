"""Capital cost by class, network and sales, in M USD."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyomo.core as pyo

from dcplan.economics.cash_flow import AssetClass
from dcplan.planning.model.money.land import land_musd
from dcplan.planning.model.money.leases import leased
from dcplan.planning.model.network.links import links_musd
from dcplan.planning.model.racks import kept
from dcplan.planning.model.sets import Sets
from dcplan.planning.model.upgrades import upgrades_musd
from dcplan.units import USD_PER_MUSD

M = USD_PER_MUSD


def capital(
    model: pyo.ConcreteModel,
    sets: Sets,
    t: int,
    sites: Collection[str] | None = None,
    *,
    delivered: bool = False,
) -> dict[AssetClass, Any]:
    """Return the capital cost of a quarter by class, which determines taxes and payment terms [M$].

    Racks and their storage count in the quarter of their order, or of their delivery if
    ``delivered``. It is that of some sites, or of all.
    """
    places, last = sets.places, len(sets.quarters) - 1
    here = {h.id: h for h in sets.problem.halls if sites is None or h.site in sites}
    orders = [
        o
        for o in sets.orders
        if o[0] in here and t == (min(o[3] + places[o[:3]].lead, last) if delivered else o[3])
    ]
    racks = sum(
        places[o[:3]].rack_usd(o[3]) / M * (model.buy[o] - leased(model, sets, o)) for o in orders
    )
    stored = sum(
        places[o[:3]].storage_usd / M * model.buy[o] for o in orders if places[o[:3]].storage_usd
    )
    if t == 0:
        fleet = [k for k in sets.fleet if k[0] in here]
        racks += sum(places[k].rack_usd(0) / M * model.fleet[k] for k in fleet)
        stored += sum(places[k].storage_usd / M * model.fleet[k] for k in fleet)
        stored += sum(h.storage_usd for h in here.values()) / M
    units = [(c, fitted(model, sets, h.id, c.id, t)) for h in here.values() for c in h.coolings]
    works = upgrades_musd(model, here.values(), t)
    blocks = sum(
        sets.problem.site(s).block_usd / M * added(model.blocks, (s,), t)
        for s in backed(model)
        if sites is None or s in sites
    )
    plants = sum(
        plant_usd(sets, s, o) / M * v
        for (s, o, q), v in model.onsite_buy.items()
        if q == t and (sites is None or s in sites)
    )
    return {
        AssetClass.RACKS: racks,
        AssetClass.STORAGE: stored,
        AssetClass.EXISTING: _arrived(model, sets, t, here),
        AssetClass.NETWORK: network(model, sets, t, "usd", here)
        + links_musd(model, sets, t, sites),
        AssetClass.BUILDING: sum(c.building_usd / M * x for c, x in units),
        AssetClass.COOLING: sum([c.fit_out_usd / M * x for c, x in units] + works),
        AssetClass.POWER: blocks + plants,
        AssetClass.LAND: land_musd(model, sets, t, sites),
    }


def capex(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return capital cost and cancellation fees of a quarter [M$]."""
    return sum(capital(model, sets, t).values()) + cancelled(model, sets, t)


def _arrived(model: pyo.ConcreteModel, sets: Sets, t: int, halls: Collection[str]) -> Any:
    """Return the payments for orders that arrive in some halls in a quarter [M$]."""
    return sum(
        x.due_usd / M * kept(model, x, t)
        for x in sets.problem.existing
        if x.due_usd and x.first == t and x.key[0] in halls
    )


def arrived_advances(model: pyo.ConcreteModel, sets: Sets, t: int, sites: Collection[str]) -> Any:
    """Return what was paid before the plan for orders that arrive at some sites in a quarter [M$]."""
    found = (
        x
        for x in sets.problem.existing
        if x.advance_usd and x.first == t and sets.problem.hall(x.key[0]).site in sites
    )
    return sum(x.advance_usd / M * kept(model, x, t) for x in found)


def lost_advances(model: pyo.ConcreteModel, sets: Sets) -> Any:
    """Return what was paid before the plan for orders that the plan cancels [M$]."""
    found = (x for x in sets.problem.existing if x.advance_usd and x.cancel_usd is not None)
    return sum(x.advance_usd / M * model.disposed[x.id, 0] for x in found)


def cancelled(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return the fees for cancelled orders, which are due in the first quarter [M$]."""
    return sum(
        x.cancel_usd / M * model.disposed[x.id, 0]
        for x in sets.problem.existing
        if x.cancel_usd is not None and t == 0
    )


def plant_usd(sets: Sets, site: str, plant: str) -> float:
    """Return the price of one unit of a plant on site."""
    return next(o.usd for o in sets.problem.site(site).onsite if o.id == plant)


def network(
    model: pyo.ConcreteModel, sets: Sets, t: int, what: str, halls: Collection[str] | None = None
) -> Any:
    """Return the cost of the network bought in a quarter for some halls, or for all [M$].

    It uses integer switch counts if the model has step costs, otherwise per-port shares.

    Ports that replace ended ports on their switches cost at least their own optics and cable.
    """
    served = (h for h in sets.served if halls is None or h in halls)
    return sum((network_of_hall(model, sets, h, t, what) for h in served), 0.0)


def network_of_hall(model: pyo.ConcreteModel, sets: Sets, hall: str, t: int, what: str) -> Any:
    """Return the cost of the network bought in a quarter for one hall [M$]."""
    total: Any = 0.0
    for f, c in sets.served[hall]:
        if (hall, f, c) in sets.step_costs:
            total += added(model.network_musd, (hall, f, c), t)
        else:
            total += sets.share(hall, f, c, what) / M * model.ports_bought[hall, f, c, t]
            if (hall, f, c, t) in model.reused and (what == "usd" or sets.relaxed):
                total -= sets.freed_usd(hall, f, c) / M * model.reused[hall, f, c, t]
    if t == 0:
        paid = {  # the search of large models keeps only some of the options
            (hall, f): usd
            for f, usd in sets.problem.hall(hall).existing_units_usd.items()
            if (hall, f) in model.fabric
        }
        total -= sum(usd / M * model.fabric[key] for key, usd in paid.items())
    return total


def sold(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return the sale value of assets in a quarter, which no budget counts [M$]."""
    return sum(
        x.resale_usd[t] / M * model.disposed[x.id, t]
        for x in sets.problem.existing
        if x.resale_usd and t in x.disposal_window
    )


def fitted(model: pyo.ConcreteModel, sets: Sets, hall: str, cooling: str, t: int) -> Any:
    """Return the hall units fitted in a quarter, without those in use by assets [units]."""
    return added(model.fitted, (hall, cooling), t) - (
        sets.problem.hall(hall).existing_units.get(cooling, 0) if t == 0 else 0
    )


def added(variable: pyo.Var, key: tuple[str, ...], t: int) -> Any:
    """Return how much more of a cumulative variable there is than in the quarter before."""
    return variable[(*key, t)] - (variable[(*key, t - 1)] if t > 0 else 0)


def backed(model: pyo.ConcreteModel) -> list[str]:
    """Return the sites with power blocks."""
    return list(dict.fromkeys(s for s, _ in model.blocks))
