"""Hardware that exists or is on order when the plan begins."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.provenance import Fraction, NonNegative, Positive, Quantity, Years
from dcplan.scenario.schema.base import Count, Key, Part, Quarter


def _change(quantity: Quantity) -> Quantity:
    if not all(-1 < x <= 10 for x in (quantity.value, *quantity.bounds)):
        code = "quantity_range"
        raise PydanticCustomError(
            code, "must be above -1 (-0.1 is 10 % less a year) and at most 10"
        )
    return quantity


YearlyChange = Annotated[Quantity, AfterValidator(_change)]
"""Growth a year as a fraction; below 0 it falls."""


class Existing(Part):
    """So many accelerators of a system in a hall."""

    id: Key
    """Name of this lot, used in keys and tables."""
    system: str
    """Catalog system."""
    accelerators: Annotated[int, Field(ge=1, le=10_000_000, strict=True)]
    """How many; whole racks are derived from it."""
    site: str | None = None
    """Where it stands; left out, the first site."""
    hall: str | None = None
    """Hall of that site; left out, its first."""
    cooling: str | None = None
    """One of the hall's; needed where it has several."""
    nodes_per_rack: Count | None = None
    """Overrides the number that power, space and weight allow."""
    price_usd: Positive | None = None
    """Of one unit when new; left out, the catalog's. Residual values are shares of it."""


class Asset(Existing):
    """In service before the plan begins: paid, ageing, to be sold when that pays."""

    in_service: Quarter
    """Quarter in which it was put in service; its age counts from there."""
    fabric: str | None = None
    """Family that connects it; needed where the scenario names several."""
    life_years: Years | None = None
    """Years of service from then on; left out, finance.hardware_life_years."""
    may_sell: bool = True
    """Whether the plan may sell it before its end of life, at the residual curve's value."""


class Delay(Part):
    """Days by which a delivery comes after its date."""

    p10: NonNegative = Quantity(value=0.0)
    """One delivery in ten is not later than this."""
    p50: NonNegative
    """Half of the deliveries are not later than this."""
    p90: NonNegative
    """Nine deliveries in ten are not later than this."""

    @model_validator(mode="after")
    def _ordered(self) -> Delay:
        if not self.p10.value <= self.p50.value <= self.p90.value:
            code = "slip"
            raise PydanticCustomError(code, "p10 <= p50 <= p90 does not hold")
        return self


class Order(Existing):
    """Placed before the plan begins: it arrives, late perhaps, or is cancelled for a fee."""

    placed: Quarter | None = None
    """Quarter of the order; for the record."""
    expected: Quarter
    """First quarter in service by the vendor's date."""
    slip_days: Delay | None = None
    """Left out, the catalog's delivery slip."""
    paid_frac: Fraction = Quantity(value=0.0)
    """Of the price, paid already; the rest is due when it arrives."""
    cancellation_fee_frac: Fraction | None = None
    """Of the price; what is paid counts towards it. Left out, the order stands."""
