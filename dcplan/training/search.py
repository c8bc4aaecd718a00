"""Exhaustive search of layouts: memory first, then time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dcplan.llm.operations import Setup
from dcplan.llm.tables import SCHEDULES, Array, column, each, rows
from dcplan.training.grid import (
    KEYS,
    Axes,
    Case,
    case_setup,
    default_axes,
    grid,
    inner_columns,
    layout_table,
)
from dcplan.training.memory import Kept, host_bytes, kept_bytes, memory
from dcplan.training.micro_batch import MicroBatch, micro_batch, work
from dcplan.training.step import assemble, least_step_s
from dcplan.training.traffic import traffic
from dcplan.units import BYTES_PER_GIB, GIGA

CHUNK = 16384
FIRST = 128
"""Number of layouts with the lowest bounds that a quick search computes first."""


def usable_bytes(case: Case) -> float:
    """Return the memory of one rank that a layout may use."""
    capacity = case.device.hbm_gb / case.device.ranks * BYTES_PER_GIB
    return capacity * case.coefficients.search_memory_frac


def fits_host(case: Case, setup: Setup, kept: Kept | None = None) -> npt.NDArray[np.bool_]:
    """Return whether the offloaded activations of layouts fit in the memory of their hosts."""
    limit = case.device.host_gb / case.device.ranks * GIGA
    if not np.isfinite(limit) or not np.any(setup.layout.offload > 0):
        return np.ones(1, dtype=np.bool_)
    return np.asarray(host_bytes(setup, kept) <= limit, dtype=np.bool_)


@dataclass(frozen=True)
class Found:
    """The kept layouts, fastest first.

    It has columns of ``KEYS``, step time, memory, and the number of layouts.
    """

    layouts: dict[str, Array]
    step_time_s: Array
    memory_bytes: Array
    tried: int
    feasible: int
    least_bytes: float = float("inf")
    """Memory of the layout with the least memory, whether it fits or not."""
    least: dict[str, float] | None = None
    near: Found | None = None
    """All layouts within the requested tolerance of the fastest, in no order."""


@dataclass(frozen=True)
class Prepared:
    """Times and sizes of every micro-batch of a case, valid for all counts up to ``ranks``."""

    case: Case
    ranks: int
    axes: Axes
    columns: dict[str, Array]
    setup: Setup
    one: MicroBatch
    """All recompute modes and schedules of each row of ``columns``, as further columns."""
    kept: Kept


def prepare(case: Case, ranks: int, axes: Axes | None = None) -> Prepared:
    """Compute the values of a search that do not depend on the count."""
    axes = axes or default_axes(case)
    columns = inner_columns(case, ranks, axes)
    ones = np.ones_like(columns["tp"])
    blank = {
        name: columns.get(name, ones if name in {"pp", "vpp", "dp"} else 0.0 * ones)
        for name in KEYS
    }
    inner = case_setup(case, layout_table(case, blank))
    did, sent = work(inner), traffic(inner)
    modes = np.array([(r, s) for r in axes.recompute for s in axes.schedule], dtype=np.float64)
    layout = replace(inner.layout, recompute=modes[None, :, 0], schedule=modes[None, :, 1])
    one = micro_batch(replace(inner, layout=layout), each(did, column), each(sent, column))
    shape = (ones.size, len(modes))
    flat = each(one, lambda value: np.broadcast_to(value, shape).reshape(-1))
    return Prepared(case, ranks, axes, columns, inner, flat, kept_bytes(inner))


Rows = tuple[dict[str, Array], Array, Array]
"""Layouts with their step times and memory."""


def search(
    case: Case,
    ranks: int,
    *,
    axes: Axes | None = None,
    keep: int = 1,
    tolerance_frac: float | None = None,
) -> Found:
    """Search every valid layout of ``ranks`` ranks.

    The result is the ``keep`` fastest that fit in memory, and the memory frontier.

    The tensor-parallel size divides the heads, and key-value heads and scale-up domains are
    multiples or divisors of it. The context-parallel size divides the sequence, the expert-parallel
    size the experts. The micro-batch divides the global batch or is small. Stages have complete
    layers, and their number divides the ranks or the layers or is a power of two; chunks divide a
    stage. Ranks without a replica or a sequence stay idle.

    Parameters
    ----------
    case : Case
        Model, accelerator, stack, recipe, sequence length and batch.
    ranks : int
        Number of ranks, at least 1.
    axes : Axes, optional
        Modes to try; default: those that the stack supports.
    keep : int, default 1
        Number of fastest layouts to return.
    tolerance_frac : float, optional
        Also return in ``near`` all layouts that are at most this share slower than the fastest.
    """
    ready = prepare(case, ranks, axes)
    limit = usable_bytes(case)
    best: list[Rows] = []
    near, bar = list[Rows](), np.inf
    tried = feasible = 0
    least, leanest = float("inf"), None
    for block, at, mode in grid(case, ranks, ready.axes, ready.columns):
        tried += at.size
        for start in range(0, at.size, CHUNK):
            part = slice(start, start + CHUNK)
            columns, inner = {k: v[part] for k, v in block.items()}, at[part]
            setup = replace(ready.setup, layout=layout_table(case, columns))
            kept = rows(ready.kept, inner)
            needed = memory(setup, kept).total
            fits = (needed <= limit) & fits_host(case, setup, kept)
            low = int(np.argmin(needed))
            if needed[low] < least:
                least, leanest = (
                    float(needed[low]),
                    {k: float(v[low]) for k, v in columns.items()},
                )
            feasible += int(fits.sum())
            if fits.any():
                chosen = replace(setup, layout=rows(setup.layout, fits))
                time = assemble(chosen, rows(ready.one, mode[part][fits])).time_s
                here = ({k: v[fits] for k, v in columns.items()}, time, needed[fits])
                best.append(_leaders(*here, keep))
                if tolerance_frac is not None:
                    bar = min(bar, float(time.min()) * (1.0 + tolerance_frac))
                    near.append(_below(here, bar))
    return replace(
        _merge(best, keep, tried, feasible),
        least_bytes=least,
        least=leanest,
        near=_joined([_below(part, bar) for part in near], 0, 0) if near else None,
    )


def _below(part: Rows, bar: float) -> Rows:
    """Return the rows whose time is at most ``bar``."""
    layouts, time, needed = part
    ok = time <= bar
    return {k: v[ok] for k, v in layouts.items()}, time[ok], needed[ok]


def quick_search(ready: Prepared, ranks: int, keep: int) -> Found:
    """Return the ``keep`` fastest layouts of the same grid, with fewer computations.

    Layouts whose bound shows that they are slower are skipped.

    ``feasible`` and the memory frontier cover only the computed layouts.
    """
    case, limit = ready.case, usable_bytes(ready.case)
    found, tried, feasible = _merge([], keep, 0, 0), 0, 0
    bar = np.inf
    for block, at, mode in grid(case, ranks, ready.axes, ready.columns):
        tried += at.size
        layout = layout_table(case, block)
        low = least_step_s(ready.one.least_s[mode], layout)
        order = np.flatnonzero(low <= bar)
        order = order[np.argsort(low[order])]
        start, size = 0, FIRST
        while start < order.size and low[order[start]] <= bar:
            now = order[start : start + size]
            now = now[low[now] <= bar]
            start, size = start + size, size * 4
            setup = replace(ready.setup, layout=rows(layout, now))
            kept = rows(ready.kept, at[now])
            needed = memory(setup, kept).total
            fits = (needed <= limit) & fits_host(case, setup, kept)
            if not fits.any():
                continue
            feasible, now = feasible + int(fits.sum()), now[fits]
            chosen = replace(setup, layout=rows(layout, now))
            time = assemble(chosen, rows(ready.one, mode[now])).time_s
            columns = {k: np.broadcast_to(v, layout.pp.shape)[now] for k, v in block.items()}
            ahead = (found.layouts, found.step_time_s, found.memory_bytes)
            found = _merge([ahead, (columns, time, needed[fits])], keep, tried, feasible)
            if found.step_time_s.size >= keep:
                bar = float(np.sort(found.step_time_s)[keep - 1])
    return replace(found, tried=tried, feasible=feasible)


def _order(layouts: dict[str, Array], time: Array) -> Array:
    """Return the order by time, with a tiny penalty per rank of tensor, pipeline and chunk.

    For ties, the simplest layout comes first.
    """
    simple = (
        layouts["pp"] * layouts["vpp"] + layouts["tp"] / 64.0 + layouts["cp"] + layouts["offload"]
    )
    return np.asarray(np.argsort(time * (1.0 + 1e-9 * simple), kind="stable"), dtype=np.float64)


def _leaders(layouts: dict[str, Array], time: Array, needed: Array, keep: int) -> Rows:
    """Return the ``keep`` fastest and the layouts with less memory than all faster ones."""
    order = _order(layouts, time).astype(np.intp)
    lowest = np.minimum.accumulate(needed[order])
    frontier = np.concatenate([[True], needed[order][1:] < lowest[:-1]])
    wanted = order[(np.arange(order.size) < keep) | frontier]
    return {k: v[wanted] for k, v in layouts.items()}, time[wanted], needed[wanted]


def _merge(found: Sequence[Rows], keep: int, tried: int, feasible: int) -> Found:
    if not found:
        empty = np.empty(0)
        return Found(dict.fromkeys(KEYS, empty), empty, empty, tried, feasible)
    every = _joined(found, tried, feasible)
    layouts, time, needed = _leaders(every.layouts, every.step_time_s, every.memory_bytes, keep)
    return Found(layouts, time, needed, tried, feasible)


def _joined(found: Sequence[Rows], tried: int, feasible: int) -> Found:
    layouts = {k: np.concatenate([f[0][k] for f in found]) for k in KEYS}
    time, needed = (np.concatenate([f[i] for f in found]) for i in (1, 2))
    return Found(layouts, time, needed, tried, feasible)


def schedule_name(index: float) -> str:
    """Return the name of a schedule column's value."""
    return SCHEDULES[int(index)]
