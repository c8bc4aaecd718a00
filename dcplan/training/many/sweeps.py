"""Sweeps of many requests at once: the smallest counts that reach wanted step times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dcplan.llm.architecture import Architecture, model_flops_per_token
from dcplan.llm.tables import Array
from dcplan.training.estimate import Hardware, Sweep, case_of, streamed
from dcplan.training.grid import KEYS, Case, Index, default_axes
from dcplan.training.many.group import Group, Mask, group_of
from dcplan.training.many.probes import SEARCH_ROUNDS, SEARCH_USUAL_FRAC, Probes
from dcplan.training.many.race import Problems, Rows, Timed, columns_of, fastest, race, timed_all
from dcplan.units import GIGA

SEARCH_SAME_FRAC = 0.003
"""Loss up to which a device takes over the layout of the same device on a faster network."""
SEARCH_POOL = 8
"""Layouts of searched counts that are tried at all other counts."""


@dataclass(frozen=True)
class Request:
    """A training job on hardware, and the step times that matter."""

    shape: Architecture
    seq_len: int
    global_batch_tokens: float
    """Tokens of one optimizer step."""
    hardware: Hardware
    accelerators: tuple[float, ...]
    """Counts, ascending."""
    wanted_s: tuple[tuple[float, ...], ...] = ()
    """Wanted step times at each count of ``wanted_at``; without any, every count is searched. [s]"""
    wanted_at: tuple[float, ...] = ()
    """Counts, ascending; between them the wanted step times are interpolated."""
    images: float = 0.0


@dataclass
class _Device:
    """A request in a group: what is known of its counts."""

    place: int
    request: Request
    probes: Probes
    rows: dict[int, tuple[int, int, float, float]] = field(default_factory=dict)
    """Row of the micro-batch, of the stages, data-parallel ranks and memory by index of the count."""

    def found(self, index: int, time_s: float, row: tuple[int, int, float, float]) -> None:
        """Keep the fastest layout of a count."""
        self.probes.time_s[index], self.probes.above[index] = time_s, False
        self.rows[index] = row


@dataclass(frozen=True)
class _Asked:
    """A count of a device to search."""

    device: _Device
    index: int
    bar_s: float

    @property
    def count(self) -> float:
        return float(self.device.probes.counts[self.index])


@dataclass(frozen=True)
class _Known:
    """The fastest layout of a device at a count, and the speed of its network."""

    link: tuple[float, ...]
    time_s: float
    row: tuple[int, int, float, float]


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
    for members in _groups(requests).values():
        found |= zip(members, _swept([requests[i] for i in members]), strict=True)
    return [found[i] for i in range(len(requests))]


def _groups(requests: Sequence[Request]) -> dict[tuple[object, ...], list[int]]:
    """Return the places of requests that differ only in the device and in their counts."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, r in enumerate(requests):
        h = r.hardware
        if not h.streams_weights:
            job = (r.shape, r.seq_len, r.global_batch_tokens, r.images)
            key = (*job, h.stack, h.recipe, h.coefficients, default_axes(_case(r)))
            groups.setdefault(key, []).append(i)
    return groups


def _group(requests: Sequence[Request]) -> tuple[Group, list[int]]:
    """Return the group of requests, and the place of the device of each."""
    first = {r.hardware.device: r for r in reversed(requests)}
    distinct = list(dict.fromkeys(r.hardware.device for r in requests))
    places = {device: i for i, device in enumerate(distinct)}
    group = group_of([_case(first[d]) for d in distinct])
    return group, [places[r.hardware.device] for r in requests]


def _case(r: Request) -> Case:
    """Return the case of a request."""
    return case_of(r.shape, r.seq_len, r.global_batch_tokens, r.hardware, r.images)


def _swept(requests: Sequence[Request]) -> list[Sweep]:
    """Return the sweeps of requests that differ only in the device and in their counts."""
    group, places = _group(requests)
    devices = [_Device(v, r, _probes(r, group, v)) for r, v in zip(requests, places, strict=True)]
    known: dict[tuple[int, float], list[_Known]] = {}
    for _ in range(SEARCH_ROUNDS):
        asked = [_Asked(d, i, bar) for d in devices for i, bar in d.probes.next().items()]
        if not asked:
            break
        _search(group, asked, known)
    # the largest count shows whether a job is too slow, or does not fit
    none = [_Asked(d, d.probes.counts.size - 1, math.inf) for d in devices if not d.rows]
    _race(group, none, known)
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


def _search(
    group: Group, asked: list[_Asked], known: dict[tuple[int, float], list[_Known]]
) -> None:
    """Search layouts at counts of devices that are faster than given step times.

    A layout of the same device on a faster network bounds the step time on a slower one, so a
    device takes it over if it loses practically nothing.
    """
    fastest_link: dict[tuple[int, float], _Asked] = {}
    for x in sorted(asked, key=lambda x: group.links[x.device.place]):
        fastest_link[group.family[x.device.place], x.count] = x
    first = _taken_over(group, list(fastest_link.values()), known)
    _race(group, first, known)
    chosen = {id(x) for x in fastest_link.values()}
    later = [x for x in asked if id(x) not in chosen]
    _race(group, _taken_over(group, later, known), known)


def _taken_over(
    group: Group, asked: list[_Asked], known: dict[tuple[int, float], list[_Known]]
) -> list[_Asked]:
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
            x.device.probes.time_s[x.index], x.device.probes.above[x.index] = x.bar_s, True
            taken.add(k)
        elif time[j] <= old.time_s * (1.0 + SEARCH_SAME_FRAC):
            row = (int(one[j]), int(outer[j]), float(dp[j]), float(needed[j]))
            x.device.found(x.index, float(time[j]), row)
            taken.add(k)
    return [x for k, x in enumerate(asked) if k not in taken]


def _no_slower(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Return whether no value of a network is below that of another one."""
    return all(a >= b for a, b in zip(one, other, strict=True))


def _race(group: Group, asked: list[_Asked], known: dict[tuple[int, float], list[_Known]]) -> None:
    """Search layouts at counts of devices that are faster than given step times."""
    if not asked:
        return
    ranks = np.array([x.count * group.ranks[x.device.place] for x in asked])
    device = np.array([x.device.place for x in asked], dtype=np.intp)
    bars = np.array([x.bar_s for x in asked])
    best = fastest(group, race(group, Problems(device, ranks, bars)))
    for x in asked:
        x.device.probes.time_s[x.index], x.device.probes.above[x.index] = x.bar_s, True
    rows = best.rows
    for k, p in enumerate(rows.problem.tolist()):
        x = asked[p]
        row = (int(rows.one[k]), int(rows.outer[k]), float(rows.dp[k]), float(best.memory_bytes[k]))
        x.device.found(x.index, float(best.time_s[k]), row)
        place = x.device.place
        kept = _Known(group.links[place], float(best.time_s[k]), row)
        known.setdefault((group.family[place], x.count), []).append(kept)


def _sweep(group: Group, d: _Device) -> Sweep:
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


def refined(
    requests: Sequence[Request], found: Sequence[Sweep], counts: Sequence[Sequence[float]]
) -> list[Sweep]:
    """Search all layouts at more counts of sweeps.

    Parameters
    ----------
    requests, found : sequence of Request, sequence of Sweep
        The requests and their sweeps.
    counts : sequence of sequences of float
        Counts to search of each request. [-]
    """
    result = list(found)
    for members in _groups(requests).values():
        group, places = _group([requests[i] for i in members])
        asked = [
            (i, place, int(np.searchsorted(found[i].accelerators, n)))
            for i, place in zip(members, places, strict=True)
            for n in counts[i]
        ]
        ranks = np.array([found[i].accelerators[k] * group.ranks[v] for i, v, k in asked])
        bars = np.array([found[i].step_time_s[k] for i, _, k in asked])
        device = np.array([v for _, v, _ in asked], dtype=np.intp)
        best = fastest(group, race(group, Problems(device, ranks, bars)))
        x, cores = columns_of(group, best.rows), group.ranks[device[best.rows.problem]]
        used = x["tp"] * x["pp"] * x["cp"] * x["dp"] / cores
        for i in members:
            mine = [j for j, p in enumerate(best.rows.problem.tolist()) if asked[p][0] == i]
            at = [asked[p][2] for p in best.rows.problem[mine].tolist()]
            done = [k for j, _, k in asked if j == i]
            result[i] = _with(found[i], done, at, best.take(np.array(mine, dtype=np.intp)))
            result[i] = replace(
                result[i],
                used=_put(found[i].used, at, used[mine]),
                layouts={k: _put(found[i].layouts[k], at, x[k][mine]) for k in KEYS},
            )
    return result


def _with(one: Sweep, done: list[int], at: list[int], better: Timed) -> Sweep:
    """Return a sweep with better times at some counts, and the searched counts."""
    old = np.zeros_like(one.step_time_s) if one.searched is None else one.searched
    return replace(
        one,
        step_time_s=_put(one.step_time_s, at, better.time_s),
        memory_gb=_put(one.memory_gb, at, better.memory_bytes / GIGA),
        feasible=_put(one.feasible, at, np.ones(len(at))),
        searched=_put(old, done, np.ones(len(done))),
        tried=one.tried + len(done),
    )


def _put(values: Array, at: list[int], new: Array) -> Array:
    """Return a copy with some values replaced."""
    result = values.copy()
    result[at] = new
    return result


def _tried(group: Group, d: _Device, pool: Index, at: Index) -> tuple[Rows, Mask]:
    """Return layouts at all counts ``at``; and whether each can run."""
    one, outer = (np.tile(pool[:, k], at.size) for k in (0, 1))
    ranks = np.repeat(d.probes.counts[at] * group.ranks[d.place], len(pool))
    x = columns_of(group, Rows(one * 0, one, outer, np.ones(one.size)))
    cut = x["tp"] * x["cp"]
    dp = np.minimum(np.floor(ranks / (cut * x["pp"])), np.floor(group.sequences / x["micro_batch"]))
    runs = (dp >= 1.0) & (np.mod(dp * cut, x["ep"] * x["etp"]) == 0)
    return Rows(one * 0, one, outer, np.maximum(dp, 1.0)), np.asarray(runs)
