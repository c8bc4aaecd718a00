"""Catalog rows of on-site power as units with power by hour, and batteries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dcplan.answers.facility.energy.year import Array, Year
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import OnsitePower
from dcplan.catalog.schema.place import WEATHER_KINDS
from dcplan.economics.loans import annuity_factor
from dcplan.energy.dispatch import Battery, Source
from dcplan.energy.plants import Plant, mean_mw, planned_out, units_needed
from dcplan.inputs.energy import running_usd_per_mwh
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.plants import Outdoors, derating, taken
from dcplan.units import KW_PER_MW, TYPICAL_YEAR_HOURS


@dataclass(frozen=True)
class Built:
    """One on-site source as it is built."""

    row: OnsitePower
    mw: float
    """Rating of all units, with spare units."""
    design_mw: float
    """Power on the design day, without spare units."""
    source: Source
    plant: Plant | None
    """Its units; None where the catalog has no unit size."""
    notes: tuple[str, ...] = ()

    @property
    def by_weather(self) -> bool:
        """Whether the weather sets its power, as of PV and wind."""
        return self.row.kind in WEATHER_KINDS

    def curtailed_mw(self, used_mw: Array) -> Array | None:
        """Return its power by hour that nothing takes; None for a plant that burns fuel."""
        return self.source.mw - used_mw if self.by_weather else None


def outdoors(year: Year, at: ResolvedFacility) -> Outdoors:
    """Return what the power of a unit depends on."""
    weather = at.where.climate
    return Outdoors(year.dry_c, weather.design_dry_c if weather else None, at.where.site)


def built(row: OnsitePower, mw: float, year: Year, at: ResolvedFacility, log: InputLog) -> Built:
    """Return the whole units that have a power on the design day, with spare units.

    A row without a unit size is one plant of that power without units, and has no spare.
    """
    hourly, design, notes = derating(row, outdoors(year, at), log)
    price, carbon = running_usd_per_mwh(row, log), taken(row, "g_co2_per_kwh", log)
    planned, forced = (
        taken(row, key, log) for key in ("planned_outage_h_per_year", "forced_outage_frac")
    )
    if row.unit_mw is None:
        share = hourly * (1.0 - planned / TYPICAL_YEAR_HOURS) * (1.0 - forced)
        notes = (*notes, f"{row.id}: the catalog has no unit_mw, so it has no spare unit")
        return Built(row, mw, mw * design, Source(row.id, mw * share, price, carbon), None, notes)
    unit = taken(row, "unit_mw", log)
    needed = units_needed(mw, unit * design)
    units = needed + at.request.spare_units
    out = planned_out(units, planned, year.mildest_hour, TYPICAL_YEAR_HOURS)
    plant = Plant(needed, units, unit * hourly, out, forced)
    source = Source(row.id, mean_mw(plant), price, carbon)
    return Built(row, units * unit, needed * unit * design, source, plant, notes)


def by_weather(row: OnsitePower, mw: float, profile: Array, log: InputLog) -> Built:
    """Return a PV or wind source with its output by hour; it counts on no power on the design day."""
    source = Source(row.id, mw * profile, running_usd_per_mwh(row, log))
    mean = float(profile.mean())
    note = f"{row.id}: {mean * 100:.1f} % capacity factor in its profile"
    return Built(row, mw, 0.0, source, None, (note,))


def annual_usd(row: OnsitePower, mw: float, log: InputLog) -> float | None:
    """Return fixed cost and the annuity of the capital of a rating; None without a life [USD]."""
    if row.life_years is None:
        return None
    rate = log.parameter("finance", "discount-rate")
    annuity = float(annuity_factor(rate, taken(row, "life_years", log)))
    capital, fixed = (taken(row, key, log) for key in ("capex_usd_per_kw", "fixed_usd_per_kw_year"))
    return (capital / annuity + fixed) * mw * KW_PER_MW


def stored(row: OnsitePower, mw: float, log: InputLog) -> Battery:
    """Return a battery less the share of its modules that have failed."""
    works = 1.0 - taken(row, "forced_outage_frac", log)
    hours, trip = (taken(row, key, log) for key in ("hours", "round_trip_frac"))
    return Battery(mw * works, mw * works * hours, trip)


def combined(batteries: Mapping[str, Battery]) -> Battery | None:
    """Return all batteries as one, with the mean round trip by energy; None without a battery."""
    found = list(batteries.values())
    if not found:
        return None
    mwh = sum(b.mwh for b in found)
    trip = sum(b.mwh * b.round_trip_frac for b in found) / mwh
    return Battery(sum(b.mw for b in found), mwh, trip)
