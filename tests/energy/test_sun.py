"""PV on trackers against pvlib 0.16.1, computed once; its numbers are typed here."""

from __future__ import annotations

import numpy as np
import pytest

from dcplan.energy.sun import Modules, Sunshine, sun_vector, tracker_frac

PLANT = Modules(0.14, 0.96, 1.2, 0.0047, 45.0, 0.2, 60.0)
POSITIONS = (
    (33.43, -112.02, -7, 80, 9, 35.41, 117.47),
    (33.43, -112.02, -7, 172, 12, 80.01, 180.1),
    (33.43, -112.02, -7, 355, 15, 18.26, 223.97),
    (33.43, -112.02, -7, 253, 7, 16.21, 94.91),
    (53.43, -6.25, 0, 80, 9, 24.83, 128.12),
    (53.43, -6.25, 0, 172, 12, 60.0, 181.48),
    (53.43, -6.25, 0, 355, 15, 3.16, 222.01),
    (53.43, -6.25, 0, 253, 7, 14.07, 100.79),
    (-33.95, 151.18, 10, 80, 9, 40.68, 54.57),
    (-33.95, 151.18, 10, 172, 12, 32.08, 351.05),
    (-33.95, 151.18, 10, 355, 15, 41.83, 267.66),
    (-33.95, 151.18, 10, 253, 7, 16.89, 71.48),
)
"""Latitude, longitude, zone, day of the year, hour (its middle), elevation and azimuth: pvlib's
``get_solarposition`` of 2023, which is not corrected for refraction."""
DAYS = {
    80: (
        [
            0.0,
            0.0,
            134.4,
            362.8,
            570.8,
            734.5,
            840.5,
            880.8,
            852.7,
            758.0,
            604.0,
            402.7,
            175.1,
            2.4,
            0.0,
        ],
        [
            0.0,
            0.0,
            495.9,
            750.0,
            852.7,
            902.3,
            926.4,
            934.3,
            928.8,
            908.1,
            864.3,
            775.0,
            563.6,
            27.9,
            0.0,
        ],
        [0.0, 0.0, 34.6, 59.8, 76.4, 88.1, 95.3, 97.9, 96.1, 89.7, 78.9, 63.2, 40.2, 1.6, 0.0],
        6.4488,
    ),
    171: (
        [
            2.2,
            149.5,
            365.0,
            574.8,
            757.1,
            897.6,
            986.0,
            1016.0,
            985.4,
            896.5,
            755.5,
            572.9,
            362.9,
            147.5,
            1.9,
        ],
        [
            25.1,
            512.1,
            730.9,
            828.0,
            878.6,
            906.4,
            920.6,
            924.9,
            920.5,
            906.2,
            878.3,
            827.4,
            729.4,
            508.7,
            22.4,
        ],
        [1.5, 36.1, 58.9, 75.3, 88.1, 97.4, 103.2, 105.1, 103.1, 97.4, 88.0, 75.2, 58.7, 35.8, 1.3],
        8.1543,
    ),
    355: (
        [
            0.0,
            0.0,
            0.0,
            111.5,
            286.7,
            428.6,
            517.6,
            545.3,
            509.5,
            413.2,
            265.6,
            89.2,
            0.0,
            0.0,
            0.0,
        ],
        [
            0.0,
            0.0,
            1.9,
            454.9,
            702.8,
            804.0,
            847.8,
            859.4,
            844.2,
            795.2,
            682.6,
            401.1,
            0.0,
            0.0,
            0.0,
        ],
        [0.0, 0.0, 0.0, 31.2, 53.3, 66.2, 73.3, 75.4, 72.7, 64.9, 51.2, 27.2, 0.0, 0.0, 0.0],
        3.5349,
    ),
}
"""Day of the year at 33.43 N, 112.02 W, UTC - 7: global, direct and diffuse irradiance of the hours
from 5 to 19 (clear sky of Ineichen, turbidity 3), and the day's energy over the rating from
``singleaxis`` (60 degrees, no backtracking), ``get_total_irradiance`` (isotropic) and
``pvwatts_dc`` at 25 C with losses of 14 % and inverters of 96 %."""


@pytest.mark.parametrize(("lat", "lon", "zone", "day", "hour", "high", "azimuth"), POSITIONS)
def test_the_direction_to_the_sun(
    lat: float, lon: float, zone: float, day: int, hour: int, high: float, azimuth: float
) -> None:
    """Within 0.7 degrees: Spencer's series has one year for all, and 2023 lies in a leap cycle."""
    east, north, up = (x[(day - 1) * 24 + hour] for x in sun_vector(lat, lon, zone, 8760))
    assert np.hypot(np.hypot(east, north), up) == pytest.approx(1.0)
    phi, psi = np.radians(high), np.radians(azimuth)
    theirs = np.array([np.cos(phi) * np.sin(psi), np.cos(phi) * np.cos(psi), np.sin(phi)])
    between = np.degrees(np.arccos(min(float(theirs @ np.array([east, north, up])), 1.0)))
    assert between < 0.7


@pytest.mark.parametrize("day", sorted(DAYS))
def test_a_clear_day_on_trackers(day: int) -> None:
    """Within 1 % of the day's energy: 6.45, 8.15 and 3.53 h of the rating."""
    whole, direct, diffuse, expected = DAYS[day]
    sun = [np.zeros(8760) for _ in range(3)]
    start = (day - 1) * 24 + 5
    for target, values in zip(sun, (whole, direct, diffuse), strict=True):
        target[start : start + 15] = values
    found = tracker_frac(Sunshine(33.43, -112.02, -7.0, *sun), np.full(8760, 25.0), PLANT)
    assert found.sum() == pytest.approx(expected, rel=0.01)


def test_inverters_limit_the_power() -> None:
    """1,400 W/m2 at noon and -10 C would give more than 1 / 1.2 of the DC rating."""
    level = np.full(8760, 700.0)
    sun = Sunshine(0.0, 0.0, 0.0, 2 * level, level, level)
    assert tracker_frac(sun, np.full(8760, -10.0), PLANT).max() == pytest.approx(1 / 1.2)
