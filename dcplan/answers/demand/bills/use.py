"""Use of rented accelerators by day and month, from charges of any length."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from dcplan.answers.demand.bills.read import Charge
from dcplan.units import HOURS_PER_DAY, SECONDS_PER_DAY, SECONDS_PER_HOUR

DAY = timedelta(days=1)


@dataclass
class Use:
    """Hours and cost of a part of a bill."""

    used_h: float = 0.0
    """Used accelerator-hours."""
    idle_h: float = 0.0
    """Accelerator-hours of commitments that nobody used."""
    idle_usd: float = 0.0
    usd: float = 0.0
    """Effective cost, of idle hours too."""
    spread_h: float = 0.0
    """Used hours from charges longer than a day."""

    def add(self, charge: Charge, share: float = 1.0) -> None:
        """Add a share of a charge."""
        one = charge.use
        hours, usd = one.hours * share, one.effective_usd * share
        self.usd += usd
        if one.unused:
            self.idle_h += hours
            self.idle_usd += usd
        else:
            self.used_h += hours
            long = (one.end - one.start).total_seconds() > SECONDS_PER_DAY
            self.spread_h += hours if long else 0.0

    def merge(self, other: Use) -> None:
        """Add another part."""
        self.used_h += other.used_h
        self.idle_h += other.idle_h
        self.idle_usd += other.idle_usd
        self.usd += other.usd
        self.spread_h += other.spread_h


@dataclass(frozen=True)
class Window:
    """Time that a bill covers: from its first charge to the end of its last."""

    start: datetime
    end: datetime

    @property
    def hours(self) -> float:
        """Length. [h]."""
        return (self.end - self.start).total_seconds() / SECONDS_PER_HOUR

    def covered_h(self, day: datetime) -> float:
        """Return the hours of a day that the bill covers."""
        inside = min(self.end, day + DAY) - max(self.start, day)
        return max(inside.total_seconds() / SECONDS_PER_HOUR, 0.0)


def window_of(charges: Iterable[Charge]) -> Window:
    """Return the time that the charges cover."""
    uses = [c.use for c in charges]
    return Window(min(u.start for u in uses), max(u.end for u in uses))


def by_day(charges: Iterable[Charge]) -> dict[datetime, Use]:
    """Return the use of each day in UTC; a charge longer than a day is spread evenly over its time."""
    days: dict[datetime, Use] = defaultdict(Use)
    for charge in charges:
        start, end = charge.use.start, charge.use.end
        day = datetime(start.year, start.month, start.day, tzinfo=UTC)
        while day < end:
            inside = min(end, day + DAY) - max(start, day)
            days[day].add(charge, inside / (end - start))
            day += DAY
    return dict(sorted(days.items()))


def mean_of(use: Use, covered_h: float) -> float:
    """Return the accelerators in use over covered hours."""
    return use.used_h / covered_h if covered_h else 0.0


def peak_of(days: Mapping[datetime, Use], window: Window) -> float:
    """Return the accelerators in use on the busiest day; of a day in part, over the whole day at least.

    A short rest of a day at the edge of the bill would make a peak of few hours.
    """
    covered = {day: window.covered_h(day) for day in days}
    whole = any(h >= HOURS_PER_DAY for h in covered.values())
    hours = {day: HOURS_PER_DAY if whole else h for day, h in covered.items()}
    return max((mean_of(use, hours[day]) for day, use in days.items()), default=0.0)
