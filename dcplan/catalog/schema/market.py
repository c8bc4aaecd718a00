"""Cloud offers and the parameters of money."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dcplan.catalog.schema.base import Row, Source
from dcplan.provenance import AsOf, Positive, Status

TERMS = ("on-demand", "reserved-1y", "reserved-3y", "spot", "capacity-block")
Term = Literal["on-demand", "reserved-1y", "reserved-3y", "spot", "capacity-block"]


class CloudPrice(BaseModel):
    """One dated price of one whole instance in one region."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    region: str
    """Provider's region."""
    term: Term
    """On demand or a commitment."""
    usd_per_h: Positive
    """Of the whole instance."""
    as_of: AsOf
    """Date of the price."""
    source: Source
    """Where it was read."""
    status: Status | None = None
    """estimate where it is not a listed price."""


class Offer(Row):
    """A rentable instance; ``kind`` tells what may serve a plan (only whole listed nodes do)."""

    provider: str
    """Who rents it out."""
    accelerator: str
    """Row of accelerators."""
    accelerators: int = Field(ge=1)
    """Of one instance."""
    scaleout_gbps: Positive | None = None
    """Network of one instance, one-way, all NICs."""
    protocol: str | None = None
    """Of its scale-out network."""
    kind: Literal["node", "partial", "marketplace", "average", "index"] = "node"
    """node: a whole listed instance; the others are never rented by a plan."""
    prices: tuple[CloudPrice, ...] = ()
    """Dated prices by region and term."""


class Region(Row):
    """Where a provider's region lies, so that the nearest one to a site can be named."""

    provider: str
    """Whose region."""
    region: str
    """The provider's name of it."""
    country: str
    """Two letters."""
    lat: float = Field(ge=-90, le=90)
    """Latitude. [degrees]"""
    lon: float = Field(ge=-180, le=180)
    """Longitude. [degrees]"""


class Curve(Row):
    """A residual curve: share of the purchase price left at whole years of age, 0 first."""

    value_frac: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field(min_length=2)
    """Share of the price at age 0, 1, 2 … years."""


class DepreciationTable(Row):
    """Share of the basis deducted in each tax year; sums to 1."""

    share_frac: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field(min_length=1)
    """Of tax year 1, 2, 3 …"""
