"""Replay of a quarter of a plan by hour, and the parts of its difference from the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from dcplan.energy.dispatch import Dispatch, Source, dispatch
from dcplan.energy.taken import taken_mw
from dcplan.units import KG_PER_TONNE

Array = npt.NDArray[np.float64]
GRID = "grid"


class Part(StrEnum):
    """What one step of the replay adds to the step before; the value is its text in tables."""

    WEATHER = "PUE and WUE of the weather file"
    """Mean of the hours of a weather file instead of the plan's PUE and WUE of the year."""
    PUE = "PUE and WUE times load"
    """PUE and WUE by hour, where the plan has the mean of the season, or a PUE of the scenario."""
    LEVEL = "price level of the file"
    """Mean price of the quarter in a file instead of the plan's price."""
    PRICE = "price times load"
    """Price by hour: covariance of price and load."""
    OUTPUT = "output of PV, wind and contracts times price"
    """Their planned energy in the hours of their output: covariance of price and output."""
    PLANTS = "plants by hour"
    """Plants follow load and price, each hour at least cost, within the power of the grid."""
    DERATING = "derating of plants"
    PLANNED_OUTAGES = "planned outages of plants"
    FORCED_OUTAGES = "forced outages of plants"
    INTERRUPTIONS = "interruptions of the grid"
    """Paused work is made up in the other hours of the quarter."""


@dataclass(frozen=True)
class PlantHours:
    """An on-site plant in a quarter: what the plan decided, and its power by hour."""

    name: str
    planned_mwh: float
    usd_per_mwh: float
    kg_co2_per_mwh: float
    rated_mw: Array
    """Rating of the units that run, without spare units; of PV and wind, the output of the hour."""
    derated_mw: Array
    """The same units at the temperature of the hour."""
    kept_mw: Array
    """Less planned outages that spare units do not replace."""
    mean_mw: Array
    """Less forced outages, in the mean."""
    by_grid: bool = False
    """Whether it comes through the grid, whose power it takes: a contract, whose price per MWh is what
    a used MWh costs more than a sold one. The load uses it before energy of the tariff in every hour."""
    by_weather: bool = False
    """Whether the weather sets its output, as that of PV and wind."""

    @property
    def shaped(self) -> bool:
        """Return whether its output by hour is given: that of PV, wind and contracts."""
        return self.by_grid or self.by_weather


@dataclass(frozen=True)
class SiteQuarter:
    """A site in a quarter of the plan, by hour."""

    weights: Array
    """Length of each hour; the sum is the quarter. [h]"""
    planned_mw: float
    """Mean load with the plan's PUE."""
    level_mw: float
    """Mean load with the mean PUE of the hours of a year."""
    load_mw: Array
    """Load of the quarter's IT power with the PUE of the hour."""
    planned_usd_per_mwh: float
    level_usd_per_mwh: float
    """Mean of the prices by hour."""
    usd_per_mwh: Array
    """Price of the grid by hour, of any sign."""
    kg_co2_per_mwh: float
    """CO2 of the grid."""
    grid_mw: float | Array
    """Most power from the grid, or that of each hour, without interruptions."""
    open_mw: Array
    """Most power from the grid by hour, with interruptions."""
    plants: tuple[PlantHours, ...] = ()
    kept_mw: Array | None = None
    """Part of the load that does not pause with the work, such as racks at idle power; None: nothing."""


@dataclass(frozen=True)
class Totals:
    """Sums of a quarter."""

    mwh: float
    """Served load."""
    usd: float
    """Energy of the grid and of the plants."""
    t_co2: float

    def less(self, other: Totals) -> Totals:
        """Return the differences."""
        return Totals(self.mwh - other.mwh, self.usd - other.usd, self.t_co2 - other.t_co2)

    def more_usd(self, usd: float) -> Totals:
        """Return the sums with a further cost."""
        return Totals(self.mwh, self.usd + usd, self.t_co2)


@dataclass(frozen=True)
class Replay:
    """A quarter by hour: the sums of the plan and of the hours, and what lies between them."""

    planned: Totals
    parts: dict[Part, Totals]
    """Differences in the order of the steps; their sum is that of the hours less the plan."""
    found: Totals
    load_mw: Array
    """Load by hour, with paused work made up."""
    hours: Dispatch
    shaped_mwh: float = 0.0
    """Planned energy of PV, wind and contracts."""


def replayed(quarter: SiteQuarter) -> Replay:
    r"""Return the quarter by hour, and the parts of its difference from the plan.

    .. math:: X_{hours} - X_{plan} = \sum_{i=1}^{10} (X_i - X_{i-1})

    with X energy, cost or CO2. Step i changes one thing more than step i - 1: mean PUE, PUE by
    hour, mean price, price by hour, output of PV, wind and contracts by hour, dispatch of plants by
    hour, derating, planned outages, forced outages, interruptions. Up to the prices, all plants give
    their planned energy at constant power; with their output by hour, PV, wind and contracts give it
    in their hours.

    Examples
    --------
    10 MW of the plan are 8 MW in one half of the quarter and 12 MW in the other. At 30 and 70
    USD/MWh instead of 50, load and price rise together: 1,000 h x (8 x 30 + 12 x 70) = 1.08 MUSD.

    >>> half, one = np.full(2, 1000.0), np.ones(2)
    >>> site = SiteQuarter(
    ...     half, 10.0, 10.0, np.array([8.0, 12.0]), 50.0, 50.0, np.array([30.0, 70.0]),
    ...     400.0, 20.0, 20.0 * one,
    ... )
    >>> found = replayed(site)
    >>> found.planned.usd, found.found.usd, found.parts[Part.PRICE].usd
    (1000000.0, 1080000.0, 80000.0)
    """
    one = np.ones(quarter.weights.size)
    flat, level = quarter.planned_usd_per_mwh * one, quarter.level_usd_per_mwh * one
    planned = _as_planned(quarter, quarter.planned_mw * one, flat)
    steps = {
        Part.WEATHER: _as_planned(quarter, quarter.level_mw * one, flat),
        Part.PUE: _as_planned(quarter, quarter.load_mw, flat),
        Part.LEVEL: _as_planned(quarter, quarter.load_mw, level),
        Part.PRICE: _as_planned(quarter, quarter.load_mw, quarter.usd_per_mwh),
    }
    moved_usd = -float((_moved_mw(quarter) * quarter.usd_per_mwh) @ quarter.weights)
    steps[Part.OUTPUT] = steps[Part.PRICE].more_usd(moved_usd)
    powers = {
        Part.PLANTS: [p.rated_mw for p in quarter.plants],
        Part.DERATING: [p.derated_mw for p in quarter.plants],
        Part.PLANNED_OUTAGES: [p.kept_mw for p in quarter.plants],
        Part.FORCED_OUTAGES: [p.mean_mw for p in quarter.plants],
    }
    for part, plants_mw in powers.items():
        steps[part] = _sums(
            quarter, _hours(quarter, quarter.load_mw, quarter.grid_mw * one, plants_mw)
        )
    own_mw = [p.mean_mw for p in quarter.plants]
    work = paused(_room(quarter, own_mw), quarter.weights)
    load = _kept(quarter) + (quarter.load_mw - _kept(quarter)) * work
    hours = _hours(quarter, load, quarter.open_mw, own_mw)
    steps[Part.INTERRUPTIONS] = _sums(quarter, hours)
    before = [planned, *steps.values()]
    parts = {part: now.less(was) for (part, now), was in zip(steps.items(), before, strict=False)}
    shaped_mwh = sum(p.planned_mwh for p in quarter.plants if p.shaped)
    return Replay(planned, parts, steps[Part.INTERRUPTIONS], load, hours, shaped_mwh)


def paused(room: Array, weights: Array) -> Array:
    r"""Return the work of each hour over its mean, where some hours have no room for all of it.

    .. math:: f_h = \min(F, r_h), \quad \sum_h w_h f_h = \sum_h w_h

    What an hour has no room for is made up evenly in the others. Where no hour has room for it,
    it is lost.

    Parameters
    ----------
    room : array
        Most work of the hour over the mean, at least 0; infinite without a limit. [1]
    weights : array
        Length of each hour. [h]

    Examples
    --------
    A tenth of the hours has room for 0.55 of the work; the others do 1.05 of it.

    >>> done = paused(np.array([0.55, *[np.inf] * 9]), np.ones(10))
    >>> round(float(done[0]), 9), round(float(done[1]), 9), round(float(done.sum()), 9)
    (0.55, 1.05, 10.0)
    """
    whole, level = float(weights.sum()), 1.0
    while True:
        full = room < level
        free = float(weights[~full].sum())
        if free <= 0.0:
            return np.asarray(room)
        higher = (whole - float(weights[full] @ room[full])) / free
        if not (room[~full] < higher).any():
            return np.minimum(higher, room)
        level = higher


def with_other_load(found: Replay, quarter: SiteQuarter, mw: Array) -> Replay:
    """Return the replay with the cost of a load outside the data center, such as a heat pump.

    The load has no part of energy and CO2. It is paid at the prices of the grid.

    Parameters
    ----------
    found : Replay
        The quarter without the load.
    quarter : SiteQuarter
        Its prices.
    mw : array
        Power of the load by hour, at least 0. [MW]

    Examples
    --------
    1 MW in the expensive half of 1,000 hours: 50 kUSD in the plan, 70 kUSD at its price by hour.

    >>> half, one = np.full(2, 1000.0), np.ones(2)
    >>> site = SiteQuarter(
    ...     half, 10.0, 10.0, 10.0 * one, 50.0, 50.0, np.array([30.0, 70.0]), 400.0, 20.0, 20.0 * one
    ... )
    >>> more = with_other_load(replayed(site), site, np.array([0.0, 1.0]))
    >>> more.planned.usd, more.found.usd, more.parts[Part.PRICE].usd
    (1050000.0, 1070000.0, 20000.0)
    """
    mwh, usd = float(mw @ quarter.weights), float((mw * quarter.usd_per_mwh) @ quarter.weights)
    planned, level = mwh * quarter.planned_usd_per_mwh, mwh * quarter.level_usd_per_mwh
    more = {Part.LEVEL: level - planned, Part.PRICE: usd - level}
    return replace(
        found,
        planned=found.planned.more_usd(planned),
        parts={part: x.more_usd(more.get(part, 0.0)) for part, x in found.parts.items()},
        found=found.found.more_usd(usd),
    )


def _kept(quarter: SiteQuarter) -> Array:
    """Return the load that does not pause."""
    return np.zeros(quarter.load_mw.size) if quarter.kept_mw is None else quarter.kept_mw


def _room(quarter: SiteQuarter, plants_mw: Sequence[Array]) -> Array:
    """Return the most work of each hour over the mean; only interruptions of the grid limit it."""
    own = [mw for p, mw in zip(quarter.plants, plants_mw, strict=True) if not p.by_grid]
    power = quarter.open_mw + sum(own, np.zeros(quarter.load_mw.size))
    pauses = quarter.load_mw - _kept(quarter)
    cut = (quarter.open_mw < quarter.grid_mw) & (pauses > 0.0)
    left = np.maximum(power - _kept(quarter), 0.0)
    return np.where(cut, left / np.where(cut, pauses, 1.0), np.inf)


def _as_planned(quarter: SiteQuarter, load_mw: Array, usd_per_mwh: Array) -> Totals:
    """Return the sums where the plants give their planned energy at constant power."""
    weights = quarter.weights
    made = [p.planned_mwh for p in quarter.plants]
    grid = load_mw - sum(made) / float(weights.sum())
    mwh = float(grid @ weights)
    usd = float((grid * usd_per_mwh) @ weights)
    usd += sum(p.usd_per_mwh * x for p, x in zip(quarter.plants, made, strict=True))
    kg = mwh * quarter.kg_co2_per_mwh
    kg += sum(p.kg_co2_per_mwh * x for p, x in zip(quarter.plants, made, strict=True))
    return Totals(mwh + sum(made), usd, kg / KG_PER_TONNE)


def _moved_mw(quarter: SiteQuarter) -> Array:
    """Return the planned energy of PV, wind and contracts in the hours of their output, less its mean.

    The load takes their output in the order of the plan, after firm plants at constant power.
    """
    whole, moved = float(quarter.weights.sum()), np.zeros(quarter.load_mw.size)
    firm = sum(p.planned_mwh for p in quarter.plants if not p.shaped) / whole
    shaped = sorted(
        (p for p in quarter.plants if p.shaped), key=lambda p: (p.by_grid, p.usd_per_mwh)
    )
    if not shaped:
        return moved
    outputs = np.stack([p.rated_mw for p in shaped])
    for p, mw in zip(
        shaped, taken_mw(outputs, np.maximum(quarter.load_mw - firm, 0.0)), strict=True
    ):
        mean = float(mw @ quarter.weights) / whole
        if mean > 0.0:
            moved += p.planned_mwh / whole * (mw / mean - 1.0)
    return moved


def _hours(
    quarter: SiteQuarter, load_mw: Array, grid_mw: Array, plants_mw: Sequence[Array]
) -> Dispatch:
    """Return the least cost of each hour, with contracts before the tariff.

    A contract has the price of the tariff where that is lower, so that it keeps its place: only what
    the load cannot take is sold.
    """
    own = sorted(zip(quarter.plants, plants_mw, strict=True), key=lambda x: x[0].usd_per_mwh)
    sources = [Source(p.name, mw, p.usd_per_mwh, p.kg_co2_per_mwh) for p, mw in own if p.by_grid]
    sources += [Source(GRID, _left_mw(quarter, load_mw, grid_mw), 0.0, quarter.kg_co2_per_mwh)]
    sources += [
        Source(p.name, mw, p.usd_per_mwh, p.kg_co2_per_mwh) for p, mw in own if not p.by_grid
    ]
    prices = {p.name: np.minimum(p.usd_per_mwh, quarter.usd_per_mwh) for p, _ in own if p.by_grid}
    found = dispatch(
        load_mw, sources, hours=quarter.weights, prices={GRID: quarter.usd_per_mwh, **prices}
    )
    more_usd = sum(
        float((found.flows.by_source[p.name] * (p.usd_per_mwh - prices[p.name])) @ quarter.weights)
        for p, _ in own
        if p.by_grid
    )
    return replace(found, usd=found.usd + more_usd)


def _left_mw(quarter: SiteQuarter, load_mw: Array, grid_mw: Array) -> Array:
    """Return the power that the grid has left for energy of the tariff, after contracts."""
    taken = np.zeros(load_mw.size)
    for p in (p for p in quarter.plants if p.by_grid):
        used = np.minimum(np.minimum(p.mean_mw, load_mw - taken), grid_mw - taken)
        taken += np.maximum(used, 0.0)
    return np.asarray(grid_mw - taken)


def _sums(quarter: SiteQuarter, hours: Dispatch) -> Totals:
    served = sum(float(mw @ quarter.weights) for mw in hours.flows.by_source.values())
    return Totals(served, hours.usd, hours.t_co2)
