"""Search at counts of several devices; a device takes over layouts of a faster network."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dcplan.training.many.group import Group
from dcplan.training.many.layouts import Problems, Rows
from dcplan.training.many.probes import Probes
from dcplan.training.many.race import fastest, race
from dcplan.training.many.requests import Request
from dcplan.training.many.times import timed_all

SEARCH_SAME_FRAC = 0.003
"""Loss up to which a device takes over the layout of the same device on a faster network."""
Row = tuple[int, int, float, float]
"""A layout: row of the micro-batch, row of the stages, data-parallel ranks, and memory. [byte]"""


@dataclass
class Device:
    """A request in a group: what is known of its counts."""

    place: int
    request: Request
    probes: Probes
    rows: dict[int, Row] = field(default_factory=dict)
    """Fastest layout by index of the count."""

    def found(self, index: int, time_s: float, row: Row) -> None:
        """Keep the fastest layout of a count."""
        self.probes.time_s[index], self.probes.above[index] = time_s, False
        self.rows[index] = row

    def slower(self, index: int, bar_s: float) -> None:
        """Keep that no layout of a count is faster than a step time."""
        self.probes.time_s[index], self.probes.above[index] = bar_s, True


@dataclass(frozen=True)
class Asked:
    """A count of a device to search."""

    device: Device
    index: int
    bar_s: float

    @property
    def count(self) -> float:
        """Return the number of accelerators."""
        return float(self.device.probes.counts[self.index])


@dataclass(frozen=True)
class _Fastest:
    """The fastest layout of a device at a count, and the speed of its network."""

    link: tuple[float, ...]
    time_s: float
    row: Row


Known = dict[tuple[int, float], list[_Fastest]]
"""Fastest layouts by device without its network, and count."""


def search(group: Group, asked: list[Asked], known: Known) -> None:
    """Search layouts at counts of devices that are faster than given step times.

    A layout of the same device on a faster network bounds the step time on a slower one, so a
    device takes it over if it loses practically nothing.
    """
    fastest_link: dict[tuple[int, float], Asked] = {}
    for x in sorted(asked, key=lambda x: group.links[x.device.place]):
        fastest_link[group.family[x.device.place], x.count] = x
    search_all(group, _taken_over(group, list(fastest_link.values()), known), known)
    chosen = {id(x) for x in fastest_link.values()}
    later = [x for x in asked if id(x) not in chosen]
    search_all(group, _taken_over(group, later, known), known)


def search_all(group: Group, asked: list[Asked], known: Known) -> None:
    """Search layouts at counts of devices, without those of faster networks."""
    if not asked:
        return
    ranks = np.array([x.count * group.ranks[x.device.place] for x in asked])
    device = np.array([x.device.place for x in asked], dtype=np.intp)
    bars = np.array([x.bar_s for x in asked])
    best = fastest(group, race(group, Problems(device, ranks, bars)))
    for x in asked:
        x.device.slower(x.index, x.bar_s)
    rows = best.rows
    for k, p in enumerate(rows.problem.tolist()):
        x = asked[p]
        row = (int(rows.one[k]), int(rows.outer[k]), float(rows.dp[k]), float(best.memory_bytes[k]))
        x.device.found(x.index, float(best.time_s[k]), row)
        place = x.device.place
        kept = _Fastest(group.links[place], float(best.time_s[k]), row)
        known.setdefault((group.family[place], x.count), []).append(kept)


def _taken_over(group: Group, asked: list[Asked], known: Known) -> list[Asked]:
    """Take over layouts of faster networks; return the counts that still need a search."""
    pairs = [
        (k, old)
        for k, x in enumerate(asked)
        for old in known.get((group.family[x.device.place], x.count), ())
        if _no_slower(old.link, group.links[x.device.place])
    ]
    if not pairs:
        return asked
    place = np.array([asked[k].device.place for k, _ in pairs], dtype=np.intp)
    one = group.shifted(np.array([old.row[0] for _, old in pairs], dtype=np.intp), place)
    outer = np.array([old.row[1] for _, old in pairs], dtype=np.intp)
    dp = np.array([old.row[2] for _, old in pairs])
    time, needed = timed_all(group, Rows(one * 0, one, outer, dp))
    taken: set[int] = set()
    for j, (k, old) in enumerate(pairs):
        x = asked[k]
        if old.time_s > x.bar_s:  # no layout can be fast enough
            x.device.slower(x.index, x.bar_s)
            taken.add(k)
        elif time[j] <= old.time_s * (1.0 + SEARCH_SAME_FRAC):
            row = (int(one[j]), int(outer[j]), float(dp[j]), float(needed[j]))
            x.device.found(x.index, float(time[j]), row)
            taken.add(k)
    return [x for k, x in enumerate(asked) if k not in taken]


def _no_slower(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Return whether no value of a network is below that of another one."""
    return all(a >= b for a, b in zip(one, other, strict=True))
