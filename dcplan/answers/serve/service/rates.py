"""Replicas of the best layout of a service."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dcplan.answers.serve.hosted import Hosted
from dcplan.answers.serve.resolve import ServeRun
from dcplan.inputs.serving.sizing.rates import Rates, rates_of
from dcplan.inputs.serving.sizing.states import states_of

MOST_SEARCHED = 16
"""Layouts whose rate is searched at most."""


@dataclass(frozen=True)
class RunRates(Rates):
    """Rates of the layouts of a run."""

    run: ServeRun = field(kw_only=True)


def run_rates(run: ServeRun) -> RunRates:
    """Return the states and the bounds of all layouts of a run."""
    found = rates_of(states_of(run.work))
    return RunRates(found.states, found.bound, run=run)


@dataclass(frozen=True)
class Fleet:
    """Replicas of one layout."""

    at: int
    """Index of the layout."""
    replicas: int
    accelerators: int
    """Accelerators that serve, without spares."""
    rate: float
    """Request rate of the service [1/s]."""
    rate_max: float
    """Highest request rate within the limits [1/s]."""


def fleet_of(rates: RunRates, at: int) -> Fleet | None:
    """Return the replicas of a layout for the request: of one replica, of -n or of --rate."""
    return fleet_at(rates.run, at, rates.most(at))


def fleet_at(run: Hosted, at: int, most: float) -> Fleet | None:
    """Return the replicas of a layout of which each serves at most ``most`` requests per second."""
    request, size = run.request, run.layouts[at].accelerators
    if most <= 0.0:
        return None
    if request.accelerators is not None:
        replicas = request.accelerators // size
    elif run.rate is not None:
        replicas = math.ceil(run.rate / most)
    else:
        replicas = 1
    if replicas < 1:
        return None
    rate = most * replicas if run.rate is None else min(run.rate, most * replicas)
    return Fleet(at, replicas, replicas * size, rate, most * replicas)


def best_fleet(rates: RunRates) -> Fleet | None:
    """Return the best layout within the limits, or None.

    With a rate, it has the fewest accelerators with spares; with a number of accelerators, the
    highest rate; else the most tokens per accelerator. Of equal ones, the one with more tokens per
    accelerator is taken.
    """
    best: tuple[tuple[float, float, float], Fleet] | None = None
    order = np.argsort(-rates.bound, kind="stable")
    for searched, at in enumerate(int(i) for i in order):
        if rates.bound[at] <= 0.0 or (best and searched >= MOST_SEARCHED):
            break
        if best is not None and not _may_win(rates, at, best[1]):
            continue
        fleet = fleet_of(rates, at)
        if fleet is None:
            continue
        score = _score(rates, fleet)
        if best is None or score > best[0]:
            best = (score, fleet)
    return best[1] if best else None


def _score(rates: RunRates, fleet: Fleet) -> tuple[float, float, float]:
    run = rates.run
    request = run.request
    size = fleet.accelerators / fleet.replicas
    value = round(rates.value(fleet.at), 6)
    if request.accelerators is not None:
        return (round(fleet.rate_max, 9), value, -size)
    if run.rate is not None:
        return (-(fleet.accelerators + run.spare_replicas * size), value, -size)
    return (value, -size, 0.0)


def _may_win(rates: RunRates, at: int, best: Fleet) -> bool:
    """Whether a layout could beat the best one if it reached its bound."""
    run = rates.run
    size = int(rates.states.found.accelerators[at, 0])
    rate = float(rates.bound[at]) * size / run.need.output_tokens
    if run.request.accelerators is not None:
        return rate * (run.request.accelerators // size) > best.rate_max
    if run.rate is not None:
        each = best.accelerators // best.replicas
        count = (math.ceil(run.rate / rate) + run.spare_replicas) * size
        return count <= best.accelerators + run.spare_replicas * each
    return float(rates.bound[at]) > rates.value(best.at)
