"""Output of PV and wind by hour, from files of the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dcplan.catalog.schema import OnsitePower
from dcplan.catalog.schema.place import WEATHER_KINDS
from dcplan.catalog.weather import read_irradiance
from dcplan.energy.sun import Modules, Sunshine, tracker_frac
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.series import read_profile
from dcplan.units import TYPICAL_YEAR_HOURS

Array = npt.NDArray[np.float64]
MODULE_KEYS = (
    "pv-loss-frac",
    "pv-inverter-frac",
    "pv-dc-over-ac",
    "pv-loss-frac-per-k",
    "pv-noct-c",
    "pv-ground-frac",
    "pv-tracker-limit-deg",
)
"""Catalog parameters in the order of the fields of :class:`dcplan.energy.sun.Modules`."""


def profiles_of(
    pairs: Sequence[str], rows: Mapping[str, OnsitePower], sunny: Callable[[], Array] | None
) -> dict[str, Array]:
    """Return the capacity factor by hour of each PV and wind source.

    ``sunny`` computes that of PV from the irradiance of a weather file; None without a file.

    Raises
    ------
    InputError
        When a source has no profile, a profile has no source, or a file cannot be read.
    """
    files: dict[str, str] = {}
    for pair in pairs:
        name, _, file = pair.partition("=")
        if not file:
            raise _refused(f"{pair!r}: id=FILE is needed", "--profile solar-pv=pv.csv")
        if name not in rows or rows[name].kind not in WEATHER_KINDS:
            cause = f"{name}: only a PV or wind source of --onsite has a profile"
            raise _refused(cause, f"--onsite {name}=MW, or leave the profile out")
        if name in files:
            raise _refused(f"{name} has two profiles", "leave one out")
        files[name] = file
    for name, row in rows.items():
        computed = row.kind == "solar" and sunny is not None
        if row.kind in WEATHER_KINDS and name not in files and not computed:
            cause = (
                f"{name} needs its output by hour: the weather of the catalog has neither sunshine "
                "nor wind, and of an EPW file dcplan takes the sunshine alone"
            )
            step = (
                f"--profile {name}=FILE, a CSV with {TYPICAL_YEAR_HOURS:,} capacity factors from 0 "
                "to 1 in local standard time, as PVWatts, SAM or renewables.ninja give"
            )
            raise _refused(cause, step)
    found = {name: read_profile(Path(file)) for name, file in files.items()}
    for name, row in rows.items():
        if row.kind == "solar" and name not in files and sunny is not None:
            found[name] = sunny()
    return found


def sunshine_of(file: Path, dry_c: Array, log: InputLog) -> Array:
    """Return the capacity factor by hour of PV on trackers, from the irradiance of an EPW file.

    Raises
    ------
    InputError
        When the file has no irradiance.
    """
    given = read_irradiance(file)
    sun = Sunshine(
        given.lat,
        given.lon,
        given.zone_h,
        *(np.array(x) for x in (given.global_w_m2, given.direct_w_m2, given.diffuse_w_m2)),
    )
    modules = Modules(*(log.parameter("facility", key) for key in MODULE_KEYS))
    return tracker_frac(sun, dry_c, modules)


def _refused(cause: str, step: str) -> InputError:
    return InputError([Problem("DC062", cause, Place("--profile"), help=step)])
