"""Embodied carbon of what a plan buys, by item and quarter, from its decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from dcplan.energy.embodied import Footprint
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import HallTerms, PlanningProblem
from dcplan.units import KW_PER_MW


class Group(StrEnum):
    """Kind of goods that embodied carbon is counted for."""

    SYSTEM = "system"
    NETWORK = "network"
    STORAGE = "storage"
    BUILDING = "building"
    POWER = "power"
    COOLING = "cooling"
    PLANT = "plant on site"


@dataclass(frozen=True)
class Bought:
    """An amount of one item that a plan buys in one quarter."""

    site: str
    group: Group
    item: str
    quarter: int
    amount: float
    unit: str
    footprint: Footprint | None
    """Of one unit; None if no value is known."""

    @property
    def total(self) -> Footprint | None:
        """Return the footprint of the amount."""
        return None if self.footprint is None else self.footprint.times(self.amount)


def bought(problem: PlanningProblem, d: Decisions, books: Accounts) -> list[Bought]:
    """Return what the plan buys, by quarter of the payment; hardware in service before it is not in it."""
    found = [
        *_racks(problem, d),
        *(x for hall in problem.halls for x in _hall(problem, d, books, hall)),
        *_site_goods(problem, d),
    ]
    return [x for x in found if x.amount > 0.0]


def _racks(problem: PlanningProblem, d: Decisions) -> Iterator[Bought]:
    """Yield racks, and the storage that comes with them."""
    known = problem.footprints
    tb = sum(share.usable_tb for share in problem.storage)
    orders = [(key, 0, n) for key, n in d.fleet.items()]
    orders += [((h, c, k), t, n) for (h, c, k, t), n in d.ordered.items()]
    for key, t, n in orders:
        place = problem.placed[key]
        site, own = problem.hall(place.hall).site, known.systems.get(place.system)
        rack = None if own is None else own.times(place.nodes)
        yield Bought(site, Group.SYSTEM, place.system, t, n, "racks", rack)
        stored = n * place.accelerators * tb if place.storage_usd else 0.0
        yield Bought(site, Group.STORAGE, "storage", t, stored, "TB", known.storage_tb)


def _hall(
    problem: PlanningProblem, d: Decisions, books: Accounts, hall: HallTerms
) -> Iterator[Bought]:
    """Yield network, given storage, shell and cooling of one hall type."""
    known, site = problem.footprints, hall.site
    yield Bought(
        site, Group.STORAGE, "storage", 0, _given_tb(problem, hall), "TB", known.storage_tb
    )
    for t in range(problem.quarters):
        kw = books.network_kw_bought[hall.id, t]
        name = d.fabric.get(hall.id) or "network"
        yield Bought(site, Group.NETWORK, name, t, kw, "kW", known.network_kw)
        for c in hall.coolings:
            before = (
                d.fitted.get((hall.id, c.id, t - 1), 0) if t else hall.existing_units.get(c.id, 0)
            )
            new_kw = (d.fitted.get((hall.id, c.id, t), 0) - before) * hall.it_mw * KW_PER_MW
            yield Bought(site, Group.COOLING, c.id, t, new_kw, "kW of IT", known.cooling_kw)
            if c.building_usd:
                kw, shell = new_kw * c.peak_pue, known.building_kw
                yield Bought(site, Group.BUILDING, hall.name, t, kw, "kW of facility", shell)


def _given_tb(problem: PlanningProblem, hall: HallTerms) -> float:
    """Return the capacity of storage that is bought whatever the racks [TB]."""
    if not hall.storage_usd:
        return 0.0
    return sum(hall.storage_tb) or problem.footprints.given_tb


def _site_goods(problem: PlanningProblem, d: Decisions) -> Iterator[Bought]:
    """Yield power blocks, and plants on the site that the plan owns."""
    known = problem.footprints
    for site in problem.sites:
        for t in range(problem.quarters):
            before = d.blocks.get((site.id, t - 1), 0) if t else 0
            kw = (d.blocks.get((site.id, t), 0) - before) * site.block_mw * KW_PER_MW
            yield Bought(site.id, Group.POWER, "power blocks", t, kw, "kW", known.power_kw)
            for o in site.onsite:
                units = d.onsite.get((site.id, o.id, t), 0) if o.usd else 0
                kw = units * o.unit_mw * KW_PER_MW
                yield Bought(site.id, Group.PLANT, o.id, t, kw, "kW", known.plants.get(o.id))
