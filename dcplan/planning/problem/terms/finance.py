"""Discount rate, budget, residual values and debt."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.economics.cash_flow import AssetClass
from dcplan.economics.discounting import discount_factor
from dcplan.economics.monthly.financing import Financing
from dcplan.units import MONTHS_PER_QUARTER, QUARTERS_PER_YEAR


@dataclass(frozen=True)
class LeaseTerms:
    """An offer to lease racks; they go back at the end of the term."""

    id: str
    systems: frozenset[str]
    """Systems that may be leased; empty for all."""
    quarters: int
    """Term, from the first quarter in service."""
    usd_frac_per_month: float
    """Payment of a month as a share of the price at the order. [1/month]"""

    def covers(self, system: str) -> bool:
        """Return whether racks of a system may be leased."""
        return not self.systems or system in self.systems

    def usd_per_quarter(self, price_usd: float) -> float:
        """Return the payments of a quarter for a rack of a price. [USD]."""
        return MONTHS_PER_QUARTER * self.usd_frac_per_month * price_usd

    def least_frac(self, rate_per_year: float, lead: int) -> float:
        """Return a lower bound on the present value of all payments at the order, over the price."""
        last = discount_factor(rate_per_year, (lead + self.quarters) / QUARTERS_PER_YEAR)
        return self.quarters * self.usd_per_quarter(1.0) * last


@dataclass(frozen=True)
class FinanceTerms:
    """Discount rate, budget, residual values."""

    discount_rate: float
    life_quarters: int
    budget_total_usd: float | None
    budget_usd: tuple[float, ...] | None
    hardware_residual_frac: tuple[float, ...]
    """Share of the price left at the end of the horizon, by order quarter."""
    building_residual_frac: tuple[float, ...]
    power_residual_frac: tuple[float, ...]
    cooling_residual_frac: tuple[float, ...]
    price_level: tuple[float, ...] = ()
    """Running costs of each quarter over those of today; empty without inflation."""
    empty_hall_frac: float = 1.0
    """Share of its book value that a hall unit without racks keeps."""
    debt_share_frac: float = 0.0
    """Share of capital spending that lenders pay in the same quarter."""
    debt_service_frac: tuple[float, ...] = ()
    """Debt service as a share of the loan, 0, 1, 2 … quarters later, with interest."""
    plant_life_months: tuple[tuple[AssetClass, int], ...] = ()
    """Life of building, cooling and power; other assets have the life of hardware."""

    financing: Financing | None = None
    """Taxes, payment terms and debt; None if the scenario has none of them."""
    leases: tuple[LeaseTerms, ...] = ()
    """Offers to lease racks in place of a purchase."""

    def level(self, t: int) -> float:
        """Return the running costs of a quarter over those of today."""
        return self.price_level[t] if self.price_level else 1.0

    def life_months(self, asset: AssetClass) -> int:
        """Return the months over which an asset is written off."""
        return dict(self.plant_life_months).get(asset, self.life_quarters * MONTHS_PER_QUARTER)
