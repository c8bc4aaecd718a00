"""Prices and weather by hour that the request of a replay gives for its sites."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dcplan.answers.plan.request import PlanRequest
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.facility.climate import Climate
from dcplan.inputs.power.series import read_hours
from dcplan.inputs.power.weather import weather_of_file
from dcplan.units import KW_PER_MW, MOST_USD_PER_KWH

Array = npt.NDArray[np.float64]
PRICES, WEATHER = "--price-hours", "--weather-hours"


@dataclass(frozen=True)
class Given:
    """Series of a typical calendar year by site."""

    prices: dict[str, Array]
    """Price of grid energy by hour. [USD/MWh]"""
    weather: dict[str, Climate]
    as_given: bool
    """Whether the prices keep their level; otherwise a quarter has the plan's mean price."""


def given_of(request: PlanRequest, sites: Collection[str]) -> Given:
    """Read the files of the request.

    Raises
    ------
    InputError
        When a pair names no site of the plan or no file, or a file cannot be read.
    """
    most = MOST_USD_PER_KWH * KW_PER_MW
    step = "prices are in USD/MWh: 80 USD/MWh are 0.08 USD/kWh"
    prices = {
        site: read_hours(file, (-most, most), "price of an hour", step)
        for site, file in _files(request.price_hours, PRICES, "prices.csv", sites).items()
    }
    weather = {
        site: weather_of_file(file)
        for site, file in _files(request.weather_hours, WEATHER, "site.epw", sites).items()
    }
    return Given(prices, weather, request.prices_as_given)


def _files(
    pairs: Sequence[str], flag: str, example: str, sites: Collection[str]
) -> dict[str, Path]:
    """Return the file of each site."""
    found: dict[str, Path] = {}
    for pair in pairs:
        site, _, file = pair.partition("=")
        cause = hint = ""
        if not file:
            cause = f"{pair!r}: SITE=FILE is needed"
        elif site not in sites:
            cause = f"the plan has no site {site!r}"
            hint = did_you_mean(site, sites)
        elif site in found:
            cause = f"{site} has two files"
        if cause:
            step = f"{flag} {min(sites)}={example}"
            raise InputError([Problem("DC062", cause, Place(flag), hint, step)])
        found[site] = Path(file)
    return found
