"""Frontier of throughput against interactivity, of one pool and of split pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dcplan.answers.serve.service.outcome import Outcome
from dcplan.inputs.serving.sizing.pools import SEARCH_BUSY_FRAC
from dcplan.serving.search import frontier
from dcplan.serving.split import Split, split
from dcplan.specs.serve import options
from dcplan.units import MILLI

MOST_POINTS = 12
"""Points of the frontier in the short form."""
SPLITS = 32
"""Limits of the time per output token for which split pools are searched."""


def frontier_rows(found: Outcome) -> list[options.FrontierRow]:
    """Return the points that no other beats in throughput and interactivity."""
    if found.run.request.disaggregated:
        return list(_split_rows(found))
    points, run = found.states.found, found.run
    rows = []
    for i, j in frontier(points):
        tpot, ttft = float(points.steady.tpot_s[i, j]), float(points.steady.ttft_s[i, j])
        rows.append(
            options.FrontierRow(
                1.0 / tpot,
                float(points.tokens_per_s_per_accelerator[i, j]),
                tpot / MILLI,
                ttft / MILLI,
                int(points.concurrency[j]),
                run.layouts[i].accelerators,
                str(run.layouts[i]),
                tpot <= run.tpot_s and ttft <= run.ttft_s,
            )
        )
    return rows


def _split_rows(found: Outcome) -> Iterator[options.FrontierRow]:
    """Yield the best split pools for limits of the TPOT, from the fastest, each better than the last.

    Both pools take any number of replicas, so a point has no complete replicas of a load.
    """
    run, highest = found.run, 0.0
    for each in _splits(found):
        value = run.need.output_tokens / each.accelerators_per_rps
        if value <= highest:
            continue
        highest = value
        first, second = run.layouts[each.prefill], run.layouts[each.decode]
        yield options.FrontierRow(
            1.0 / each.tpot_s,
            value,
            each.tpot_s / MILLI,
            each.ttft_s / MILLI,
            int(each.concurrency),
            second.accelerators,
            f"{first} prefill + {second} decode",
            each.tpot_s <= run.tpot_s and each.ttft_s <= run.ttft_s,
        )


def _splits(found: Outcome) -> Iterator[Split]:
    """Yield the split pools with the fewest accelerators within each limit of the TPOT."""
    states, run, points = found.states, found.run, found.states.found
    slowest = max(float(points.steady.tpot_s[i, j]) for i, j in frontier(points))
    fastest = float(np.where(states.fits > 0, states.tpot_floor_s, np.inf).min())
    limits = np.geomspace(min(fastest, run.tpot_s), max(slowest, run.tpot_s), SPLITS)
    for limit in np.sort(np.append(limits, run.tpot_s)).tolist():
        each = split(
            states.served,
            states.memory,
            run.need,
            run.service.most_running,
            run.ttft_s,
            limit,
            SEARCH_BUSY_FRAC,
        )
        if each is not None:
            yield each


def thinned(rows: Sequence[options.FrontierRow]) -> list[options.FrontierRow]:
    """Return at most 12 points at equal distances in the list, both ends included."""
    if len(rows) <= MOST_POINTS:
        return list(rows)
    step = (len(rows) - 1) / (MOST_POINTS - 1)
    return [rows[round(i * step)] for i in range(MOST_POINTS)]
