"""Present cost of one USD of every kind of payment, which makes the cost of a plan a weighted sum."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from dcplan.economics.cash_flow import CAPITAL, AssetClass, Flow, FlowGroup, years_of
from dcplan.economics.discounting import discount_factor
from dcplan.economics.monthly.financing import Financing, financed
from dcplan.economics.monthly.side import owned_side
from dcplan.units import MONTHS_PER_QUARTER

Weights = tuple[float, ...]
SAME = {AssetClass.NETWORK: AssetClass.RACKS, AssetClass.STORAGE: AssetClass.RACKS}
"""Classes with the taxes and payment terms of another one."""


@dataclass(frozen=True)
class FlowWeights:
    """Present cost of one USD by kind and quarter of the payment; the kinds are those of flows."""

    capital: Mapping[AssetClass, Weights]
    fees: Weights
    """Cancellations, and sales with the opposite sign, in the first month of the quarter."""
    running: Weights
    """Energy, operation and rent."""
    unserved: Weights
    after: Weights
    """Rent after the horizon, from the first quarter after it on."""
    arrived: Weights
    """USD paid before the plan for an order that arrives in the quarter: the tax on it and its
    write-off."""
    lost: float
    """USD paid before the plan for an order that is canceled in the first quarter."""
    end: float
    """Residual value at the end of the horizon, which is money received."""
    sites: Mapping[str, FlowWeights] = field(default_factory=dict)
    """Weights of purchases at sites with rates of sales and property tax of their own."""

    def at(self, site: str) -> FlowWeights:
        """Return the weights of purchases at a site."""
        return self.sites.get(site, self)


def level_weights(rate_per_year: float, quarters: int, later: int) -> FlowWeights:
    """Return the weights of payments in the middle of their quarter, before taxes and debt.

    Parameters
    ----------
    rate_per_year : float
        Effective discount rate. [1/year]
    quarters, later : int
        Quarters of the horizon, and quarters after it. [-]

    Examples
    --------
    >>> found = level_weights(0.10, 4, 1)
    >>> round(found.running[0], 6), round(found.after[0], 6), round(found.end, 6)
    (0.988157, 0.898324, 0.909091)
    """

    def middle(t: int) -> float:
        flow = Flow(t, FlowGroup.OPEX, "", 1.0, asset=AssetClass.OTHER)
        return discount_factor(rate_per_year, years_of(flow))

    within = tuple(middle(t) for t in range(quarters))
    after = tuple(middle(t) for t in range(quarters, quarters + later))
    last = Flow(quarters - 1, FlowGroup.RESIDUAL, "", 1.0, at_end=True, asset=AssetClass.OTHER)
    end = discount_factor(rate_per_year, years_of(last))
    none = (0.0,) * quarters
    capital = dict.fromkeys(CAPITAL, within)
    return FlowWeights(capital, within, within, within, after, none, 0.0, end)


def weight_of(flow: Flow, weights: FlowWeights, quarters: int) -> float:
    """Return the present cost of one USD of a payment.

    Sales are fees with the opposite sign.

    Examples
    --------
    >>> rent = Flow(4, FlowGroup.POST_HORIZON, "rent", 1.0, asset=AssetClass.OTHER)
    >>> round(weight_of(rent, level_weights(0.10, 4, 1), 4), 6)
    0.898324
    """
    t, group = flow.quarter, flow.group
    if group is FlowGroup.POST_HORIZON:
        return weights.after[t - quarters]
    if group is FlowGroup.RESIDUAL:
        return weights.end if flow.at_end else weights.fees[t]
    if group is FlowGroup.UNSERVED:
        return weights.unserved[t]
    if group is FlowGroup.CAPEX:
        return weights.at(flow.site).capital.get(flow.asset, weights.fees)[t]
    return weights.running[t]


def present_usd(flow: Flow, weights: FlowWeights, quarters: int) -> float:
    """Return the present cost of a payment, with that of what was paid for it before the plan. [USD].

    Examples
    --------
    100 USD due in the middle of the second quarter, 100 / 1.1^0.375; the 20 USD of before the plan cost
    nothing without taxes:

    >>> due = Flow(
    ...     1, FlowGroup.CAPEX, "order", 100.0, asset=AssetClass.EXISTING, advance_usd=20.0
    ... )
    >>> round(present_usd(due, level_weights(0.10, 4, 0), 4), 6)
    96.488986
    """
    paid = flow.usd * weight_of(flow, weights, quarters)
    if not flow.advance_usd:
        return paid
    arrives = flow.asset is AssetClass.EXISTING
    ahead = weights.at(flow.site).arrived[flow.quarter] if arrives else weights.lost
    return paid + flow.advance_usd * ahead


@functools.lru_cache(maxsize=8)
def financed_weights(terms: Financing, quarters: int, later: int) -> FlowWeights:
    """Return the weights of payments by month after taxes, payment terms and debt.

    Each is the present cost of a side with one USD of that payment. The steps of
    :func:`dcplan.economics.monthly.financing.financed` are linear, so the weighted sum of the
    payments of a plan is its present cost.

    Parameters
    ----------
    terms : Financing
        Discount rate, taxes, payment terms and debt.
    quarters, later : int
        Quarters of the horizon, and quarters after it. [-]

    Examples
    --------
    At 20 % tax and no interest, a USD of racks written off in the year of payment costs 0.80:

    >>> found = financed_weights(Financing(0.0, 5.0, income_rate_frac=0.2), 4, 0)
    >>> round(found.capital[AssetClass.RACKS][0], 9), round(found.unserved[0], 9)
    (0.8, 1.0)
    """

    def each(t: int, group: FlowGroup, asset: AssetClass = AssetClass.OTHER) -> float:
        flow = Flow(t, group, "", 1.0, asset=asset)
        return financed(owned_side([flow], quarters), terms).npv_usd

    def by_quarter(group: FlowGroup) -> Weights:
        return tuple(each(t, group) for t in range(quarters))

    value = np.eye(quarters).repeat(MONTHS_PER_QUARTER, axis=1) / MONTHS_PER_QUARTER
    none = owned_side([], quarters)
    last = Flow(quarters - 1, FlowGroup.RESIDUAL, "", -1.0, at_end=True, asset=AssetClass.OTHER)
    found = FlowWeights(
        _bought(terms, quarters),
        by_quarter(FlowGroup.CAPEX),
        by_quarter(FlowGroup.OPEX),
        tuple(financed(none, terms, unserved_usd=usd).npv_usd for usd in value),
        tuple(each(quarters + t, FlowGroup.POST_HORIZON) for t in range(later)),
        tuple(_ahead(terms, quarters, t, AssetClass.EXISTING) for t in range(quarters)),
        _ahead(terms, quarters, 0, AssetClass.OTHER),
        -financed(owned_side([last], quarters), terms).npv_usd,
    )
    own = {x.site: terms.at(x.site) for x in terms.site_taxes}
    return replace(
        found,
        sites={
            site: replace(
                found,
                capital=_bought(there, quarters),
                arrived=tuple(
                    _ahead(there, quarters, t, AssetClass.EXISTING) for t in range(quarters)
                ),
            )
            for site, there in own.items()
        },
    )


def _bought(terms: Financing, quarters: int) -> dict[AssetClass, Weights]:
    """Return the weights of purchases by class and quarter."""

    def weight(t: int, asset: AssetClass) -> float:
        flow = Flow(t, FlowGroup.CAPEX, "", 1.0, asset=asset)
        return financed(owned_side([flow], quarters), terms).npv_usd

    found = {a: tuple(weight(t, a) for t in range(quarters)) for a in sorted(CAPITAL - SAME.keys())}
    return {a: found[SAME.get(a, a)] for a in sorted(CAPITAL)}


def _ahead(terms: Financing, quarters: int, t: int, asset: AssetClass) -> float:
    """Return the weight of what was paid before the plan for goods that arrive or are canceled."""
    flow = Flow(t, FlowGroup.CAPEX, "", 0.0, asset=asset, advance_usd=1.0)
    return financed(owned_side([flow], quarters), terms).npv_usd
