"""Price of the next best system or fabric in place of a purchase, without a new plan."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.answers.plan.tables.excluded import speed_tflops
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Fabric, Switch, System
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.decisions import Decisions
from dcplan.planning.exact_network import exact_network
from dcplan.planning.problem.terms import FabricOption, Placement, PlanningProblem

NOT_NAMED = "not named"
"""Vendor of goods without a vendor in the catalog."""


@dataclass(frozen=True)
class Alternative:
    """Another system or fabric, and its price less that of the purchase."""

    item: str
    vendor: str
    difference_usd: float


def vendor_of_system(catalog: Catalog, system: str) -> str:
    """Return the vendor of a system."""
    row = catalog.find("systems", system, System)
    return (row.vendor if row else None) or NOT_NAMED


def vendor_of_fabric(catalog: Catalog, option: FabricOption) -> str:
    """Return the vendors of the fabric's switches, else that of the fabric family."""
    rows = (catalog.find("switches", model, Switch) for model in option.switch_models)
    found = dict.fromkeys(row.vendor for row in rows if row is not None and row.vendor)
    family = catalog.find("fabrics", option.family, Fabric)
    return ", ".join(found) or (family.vendor if family else None) or NOT_NAMED


def other_racks(
    problem: PlanningProblem, catalog: Catalog, place: Placement, t: int, n: int
) -> Alternative | None:
    """Return the other system of the hall with the lowest price for at least the same rate.

    The rate is that of large matrix products. Racks are integers; power, space, network and
    delivery limits do not count.

    Parameters
    ----------
    t : int
        Quarter of the order.
    n : int
        Ordered racks.
    """
    rate = n * place.accelerators * speed_tflops(catalog, place.accelerator)
    found = []
    for p in problem.placements:
        each = p.accelerators * speed_tflops(catalog, p.accelerator)
        if not each or not rate or not _may_order(problem, p, place, t):
            continue
        usd = math.ceil(rate / each) * p.rack_usd(t) - n * place.rack_usd(t)
        found.append((usd, p.system))
    if not found:
        return None
    usd, system = min(found)
    return Alternative(system, vendor_of_system(catalog, system), usd)


def _may_order(problem: PlanningProblem, p: Placement, place: Placement, t: int) -> bool:
    """Whether another system may be ordered for the same hall in a quarter."""
    return (
        p.hall == place.hall
        and p.system != place.system
        and p.system in problem.orderable
        and (p.hall, p.system) not in problem.closed
        and p.first_order <= t < problem.quarters - p.lead
    )


def other_fabric(
    problem: PlanningProblem, catalog: Catalog, d: Decisions, books: Accounts, hall: str, t: int
) -> Alternative | None:
    """Return the other fabric that connects the racks of a hall with the lowest price in a quarter.

    The price is that of the switches, optics and cables that the quarter adds. The fabric of a hall
    stays, so one that does not reach the racks of a later quarter is no alternative.
    """
    places = [p for p in problem.placements if p.hall == hall]
    kept = {p.key: d.racks_kept(problem, p.key, t) for p in places}
    live = {key: n + d.racks_new(problem, key, t) for key, n in kept.items()}
    later = [
        {p.key: d.racks(problem, p.key, u) for p in places} for u in range(t, problem.quarters)
    ]
    most = max(later, key=lambda racks: sum(p.accelerators * racks[p.key] for p in places))
    ports = {p.port_class for p in places if live[p.key] or most[p.key]}
    found = []
    for option in problem.fabrics:
        if (
            option.hall != hall
            or option.id == d.fabric.get(hall)
            or not ports <= set(option.shares)
        ):
            continue
        try:
            whole, before, _ = (
                exact_network(problem, hall, option.id, x).usd for x in (live, kept, most)
            )
        except ValueError:  # more ports than the fabric reaches
            continue
        usd = whole - before - books.network_usd[hall, t]
        found.append((usd, option.id, vendor_of_fabric(catalog, option)))
    if not found:
        return None
    usd, item, vendor = min(found)
    return Alternative(item, vendor, usd)
