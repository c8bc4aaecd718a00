"""Branch and bound over the layouts of many problems at once: a device of a group and a count."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from dcplan.llm.operations import Setup
from dcplan.llm.tables import Array, rows
from dcplan.training.grid import KEYS, Index, layout_table, rounded_batch
from dcplan.training.many.group import INNER, OUTER, Group, Mask
from dcplan.training.memory import host_bytes, memory
from dcplan.training.step import assemble

SEARCH_FIRST, SEARCH_KNOWN, SEARCH_MORE, SEARCH_SEEDS = 48, 1024, 8, 32
"""Inner layouts of a problem in the first round, and growth of this number by round."""
SEARCH_PROMISING = 1.1
"""Bounds up to this multiple of the best bound of a problem are computed first."""
SEARCH_SEED_FILL = 0.15
"""Fill of pipelines that the first layouts have at most; they only give a first time."""
SEARCH_WHOLE = 1e-6
"""Tolerance of a whole number of expert groups."""
SEARCH_SCALE = 0.5
"""Distance of the fills of two modes, as a share of that of two modes."""
SEARCH_WIDE = 16384
"""Layouts whose bounds are computed at a time, so that they stay in the cache."""
SEARCH_ROWS = 4096
"""Layouts computed at a time."""


@dataclass(frozen=True)
class Problems:
    """Devices with their numbers of ranks, one entry each."""

    device: Index
    ranks: Array
    bar_s: Array
    """Step times that a layout must not exceed to be of use."""


@dataclass(frozen=True)
class Rows:
    """Layouts of problems, one entry each."""

    problem: Index
    one: Index
    """Row of the group's micro-batch times."""
    outer: Index
    """Row of the group's stages and modes."""
    dp: Array

    def take(self, at: Index | Mask) -> Rows:
        """Return some rows."""
        return Rows(self.problem[at], self.one[at], self.outer[at], self.dp[at])


@dataclass(frozen=True)
class Timed:
    """Layouts that fit in memory, with their step time and memory."""

    rows: Rows
    time_s: Array
    memory_bytes: Array

    def take(self, at: Index | Mask) -> Timed:
        """Return some rows."""
        return Timed(self.rows.take(at), self.time_s[at], self.memory_bytes[at])


def columns_of(group: Group, found: Rows) -> dict[str, Array]:
    """Return the columns of layouts."""
    at = group.inner_of(found.one)
    columns = {k: group.inner[k][at] for k in INNER}
    columns |= {k: group.outer.columns[k][found.outer] for k in OUTER} | {"dp": found.dp}
    return {k: columns[k] for k in KEYS}


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
            place = done[problem] + _count(each)
            fill = 1.0 if wide else SEARCH_SEED_FILL
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
    tried, low = _expanded(group, asked, pairs[0], pairs[1], bar, pairs[2])
    best = np.full(bar.size, np.inf)
    np.minimum.at(best, tried.problem, low)
    soon = low <= SEARCH_PROMISING * best[tried.problem]
    few = tried.problem.size <= SEARCH_ROWS // 4
    for part in (soon | few, ~(soon | few)):
        at = np.flatnonzero(part & (low <= bar[tried.problem]))
        for some in np.array_split(at, at.size // SEARCH_ROWS + 1) if at.size else ():
            now = some[low[some] <= bar[tried.problem[some]]]
            timed = _timed(group, tried.take(now))
            timed = timed.take(timed.time_s <= bar[timed.rows.problem])
            np.minimum.at(bar, timed.rows.problem, timed.time_s * (1.0 + within))
            found.append(timed)


def _kept(found: list[Timed], bar: Array) -> Timed:
    """Return the layouts of all rounds that are fast enough in the end."""
    if not found:
        none = np.zeros(0, dtype=np.intp)
        return Timed(Rows(none, none, none, np.zeros(0)), np.zeros(0), np.zeros(0))
    parts = [x.take(x.time_s <= bar[x.rows.problem]) for x in found]
    fields = [
        np.concatenate([getattr(x.rows, name) for x in parts])
        for name in ("problem", "one", "outer", "dp")
    ]
    times, sizes = (
        np.concatenate([getattr(x, k) for x in parts]) for k in ("time_s", "memory_bytes")
    )
    return Timed(Rows(*fields), times, sizes)


def fastest(group: Group, found: Timed, keep: int = 1) -> Timed:
    """Return the ``keep`` fastest layouts of each problem in order; of equal ones, the simplest."""
    x = columns_of(group, found.rows)
    simple = x["pp"] * x["vpp"] + x["tp"] / 64.0 + x["cp"] + x["offload"]
    order = np.lexsort([found.time_s * (1.0 + 1e-9 * simple), found.rows.problem])
    problem = found.rows.problem[order]
    place = np.arange(order.size) - np.searchsorted(problem, problem)
    return found.take(order[place < keep])


def _reach(group: Group, asked: Problems, bar: Array, live: Index) -> Index:
    """Return how many inner layouts of each problem have a bound below its bar."""
    limit = bar * asked.ranks / group.sequences
    ends = np.zeros(live.size, dtype=np.intp)
    for v in np.unique(asked.device[live]):
        own = asked.device[live] == v
        ends[own] = np.searchsorted(group.least[v], limit[live[own]], side="right")
    return ends


def _expanded(
    group: Group, asked: Problems, problem: Index, place: Index, bar: Array, fill: float = 1.0
) -> tuple[Rows, Array]:
    """Return the layouts of inner layouts of problems whose bound is at most the bar.

    ``place`` is the place of each inner layout in the order of its problem's device, and ``fill``
    the largest fill of a pipeline in passes of one micro-batch.
    """
    one = np.empty(place.size, dtype=np.intp)
    for v in np.unique(asked.device[problem]):
        own = asked.device[problem] == v
        one[own] = group.order[v][place[own]]
    alike = one % (group.size * group.modes)
    kept, at = group.first[alike], group.inner_of(one)
    batch = group.sequences / group.inner["micro_batch"][at]
    cut = (group.inner["tp"] * group.inner["cp"])[at]
    ranks = asked.ranks[problem]
    room = group.usable[asked.device[problem]] - group.spare[alike]
    # a pipeline keeps as many micro-batches as it has stages, or all of its rank
    able = np.flatnonzero(kept * np.minimum(batch * cut / ranks, 1.0) <= room)
    one, ranks, batch, cut = one[able], ranks[able], batch[able], cut[able]
    problem = problem[able]
    slack = np.minimum(bar[problem] / group.whole_s[one] - batch * cut / ranks, fill)
    start, number, pool = _outers(group, ranks, one % group.modes, slack)
    pairs = Pairs(
        problem=problem,
        one=one,
        inner=at[able],
        batch=batch,
        cut=cut,
        ranks=ranks,
        kept=kept[able],
        room=room[able],
        start=start,
        number=number,
    ).take(np.flatnonzero(number))
    cuts = np.searchsorted(
        np.cumsum(pairs.number), np.arange(SEARCH_WIDE, number.sum(), SEARCH_WIDE)
    )
    parts = [
        _layouts(group, pairs.take(part), pool, bar)
        for part in np.split(np.arange(pairs.one.size), np.unique(cuts))
    ]
    found = Rows(
        *(
            np.concatenate([getattr(x, name) for x, _ in parts])
            for name in ("problem", "one", "outer", "dp")
        )
    )
    return found, np.concatenate([low for _, low in parts])


@dataclass(frozen=True)
class Pairs:
    """Inner layouts of problems, one entry each."""

    problem: Index
    one: Index
    inner: Index
    batch: Array
    """Micro-batches of a step."""
    cut: Array
    """Ranks that divide a sequence."""
    ranks: Array
    kept: Array
    """Activations of one micro-batch. [byte]"""
    room: Array
    """Memory for states and activations. [byte]"""
    start: Index
    """First of its outer layouts."""
    number: Index

    def take(self, at: Index) -> Pairs:
        """Return some entries."""
        return Pairs(*(getattr(self, f.name)[at] for f in fields(self)))


def _layouts(group: Group, x: Pairs, pool: Index, bar: Array) -> tuple[Rows, Array]:
    """Return the layouts of inner layouts that may fit, whose bound is at most the bar."""
    outer = pool[np.repeat(x.start, x.number) + _count(x.number)]
    pair = np.repeat(np.arange(x.one.size), x.number)
    pp = group.outer.columns["pp"][outer]
    dp = np.minimum(np.floor((x.ranks / x.cut)[pair] / pp), np.floor(x.batch)[pair])
    tensor = group.inner["tp"][x.inner]
    experts = (group.inner["ep"] * group.inner["etp"])[x.inner]
    sparse = group.cases[0].shape.moe_layers > 0
    able = dp >= 1.0
    if sparse:
        parts = dp * (x.cut / experts)[pair]
        able &= np.abs(parts - np.rint(parts)) < SEARCH_WHOLE
    ok = np.flatnonzero(able)
    pair, outer, dp, pp = pair[ok], outer[ok], dp[ok], pp[ok]
    whole, batch = x.cut[pair] * dp, x.batch[pair] / dp
    flight = np.minimum(np.maximum(batch, 1.0) / pp, group.outer.in_flight[outer])
    needed = group.outer.dense[0][outer] / tensor[pair] + group.outer.dense[1][outer] / whole
    if sparse:
        many = experts[pair]
        needed += group.outer.routed[0][outer] / many
        needed += group.outer.routed[1][outer] / np.maximum(whole, many)
    ok = np.flatnonzero(needed + x.kept[pair] * flight <= x.room[pair])
    pair = pair[ok]
    found = Rows(x.problem[pair], x.one[pair], outer[ok], dp[ok])
    low = _least_s(group, found, (batch[ok], whole[ok]))
    near = np.flatnonzero(low <= bar[found.problem])
    return found.take(near), low[near]


def _least_s(group: Group, found: Rows, known: tuple[Array, Array]) -> Array:
    """Return a lower bound of the step time without traffic of gradients and stages.

    ``known`` are the micro-batches before rounding, and the ranks of one stage.
    """
    x, (exact, ranks) = group.outer, known
    pp, vpp = x.columns["pp"][found.outer], x.columns["vpp"][found.outer]
    count = rounded_batch(exact, np.where(vpp > 1, pp, 1.0))
    one, every = group.whole_s[found.one], x.fill[found.outer] > 0
    head = (one - group.block_s[found.one]) * x.even[found.outer]
    slowest = np.maximum(group.block_s[found.one] * x.width[found.outer], one / pp)
    if group.cases[0].shape.tower is None:
        slowest = np.maximum(slowest, group.block_s[found.one] * x.width[found.outer] + head)
    time = slowest * count + np.where(every, np.maximum(one - slowest, 0.0) / vpp, 0.0)
    d = group.setup.device
    node = d.node if d.node.size == 1 else d.node[group.device_of(found.one)]
    nodes = np.maximum(ranks * pp / node, 1.0)
    return time * (1.0 + group.setup.stack.straggler * np.sqrt(2.0 * np.log(nodes)))


def _outers(group: Group, ranks: Array, mode: Index, slack: Array) -> tuple[Index, Index, Index]:
    """Return the stages that divide numbers of ranks, with a pipeline fill up to the slack.

    They are the first and the number of entries of the last array.
    """
    kinds, back = np.unique(ranks, return_inverse=True)
    pp = group.outer.columns["pp"]
    fits = (group.outer.always | (np.mod(kinds[:, None], pp) == 0)) & (pp <= kinds[:, None])
    kind, pool = np.nonzero(fits)
    # outer layouts are sorted by mode and fill, so each number of ranks and mode is one run
    place = kind * group.modes + group.outer.mode[pool] + SEARCH_SCALE * group.outer.fill[pool]
    segment = back * group.modes + mode
    start = np.searchsorted(place, segment)
    end = np.searchsorted(place, segment + SEARCH_SCALE * np.clip(slack, -1.0, 1.0), side="right")
    return start, np.maximum(end - start, 0), pool


def _count(sizes: Index) -> Index:
    """Return 0, 1, 2 and so on for each of some sizes."""
    return np.asarray(np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes))


def timed_all(group: Group, found: Rows) -> tuple[Array, Array]:
    """Return step time and memory of layouts; the time is infinite where one does not fit."""
    time, needed = np.full(found.dp.size, np.inf), np.zeros(found.dp.size)
    for at in np.array_split(np.arange(found.dp.size), found.dp.size // SEARCH_ROWS + 1):
        setup, fits, needed[at] = _fitting(group, found.take(at))
        here = at[fits]
        if here.size:
            chosen = replace(
                setup, layout=rows(setup.layout, fits), device=rows(setup.device, fits)
            )
            time[here] = assemble(chosen, rows(group.one, found.one[here])).time_s
    return time, needed


def _timed(group: Group, found: Rows) -> Timed:
    """Return the layouts that fit, with their times."""
    time, needed = timed_all(group, found)
    at = np.flatnonzero(np.isfinite(time))
    return Timed(found.take(at), time[at], needed[at])


def _fitting(group: Group, found: Rows) -> tuple[Setup, Mask, Array]:
    """Return the setup of layouts, whether each fits in memory, and its memory."""
    device = group.device_of(found.one)
    layout = layout_table(group.cases[0], columns_of(group, found))
    setup = replace(group.setup, layout=layout, device=rows(group.setup.device, device))
    kept = rows(group.kept, group.inner_of(found.one))
    needed = memory(setup, kept).total
    fits = needed <= group.usable[device]
    if np.any(layout.offload > 0):
        fits &= host_bytes(setup, kept) <= group.host[device]
    return setup, np.asarray(fits), needed
