"""Size of a battery by what it must do: load swings, peak shaving, and bridging to generators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.units import KW_PER_MW, SECONDS_PER_HOUR

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Duty:
    """Power and energy of one duty at the terminals of the battery."""

    mw: float
    mwh: float


@dataclass(frozen=True)
class Cells:
    """What a battery can give of its rating."""

    depth_frac: float
    """Part of the capacity between the lowest and the highest state of charge."""
    round_trip_frac: float
    end_frac: float
    """Capacity at the end of life over the rated capacity."""
    works_frac: float
    """Share of the modules that has not failed."""
    least_h: float
    """Shortest time in which the rated power empties the rated capacity."""

    @property
    def discharge_frac(self) -> float:
        """Efficiency of one way: half of the losses of the round trip."""
        return math.sqrt(self.round_trip_frac)


def bridged(load_mw: float, lasts_s: float) -> Duty:
    r"""Return the duty of a load without the grid until generators carry it: :math:`E = P t`.

    Parameters
    ----------
    load_mw : float
        Load on the battery, not negative. [MW]
    lasts_s : float
        Time until generators carry the load, not negative. [s]

    Examples
    --------
    >>> bridged(60.0, 60.0)
    Duty(mw=60.0, mwh=1.0)
    """
    return Duty(load_mw, load_mw * lasts_s / SECONDS_PER_HOUR)


def shaved(load_mw: Array, limit_mw: float, round_trip_frac: float) -> Duty:
    r"""Return the duty that keeps the power of the grid at a limit over a year of hours.

    Above the limit the battery gives :math:`P = \max_h(L_h - X)`; below, it refills with what the
    limit and P leave. The energy that its cells lack is

    .. math:: D_{h+1} = \max\left(D_h + \frac{\max(L_h - X, 0)}{\eta}
              - \eta \min(\max(X - L_h, 0), P),\; 0\right)

    with :math:`\eta` the square root of the round trip. The duty is :math:`\eta \max_h D_h`, over
    two years in a row, so that the first hour does not begin with a full battery.

    Parameters
    ----------
    load_mw : array
        Load by hour, not negative. [MW]
    limit_mw : float
        Power of the grid, above 0. [MW]
    round_trip_frac : float
        Energy out over energy in, above 0, at most 1. [-]

    Raises
    ------
    ValueError
        When the battery does not refill within a year.

    Examples
    --------
    Two hours of 12 MW over a limit of 10 MW; 4 MWh of refill without losses:

    >>> shaved(np.array([12.0, 12.0, 8.0, 8.0]), 10.0, 1.0)
    Duty(mw=2.0, mwh=4.0)
    """
    over = np.maximum(load_mw - limit_mw, 0.0)
    mw = float(over.max())
    room = np.minimum(np.maximum(limit_mw - load_mw, 0.0), mw)
    one_way = math.sqrt(round_trip_frac)
    change = over / one_way - room * one_way
    if float(change.sum()) > 0.0:
        msg = (
            f"the load is above {limit_mw:g} MW for more energy than the hours below it refill: "
            "no battery keeps the limit"
        )
        raise ValueError(msg)
    lacking = most = 0.0
    for step in np.concatenate([change, change]).tolist():
        lacking = max(lacking + step, 0.0)
        most = max(most, lacking)
    return Duty(mw, one_way * most)


def together(with_grid: Sequence[Duty], without_grid: Sequence[Duty]) -> Duty:
    r"""Return the power and energy for all duties of one battery.

    Duties with the grid can coincide, so their powers add up. Without the grid the battery carries
    the whole load, so the larger of both powers counts. Energy is reserved for each duty:

    .. math:: P = \max\left(\sum_{grid} P_i,\; \max_{no\ grid} P_i\right), \quad E = \sum E_i

    Examples
    --------
    >>> together([Duty(30.0, 0.1), Duty(5.0, 8.0)], [Duty(60.0, 1.0)])
    Duty(mw=60.0, mwh=9.1)
    """
    largest = max((d.mw for d in without_grid), default=0.0)
    power = max(sum(d.mw for d in with_grid), largest)
    return Duty(power, sum(d.mwh for d in (*with_grid, *without_grid)))


def rating(duty: Duty, cells: Cells) -> Duty:
    r"""Return the rating that a new battery needs, so that it does its duty until its end of life.

    .. math:: P_r = \frac{P}{w}, \quad
              E_r = \max\left(\frac{E}{w\,d\,\eta\,k},\; t_{min} P_r\right)

    with w the working modules, d the depth of discharge, :math:`\eta` the efficiency of one way
    and k the capacity at the end of life.

    Examples
    --------
    10 MW for an hour: 10 / (0.9 x 0.95 x 0.7) = 16.71 MWh; 10 MW for a second: the shortest
    duration of the product.

    >>> cells = Cells(0.9, 0.9025, 0.7, 1.0, 0.5)
    >>> round(rating(Duty(10.0, 10.0), cells).mwh, 2), rating(Duty(10.0, 10.0 / 3600.0), cells).mwh
    (16.71, 5.0)
    """
    mw = duty.mw / cells.works_frac
    usable = cells.works_frac * cells.depth_frac * cells.discharge_frac * cells.end_frac
    return Duty(mw, max(duty.mwh / usable, cells.least_h * mw))


@dataclass(frozen=True)
class Price:
    """Price of a battery plant: a part that follows its power, and one that follows its capacity."""

    usd_per_kw: float
    usd_per_kwh: float

    def usd(self, rated: Duty) -> float:
        """Return the price of a plant of a rated power and capacity [USD]."""
        return KW_PER_MW * (self.usd_per_kw * rated.mw + self.usd_per_kwh * rated.mwh)


def split(usd_per_kw: float, hours: float, power_frac: float) -> Price:
    r"""Return the price of a plant of another duration from that of one duration.

    .. math:: p_P = s\,C, \quad p_E = \frac{(1 - s)\,C}{h}

    with C the price of a plant of h hours over its power, and s the share of it that follows the
    power. A plant of h hours keeps its price.

    Parameters
    ----------
    usd_per_kw : float
        Price of the plant of h hours over its rated power, not negative. [USD/kW]
    hours : float
        Its rated capacity over its rated power, above 0. [h]
    power_frac : float
        Share of the price that follows the power, from 0 to 1. [-]

    Examples
    --------
    NREL ATB 2024, 2025, four hours: 1,842.05 USD/kW; its two-hour plant is 1,150.5 USD/kW.

    >>> atb = split(1842.05, 4.0, 458.94 / 1842.05)
    >>> round(atb.usd_per_kw + 2.0 * atb.usd_per_kwh, 1)
    1150.5
    """
    return Price(power_frac * usd_per_kw, (1.0 - power_frac) * usd_per_kw / hours)
