"""Upgrades of an existing hall, and the capacity of the hall before and after each of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Capacity:
    """What a hall holds: rack positions, IT power, and heat of each path."""

    racks: int
    it_mw: float
    air_mw: float
    liquid_mw: float


@dataclass(frozen=True)
class UpgradeTerms:
    """A retrofit of an existing hall, which a plan orders once or not at all."""

    id: str
    after: Capacity
    usd: float
    first: int
    """First quarter in which its works may begin."""
    works: int
    """Quarters from the begin of the works to the capacity after them."""
    lead: int = 0
    """Quarters from the order to the begin of the works."""
    out_frac: float = 0.0
    """Share of the capacity before it that is out of service during its works."""
    cooling: str = ""
    """Cooling option that it adds; empty if it adds none."""
