"""Storage of accelerators on tiers, and the tiers that a plan compared."""

from __future__ import annotations

from dataclasses import dataclass

ALL_DATA, HOT, COLD = "all", "hot", "cold"
"""Roles of a storage tier."""


@dataclass(frozen=True)
class StorageShare:
    """Storage of one accelerator on one tier, in fractions of a building block."""

    tier: str
    blocks: float
    usable_tb: float
    read_gb_per_s: float
    write_gb_per_s: float
    kw: float
    racks: float
    usd: float
    binds: str
    """Binding requirement: ``capacity``, ``read`` or ``write``."""
    role: str = ALL_DATA
    """Data on the tier: all, or its hot or cold part."""


@dataclass(frozen=True)
class StorageChoice:
    """A storage tier, or a hot and a cold one, with its cost for one accelerator."""

    hot: str
    cold: str | None
    """None: one tier carries all data."""
    usd: float
    kw: float
    cost_usd: float
    """Present cost: price less residual value, energy, power blocks and space."""
