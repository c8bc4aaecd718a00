"""Immersion tanks: power of a server without fans, fluid, and ride-through of the fluid."""

from __future__ import annotations


def without_fans_kw(power_kw: float, fan_frac: float) -> float:
    r"""Return the power of an air-cooled server whose fans are removed: :math:`P (1 - f)`.

    The same share holds in every state, since fans follow the heat.

    Parameters
    ----------
    power_kw : float
        Power with fans: rated, design peak or average. [kW]
    fan_frac : float
        Share of the power that fans use, 0 to 1. [-]

    Examples
    --------
    >>> round(without_fans_kw(10.2, 0.15), 6)
    8.67
    """
    return power_kw * (1.0 - fan_frac)


def fluid_usd(tanks: int, fluid_l: float, usd_per_l: float) -> float:
    """Return the price of the fluid of all tanks [USD].

    Examples
    --------
    >>> fluid_usd(10, 946.0, 35.0)
    331100.0
    """
    return tanks * fluid_l * usd_per_l


def tank_ride_through_s(
    fluid_l: float, heat_kw: float, heat_kj_per_l_k: float, rise_k: float
) -> float:
    r"""Return the seconds until the fluid of a tank without cooling is warmer by a rise.

    :math:`V c \Delta T / Q`. Metal and servers are not counted.

    Parameters
    ----------
    fluid_l : float
        Fluid of the tank. [L]
    heat_kw : float
        Heat of its servers, above 0. [kW]
    heat_kj_per_l_k : float
        Heat capacity of the fluid by volume. [kJ/L/K]
    rise_k : float
        Rise of the fluid temperature. [K]

    Examples
    --------
    >>> round(tank_ride_through_s(946.0, 45.0, 1.77, 10.0))
    372
    """
    return fluid_l * heat_kj_per_l_k * rise_k / heat_kw
