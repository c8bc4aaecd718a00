"""Output of photovoltaics on single-axis trackers from irradiance by hour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
DAY_H = 24


@dataclass(frozen=True)
class Sunshine:
    """Irradiance of a year by hour, and where it was measured."""

    lat: float
    """Latitude. [degrees]"""
    lon: float
    """Longitude, east positive. [degrees]"""
    zone_h: float
    """Local standard time less UTC. [h]"""
    global_w_m2: Array
    """On the ground. [W/m2]"""
    direct_w_m2: Array
    """On a plane that faces the sun. [W/m2]"""
    diffuse_w_m2: Array
    """From the sky, on the ground. [W/m2]"""


@dataclass(frozen=True)
class Modules:
    """Modules, trackers and inverters of a plant."""

    loss_frac: float
    """Soiling, wiring, mismatch and outages over DC power."""
    inverter_frac: float
    """Efficiency of the inverters."""
    dc_over_ac: float
    """DC rating over AC rating."""
    loss_frac_per_k: float
    """Loss of power per kelvin of the cells above 25 C. [1/K]"""
    noct_c: float
    """Temperature of the cells at 800 W/m2 and 20 C. [C]"""
    ground_frac: float
    """Share of light that the ground reflects."""
    limit_deg: float
    """Largest rotation of a tracker from the horizontal. [degrees]"""


def sun_vector(lat: float, lon: float, zone_h: float, hours: int) -> tuple[Array, Array, Array]:
    r"""Return the direction to the sun at the middle of each hour: east, north, up.

    Declination and equation of time by Spencer's series of the day angle; the hour angle follows
    from local standard time, longitude and equation of time.

    Parameters
    ----------
    lat, lon : float
        Latitude and longitude, north and east positive. [degrees]
    zone_h : float
        Local standard time less UTC. [h]
    hours : int
        Hours from 1 January, 0:00, of a year of 365 days.

    References
    ----------
    .. [1] J. W. Spencer, "Fourier series representation of the position of the sun", Search 2 (1971).

    Examples
    --------
    Half past noon at the equator in March: the sun is almost overhead.

    >>> up = sun_vector(0.0, 0.0, 0.0, 79 * 24)[2]
    >>> round(float(up[78 * 24 + 12]), 2)
    1.0
    """
    hour = np.arange(hours)
    day = 2 * np.pi * (hour // DAY_H) / 365
    declination = (
        0.006918
        - 0.399912 * np.cos(day)
        + 0.070257 * np.sin(day)
        - 0.006758 * np.cos(2 * day)
        + 0.000907 * np.sin(2 * day)
        - 0.002697 * np.cos(3 * day)
        + 0.00148 * np.sin(3 * day)
    )
    early_min = 229.18 * (
        0.000075
        + 0.001868 * np.cos(day)
        - 0.032077 * np.sin(day)
        - 0.014615 * np.cos(2 * day)
        - 0.040849 * np.sin(2 * day)
    )
    solar_h = hour % DAY_H + 0.5 + (4 * (lon - 15 * zone_h) + early_min) / 60
    angle, phi = np.radians(15 * (solar_h - 12)), np.radians(lat)
    up = np.sin(phi) * np.sin(declination) + np.cos(phi) * np.cos(declination) * np.cos(angle)
    east = -np.cos(declination) * np.sin(angle)
    north = np.cos(phi) * np.sin(declination) - np.sin(phi) * np.cos(declination) * np.cos(angle)
    return east, north, up


def tracker_frac(sun: Sunshine, dry_c: Array, modules: Modules) -> Array:
    r"""Return the power of a PV plant by hour over its DC rating.

    Trackers have a horizontal axis from north to south, without backtracking. Irradiance on the
    plane is direct, diffuse (isotropic sky) and from the ground:

    .. math:: I = B \cos\theta + D\,\frac{1 + \cos R}{2} + G\,\rho\,\frac{1 - \cos R}{2}

    .. math:: P = \min\{\tfrac{I}{1000} (1 - \gamma (T_c - 25)) (1 - v)\,\eta,\ 1/r\},\;
              T_c = T + (T_{NOCT} - 20) I / 800

    Parameters
    ----------
    sun : Sunshine
        Irradiance by hour.
    dry_c : array
        Outdoor dry bulb by hour. [C]
    modules : Modules
        Plant.

    References
    ----------
    .. [1] A. P. Dobos, PVWatts Version 5 Manual, NREL/TP-6A20-62641 (2014).
    .. [2] B. Liu, R. Jordan, Solar Energy 7 (1963): isotropic sky.

    Examples
    --------
    A dark year has no power:

    >>> dark = np.zeros(8760)
    >>> plant = Modules(0.14, 0.96, 1.2, 0.0047, 45.0, 0.2, 60.0)
    >>> float(tracker_frac(Sunshine(33.4, -112.0, -7.0, dark, dark, dark), dark, plant).max())
    0.0
    """
    east, _, up = sun_vector(sun.lat, sun.lon, sun.zone_h, dry_c.size)
    limit = np.radians(modules.limit_deg)
    turned = np.where(up > 0, np.clip(np.arctan2(east, np.maximum(up, 0)), -limit, limit), 0.0)
    facing = np.where(up > 0, np.maximum(east * np.sin(turned) + up * np.cos(turned), 0.0), 0.0)
    level = np.cos(turned)
    plane = (
        sun.direct_w_m2 * facing
        + sun.diffuse_w_m2 * (1 + level) / 2
        + sun.global_w_m2 * modules.ground_frac * (1 - level) / 2
    )
    cells = dry_c + (modules.noct_c - 20) * plane / 800
    made = plane / 1000 * (1 - modules.loss_frac_per_k * (cells - 25)) * (1 - modules.loss_frac)
    return np.asarray(np.clip(made * modules.inverter_frac, 0.0, 1 / modules.dc_over_ac))
