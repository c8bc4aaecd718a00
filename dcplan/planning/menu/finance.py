"""Money terms of a scenario: discount rate, budget, residual shares."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.catalog.schema import Curve
from dcplan.economics.discount import end_of_life_curve, residual_frac, straight_line_frac
from dcplan.planning.menu.ledger import Ledger
from dcplan.planning.menu.types import FinanceTerms
from dcplan.provenance import Quantity, Status
from dcplan.scenario.schema import Finance
from dcplan.units import QUARTERS_PER_YEAR


def finance_terms(finance: Finance, quarters: int, ledger: Ledger) -> FinanceTerms:
    """Resolve ``finance:`` with the catalog's defaults.

    Hardware keeps the residual curve's share of its price at the end of the horizon; buildings, power and
    cooling keep their straight-line book value. Without this the model would stop buying near the end.
    """
    rate = ledger.chosen("finance.discount_rate", finance.discount_rate, "finance", "discount-rate")
    life = ledger.chosen("finance.hardware_life_years", finance.hardware_life_years, "finance", "hardware-life-years")
    curve = _curve(finance, life, ledger)
    ages = [(quarters - t) / QUARTERS_PER_YEAR for t in range(quarters)]
    total, by_quarter = _budget(finance.budget_usd, ledger)

    def book(key: str) -> tuple[float, ...]:
        years = ledger.parameter("finance", key)
        return tuple(straight_line_frac(age, years) for age in ages)

    return FinanceTerms(
        discount_rate=rate,
        life_quarters=round(life * QUARTERS_PER_YEAR),
        budget_total_usd=total,
        budget_usd=by_quarter,
        hardware_residual_frac=tuple(residual_frac(curve, age) if age < life else 0.0 for age in ages),
        building_residual_frac=book("building-life-years"),
        power_residual_frac=book("power-life-years"),
        cooling_residual_frac=book("cooling-life-years"),
    )


def _curve(finance: Finance, life_years: float, ledger: Ledger) -> Sequence[float]:
    if isinstance(finance.residual, Quantity):
        return end_of_life_curve(life_years, ledger.take("finance.residual", finance.residual))
    name = finance.residual or "mid"
    row = ledger.catalog.get("residuals", f"residual-{name}", Curve)
    status = Status.INPUT if finance.residual else Status.DEFAULT
    ledger.text("finance.residual", name, status, str(row.source))
    return row.value_frac


def _budget(series: list[Quantity] | None, ledger: Ledger) -> tuple[float | None, tuple[float, ...] | None]:
    if series is None:
        return None, None
    if len(series) == 1:
        return ledger.take("finance.budget_usd", series[0]), None
    return None, ledger.series("finance.budget_usd", series, len(series))
