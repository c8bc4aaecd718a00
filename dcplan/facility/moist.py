"""Moist air in SI units.

Only this module calls psychrolib (ASHRAE Handbook of Fundamentals 2017, chapter 1).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def wet_bulb_c(dry_c: Array, humidity_frac: Array, pressure_pa: Array) -> Array:
    """Return the wet-bulb temperature.

    Parameters
    ----------
    dry_c : array
        Dry bulb, -100 to 200. [C]
    humidity_frac : array
        Relative humidity, 0 to 1. [-]
    pressure_pa : array
        Air pressure. [Pa]

    Raises
    ------
    ValueError
        When a value is out of range.

    Examples
    --------
    ASHRAE's example state of 25 C and 50 % at sea level:

    >>> round(float(wet_bulb_c(np.array([25.0]), np.array([0.5]), np.array([101325.0]))[0]), 1)
    17.9
    """
    import psychrolib  # type: ignore[import-untyped]

    psychrolib.SetUnitSystem(psychrolib.SI)
    rows = zip(dry_c.tolist(), humidity_frac.tolist(), pressure_pa.tolist(), strict=True)
    return np.array([psychrolib.GetTWetBulbFromRelHum(t, rh, p) for t, rh, p in rows])
