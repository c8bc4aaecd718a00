"""Payments of a list added up by time, in years or in periods."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from dcplan.answers.tco.flows.read import CashFlow, CashFlows
from dcplan.economics.ranges import Array
from dcplan.errors import InputError, Place, Problem
from dcplan.units import DAYS_PER_COMMON_YEAR

DATED, PERIODIC = "actual-365", "periodic"


@dataclass(frozen=True)
class Timed:
    """Payments added up by time."""

    names: tuple[str, ...]
    """Date or period of each time."""
    times: Array
    """Years or periods from time 0."""
    usd: Array
    each: tuple[float, ...]
    """Time of every payment of the list, in its order."""
    dated: bool
    """Whether times are days / 365."""


def timed_of(read: CashFlows, day_count: str | None) -> Timed:
    """Add up the payments of each time, under a day count.

    Raises
    ------
    InputError
        When days are counted in a list of periods.
    """
    dated = read.dated if day_count is None else day_count == DATED
    if dated and not read.dated:
        cause = f"{DATED} needs dates; the list has periods"
        raise InputError(
            [Problem("DC015", cause, Place("--day-count"), help=f"--day-count {PERIODIC}")]
        )
    keys = [_name(flow) for flow in read.flows]
    names = tuple(dict.fromkeys(keys))
    first = {_name(flow): flow for flow in reversed(read.flows)}
    start = read.flows[0].day
    when = {}
    for number, name in enumerate(names):
        flow = first[name]
        if dated and flow.day is not None and start is not None:
            when[name] = (flow.day - start).days / DAYS_PER_COMMON_YEAR
        else:
            when[name] = float(number if flow.period is None else flow.period)
    sums: dict[str, float] = defaultdict(float)
    for key, flow in zip(keys, read.flows, strict=True):
        sums[key] += flow.usd
    return Timed(
        names,
        np.array([when[name] for name in names]),
        np.array([sums[name] for name in names]),
        tuple(when[key] for key in keys),
        dated,
    )


def _name(flow: CashFlow) -> str:
    return str(flow.period) if flow.day is None else flow.day.isoformat()


def unit_of_time(timed: Timed) -> str:
    """Return what one step of time is: a year or a period."""
    return "year" if timed.dated else "period"
