"""Changes of each side's cash flow with one input at its bounds, and present values between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.tco.comparison import OWNED, Comparison, compared
from dcplan.answers.tco.conventions import utilization_change
from dcplan.answers.tco.request import TcoRequest
from dcplan.answers.tco.sensitivity.bounds import MFU, residual_change
from dcplan.answers.tco.unit_costs import tokens_usd
from dcplan.economics.ranges import Array
from dcplan.economics.sampling import Marginal
from dcplan.inputs.stand_ins import RATE, RESIDUAL, UTILIZATION
from dcplan.scenario.set_keys import set_key
from dcplan.units import MONTHS_PER_YEAR

EARLY, LATE = 120, 120
"""Months with possible payments before and after the horizon: the longest that scenarios allow."""
SMALLEST_USD = 0.01
"""Payments that an input does not change: rounding errors of the plan's flows stay below a cent."""
Flows = dict[str, Array]
"""Cash flow by side, as :func:`vectors` returns it."""


@dataclass(frozen=True)
class Swing:
    """Changes of every side's cash flow by month and of its residual value, at two bounds."""

    marginal: Marginal
    low: Flows
    high: Flows
    tokens_usd: tuple[float | None, float | None] = (None, None)
    """Cost of a million tokens trained on the owned fleet, at both bounds."""

    def moves(self, key: str) -> bool:
        """Return whether the input changes the cost of a side."""
        return key == RATE or any(
            np.abs(change).max() >= SMALLEST_USD
            for flows in (self.low, self.high)
            for change in flows.values()
        )


def vectors(both: Comparison) -> Flows:
    """Return each side's cash flow by month from :data:`EARLY` on, then residual value and debt.

    All values are payments [USD].
    """
    owed = both.owned.loan.owed_at_end_usd if both.owned.loan else 0.0
    own = both.owned.after_tax
    found = {OWNED: _vector(both.owned.cash_usd, own.outside_usd, owed - sum(own.end_usd.values()))}
    return found | {
        r.name: _vector(r.side.cash_usd, r.side.outside_usd, -sum(r.side.end_usd.values()))
        for r in both.rents
    }


def _vector(cash: Array, outside: Mapping[int, float], end: float) -> Array:
    months = len(cash)
    found = np.zeros(EARLY + months + LATE + 1)
    found[EARLY : EARLY + months] = cash
    for month, usd in outside.items():
        found[EARLY + month] += usd
    found[-1] = end
    return found


def swing_of(
    key: str, marginal: Marginal, both: Comparison, now: Flows, request: TcoRequest
) -> Swing:
    """Price both sides with an input at its low and its high bound."""
    ends = [
        _at_bound(key, bound, marginal, both, now, request)
        for bound in (marginal.low, marginal.high)
    ]
    (low, low_usd), (high, high_usd) = ends
    return Swing(marginal, low, high, (low_usd, high_usd))


def _at_bound(
    key: str, bound: float, marginal: Marginal, both: Comparison, now: Flows, request: TcoRequest
) -> tuple[Flows, float | None]:
    """Return the changes of the cash flows at a bound, and the cost of a million tokens there."""
    still = {name: np.zeros_like(cash) for name, cash in now.items()}
    if key == RATE:
        there = _at_rate(both, bound)
        npv = float(_factors(bound, len(now[OWNED])) @ now[OWNED])
        return still, tokens_usd(there, npv)
    if key == MFU:
        usd = tokens_usd(both, both.owned.npv_usd)
        return still, None if usd is None else usd * marginal.value / bound
    change = _change(key, bound, marginal, both)
    if change is None:
        return still, tokens_usd(both, both.owned.npv_usd)
    other = compared(request.question(change))
    flows = {name: cash - now[name] for name, cash in vectors(other).items() if name in now}
    return still | flows, tokens_usd(other, other.owned.npv_usd)


def _change(key: str, bound: float, marginal: Marginal, both: Comparison) -> str | None:
    """Return the change of the scenario that sets an input to a bound; None if it is there."""
    if key == RESIDUAL:
        return residual_change(bound, marginal, both)
    if key == UTILIZATION:
        return None if bound == marginal.value else utilization_change(both.question, bound)
    return f"{set_key(key, both.question)}={bound!r}"


def _at_rate(both: Comparison, rate: float) -> Comparison:
    cost = replace(both.fleet.cost, discount_rate=rate)
    return replace(both, fleet=replace(both.fleet, cost=cost))


def sampled_npvs(
    now: Mapping[str, Array], swings: Mapping[str, Swing], sampled: Mapping[str, Array], rate: float
) -> Flows:
    """Return the present value of each side in every sample.

    It is the discount factors times the cash flow with its changes.
    """
    factors = _factors(sampled.get(RATE, rate), len(next(iter(now.values()))))
    moved = {key: _shares(sampled[key], swing.marginal) for key, swing in swings.items()}
    found = {}
    for name, cash in now.items():
        total = factors @ cash + np.zeros(len(next(iter(sampled.values()))))
        for key, swing in swings.items():
            below, above = moved[key]
            total = (
                total + below * (factors @ swing.low[name]) + above * (factors @ swing.high[name])
            )
        found[name] = total
    return found


def _shares(values: Array, m: Marginal) -> tuple[Array, Array]:
    """Return the position of each value from the present one to the low and to the high bound."""
    below = (
        np.clip((m.value - values) / (m.value - m.low), 0.0, 1.0)
        if m.value > m.low
        else np.zeros_like(values)
    )
    above = (
        np.clip((values - m.value) / (m.high - m.value), 0.0, 1.0)
        if m.high > m.value
        else np.zeros_like(values)
    )
    return below, above


def _factors(rates: Array | float, slots: int) -> Array:
    """Return the discount factors of a side's payments, one row per rate."""
    months = slots - 1 - EARLY - LATE
    times = np.append(
        (np.arange(-EARLY, months + LATE) + 0.5) / MONTHS_PER_YEAR, months / MONTHS_PER_YEAR
    )
    return np.asarray(np.exp(-np.log1p(np.asarray(rates))[..., None] * times))
