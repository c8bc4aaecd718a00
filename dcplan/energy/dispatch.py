"""Hourly dispatch of sources and a battery at least cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dcplan.units import KG_PER_TONNE

Array = npt.NDArray[np.float64]
PENALTY_USD_PER_MWH = 1e5
"""Price of unserved load, above every fuel price."""
PENALTY_CYCLE_USD_PER_MWH = 1e-3
"""Price of energy through the battery, so that it does not charge and discharge at once."""


@dataclass(frozen=True)
class Source:
    """A power source."""

    name: str
    mw: float | Array
    """Power that the source can have; an array by hour where it changes."""
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
class Flows:
    """Power by hour, and the energy in the battery at the start of the hour."""

    by_source: Mapping[str, Array]
    charged_mw: Array
    discharged_mw: Array
    stored_mwh: Array
    short_mw: Array


@dataclass(frozen=True)
class Dispatch:
    """Energy and cost over the hours."""

    mwh: dict[str, float]
    usd: float
    t_co2: float
    short_mwh: float
    battery_mwh: float
    """Discharged energy."""
    flows: Flows


def dispatch(
    load_mw: Array,
    sources: Sequence[Source],
    battery: Battery | None = None,
    hours: Array | None = None,
    prices: Mapping[str, Array] | None = None,
) -> Dispatch:
    r"""Serve every hour at minimum cost.

    .. math:: \min \sum_{h,s} c_s g_{hs} + C\,u_h \quad
              \sum_s g_{hs} + d_h - q_h + u_h = L_h,\; e_{h+1} = e_h + \sqrt{\eta}\,q_h -
              d_h/\sqrt{\eta}

    with :math:`0 \le g_{hs} \le G_{hs}`, charge and discharge within the battery's power, and the
    stored energy at the end equal to that at the start. Without a battery the hours do not depend
    on each other, and the cheapest sources serve first.

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
    prices : mapping of str to array, optional
        Cost of a source's energy by hour, of any sign, instead of its `usd_per_mwh`. [USD/MWh]

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

    At 120 USD/MWh in the second hour, the engine serves it first:

    >>> both = [Source("grid", 20.0, 50.0), Source("engine", 15.0, 90.0, 450.0)]
    >>> found = dispatch(load, both, prices={"grid": np.array([50.0, 120.0])})
    >>> found.mwh, found.usd
    ({'grid': 25.0, 'engine': 15.0}, 3650.0)
    """
    by_hour = prices or {}
    flows = (
        _merit(load_mw, sources, by_hour)
        if battery is None
        else _program(load_mw, sources, battery, by_hour)
    )
    weights = np.ones(load_mw.size) if hours is None else hours
    mwh = {name: round(float(mw @ weights), 9) for name, mw in flows.by_source.items()}
    usd = sum(
        float((flows.by_source[s.name] * by_hour[s.name]) @ weights)
        if s.name in by_hour
        else s.usd_per_mwh * mwh[s.name]
        for s in sources
    )
    carbon = sum(s.kg_co2_per_mwh * mwh[s.name] for s in sources) / KG_PER_TONNE
    short = float(flows.short_mw @ weights)
    return Dispatch(mwh, usd, carbon, short, float(flows.discharged_mw @ weights), flows)


def _limit(source: Source, steps: int) -> Array:
    return np.broadcast_to(np.asarray(source.mw, dtype=np.float64), steps)


def _cost(source: Source, steps: int, prices: Mapping[str, Array]) -> Array:
    """Return the cost of a source's energy by hour [USD/MWh]."""
    return np.broadcast_to(prices.get(source.name, np.float64(source.usd_per_mwh)), steps)


def _merit(load_mw: Array, sources: Sequence[Source], prices: Mapping[str, Array]) -> Flows:
    """Serve each hour from the cheapest source on."""
    left = np.asarray(load_mw, dtype=np.float64).copy()
    steps = left.size
    used = np.zeros((len(sources), steps))
    if sources:
        limits = np.stack([_limit(s, steps) for s in sources])
        costs = np.stack([_cost(s, steps, prices) for s in sources])
        hour = np.arange(steps)
        for rank in np.argsort(costs, axis=0, kind="stable"):
            given = np.minimum(left, limits[rank, hour])
            used[rank, hour] = given
            left = left - given
    nothing = np.zeros(steps)
    by_source = {s.name: row for s, row in zip(sources, used, strict=True)}
    return Flows(by_source, nothing, nothing, nothing, left)


def _program(
    load_mw: Array, sources: Sequence[Source], battery: Battery, by_hour: Mapping[str, Array]
) -> Flows:
    """Solve the linear program of all hours together."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    steps, count = load_mw.size, len(sources)
    cycle = PENALTY_CYCLE_USD_PER_MWH
    flat = (PENALTY_USD_PER_MWH, cycle, cycle, 0.0)
    prices = [*(_cost(s, steps, by_hour) for s in sources), *(np.full(steps, x) for x in flat)]
    limits = [*(_limit(s, steps) for s in sources), load_mw]
    limits += [np.full(steps, limit) for limit in (battery.mw, battery.mw, battery.mwh)]
    one = eye_array(steps)
    half = float(np.sqrt(battery.round_trip_frac))
    # e_{h+1} - e_h - half q + d / half = 0, with the first hour after the last
    after = eye_array(steps, k=1) + csr_array(([1.0], ([steps - 1], [0])), shape=(steps, steps))
    serve: Any = hstack([*[one] * (count + 1), -one, one, csr_array((steps, steps))])
    nothing = csr_array((steps, steps * (count + 1)))
    keep: Any = hstack([nothing, -half * one, one / half, after - one])
    bounds: Any = np.stack([np.zeros(steps * len(limits)), np.concatenate(limits)], axis=1)
    equal: Any = vstack([serve, keep])
    right = np.concatenate([load_mw, np.zeros(steps)])
    found = linprog(np.concatenate(prices), A_eq=equal, b_eq=right, bounds=bounds, method="highs")
    if not found.success or found.x is None:
        msg = f"the dispatch has no optimum: {found.message}"
        raise ValueError(msg)
    rows = np.maximum(found.x.reshape(-1, steps), 0.0)
    used = {s.name: row for s, row in zip(sources, rows[:count], strict=True)}
    short, charged, discharged, stored = rows[count:]
    return Flows(used, charged, discharged, stored, short)


def starts(mw: Array, unit_mw: Array) -> int:
    """Return how often a unit starts: rises of the whole units that the power needs.

    Units without a share of the load are off. The year follows itself.

    Parameters
    ----------
    mw : array
        Power of the plant by hour. [MW]
    unit_mw : array
        Power of one unit by hour; 0 where no unit can run. [MW]

    Examples
    --------
    >>> starts(np.array([0.0, 3.0, 12.0, 0.0]), np.full(4, 10.0))
    2
    """
    size = np.where(unit_mw > 0, unit_mw, 1.0)
    running = np.ceil(mw / size - PENALTY_CYCLE_USD_PER_MWH)
    return int(np.maximum(running - np.roll(running, 1), 0).sum())
