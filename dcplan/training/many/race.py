"""Branch and bound over the layouts of many problems at once: a device of a group and a count."""

from __future__ import annotations

import numpy as np

from dcplan.llm.tables import Array
from dcplan.training.grid import Index
from dcplan.training.many.bounds import expanded
from dcplan.training.many.group import Group
from dcplan.training.many.layouts import Problems, Rows, Timed, columns_of, counted, joined
from dcplan.training.many.times import SEARCH_ROWS, timed

SEARCH_FIRST, SEARCH_KNOWN, SEARCH_MORE, SEARCH_SEEDS = 48, 1024, 8, 32
"""Inner layouts of a problem in the first round, and growth of this number by round."""
SEARCH_PROMISING = 1.1
"""Bounds up to this multiple of the best bound of a problem are computed first."""
SEARCH_SEED_FILL = 0.15
"""Fill of pipelines that the first layouts have at most; they only give a first time."""


def race(group: Group, asked: Problems, within: float = 0.0) -> Timed:
    """Return the fastest layout of each problem, and those that are little slower.

    A lower bound leaves out the layouts that cannot be among them.

    Parameters
    ----------
    group : Group
        The case on several devices.
    asked : Problems
        The problems; a problem with a finite bar has an answer only if a layout is faster.
    within : float, default 0
        Also return layouts that are at most this share slower than the fastest. [-]
    """
    size = asked.device.size
    bar, done = asked.bar_s.copy(), np.zeros(size, dtype=np.intp)
    found: list[Timed] = []
    unknown = np.flatnonzero(~np.isfinite(bar))
    first = np.where(np.isfinite(bar), SEARCH_KNOWN, SEARCH_FIRST)
    for wide in (False, True):
        live, width = (np.arange(size), first) if wide else (unknown, first * 0 + SEARCH_SEEDS)
        while live.size:
            upto = np.minimum(done[live] + width[live], _reach(group, asked, bar, live))
            each = np.maximum(upto - done[live], 0)
            problem = np.repeat(live, each)
            place = done[problem] + counted(each)
            fill = 1.0 if wide else SEARCH_SEED_FILL
            if problem.size:
                _compute(group, asked, (problem, place, fill), bar, within, found)
            if not wide:
                break
            done[live] = np.maximum(upto, done[live])
            live, width = live[each > 0], width * SEARCH_MORE
    return _kept(found, bar)


def _compute(
    group: Group,
    asked: Problems,
    pairs: tuple[Index, Index, float],
    bar: Array,
    within: float,
    found: list[Timed],
) -> None:
    """Compute the layouts of some inner layouts, the most promising first; lower the bars."""
    tried, low = expanded(group, asked, pairs[0], pairs[1], bar, pairs[2])
    best = np.full(bar.size, np.inf)
    np.minimum.at(best, tried.problem, low)
    soon = low <= SEARCH_PROMISING * best[tried.problem]
    few = tried.problem.size <= SEARCH_ROWS // 4
    for part in (soon | few, ~(soon | few)):
        at = np.flatnonzero(part & (low <= bar[tried.problem]))
        for some in np.array_split(at, at.size // SEARCH_ROWS + 1) if at.size else ():
            now = some[low[some] <= bar[tried.problem[some]]]
            exact = timed(group, tried.take(now))
            exact = exact.take(exact.time_s <= bar[exact.rows.problem])
            np.minimum.at(bar, exact.rows.problem, exact.time_s * (1.0 + within))
            found.append(exact)


def _reach(group: Group, asked: Problems, bar: Array, live: Index) -> Index:
    """Return how many inner layouts of each problem have a bound below its bar."""
    limit = bar * asked.ranks / group.sequences
    ends = np.zeros(live.size, dtype=np.intp)
    for v in np.unique(asked.device[live]):
        own = asked.device[live] == v
        ends[own] = np.searchsorted(group.least[v], limit[live[own]], side="right")
    return ends


def _kept(found: list[Timed], bar: Array) -> Timed:
    """Return the layouts of all rounds that are fast enough in the end."""
    if not found:
        none = np.zeros(0, dtype=np.intp)
        return Timed(Rows(none, none, none, np.zeros(0)), np.zeros(0), np.zeros(0))
    parts = [x.take(x.time_s <= bar[x.rows.problem]) for x in found]
    times = np.concatenate([x.time_s for x in parts])
    sizes = np.concatenate([x.memory_bytes for x in parts])
    return Timed(joined([x.rows for x in parts]), times, sizes)


def fastest(group: Group, found: Timed, keep: int = 1) -> Timed:
    """Return the ``keep`` fastest layouts of each problem in order; of equal ones, the simplest."""
    x = columns_of(group, found.rows)
    simple = x["pp"] * x["vpp"] + x["tp"] / 64.0 + x["cp"] + x["offload"]
    order = np.lexsort([found.time_s * (1.0 + 1e-9 * simple), found.rows.problem])
    problem = found.rows.problem[order]
    place = np.arange(order.size) - np.searchsorted(problem, problem)
    return found.take(order[place < keep])
