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
    term: Term
    usd_per_h: Positive
    as_of: AsOf
    source: Source
    status: Status | None = None


class Offer(Row):
    """A rentable instance; ``kind`` tells what may serve a plan (only whole listed nodes do)."""

    provider: str
    accelerator: str
    accelerators: int = Field(ge=1)
    scaleout_gbps: Positive | None = None
    """Network of one instance, one-way, all NICs."""
    protocol: str | None = None
    kind: Literal["node", "partial", "marketplace", "average", "index"] = "node"
    prices: tuple[CloudPrice, ...] = ()


class Region(Row):
    """Where a provider's region lies, so that the nearest one to a site can be named."""

    provider: str
    region: str
    country: str
    """Two letters."""
    lat: float = Field(ge=-90, le=90)
    lon: float = Field(ge=-180, le=180)


class Curve(Row):
    """A residual curve: share of the purchase price left at whole years of age, 0 first."""

    value_frac: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field(min_length=2)


class DepreciationTable(Row):
    """Share of the basis deducted in each tax year; sums to 1."""

    share_frac: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field(min_length=1)
