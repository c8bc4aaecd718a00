"""The scenario: one question with everything that is known about it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.provenance import Fraction, Path, Positive, Quantity, Series, Years
from dcplan.scenario.schema.assets import Asset, Order, YearlyChange
from dcplan.scenario.schema.base import AllOrIds, Count, Key, Part, Quarter
from dcplan.scenario.schema.site import Site
from dcplan.scenario.schema.uncertainty import Uncertainty
from dcplan.scenario.schema.work import (
    Cloud,
    Expectation,
    Fleet,
    GivenFabric,
    PartsPerQuarter,
    Reliability,
    Storage,
    Supply,
    Workloads,
)


class Horizon(Part):
    """First quarter and number of quarters."""

    start: Quarter
    """First quarter, such as 2027-Q1."""
    quarters: Annotated[int, Field(ge=1, le=80, strict=True)]
    """Number of quarters that are planned."""


Months = Annotated[int, Field(ge=0, le=120, strict=True)]


class Tax(Part):
    """Taxes; used by the TCO view."""

    income_rate: Fraction | None = None
    """Marginal rate on income; left out, no income tax."""
    depreciation: str | None = None
    """Row of the catalog kind depreciation, such as macrs-5; left out, straight-line-5."""
    sales_tax_frac: Fraction | None = None
    """Of equipment, paid with it; left out, none."""
    property_tax_frac_per_year: Fraction | None = None
    """Of the book value of equipment and building; left out, none."""


class Debt(Part):
    """Borrowed share of capital cost; used by the TCO view."""

    share: Fraction
    """Of capital cost that is borrowed."""
    rate: Fraction
    """Interest a year."""
    term_years: Positive
    """Years of level payments."""


class Payment(Part):
    """When equipment is paid; the rest is due on delivery, in the first month of service. Used by
    the TCO view.
    """

    deposit_frac: Fraction = Quantity(value=0.0)
    """Of the price, paid before delivery."""
    deposit_months_before: Months = 0
    """From the deposit to the first month of service."""
    acceptance_frac: Fraction = Quantity(value=0.0)
    """Of the price, paid after delivery."""
    acceptance_months_after: Months = 0
    """From the first month of service to that payment."""

    @model_validator(mode="after")
    def _whole(self) -> Payment:
        for name in ("deposit", "acceptance"):
            when = "months_before" if name == "deposit" else "months_after"
            if getattr(self, f"{name}_frac").value and not getattr(self, f"{name}_{when}"):
                code, text = (
                    "payment",
                    f"{name}_frac needs {name}_{when}, at least 1: else it is paid on delivery",
                )
                raise PydanticCustomError(code, text)
        if self.deposit_frac.value + self.acceptance_frac.value > 1.0:
            code = "payment"
            raise PydanticCustomError(
                code, "deposit_frac and acceptance_frac are more than the whole price"
            )
        return self


def _residual(data: Any) -> Any:
    if data in ("low", "mid", "high") or isinstance(data, int | float | dict | Quantity):
        return data
    code = "residual"
    message = "expected low, mid, high or a fraction at the end of life, got {got}"
    raise PydanticCustomError(code, message, {"got": repr(data)[:60]})


Residual = Annotated[Literal["low", "mid", "high"] | Fraction, BeforeValidator(_residual)]


class Finance(Part):
    """Money: discounting, budget and lives. Left-out values come from ``catalogs/finance``."""

    discount_rate: Fraction | None = None
    """A year, nominal; left out, `finance/discount-rate`."""
    budget_usd: Series | None = None
    """Cash out over the horizon (one number) or by quarter (a list; what is not spent carries
    over)."""
    hardware_life_years: Years | None = None
    """Service life of accelerator systems and networks; left out, `finance/hardware-life-years`."""
    hardware_price_change_frac_per_year: YearlyChange | None = None
    """Of systems, from the start of the horizon on."""
    residual: Residual | None = None
    """Market curve of used hardware (low, mid, high), or the share of the price left at the end of
    life; left out, mid."""
    tax: Tax = Tax()
    """Taxes of the own or rent comparison."""
    debt: Debt | None = None
    """Borrowing; its proceeds and service count in budgets and in `tco`."""
    payment: Payment | None = None
    """Deposits and late payments of equipment."""


class Sensitivity(Part):
    """Inputs that ``tco`` varies, and how many futures it samples of them."""

    inputs: tuple[str, ...] = ()
    """Keys of inputs as `dcplan check -v` names them; they need bounds, here or in the catalog."""
    samples: Count | None = None
    """Sampled futures; left out, 10,000."""
    seed: int | None = None
    """Of the random samples; left out, 1."""


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
    """Overlay folders, relative to this file; the last wins."""
    horizon: Horizon
    """The quarters that are planned."""
    finance: Finance = Finance()
    """Discounting, budget, lives, taxes, debt."""
    fx: dict[Annotated[str, Field(pattern=r"^[A-Z]{3}$")], Positive] = Field(default_factory=dict)
    """USD for one unit of another currency; prices may then be ``{value: 7, currency: EUR}``."""
    sites: Annotated[tuple[Site, ...], Field(min_length=1)]
    """Where hardware may stand."""
    systems: AllOrIds = ()
    """Catalog systems that may be bought, or `all`."""
    fabrics: AllOrIds = ()
    """Catalog fabric families to choose from, or `all`."""
    fleet: Fleet | None = None
    """Hardware that is given: bought and in service in the first quarter."""
    assets: tuple[Asset, ...] = ()
    """Hardware that is there and paid before the plan begins."""
    orders: tuple[Order, ...] = ()
    """Hardware on order when the plan begins."""
    fabric: GivenFabric | None = None
    """A network that is given, in place of `fabrics`."""
    storage: Storage | None = None
    """Shared storage; left out, sized from the accelerators."""
    reliability: Reliability = Reliability()
    """How runs stop and restart."""
    prices: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Own values of catalog rows: id -> field -> value; marked as input wherever they are used."""
    supply: tuple[Supply, ...] = ()
    """What vendors deliver, by system."""
    parts_per_quarter: PartsPerQuarter = PartsPerQuarter()
    """What vendors of parts deliver."""
    vendor_share_max: dict[str, Fraction] = Field(default_factory=dict)
    """Of the spending on racks ordered over the horizon; by maker of the system or of its
    accelerators."""
    workloads: Workloads = Workloads()
    """What must be done."""
    cloud: Cloud | None = None
    """What may be rented; left out, nothing."""
    objective: Literal["min_cost", "max_compute", "min_time", "min_carbon"] = "min_cost"
    """What is best: the least net present cost, most compute, earliest runs or least carbon (then
    the cheapest such plan)."""
    expect: tuple[Expectation, ...] = ()
    """Gates on metrics, for `dcplan test` and CI."""
    overrides: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Named changes: dotted key -> value."""
    scenarios: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Named variants: lists of overrides, for `--variant`."""
    sweep: dict[str, Any] = Field(default_factory=dict)
    """What-ifs of `dcplan sweep`: dotted key -> values, {range, step}, or a distribution."""
    sensitivity: Sensitivity | None = None
    """What `tco` and `explain --switching-values` vary."""
    uncertainty: Uncertainty | None = None
    """How inputs may turn out, and variants to hedge."""


def demand_path(key: str, scenario: Scenario) -> Path:
    """Where a scenario says how much of a demand there is."""
    work = scenario.workloads
    for i, capacity in enumerate(work.capacity):
        if capacity.id == key:
            return ("workloads", "capacity", i, capacity.unit)
    return ("workloads", "inference", [x.id for x in work.inference].index(key), "tokens_per_s")
