"""Search of the fastest layout at each accelerator count."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dcplan.llm.architecture import Architecture, model_flops_per_token
from dcplan.llm.tables import Array
from dcplan.training.by_count.tried import at_every_count, faster_of
from dcplan.training.estimate import Hardware, Sweep, case_of, streamed
from dcplan.training.grid import Axes, Case, default_axes
from dcplan.training.search import Found, prepare, quick_search
from dcplan.units import TERA

SEARCH_RATIO = 2.0
"""Ratio between counts with a layout search; the best layouts are tried at every count."""
SEARCH_KEPT = 8
"""Layouts of a search that are tried at every count."""
SEARCH_GOOD_FRAC = 0.93
"""Share of the better neighbors' rate below which a count gets its own search."""
SEARCH_AGAIN, SEARCH_ROUNDS = 4, 3
"""Counts with their own search per round, and rounds."""
SEARCH_HALVINGS, SEARCH_CLOSE, SEARCH_NEARBY = 7, 1.1, 1.5
"""Maximum searches for one target step time; counts this close to the best possible are kept."""
SEARCH_GAIN = 0.98
"""Minimum reduction of a step time in a round, as a share; otherwise the search ends."""


def sweep(
    shape: Architecture,
    seq_len: int,
    global_batch_tokens: float,
    hardware: Hardware,
    accelerators: Array,
    wanted_s: Sequence[float] = (),
    images: float = 0.0,
    *,
    coarse: bool = True,
) -> Sweep:
    """Find the fastest layout that fits in memory, for each accelerator count.

    Layouts are searched at a few counts over the range; the fastest of each, and those on
    the frontier of time and memory, are then tried at every count.

    Parameters
    ----------
    shape : Architecture
        The model.
    seq_len : int
        Tokens of a sequence. [-]
    global_batch_tokens : float
        Tokens of one optimizer step, at least ``seq_len``. [-]
    hardware : Hardware
        Accelerator, software and precision.
    accelerators : array, shape (n,)
        Counts, at least 1, ascending; accelerators outside a replica stay idle and are missing from
        ``used``.
    wanted_s : sequence of float, optional
        Target step times, if only the smallest counts that reach them matter: counts that cannot
        reach the longest, and counts beyond one that reaches the shortest, are skipped. [s]
    coarse : bool, default True
        Search the planner's coarser grid instead of all layouts.
    images : float, default 0
        Images (or tiles) of a sequence that pass through the model's vision tower. [-]
    """
    counts = np.asarray(accelerators, dtype=np.float64)
    if hardware.streams_weights:
        return streamed(shape, seq_len, global_batch_tokens, hardware, counts, images)
    case = case_of(shape, seq_len, global_batch_tokens, hardware, images)
    flops = model_flops_per_token(shape, seq_len, images) * case.global_batch * seq_len
    able = flops / (counts * hardware.peak_tflops * TERA) <= max(wanted_s, default=math.inf)
    counts = counts[able] if able.any() else counts[-1:]
    search_at = _searcher(
        case, int(counts[-1]), _planner_axes(case) if coarse else default_axes(case)
    )
    found = []
    for count in _references(counts):
        found.append(search_at(int(count)))
        if found[-1].step_time_s.size and found[-1].step_time_s[0] <= min(wanted_s, default=0.0):
            counts = counts[counts <= count]
            break
    result = at_every_count(case, counts, found)
    if wanted_s:
        return _smallest(case, result, wanted_s, search_at)
    return _searched_again(case, result, search_at)


def _searched_again(case: Case, result: Sweep, search_at: Callable[[int], Found]) -> Sweep:
    """Search the counts whose layouts are worse than their neighbors', until a round gains little."""
    counts = result.accelerators
    done: set[int] = set()
    for _ in range(SEARCH_ROUNDS):
        poor = [i for i in _poor(result) if i not in done]
        if not poor:
            break
        again = poor[:: max(len(poor) // SEARCH_AGAIN, 1)][:SEARCH_AGAIN]
        done.update(again)
        better = faster_of(
            result, at_every_count(case, counts, [search_at(int(counts[i])) for i in again])
        )
        gained = (better.step_time_s < SEARCH_GAIN * result.step_time_s).any()
        result = better
        if not gained:
            break
    return result


def _smallest(
    case: Case, result: Sweep, wanted_s: Sequence[float], search_at: Callable[[int], Found]
) -> Sweep:
    """Search the smallest count that reaches each target step time.

    The tried layouts may miss it. Bisection runs between the counts that would reach it at the best
    rate of other counts and the count that does.
    """
    counts, done = result.accelerators, set[int]()
    for wanted in sorted(wanted_s):
        failed = -1
        for _ in range(SEARCH_HALVINGS):
            reached = np.flatnonzero(result.step_time_s <= wanted)
            end = int(reached[0]) if reached.size else counts.size
            rate = 1.0 / (result.step_time_s * counts)
            best = _hoped_rate(counts, rate)
            hoped = [
                int(i)
                for i in np.flatnonzero(best * counts * wanted >= 1.0)
                if failed < i < end and i not in done
            ]
            if not hoped or (end < counts.size and counts[end] <= counts[hoped[0]] * SEARCH_CLOSE):
                break
            at = hoped[len(hoped) // 2]
            done.add(at)
            result = faster_of(result, at_every_count(case, counts, [search_at(int(counts[at]))]))
            if result.step_time_s[at] > wanted:
                failed = at
    return result


def _hoped_rate(counts: Array, rate: Array) -> Array:
    """Return the best steps per second and accelerator of larger counts, and down to two thirds."""
    larger = np.maximum.accumulate(rate[::-1])[::-1]
    first = np.searchsorted(counts, counts / SEARCH_NEARBY)
    return np.array([max(larger[i], rate[j : i + 1].max()) for i, j in enumerate(first)])


def _searcher(case: Case, largest: int, axes: Axes) -> Callable[[int], Found]:
    """Return a search at one count; micro-batch times are computed once for all counts."""
    ready = prepare(case, int(largest * case.device.ranks), axes)
    return lambda count: quick_search(ready, int(count * case.device.ranks), SEARCH_KEPT)


def _references(counts: Array) -> Array:
    """Return counts to search fully.

    They are the nearest to a geometric series from the smallest count.
    """
    steps = np.arange(np.log(counts.max() / counts.min()) / np.log(SEARCH_RATIO) + 1.0)
    row = counts.min() * SEARCH_RATIO**steps
    return np.unique(counts[np.argmin(np.abs(counts[:, None] - row[None, :]), axis=0)])


def _poor(result: Sweep) -> list[int]:
    """Return counts whose tried layouts are clearly worse per accelerator than the neighbors'.

    Memory is short there, and no layout of the searched counts fits well.
    """
    rate = 1.0 / (result.step_time_s * result.accelerators)
    near = np.maximum(np.concatenate([[0.0], rate[:-1]]), np.concatenate([rate[1:], [0.0]]))
    best = np.maximum.accumulate(rate[::-1])[::-1]
    short = np.flatnonzero((rate < SEARCH_GOOD_FRAC * np.maximum(near, best)) | (rate <= 0))
    order = np.argsort(rate[short] / np.maximum(best[short], 1e-300), kind="stable")
    return [int(i) for i in short[order]]


def _planner_axes(case: Case) -> Axes:
    """Return axes coarser than the default, with experts not divided by tensor parallelism."""
    return replace(default_axes(case), etp=False, coarse=True)
