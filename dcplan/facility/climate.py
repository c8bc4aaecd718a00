"""Weather of a place as joint hours of dry bulb and wet bulb."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
QUARTERS = 4
DESIGN_FRAC = 0.004
"""Share of the year's hours above the design condition (ASHRAE 0.4 %)."""


@dataclass(frozen=True)
class Climate:
    """Bins of a typical year; ``hours`` are the hours at a pair of temperatures in a quarter."""

    place: str
    quarter: npt.NDArray[np.int64]
    """0 to 3."""
    dry_c: Array
    wet_c: Array
    hours: Array
    design_dry_c: float
    design_wet_c: float
    order: npt.NDArray[np.int64] | None = None
    """Bin of every hour in the order of the year; None where hours have no order."""

    def mean(self, values: Array) -> Array:
        """Return the annual mean of values whose last axis is the bins."""
        return np.asarray(values @ self.hours / self.hours.sum())

    def by_quarter(self, values: Array) -> Array:
        """Return the means of the four quarters."""
        weights = np.stack([np.where(self.quarter == q, self.hours, 0.0) for q in range(QUARTERS)])
        return np.asarray(values @ weights.T / weights.sum(axis=1))


def exceeded(values: Array, hours: Array, share: float = DESIGN_FRAC) -> float:
    """Return the value that is exceeded in a share of the hours.

    Examples
    --------
    >>> exceeded(np.array([10.0, 20.0, 30.0]), np.array([8000.0, 750.0, 10.0]), 0.004)
    20.0
    """
    order = np.argsort(values)[::-1]
    above = np.cumsum(hours[order])
    return float(values[order][int(np.searchsorted(above, share * hours.sum(), side="right"))])


def climate(
    place: str,
    quarter: npt.NDArray[np.int64],
    dry_c: Array,
    wet_c: Array,
    hours: Array,
    design: tuple[float | None, float | None] = (None, None),
) -> Climate:
    """Return bins with their design day: given, or exceeded in 0.4 % of the hours.

    Raises
    ------
    ValueError
        If a wet bulb is above its dry bulb by more than a bin, or a temperature is outside -60 to
        60 C.
    """
    if dry_c.size == 0 or not (np.all(np.abs(dry_c) <= 60) and np.all(np.abs(wet_c) <= 60)):
        worst = float(dry_c[np.argmax(np.abs(dry_c))]) if dry_c.size else float("nan")
        msg = f"{place}: dry bulb {worst:g} C is outside -60 to 60"
        raise ValueError(msg)
    over = wet_c - dry_c
    if float(over.max()) > 2.0:
        i = int(over.argmax())
        msg = f"{place}: wet bulb {wet_c[i]:g} C above dry bulb {dry_c[i]:g} C"
        raise ValueError(msg)
    dry = design[0] if design[0] is not None else exceeded(dry_c, hours)
    wet = design[1] if design[1] is not None else exceeded(wet_c, hours)
    return Climate(place, quarter, dry_c, wet_c, hours, dry, wet)
