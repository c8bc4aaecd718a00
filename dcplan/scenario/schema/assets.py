"""Hardware that is in service or on order when the plan begins, and leases of new hardware."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.ranges import Fraction, NonNegative, Positive, Years
from dcplan.provenance import Quantity
from dcplan.scenario.schema.base import Count, Key, Part, Quarter
from dcplan.units import MONTHS_PER_QUARTER


def _change(quantity: Quantity) -> Quantity:
    if not all(-1 < x <= 10 for x in (quantity.value, *quantity.bounds)):
        code = "quantity_range"
        raise PydanticCustomError(
            code, "must be above -1 (-0.1 is 10% less per year) and at most 10"
        )
    return quantity


YearlyChange = Annotated[Quantity, AfterValidator(_change)]
"""Growth per year as a fraction; a negative value is a decline."""


class Existing(Part):
    """A number of accelerators of one system in one hall."""

    id: Key
    """Name of this lot, used in keys and tables."""
    system: str
    """Catalog system."""
    accelerators: Annotated[int, Field(ge=1, le=10_000_000, strict=True)]
    """Number of accelerators; the number of racks is derived from it."""
    site: str | None = None
    """Site of the hardware. Default: the first site."""
    hall: str | None = None
    """Hall of that site. Default: its first hall."""
    cooling: str | None = None
    """Cooling option of the hall; required if the hall has several."""
    nodes_per_rack: Count | None = None
    """Nodes in one rack. Default: the number that power, space and weight allow."""
    price_usd: Positive | None = None
    """Price of one unit when new; residual values are shares of it. Default: the catalog price."""


class Asset(Existing):
    """Hardware in service before the plan begins: it is paid, it ages, and with `may_sell` the plan
    may sell it.
    """

    in_service: Quarter
    """Quarter in which it entered service; its age counts from then."""
    fabric: str | None = None
    """Fabric family that connects it; required if the scenario names several."""
    life_years: Years | None = None
    """Service life in years from that quarter. Default: finance.hardware_life_years."""
    may_sell: bool = False
    """Whether the plan may sell it before its end of life, at its residual value. Default: no."""


class HardwareLease(Part):
    """An offer to lease racks that the plan orders, in place of buying them. It is an operating lease:
    payments are level, by month of service, and the racks go back at the end of the term. `plan` chooses
    for each order how many racks it leases.
    """

    id: Key
    """Name of the offer, used in keys and tables."""
    systems: tuple[str, ...] = ()
    """Catalog systems that may be leased. Default: all systems that the plan may order."""
    term_months: Annotated[int, Field(ge=3, le=240, strict=True)]
    """Months from the first month of service to the return; a multiple of 3."""
    payment_frac_per_month: Positive | None = None
    """Payment of a month, as a share of the price of the rack at its order, with the taxes that the
    lessor passes on. Give it, or `rate` with `residual_frac`."""
    rate: Fraction | None = None
    """Annual rate of the lessor, from which the payment follows; needs `residual_frac`. Payments are at
    the end of each month."""
    residual_frac: Fraction | None = None
    """Share of the price that the lessor expects for the racks at the end of the term; needs `rate`."""

    @model_validator(mode="after")
    def _one_payment(self) -> HardwareLease:
        code = "lease"
        given = self.payment_frac_per_month is not None
        if given in (self.rate is not None, self.residual_frac is not None):
            text = "give payment_frac_per_month, or rate and residual_frac"
            raise PydanticCustomError(code, text)
        if self.term_months % MONTHS_PER_QUARTER:
            text = "term_months must be a multiple of 3, because a plan counts in quarters"
            raise PydanticCustomError(code, text)
        return self


class Delay(Part):
    """Delivery delay in days after the agreed date."""

    p10: NonNegative = Quantity(value=0.0)
    """Delay that 10% of the deliveries do not exceed."""
    p50: NonNegative
    """Delay that 50% of the deliveries do not exceed."""
    p90: NonNegative
    """Delay that 90% of the deliveries do not exceed."""

    @model_validator(mode="after")
    def _ordered(self) -> Delay:
        if not self.p10.value <= self.p50.value <= self.p90.value:
            code = "slip"
            raise PydanticCustomError(code, "must satisfy p10 <= p50 <= p90")
        return self


class Order(Existing):
    """Hardware ordered before the plan begins: it arrives, possibly late, or is cancelled for a
    fee.
    """

    placed: Quarter | None = None
    """Quarter of the order; for information only."""
    expected: Quarter
    """First quarter in service according to the vendor's date."""
    slip_days: Delay | None = None
    """Delivery delay. Default: the catalog's delivery delay."""
    paid_frac: Fraction = Quantity(value=0.0)
    """Share of the price that is already paid; the rest is due on arrival. The balance sheet has it as
    prepaid until then."""
    cancellation_fee_frac: Fraction | None = None
    """Cancellation fee as a share of the price; payments made count towards it. Default: the order
    cannot be cancelled."""
