"""Outdoor temperature, load and cuts of the grid in the 8,760 hours of a typical year."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.energy.cuts import cut_hours
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.series import read_hours
from dcplan.inputs.power.weather import QUARTER_HOURS, bins_by_hour
from dcplan.units import HOURS_PER_YEAR, TYPICAL_YEAR_HOURS

Array = npt.NDArray[np.float64]
MOST_LOAD_MW = 1e5


@dataclass(frozen=True)
class Year:
    """A typical year of the hall by hour."""

    dry_c: Array | None
    """Outdoor dry bulb; None without weather. [C]"""
    load_mw: Array
    cut: npt.NDArray[np.bool_]
    """Whether the utility cuts its power."""
    mildest_hour: int
    """First hour of the quarter with the lowest load."""

    @property
    def weights(self) -> Array:
        """Return the weight of each hour: 1 in cuts; all hours together have those of 365.25 days."""
        done = int(self.cut.sum())
        if done == TYPICAL_YEAR_HOURS:
            return np.ones(TYPICAL_YEAR_HOURS)
        longer = (HOURS_PER_YEAR - done) / (TYPICAL_YEAR_HOURS - done)
        return np.where(self.cut, 1.0, longer)


def year_of(resolved: ResolvedFacility, found: Performance, log: InputLog) -> Year:
    """Return temperature, load and cuts by hour.

    The load is that of ``--load-hours``. Without a file it is IT power times the PUE of the hour:
    that of its weather bin, scaled so that the year has the PUE of the answer. Cuts begin in the
    quarter with the highest load.

    Raises
    ------
    InputError
        When the file cannot be read, or the cuts have more events than hours.
    """
    weather = resolved.where.climate
    bins = None if weather is None else bins_by_hour(weather, log)
    dry = weather.dry_c[bins] if weather is not None and bins is not None else None
    shape = np.ones(TYPICAL_YEAR_HOURS)
    if found.bin_pues and bins is not None:
        own = np.array(found.bin_pues)[bins]
        shape = own / float(own.mean())
    load = given_load(resolved)
    if load is None:
        load = resolved.it_mw * resolved.load * found.pue.value * shape
    starts = np.cumsum((0, *QUARTER_HOURS[:-1]))
    means = np.add.reduceat(load, starts) / np.array(QUARTER_HOURS)
    flat = bool(np.ptp(means) < 1e-9 * means.max())
    hot = 2 if flat else int(means.argmax())
    cool = 0 if flat else int(means.argmin())
    cut = _cuts(resolved, int(starts[hot]), QUARTER_HOURS[hot])
    return Year(dry, load, cut, int(starts[cool]))


def given_load(resolved: ResolvedFacility) -> Array | None:
    """Return the load of the site by hour from the file of the request; None without one [MW]."""
    file = resolved.request.load_hours
    if file is None:
        return None
    step = "give the site's power of each hour in MW"
    found = read_hours(Path(file), (0.0, MOST_LOAD_MW), "load in MW", step)
    if not found.any():
        raise InputError([Problem("DC062", "the load is 0 in every hour", Place(file), help=step)])
    return found


def _cuts(resolved: ResolvedFacility, first: int, window: int) -> npt.NDArray[np.bool_]:
    request = resolved.request
    try:
        return cut_hours(
            request.grid_outage_h, request.grid_outage_events, first, window, TYPICAL_YEAR_HOURS
        )
    except ValueError as error:
        raise InputError(
            [
                Problem(
                    "DC062",
                    str(error),
                    Place("--grid-outage-events"),
                    help="at most one event for each hour of --grid-outage-h",
                )
            ]
        ) from error
