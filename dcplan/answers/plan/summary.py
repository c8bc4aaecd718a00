"""Figures that a decision on a plan rests on, from its own tables: money, dates, purchases by item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from dcplan.economics.cash_flow import FlowGroup
from dcplan.planning.goal import COST, Goal
from dcplan.result import Result
from dcplan.specs.plan import metrics as figures
from dcplan.specs.plan.fleet import FLEET
from dcplan.specs.plan.money import CASH_FLOW, FLOWS, CashRow, Falls
from dcplan.specs.plan.places.site import POWER
from dcplan.specs.plan.purchases import PURCHASES, PurchaseRow
from dcplan.specs.table import TableSpec

R = TypeVar("R")

PAID = "Cash paid over the horizon, before tax and financing"
SALES = "Cash from sales of hardware"
FIRST_ORDER, LAST_ORDER = "First order", "Last order"
IN_SERVICE = "First capacity in service"


@dataclass(frozen=True)
class Fact:
    """One figure: an amount in its unit, or a date; ``value`` is None in a redacted result."""

    name: str
    value: float | str | None
    unit: str = ""
    at: str = ""
    """Quarter of the figure, where it has one."""
    metric: str = ""
    """Key of the metric that it is, if it is one."""


def basis_of(result: Result) -> str:
    """Return what the present cost of a result's objective is after, in words that follow it."""
    return Goal(str(result.solver.get("goal", COST))).basis


def paid_usd(row: CashRow) -> float | None:
    """Return the payments of a quarter without debt; None in a redacted result."""
    return total_usd([row.capex_usd, row.energy_usd, row.opex_usd, row.cloud_usd])


MOVED: dict[str, float] = {
    "capex": 1.0,
    "energy": 1.0,
    "opex": 1.0,
    "cloud": 1.0,
    "sales": 1.0,
    "debt_drawn": -1.0,
    "debt_service": 1.0,
}
"""Groups of the cash flow that move cash, and the sign with which they add to what leaves."""


def moved_usd(row: CashRow) -> float | None:
    """Return the cash that leaves in a quarter, with debt and less sales; None in a redacted result."""
    cells = {group: getattr(row, f"{group}_usd") for group in MOVED}
    return total_usd([None if x is None else MOVED[group] * x for group, x in cells.items()])


@dataclass
class QuarterSums:
    """Fleet, power and cash of one quarter, over all sites; cash is None in a redacted result."""

    accelerators: float = 0.0
    facility_mw: float = 0.0
    utility_mw: float = 0.0
    paid_usd: float | None = None
    """Payments without debt and sales."""
    paid_to_date_usd: float | None = None
    moved_usd: float | None = None
    """Payments with debt and less sales."""
    moved_to_date_usd: float | None = None


def by_quarter(result: Result) -> dict[str, QuarterSums]:
    """Return the sums of each quarter of a plan, first to last."""
    cash = rows_of(result, CASH_FLOW)
    paid, moved = [paid_usd(row) for row in cash], [moved_usd(row) for row in cash]
    found = {
        row.quarter: QuarterSums(paid_usd=a, paid_to_date_usd=b, moved_usd=c, moved_to_date_usd=d)
        for row, a, b, c, d in zip(cash, paid, _to_date(paid), moved, _to_date(moved), strict=True)
    }
    for fleet in rows_of(result, FLEET):
        found.setdefault(fleet.quarter, QuarterSums()).accelerators += fleet.accelerators
    for power in rows_of(result, POWER):
        quarter = found.setdefault(power.quarter, QuarterSums())
        quarter.facility_mw += power.facility_mw
        quarter.utility_mw += power.utility_mw
    return dict(sorted(found.items()))


def _to_date(amounts: Sequence[float | None]) -> Iterator[float | None]:
    return accumulate(amounts, lambda so_far, usd: total_usd([so_far, usd]))


def rows_of(result: Result, spec: TableSpec[R]) -> list[R]:
    """Return the rows of a table; none where the answer lacks it."""
    table = result.tables.get(spec.name)
    return [] if table is None else spec.rows(table)


def money_of(result: Result) -> Iterator[Fact]:
    """Yield cash paid, sales, the largest quarter, what is left, and net present costs of a plan."""
    cash = CASH_FLOW.rows(result.tables[CASH_FLOW.name])
    paid = [paid_usd(row) for row in cash]
    hidden = any(x is None for x in paid)
    yield Fact(PAID, None if hidden else sum(x for x in paid if x is not None), "USD")
    flows = FLOWS.rows(result.tables[FLOWS.name])
    sales = [f.usd for f in flows if f.group == FlowGroup.RESIDUAL and f.falls != Falls.END]
    if any(sales):
        yield Fact(SALES, -sum(x for x in sales if x), "USD")
    if not hidden and any(paid):
        most = max(range(len(cash)), key=lambda i: paid[i] or 0.0)
        yield Fact("Largest quarter", paid[most], "USD", cash[most].quarter)
    kept = [f.usd for f in flows if f.group == FlowGroup.RESIDUAL and f.falls == Falls.END]
    left = None if any(x is None for x in kept) else -sum(kept)
    yield Fact("Value of hardware and buildings left at the end, not cash", left, "USD")
    for spec, name in (
        (figures.NPV, "Net present cost, after that value"),
        (figures.AFTER_TAX_NPV, "The same after taxes, payment terms and debt"),
    ):
        if spec.key in result.metrics:
            yield Fact(name, result.metrics[spec.key].value, "USD", metric=spec.key)


def dates_of(result: Result) -> Iterator[Fact]:
    """Yield the first and last orders, the first deposit and service, and when the runs finish."""
    bought = PURCHASES.rows(result.tables[PURCHASES.name])
    for name, months in (
        (FIRST_ORDER, [x.order_month for x in bought]),
        ("First deposit", [x.deposit_month for x in bought]),
        (LAST_ORDER, [x.order_month for x in bought]),
        (IN_SERVICE, [x.delivery_month for x in bought]),
    ):
        known = sorted(m for m in months if m)
        if known:
            yield Fact(name, known[-1] if name == LAST_ORDER else known[0])
    for key, metric in result.metrics.items():
        job = figures.FINISH.ids_in(key)
        if job is not None:
            yield Fact(f"Run {job[0]} finishes by", str(metric.value), metric=key)


@dataclass(frozen=True)
class Lot:
    """All purchases of one item from one vendor; the amount is None in a redacted result."""

    vendor: str
    item: str
    unit: str
    quantity: float
    order: str
    """Month or months of the orders; empty for what was ordered before the plan."""
    delivery: str
    amount_usd: float | None


def lots_of(result: Result) -> list[Lot]:
    """Return the purchases of a plan by vendor and item, the largest amount first."""
    found: dict[tuple[str, str, str], list[PurchaseRow]] = {}
    for row in PURCHASES.rows(result.tables[PURCHASES.name]):
        found.setdefault((row.vendor, row.item, row.unit), []).append(row)
    lots = [
        Lot(
            *key,
            sum(row.quantity for row in rows),
            months([row.order_month for row in rows]),
            months([row.delivery_month for row in rows]),
            total_usd([row.amount_usd for row in rows]),
        )
        for key, rows in found.items()
    ]
    return sorted(lots, key=lambda x: -(x.amount_usd or 0.0))


def total_usd(amounts: Sequence[float | None]) -> float | None:
    """Return a sum [USD]; None where an amount is withheld.

    Examples
    --------
    >>> total_usd([1.5, 2.0]), total_usd([1.5, None])
    (3.5, None)
    """
    known = [x for x in amounts if x is not None]
    return sum(known) if len(known) == len(amounts) else None


def months(found: Sequence[str]) -> str:
    """Return the months of several events as a span.

    Examples
    --------
    >>> months(["2027-04", "", "2027-01"]), months(["2027-04"]), months([""])
    ('2027-01 to 2027-04', '2027-04', '')
    """
    known = sorted(m for m in found if m)
    if not known:
        return ""
    return known[0] if known[0] == known[-1] else f"{known[0]} to {known[-1]}"
