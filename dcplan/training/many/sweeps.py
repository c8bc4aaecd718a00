"""Sweeps of many requests at once: the smallest counts that reach wanted step times."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dcplan.llm.architecture import model_flops_per_token
from dcplan.training.estimate import Sweep, streamed
from dcplan.training.grid import KEYS, Index
from dcplan.training.many.counts import Asked, Device, Known, search, search_all
from dcplan.training.many.group import Group, Mask
from dcplan.training.many.layouts import Rows, columns_of
from dcplan.training.many.probes import SEARCH_ROUNDS, SEARCH_USUAL_FRAC, Probes
from dcplan.training.many.requests import Request, grouped, members_of_groups
from dcplan.training.many.times import timed_all
from dcplan.units import GIGA

SEARCH_POOL = 8
"""Layouts of searched counts that are tried at all other counts."""


def sweeps(requests: Sequence[Request]) -> list[Sweep]:
    """Find the fastest layouts of many requests.

    The smallest count that reaches each wanted step time has the fastest layout of all; the
    other counts have the best of these layouts.
    """
    found: dict[int, Sweep] = {}
    for i, r in enumerate(requests):
        if r.hardware.streams_weights:
            given = (r.shape, r.seq_len, r.global_batch_tokens, r.hardware)
            counts = np.array(r.accelerators, dtype=np.float64)
            found[i] = streamed(*given, counts, r.images)
    for members in members_of_groups(requests):
        found |= zip(members, _swept([requests[i] for i in members]), strict=True)
    return [found[i] for i in range(len(requests))]


def _swept(requests: Sequence[Request]) -> list[Sweep]:
    """Return the sweeps of requests that differ only in the device and in their counts."""
    group, places = grouped(requests)
    devices = [Device(v, r, _probes(r, group, v)) for r, v in zip(requests, places, strict=True)]
    known: Known = {}
    for _ in range(SEARCH_ROUNDS):
        asked = [Asked(d, i, bar) for d in devices for i, bar in d.probes.next().items()]
        if not asked:
            break
        search(group, asked, known)
    # the largest count shows whether a job is too slow, or does not fit
    none = [Asked(d, d.probes.counts.size - 1, math.inf) for d in devices if not d.rows]
    search_all(group, none, known)
    return [_sweep(group, d) for d in devices]


def _probes(r: Request, group: Group, device: int) -> Probes:
    """Return the counts of a request that can reach its longest step time, none of them searched."""
    counts = np.array(r.accelerators, dtype=np.float64)
    wanted = np.array(
        [np.interp(np.log(counts), np.log(r.wanted_at), row) for row in r.wanted_s]
    ).reshape(len(r.wanted_s), counts.size)
    bound = group.least[device]
    best = bound[0] * group.sequences / group.ranks[device] if bound.size else math.inf
    least = best / counts
    if wanted.size:
        able = least <= wanted.max(axis=0)
        able = able if able.any() else np.arange(counts.size) == counts.size - 1
        counts, wanted, least = counts[able], wanted[:, able], least[able]
    unknown = np.full(counts.size, np.nan)
    above = np.zeros(counts.size, dtype=np.bool_)
    return Probes(counts, wanted, least / SEARCH_USUAL_FRAC, unknown, above)


def _sweep(group: Group, d: Device) -> Sweep:
    """Return the sweep of a device: other counts have the best of the layouts found."""
    counts, known = d.probes.counts, ~np.isnan(d.probes.time_s) & ~d.probes.above
    time, needed = np.where(known, d.probes.time_s, np.inf), np.zeros(counts.size)
    one, outer = np.zeros((2, counts.size), dtype=np.intp)
    dp = np.ones(counts.size)
    for i, row in d.rows.items():
        one[i], outer[i], dp[i], needed[i] = row
    rest = np.flatnonzero(np.isinf(time))
    pool = np.array(sorted({row[:2] for row in d.rows.values()}), dtype=np.intp)
    if rest.size and pool.size:
        pool = pool[np.unique(np.linspace(0, len(pool) - 1, SEARCH_POOL).round().astype(np.intp))]
        tried, runs = _tried(group, d, pool, rest)
        times, sizes = (x.reshape(rest.size, len(pool)) for x in timed_all(group, tried))
        times = np.where(runs.reshape(times.shape), times, np.inf)
        pick = (np.arange(rest.size), np.argmin(times, axis=1))
        time[rest], needed[rest] = times[pick], sizes[pick]
        one[rest], outer[rest] = pool[pick[1]].T
        dp[rest] = tried.dp.reshape(times.shape)[pick]
    x = columns_of(group, Rows(one * 0, one, outer, dp))
    r = d.request
    tokens = group.sequences * r.seq_len
    return Sweep(
        accelerators=counts,
        used=x["tp"] * x["pp"] * x["cp"] * x["dp"] / group.ranks[d.place],
        step_time_s=time,
        memory_gb=needed / GIGA,
        tokens_per_step=tokens,
        flops_per_step=model_flops_per_token(r.shape, r.seq_len, r.images) * tokens,
        layouts={k: x[k] for k in KEYS},
        parts_s={},
        tried=len(d.rows),
        feasible=np.isfinite(time) * 1.0,
        searched=np.where(known, 1.0, 0.0),
    )


def _tried(group: Group, d: Device, pool: Index, at: Index) -> tuple[Rows, Mask]:
    """Return layouts at all counts ``at``; and whether each can run."""
    one, outer = (np.tile(pool[:, k], at.size) for k in (0, 1))
    ranks = np.repeat(d.probes.counts[at] * group.ranks[d.place], len(pool))
    x = columns_of(group, Rows(one * 0, one, outer, np.ones(one.size)))
    cut = x["tp"] * x["cp"]
    dp = np.minimum(np.floor(ranks / (cut * x["pp"])), np.floor(group.sequences / x["micro_batch"]))
    runs = (dp >= 1.0) & (np.mod(dp * cut, x["ep"] * x["etp"]) == 0)
    return Rows(one * 0, one, outer, np.maximum(dp, 1.0)), np.asarray(runs)
