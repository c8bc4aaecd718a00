"""Hourly dispatch of grid, generators and batteries: a small linear program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dcplan.units import KG_PER_TONNE

Array = npt.NDArray[np.float64]
PENALTY_USD_PER_MWH = 1e5
"""Price of unserved load, above every fuel price."""


@dataclass(frozen=True)
class Source:
    """A power source."""

    name: str
    mw: float | Array
    """Firm power; an array by hour if a grid tranche is interrupted."""
    usd_per_mwh: float
    """Cost of energy: fuel, variable cost, tariff."""
    kg_co2_per_mwh: float = 0.0


@dataclass(frozen=True)
class Battery:
    """Battery storage in addition to the sources."""

    mw: float
    mwh: float
    round_trip_frac: float


@dataclass(frozen=True)
class Dispatch:
    """Energy and cost over the hours."""

    mwh: dict[str, float]
    usd: float
    t_co2: float
    short_mwh: float
    battery_mwh: float
    """Discharged energy."""


def dispatch(
    load_mw: Array,
    sources: Sequence[Source],
    battery: Battery | None = None,
    hours: Array | None = None,
) -> Dispatch:
    r"""Serve every hour at minimum cost.

    .. math:: \min \sum_{h,s} c_s g_{hs} + C\,u_h \quad
              \sum_s g_{hs} + d_h - q_h + u_h = L_h,\; e_{h+1} = e_h + \sqrt{\eta}\,q_h -
              d_h/\sqrt{\eta}

    with :math:`0 \le g_{hs} \le G_{hs}`, charge and discharge within the battery's power, and the
    stored energy at the end equal to that at the start.

    Parameters
    ----------
    load_mw : array
        Load by hour, not negative. [MW]
    sources : sequence of Source
        Sources in any order; cost determines the dispatch.
    battery : Battery, optional
        Storage.
    hours : array, optional
        Weight of each hour in the sums, default 1; a typical year of 8,760 hours
        can represent a longer year. [h]

    Raises
    ------
    ValueError
        If the program has no optimum.

    Examples
    --------
    >>> load = np.array([10.0, 30.0])
    >>> found = dispatch(load, [Source("grid", 20.0, 50.0), Source("engine", 15.0, 90.0, 450.0)])
    >>> found.mwh, found.usd, found.t_co2
    ({'grid': 30.0, 'engine': 10.0}, 2400.0, 4.5)
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    steps, count = load_mw.size, len(sources)
    weights = np.ones(steps) if hours is None else hours
    costs = np.concatenate(
        [np.full(steps, s.usd_per_mwh) for s in sources] + [np.full(steps, PENALTY_USD_PER_MWH)]
    )
    upper = np.concatenate(
        [np.broadcast_to(np.asarray(s.mw, dtype=np.float64), steps) for s in sources] + [load_mw]
    )
    serve: Any = hstack([eye_array(steps)] * (count + 1))
    equal: Any = serve
    right = load_mw
    if battery is not None:
        half = float(np.sqrt(battery.round_trip_frac))
        one = eye_array(steps)
        nothing = csr_array((steps, steps * (count + 1)))
        # e_{h+1} - e_h - half q + d / half = 0, with the first hour after the last
        after = eye_array(steps, k=1) + csr_array(([1.0], ([steps - 1], [0])), shape=(steps, steps))
        keep: Any = hstack([nothing, -half * one, one / half, after - one])
        equal = vstack([hstack([serve, -one, one, csr_array((steps, steps))]), keep])
        right = np.concatenate([load_mw, np.zeros(steps)])
        costs = np.concatenate([costs, np.zeros(3 * steps)])
        limits = (battery.mw, battery.mw, battery.mwh)
        upper = np.concatenate([upper, *(np.full(steps, limit) for limit in limits)])
    bounds = [(0.0, limit) for limit in upper.tolist()]
    found = linprog(costs, A_eq=equal, b_eq=right, bounds=bounds, method="highs")
    if not found.success or found.x is None:
        msg = f"the dispatch has no optimum: {found.message}"
        raise ValueError(msg)
    sums = (found.x.reshape(-1, steps) * weights).sum(axis=1)
    by_source, short = sums[:count], float(sums[count])
    discharged = float(sums[count + 2]) if battery else 0.0
    mwh = {s.name: float(round(x, 9)) for s, x in zip(sources, by_source, strict=True)}
    usd = sum(s.usd_per_mwh * mwh[s.name] for s in sources)
    carbon = sum(s.kg_co2_per_mwh * mwh[s.name] for s in sources) / KG_PER_TONNE
    return Dispatch(mwh, usd, carbon, short, discharged)
