"""Search of all layouts at counts of sweeps that only had layouts of other counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dcplan.llm.tables import Array
from dcplan.training.estimate import Sweep
from dcplan.training.grid import KEYS
from dcplan.training.many.layouts import Problems, Timed, columns_of
from dcplan.training.many.race import fastest, race
from dcplan.training.many.requests import Request, grouped, members_of_groups
from dcplan.units import GIGA


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
    for members in members_of_groups(requests):
        group, places = grouped([requests[i] for i in members])
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
            result[i] = replace(
                _better(found[i], done, at, best.take(np.array(mine, dtype=np.intp))),
                used=_put(found[i].used, at, used[mine]),
                layouts={k: _put(found[i].layouts[k], at, x[k][mine]) for k in KEYS},
            )
    return result


def _better(one: Sweep, done: list[int], at: list[int], better: Timed) -> Sweep:
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
