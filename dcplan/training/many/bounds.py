"""Which layouts of problems may be fast enough: lower bounds of memory and step time.

An inner layout of a problem first gets the stages whose pipeline fill its bar leaves room for; then
the layouts that surely do not fit in memory are left out, then those whose least time is too long.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, fields

import numpy as np

from dcplan.llm.tables import Array
from dcplan.training.grid import Index, rounded_batch
from dcplan.training.many.group import Group
from dcplan.training.many.layouts import Problems, Rows, joined

SEARCH_WHOLE = 1e-6
"""Tolerance of a whole number of expert groups."""
SEARCH_SCALE = 0.5
"""Distance of the fills of two modes, as a share of that of two modes."""
SEARCH_WIDE = 16384
"""Layouts whose bounds are computed at a time, so that they stay in the cache."""


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

    def take(self, at: Index | slice) -> Pairs:
        """Return some entries."""
        return Pairs(*(getattr(self, f.name)[at] for f in fields(self)))


@dataclass(frozen=True)
class Stages:
    """Outer layouts of inner layouts: a run of ``pool`` for each of them."""

    start: Index
    number: Index
    pool: Index

    def take(self, at: Index | slice) -> Stages:
        """Return the runs of some inner layouts."""
        return Stages(self.start[at], self.number[at], self.pool)


def expanded(
    group: Group, asked: Problems, problem: Index, place: Index, bar: Array, fill: float = 1.0
) -> tuple[Rows, Array]:
    """Return the layouts of inner layouts of problems whose bound is at most the bar.

    ``place`` is the place of each inner layout in the order of its problem's device, and ``fill``
    the largest fill of a pipeline in passes of one micro-batch.
    """
    pairs = _pairs(group, asked, problem, place)
    slack = np.minimum(
        bar[pairs.problem] / group.whole_s[pairs.one] - pairs.batch * pairs.cut / pairs.ranks, fill
    )
    every = _outers(group, pairs.ranks, pairs.one % group.modes, slack)
    some = np.flatnonzero(every.number)
    pairs, stages = pairs.take(some), every.take(some)
    cuts = np.searchsorted(
        np.cumsum(stages.number), np.arange(SEARCH_WIDE, stages.number.sum(), SEARCH_WIDE)
    )
    edges = [0, *np.unique(cuts).tolist(), pairs.one.size]
    parts = [
        _layouts(group, pairs.take(slice(*part)), stages.take(slice(*part)), bar)
        for part in itertools.pairwise(edges)
    ]
    return joined([found for found, _ in parts]), np.concatenate([low for _, low in parts])


def _pairs(group: Group, asked: Problems, problem: Index, place: Index) -> Pairs:
    """Return the inner layouts whose activations of the fewest micro-batches fit in memory."""
    one = np.empty(place.size, dtype=np.intp)
    for v in np.unique(asked.device[problem]):
        own = asked.device[problem] == v
        one[own] = group.order[v][place[own]]
    in_mode = one % (group.size * group.modes)
    kept, at = group.first[in_mode], group.inner_of(one)
    batch = group.sequences / group.inner["micro_batch"][at]
    cut = (group.inner["tp"] * group.inner["cp"])[at]
    ranks = asked.ranks[problem]
    room = group.usable[asked.device[problem]] - group.spare[in_mode]
    # a pipeline keeps as many micro-batches as it has stages, or all of its rank
    able = np.flatnonzero(kept * np.minimum(batch * cut / ranks, 1.0) <= room)
    return Pairs(problem, one, at, batch, cut, ranks, kept, room).take(able)


def _layouts(group: Group, x: Pairs, stages: Stages, bar: Array) -> tuple[Rows, Array]:
    """Return the layouts of inner layouts that may fit, whose bound is at most the bar."""
    pair = np.repeat(np.arange(x.one.size), stages.number)
    before = np.cumsum(stages.number) - stages.number
    outer = stages.pool[(stages.start - before)[pair] + np.arange(pair.size)]
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
    low = _least_s(group, found, (batch[ok], whole[ok], pp[ok]))
    near = np.flatnonzero(low <= bar[found.problem])
    return found.take(near), low[near]


def _least_s(group: Group, found: Rows, known: tuple[Array, Array, Array]) -> Array:
    """Return a lower bound of the step time without traffic of gradients and stages.

    ``known`` are the micro-batches before rounding, the ranks of one stage, and the stages.
    """
    x, (exact, ranks, pp) = group.outer, known
    vpp, every = x.columns["vpp"][found.outer], x.fill[found.outer] > 0
    count = rounded_batch(exact, np.where(vpp > 1, pp, 1.0))
    one, block = group.whole_s[found.one], group.block_s[found.one]
    widest = block * x.width[found.outer]
    slowest = np.maximum(widest, one / pp)
    if group.cases[0].shape.tower is None:
        head = (one - block) * x.even[found.outer]
        slowest = np.maximum(slowest, widest + head)
    time = slowest * count + np.where(every, np.maximum(one - slowest, 0.0) / vpp, 0.0)
    d = group.setup.device
    node = d.node if d.node.size == 1 else d.node[group.device_of(found.one)]
    nodes = np.maximum(ranks * pp / node, 1.0)
    return time * (1.0 + group.setup.stack.straggler * np.sqrt(2.0 * np.log(nodes)))


def _outers(group: Group, ranks: Array, mode: Index, slack: Array) -> Stages:
    """Return the stages that divide numbers of ranks, with a pipeline fill up to the slack."""
    kinds, back = np.unique(ranks, return_inverse=True)
    pp = group.outer.columns["pp"]
    fits = (group.outer.always | (np.mod(kinds[:, None], pp) == 0)) & (pp <= kinds[:, None])
    kind, pool = np.nonzero(fits)
    # outer layouts are sorted by mode and fill, so each number of ranks and mode is one run
    place = kind * group.modes + group.outer.mode[pool] + SEARCH_SCALE * group.outer.fill[pool]
    segment = back * group.modes + mode
    start = np.searchsorted(place, segment)
    end = np.searchsorted(place, segment + SEARCH_SCALE * np.clip(slack, -1.0, 1.0), side="right")
    return Stages(start, np.maximum(end - start, 0), pool)
