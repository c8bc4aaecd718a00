"""The best layout and batch of a model without decode, and its replicas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.answers.serve.passes.points import Points, points_of
from dcplan.answers.serve.passes.resolve import PassRun
from dcplan.answers.serve.power import ServicePower, it_power
from dcplan.answers.serve.reasons import rounded_up
from dcplan.answers.serve.service.outcome import Pool
from dcplan.answers.serve.service.rates import Fleet, fleet_at
from dcplan.errors import Place, Problem
from dcplan.serving.power import PowerTerms, power_frac, use_of
from dcplan.units import GIGA, MILLI

NEAR = 0.9
"""Without a latency limit, the smallest batch with this share of the highest rate is taken."""
POOL = "passes"


@dataclass(frozen=True)
class PassOutcome:
    """A service at its load."""

    points: Points
    fleet: Fleet
    column: int
    """Index of the batch."""
    pools: tuple[Pool, ...]

    @property
    def run(self) -> PassRun:
        """The request on one kind of hardware."""
        return self.points.run

    @property
    def cell(self) -> tuple[int, int]:
        """Layout and batch."""
        return self.fleet.at, self.column

    @property
    def batch(self) -> int:
        """Items of a batch."""
        return int(self.points.batch[self.column])

    @property
    def batch_s(self) -> float:
        """Time of a batch [s]."""
        return float(self.points.seconds[self.cell])

    @property
    def spares(self) -> int:
        """Accelerators of spare replicas."""
        return sum(p.spares for p in self.pools)

    @property
    def items_per_s(self) -> float:
        """Items per second of the service."""
        return self.fleet.rate * self.run.per_request

    @property
    def items_per_s_max(self) -> float:
        """Highest items per second of the service within the limit."""
        return self.fleet.rate_max * self.run.per_request


def outcome_of(run: PassRun) -> PassOutcome | list[Problem]:
    """Return the best service of a run, or why there is none.

    With a rate, it has the fewest accelerators with spares; with a number of accelerators, the
    highest rate; else the most items per second and accelerator.
    """
    points = points_of(run)
    best: tuple[tuple[float, float, float], PassOutcome] | None = None
    for at in range(len(run.layouts)):
        column = best_column(points, at)
        found = _outcome(points, at, column) if column is not None else None
        if found is None:
            continue
        score = _score(found)
        if best is None or score > best[0]:
            best = (score, found)
    return best[1] if best else [_refusal(points)]


def best_column(points: Points, at: int) -> int | None:
    """Return the batch of a layout with the highest rate within the limit.

    Without a limit it is the smallest batch near the highest rate.
    """
    rate = np.where(points.within[at], points.items_per_s[at], 0.0)
    if not rate.any():
        return None
    share = NEAR if points.run.request.latency_ms is None else 1.0
    return int(np.argmax(rate >= share * rate.max()))


def _outcome(points: Points, at: int, column: int) -> PassOutcome | None:
    run, layout = points.run, points.run.layouts[at]
    most = float(points.items_per_s[at, column]) * layout.accelerators
    fleet = fleet_at(run, at, most / run.per_request)
    if fleet is None:
        return None
    each, highest = fleet.rate / fleet.replicas, fleet.rate_max / fleet.replicas
    largest = float(np.where(points.possible[at], points.batch, 0.0).max())
    pool = Pool(
        *(POOL, layout, points.one(at), largest, fleet.replicas, run.spare_replicas),
        *(each, highest, highest, float(points.batch[column])),
    )
    return PassOutcome(points, fleet, column, (pool,))


def _score(found: PassOutcome) -> tuple[float, float, float]:
    run, fleet = found.run, found.fleet
    value = round(float(found.points.items_per_s[found.cell]), 9)
    size = run.layouts[fleet.at].accelerators
    if run.request.accelerators is not None:
        return (round(fleet.rate_max, 9), value, -size)
    if run.rate is not None:
        return (-(fleet.accelerators + run.spare_replicas * size), value, -size)
    return (value, -size, 0.0)


def _refusal(points: Points) -> Problem:
    """Return why a run serves nothing: the memory or the latency limit."""
    run = points.run
    possible = points.possible
    if not possible.any():
        return _does_not_fit(points)
    seconds = np.where(possible, points.seconds, np.inf)
    at, column = np.unravel_index(int(np.argmin(seconds)), seconds.shape)
    floor = float(seconds[at, column])
    cause = (
        f"{run.title}: --latency-ms {run.request.latency_ms:g} is below the floor of the time of a "
        f"batch, {floor / MILLI:,.1f} ms with {run.layouts[int(at)]} and "
        f"{points.batch[int(column)]:g} {run.item}"
    )
    return Problem("DC034", cause, Place("--latency-ms"), help=f"--latency-ms {rounded_up(floor)}")


def _does_not_fit(points: Points) -> Problem:
    run, uses = points.run, points.uses
    need = np.where(points.allowed, uses.total, np.inf).min(axis=1)
    at = int(np.argmin(need))
    cause = (
        f"{run.title} does not fit: {run.layouts[at]} needs {need[at] / GIGA:,.1f} GB per "
        f"accelerator, and the engine has {uses.usable / GIGA:,.1f} GB on each"
    )
    fixes = ["a larger accelerator"]
    if run.request.accelerators is not None and run.layouts[at].accelerators < run.domain:
        fixes.append("a larger -n")
    if run.software.precision.weight_bytes.value > 1.0:
        fixes.append("--precision fp8")
    return Problem("DC032", cause, Place("serve"), help=f"try {' or '.join(fixes)}")


def power_of(found: PassOutcome) -> ServicePower | None:
    """Return the IT power of a service: of its batches at its utilization."""
    return it_power(found.run, [(pool, _frac(found, pool)) for pool in found.pools])


def _frac(found: PassOutcome, pool: Pool) -> float:
    """Return the power of a serving accelerator over its thermal design power.

    A batch reads the weights once in each of its passes. The products of attention and the work of
    text encoders and image decoder are not counted.
    """
    run, stages = found.run, pool.layout.pp
    terms = PowerTerms(**{k: np.array(v) for k, v in run.service.power.items()})
    seconds = found.batch_s / stages
    tokens = found.batch * run.tokens * run.passes / seconds
    read = np.array(seconds / run.passes)
    use = use_of(pool.served, np.array(0.0), np.array(run.tokens), read, np.array(tokens))
    busy = float(np.max(power_frac(terms, use)))
    share = pool.rate / pool.rate_max
    return share * busy + (1.0 - share) * run.service.power["idle_frac"]
