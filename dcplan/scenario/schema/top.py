"""The scenario: the root of the file and its general parts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.ranges import Fraction, Positive, Series, Years
from dcplan.provenance import CURRENCY, Path, Quantity
from dcplan.scenario.schema.assets import Asset, HardwareLease, Order, YearlyChange
from dcplan.scenario.schema.base import AllOrIds, Count, Key, Part, Quarter
from dcplan.scenario.schema.comparison import Comparison
from dcplan.scenario.schema.expectation import Expectation
from dcplan.scenario.schema.places.links import Link
from dcplan.scenario.schema.places.site import Site
from dcplan.scenario.schema.reliability import Reliability
from dcplan.scenario.schema.uncertainty import Uncertainty
from dcplan.scenario.schema.work import (
    Cloud,
    Fleet,
    GivenFabric,
    PartsPerQuarter,
    Storage,
    Supply,
    Workloads,
)


class Horizon(Part):
    """First quarter and number of quarters."""

    start: Quarter
    """First quarter, such as 2027-Q1."""
    quarters: Annotated[int, Field(ge=1, le=80, strict=True)]
    """Number of planned quarters."""


Months = Annotated[int, Field(ge=0, le=120, strict=True)]


class Tax(Part):
    """Taxes. They count in the cost after taxes and in `tco`. `sites.ID.tax` has the rates of one site."""

    income_rate: Fraction | None = None
    """Marginal rate of income tax. Default: no income tax."""
    depreciation: str | None = None
    """Row of the catalog kind depreciation, such as macrs-5. It needs `income_rate`. Default:
    straight-line-5."""
    sales_tax_frac: Fraction | None = None
    """Sales tax on racks, storage and networks, paid at purchase. Default: none."""
    property_tax_frac_per_year: Fraction | None = None
    """Property tax on the book value of racks, storage and networks that are bought. Hardware in
    service before the plan bears none; hardware on order bears it from its arrival on. Default:
    none."""
    building_property_tax_frac_per_year: Fraction | None = None
    """Property tax on the book value of buildings that are bought. Default: none."""
    cooling_property_tax_frac_per_year: Fraction | None = None
    """Property tax on the book value of cooling and fit-out that are bought. Default: none."""
    power_property_tax_frac_per_year: Fraction | None = None
    """Property tax on the book value of power blocks and plants on site that are bought. Default:
    none."""
    land_property_tax_frac_per_year: Fraction | None = None
    """Property tax on `sites.ID.land_usd`, or on the price of `sites.ID.land`, a running cost of each
    quarter in which the site is used. Default: none."""


class Debt(Part):
    """Debt: the share of capital cost that is borrowed."""

    share: Fraction
    """Share of capital cost that is borrowed."""
    rate: Fraction
    """Annual interest rate."""
    term_years: Positive
    """Loan term in years, with level payments."""


class Payment(Part):
    """Payment terms of equipment; the rest is due on delivery, in the first month of service. They
    count in the cost after taxes, in `tco` and in the purchase schedule of `plan`; budgets count the
    price with the order.
    """

    deposit_frac: Fraction = Quantity(value=0.0)
    """Share of the price paid before delivery."""
    deposit_months_before: Months = 0
    """Months from the deposit to the first month of service."""
    acceptance_frac: Fraction = Quantity(value=0.0)
    """Share of the price paid after delivery."""
    acceptance_months_after: Months = 0
    """Months from the first month of service to that payment."""

    @model_validator(mode="after")
    def _whole(self) -> Payment:
        for name in ("deposit", "acceptance"):
            when = "months_before" if name == "deposit" else "months_after"
            if (
                f"{name}_{when}" in self.model_fields_set
                and not getattr(self, f"{name}_frac").value
            ):
                code, text = "payment", f"{name}_{when} has no effect without {name}_frac above 0"
                raise PydanticCustomError(code, text)
            if getattr(self, f"{name}_frac").value and not getattr(self, f"{name}_{when}"):
                code, text = (
                    "payment",
                    f"{name}_frac needs {name}_{when} of at least 1; otherwise it is paid on delivery",
                )
                raise PydanticCustomError(code, text)
        if self.deposit_frac.value + self.acceptance_frac.value > 1.0:
            code = "payment"
            raise PydanticCustomError(code, "deposit_frac plus acceptance_frac is more than 1")
        return self


NOTHING_LEFT = "none"
"""Residual value of hardware that is worth nothing from its order on."""


def _residual(data: Any) -> Any:
    """Return a curve or a share; 0 means worth nothing, not a straight line to 0."""
    given = data.get("value") if isinstance(data, dict) else getattr(data, "value", data)
    if isinstance(given, int | float) and not isinstance(given, bool):
        if given == 0:
            return NOTHING_LEFT
        if not 0 < given <= 1:
            code = "residual"
            message = "must be none, low, mid, high or a fraction between 0 and 1, got {got}"
            raise PydanticCustomError(code, message, {"got": f"{given:g}"})
    if data in (NOTHING_LEFT, "low", "mid", "high") or isinstance(
        data, int | float | dict | Quantity
    ):
        return data
    code = "residual"
    message = "expected none, low, mid, high or a fraction at the end of life, got {got}"
    raise PydanticCustomError(code, message, {"got": repr(data)[:60]})


Residual = Annotated[Literal["none", "low", "mid", "high"] | Fraction, BeforeValidator(_residual)]


class Finance(Part):
    """Finance: discount rate, budget and service lives. Defaults come from ``catalogs/finance``."""

    discount_rate: Fraction | None = None
    """Nominal discount rate per year. Default: `finance/discount-rate`."""
    budget_usd: Series | None = None
    """Limit on cash out, over the horizon (one number) or by quarter (a list; the unspent rest
    carries over)."""
    hardware_life_years: Years | None = None
    """Service life of accelerator systems and networks. Default: `finance/hardware-life-years`."""
    hardware_price_change_frac_per_year: YearlyChange | None = None
    """Annual change of system prices, from the start of the horizon on."""
    inflation_frac_per_year: YearlyChange | None = None
    """Annual rise of running costs from the start of the horizon on: energy prices that
    are not given by quarter, demand charge, staff, maintenance, facility and plants on site.
    Hardware, cloud and lease have changes of their own. Default: 0."""
    residual: Residual | None = None
    """Residual value of hardware: a market curve of used hardware (low, mid, high), the share of the
    price left at the end of life (a straight line from the price), or none. 0 means none: worth
    nothing from its order on. Buildings, power and cooling keep their book value. Default: mid."""
    empty_hall_residual_frac: Fraction | None = None
    """Share of its book value that a hall without work keeps at the end; a full hall keeps all, a
    hall in part use its part. Default: `finance/empty-hall-residual-frac`."""
    tax: Tax = Tax()
    """Taxes, which count in the cost after taxes and in `tco`."""
    debt: Debt | None = None
    """Debt; its proceeds and debt service count in budgets, in the cost after taxes and in `tco`."""
    payment: Payment | None = None
    """Deposits and acceptance payments of equipment."""
    leases: tuple[HardwareLease, ...] = ()
    """Offers to lease racks, which `plan` may take in place of a purchase. Default: none."""


class Sensitivity(Part):
    """Inputs that ``tco`` varies, and the number of samples."""

    inputs: tuple[str, ...] | None = None
    """Keys of inputs as `dcplan check -v` lists them; each needs bounds, here or in the catalog.
    `tco` adds the discount rate, the residual value, the utilization and the MFU of the reference
    job; an empty list leaves out the tornados."""
    samples: Count | None = None
    """Number of Monte Carlo samples. Default: 10,000."""
    seed: int | None = None
    """Seed of the random samples. Default: 1."""


class Scenario(Part):
    """Root of a scenario file."""

    dcplan: Literal[1]
    """Version of this format: 1."""
    name: Key
    """Name of the scenario, shown in every answer."""
    description: str | None = None
    """Free text."""
    extends: str | None = None
    """Path of a scenario that this one changes; mappings merge, lists with ids merge by id."""
    catalogs: tuple[str, ...] = ()
    """Overlay folders, relative to this file; a later folder overrides an earlier one."""
    horizon: Horizon
    """The planned quarters."""
    finance: Finance = Finance()
    """Discount rate, budget, service lives, taxes, debt."""
    fx: dict[Annotated[str, Field(pattern=CURRENCY)], Positive] = Field(default_factory=dict)
    """USD for one unit of another currency; prices may then be ``{value: 7, currency: EUR}``."""
    sites: Annotated[tuple[Site, ...], Field(min_length=1)]
    """Sites for the hardware."""
    links: tuple[Link, ...] = ()
    """Links between halls and sites, over which a training run may spread."""
    systems: AllOrIds = ()
    """Catalog systems that may be bought, or `all`."""
    fabrics: AllOrIds = ()
    """Catalog fabric families to choose from, or `all`."""
    fleet: Fleet | None = None
    """Hardware already decided: bought and in service in the first quarter."""
    assets: tuple[Asset, ...] = ()
    """Hardware in service and paid before the plan begins."""
    orders: tuple[Order, ...] = ()
    """Hardware on order when the plan begins."""
    fabric: GivenFabric | None = None
    """A given network, instead of `fabrics`."""
    storage: Storage | None = None
    """Shared storage. Default: sized from the accelerators."""
    reliability: Reliability = Reliability()
    """Failures and recovery of training runs."""
    prices: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Your own values of catalog rows: id -> field -> value; marked as input where they are
    used."""
    supply: tuple[Supply, ...] = ()
    """Vendor deliveries, by system."""
    parts_per_quarter: PartsPerQuarter = PartsPerQuarter()
    """Deliveries of parts."""
    vendor_share_max: dict[str, Fraction] = Field(default_factory=dict)
    """Maximum share of the spending on racks ordered over the horizon, by maker of the system or of
    its accelerators."""
    sites_max: Annotated[int, Field(ge=1, strict=True)] | None = None
    """Most sites with a hall in use, to choose some of several candidates. Default: no limit."""
    sites_min: Annotated[int, Field(ge=1, strict=True)] | None = None
    """Fewest sites with racks in service in the last quarter; the same number as `sites_max` chooses
    exactly so many. Default: none."""
    workloads: Workloads = Workloads()
    """Demand: training jobs, research capacity and inference."""
    cloud: Cloud | None = None
    """Cloud capacity that may be rented. Default: none."""
    comparison: Comparison | None = None
    """Conventions of the comparison of a fleet with rents: hours, lines of the bill, quotes, mixes."""
    objective: Literal[
        "min_cost", "min_after_tax_cost", "max_compute", "min_time", "min_carbon"
    ] = "min_cost"
    """Objective: minimum net present cost, before or after taxes and debt; maximum compute, earliest
    finish or minimum carbon (ties: the cheapest plan)."""
    expect: tuple[Expectation, ...] = ()
    """Expectations on metrics, for `dcplan test` and CI."""
    overrides: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Named changes: dotted key -> value."""
    scenarios: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Named variants: lists of overrides, for `--variant`."""
    sweep: dict[str, Any] = Field(default_factory=dict)
    """Axes of `dcplan sweep`: dotted key -> values, {range, step}, or a distribution."""
    sensitivity: Sensitivity | None = None
    """What `tco` and `explain --switching-values` vary."""
    uncertainty: Uncertainty | None = None
    """Distributions of uncertain inputs, and variants to hedge."""

    @property
    def has_financing(self) -> bool:
        """Return whether the scenario has taxes, payment terms or debt."""
        finance = self.finance
        taxed = finance.tax != Tax() or any(site.tax is not None for site in self.sites)
        return taxed or finance.debt is not None or finance.payment is not None


def demand_path(key: str, scenario: Scenario) -> Path:
    """Path of the amount of a demand in the scenario; of a pool, that of its first class."""
    work = scenario.workloads
    for i, capacity in enumerate(work.capacity):
        if capacity.id == key:
            return ("workloads", "capacity", i, capacity.unit)
    for i, one in enumerate(work.queue):
        if one.pool == key:
            return ("workloads", "queue", i, "jobs_per_day")
    i = [x.id for x in work.inference].index(key)
    return ("workloads", "inference", i, work.inference[i].load_field)


def job_path(key: str, scenario: Scenario) -> Path:
    """Path of a job in the scenario."""
    work = scenario.workloads
    for i, job in enumerate(work.training):
        if job.id == key:
            return ("workloads", "training", i)
    return ("workloads", "post_training", [x.id for x in work.post_training].index(key))
