"""Merged halls split again: can each single hall unit hold its share of the racks?"""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.planning.menu.types import HallTerms, Placement
from dcplan.units import KW_PER_MW


@dataclass
class Unit:
    """Room left in one hall unit."""

    cooling: str
    slots: float
    hall_kw: float
    air_kw: float
    liquid_kw: float

    def takes(self, place: Placement) -> bool:
        """Whether one more rack fits."""
        tiny = 1e-6
        return (
            self.slots + tiny >= place.slots
            and self.hall_kw + tiny >= place.rated_kw + place.overhead_kw
            and self.air_kw + tiny >= place.air_kw
            and self.liquid_kw + tiny >= place.liquid_kw
        )

    def put(self, place: Placement) -> None:
        """Take one rack's room."""
        self.slots -= place.slots
        self.hall_kw -= place.rated_kw + place.overhead_kw
        self.air_kw -= place.air_kw
        self.liquid_kw -= place.liquid_kw


def unplaced(
    hall: HallTerms,
    units: dict[str, int],
    racks: list[tuple[Placement, int]],
    network_kw: float,
    network_racks: float,
) -> int:
    """Racks, or parts of the network, that find no room: 0 proves that a layout exists.

    Racks go whole, largest first, into the emptiest unit that holds them; switches then share the room left in any
    unit of the domain, as one leaf pair fits where a rack does not.
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
        for _ in range(n):
            able = [u for u in rooms if u.cooling == place.cooling and u.takes(place)]
            if not able:
                left += 1
                continue
            max(able, key=lambda u: u.hall_kw).put(place)
    tiny = 1e-6
    fits = (
        sum(u.slots for u in rooms) + tiny >= network_racks
        and sum(u.hall_kw for u in rooms) + tiny >= network_kw
        and sum(u.air_kw for u in rooms) + tiny >= network_kw
    )
    return left + (0 if fits else 1)
