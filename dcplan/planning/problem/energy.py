"""Power in addition to firm grid power.

It holds interruptible tranches and on-site plants, with dates, prices and carbon.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.catalog.schema import OnsitePower
from dcplan.inputs.energy import running_usd_per_mwh
from dcplan.inputs.log import InputLog
from dcplan.scenario.schema import Interruptible, Onsite, Scenario, Site
from dcplan.units import KW_PER_MW, QUARTERS_PER_YEAR, quarter_index


@dataclass(frozen=True)
class TrancheTerms:
    """Grid power that the utility may interrupt."""

    id: str
    mw: tuple[float, ...]
    """Power by quarter; 0 before energization."""
    hours_per_year: float


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


def tranche_terms(site: Site, scenario: Scenario, log: InputLog) -> tuple[TrancheTerms, ...]:
    """Return the interruptible tranches of a site."""
    return tuple(_tranche(entry, site, scenario, log) for entry in site.interruptible)


def _tranche(entry: Interruptible, site: Site, scenario: Scenario, log: InputLog) -> TrancheTerms:
    key, quarters = f"sites.{site.id}.interruptible.{entry.id}", scenario.horizon.quarters
    start = quarter_index(scenario.horizon.start)
    first = quarter_index(entry.available_from) - start if entry.available_from else 0
    given = log.series(f"{key}.mw", entry.mw, quarters)
    mw = tuple(x if t >= first else 0.0 for t, x in enumerate(given))
    return TrancheTerms(entry.id, mw, log.take(f"{key}.hours_per_year", entry.hours_per_year))


def onsite_terms(site: Site, log: InputLog) -> tuple[OnsiteTerms, ...]:
    """Return the plants that a site may build, with catalog price, fuel and carbon per unit.

    A contract price per MWh (`usd_per_mwh`) replaces capital, fixed and fuel cost.
    """
    return tuple(_onsite(entry, site, log) for entry in site.onsite)


def _onsite(entry: Onsite, site: Site, log: InputLog) -> OnsiteTerms:
    row = log.catalog.get("onsite", entry.id, OnsitePower)

    def of(name: str) -> float:
        return log.take(f"onsite.{row.id}.{name}", getattr(row, name))

    key = f"sites.{site.id}.onsite.{row.id}"
    unit = of("unit_mw")
    most = int(log.take(f"{key}.max_mw", entry.max_mw) / unit + 1e-9)
    if entry.usd_per_mwh is not None:
        usd, fixed, energy = 0.0, 0.0, log.take(f"{key}.usd_per_mwh", entry.usd_per_mwh)
    else:
        usd = of("capex_usd_per_kw") * unit * KW_PER_MW
        fixed = of("fixed_usd_per_kw_year") * unit * KW_PER_MW / QUARTERS_PER_YEAR
        energy = running_usd_per_mwh(row, log)
    lead = int(log.assumed(f"{key}.lead_quarters", entry.lead_quarters, row.lead_quarters))
    return OnsiteTerms(
        row.id, unit, usd, fixed, energy, of("g_co2_per_kwh"), lead, most, entry.spare_units
    )
