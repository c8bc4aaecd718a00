"""Choice of storage tiers: one, or a hot and a cold one, at the lowest present cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dcplan.economics.discounting import discount_factor
from dcplan.planning.problem.terms import (
    ALL_DATA,
    COLD,
    HOT,
    CoolingTerms,
    FinanceTerms,
    HallTerms,
    SiteTerms,
    StorageChoice,
    StorageShare,
)
from dcplan.reliability.storage import Block
from dcplan.units import (
    GIGA,
    HOURS_PER_QUARTER,
    KW_PER_MW,
    MONTHS_PER_QUARTER,
    QUARTERS_PER_YEAR,
    SECONDS_PER_DAY,
    TERA,
    quarter_index,
)


@dataclass(frozen=True)
class TierNeed:
    """Requirements of the storage of one accelerator."""

    usable_tb: float
    hot_frac: float
    """Share of the capacity that needs the rates."""
    read_gb_per_s: float
    write_gb_per_s: float
    cold_days: float
    """Longest time to read, or to write, all cold data once."""


@dataclass(frozen=True)
class Upkeep:
    """Cost of storage at one hall under one cooling, in addition to its price."""

    usd_per_kw: float
    """Present cost of energy and power blocks."""
    unit_usd: float
    """Present cost of one hall unit: building, fit-out and lease, less residual values."""
    unit_kw: float
    unit_racks: float

    def usd(self, kw: float, racks: float) -> float:
        """Return the present cost of a storage; its part of the unit is by power or by positions."""
        part = max(kw / self.unit_kw, racks / self.unit_racks)
        return kw * self.usd_per_kw + self.unit_usd * part


@dataclass(frozen=True)
class TierPrices:
    """Terms that turn a storage into its present cost."""

    price_frac: float
    """Present cost of one USD of price, less its residual value."""
    upkeep: tuple[Upkeep, ...]
    """Every hall and cooling; their mean counts, because the plan has not chosen yet."""

    def cost_usd(self, usd: float, kw: float, racks: float) -> float:
        """Return the present cost of a storage bought in the first quarter."""
        return usd * self.price_frac + sum(x.usd(kw, racks) for x in self.upkeep) / max(
            len(self.upkeep), 1
        )


def hot_share(tier: str, block: Block, need: TierNeed, tb: float, role: str) -> StorageShare:
    """Return the blocks that hold a capacity and carry both rates."""
    parts = {
        "capacity": tb / block.usable_tb,
        "read": need.read_gb_per_s / block.read_gb_per_s,
        "write": need.write_gb_per_s / block.write_gb_per_s,
    }
    return share_of(tier, block, parts, role)


def cold_share(tier: str, block: Block, need: TierNeed, tb: float) -> StorageShare:
    """Return the blocks that hold the cold data and copy them once in the given days."""
    rate = tb * TERA / (need.cold_days * SECONDS_PER_DAY) / GIGA
    parts = {
        "capacity": tb / block.usable_tb,
        "read": rate / block.read_gb_per_s,
        "write": rate / block.write_gb_per_s,
    }
    return share_of(tier, block, parts, COLD)


def share_of(tier: str, block: Block, parts: Mapping[str, float], role: str) -> StorageShare:
    """Return the storage of one accelerator: the largest of the required blocks."""
    binds = max(parts, key=lambda name: parts[name])
    n = parts[binds]
    return StorageShare(
        tier,
        n,
        n * block.usable_tb,
        n * block.read_gb_per_s,
        n * block.write_gb_per_s,
        n * block.kw,
        n * block.rack_units / block.rack_height_units,
        n * block.price_usd,
        binds,
        role,
    )


def candidates(blocks: Mapping[str, Block], need: TierNeed) -> list[tuple[StorageShare, ...]]:
    """Return every tier alone, and every pair whose hot tier leaves data for the cold tier."""
    found: list[tuple[StorageShare, ...]] = []
    for hot, block in blocks.items():
        found.append((hot_share(hot, block, need, need.usable_tb, ALL_DATA),))
        first = hot_share(hot, block, need, need.usable_tb * need.hot_frac, HOT)
        rest = need.usable_tb - first.usable_tb
        if rest <= 0:
            continue
        found += [
            (first, cold_share(cold, other, need, rest))
            for cold, other in blocks.items()
            if cold != hot
        ]
    return found


def cheapest(
    blocks: Mapping[str, Block], need: TierNeed, prices: TierPrices
) -> tuple[tuple[StorageShare, ...], tuple[StorageChoice, ...]]:
    """Return the shares of the cheapest tier or pair, and all choices by cost."""
    rated = []
    for shares in candidates(blocks, need):
        usd, kw, racks = (sum(getattr(s, x) for s in shares) for x in ("usd", "kw", "racks"))
        cold = shares[1].tier if len(shares) > 1 else None
        cost = prices.cost_usd(usd, kw, racks)
        rated.append((StorageChoice(shares[0].tier, cold, usd, kw, cost), shares))
    rated.sort(key=lambda pair: (pair[0].cost_usd, pair[0].hot, pair[0].cold or ""))
    return rated[0][1], tuple(choice for choice, _ in rated)


def tier_prices(
    halls: Mapping[str, HallTerms],
    sites: Mapping[str, SiteTerms],
    finance: FinanceTerms,
    start: str,
) -> TierPrices:
    """Return the cost terms of storage in the first quarter, at the halls of a plan."""
    quarters = len(finance.hardware_residual_frac)
    end = discount_factor(finance.discount_rate, quarters / QUARTERS_PER_YEAR)
    upkeep = tuple(
        _upkeep(hall, cooling, sites[hall.site], finance, end, quarter_index(start))
        for hall in halls.values()
        for cooling in hall.coolings
    )
    return TierPrices(1.0 - end * finance.hardware_residual_frac[0], upkeep)


def _upkeep(
    hall: HallTerms,
    cooling: CoolingTerms,
    site: SiteTerms,
    finance: FinanceTerms,
    end: float,
    first: int,
) -> Upkeep:
    """Return the cost terms of one hall under one cooling, as the plan prices them."""
    energy = lease = 0.0
    for t, usd_per_kwh in enumerate(site.usd_per_kwh):
        now = discount_factor(finance.discount_rate, (t + 0.5) / QUARTERS_PER_YEAR)
        demand = site.demand_usd_per_kw_month * MONTHS_PER_QUARTER * cooling.peak_pue
        pue = cooling.other.pue_at((first + t) % QUARTERS_PER_YEAR)
        energy += now * (HOURS_PER_QUARTER * pue * usd_per_kwh + demand)
        if site.lease_usd_per_kw_month:
            lease += now * site.lease_usd_per_kw_month[t] * MONTHS_PER_QUARTER
    block = site.block_usd / (site.block_mw * KW_PER_MW) if hall.needs_blocks else 0.0
    kept = {
        "block": 1.0 - end * finance.power_residual_frac[0],
        "building": 1.0 - end * finance.building_residual_frac[0],
        "cooling": 1.0 - end * finance.cooling_residual_frac[0],
    }
    unit_kw = hall.it_mw * KW_PER_MW
    unit = cooling.building_usd * kept["building"] + cooling.fit_out_usd * kept["cooling"]
    return Upkeep(
        usd_per_kw=energy + block * cooling.peak_pue * kept["block"],
        unit_usd=unit + lease * unit_kw,
        unit_kw=unit_kw,
        unit_racks=float(hall.racks),
    )
