"""Packing of racks into single halls: the model merges identical halls, the audit separates them."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.planning.problem.terms import HallTerms, Placement
from dcplan.units import KW_PER_MW


@dataclass
class Unit:
    """Remaining capacity of one hall."""

    cooling: str
    slots: float
    hall_kw: float
    air_kw: float
    liquid_kw: float

    def takes(self, place: Placement) -> int:
        """Return how many more racks fit."""
        tiny = 1e-6
        pairs = (
            (self.slots, place.slots),
            (self.hall_kw, place.rated_kw + place.overhead_kw),
            (self.air_kw, place.air_kw),
            (self.liquid_kw, place.liquid_kw),
        )
        return int(min((room + tiny) // each for room, each in pairs if each > 0))

    def put(self, place: Placement, n: int) -> None:
        """Use the capacity of a number of racks."""
        self.slots -= n * place.slots
        self.hall_kw -= n * (place.rated_kw + place.overhead_kw)
        self.air_kw -= n * place.air_kw
        self.liquid_kw -= n * place.liquid_kw


def unplaced(
    hall: HallTerms,
    units: dict[str, int],
    racks: list[tuple[Placement, int]],
    network_kw: float,
    network_racks: float,
) -> int:
    """Return the racks, or parts of the network, without a place; 0 proves that a layout exists.

    Complete racks go, largest first, into the hall with the most remaining capacity. Switches then
    share the remaining capacity of all halls, because a pair of leaf switches fits where a rack
    does not.
    """
    total = sum(units.values())
    if total == 0:
        return sum(n for _, n in racks)
    rooms = [
        Unit(
            cooling,
            float(hall.racks),
            hall.it_mw * KW_PER_MW,
            hall.cooling(cooling).air_mw * KW_PER_MW,
            hall.cooling(cooling).liquid_mw * KW_PER_MW,
        )
        for cooling, n in units.items()
        for _ in range(n)
    ]
    left = 0
    for place, n in sorted(racks, key=lambda item: (-item[0].rated_kw, item[0].key)):
        left += _filled(rooms, place, n)
    tiny = 1e-6
    fits = (
        sum(u.slots for u in rooms) + tiny >= network_racks
        and sum(u.hall_kw for u in rooms) + tiny >= network_kw
        and sum(u.air_kw for u in rooms) + tiny >= network_kw
    )
    return left + (0 if fits else 1)


def _filled(rooms: list[Unit], place: Placement, n: int) -> int:
    """Return the racks that remain when each goes into the hall with the most remaining capacity.

    Halls with equal capacity are filled together, many racks at a time.
    """
    each = place.rated_kw + place.overhead_kw
    while n:
        able = sorted(
            (u for u in rooms if u.cooling == place.cooling and u.takes(place)),
            key=lambda u: -u.hall_kw,
        )
        if not able:
            return n
        top = able[0].hall_kw
        level = [u for u in able if top - u.hall_kw < each]
        lower = able[len(level)].hall_kw if len(level) < len(able) else 0.0
        down = int((level[-1].hall_kw - lower) // each) if len(level) < len(able) else n
        most = min(n // len(level), max(down, 1), *(u.takes(place) for u in level))
        if most:
            for unit in level:
                unit.put(place, most)
            n -= most * len(level)
        else:  # fewer racks than halls
            level[0].put(place, 1)
            n -= 1
    return 0
