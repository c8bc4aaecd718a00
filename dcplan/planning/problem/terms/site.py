"""Limits and tariffs of sites, and halls with their cooling."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from dcplan.inputs.cooling import Setting
from dcplan.planning.problem.contracts import ContractTerms, HeatTerms, MatchedTerms
from dcplan.planning.problem.energy import OnsiteTerms, ResponseTerms, TrancheTerms


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
    land_tax_usd_per_quarter: float = 0.0
    """Property tax on the land of a site in use."""
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
    carbon_usd_per_t: tuple[float, ...] = ()
    """Price of operational carbon by quarter; empty without one."""
    water_usd_per_m3: tuple[float, ...] = ()
    """Price of site water by quarter; empty without one."""
    heat: HeatTerms | None = None
    """Sale of waste heat."""
    carbon_by_market: bool = False
    """Whether the price is for market-based carbon, else for location-based."""

    @property
    def market_g_per_kwh(self) -> float:
        """Return the market-based carbon of energy without certificates."""
        given = self.residual_g_per_kwh
        return self.grid_g_per_kwh if given is None else given


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
    heat_c: float | None = None
    """Temperature of the facility water that returns from liquid-cooled racks; None: no such loop."""
    water_known: bool = True
    """Whether the WUE is a value of the option, and not 0 for want of one."""


@dataclass(frozen=True)
class HallTerms:
    """A hall type: limits of one hall, number of halls, cost of a new hall."""

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

    def cooling(self, key: str) -> CoolingTerms:
        """Return the terms of one of the hall's cooling options."""
        return next(c for c in self.coolings if c.id == key)
