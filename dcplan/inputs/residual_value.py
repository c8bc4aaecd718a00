"""Residual value of hardware by age, from the scenario or the catalog."""

from __future__ import annotations

from collections.abc import Callable

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Curve
from dcplan.economics.discounting import residual_frac, straight_residual_frac
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity, Status
from dcplan.scenario.schema import Finance
from dcplan.scenario.schema.top import NOTHING_LEFT

LOW, MID, HIGH = "low", "mid", "high"
"""Residual curves of the catalog."""


def residual_of(finance: Finance, life_years: float, log: InputLog) -> Callable[[float], float]:
    """Return the share of the price left at an age in years.

    It is a straight line to a fraction at the end of life, a named curve, or 0 at any age.
    """
    if finance.residual == NOTHING_LEFT:
        log.text("finance.residual", NOTHING_LEFT, Status.INPUT)
        return lambda age: 0.0
    if isinstance(finance.residual, Quantity):
        end = log.take("finance.residual", finance.residual)
        line = f"straight line from the price to {end:.0%} of it after {life_years:g} years"
        log.text("finance.residual_curve", line, Status.DERIVED)
        return lambda age: straight_residual_frac(age, life_years, end)
    name = finance.residual or MID
    row = log.catalog.get("residuals", f"residual-{name}", Curve)
    status = Status.INPUT if finance.residual else Status.DEFAULT
    log.text("finance.residual", name, status, str(row.source))
    return lambda age: residual_frac(row.value_frac, age)


def residual_span(
    finance: Finance, life_years: float, years: float, catalog: Catalog
) -> tuple[float, float, float] | None:
    """Return the share of the price that is left by the low curve, as given, and by the high curve.

    A curve is read after ``years``, or at the end of life if that is earlier. A given share is one
    at the end of life, with its own bounds if it has them.
    """
    given = finance.residual
    if isinstance(given, Quantity):
        low, high = given.low, given.high
        if low is None or high is None or low >= high:
            low, high = (_left(curve, life_years, catalog) for curve in (LOW, HIGH))
        return _ordered(low, given.value, high)
    age = min(years, life_years)
    now = 0.0 if given == NOTHING_LEFT else _left(given or MID, age, catalog)
    return _ordered(_left(LOW, age, catalog), now, _left(HIGH, age, catalog))


def residual_ends(finance: Finance, life_years: float, catalog: Catalog) -> tuple[Finance, Finance]:
    """Return the finance of a scenario with its residual value at the low and at the high bound."""
    given = finance.residual
    if isinstance(given, Quantity):
        span = residual_span(finance, life_years, life_years, catalog)
        ends = (span[0], span[2]) if span is not None else (given.value, given.value)
        values = [given.model_copy(update={"value": x, "low": None, "high": None}) for x in ends]
        return _with(finance, values[0]), _with(finance, values[1])
    names = residual_names(finance)
    return _with(finance, names[0]), _with(finance, names[2])


def residual_names(finance: Finance) -> tuple[str, str, str]:
    """Return the curve at the low bound, the curve in use, and that at the high bound."""
    now = str(finance.residual or MID)
    return now if now in (NOTHING_LEFT, LOW) else LOW, now, HIGH


def _with(finance: Finance, residual: Quantity | str) -> Finance:
    return finance.model_copy(update={"residual": residual})


def _ordered(low: float, now: float, high: float) -> tuple[float, float, float] | None:
    span = min(low, now), now, max(high, now)
    return span if span[0] < span[2] else None


def _left(curve: str, years: float, catalog: Catalog) -> float:
    return residual_frac(catalog.get("residuals", f"residual-{curve}", Curve).value_frac, years)
