"""Terms of rented instances, and what an offer costs and allows on each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from dcplan.inputs.cloud_prices.accompanying import RentExtras
from dcplan.units import HOURS_PER_MONTH

ON_DEMAND: Final = "on-demand"
LENGTHS = {"reserved-1y": 4, "reserved-3y": 12}
"""Duration of each commitment term. [quarters]."""
SPOT: Final = "spot"
BLOCK: Final = "capacity-block"
APART = (SPOT, BLOCK)
"""Terms without a commitment whose use has conditions of its own: in a plan, each is an offer of
its own."""
HOURLY = (ON_DEMAND, *APART)
"""Terms that are paid by the hour of use."""


@dataclass(frozen=True)
class CommitTerms:
    """A commitment term for rented nodes, which are paid whether used or not."""

    term: str
    quarters: int
    usd_per_accelerator_hour: tuple[float, ...]
    """Price by the quarter in which the commitment begins."""


@dataclass(frozen=True)
class OfferTerms:
    """A cloud offer with its latest on-demand price in the nearest region."""

    id: str
    accelerator: str
    usd_per_accelerator_hour: tuple[float, ...]
    max_accelerators: int
    region: str
    note: str
    node_accelerators: int = 8
    kg_per_accelerator_hour: float | None = None
    """Operational carbon, with the cloud's PUE and the nearest known grid; None if the power is
    unknown."""
    committed: tuple[CommitTerms, ...] = ()
    on_demand: bool = True
    """Whether use by the hour beyond the commitments is possible."""
    apart_usd_per_hour: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Hourly prices by quarter of spot and capacity blocks, for `tco`; `plan` has them as offers of
    their own. [USD]"""
    apart_regions: Mapping[str, str] = field(default_factory=dict)
    """Regions of these prices, by term."""
    term: str = ON_DEMAND
    """Term of the use by the hour."""
    gb_per_s: float = 0.0
    """One-way scale-out rate of one accelerator; 0 if unknown: jobs then stay in one instance, or
    in the scale-up domain that connects instances."""
    most_per_job: int | None = None
    """Maximum accelerators of one job, if no network connects more."""
    reclaims_per_instance_h: float = 0.0
    """Rate at which the provider reclaims an instance."""
    wait_h: float = 0.0
    """Mean time until capacity is back after a reclaim."""
    longest_days: float | None = None
    """Longest use without a break; None if there is no limit."""
    extras: RentExtras = field(default_factory=RentExtras)
    """Costs that accompany the rent in a plan."""

    def connects(self, accelerators: int) -> bool:
        """Return whether one job may use that many accelerators."""
        return self.most_per_job is None or accelerators <= self.most_per_job

    def usd_per_used_hour(self, t: int) -> float:
        """Return the cost of an accelerator-hour by use from a quarter: price, extras, support."""
        return self.extras.usd_per_hour(self.usd_per_accelerator_hour[t], HOURS_PER_MONTH)

    def usd_per_covered_hour(self, t: int) -> float:
        """Return what a commitment saves on an accelerator-hour by use: price and support."""
        return self.usd_per_accelerator_hour[t] * (1.0 + self.extras.support_frac)

    @property
    def planned_terms(self) -> tuple[str, ...]:
        """Terms with a price that `plan` may choose."""
        return (*([self.term] if self.on_demand else []), *(c.term for c in self.committed))
