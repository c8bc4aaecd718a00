"""How well a replay repeats recorded waits: fitted to one half of a log, measured on the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.demand.log.jobs import Array, Flags
from dcplan.demand.log.recorded import Recorded
from dcplan.demand.log.replay import Replayed, replay
from dcplan.demand.log.size import SEARCH_WARM_FRAC, wait_quantile
from dcplan.demand.log.work import Order, Rules, Work

SEARCH_FLOOR_S = 60.0
"""Waits below a minute count as equal: logs and schedulers count in such steps. Added to both sides of a
ratio. [s]"""
SEARCH_SIZES = 16
"""Sizes of a cluster that the fit tries for each order."""
SEARCH_LEAST_FRAC = 0.5
"""Least size that the fit tries, as a share of the given size."""
SEARCH_QUANTILES = (0.5, 0.9, 0.95)
"""Quantiles of the wait that a fit has to repeat."""


@dataclass(frozen=True)
class Figures:
    """Waits of some jobs, in seconds."""

    quantiles_s: tuple[float, ...]
    """At :data:`SEARCH_QUANTILES`."""
    mean_s: float

    @property
    def all_s(self) -> Array:
        """Quantiles and mean."""
        return np.array([*self.quantiles_s, self.mean_s])


@dataclass(frozen=True)
class Fidelity:
    """A fit to the first half of a log, and its error on the second half."""

    units: int
    """Size of the cluster that repeats the waits of the first half best."""
    order: Order
    recorded: Figures
    """Waits for capacity of the second half, as recorded."""
    replayed: Figures
    """The same in the replay of the whole log on the fitted cluster."""
    given: Figures
    """The same on the cluster of the given size, with the fitted order."""
    jobs: int
    """Jobs of the second half."""

    def factor(self, quantile: float) -> float:
        """Return how far the replay is off at the nearest of the three quantiles; 1 is exact."""
        k = int(np.argmin([abs(q - quantile) for q in SEARCH_QUANTILES]))
        return float(np.exp(_errors(self.replayed, self.recorded)[k]))


def figures(wait_s: Array) -> Figures:
    """Return quantiles and mean of waits; jobs that never started are left out.

    Examples
    --------
    >>> figures(np.array([0.0, 0.0, 0.0, 40.0]))
    Figures(quantiles_s=(0.0, 40.0, 40.0), mean_s=10.0)
    """
    known = wait_s[np.isfinite(wait_s)]
    mean = float(known.mean()) if len(known) else float("nan")
    return Figures(tuple(wait_quantile(known, q) for q in SEARCH_QUANTILES), mean)


def _errors(found: Figures, recorded: Figures) -> Array:
    ratio = (found.all_s + SEARCH_FLOOR_S) / (recorded.all_s + SEARCH_FLOOR_S)
    return np.abs(np.log(ratio))


def fit(
    recorded: Recorded,
    units: int,
    most_units: int,
    per_node: int,
    rules: Rules,
    orders: Sequence[Order],
    tried: Callable[[int, int], None] | None = None,
) -> Fidelity:
    r"""Return the size and order that repeat the first half best, and the error on the second.

    .. math:: \min_{C, order} \sum_k \left|\ln \frac{\hat{w}_k + 60}{w_k + 60}\right|

    over the median, the quantiles 0.9 and 0.95 and the mean of the waits for capacity of the first
    half, without its first tenth. The error is measured on the second half, which the fit has not
    seen: the replay of the whole log on the fitted cluster against the record.

    Parameters
    ----------
    recorded : Recorded
        At least two jobs.
    units : int
        Size that the cluster is said to have.
    most_units : int
        Largest size that the fit tries, such as the recorded peak.
    per_node : int
        Units of a node; 0: accelerators are counted.
    rules : Rules
    orders : sequence of str
        Orders that the fit tries.
    tried : callable or None
        Receives the number of replays that are done, and of all.

    Examples
    --------
    Sixty jobs that came every 10 s and ran for 20 s on one accelerator, one after another:

    >>> from dcplan.demand.log.jobs import log_of
    >>> from dcplan.demand.log.recorded import recorded_work
    >>> from dcplan.demand.log.waits import split_waits
    >>> come, start = np.arange(60) * 10.0, np.arange(60) * 20.0
    >>> log = log_of(come, start, start + 20.0, np.ones(60))
    >>> found = fit(recorded_work(log, split_waits(log, 1, 1)), 1, 2, 0, Rules(), ["fifo"])
    >>> found.units, round(found.factor(0.95), 2)
    (1, 1.0)
    """
    halves = _Halves(recorded, per_node, rules)
    smallest = max(int(recorded.work.units.max()), int(units * SEARCH_LEAST_FRAC))
    spread = np.linspace(smallest, max(most_units, units, smallest), SEARCH_SIZES)
    sizes = sorted({*(round(float(x)) for x in spread), max(units, smallest)})
    best, chosen = _best(halves, units, [(o, size) for o in orders for size in sizes], tried)
    return Fidelity(
        best,
        chosen,
        figures(recorded.wait_s[halves.late]),
        halves.held_out(best, chosen),
        halves.held_out(max(units, smallest), chosen),
        int(halves.late.sum()),
    )


def _best(
    halves: _Halves,
    units: int,
    tries: Sequence[tuple[Order, int]],
    tried: Callable[[int, int], None] | None,
) -> tuple[int, Order]:
    """Return the size and order of the least error; of equal ones, the size nearest to the given."""
    errors = []
    for order, size in tries:
        errors.append((halves.error(size, order), abs(size - units), size, order))
        if tried is not None:
            tried(len(errors), len(tries))
    _, _, best, chosen = min(errors)
    return best, chosen


@dataclass(frozen=True)
class _Halves:
    """The two halves of a log, and the cluster on which they are replayed."""

    recorded: Recorded
    per_node: int
    rules: Rules

    @property
    def late(self) -> Flags:
        """Jobs of the second half."""
        count = len(self.recorded.work)
        return np.asarray(np.arange(count) >= count // 2, dtype=np.bool_)

    def error(self, size: int, order: Order) -> float:
        """Return the error on the first half without its first tenth."""
        half = len(self.recorded.work) // 2
        counted = np.arange(half) >= int(half * SEARCH_WARM_FRAC)
        goal = figures(self.recorded.wait_s[:half][counted])
        run = self._replay(self.recorded.work.rows(~self.late), size, order)
        return float(_errors(figures(run.wait_s[counted]), goal).sum())

    def held_out(self, size: int, order: Order) -> Figures:
        """Return the waits of the second half in a replay of the whole log."""
        return figures(self._replay(self.recorded.work, size, order).wait_s[self.late])

    def _replay(self, work: Work, size: int, order: Order) -> Replayed:
        return replay(work, size, self.per_node or size, replace(self.rules, order=order))
