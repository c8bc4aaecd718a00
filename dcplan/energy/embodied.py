"""Embodied carbon: greenhouse gases of making what is bought, with bounds and the part of class values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dcplan.units import KG_PER_TONNE


@dataclass(frozen=True)
class Footprint:
    """Embodied carbon of one unit, cradle to gate.

    Examples
    --------
    >>> server = Footprint(3936.0, 2624.0, 5248.0)
    >>> server.times(2.0)
    Footprint(kg=7872.0, low_kg=5248.0, high_kg=10496.0, by_class=False)
    """

    kg: float
    low_kg: float
    high_kg: float
    by_class: bool = False
    """Whether the value is that of a class of equipment, and not of the product."""

    def times(self, factor: float) -> Footprint:
        """Return the footprint of a number of units: every bound times the number.

        Examples
        --------
        >>> Footprint(430.0, 257.0, 640.0, by_class=True).times(10.0).high_kg
        6400.0
        """
        return Footprint(
            self.kg * factor, self.low_kg * factor, self.high_kg * factor, self.by_class
        )


@dataclass(frozen=True)
class Embodied:
    """Sum of footprints, and the part of it that comes from class values. [t CO2e]."""

    t: float = 0.0
    low_t: float = 0.0
    high_t: float = 0.0
    class_t: float = 0.0
    class_low_t: float = 0.0
    class_high_t: float = 0.0


def embodied(footprints: Iterable[Footprint]) -> Embodied:
    r"""Return the sum of footprints with its bounds, :math:`E = \sum_i n_i e_i / 1000`.

    Low and high bounds are added: all units of a class err in the same direction, and no source
    says how classes err together, so the bounds are the widest ones. GHG Protocol, scope 3,
    category 2 (capital goods) counts the whole of E in the year of the purchase.

    Parameters
    ----------
    footprints : iterable of Footprint
        Footprints of the purchased amounts, each already times its amount. [kg CO2e]

    Returns
    -------
    Embodied
        Sum and its part from class values, each with low and high. [t CO2e]

    Examples
    --------
    >>> embodied([Footprint(2000.0, 1000.0, 3000.0), Footprint(500.0, 100.0, 900.0, by_class=True)])
    Embodied(t=2.5, low_t=1.1, high_t=3.9, class_t=0.5, class_low_t=0.1, class_high_t=0.9)
    """
    every = list(footprints)
    coarse = [x for x in every if x.by_class]
    return Embodied(
        t=sum(x.kg for x in every) / KG_PER_TONNE,
        low_t=sum(x.low_kg for x in every) / KG_PER_TONNE,
        high_t=sum(x.high_kg for x in every) / KG_PER_TONNE,
        class_t=sum(x.kg for x in coarse) / KG_PER_TONNE,
        class_low_t=sum(x.low_kg for x in coarse) / KG_PER_TONNE,
        class_high_t=sum(x.high_kg for x in coarse) / KG_PER_TONNE,
    )
