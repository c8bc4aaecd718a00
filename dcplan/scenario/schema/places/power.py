"""Power blocks of sites and halls."""

from __future__ import annotations

from typing import Literal

from dcplan.catalog.schema.ranges import Positive
from dcplan.scenario.schema.base import CountOrZero, Part

Redundancy = Literal["n", "n+1", "2n", "4n/3", "3n/2"]
Ups = Literal["double-conversion", "eco", "rack", "none"]


class Power(Part):
    """Backup power: blocks of UPS and generators with a redundancy rule; only new halls pay for
    them.
    """

    redundancy: Redundancy | None = None
    """Redundancy rule of the blocks; with n+1 any one block may fail, with n none. The PUE of the site's
    halls has the losses of these blocks. Default: n+1."""
    block_mw: Positive | None = None
    """Load that one block carries. Default: `power/block-mw-default`."""
    usd_per_kw: Positive | None = None
    """Price of one kW of installed blocks. Default: `power/power-blocks-usd-per-kw`."""
    ups: Ups | None = None
    """UPS before the racks of the site's halls, whose losses their PUE has: double-conversion; eco, which
    bypasses its converters; rack, batteries in racks or servers; or none. The price of blocks stays
    the same. Default: double-conversion."""
    lead_quarters: CountOrZero | None = None
    """Lead time of blocks, from order to service; no new hall has power earlier. Default: no lead
    time."""


class HallPower(Part):
    """Power chain of one existing or leased hall, where it differs from that of its site. It changes
    the PUE of the hall and the failures of its power, not what a plan pays.
    """

    redundancy: Redundancy | None = None
    """Redundancy rule of the hall's blocks. Default: that of the site."""
    ups: Ups | None = None
    """UPS before the racks of the hall. Default: that of the site."""
    block_mw: Positive | None = None
    """Load that one block of the hall carries. Default: that of the site."""
