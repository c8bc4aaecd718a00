"""A service for a trace: the event loop decides how many replicas keep the limits.

The queue formulas give the order of the layouts and the first number of replicas. From then on one
criterion holds: the share of the requests of the replay that are within each limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from dcplan.answers.serve.service.outcome import Outcome, Pool
from dcplan.answers.serve.service.played import Played, at_quantile, percentiles_of, played_on
from dcplan.answers.serve.service.rates import RunRates, best_fleet
from dcplan.inputs.serving.sizing.pools import BOTH
from dcplan.inputs.serving.traffic import Traffic

MOST_REPLAYS = 8
"""Replays of the trace for one system."""
CLOSE = 1.03
"""Ratio of replicas that hold to replicas that do not, at which the search ends."""
GROWTH = 1.5
"""Factor on the replicas while the replay is above a limit."""


@dataclass
class _Search:
    """Replays of the trace, each made once."""

    rates: RunRates
    traffic: Traffic
    left: int = MOST_REPLAYS
    played: dict[tuple[int, int], Played] = field(default_factory=dict)

    def play(self, at: int, replicas: int) -> Played:
        """Return the replay on a number of replicas."""
        key = (at, replicas)
        if key not in self.played:
            self.left -= 1
            self.played[key] = played_on(self.rates, self.traffic, at, replicas)
        return self.played[key]

    def holds(self, at: int, replicas: int) -> bool:
        """Whether the replay is within both limits."""
        run = self.rates.run
        played, quantile = self.play(at, replicas), run.request.quantile
        ttft, tpot = (at_quantile(x, quantile) for x in played.latencies_s)
        return ttft <= run.ttft_s and tpot <= run.tpot_s


def traced_outcome(rates: RunRates) -> Outcome | None:
    """Return the service with the fewest accelerators whose replay keeps the limits, or None.

    With a given number of accelerators, the layout is taken whose replicas serve the highest
    multiple of the rate. Its fewest replicas may be more than the given accelerators have.
    """
    fleet, run = best_fleet(rates), rates.run
    if fleet is None or run.traffic is None:
        return None
    search = _Search(rates, run.traffic)
    best: tuple[int, int] | None = None
    for at in _candidates(rates, fleet.at):
        if search.left < 1:
            break
        most = None
        if best is not None:
            # another layout must hold with fewer accelerators, which one replay tells
            most = _fewer(rates, at, best)
            if most < _least(rates, at) or not search.holds(at, most):
                continue
        found = _fewest(search, at, most)
        best = best if found is None else (at, found)
    if best is None:
        return None
    at, fewest = best
    replicas = _given(rates, at) or fewest
    if replicas >= fewest and not search.holds(at, replicas):
        fewest = replicas + 1
    return _outcome(search, at, replicas, fewest)


def _given(rates: RunRates, at: int) -> int:
    """Return the replicas of the given accelerators; 0 if none are given."""
    run = rates.run
    return (run.request.accelerators or 0) // run.layouts[at].accelerators


def _candidates(rates: RunRates, first: int) -> Iterator[int]:
    """Yield the best layout of the formulas, then the others by their accelerators for the rate."""
    yield first
    run = rates.run
    most = {at: x for at, x in rates.searched.items() if x > 0.0 and at != first}
    rate, limit = run.rate or 0.0, run.request.accelerators or math.inf
    need = {
        at: (math.ceil(rate / x) + run.spare_replicas) * run.layouts[at].accelerators
        for at, x in most.items()
        if run.layouts[at].accelerators <= limit
    }
    yield from sorted(need, key=lambda at: (need[at], at))


def _least(rates: RunRates, at: int) -> int:
    """Return the replicas below which the queue of a layout grows without limit."""
    return max(math.ceil((rates.run.rate or 0.0) / rates.stable(at)), 1)


def _fewer(rates: RunRates, at: int, best: tuple[int, int]) -> int:
    """Return the most replicas of a layout that need fewer accelerators than the best service.

    With given accelerators, they are those with which the layout serves more than the best one.
    """
    run, (other, fewest) = rates.run, best
    size, spare = run.layouts[at].accelerators, run.spare_replicas
    if run.request.accelerators is not None:
        return math.ceil(_given(rates, at) * fewest / _given(rates, other)) - 1
    return ((fewest + spare) * run.layouts[other].accelerators - 1) // size - spare


def _fewest(search: _Search, at: int, holds: int | None) -> int | None:
    """Return the fewest replicas of a layout whose replay keeps the limits, or None.

    ``holds`` is a number that is known to do so. The search is a bisection in ratios.
    """
    rates = search.rates
    low, most = _least(rates, at) - 1, rates.most(at)
    high = holds or max(math.ceil((rates.run.rate or 0.0) / most), low + 1)
    known, given = holds is not None, _given(rates, at)
    if holds is None and given > low:
        known = search.holds(at, given)
        low, high = (low, given) if known else (given, max(high, given + 1))
    while search.left > 0 and not (known and high <= max(low + 1, low * CLOSE)):
        middle = high if high <= low + 1 else _between(low, high)
        if search.holds(at, middle):
            high, known = middle, True
        elif middle >= high:
            low, high = high, math.ceil(high * GROWTH)
        else:
            low = middle
    return high if known or search.holds(at, high) else None


def _between(low: int, high: int) -> int:
    return min(max(round(math.sqrt(max(low, 1) * high)), low + 1), high - 1)


def _outcome(search: _Search, at: int, replicas: int, fewest: int) -> Outcome:
    """Return the service with the latencies of its replay."""
    rates = search.rates
    states, run = rates.states, rates.run
    copy, played, rate = rates.copy(at), search.play(at, replicas), run.rate or 0.0
    each = rate / replicas
    failed: dict[int, int] = {}
    for other, count in search.played:
        if not search.holds(other, count):
            size = run.layouts[other].accelerators
            failed[other] = max(failed.get(other, 0), count * size)
    loop = rates.latency(at, each) if each < rates.stable(at) else None
    pool = Pool(
        BOTH,
        run.layouts[at],
        states.one(at),
        float(states.found.most_requests[at, 0]),
        replicas,
        run.spare_replicas,
        each,
        rate / fewest,  # the same criterion as that of the number of replicas
        rates.stable(at),
        played.running,
    )
    return Outcome(
        run,
        states,
        rates,
        (pool,),
        rate,
        played.parts(copy.ingress_s),
        percentiles_of(played.ttft_s, run.request.quantile),
        percentiles_of(played.tpot_s, run.request.quantile),
        at,
        "closed",
        played,
        loop,
        failed,
    )
