"""Parameters by size class, lighting, and electrical losses of a hall."""

from __future__ import annotations

import numpy as np

from dcplan.catalog.schema import Parameter
from dcplan.facility.electrical.chain import Branch, losses_frac
from dcplan.facility.plant import electrical_frac
from dcplan.facility.pue import LARGE, Sizes
from dcplan.inputs.cooling.keys import CLASS_LOSSES, LIGHTING
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.chain import chain_values
from dcplan.inputs.power.lighting import Range


def sized_parameter(key: str, sizes: Sizes, log: InputLog) -> tuple[float, float, float]:
    """Return low, value and high of a parameter of a hall, between its size classes by weight.

    A class without a row of its own has the row without a class.
    """
    low = value = high = 0.0
    for size, weight in sizes:
        sized = f"{key}-{size}"
        own = sized if sized in log.catalog.rows["facility"] else key
        value += weight * log.parameter("facility", own)
        bounds = log.catalog.get("facility", own, Parameter).value.bounds
        low, high = low + weight * bounds[0], high + weight * bounds[1]
    return low, value, high


def lighting_range(by_area: Range | None, sizes: Sizes, log: InputLog) -> Range:
    """Return low, value and high of lighting over IT power: by floor area, or of the size classes.

    The class of large halls keeps its own value, whose range has that of dense racks.
    """
    if by_area is None:
        return sized_parameter(LIGHTING["lighting"], sizes, log)
    large = tuple((size, weight) for size, weight in sizes if size == LARGE)
    low, value, high = sized_parameter(LIGHTING["lighting"], large, log)
    rest = 1.0 - sum(weight for _, weight in large)
    return low + rest * by_area[0], value + rest * by_area[1], high + rest * by_area[2]


def hall_losses_frac(branches: tuple[Branch, ...], sizes: Sizes, log: InputLog) -> float:
    """Return losses before the racks over IT power, of a full hall, at the catalog values.

    They are those of the load classes behind blocks; without any, those of the size class.
    """
    if branches:
        return float(losses_frac(branches, 1.0, chain_values(branches, log)))
    ups, distribution = (
        np.array(sized_parameter(key, sizes, log)[1]) for key in CLASS_LOSSES.values()
    )
    return float(electrical_frac(ups, distribution, np.zeros_like(ups)))
