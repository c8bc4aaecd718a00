"""Sizes of sources and a battery at least annual cost, for a load by hour and a served share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.energy.sizing_program import Array, Option, Program, Storage


@dataclass(frozen=True)
class Sizes:
    """Sizes at least cost."""

    mw: dict[str, float]
    battery_mw: float
    battery_mwh: float
    usd_per_year: float
    served_frac: float


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
    program = Program(load, options, shapes, storage, served_frac, reserve_frac, block_h)
    x, widths = program.solved(), program.widths
    at = dict(zip(widths, np.split(x, np.cumsum(list(widths.values()))[:-1]), strict=True))
    battery = at["battery"] if storage is not None else np.zeros(2)
    return Sizes(
        {o.name: round(float(mw), 9) for o, mw in zip(options, at["size"], strict=True)},
        max(float(battery[0]), 0.0),
        max(float(battery[1]), 0.0),
        round(float(program.prices @ x), 6),
        1.0 - float(at["short"].sum() / load.sum()),
    )
