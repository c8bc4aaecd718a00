"""The scenario: one question with everything that is known about it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.provenance import Fraction, Path, Positive, Quantity, Series, Years
from dcplan.scenario.schema.base import AllOrIds, Count, Key, Part, Quarter
from dcplan.scenario.schema.held import Asset, Order, YearlyChange
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
    quarters: Annotated[int, Field(ge=1, le=80, strict=True)]


Months = Annotated[int, Field(ge=0, le=120, strict=True)]


class Tax(Part):
    """Taxes; used by the TCO view."""

    income_rate: Fraction | None = None
    depreciation: str | None = None
    sales_tax_frac: Fraction | None = None
    property_tax_frac_per_year: Fraction | None = None


class Debt(Part):
    """Borrowed share of capital cost; used by the TCO view."""

    share: Fraction
    rate: Fraction
    term_years: Positive


class Payment(Part):
    """When equipment is paid; the rest is due on delivery, in the first month of service. Used by the TCO view."""

    deposit_frac: Fraction = Quantity(value=0.0)
    deposit_months_before: Months = 0
    """From the deposit to the first month of service."""
    acceptance_frac: Fraction = Quantity(value=0.0)
    acceptance_months_after: Months = 0

    @model_validator(mode="after")
    def _whole(self) -> Payment:
        for name in ("deposit", "acceptance"):
            when = "months_before" if name == "deposit" else "months_after"
            if getattr(self, f"{name}_frac").value and not getattr(self, f"{name}_{when}"):
                code, text = "payment", f"{name}_frac needs {name}_{when}, at least 1: else it is paid on delivery"
                raise PydanticCustomError(code, text)
        if self.deposit_frac.value + self.acceptance_frac.value > 1.0:
            code = "payment"
            raise PydanticCustomError(code, "deposit_frac and acceptance_frac are more than the whole price")
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
    budget_usd: Series | None = None
    """Cash out over the horizon (one number) or by quarter (a list; what is not spent carries over)."""
    hardware_life_years: Years | None = None
    hardware_price_change_frac_per_year: YearlyChange | None = None
    """Of systems, from the start of the horizon on."""
    residual: Residual | None = None
    tax: Tax = Tax()
    debt: Debt | None = None
    payment: Payment | None = None


class Sensitivity(Part):
    """Inputs that ``tco`` varies, and how many futures it samples of them."""

    inputs: tuple[str, ...] = ()
    samples: Count | None = None
    seed: int | None = None


class Scenario(Part):
    """Root of a scenario file."""

    dcplan: Literal[1]
    name: Key
    description: str | None = None
    extends: str | None = None
    catalogs: tuple[str, ...] = ()
    horizon: Horizon
    finance: Finance = Finance()
    fx: dict[Annotated[str, Field(pattern=r"^[A-Z]{3}$")], Positive] = Field(default_factory=dict)
    """USD for one unit of another currency; prices may then be ``{value: 7, currency: EUR}``."""
    sites: Annotated[tuple[Site, ...], Field(min_length=1)]
    systems: AllOrIds = ()
    fabrics: AllOrIds = ()
    fleet: Fleet | None = None
    assets: tuple[Asset, ...] = ()
    orders: tuple[Order, ...] = ()
    fabric: GivenFabric | None = None
    storage: Storage | None = None
    reliability: Reliability = Reliability()
    prices: dict[str, dict[str, Any]] = Field(default_factory=dict)
    supply: tuple[Supply, ...] = ()
    parts_per_quarter: PartsPerQuarter = PartsPerQuarter()
    vendor_share_max: dict[str, Fraction] = Field(default_factory=dict)
    """Of the spending on racks ordered over the horizon; by maker of the system or of its accelerators."""
    workloads: Workloads = Workloads()
    cloud: Cloud | None = None
    objective: Literal["min_cost", "max_compute", "min_time", "min_carbon"] = "min_cost"
    expect: tuple[Expectation, ...] = ()
    overrides: dict[str, dict[str, Any]] = Field(default_factory=dict)
    scenarios: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    sweep: dict[str, Any] = Field(default_factory=dict)
    sensitivity: Sensitivity | None = None
    uncertainty: Uncertainty | None = None


def demand_path(key: str, scenario: Scenario) -> Path:
    """Where a scenario says how much of a demand there is."""
    work = scenario.workloads
    for i, capacity in enumerate(work.capacity):
        if capacity.id == key:
            return ("workloads", "capacity", i, capacity.unit)
    return ("workloads", "inference", [x.id for x in work.inference].index(key), "tokens_per_s")
