"""Size of one cluster: the fit to its record, the search, the interval, the textbook rules."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.demand.clusters import Recording
from dcplan.answers.demand.request import ORDERS, DemandRequest
from dcplan.answers.demand.steps import Reporter, Stage
from dcplan.demand.log.fidelity import Fidelity, fit
from dcplan.demand.log.size import Cluster, Shortage, Target, shortage, smallest_units
from dcplan.demand.log.staffing import Load, erlang_units, load_of, square_root_units
from dcplan.demand.log.weeks import resampled, week_draws
from dcplan.demand.log.work import Order
from dcplan.units import SECONDS_PER_HOUR

MOST_FACTOR = 2.0
"""Error of the replay above which no size is given."""
LEAST_JOBS = 200
"""Jobs below which a log gives no size: a 95th percentile of half of them has five jobs."""
MOSTLY_POLICY_FRAC = 0.5
"""Share of the wait above which policy, not hardware, is named as its cause."""
CURVE = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2)
"""Sizes of the shortage table, as shares of the size found."""
ROUNDING = 1e-9
"""Part of a node that is a rounding error."""
SHOWN_QUANTILES = (0.5, 0.95)
LOW, HIGH = 0.1, 0.9


@dataclass(frozen=True)
class Sized:
    """What a log asks for in one cluster."""

    cluster: Recording
    load: Load
    fidelity: Fidelity | None
    """None: the log has too few jobs."""
    factor: float
    effective_frac: float
    accelerators: float | None
    """None: no size is given, because of ``why_not``."""
    interval: tuple[float, float] | None
    curve: tuple[Shortage, ...]
    """Units of the replay, not corrected by ``effective_frac``."""
    rules: tuple[tuple[str, float], ...]
    """Textbook rules with their accelerators."""
    why_not: str
    order: str = ""
    """Order of the queue in the replays."""

    def in_accelerators(self, units: float) -> float:
        """Return accelerators of the cluster for units of the replay."""
        return units / self.cluster.recorded.units_per_accelerator / min(self.effective_frac, 1.0)

    def whole(self, units: float) -> float:
        """Return accelerators of the cluster for units of the replay, in whole nodes or units."""
        step = self.cluster.search.step / self.cluster.recorded.units_per_accelerator
        return math.ceil(self.in_accelerators(units) / step - ROUNDING) * step


def sized(request: DemandRequest, cluster: Recording) -> Sized:
    """Return the size that keeps the target of one cluster, or why none is given."""
    work, parts = cluster.recorded.work, cluster.recorded.units_per_accelerator
    target = Target(request.wait_h * SECONDS_PER_HOUR, request.wait_quantile)
    load = load_of(work)
    if len(work) < LEAST_JOBS:
        why = f"the log has {len(work)} jobs that ran; a size needs at least {LEAST_JOBS}"
        return Sized(cluster, load, None, math.nan, 1.0, None, None, (), (), why)
    if not cluster.starts_known:
        order: Order = request.order or "backfill"  # type: ignore[assignment]
        rules = _rules(load, float(work.run_s.mean()), target, parts)
        start = Sized(cluster, load, None, math.nan, 1.0, None, None, (), rules, "", order)
        return _searched(request, start, order, target)
    held = cluster.policy_frac
    if cluster.assumed and held > MOSTLY_POLICY_FRAC:
        why = (
            f"the accelerators of the cluster are unknown; on the recorded peak of {cluster.peak:g} "
            f"{held:.0%} of the wait is not for accelerators: set --accelerators"
        )
        return Sized(cluster, load, None, math.nan, 1.0, None, None, (), (), why)
    reporter = Reporter(request.progress, cluster.name)
    orders: tuple[Order, ...] = (request.order,) if request.order else ORDERS  # type: ignore[assignment]
    found = fit(
        cluster.recorded,
        cluster.units,
        math.ceil(cluster.peak) * parts,
        cluster.search.per_node,
        cluster.rules,
        orders,
        lambda done, total: reporter.say(Stage.FIT, done, total),
    )
    factor, effective = found.factor(request.wait_quantile), found.units / cluster.units
    rules = _rules(load, float(work.run_s.mean()), target, parts)
    start = Sized(cluster, load, found, factor, effective, None, None, (), rules, "", found.order)
    if factor > MOST_FACTOR:
        why = (
            f"the replay is off by a factor of {factor:.1f} on jobs that it has not seen; "
            f"a size needs at most {MOST_FACTOR:g}"
        )
        return replace(start, why_not=why)
    return _searched(request, start, found.order, target)


def _searched(request: DemandRequest, start: Sized, order: Order, target: Target) -> Sized:
    """Return a size with its interval and what happens at other sizes."""
    cluster, work = start.cluster, start.cluster.recorded.work
    parts = cluster.recorded.units_per_accelerator
    leaves = request.most_rented * parts if request.most_rented else math.inf
    rules_of = replace(cluster.rules, order=order, leaves_units=leaves)
    search = replace(cluster.search, rules=rules_of)
    reporter = Reporter(request.progress, cluster.name)
    reporter.say(Stage.SEARCH)
    try:
        units = smallest_units(work, search, target)
    except ValueError as error:
        return replace(start, why_not=str(error))
    sizes = sorted({_rounded(units * x, search.step) for x in CURVE})
    reporter.say(Stage.CURVE)
    curve = shortage(work, search, target, sizes, SHOWN_QUANTILES)
    interval = _interval(request, cluster, search, target, units)
    ends = (start.whole(interval[0]), start.whole(interval[1])) if interval else None
    return replace(start, accelerators=start.whole(units), interval=ends, curve=curve)


def _rounded(units: float, step: int) -> int:
    return max(round(units / step), 1) * step


def _interval(
    request: DemandRequest, cluster: Recording, search: Cluster, target: Target, units: int
) -> tuple[float, float] | None:
    """Return the 10th and 90th percentile of the size, with sampled whole weeks; the size is inside.

    Sampled weeks break up what lasts longer than a week, so that all of them may be smaller.
    """
    work = cluster.recorded.work
    draws = week_draws(work, request.draws, request.seed)
    if not draws:
        return None
    reporter = Reporter(request.progress, cluster.name)
    found = []
    try:
        for k, weeks in enumerate(draws):
            reporter.say(Stage.DRAWS, k, len(draws))
            again = resampled(work, weeks)
            if len(again):
                found.append(smallest_units(again, search, target, start=units))
    except ValueError:
        return None  # no size keeps the target in every sample of weeks
    if not found:
        return None
    low, high = np.quantile(found, [LOW, HIGH])
    return min(float(low), units), max(float(high), units)


def _rules(
    load: Load, mean_run_s: float, target: Target, parts: int
) -> tuple[tuple[str, float], ...]:
    late = target.late_frac
    named = {
        "square root, Poisson arrivals of single accelerators": square_root_units(load, late, 1.0),
        "square root, Poisson arrivals of gangs": square_root_units(load, late, load.gang_factor),
        "square root, recorded variance": square_root_units(load, late, load.peakedness),
        "Erlang C with servers of the mean gang": erlang_units(
            load, mean_run_s, target.wait_s, late
        ),
        f"use without waits, {target.quantile:.0%} of the time": load.quantile(target.quantile),
    }
    return tuple((name, units / parts) for name, units in named.items())
