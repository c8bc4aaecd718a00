"""Hours of a year of one hall: temperatures, IT, losses, cooling, PUE and water."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import CoolingOption
from dcplan.errors import InputError, Place, Problem
from dcplan.facility.climate import Climate
from dcplan.inputs.cooling.hours import hours_of, losses_frac_now
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.result import Table
from dcplan.specs.facility.equipment import HOURS, HourRow
from dcplan.units import KW_PER_MW, L_PER_M3


def hours_table(
    option: CoolingOption, resolved: ResolvedFacility, found: Performance, log: InputLog
) -> Table:
    """Return the 8,760 hours of a weather file in their order, or the bins of packaged weather.

    PUE and water of an hour are medians over the samples, scaled so that their mean is that of the
    year, as the quarters are.

    Raises
    ------
    InputError
        When the option comes from a table, which has no hours.
    """
    at = resolved.setting(option, log)
    if not found.modeled or at.climate is None or found.wue_l_per_kwh is None:
        cause = f"{option.id} comes from a table by climate zone and size class: it has no hours"
        help_text = "choose an option that is computed, such as direct-liquid-tower"
        raise InputError([Problem("DC060", cause, Place("--hours"), help=help_text)])
    hours, weather = hours_of(option, at, at.climate, log), at.climate
    pue, water = (
        _scaled(np.median(each, axis=0), mean, weather)
        for each, mean in (
            (hours.pue, found.pue.value),
            (hours.wue_l_per_kwh, found.wue_l_per_kwh.value),
        )
    )
    it_kw = resolved.it_mw * KW_PER_MW * resolved.load
    losses_kw = it_kw * (losses_frac_now(option, at, log) + found.main_frac)
    return HOURS.table(_rows(weather, it_kw, losses_kw, pue, water))


def _scaled(values: np.ndarray, mean: float, weather: Climate) -> np.ndarray:
    own = float(weather.mean(values))
    return np.asarray(values * (mean / own if own > 0.0 else 1.0))


def _rows(
    weather: Climate, it_kw: float, losses_kw: float, pue: np.ndarray, water: np.ndarray
) -> Iterator[HourRow]:
    ordered = weather.order is not None
    each = range(weather.hours.size) if weather.order is None else weather.order.tolist()
    for number, k in enumerate(each, 1):
        facility_kw = it_kw * float(pue[k])
        yield HourRow(
            hour=number if ordered else None,
            quarter=int(weather.quarter[k]) + 1,
            duration_h=1.0 if ordered else float(weather.hours[k]),
            dry_bulb_c=float(weather.dry_c[k]),
            wet_bulb_c=float(weather.wet_c[k]),
            it_kw=it_kw,
            losses_kw=losses_kw,
            cooling_kw=facility_kw - it_kw - losses_kw,
            facility_kw=facility_kw,
            pue=float(pue[k]),
            water_m3_per_h=it_kw * float(water[k]) / L_PER_M3,
        )
