"""The one cash-flow builder: dated lines in, totals, present values and quarterly sums out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dcplan.economics.discounting import discount_factor
from dcplan.units import QUARTERS_PER_YEAR

GROUPS = ("capex", "energy", "opex", "cloud", "unmet", "after", "residual")
"""``unmet`` is no payment: the value of demand not served; ``after`` is paid after the horizon."""
NO_CASH = ("unmet", "after", "residual")


@dataclass(frozen=True)
class Flow:
    """One payment: positive is cash out, a residual is negative (value kept).

    ``quarter`` counts from 0; ``at_end`` books it at the end of that quarter instead of its middle.
    """

    quarter: int
    group: str
    line: str
    usd: float
    site: str = ""
    at_end: bool = False


def years_of(flow: Flow) -> float:
    """Years from the start of the horizon at which a flow is discounted: mid-quarter, or the
    quarter's end.

    Examples
    --------
    >>> years_of(Flow(0, "capex", "x", 1.0)), years_of(Flow(3, "residual", "x", -1.0, at_end=True))
    (0.125, 1.0)
    """
    return (flow.quarter + (1.0 if flow.at_end else 0.5)) / QUARTERS_PER_YEAR


def npv_usd(flows: Iterable[Flow], rate_per_year: float) -> float:
    """Present value of all flows at a yearly rate, nominal. [USD]

    Examples
    --------
    >>> round(npv_usd([Flow(0, "capex", "x", 100.0), Flow(3, "residual", "x", -55.0, at_end=True)], 0.10), 2)
    48.82
    """
    return sum(flow.usd * discount_factor(rate_per_year, years_of(flow)) for flow in flows)


def totals_usd(flows: Iterable[Flow]) -> dict[str, float]:
    """Undiscounted sum of each group, every group present. [USD]"""
    result = dict.fromkeys(GROUPS, 0.0)
    for flow in flows:
        result[flow.group] += flow.usd
    return result


def cash_out_usd(flows: Iterable[Flow], quarters: int) -> list[float]:
    """Cash out by quarter, what a budget limits: no residuals, unserved demand or later payments.
    [USD]
    """
    result = [0.0] * quarters
    for flow in flows:
        if flow.group not in NO_CASH:
            result[flow.quarter] += flow.usd
    return result


def debt_usd(
    flows: Iterable[Flow], quarters: int, share_frac: float, service_frac: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Borrowed and paid back by quarter: a share of each quarter's capital, and its service from
    then on. [USD]

    Examples
    --------
    >>> debt_usd([Flow(0, "capex", "x", 100.0)], 3, 0.5, (0.0, 0.6, 0.6))
    ([50.0, 0.0, 0.0], [0.0, 30.0, 30.0])
    """
    drawn = [0.0] * quarters
    for flow in flows:
        if flow.group == "capex":
            drawn[flow.quarter] += share_frac * flow.usd
    served = [
        sum(drawn[q] * service_frac[t - q] for q in range(t + 1)) if share_frac else 0.0
        for t in range(quarters)
    ]
    return drawn, served
