"""Tabulated PUE and WUE: size class, and the row of a climate zone.

Medians of Lei et al. 2025 by climate zone and size class, for options without a component model
(airside economizers, plain chillers, DX); the others are computed from the weather
(``cooling.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ZONE_LENGTH = 2
"""Length of a zone's name with a letter for its moisture; zones 7 and 8 have none."""
LARGE_MW = 10.0
MIDSIZE_MW = 1.0


@dataclass(frozen=True)
class PueEntry:
    """One tabulated row."""

    cooling: str
    size: str
    zone: str
    pue: float
    peak_pue: float
    wue_l_per_kwh: float | None


def size_class(it_mw: float) -> str:
    """Return the size class of a hall by IT power: large from 10 MW, midsize from 1 MW, or small.

    Examples
    --------
    >>> size_class(10.0), size_class(9.9), size_class(0.5)
    ('large', 'midsize', 'small')
    """
    return "large" if it_mw >= LARGE_MW else "midsize" if it_mw >= MIDSIZE_MW else "small"


Sizes = tuple[tuple[str, float], ...]
"""Size classes of a hall with their weights, which add up to 1."""
LARGE = "large"
BETWEEN_FRAC = 0.5
"""From this share of a class's border on, a hall is between its class and the next one."""


def sizes(it_mw: float) -> Sizes:
    """Return the size classes of a hall with their weights, without a step at a border.

    A hall from half of a border up to it is between two classes, in proportion to its IT power.

    Parameters
    ----------
    it_mw : float
        IT power, above 0. [MW]

    Examples
    --------
    >>> sizes(12.0), sizes(5.0)
    ((('large', 1.0),), (('midsize', 1.0),))
    >>> [(name, round(weight, 3)) for name, weight in sizes(9.0)]
    [('midsize', 0.2), ('large', 0.8)]
    """
    own = size_class(it_mw)
    border, larger = (LARGE_MW, "large") if own == "midsize" else (MIDSIZE_MW, "midsize")
    above = (it_mw / border - BETWEEN_FRAC) / (1.0 - BETWEEN_FRAC)
    if own == "large" or above <= 0.0:
        return ((own, 1.0),)
    return ((own, 1.0 - above), (larger, above))


def lookup(entries: Iterable[PueEntry], cooling: str, size: str, zone: str) -> PueEntry | None:
    """Return the row of a cooling option.

    The row of the zone comes first. A zone hotter than all rows of its moisture (a letter of ASHRAE
    169: A humid, B dry, C marine) has the hottest of them. Then comes the row of all zones; None if
    none exists.

    Examples
    --------
    Singapore is in zone 0A, hotter than any zone of the table: 1A is the hottest.

    >>> rows = [PueEntry("air", "large", zone, pue, pue, None)
    ...     for zone, pue in (("all", 1.165), ("1A", 1.267), ("2A", 1.284), ("2B", 1.204))]
    >>> [lookup(rows, "air", "large", zone).pue for zone in ("0A", "0B", "5C")]
    [1.267, 1.204, 1.165]
    """
    by_zone = {e.zone: e for e in entries if e.cooling == cooling and e.size == size}
    if zone in by_zone:
        return by_zone[zone]
    same_moisture = [z for z in by_zone if len(z) == ZONE_LENGTH and z[1:] == zone[1:]]
    if len(zone) == ZONE_LENGTH and same_moisture and zone < min(same_moisture):
        return by_zone[min(same_moisture)]
    return by_zone.get("all")
