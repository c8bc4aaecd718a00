"""Tornados and Monte Carlo simulation of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dcplan.answers.tco.comparison import OWNED, Comparison
from dcplan.answers.tco.request import TcoRequest
from dcplan.answers.tco.sensitivity.bounds import MFU, STANDARD, inputs_of_tornado, marginal_of
from dcplan.answers.tco.sensitivity.swings import Flows, Swing, sampled_npvs, swing_of, vectors
from dcplan.answers.tco.sensitivity.tornado import token_tornado, tornado
from dcplan.economics.ranges import Array
from dcplan.economics.sampling import samples
from dcplan.inputs.stand_ins import STAND_IN
from dcplan.result import Table
from dcplan.specs.tco import risks

DEFAULT_SAMPLES, DEFAULT_SEED = 10_000, 1


@dataclass(frozen=True)
class Risk:
    """Tables and bounds of a comparison; empty if no input has bounds."""

    tables: dict[str, Table] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    owned_bounds: tuple[float | None, float | None] = (None, None)


def risk_of(both: Comparison, request: TcoRequest) -> Risk:
    """Price the inputs of the tornado at their bounds; sample them if there is a ``sensitivity``.

    Within the bounds, the cash flow of each month is linear on either side of the present value of
    the input, and inputs are independent; the discount rate is exact.
    """
    now = vectors(both)
    swings, notes = _swings(both, now, request)
    tables = {}
    costly = {key: swing for key, swing in swings.items() if key != MFU}
    if costly:
        tables[risks.TORNADO.name] = tornado(both, now, costly)
    if any(usd is not None for swing in swings.values() for usd in swing.tokens_usd):
        tables[risks.TOKEN_TORNADO.name] = token_tornado(swings)
    costs = _costs(both, now, costly)
    if not costs:
        return Risk(tables, notes)
    tables[risks.RISK.name] = _spread(costs)
    low, high = (float(np.quantile(costs[OWNED], q)) for q in (0.1, 0.9))
    return Risk(tables, notes, (low, high))


def _swings(
    both: Comparison, now: Flows, request: TcoRequest
) -> tuple[dict[str, Swing], tuple[str, ...]]:
    """Return the swing of each input, and a note on each named input without one.

    A standard input that does not move the answer is left out.
    """
    asked = both.question.scenario.sensitivity
    named = (asked.inputs or ()) if asked is not None else ()
    swings, notes = {}, []
    for key in inputs_of_tornado(both):
        marginal = marginal_of(key, both)
        if marginal is not None:
            swing = swing_of(key, marginal, both, now, request)
            if key in named or key == MFU or swing.moves(key):
                swings[key] = swing
        elif key in named:
            known = key in both.log.rows or key in STAND_IN or key in STANDARD
            why = (
                "has no low and high bounds in the scenario or the catalog"
                if known
                else "is not an input of this answer"
            )
            notes.append(f"sensitivity: {key} {why}; it is excluded")
    return swings, tuple(notes)


def _costs(both: Comparison, now: Flows, swings: Mapping[str, Swing]) -> Flows:
    """Return the present value of each side in every sample; empty without a ``sensitivity``.

    The inputs that it names vary; if it names none, all of them.
    """
    asked = both.question.scenario.sensitivity
    if asked is None:
        return {}
    swings = {k: s for k, s in swings.items() if k in (asked.inputs or swings)}
    if not swings:
        return {}
    sampled = samples(
        {k: s.marginal for k, s in swings.items()},
        asked.samples or DEFAULT_SAMPLES,
        seed=DEFAULT_SEED if asked.seed is None else asked.seed,
    )
    return sampled_npvs(now, swings, sampled, both.rate)


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
            risks.RiskRow(
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
    return risks.RISK.table(sorted(rows, key=lambda row: row.mean_usd))
