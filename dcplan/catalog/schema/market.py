"""Cloud offers and financial parameters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dcplan.catalog.schema.base import Row, Source, Strict
from dcplan.catalog.schema.ranges import Positive
from dcplan.provenance import AsOf, Status

TERMS = ("on-demand", "reserved-1y", "reserved-3y", "spot", "capacity-block")
COMMITTED = ("reserved-1y", "reserved-3y")
"""Terms that are paid for all hours, used or not."""
Term = Literal["on-demand", "reserved-1y", "reserved-3y", "spot", "capacity-block"]


class CloudPrice(Strict):
    """One dated price of one complete instance in one region."""

    region: str
    """Region of the provider."""
    term: Term
    """Price term: on demand or a commitment."""
    usd_per_h: Positive
    """Price of the complete instance."""
    as_of: AsOf
    """Date of the price."""
    source: Source
    """Source of the price."""
    status: Status | None = None
    """Status; `estimate` if it is not a listed price."""


class Offer(Row):
    """A rentable instance; only those of ``kind`` node may serve a plan."""

    provider: str
    """Cloud provider."""
    accelerator: str
    """Row of the catalog kind accelerators."""
    accelerators: int = Field(ge=1)
    """Number of accelerators in one instance."""
    scaleout_gbps: Positive | None = None
    """Network rate of one instance, one way, all NICs together."""
    protocol: str | None = None
    """Protocol of its scale-out network."""
    kind: Literal["node", "partial", "marketplace", "average", "index"] = "node"
    """Kind of instance; `node` is a complete instance, and a plan rents no other kind."""
    transacted: bool = False
    """Whether an index counts concluded contracts or traded hours; False: it counts list prices."""
    prices: tuple[CloudPrice, ...] = ()
    """Dated prices by region and term."""


class Region(Row):
    """Location of a provider's region, used to find the region nearest to a site."""

    provider: str
    """Cloud provider."""
    region: str
    """Name of the region at the provider."""
    country: str
    """Country code of two letters."""
    lat: float = Field(ge=-90, le=90)
    """Latitude. [degrees]"""
    lon: float = Field(ge=-180, le=180)
    """Longitude. [degrees]"""


class Curve(Row):
    """A residual value curve: share of the purchase price left after each full year, from year 0."""

    value_frac: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field(min_length=2)
    """Share of the price at age 0, 1, 2 … years."""


class DepreciationTable(Row):
    """Share of the basis deducted in each tax year; the sum is 1."""

    share_frac: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field(min_length=1)
    """Share deducted in tax year 1, 2, 3 …"""
