"""The one cash-flow builder: dated lines in, totals, present values and quarterly sums out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dcplan.economics.discount import discount_factor
from dcplan.units import QUARTERS_PER_YEAR

GROUPS = ("capex", "energy", "opex", "cloud", "residual")


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
    """Years from the start of the horizon at which a flow is discounted: mid-quarter, or the quarter's end.

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
    """Cash out by quarter (capex, energy, opex, cloud; no residual): what a budget limits. [USD]"""
    result = [0.0] * quarters
    for flow in flows:
        if flow.group != "residual":
            result[flow.quarter] += flow.usd
    return result
