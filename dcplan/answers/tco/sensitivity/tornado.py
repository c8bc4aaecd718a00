"""Tornados: cost of owning over renting, and cost of a million tokens, with one input at its bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dcplan.answers.tco.comparison import OWNED, Comparison
from dcplan.answers.tco.sensitivity.swings import Swing, sampled_npvs
from dcplan.economics.ranges import Array
from dcplan.result import Table
from dcplan.specs.tco import risks

SAME = 1e-12
"""Relative difference of two costs that only rounding separates."""


def tornado(both: Comparison, now: Mapping[str, Array], swings: Mapping[str, Swing]) -> Table:
    """List the inputs by their swing of owning over the cheapest rent, the widest first."""
    rows: list[risks.TornadoRow] = []
    for key, swing in swings.items():
        m = swing.marginal
        low, high = (_at(now, swings, key, x, both.rate) for x in (m.low, m.high))
        at = _switch(now, swings, key, both.rate)
        rows.append(
            risks.TornadoRow(
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
    return risks.TORNADO.table(sorted(rows, key=lambda r: -r.swing_usd))


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


def token_tornado(swings: Mapping[str, Swing]) -> Table:
    """List the inputs by their swing of the cost of a million tokens, the widest first."""
    rows = []
    for key, swing in swings.items():
        low, high = swing.tokens_usd
        if low is None or high is None or math.isclose(low, high, rel_tol=SAME):
            continue
        m = swing.marginal
        rows.append(
            risks.TokenTornadoRow(
                input=key,
                low=m.low,
                now=m.value,
                high=m.high,
                usd_per_million_tokens_at_low=low,
                usd_per_million_tokens_at_high=high,
                swing_usd_per_million_tokens=abs(high - low),
            )
        )
    return risks.TOKEN_TORNADO.table(sorted(rows, key=lambda r: -r.swing_usd_per_million_tokens))


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
