"""Residual value of hardware by age, from the scenario or the catalog."""

from __future__ import annotations

from collections.abc import Callable

from dcplan.catalog.schema import Curve
from dcplan.economics.discounting import residual_frac, straight_residual_frac
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity, Status
from dcplan.scenario.schema import Finance
from dcplan.scenario.schema.top import NOTHING_LEFT


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
    name = finance.residual or "mid"
    row = log.catalog.get("residuals", f"residual-{name}", Curve)
    status = Status.INPUT if finance.residual else Status.DEFAULT
    log.text("finance.residual", name, status, str(row.source))
    return lambda age: residual_frac(row.value_frac, age)
