"""Sizes of sources and a battery at least annual cost, for a load by hour and a served share."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Sizes:
    """Sizes at least cost."""

    mw: dict[str, float]
    battery_mw: float
    battery_mwh: float
    usd_per_year: float
    served_frac: float


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


def in_blocks(values: Array, block_h: int) -> Array:
    """Return the means over blocks of hours, to make a year shorter.

    Raises
    ------
    ValueError
        If the hours are not a multiple of the block.

    Examples
    --------
    >>> in_blocks(np.array([1.0, 3.0, 5.0, 7.0]), 2)
    array([2., 6.])
    """
    if values.size % block_h:
        msg = f"{values.size} hours are not a multiple of {block_h}"
        raise ValueError(msg)
    return np.asarray(values.reshape(-1, block_h).mean(axis=1))


def size_sources(
    load_mw: Array,
    options: Sequence[Option],
    storage: Storage | None = None,
    served_frac: float = 1.0,
    reserve_frac: float = 0.0,
    block_h: int = 1,
) -> Sizes:
    r"""Choose sizes and dispatch of all hours together at least annual cost.

    .. math:: \min \sum_i C_i x_i + \sum_{h,i} c_i g_{hi} \quad
              \sum_i g_{hi} + d_h - q_h + u_h \ge L_h,\; g_{hi} \le a_{hi} x_i,\;
              \sum_h u_h \le (1 - s) \sum_h L_h

    with the battery as in :func:`dcplan.energy.dispatch.dispatch`, and with a reserve
    :math:`\sum_i (a_{hi} x_i - g_{hi}) + \rho_h \ge r (L_h - u_h)` of the dispatched sources and
    the battery, which has power and energy for an hour of it.

    Parameters
    ----------
    load_mw : array
        Load by hour, not negative. [MW]
    options : sequence of Option
        Sources; each has as many hours as the load.
    storage : Storage, optional
        Battery.
    served_frac : float
        Share of the year's load that is served at least, 0 to 1.
    reserve_frac : float
        Power that is ready, over the served load, 0 to 1.
    block_h : int
        Hours that are averaged to one step of the program. [h]

    Raises
    ------
    ValueError
        If no sizes within their limits serve the share, with the reserve.

    Examples
    --------
    A load of 10 MW; an engine for 100 USD per kW and year that burns 50 USD/MWh:

    >>> engine = Option("engine", np.ones(4), 100_000.0, 50.0, 50.0)
    >>> found = size_sources(np.full(4, 10.0), [engine])
    >>> found.mw, found.usd_per_year
    ({'engine': 10.0}, 1002000.0)
    """
    load = in_blocks(load_mw, block_h)
    shapes = [in_blocks(np.broadcast_to(o.per_mw, load_mw.size), block_h) for o in options]
    widths = _columns(load.size, options, storage, reserve_frac)
    upper, equal = _Rows(widths), _Rows(widths)
    _balance(upper, load, options, shapes, storage, served_frac)
    if storage is not None:
        _keep_energy(upper, equal, load.size, storage, block_h)
    if reserve_frac > 0.0:
        _reserve(upper, load, options, shapes, storage, reserve_frac)
    x = _solved(
        upper,
        equal,
        _prices(widths, options, storage, block_h),
        _bounds(widths, options, storage, load),
    )
    at = dict(zip(widths, np.split(x, np.cumsum(list(widths.values()))[:-1]), strict=True))
    prices = _prices(widths, options, storage, block_h)
    battery = at["battery"] if storage is not None else np.zeros(2)
    return Sizes(
        {o.name: round(float(mw), 9) for o, mw in zip(options, at["size"], strict=True)},
        max(float(battery[0]), 0.0),
        max(float(battery[1]), 0.0),
        round(float(prices @ x), 6),
        1.0 - float(at["short"].sum() / load.sum()),
    )


def _columns(
    steps: int, options: Sequence[Option], storage: Storage | None, reserve_frac: float
) -> dict[str, int]:
    """Return the blocks of columns with their widths."""
    found = {"size": len(options), "short": steps}
    found |= {f"power_{i}": steps for i, o in enumerate(options) if o.dispatched}
    if storage is not None:
        found |= {"battery": 2, "charge": steps, "discharge": steps, "energy": steps}
        if reserve_frac > 0.0:
            found["ready"] = steps
    return found


def _prices(
    widths: Mapping[str, int], options: Sequence[Option], storage: Storage | None, block_h: int
) -> Array:
    by_column = {name: np.zeros(width) for name, width in widths.items()}
    by_column["size"] = np.array([o.usd_per_mw_year for o in options])
    for i, option in enumerate(options):
        if option.dispatched:
            by_column[f"power_{i}"] += option.usd_per_mwh * block_h
    if storage is not None:
        by_column["battery"] = np.array([storage.usd_per_mw_year, storage.usd_per_mwh_year])
    return np.concatenate(list(by_column.values()))


def _bounds(
    widths: Mapping[str, int], options: Sequence[Option], storage: Storage | None, load: Array
) -> list[tuple[float, float | None]]:
    found: list[tuple[float, float | None]] = []
    for name, width in widths.items():
        if name == "size":
            found += [(o.least_mw, o.most_mw) for o in options]
        elif name == "short":
            found += [(0.0, float(x)) for x in load]
        elif name == "battery" and storage is not None:
            most = storage.most_mw
            found += [(0.0, most), (0.0, None)]
        else:
            found += [(0.0, None)] * width
    return found


def _sized(shape: Array, index: int, count: int) -> Any:
    """Return the columns of the sizes with one shape at one of them."""
    from scipy.sparse import csr_array

    steps = shape.size
    rows = np.arange(steps)
    return csr_array((shape, (rows, np.full(steps, index))), shape=(steps, count))


def _balance(
    upper: _Rows,
    load: Array,
    options: Sequence[Option],
    shapes: Sequence[Array],
    storage: Storage | None,
    served_frac: float,
) -> None:
    """Serve every step, within the sizes and the unserved share."""
    from scipy.sparse import csr_array, eye_array

    one = eye_array(load.size)
    count = len(options)
    serve: dict[str, Any] = {"short": -one, "size": csr_array((load.size, count))}
    for i, (option, shape) in enumerate(zip(options, shapes, strict=True)):
        if option.dispatched:
            serve[f"power_{i}"] = -one
            upper.add(np.zeros(load.size), **{f"power_{i}": one, "size": -_sized(shape, i, count)})
        else:
            serve["size"] = serve["size"] - _sized(shape, i, count)
    if storage is not None:
        serve |= {"charge": one, "discharge": -one}
    upper.add(-load, **serve)
    share = np.array([(1.0 - served_frac) * float(load.sum())])
    upper.add(share, short=csr_array(np.ones((1, load.size))))


def _keep_energy(upper: _Rows, equal: _Rows, steps: int, storage: Storage, block_h: int) -> None:
    """Keep the battery's energy, power and duration."""
    from scipy.sparse import csr_array, eye_array

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


def _reserve(
    upper: _Rows,
    load: Array,
    options: Sequence[Option],
    shapes: Sequence[Array],
    storage: Storage | None,
    reserve_frac: float,
) -> None:
    """Have power ready in the dispatched sources and the battery."""
    from scipy.sparse import csr_array, eye_array

    one, count = eye_array(load.size), len(options)
    ready: dict[str, Any] = {"short": -reserve_frac * one, "size": csr_array((load.size, count))}
    for i, (option, shape) in enumerate(zip(options, shapes, strict=True)):
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
