"""Power in addition to firm grid power.

It holds interruptible tranches and on-site plants, with dates, prices and carbon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dcplan.catalog.schema import OnsitePower
from dcplan.catalog.schema.place import STEADY_KINDS, WEATHER_KINDS
from dcplan.energy.shaving import mw_per_carried_mw, peak_over_mean_per_mw
from dcplan.inputs.energy import running_usd_per_mwh
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.series import read_profile
from dcplan.inputs.power.weather import hours_of_quarter
from dcplan.provenance import Path, Status
from dcplan.scenario.load import Question, inside_project
from dcplan.scenario.schema import Interruptible, Onsite, Scenario, Site
from dcplan.scenario.schema.places.site import SPARE_UNITS
from dcplan.units import (
    DAYS_PER_QUARTER,
    HOURS_PER_QUARTER,
    HOURS_PER_YEAR,
    KW_PER_MW,
    QUARTERS_PER_YEAR,
    quarter_index,
)

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TrancheTerms:
    """Grid power that the utility may interrupt."""

    id: str
    mw: tuple[float, ...]
    """Power by quarter; 0 before energization."""
    hours_per_year: float
    event_h: float | None = None
    """Longest interruption; None: no battery carries it."""

    @property
    def interrupted_frac(self) -> float:
        """Return the share of the year in which it is interrupted."""
        return self.hours_per_year / HOURS_PER_YEAR


@dataclass(frozen=True)
class ResponseTerms:
    """A demand response program: payment by quarter, most load, and hours of calls."""

    max_mw: float
    usd_per_mw_year: tuple[float, ...]
    hours_per_year: float

    @property
    def called_frac(self) -> float:
        """Return the share of the year in which the load is called."""
        return self.hours_per_year / HOURS_PER_YEAR


@dataclass(frozen=True)
class BatteryTerms:
    """What a battery stores and loses, and the peak that it may shave."""

    hours: float
    round_trip_frac: float
    available_frac: float = 1.0
    """Share of its modules that work, on average."""
    peak_h: float | None = None
    """Hours a day for which the peak lasts; None: it shaves none."""

    def carries(self, tranche: TrancheTerms) -> bool:
        """Return whether it may carry the load of a tranche through interruptions."""
        return tranche.event_h is not None

    def mw_per_mw(self, event_h: float | None) -> float:
        """Return the power of the battery for one MW that it carries for some hours."""
        return mw_per_carried_mw(event_h or 0.0, self.hours, self.round_trip_frac)

    @property
    def peak_over_mean(self) -> float:
        """Return how far the peak must be above the mean for one MW of shaving."""
        return peak_over_mean_per_mw(self.peak_h or 0.0, self.round_trip_frac)

    @property
    def lost_frac(self) -> float:
        """Return the losses over the energy that it gives."""
        return 1.0 / self.round_trip_frac - 1.0

    @property
    def shaving_loss_h(self) -> float:
        """Return the losses of a quarter for one MW shaved on every day [MWh/MW]."""
        return (self.peak_h or 0.0) * DAYS_PER_QUARTER * self.lost_frac

    def event_loss_h(self, tranche: TrancheTerms) -> float:
        """Return the losses of a quarter for one MW carried through interruptions [MWh/MW]."""
        return tranche.hours_per_year / QUARTERS_PER_YEAR * self.lost_frac


@dataclass(frozen=True)
class OnsiteTerms:
    """A kind of on-site plant: power, cost and carbon of one unit."""

    id: str
    unit_mw: float
    usd: float
    fixed_usd_per_quarter: float
    usd_per_mwh: float
    g_per_kwh: float
    lead: int
    most_units: int
    spare_units: int
    profile: tuple[float, ...] = ()
    """Output over rating in each hour of a year, for PV and wind; empty: the plant follows the load."""
    taken_usd_per_mwh: float = 0.0
    """Price of a contract for all output of PV or wind, taken or not."""

    battery: BatteryTerms | None = None
    """Storage of a battery; its energy in a plan is that of its losses, below 0."""

    steady: bool = False
    """Whether it generates in all hours without carbon, as nuclear and geothermal plants do."""

    permit_h_per_year: float | None = None
    """Hours at full power that a permit allows each unit in a calendar year; None: no limit."""

    @property
    def clean(self) -> bool:
        """Return whether its energy is free of carbon and counts for matching."""
        return self.weather or self.steady

    @property
    def firm(self) -> bool:
        """Return whether it generates when the load needs it; PV, wind and batteries do not."""
        return not self.profile and self.battery is None

    @property
    def weather(self) -> bool:
        """Return whether the weather sets its output, as that of PV and wind."""
        return bool(self.profile)


def tranche_terms(site: Site, scenario: Scenario, log: InputLog) -> tuple[TrancheTerms, ...]:
    """Return the interruptible tranches of a site."""
    return tuple(_tranche(entry, site, scenario, log) for entry in site.interruptible)


def _tranche(entry: Interruptible, site: Site, scenario: Scenario, log: InputLog) -> TrancheTerms:
    key, quarters = f"sites.{site.id}.interruptible.{entry.id}", scenario.horizon.quarters
    start = quarter_index(scenario.horizon.start)
    first = quarter_index(entry.available_from) - start if entry.available_from else 0
    given = log.series(f"{key}.mw", entry.mw, quarters)
    mw = tuple(x if t >= first else 0.0 for t, x in enumerate(given))
    hours = log.take(f"{key}.hours_per_year", entry.hours_per_year)
    event_h = log.take(f"{key}.event_h", entry.event_h) if entry.event_h else None
    return TrancheTerms(entry.id, mw, hours, event_h)


def response_terms(site: Site, level: tuple[float, ...], log: InputLog) -> ResponseTerms | None:
    """Return the demand response program of a site; a single payment rises with inflation."""
    entry, key = site.demand_response, f"sites.{site.id}.demand_response"
    if entry is None:
        return None
    usd = log.series(f"{key}.usd_per_mw_year", entry.usd_per_mw_year, len(level))
    rise = level if len(entry.usd_per_mw_year) == 1 else (1.0,) * len(level)
    return ResponseTerms(
        log.take(f"{key}.max_mw", entry.max_mw),
        tuple(x * up for x, up in zip(usd, rise, strict=True)),
        log.take(f"{key}.hours_per_year", entry.hours_per_year),
    )


def onsite_terms(site: Site, question: Question, log: InputLog) -> tuple[OnsiteTerms, ...]:
    """Return the plants that a site may build, with catalog price, fuel and carbon per unit.

    A contract price per MWh (`usd_per_mwh`) replaces capital, fixed and fuel cost.

    Raises
    ------
    InputError
        When a profile cannot be read.
    """
    return tuple(_onsite(entry, site, question, log) for entry in site.onsite)


def _onsite(entry: Onsite, site: Site, question: Question, log: InputLog) -> OnsiteTerms:
    row = log.catalog.get("onsite", entry.id, OnsitePower)

    def of(name: str) -> float:
        return log.take(f"onsite.{row.id}.{name}", getattr(row, name))

    key = f"sites.{site.id}.onsite.{row.id}"
    unit = of("unit_mw")
    most = int(log.take(f"{key}.max_mw", entry.max_mw) / unit + 1e-9)
    weather = row.kind in WEATHER_KINDS
    price = log.take(f"{key}.usd_per_mwh", entry.usd_per_mwh) if entry.usd_per_mwh else 0.0
    if entry.usd_per_mwh is not None:
        usd, fixed, energy = 0.0, 0.0, 0.0 if weather else price
    else:
        usd = of("capex_usd_per_kw") * unit * KW_PER_MW
        fixed = of("fixed_usd_per_kw_year") * unit * KW_PER_MW / QUARTERS_PER_YEAR
        energy = 0.0 if row.kind == "battery" else running_usd_per_mwh(row, log)
    battery = _battery(entry, row, key, log) if row.kind == "battery" else None
    lead = int(log.assumed(f"{key}.lead_quarters", entry.lead_quarters, row.lead_quarters))
    if weather:
        at = ("sites", question.scenario.sites.index(site), "onsite", site.onsite.index(entry))
        profile = profile_of(entry.profile or "", at, question)
        log.text(f"{key}.profile", str(entry.profile), Status.INPUT)
        carbon, spares = 0.0, 0
    elif battery is not None:
        profile, carbon, spares = (), 0.0, 0
    else:
        profile, carbon = (), of("g_co2_per_kwh")
        spares = int(log.assumed(f"{key}.spare_units", entry.spare_units, SPARE_UNITS))
    return OnsiteTerms(
        row.id,
        unit,
        usd,
        fixed,
        energy,
        carbon,
        lead,
        most,
        spares,
        profile,
        price if weather else 0.0,
        battery,
        row.kind in STEADY_KINDS,
        log.take(f"{key}.permit_hours_per_year", entry.permit_hours_per_year)
        if entry.permit_hours_per_year
        else None,
    )


def _battery(entry: Onsite, row: OnsitePower, key: str, log: InputLog) -> BatteryTerms:
    def of(name: str) -> float:
        return log.take(f"onsite.{row.id}.{name}", getattr(row, name))

    return BatteryTerms(
        of("hours"),
        of("round_trip_frac"),
        1.0 - (of("forced_outage_frac") if row.forced_outage_frac is not None else 0.0),
        log.take(f"{key}.peak_h", entry.peak_h) if entry.peak_h else None,
    )


def profile_of(name: str, at: Path, question: Question) -> tuple[float, ...]:
    """Return the output over rating in each hour of a year, from the file of a plant or contract.

    Raises
    ------
    InputError
        When the file cannot be read, or leaves the project.
    """
    problem = question.tree.problem("DC008", f"{name} leaves the project", (*at, "profile"))
    return tuple(read_profile(inside_project(question.file, name, problem)).tolist())


class Profiled(Protocol):
    """A source with its output over rating in each hour of a year."""

    @property
    def profile(self) -> tuple[float, ...]:
        """Return the output over rating, from 1 January."""


def shapes_at(plants: Sequence[Profiled], start: str, t: int) -> tuple[Array, float]:
    """Return the output over rating of sources in the hours of a quarter, and the length of each [h].

    Parameters
    ----------
    plants : sequence
        Plants or contracts with a profile.
    start : str
        First quarter of the horizon.
    t : int
        Quarter of the horizon, from 0.
    """
    hours = hours_of_quarter((quarter_index(start) + t) % QUARTERS_PER_YEAR)
    count = hours.stop - hours.start
    shapes = np.array([x.profile[hours] for x in plants], dtype=np.float64).reshape(-1, count)
    return shapes, HOURS_PER_QUARTER / count


def calendar_years(start: str, quarters: int) -> list[range]:
    """Return the quarters of the horizon in each calendar year.

    Examples
    --------
    >>> calendar_years("2027-Q3", 7)
    [range(0, 2), range(2, 6), range(6, 7)]
    """
    first = quarter_index(start) % QUARTERS_PER_YEAR
    ends = [*range(QUARTERS_PER_YEAR - first, quarters, QUARTERS_PER_YEAR), quarters]
    return [range(a, b) for a, b in zip([0, *ends], ends, strict=False)]


def output_mwh(plant: OnsiteTerms, start: str, t: int) -> float:
    """Return what one unit of PV or wind can give in a quarter [MWh]."""
    shapes, each_h = shapes_at([plant], start, t)
    return plant.unit_mw * each_h * float(shapes.sum())


def contract_usd(plant: OnsiteTerms, start: str, t: int) -> float:
    """Return the price of a quarter's output of one unit of PV or wind under a contract [USD]."""
    price = plant.taken_usd_per_mwh
    return price * output_mwh(plant, start, t) if price else 0.0
