"""Moist air in SI units.

Only this module calls psychrolib (ASHRAE Handbook of Fundamentals 2017, chapter 1).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dcplan.units import ATMOSPHERE_KPA

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


def saturated_kg_per_kg(air_c: Array) -> Array:
    r"""Return the humidity ratio of saturated air at sea level.

    .. math:: W_s = 0.621945\,\frac{p_s}{p - p_s}, \quad
              p_s = 0.6112\,\exp\frac{17.62\,T}{243.12 + T}

    Parameters
    ----------
    air_c : array
        Temperature T, -45 to 60. [C]

    References
    ----------
    .. [1] WMO, Guide to Instruments and Methods of Observation, No. 8, annex 4.B: saturation
       pressure over water. ASHRAE 2017, chapter 1, equation 22: humidity ratio.

    Examples
    --------
    >>> round(float(saturated_kg_per_kg(np.array(20.0))), 5)
    0.01466
    """
    kpa = 0.6112 * np.exp(17.62 * air_c / (243.12 + air_c))
    return np.asarray(0.621945 * kpa / (ATMOSPHERE_KPA - kpa))


def humidity_kg_per_kg(dry_c: Array, wet_c: Array) -> Array:
    r"""Return the humidity ratio of air at sea level, not below 0.

    .. math:: W = \frac{(2501 - 2.326\,T^*)\,W_s^* - 1.006\,(T - T^*)}{2501 + 1.86\,T - 4.186\,T^*}

    Parameters
    ----------
    dry_c, wet_c : array
        Dry bulb T and wet bulb T*. [C]

    References
    ----------
    .. [1] ASHRAE 2017, chapter 1, equation 33.

    Examples
    --------
    >>> round(float(humidity_kg_per_kg(np.array(30.0), np.array(20.0))), 5)
    0.01048
    """
    top = (2501.0 - 2.326 * wet_c) * saturated_kg_per_kg(wet_c) - 1.006 * (dry_c - wet_c)
    return np.maximum(top / (2501.0 + 1.86 * dry_c - 4.186 * wet_c), 0.0)


def enthalpy_kj_per_kg(air_c: Array, kg_per_kg: Array) -> Array:
    """Return the enthalpy of moist air by kg of dry air: ``1.006 T + W (2501 + 1.86 T)``.

    Parameters
    ----------
    air_c : array
        Temperature T. [C]
    kg_per_kg : array
        Humidity ratio W.

    References
    ----------
    .. [1] ASHRAE 2017, chapter 1, equation 30.

    Examples
    --------
    >>> round(float(enthalpy_kj_per_kg(np.array(30.0), np.array(0.01))), 2)
    55.75
    """
    return np.asarray(1.006 * air_c + kg_per_kg * (2501.0 + 1.86 * air_c))
