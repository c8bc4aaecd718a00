"""Weather of the 8,760 hours of a typical year: order of the bins, and weather files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dcplan.catalog.weather import read_epw
from dcplan.energy.order import ordered_bins
from dcplan.errors import InputError, Place, Problem
from dcplan.facility.climate import Climate, climate
from dcplan.facility.moist import wet_bulb_c
from dcplan.inputs.log import InputLog

QUARTER_HOURS = (2160, 2184, 2208, 2208)
"""Hours of the calendar quarters of a year of 365 days."""
BIN_C = 1.0


def hours_of_quarter(quarter: int) -> slice:
    """Return the hours of a calendar quarter, 0 to 3, in the typical year.

    Examples
    --------
    >>> hours_of_quarter(1)
    slice(2160, 4344, None)
    """
    first = sum(QUARTER_HOURS[:quarter])
    return slice(first, first + QUARTER_HOURS[quarter])


def bins_by_hour(weather: Climate, log: InputLog) -> npt.NDArray[np.int64]:
    """Return the weather bin of each hour: of the file, or in a made order."""
    if weather.order is not None:
        return weather.order
    day, warmest = (log.parameter("facility", key) for key in ("day-range-k", "warmest-hour-h"))
    return ordered_bins(weather.quarter, weather.dry_c, weather.hours, QUARTER_HOURS, day, warmest)


def weather_of_file(file: Path) -> Climate:
    """Read an hourly weather file (EPW) into bins of 1 K, and the bin of each hour.

    Raises
    ------
    InputError
        When the file is invalid; with the line.
    """
    weather = read_epw(file)
    dry = np.array(weather.dry_c)
    try:
        wet = wet_bulb_c(
            dry, np.minimum(np.array(weather.humidity_frac), 1.0), np.array(weather.pressure_pa)
        )
    except ValueError as error:
        raise InputError([Problem("DC060", str(error), Place(str(file)))]) from error
    triples = np.stack(
        [np.array(weather.quarter, dtype=float), np.rint(dry / BIN_C), np.rint(wet / BIN_C)]
    )
    unique, order, hours = np.unique(triples, axis=1, return_inverse=True, return_counts=True)
    quarter, dry_bin, wet_bin = unique
    binned = climate(
        weather.place,
        quarter.astype(np.int64),
        dry_bin * BIN_C,
        wet_bin * BIN_C,
        hours.astype(float),
    )
    return replace(binned, order=order.ravel())
