"""Annual PUE and WUE of a cooling option, from its components or from the table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.catalog.schema import CoolingOption
from dcplan.facility.climate import Climate
from dcplan.facility.cooling import Spread
from dcplan.facility.electrical.supply import main_losses_frac
from dcplan.inputs.cooling.hours import hours_of
from dcplan.inputs.cooling.setting import Performance, Setting
from dcplan.inputs.cooling.table import tabulated
from dcplan.inputs.log import InputLog

CHILLER_PRICE = "cooling-air-chiller-usd-per-kw"


def performance(option: CoolingOption, at: Setting, log: InputLog) -> Performance:
    """Return PUE and WUE of an option under its operating conditions.

    Raises
    ------
    LookupError
        If the option is neither modeled with the weather of the place nor tabulated for its zone.
    """
    if option.model is None or at.climate is None:
        return _behind_main(tabulated(option, at, log), at)
    return _behind_main(_computed(option, at, at.climate, log), at)


def _behind_main(found: Performance, at: Setting) -> Performance:
    """Return the performance with the losses of main transformers, each at its own load."""
    feed, peak, load = at.feed, found.peak_pue, at.load
    if feed is None:
        return found

    def fed(pue: float) -> float:
        return pue + main_losses_frac(pue, peak, load, feed)

    mean, worst = found.pue, main_losses_frac(peak, peak, 1.0, feed)
    return replace(
        found,
        pue=Spread(fed(mean.low), fed(mean.value), fed(mean.high)),
        peak_pue=peak + worst,
        quarters=tuple((fed(pue), water) for pue, water in found.quarters),
        bin_pues=tuple(fed(pue) for pue in found.bin_pues),
        main_frac=fed(mean.value) - mean.value,
        peak_main_frac=worst,
    )


def _computed(option: CoolingOption, at: Setting, weather: Climate, log: InputLog) -> Performance:
    year = hours_of(option, at, weather, log)
    dry, wet = weather.design_dry_c, weather.design_wet_c
    hot = Climate(
        weather.place, np.array([2]), np.array([dry]), np.array([wet]), np.array([1.0]), dry, wet
    )
    full = replace(at, load=1.0)
    worst = hours_of(option, full, hot, log)
    built = year if at.load >= 1.0 else hours_of(option, full, weather, log)
    pue, wue = weather.mean(year.pue), weather.mean(year.wue_l_per_kwh)
    by_quarter = [np.median(weather.by_quarter(x), axis=0) for x in (year.pue, year.wue_l_per_kwh)]
    # medians are not additive, so the quarters are scaled to average to the year
    means = [float(np.median(whole)) for whole in (pue, wue)]
    rows = np.stack(
        [x * (m / max(float(x.mean()), 1e-12)) for x, m in zip(by_quarter, means, strict=True)],
        axis=1,
    )
    quarters = tuple((float(p), float(w)) for p, w in rows)
    bins = np.median(year.pue, axis=0)
    worst_bin = float(np.median(built.wue_l_per_kwh, axis=0).max())
    return Performance(
        Spread.of(pue),
        Spread.of(wue),
        max(float(np.median(worst.pue)), float(np.median(weather.mean(built.pue)))),
        max(float(np.median(worst.wue_l_per_kwh)), worst_bin),
        quarters,
        float(np.median(weather.mean(year.chiller_frac))),
        float(np.median(worst.chilled)),
        float(np.median(worst.rejected)),
        modeled=True,
        bin_pues=tuple(bins.tolist()),
        water_by_season=_by_season(weather.by_quarter(year.wue_l_per_kwh).mean(axis=0)),
        pue_by_season=_by_season(weather.by_quarter(bins)),
    )


def _by_season(quarters: np.ndarray) -> tuple[float, ...]:
    """Return PUE or WUE of each quarter over the mean of the four, with the samples of an hour of a replay.

    Of the WUE these are means over the samples: their medians do not add up to the year.
    """
    mean = float(quarters.mean())
    return tuple((quarters / mean).tolist()) if mean > 0.0 else ()


def chillers_usd_per_kw(option: CoolingOption, found: Performance, log: InputLog) -> float:
    """Return the price of chillers for the design day, which the fit-out does not have [USD/kW of IT].

    It is 0 for options whose fit-out has chillers: air handlers, and options from the table.
    """
    if option.model not in ("tower", "dry") or not found.peak_chilled:
        return 0.0
    return found.peak_chilled * log.parameter("power", CHILLER_PRICE)
