"""Cash flows: dated payments, their totals, present values and quarterly sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from dcplan.economics.discounting import discount_factor
from dcplan.units import QUARTERS_PER_YEAR


class FlowGroup(StrEnum):
    """Kind of cost; tables list the groups in this order."""

    CAPEX = "capex"
    ENERGY = "energy"
    OPEX = "opex"
    CLOUD = "cloud"
    UNSERVED = "unserved"
    """Cost of unserved demand, which is not a payment."""
    POST_HORIZON = "post_horizon"
    """Rent and leases of racks paid after the horizon."""
    RESIDUAL = "residual"


class AssetClass(StrEnum):
    """Purpose of a payment, if its residual value, taxes or price depend on it."""

    RACKS = "racks"
    """Systems ordered at prices that may still change."""
    LEASED = "leased-racks"
    """Lease of racks at the prices of their orders, a running cost."""
    NETWORK = "network"
    STORAGE = "storage"
    EXISTING = "existing"
    """Systems and storage in service or on order before the plan, each with its own residual
    value."""
    BUILDING = "building"
    COOLING = "cooling"
    """Cooling and fit-out of a hall."""
    POWER = "power"
    """Power blocks and on-site plants."""
    LAND = "land"
    """Land of a site, which is not depreciated."""
    SALES_TAX = "sales-tax"
    """Sales tax on equipment, written off with it."""
    GRID_ENERGY = "grid-energy"
    """Energy from the grid, paid per kWh."""
    DISPOSAL = "disposal"
    """Sales of hardware in service before the plan, which are no negative cost."""
    OTHER = "other"
    """Services, fees and rent."""


GROUPS = tuple(FlowGroup)
NO_CASH = frozenset({FlowGroup.UNSERVED, FlowGroup.POST_HORIZON, FlowGroup.RESIDUAL})
EQUIPMENT = frozenset(
    {AssetClass.RACKS, AssetClass.NETWORK, AssetClass.STORAGE, AssetClass.EXISTING}
)
"""Hardware in racks, with sales tax, property tax and the tax life of the scenario."""
PLANT = frozenset({AssetClass.BUILDING, AssetClass.COOLING, AssetClass.POWER})
CAPITAL = EQUIPMENT | PLANT | {AssetClass.LAND}
"""Classes of capital cost, which are bought, financed and sold."""


class Charge(StrEnum):
    """Running cost of a site; the value is its text in tables."""

    DEMAND = "demand charge"
    STAFF = "staff"
    LAND_TAX = "property tax on land"
    MAINTENANCE = "hardware maintenance"
    FACILITY = "facility"
    LEASE = "lease"
    LINK = "links between halls"


class Driver(StrEnum):
    """Amount in whose proportion workloads share a payment."""

    HOURS = "accelerator-hours"
    PORTS = "NIC ports"
    RATED = "rated kW"
    PEAK = "peak kW"
    """Rated power times the PUE of the design day."""
    ENERGY = "kWh"
    COMMITTED = "hours under commitments"
    USER = "user"
    """One workload alone has the payment."""
    UNUSED = "unused"
    """No workload uses it."""
    EARLIER = "earlier"
    """Value of hardware that was paid before the plan."""


@dataclass(frozen=True)
class Sharing:
    """How workloads share a payment, and when the asset that it pays for is in service."""

    by: Driver
    place: tuple[str, ...] = ()
    """Hall, or hall, cooling and system, whose workloads share it; empty: those of the site."""
    user: str = ""
    """Id of the demand or job that has the payment alone."""
    serves: tuple[int, int] | None = None
    """First quarter in service and the first one after it; None: the quarter of the payment."""


class Unit(StrEnum):
    """Unit in which goods or services are counted."""

    RACK = "racks"
    HALL = "halls"
    BLOCK = "blocks"
    PLANT = "plants"
    LOT = "lots"
    """All that one payment buys, where no single count describes it."""
    RACK_MONTH = "rack-months"
    PLANT_MONTH = "plant-months"
    SITE_MONTH = "site-months"
    KW_MONTH = "kW-months"
    KWH = "kWh"
    ACCELERATOR_HOUR = "accelerator-hours"
    ACCELERATOR_MONTH = "accelerator-months"
    ACCELERATOR = "accelerators"
    MONTH = "months"
    TONNE = "t CO2"
    M3 = "m3"


@dataclass(frozen=True)
class Goods:
    """What a payment buys: how much of which item, where, and for how long it serves."""

    item: str
    """Catalog id, or the kind of service."""
    quantity: float
    """Amount in ``unit``; never negative."""
    unit: Unit
    place: str = ""
    """Hall of owned goods, region of rent; empty for a site."""
    serves_from: int | None = None
    """First quarter in service of an asset."""
    life_months: int | None = None
    """Months in service of an asset over which its price is written off."""
    used: float | None = None
    """Used part of a committed amount."""


@dataclass(frozen=True)
class Flow:
    """One payment: positive is cash out; a residual value is negative.

    ``quarter`` counts from 0; ``at_end`` books it at the end of that quarter instead of its middle.
    """

    quarter: int
    group: FlowGroup
    line: str
    """Text for tables; no code depends on it."""
    usd: float
    site: str = ""
    at_end: bool = False
    asset: AssetClass = field(kw_only=True)
    offer: str = field(default="", kw_only=True)
    """Catalog id of the rented cloud offer."""
    term: str = field(default="", kw_only=True)
    """Rental term of the offer; empty if the payment does not depend on the hours of a term."""
    shared: Sharing = field(default=Sharing(Driver.UNUSED), kw_only=True)
    """How workloads share it; only the audit of a plan knows this."""
    goods: Goods | None = field(default=None, kw_only=True)
    """What it buys; only the audit of a plan knows this."""
    advance_usd: float = field(default=0.0, kw_only=True)
    """Part of the price of the same goods that was paid before the plan, which is no payment."""


def years_of(flow: Flow) -> float:
    """Return the years from the start of the horizon at which a flow is discounted.

    It is the middle of the flow's quarter, or the end of it. [years]

    Examples
    --------
    >>> bought = Flow(0, FlowGroup.CAPEX, "x", 1.0, asset=AssetClass.RACKS)
    >>> kept = Flow(3, FlowGroup.RESIDUAL, "x", -1.0, at_end=True, asset=AssetClass.RACKS)
    >>> years_of(bought), years_of(kept)
    (0.125, 1.0)
    """
    return (flow.quarter + (1.0 if flow.at_end else 0.5)) / QUARTERS_PER_YEAR


def npv_usd(flows: Iterable[Flow], rate_per_year: float) -> float:
    """Sum the present values of all flows at a nominal yearly rate. [USD].

    Examples
    --------
    >>> bought = Flow(0, FlowGroup.CAPEX, "x", 100.0, asset=AssetClass.RACKS)
    >>> kept = Flow(3, FlowGroup.RESIDUAL, "x", -55.0, at_end=True, asset=AssetClass.RACKS)
    >>> round(npv_usd([bought, kept], 0.10), 2)
    48.82
    """
    return sum(flow.usd * discount_factor(rate_per_year, years_of(flow)) for flow in flows)


def quarterly_charge_usd(flow: Flow, quarters: Sequence[int], rate_per_year: float) -> float:
    """Return the level charge in the middle of some quarters with the present value of a flow.

    It is the capital recovery of a purchase over its quarters in service, and of its residual value
    as a credit: charge = usd (1 + r) ** -years / sum of (1 + r) ** -(quarter + 1/2) / 4. [USD]

    Parameters
    ----------
    flow : Flow
        Payment, or residual value.
    quarters : sequence of int
        Quarters in service, at least one.
    rate_per_year : float
        Effective yearly discount rate. [1/year]

    Raises
    ------
    ValueError
        If there are no quarters.

    Examples
    --------
    >>> bought = Flow(0, FlowGroup.CAPEX, "x", 100.0, asset=AssetClass.RACKS)
    >>> round(quarterly_charge_usd(bought, (0, 1), 0.10), 4)
    50.5957
    >>> quarterly_charge_usd(bought, (0,), 0.10)
    100.0
    """
    if not quarters:
        msg = "a payment is charged to at least one quarter"
        raise ValueError(msg)
    if not flow.at_end and list(quarters) == [flow.quarter]:
        return flow.usd
    factors = (discount_factor(rate_per_year, (t + 0.5) / QUARTERS_PER_YEAR) for t in quarters)
    return flow.usd * discount_factor(rate_per_year, years_of(flow)) / sum(factors)


def totals_usd(flows: Iterable[Flow]) -> dict[FlowGroup, float]:
    """Sum each group undiscounted, every group present. [USD]."""
    result: dict[FlowGroup, float] = dict.fromkeys(GROUPS, 0.0)
    for flow in flows:
        result[flow.group] += flow.usd
    return result


def cash_out_usd(flows: Iterable[Flow], quarters: int) -> list[float]:
    """Sum the cash out by quarter, which a budget limits. [USD].

    Residual values, unserved demand and payments after the horizon do not count.
    """
    result = [0.0] * quarters
    for flow in flows:
        if flow.group not in NO_CASH:
            result[flow.quarter] += flow.usd
    return result


def debt_usd(
    flows: Iterable[Flow], quarters: int, share_frac: float, service_frac: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Sum new debt and debt service by quarter. [USD].

    A share of each quarter's capital cost is borrowed; debt service follows in later quarters.

    Examples
    --------
    >>> bought = Flow(0, FlowGroup.CAPEX, "x", 100.0, asset=AssetClass.RACKS)
    >>> debt_usd([bought], 3, 0.5, (0.0, 0.6, 0.6))
    ([50.0, 0.0, 0.0], [0.0, 30.0, 30.0])
    """
    drawn = [0.0] * quarters
    for flow in flows:
        if flow.group is FlowGroup.CAPEX:
            drawn[flow.quarter] += share_frac * flow.usd
    served = [
        sum(drawn[q] * service_frac[t - q] for q in range(t + 1)) if share_frac else 0.0
        for t in range(quarters)
    ]
    return drawn, served
