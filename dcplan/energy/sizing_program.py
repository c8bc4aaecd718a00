"""Linear program of sizes and dispatch, for a load by step."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
MOST_SOLVE_S = 300.0
"""Longest time of the solver. [s]"""


@dataclass(frozen=True)
class Option:
    """A source whose size is chosen."""

    name: str
    per_mw: Array
    """Power by hour that one MW of it can have, 0 to 1."""
    usd_per_mw_year: float
    """Annual capital and fixed cost."""
    usd_per_mwh: float
    most_mw: float
    least_mw: float = 0.0
    dispatched: bool = True
    """Whether its power is set; False for PV and wind, whose surplus is curtailed."""


@dataclass(frozen=True)
class Storage:
    """A battery whose size is chosen."""

    usd_per_mw_year: float
    usd_per_mwh_year: float
    round_trip_frac: float
    most_mw: float
    hours: float | None = None
    """Stored energy over power; None: both are chosen."""


@dataclass
class _Rows:
    """Rows of a linear program by blocks of columns."""

    widths: Mapping[str, int]
    blocks: list[Any] = field(default_factory=list)
    right: list[Array] = field(default_factory=list)

    def add(self, right: Array, **columns: Any) -> None:
        """Add rows; a block of columns that is not named has zeros."""
        from scipy.sparse import csr_array, hstack

        found = [
            columns[name] if name in columns else csr_array((right.size, width))
            for name, width in self.widths.items()
        ]
        self.blocks.append(hstack(found))
        self.right.append(right)


def _sized(shape: Array, index: int, count: int) -> Any:
    """Return the columns of the sizes with one shape at one of them."""
    from scipy.sparse import csr_array

    steps = shape.size
    rows = np.arange(steps)
    return csr_array((shape, (rows, np.full(steps, index))), shape=(steps, count))


@dataclass(frozen=True)
class Program:
    """Sizes of sources and a battery with the dispatch of every step, at least annual cost."""

    load: Array
    """Load by step. [MW]"""
    options: Sequence[Option]
    shapes: Sequence[Array]
    """Power by step that one MW of each option can have, 0 to 1."""
    storage: Storage | None
    served_frac: float
    reserve_frac: float
    block_h: int
    """Hours of a step."""

    @functools.cached_property
    def widths(self) -> dict[str, int]:
        """Return the blocks of columns with their widths."""
        steps = self.load.size
        found = {"size": len(self.options), "short": steps}
        found |= {f"power_{i}": steps for i, o in enumerate(self.options) if o.dispatched}
        if self.storage is not None:
            found |= {"battery": 2, "charge": steps, "discharge": steps, "energy": steps}
            if self.reserve_frac > 0.0:
                found["ready"] = steps
        return found

    @functools.cached_property
    def prices(self) -> Array:
        """Return the annual cost of one unit of each column [USD]."""
        by_column = {name: np.zeros(width) for name, width in self.widths.items()}
        by_column["size"] = np.array([o.usd_per_mw_year for o in self.options])
        for i, option in enumerate(self.options):
            if option.dispatched:
                by_column[f"power_{i}"] += option.usd_per_mwh * self.block_h
        if self.storage is not None:
            each = [self.storage.usd_per_mw_year, self.storage.usd_per_mwh_year]
            by_column["battery"] = np.array(each)
        return np.concatenate(list(by_column.values()))

    def solved(self) -> Array:
        """Return the columns at least cost.

        Raises
        ------
        ValueError
            If no sizes within their limits serve the share, with the reserve.
        """
        upper, equal = _Rows(self.widths), _Rows(self.widths)
        self._balance(upper)
        if self.storage is not None:
            self._keep_energy(upper, equal, self.storage)
        if self.reserve_frac > 0.0:
            self._reserve(upper)
        return _solved(upper, equal, self.prices, self._bounds())

    def _bounds(self) -> list[tuple[float, float | None]]:
        found: list[tuple[float, float | None]] = []
        for name, width in self.widths.items():
            if name == "size":
                found += [(o.least_mw, o.most_mw) for o in self.options]
            elif name == "short":
                found += [(0.0, float(x)) for x in self.load]
            elif name == "battery" and self.storage is not None:
                found += [(0.0, self.storage.most_mw), (0.0, None)]
            else:
                found += [(0.0, None)] * width
        return found

    def _balance(self, upper: _Rows) -> None:
        """Serve every step, within the sizes and the unserved share."""
        from scipy.sparse import csr_array, eye_array

        steps, count = self.load.size, len(self.options)
        one = eye_array(steps)
        serve: dict[str, Any] = {"short": -one, "size": csr_array((steps, count))}
        for i, (option, shape) in enumerate(zip(self.options, self.shapes, strict=True)):
            size = _sized(shape, i, count)
            if option.dispatched:
                serve[f"power_{i}"] = -one
                upper.add(np.zeros(steps), **{f"power_{i}": one, "size": -size})
            else:
                serve["size"] = serve["size"] - size
        if self.storage is not None:
            serve |= {"charge": one, "discharge": -one}
        upper.add(-self.load, **serve)
        share = np.array([(1.0 - self.served_frac) * float(self.load.sum())])
        upper.add(share, short=csr_array(np.ones((1, steps))))

    def _keep_energy(self, upper: _Rows, equal: _Rows, storage: Storage) -> None:
        """Keep the battery's energy, power and duration."""
        from scipy.sparse import csr_array, eye_array

        steps, block_h = self.load.size, self.block_h
        one, half = eye_array(steps), float(np.sqrt(storage.round_trip_frac))
        after = eye_array(steps, k=1) + csr_array(([1.0], ([steps - 1], [0])), shape=(steps, steps))
        nothing = np.zeros(steps)
        flows = {"charge": -half * one, "discharge": one / half, "energy": (after - one) / block_h}
        equal.add(nothing, **flows)
        power, energy = (csr_array(np.outer(np.ones(steps), c)) for c in ([1.0, 0.0], [0.0, 1.0]))
        upper.add(nothing, charge=one, discharge=one, battery=-power)
        upper.add(nothing, energy=one, battery=-energy)
        if storage.hours is not None:
            equal.add(np.zeros(1), battery=csr_array(np.array([[storage.hours, -1.0]])))

    def _reserve(self, upper: _Rows) -> None:
        """Have power ready in the dispatched sources and the battery."""
        from scipy.sparse import csr_array, eye_array

        load, storage, reserve_frac = self.load, self.storage, self.reserve_frac
        one, count = eye_array(load.size), len(self.options)
        ready: dict[str, Any] = {
            "short": -reserve_frac * one,
            "size": csr_array((load.size, count)),
        }
        for i, (option, shape) in enumerate(zip(self.options, self.shapes, strict=True)):
            if option.dispatched:
                ready[f"power_{i}"] = one
                ready["size"] = ready["size"] - _sized(shape, i, count)
        if storage is not None:
            ready["ready"] = -one
            half = float(np.sqrt(storage.round_trip_frac))
            power = csr_array(np.outer(np.ones(load.size), [1.0, 0.0]))
            upper.add(np.zeros(load.size), ready=one, discharge=one, battery=-power)
            upper.add(np.zeros(load.size), ready=one, discharge=one, energy=-half * one)
        upper.add(-reserve_frac * load, **ready)


def _solved(
    upper: _Rows, equal: _Rows, prices: Array, bounds: Sequence[tuple[float, float | None]]
) -> Array:
    from scipy.optimize import linprog
    from scipy.sparse import vstack

    scale = max(float(np.abs(prices).max()), 1.0)
    # the solver's tolerances are absolute: prices are scaled to at most 1,000
    given: dict[str, Any] = {"A_ub": vstack(upper.blocks), "b_ub": np.concatenate(upper.right)}
    if equal.blocks:
        given |= {"A_eq": vstack(equal.blocks), "b_eq": np.concatenate(equal.right)}
    found = linprog(
        prices * (1e3 / scale),
        bounds=list(bounds),
        method="highs-ds",
        options={"time_limit": MOST_SOLVE_S},
        **given,
    )
    if found.status == 2:
        msg = "no sizes within their limits serve the load with this share and reserve"
        raise ValueError(msg)
    if not found.success or found.x is None:
        msg = f"the sizes have no optimum: {found.message}"
        raise ValueError(msg)
    return np.asarray(found.x)
