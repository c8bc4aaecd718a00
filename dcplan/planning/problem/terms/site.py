"""Limits and tariffs of sites, and halls with their cooling."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from dcplan.facility.electrical.chain import DOUBLE_CONVERSION, Backup
from dcplan.inputs.cooling.setting import Setting
from dcplan.inputs.power.hall import Blocks
from dcplan.planning.problem.contracts import ContractTerms, MatchedTerms
from dcplan.planning.problem.energy import OnsiteTerms, ResponseTerms, TrancheTerms
from dcplan.planning.problem.terms.heat import HeatTerms
from dcplan.planning.problem.terms.ramp import RampTerms
from dcplan.planning.problem.terms.upgrades import Capacity, UpgradeTerms


@dataclass(frozen=True)
class SiteTerms:
    """Limits and tariffs of a site, by quarter where they vary."""

    id: str
    utility_mw: tuple[float, ...]
    usd_per_kwh: tuple[float, ...]
    demand_usd_per_kw_month: float
    minimum_take_frac: float
    grid_g_per_kwh: float
    max_t_per_year: float | None
    max_l_per_year: float | None
    redundancy: str
    block_mw: float
    block_usd: float
    lease_usd_per_kw_month: tuple[float, ...] | None
    staff_usd_per_quarter: float
    opex_usd_per_kw_quarter: float
    ups: str = DOUBLE_CONVERSION
    """UPS before the racks of the site's halls."""
    land_tax_usd_per_quarter: float = 0.0
    """Property tax on the land of a site in use."""
    land_usd: float = 0.0
    """Price of the land, paid in the quarter in which the site is first used; 0: none is bought."""
    land_left_frac: tuple[float, ...] = ()
    """Value of the land at the end of the horizon over its price, by quarter of the purchase."""
    tranches: tuple[TrancheTerms, ...] = ()
    onsite: tuple[OnsiteTerms, ...] = ()
    block_lead: int = 0
    """Quarters before the first new block is in service."""
    contracts: tuple[ContractTerms, ...] = ()
    """Contracts for power through the grid."""
    matched: MatchedTerms = field(default_factory=MatchedTerms)
    """Least share of carbon-free energy."""
    residual_g_per_kwh: float | None = None
    """Carbon of energy without certificates; None: that of the grid."""

    response: ResponseTerms | None = None
    """Demand response program."""
    ramp: RampTerms | None = None
    """Limit on how fast the load of runs may change; None without one."""
    pauses_idle: bool = False
    """Whether racks draw idle power while they pause; else they are switched off."""
    carbon_usd_per_t: tuple[float, ...] = ()
    """Price of operational carbon by quarter; empty without one."""
    water_usd_per_m3: tuple[float, ...] = ()
    """Price of site water by quarter; empty without one."""
    heat: HeatTerms | None = None
    """Sale of waste heat."""
    water_right_m3: tuple[float, ...] = ()
    """Most site water by quarter; empty without a limit."""
    carbon_by_market: bool = False
    """Whether the price is for market-based carbon, else for location-based."""

    @property
    def blocks(self) -> Blocks:
        """Return the power blocks before the racks of the site's halls."""
        return Blocks(Backup(self.redundancy, self.ups), self.block_mw)

    @property
    def market_g_per_kwh(self) -> float:
        """Return the market-based carbon of energy without certificates."""
        given = self.residual_g_per_kwh
        return self.grid_g_per_kwh if given is None else given


@dataclass(frozen=True)
class Cooled:
    """PUE and WUE of the racks of one system under a cooling option."""

    id: str
    """Cooling option."""
    pue: float
    peak_pue: float
    wue_l_per_kwh: float
    setting: Setting | None = field(default=None, compare=False)
    """Operating conditions behind the PUE; None for given coefficients."""
    water_by_season: tuple[float, ...] = ()
    """WUE of each calendar quarter over that of the year; empty: the same in all of them."""
    pue_by_season: tuple[float, ...] = ()
    """PUE of each calendar quarter over that of the year; empty: the same in all of them."""

    def pue_at(self, season: int) -> float:
        """Return the mean PUE of a calendar quarter, counted from 0."""
        return self.pue * self.pue_by_season[season] if self.pue_by_season else self.pue

    def wue_at(self, season: int) -> float:
        """Return the WUE of a calendar quarter, counted from 0 [L/kWh]."""
        return self.wue_l_per_kwh * self.season_share(season)

    def season_share(self, season: int) -> float:
        """Return the WUE of a calendar quarter over that of the year."""
        return self.water_by_season[season] if self.water_by_season else 1.0


@dataclass(frozen=True)
class CoolingTerms:
    """One cooling option of one hall: capacity and coefficients of one fitted hall."""

    id: str
    air_mw: float
    liquid_mw: float
    pue: float
    peak_pue: float
    wue_l_per_kwh: float
    fit_out_usd: float
    building_usd: float
    """Cost of the shell of one new hall; 0 for existing and leased halls."""
    setting: Setting | None = field(default=None, compare=False)
    """Operating conditions behind the PUE; None for given coefficients."""
    rack_kw_max: float | None = None
    """Electrical limit of one rack under this option; None: that of the hall. [kW]"""
    heat_c: float | None = None
    """Temperature of the facility water that returns from liquid-cooled racks; None: no such loop."""
    water_by_season: tuple[float, ...] = ()
    """WUE of each calendar quarter over that of the year; empty: the same in all of them."""
    pue_by_season: tuple[float, ...] = ()
    """PUE of each calendar quarter over that of the year; empty: the same in all of them."""
    water_known: bool = True
    """Whether the WUE is a value of the option, and not 0 for want of one."""

    by_system: tuple[tuple[str, Cooled], ...] = ()
    """Systems whose racks have another PUE or WUE than the hall is designed for."""

    @property
    def other(self) -> Cooled:
        """Return what network and storage have: PUE and WUE of the hall as designed."""
        rates = (self.pue, self.peak_pue, self.wue_l_per_kwh)
        return Cooled(self.id, *rates, self.setting, self.water_by_season, self.pue_by_season)

    def cooled(self, system: str) -> Cooled:
        """Return PUE and WUE of the racks of a system, by its own air and liquid shares."""
        return next((own for name, own in self.by_system if name == system), self.other)


@dataclass(frozen=True)
class HallTerms:
    """A hall type: limits of one hall, number of halls, cost of a new hall.

    The limits of a hall with upgrades are the largest that it has at any time.
    """

    id: str
    site: str
    name: str
    count: int
    racks: int
    it_mw: float
    existing: bool
    available_from: int
    needs_blocks: bool
    coolings: tuple[CoolingTerms, ...]
    redundancy: str = "n+1"
    """Redundancy rule of the blocks before the racks."""
    rack_units: float = math.inf
    """Height of a rack; infinite if the height is no limit. [U]"""
    full_kw: float = 1.0
    """Rated power of the racks at which one hall of the type counts as full."""
    storage_kw: float = 0.0
    storage_racks: float = 0.0
    storage_usd: float = 0.0
    storage_blocks: tuple[tuple[str, float], ...] = ()
    """Storage tiers with their blocks, if the plan chooses them."""
    storage_tb: tuple[float, ...] = ()
    """Capacity on each of these tiers."""
    existing_units: Mapping[str, int] = field(default_factory=dict)
    """Halls of the type that assets use, by cooling; they are fitted before the plan begins."""
    existing_units_usd: Mapping[str, float] = field(default_factory=dict)
    """Cost of the assets' network by fabric option, paid before the plan begins."""
    existing_parts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Switches and transceivers of the assets' network, by fabric option."""
    lead: int = 0
    """Quarters from the order of a unit to its use."""
    fit_out_mw_per_quarter: float | None = None
    """IT power that can be fitted out in a quarter; None without a limit."""
    energized_mw: tuple[float, ...] = ()
    """IT power that the feeders of the hall carry, by quarter; empty without a limit."""
    upgrades: tuple[UpgradeTerms, ...] = ()
    """Retrofits that the plan may order, in their order; the hall then has one unit."""
    start: Capacity | None = None
    """Capacity before all upgrades; None without upgrades."""

    def capacity(self, done: int) -> Capacity:
        """Return the capacity after a number of upgrades, of a hall with upgrades.

        Raises
        ------
        ValueError
            If the hall has no upgrades.
        """
        if self.start is None:
            msg = f"{self.id} has no upgrades"
            raise ValueError(msg)
        return self.upgrades[done - 1].after if done else self.start

    def upgrade_for(self, cooling: str) -> int | None:
        """Return the number of the upgrade that adds a cooling option; None for one of before."""
        return next((i for i, x in enumerate(self.upgrades) if x.cooling == cooling), None)

    def opens(self, cooling: str) -> int:
        """Return the first quarter in which racks may stand under a cooling option."""
        added = self.upgrade_for(cooling)
        if added is None:
            return self.available_from
        return self.upgrades[added].first + self.upgrades[added].works

    def cooling(self, key: str) -> CoolingTerms:
        """Return the terms of one of the hall's cooling options."""
        return next(c for c in self.coolings if c.id == key)
