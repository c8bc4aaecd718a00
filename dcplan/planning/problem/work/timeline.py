"""Durations and ends of a job at every count of a pace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dcplan.llm.tables import Array
from dcplan.planning.problem.work.pace import Pace
from dcplan.reliability.calendar import RunTime
from dcplan.reliability.outlook import Outlook


@dataclass(frozen=True)
class Timeline:
    """Durations of a job on one kind of hardware at every count."""

    pace: Pace
    step_time_s: Array
    """Step time that waits for data."""
    expected: Outlook
    run: RunTime
    days: Array
    """Duration at the required confidence."""
    slow: Mapping[str, Array]
    """What a storage of given capacity costs; empty without one."""

    @cached_property
    def existing(self) -> Array:
        """Return the accelerators with spares."""
        return np.asarray(self.pace.accelerators + self.expected.spares)

    @cached_property
    def p50_days(self) -> list[float]:
        """Return the median duration."""
        return _listed(self.run.p50_days, self.days.size)


@dataclass(frozen=True)
class Ends:
    """Ends of a job at every count, with the facts that a plan reports."""

    days: list[float]
    """Days from the planned start to the end at the required confidence."""
    reported: Mapping[str, list[float]]

    def facts(self, i: int) -> dict[str, float]:
        """Return the reported values of a run's stops and its end at the i-th count."""
        return {name: values[i] for name, values in self.reported.items()}


def ends(expected: Outlook, late: RunTime, confidence: float) -> Ends:
    """Return the ends of runs that start with delays, and what a plan reports of their stops."""
    tier, good, size = expected.recovery.durable, expected.goodput, expected.stops_per_day.size
    found = {
        "goodput_frac": good.value,
        "goodput_low_frac": good.low,
        "goodput_high_frac": good.high,
        "stops_per_day": expected.stops_per_day,
        "checkpoint_interval_s": tier.interval_s,
        "end_p50_days": late.p50_days,
        **{f"variance_{name}": share for name, share in late.shares.items()},
    }
    reported = {name: _listed(value, size) for name, value in found.items()}
    return Ends(_listed(late.quantile_days(confidence), size), reported)


def _listed(value: object, size: int) -> list[float]:
    return [
        float(x) for x in np.broadcast_to(np.asarray(value, dtype=np.float64), (size,)).tolist()
    ]
