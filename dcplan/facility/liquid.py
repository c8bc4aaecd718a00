"""Liquid loops: flow, coolant distribution units, ride-through time."""

from __future__ import annotations

import math

from dcplan.units import SECONDS_PER_MINUTE


def flow_l_per_min(heat_kw: float, rise_k: float, heat_kj_per_l_k: float) -> float:
    r"""Return the coolant flow for a heat load: :math:`V = 60\,Q / (\rho c_p\,\Delta T)`.

    Parameters
    ----------
    heat_kw : float
        Heat load of the liquid. [kW]
    rise_k : float
        Temperature rise of the coolant, above 0. [K]
    heat_kj_per_l_k : float
        Volumetric heat capacity; 4.01 with 25 % propylene glycol at 40 C. [kJ/L/K]

    Examples
    --------
    A GB200 rack: 115 kW into liquid at 10 K.

    >>> round(flow_l_per_min(115.0, 10.0, 4.008), 1)
    172.2
    """
    return SECONDS_PER_MINUTE * heat_kw / (heat_kj_per_l_k * rise_k)


def units(heat_kw: float, rating_kw: float, spare: int = 1) -> int:
    """Return the coolant distribution units for a heat load, with spares; 0 without heat.

    Examples
    --------
    >>> units(8700.0, 1368.0), units(0.0, 1368.0)
    (8, 0)
    """
    return math.ceil(heat_kw / rating_kw - 1e-9) + spare if heat_kw > 0 else 0


def ride_through_s(liters_per_kw: float, heat_kj_per_l_k: float, allowed_rise_k: float) -> float:
    r"""Return the seconds until a loop without heat rejection reaches the allowed temperature rise.

    :math:`v\,\rho c_p\,\Delta T`.

    Parameters
    ----------
    liters_per_kw : float
        Volume of the loop per heat load. [L/kW]
    heat_kj_per_l_k : float
        Volumetric heat capacity. [kJ/L/K]
    allowed_rise_k : float
        Rise from the supply temperature to the limit of the equipment; a negative rise counts as 0.
        [K]

    Examples
    --------
    >>> round(ride_through_s(3.0, 4.2, 10.0)), ride_through_s(3.0, 4.2, -2.0)
    (126, 0.0)
    """
    return liters_per_kw * heat_kj_per_l_k * max(allowed_rise_k, 0.0)
