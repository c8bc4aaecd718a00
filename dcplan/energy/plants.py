"""Units of on-site plants: power by outdoor temperature, planned and forced outages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
RARE_TOLERANCE = 1e-9
"""Probability below which a number of failed units is left out."""


@dataclass(frozen=True)
class Plant:
    """Units of one kind and the power of one unit by hour."""

    needed: int
    """Units that run at the same time at most; the others are spare."""
    units: int
    """All units, with spare units."""
    unit_mw: Array
    """Power of one unit by hour. [MW]"""
    out: Counts
    """Units in planned outage by hour."""
    forced_frac: float
    """Share of the time outside planned outages in which a unit has failed."""


def derated_frac(
    dry_c: Array, rated_at_c: float, per_k: float, elevation_m: float = 0.0, per_m: float = 0.0
) -> Array:
    r"""Return the power of a unit over its rating by outdoor temperature and elevation.

    .. math:: f = \min\{1, (1 - a\,(T - T_0))\,(1 - b\,z)\},\; f \ge 0

    Cold air gives no more than the rating, because generators and transformers are built for it.

    Parameters
    ----------
    dry_c : array
        Outdoor dry bulb. [C]
    rated_at_c : float
        Temperature of the rating. [C]
    per_k : float
        Loss of power per kelvin, 0 to 0.1. [1/K]
    elevation_m : float
        Elevation of the site; below sea level counts as 0. [m]
    per_m : float
        Loss of power per meter, 0 to 0.001. [1/m]

    Examples
    --------
    A turbine with 0.83 of its power at 40 C:

    >>> [round(float(x), 2) for x in derated_frac(np.array([40.0, 15.0, -10.0]), 15.0, 0.0068)]
    [0.83, 1.0, 1.0]
    """
    warm = 1.0 - per_k * (np.asarray(dry_c, dtype=np.float64) - rated_at_c)
    high = 1.0 - per_m * max(elevation_m, 0.0)
    return np.clip(warm * high, 0.0, 1.0)


def units_needed(mw: float, unit_mw: float) -> int:
    """Return the whole units that have a power together.

    Parameters
    ----------
    mw : float
        Power that is needed, above 0. [MW]
    unit_mw : float
        Power of one unit in the same conditions, above 0. [MW]

    Raises
    ------
    ValueError
        If a unit has no power.

    Examples
    --------
    >>> units_needed(45.0, 27.5), units_needed(7.5, 2.5)
    (2, 3)
    """
    if unit_mw <= 0:
        msg = "a unit without power cannot supply a load"
        raise ValueError(msg)
    return max(1, math.ceil(mw / unit_mw - 1e-9))


def planned_out(units: int, hours_per_unit: float, first_hour: int, hours: int) -> Counts:
    """Return the units in planned outage in each hour: one after another, as few at once as can be.

    Unit k is out for its hours from the end of the outage of unit k - 1; after the last hour of the
    year the first one follows.

    Parameters
    ----------
    units : int
        All units, with spare units.
    hours_per_unit : float
        Planned outage of one unit in the year, 0 to `hours`. [h]
    first_hour : int
        Hour of the year in which the first unit stops.
    hours : int
        Hours of the year.

    Examples
    --------
    >>> planned_out(2, 3.0, 4, 8)
    array([1, 1, 0, 0, 1, 1, 1, 1])
    """
    whole = round(hours_per_unit) * units
    often, rest = divmod(whole, hours)
    out = np.full(hours, often, dtype=np.int64)
    out[(first_hour + np.arange(rest)) % hours] += 1
    return out


def failed_chances(units: int, forced_frac: float) -> Array:
    """Return the probability that 0, 1, 2 ... of independent units have failed.

    Parameters
    ----------
    units : int
        Units that are not in planned outage, at least 0.
    forced_frac : float
        Probability that one unit has failed, 0 to 1.

    Examples
    --------
    >>> failed_chances(2, 0.1)
    array([0.81, 0.18, 0.01])
    """
    chances = np.ones(1)
    for _ in range(units):
        chances = np.convolve(chances, [1.0 - forced_frac, forced_frac])
    kept = int(np.flatnonzero(chances > RARE_TOLERANCE)[-1]) + 1
    return np.asarray(chances[:kept] / chances[:kept].sum())


def mean_mw(plant: Plant) -> Array:
    r"""Return the mean power that a plant can have by hour, over its forced outages.

    .. math:: G_h = g_h \sum_k p_k \min(n, N - o_h - k)

    with n units needed, N units in all, o in planned outage and k failed.

    Examples
    --------
    One unit needed, one spare, one of ten hours failed: both have failed with 0.01.

    >>> pair = Plant(1, 2, np.array([10.0]), np.array([0]), 0.1)
    >>> [round(float(x), 9) for x in mean_mw(pair)]
    [9.9]
    """
    found = np.zeros(plant.unit_mw.size)
    for out in np.unique(plant.out):
        left = max(plant.units - int(out), 0)
        chances = failed_chances(left, plant.forced_frac)
        running = np.minimum(plant.needed, left - np.arange(chances.size))
        found[plant.out == out] = float(chances @ running)
    return found * plant.unit_mw


def outage_risk(load_mw: Array, firm_mw: Array, plants: Sequence[Plant]) -> tuple[Array, Array]:
    """Return for each hour the probability of a shortage and its mean power, without batteries.

    Units fail independently of each other; the mean over all combinations of failed units is exact.

    Parameters
    ----------
    load_mw : array
        Load by hour. [MW]
    firm_mw : array
        Power that does not fail, such as the grid outside its cuts. [MW]
    plants : sequence of Plant
        Plants with units that fail.

    Examples
    --------
    Two units of 10 MW for 15 MW, each failed a tenth of the time: both run with 0.81; one with
    0.18, which is 5 MW short; none with 0.01, which is 15 MW short.

    >>> both = Plant(2, 2, np.array([10.0]), np.array([0]), 0.1)
    >>> chance, short = outage_risk(np.array([15.0]), np.array([0.0]), [both])
    >>> round(float(chance[0]), 9), round(float(short[0]), 9)
    (0.19, 1.05)
    """
    cases: list[tuple[Array, Array]] = [(np.ones(load_mw.size), np.asarray(firm_mw, dtype=float))]
    for plant in plants:
        cases = [
            (chance * more, mw + extra) for chance, mw in cases for more, extra in _states(plant)
        ]
    likely = np.zeros(load_mw.size)
    short = np.zeros(load_mw.size)
    for chance, mw in cases:
        lacking = np.maximum(load_mw - mw, 0.0)
        likely += np.where(lacking > RARE_TOLERANCE * np.maximum(load_mw, 1.0), chance, 0.0)
        short += chance * lacking
    return likely, short


def _states(plant: Plant) -> list[tuple[Array, Array]]:
    """Return probability and power by hour for each number of failed units."""
    tables = {
        int(out): failed_chances(max(plant.units - int(out), 0), plant.forced_frac)
        for out in np.unique(plant.out)
    }
    states = []
    for failed in range(max(t.size for t in tables.values())):
        chance = np.zeros(plant.unit_mw.size)
        for out, table in tables.items():
            if failed < table.size:
                chance[plant.out == out] = table[failed]
        running = np.clip(plant.units - plant.out - failed, 0, plant.needed)
        states.append((chance, running * plant.unit_mw))
    return states
