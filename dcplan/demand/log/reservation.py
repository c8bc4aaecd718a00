"""What a job that does not fit keeps from others: its reservation, and the waits behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from dcplan.demand.log.jobs import Array, Flags
from dcplan.demand.log.nodes import NONE, Nodes, Token


def reservation(
    nodes: Nodes, need: int, ends: Iterable[tuple[float, int, Token]]
) -> tuple[float, int, Set[int]]:
    """Return when a job fits at the latest, the units idle then in addition, and its nodes.

    Parameters
    ----------
    nodes : Nodes
        Idle units now.
    need : int
        Units of the job, which does not fit now.
    ends : iterable of tuple
        Running jobs in the order of their expected ends: end, units, and their places. [s]

    References
    ----------
    .. [1] D. Tsafrir, Y. Etsion, D. G. Feitelson, IEEE TPDS 18, 2007: EASY gives the first job a
       reservation.

    Examples
    --------
    Two nodes of 4 with a job of 3 on each. A job of 8 fits when the second has ended:

    >>> nodes = Nodes(8, 4)
    >>> first, second = nodes.place(3), nodes.place(3)
    >>> reservation(nodes, 8, [(10.0, 3, first), (20.0, 3, second)])
    (20.0, 0, {0, 1})
    """
    whole, rest = divmod(need, nodes.per_node)
    counted = len(nodes.idle) == 1
    free = nodes.free
    changed: dict[int, int] = {}
    full = set(nodes.idle_nodes)
    found = nodes.room(rest, nodes.per_node - 1) if rest else None
    room = -1 if found is None else found
    shadow = math.inf
    for end, units, place in ends:
        if end > shadow:  # all jobs that end together count
            break
        free += units
        if counted:
            shadow = end if free >= need else shadow
            continue
        for node, count in place:
            now_idle = changed.get(node, nodes.idle[node]) + count
            changed[node] = now_idle
            if now_idle == nodes.per_node:
                full.add(node)
            elif rest and now_idle >= rest:
                room = node
        if len(full) > whole or (len(full) == whole and (not rest or room >= 0)):
            shadow = end
    if counted or shadow == math.inf:
        return shadow, free - need, NONE
    room = -1 if room in full else room
    taken = set(sorted(full)[: whole + (1 if rest and room < 0 else 0)])
    return shadow, free - need, taken | ({room} if rest and room >= 0 else set())


@dataclass(frozen=True)
class Line:
    """Recorded runs of a queue; runs that never started have NaN times."""

    eligible_s: Array
    start_s: Array
    units: Array
    """Accelerators that each run needs."""
    rank: Array
    """Place in the line, lower first, all different."""


def behind_s(line: Line, at_s: Array, held: Mapping[float, Flags], most_s: Array) -> Array:
    """Return how long each run would have fitted while a run ahead of it did not.

    Parameters
    ----------
    line : Line
    at_s : array
        Moments at which the idle accelerators change, sorted. [s]
    held : mapping
        By size of a run: whether such a run does not fit, from each moment on.
    most_s : array
        Time in which each run would have fitted; runs with none are not looked at. [s]

    Examples
    --------
    A run of 8 waits from 0 to 100 s and never fits before; a run of 1 that came at 40 s starts with
    it, and would have fitted.

    >>> line = Line(np.array([0.0, 40.0]), np.array([100.0, 100.0]), np.array([8.0, 1.0]), np.arange(2.0))
    >>> held = {8.0: np.array([True, False]), 1.0: np.array([False, False])}
    >>> behind_s(line, np.array([0.0, 100.0]), held, np.array([0.0, 60.0])).tolist()
    [0.0, 60.0]
    """
    started = np.isfinite(line.start_s)
    waits = np.flatnonzero(started & (line.start_s > line.eligible_s))
    found = np.zeros(len(line.rank))
    if not len(waits) or not len(at_s):
        return found
    grid = np.unique(np.concatenate([at_s, line.eligible_s[waits], line.start_s[waits]]))
    here = np.clip(np.searchsorted(at_s, grid, side="right") - 1, 0, len(at_s) - 1)
    come, go = (np.searchsorted(grid, x) for x in (line.eligible_s, line.start_s))
    blocked = {size: flags[here] for size, flags in held.items()}
    first = np.full(len(grid), np.inf)  # least rank of the runs that wait and do not fit
    for size, flags in blocked.items():
        mine = waits[line.units[waits] == size]
        least = _least_rank(come[mine], go[mine], line.rank[mine], len(grid))
        first = np.minimum(first, np.where(flags, least, np.inf))
    lasts_s = np.diff(grid, append=grid[-1])
    for run in np.flatnonzero(most_s > 0.0):
        span = slice(come[run], go[run])
        behind = (first[span] < line.rank[run]) & ~blocked[float(line.units[run])][span]
        found[run] = float(lasts_s[span][behind].sum())
    return found


def _least_rank(come: Array, go: Array, rank: Array, moments: int) -> Array:
    """Return the least rank of the runs that wait, from each moment on; infinite without one.

    ``come`` and ``go`` are places in the moments.
    """
    order = np.argsort(come, kind="stable")
    cuts, values = [0], [math.inf]
    line: list[tuple[float, int]] = []

    def leave(until: float) -> None:
        while line and line[0][1] <= until:
            at = line[0][1]
            while line and line[0][1] <= at:
                heappop(line)
            cuts.append(at)
            values.append(line[0][0] if line else math.inf)

    for i, last, place in zip(
        come[order].tolist(), go[order].tolist(), rank[order].tolist(), strict=True
    ):
        leave(i)
        heappush(line, (place, last))
        cuts.append(i)
        values.append(line[0][0])
    leave(math.inf)
    return np.asarray(values)[np.searchsorted(cuts, np.arange(moments), side="right") - 1]
