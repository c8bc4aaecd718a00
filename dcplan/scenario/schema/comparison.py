"""Conventions of the comparison of a fleet: hours, lines of the bill, quotes and mixes of terms."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.market import Term
from dcplan.catalog.schema.ranges import (
    Fraction,
    HourPrice,
    MonthHours,
    NonNegative,
    Positive,
    Share,
)
from dcplan.scenario.schema.base import Key, Part

OWNED_LINES = (
    "racks",
    "network",
    "storage",
    "building",
    "cooling-and-fit-out",
    "power",
    "land",
    "energy",
    "demand-charge",
    "staff",
    "land-tax",
    "hardware-maintenance",
    "facility",
    "lease",
    "onsite-plants",
    "goodput-loss",
    "residual",
)
"""Cost lines of the owned side that a comparison may leave out."""
RENTED_LINES = (
    "accelerators",
    "spot-interruptions",
    "storage",
    "network-and-egress",
    "cpu-nodes",
    "support",
    "goodput-loss",
    "set-up",
    "debugging",
)
"""Cost lines of a rent that a comparison may leave out."""


class OwnLine(Part):
    """A cost of the owned side that dcplan does not compute, such as an operating cost per hour."""

    id: Key
    """Name of the line, used in keys, tables and `leave_out`."""
    usd: NonNegative | None = None
    """Amount paid once, in the first month."""
    usd_per_month: NonNegative | None = None
    """Amount paid every month."""
    usd_per_accelerator_hour: HourPrice | None = None
    """Amount per accelerator and hour, used or not, for the required accelerators."""
    units: Positive | None = None
    """Number of units, such as square feet of a building, of which each costs the amount. Default: 1."""
    share_frac: Fraction | None = None
    """Share of the amount that this line bears. Default: 1."""

    @model_validator(mode="after")
    def _amount(self) -> OwnLine:
        amounts = (self.usd, self.usd_per_month, self.usd_per_accelerator_hour)
        if all(x is None for x in amounts):
            code = "own_line"
            text = "a line needs one of usd, usd_per_month, usd_per_accelerator_hour"
            raise PydanticCustomError(code, text)
        return self


class Commitment(Part):
    """Payments of a commitment for one instance; they replace its hourly price."""

    term: Term
    """Commitment term: reserved-1y or reserved-3y."""
    upfront_usd: NonNegative | None = None
    """Amount paid for one instance at the start of each term. Default: none."""
    usd_per_month: NonNegative | None = None
    """Amount paid for one instance every month of the term. Default: none."""

    @model_validator(mode="after")
    def _paid(self) -> Commitment:
        given = [x.value for x in (self.upfront_usd, self.usd_per_month) if x is not None]
        if not any(given):
            code = "commitment"
            text = "a commitment needs upfront_usd or usd_per_month above 0"
            raise PydanticCustomError(code, text)
        return self


class RentQuote(Part):
    """Lines of the bill of one offer, instead of the catalog's costs that accompany a rent."""

    id: str
    """Catalog cloud offer, one of `cloud.offers`."""
    storage_usd_per_month: NonNegative | None = None
    """Storage of the fleet. Default: the stored data at the provider's price."""
    network_usd_per_month: NonNegative | None = None
    """Network and egress of the fleet. Default:
    `finance/cloud-network-usd-per-accelerator-month`, and egress at the provider's price."""
    cpu_nodes_usd_per_month: NonNegative | None = None
    """CPU nodes of the fleet. Default: `finance/cloud-cpu-usd-per-accelerator-month`."""
    support_frac: Fraction | None = None
    """Support, as a share of accelerators, storage, network and CPU nodes. Default: the provider's
    share."""
    goodput_loss_frac: Fraction | None = None
    """Share of the rent without progress. Default: `finance/goodput-loss-frac-of-cloud`."""
    set_up_usd: NonNegative | None = None
    """Set-up of the fleet, paid once. Default: `finance/cloud-setup-usd-per-accelerator`."""
    debugging_usd_per_month: NonNegative | None = None
    """Debugging of the fleet. Default: `finance/cloud-debugging-usd-per-month`."""
    commitments: tuple[Commitment, ...] = ()
    """Payments of commitments that are paid upfront, in part or in full."""


class Mix(Part):
    """A mix of terms of one offer: commitments for shares of the fleet, the rest on demand."""

    id: Key
    """Name of the mix, shown as a term of each offer that has all its prices."""
    shares: Annotated[dict[Term, Share], Field(min_length=1)]
    """Commitment term -> share of the fleet's accelerators, above 0. The sum is at most 1; the rest is
    on demand, paid for used hours."""


class Comparison(Part):
    """Conventions of a comparison; only `tco` with a fleet uses them, other verbs refuse them."""

    hours_per_month: MonthHours | None = None
    """Hours in a month, such as 720 or 730. Default: 730.5, the calendar's average."""
    accelerator_hours: Positive | None = None
    """Accelerator-hours of work over the horizon, instead of `fleet.utilization_frac`."""
    average_accelerator_kw: NonNegative | None = None
    """Average IT power of the fleet's site per accelerator at work, with its share of hosts, network and
    storage; hours without work take none. Default: computed from rated power and utilization."""
    leave_out: tuple[str, ...] = ()
    """Cost lines that do not count, such as staff, owned.storage or rented.set-up; a name without a
    side counts for both. Taxes, debt and payment milestones follow from the lines that are left."""
    only: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Cost lines that count; all others are left out. Excludes `leave_out`. Default: all lines."""
    lines: tuple[OwnLine, ...] = ()
    """Your own cost lines of the owned side."""
    rents: tuple[RentQuote, ...] = ()
    """Your own lines of the bill, by offer."""
    mixes: tuple[Mix, ...] = ()
    """Mixes of terms, compared as terms of their own."""
