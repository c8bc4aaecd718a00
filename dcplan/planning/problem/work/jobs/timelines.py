"""Durations and ends of jobs at every count of a pace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dcplan.llm.tables import Array
from dcplan.planning.problem.work.jobs import choice
from dcplan.planning.problem.work.jobs.outlooks import Outlooks, risk_key, storage_at
from dcplan.planning.problem.work.jobs.pace import Pace
from dcplan.planning.problem.work.jobs.slow_storage import storage_losses
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import JobTerms
from dcplan.reliability.calendar import RunTime, with_delays
from dcplan.reliability.job import Bounds
from dcplan.reliability.outlook import Outlook
from dcplan.units import DAYS_PER_QUARTER


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
    unit: int = 1
    """Accelerators by which a run over several halls grows: a unit of each hall; 1 for one hall."""

    @cached_property
    def existing(self) -> Array:
        """Return the accelerators with spares, in equal parts of all halls."""
        needed = self.pace.accelerators + self.expected.spares
        return np.asarray(np.ceil(needed / self.unit) * self.unit)

    @cached_property
    def spares(self) -> Array:
        """Return the spares, with those that fill the last unit of each hall."""
        return self.existing - self.pace.accelerators

    def pooled_nodes(self, i: int) -> int:
        """Return the nodes of a run at the i-th count that share their spares; 0: it has its own."""
        return self.expected.units[i].pooled_nodes

    @cached_property
    def p50_days(self) -> list[float]:
        """Return the median duration."""
        found: list[float] = _at_every_count(self.run.p50_days, self.days.size).tolist()
        return found


@dataclass(frozen=True)
class Ends:
    """Ends of a job at every count, with the facts that a plan reports."""

    days: list[float]
    """Days from the planned start to the end at the required confidence."""
    reported: Mapping[str, Array]

    def facts(self, i: int) -> dict[str, float]:
        """Return the reported values of a run's stops and its end at the i-th count."""
        return {name: float(values[i]) for name, values in self.reported.items()}


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
    reported = {name: _at_every_count(value, size) for name, value in found.items()}
    return Ends(_at_every_count(late.quantile_days(confidence), size).tolist(), reported)


def _at_every_count(value: object, size: int) -> Array:
    values = np.asarray(value, dtype=np.float64)
    return values if values.shape == (size,) else np.broadcast_to(values, (size,))


class Timelines:
    """Builder of timelines and ends; places with the same hardware and delays share them.

    ``delays`` are the delays before a job, by hall and system: P10, P50 and P90. [days]
    """

    def __init__(
        self, outlooks: Outlooks, delays: Mapping[tuple[str, str], Mapping[str, Bounds]]
    ) -> None:
        self.outlooks, self.delays = outlooks, delays
        self._timelines: dict[tuple[object, ...], Timeline] = {}
        self._ends: dict[tuple[object, ...], tuple[Ends, Ends]] = {}

    def of(self, target: Target, pace: Pace, terms: JobTerms, left: int | None = None) -> Timeline:
        """Return the durations of a job at every count; ``left`` are spares if their number is given."""
        key = (terms.id, id(pace), risk_key(target), target.place if left is not None else "", left)
        if key not in self._timelines:
            given = self.outlooks
            fed = pace.fed(storage_at(target, given.question.scenario), given.log)
            clean = fed.clean_days(fed.step_time_s)
            expected = given.of(target, fed, clean, left)
            run = expected.run(clean, pace.spread_frac)
            days = np.asarray(run.quantile_days(terms.confidence))
            slow = storage_losses(given, target, pace, terms, left, days)
            unit = target.unit if target.parts else 1
            self._timelines[key] = Timeline(pace, fed.step_time_s, expected, run, days, slow, unit)
        return self._timelines[key]

    def ends(self, time: Timeline, target: Target, terms: JobTerms) -> tuple[Ends, Ends]:
        """Return the ends of a job with the delays of a place, and one quarter of delay less."""
        delays = _latest([self.delays.get((hall, target.system), {}) for hall in target.halls])
        key = (id(time), tuple(sorted(delays.items())))
        if key not in self._ends:
            runs = (
                with_delays(time.run, delays),
                with_delays(time.run, choice.after(delays, DAYS_PER_QUARTER)),
            )
            late, soon = (ends(time.expected, run, terms.confidence) for run in runs)
            self._ends[key] = late, soon
        return self._ends[key]


def _latest(each: Sequence[Mapping[str, Bounds]]) -> dict[str, Bounds]:
    """Return the delays of the last of several halls, by cause."""
    found: dict[str, Bounds] = {}
    for name in dict.fromkeys(name for one in each for name in one):
        bounds = [one[name] for one in each if name in one]
        low, mid, high = (max(values) for values in zip(*bounds, strict=True))
        found[name] = low, mid, high
    return found
