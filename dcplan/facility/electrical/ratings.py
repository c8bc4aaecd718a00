"""Standard ratings of transformers, switchgear, busway and motors, and the current of a load."""

from __future__ import annotations

import math

from dcplan.units import W_PER_KW

PREFERRED_R10 = (1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0)
"""Steps of a decade in the R10 series of ISO 3, from which IEC 60076-1 takes the rated power of
transformers and IEC 60059 rated currents."""

PREFERRED_MOTOR_KW = (
    *(
        0.37,
        0.55,
        0.75,
        1.1,
        1.5,
        2.2,
        3.0,
        4.0,
        5.5,
        7.5,
        11.0,
        15.0,
        18.5,
        22.0,
        30.0,
        37.0,
        45.0,
    ),
    *(
        55.0,
        75.0,
        90.0,
        110.0,
        132.0,
        160.0,
        200.0,
        250.0,
        315.0,
        355.0,
        400.0,
        450.0,
        500.0,
        560.0,
    ),
    *(630.0, 710.0, 800.0, 900.0, 1000.0),
)
"""Rated outputs of motors in IEC 60072-1. [kW]"""


def next_motor_kw(shaft_kw: float) -> float | None:
    """Return the least rated output of a motor that is not below the power of its shaft.

    It is None above the largest motor of the series.

    Parameters
    ----------
    shaft_kw : float
        Power of the shaft, not negative. [kW]

    Examples
    --------
    >>> next_motor_kw(62.6), next_motor_kw(75.0), next_motor_kw(1200.0)
    (75.0, 75.0, None)
    """
    return next((kw for kw in PREFERRED_MOTOR_KW if kw >= shaft_kw * (1.0 - 1e-9)), None)


def next_rating(needed: float) -> float:
    """Return the least rating of the R10 series that is not below what is needed.

    Parameters
    ----------
    needed : float
        Power or current, above 0. [any]

    Raises
    ------
    ValueError
        When nothing is needed.

    Examples
    --------
    >>> next_rating(2629.0), next_rating(3150.0), next_rating(8.1)
    (3150.0, 3150.0, 10.0)
    """
    if needed <= 0.0:
        msg = f"{needed!r}: a rating needs a load above 0"
        raise ValueError(msg)
    decade = 10.0 ** math.floor(math.log10(needed))
    steps = [round(step * decade, 6) for step in (*PREFERRED_R10, 10.0, 12.5)]
    return next(step for step in steps if step >= needed * (1.0 - 1e-9))


def amps(kva: float, volts: float) -> float:
    r"""Return the line current of a three-phase load: :math:`I = S / (\sqrt{3}\,U)`.

    Parameters
    ----------
    kva : float
        Apparent power S, not negative. [kVA]
    volts : float
        Voltage U between lines, above 0. [V]

    Examples
    --------
    >>> round(amps(3150.0, 415.0))
    4382
    """
    return W_PER_KW * kva / (math.sqrt(3.0) * volts)


def equal_units(needed: float, largest: float) -> tuple[int, float]:
    """Return the least count of equal units that share a need, and the share of one.

    Parameters
    ----------
    needed : float
        What all units carry together, above 0. [kW]
    largest : float
        Largest rating of one unit, above 0. [kW]

    Examples
    --------
    >>> equal_units(2500.0, 1500.0), equal_units(400.0, 1500.0)
    ((2, 1250.0), (1, 400.0))
    """
    count = max(math.ceil(needed / largest - 1e-9), 1)
    return count, needed / count
