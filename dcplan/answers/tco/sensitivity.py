"""Sensitivity of owning against renting: tornado, switching values and Monte Carlo simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dcplan.answers.tco.comparison import OWNED, Comparison, compared
from dcplan.answers.tco.conventions import utilization_change
from dcplan.answers.tco.request import TcoRequest
from dcplan.catalog.schema import Parameter
from dcplan.economics.ranges import Array
from dcplan.economics.sampling import Marginal, samples
from dcplan.result import Table
from dcplan.scenario.set_keys import set_key
from dcplan.specs import tco as specs
from dcplan.units import MONTHS_PER_YEAR

STAND_IN = {
    "finance.discount_rate": "discount-rate",
    "fleet.utilization_frac": "fleet-utilization-frac",
    "cloud.price_change_frac_per_year": "cloud-price-change-frac-per-year",
}
"""Catalog parameters whose bounds are used if the scenario gives none."""
RATE, UTILIZATION = "finance.discount_rate", "fleet.utilization_frac"
EARLY, LATE = 120, 120
"""Months with possible payments before and after the horizon: the longest that scenarios allow."""
DEFAULT_SAMPLES, DEFAULT_SEED = 10_000, 1


@dataclass(frozen=True)
class Risk:
    """Tables and bounds of a comparison; empty if the scenario requests none."""

    tables: dict[str, Table] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    owned_bounds: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True)
class Swing:
    """Changes of every side's cash flow by month and of its residual value, at two bounds."""

    marginal: Marginal
    low: dict[str, Array]
    high: dict[str, Array]


def risk_of(both: Comparison, request: TcoRequest) -> Risk:
    """Price every input of ``sensitivity`` at its bounds, and sample all of them within the bounds.

    Within the bounds, the cash flow of each month is linear on either side of the present value of
    the input, and inputs are independent; the discount rate is exact.
    """
    wanted = both.question.scenario.sensitivity
    if wanted is None or not wanted.inputs:
        return Risk()
    now = vectors(both)
    swings: dict[str, Swing] = {}
    notes = []
    for key in wanted.inputs:
        marginal = _marginal(key, both)
        if marginal is None:
            known = key in both.log.rows or key in STAND_IN
            why = (
                "has no low and high bounds in the scenario or the catalog"
                if known
                else "is not an input of this answer"
            )
            notes.append(f"sensitivity: {key} {why}; it is excluded")
            continue
        low, high = (
            _moved(key, bound, both, now, request) for bound in (marginal.low, marginal.high)
        )
        swings[key] = Swing(marginal, low, high)
    count = wanted.samples or DEFAULT_SAMPLES
    sampled = samples(
        {k: s.marginal for k, s in swings.items()},
        count,
        seed=DEFAULT_SEED if wanted.seed is None else wanted.seed,
    )
    costs = sampled_npvs(now, swings, sampled, both.rate) if swings else {}
    bounds: tuple[float | None, float | None] = (None, None)
    tables = {"tornado": _tornado(both, now, swings)}
    if costs:
        tables["risk"] = _spread(costs)
        bounds = tuple(float(np.quantile(costs[OWNED], q)) for q in (0.1, 0.9))  # type: ignore[assignment]
    return Risk(tables, tuple(notes), bounds)


def vectors(both: Comparison) -> dict[str, Array]:
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


def _marginal(key: str, both: Comparison) -> Marginal | None:
    """Return the bounds of an input, from the scenario or else the catalog, around its value."""
    row = both.log.rows.get(key)
    stand_in = STAND_IN.get(key)
    value = float(row.value) if row is not None and isinstance(row.value, int | float) else None
    low, high = (row.low, row.high) if row is not None else (None, None)
    if (low is None or high is None or low >= high) and stand_in is not None:
        own = both.question.catalog.get("finance", stand_in, Parameter).value
        low, high = own.bounds
        value = own.value if value is None else value
    if value is None or low is None or high is None or low >= high:
        return None
    return Marginal(min(low, value), value, max(high, value))


def _moved(
    key: str, bound: float, both: Comparison, now: Mapping[str, Array], request: TcoRequest
) -> dict[str, Array]:
    """Return the changes of every side's cash flow with an input at a bound."""
    if key == RATE:
        return {name: np.zeros_like(cash) for name, cash in now.items()}
    change = (
        utilization_change(both.question, bound)
        if key == UTILIZATION
        else f"{set_key(key, both.question)}={bound!r}"
    )
    other = compared(request.question(change))
    return {name: cash - now[name] for name, cash in vectors(other).items() if name in now}


def sampled_npvs(
    now: Mapping[str, Array], swings: Mapping[str, Swing], sampled: Mapping[str, Array], rate: float
) -> dict[str, Array]:
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


def _over_rent(npvs: Mapping[str, float]) -> float:
    """Return the cost of owning less the cheapest rent."""
    rents = [usd for name, usd in npvs.items() if name != OWNED]
    return npvs[OWNED] - min(rents) if rents else npvs[OWNED]


def _at(
    now: Mapping[str, Array], swings: Mapping[str, Swing], key: str, value: float, rate: float
) -> dict[str, float]:
    sampled = {key: np.array([value])}
    return {
        name: float(x[0])
        for name, x in sampled_npvs(now, {key: swings[key]}, sampled, rate).items()
    }


def _tornado(both: Comparison, now: Mapping[str, Array], swings: Mapping[str, Swing]) -> Table:
    """List the inputs by their swing of owning over the cheapest rent, the widest first."""
    rows: list[specs.TornadoRow] = []
    for key, swing in swings.items():
        m = swing.marginal
        low, high = (_at(now, swings, key, x, both.rate) for x in (m.low, m.high))
        at = _switch(now, swings, key, both.rate)
        rows.append(
            specs.TornadoRow(
                input=key,
                low=m.low,
                now=m.value,
                high=m.high,
                owned_at_low_usd=low[OWNED],
                owned_at_high_usd=high[OWNED],
                over_rent_at_low_usd=_over_rent(low),
                over_rent_at_high_usd=_over_rent(high),
                swing_usd=abs(_over_rent(high) - _over_rent(low)),
                switches_at="none within the bounds" if at is None else at,
            )
        )
    return specs.TORNADO.table(sorted(rows, key=lambda r: -r.swing_usd))


def _switch(
    now: Mapping[str, Array], swings: Mapping[str, Swing], key: str, rate: float
) -> float | None:
    """Return the value nearest to now at which owning and the cheapest rent cost the same.

    None if there is no such value within the bounds.
    """
    m = swings[key].marginal
    here = _over_rent(_at(now, swings, key, m.value, rate))
    nearest: float | None = None
    for bound in (m.low, m.high):
        near, far = m.value, bound
        if here * _over_rent(_at(now, swings, key, bound, rate)) >= 0:
            continue
        for _ in range(40):
            middle = (near + far) / 2
            if here * _over_rent(_at(now, swings, key, middle, rate)) > 0:
                near = middle
            else:
                far = middle
        if nearest is None or abs(far - m.value) < abs(nearest - m.value):
            nearest = far
    return nearest


def _spread(costs: Mapping[str, Array]) -> Table:
    """List quantiles of each side, lowest mean first, and how often it is the cheapest."""
    table = np.stack(list(costs.values()))
    first = table.argmin(axis=0)
    rows = []
    for i, (name, usd) in enumerate(costs.items()):
        p5, p10, p50, p90, p95 = (
            float(np.quantile(usd, q)) for q in (0.05, 0.10, 0.50, 0.90, 0.95)
        )
        rows.append(
            specs.RiskRow(
                side=name,
                mean_usd=float(usd.mean()),
                p5_usd=p5,
                p10_usd=p10,
                p50_usd=p50,
                p90_usd=p90,
                p95_usd=p95,
                cheapest_frac=float((first == i).mean()),
            )
        )
    return specs.RISK.table(sorted(rows, key=lambda row: row.mean_usd))
