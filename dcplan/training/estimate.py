"""Step time of a model on many accelerator counts at once, the input of run options."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.llm.architecture import Architecture, model_flops_per_token
from dcplan.llm.coefficients import Coefficients
from dcplan.llm.device_terms import DeviceTerms, RecipeTerms, StackTerms, peak_tflops
from dcplan.llm.tables import RECOMPUTE, Array
from dcplan.training.grid import KEYS, Axes, Case, case_setup, default_axes, layout_table
from dcplan.training.memory import memory
from dcplan.training.search import (
    Found,
    fits_host,
    prepare,
    quick_search,
    schedule_name,
    usable_bytes,
)
from dcplan.training.step import step
from dcplan.units import GIGA, TERA

SEARCH_RATIO = 2.0
"""Ratio between counts with a layout search; the best layouts are tried at every count."""
SEARCH_KEPT = 8
SEARCH_GOOD_FRAC = 0.93
"""Share of the better neighbors' rate below which a count gets its own search."""
SEARCH_AGAIN, SEARCH_ROUNDS = 4, 3
"""Counts with their own search per round, and rounds."""
SEARCH_HALVINGS, SEARCH_CLOSE, SEARCH_NEARBY = 7, 1.1, 1.5
"""Maximum searches for one target step time; counts this close to the best possible are kept."""
SEARCH_GAIN = 0.98
"""Minimum reduction of a step time in a round, as a share; otherwise the search ends."""


@dataclass(frozen=True)
class Hardware:
    """An accelerator in its system and fabric, with training software and precision."""

    device: DeviceTerms
    stack: StackTerms
    recipe: RecipeTerms
    coefficients: Coefficients
    spread_frac: float
    """Half width of the 80 % interval of the step time."""
    streams_weights: bool = False
    """Whether weights are outside the accelerator (Cerebras): data parallelism only, and no memory
    limit on the model."""

    @property
    def peak_tflops(self) -> float:
        """Return the dense peak at the recipe's precision."""
        return peak_tflops(self.device, self.recipe.gemm)


@dataclass(frozen=True)
class Sweep:
    """Best layout per accelerator count; ``step_time_s`` is infinite if none fits in memory."""

    accelerators: Array
    used: Array
    step_time_s: Array
    memory_gb: Array
    tokens_per_step: float
    flops_per_step: float
    layouts: dict[str, Array]
    parts_s: dict[str, Array]
    tried: int
    feasible: Array
    searched: Array | None = None
    """1 where all layouts were searched; other counts have the best of the layouts found. None: not
    known."""


def case_of(
    shape: Architecture,
    seq_len: int,
    global_batch_tokens: float,
    hardware: Hardware,
    images: float = 0.0,
) -> Case:
    """Return the case of a search; a batch has at least one sequence."""
    sequences = max(global_batch_tokens / seq_len, 1.0)
    return Case(
        shape,
        hardware.device,
        hardware.stack,
        hardware.recipe,
        hardware.coefficients,
        seq_len,
        sequences,
        images=images,
    )


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
    result = _everywhere(case, counts, found)
    if wanted_s:
        return _smallest(case, result, wanted_s, search_at)
    done: set[int] = set()
    for _ in range(SEARCH_ROUNDS):
        poor = [i for i in _poor(result) if i not in done]
        if not poor:
            break
        again = poor[:: max(len(poor) // SEARCH_AGAIN, 1)][:SEARCH_AGAIN]
        done.update(again)
        better = _better(
            result, _everywhere(case, counts, [search_at(int(counts[i])) for i in again])
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
            result = _better(result, _everywhere(case, counts, [search_at(int(counts[at]))]))
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


def _better(one: Sweep, other: Sweep) -> Sweep:
    """Return the faster of two sweeps at every count."""
    take = other.step_time_s < one.step_time_s

    def pick(a: Array, b: Array) -> Array:
        return np.where(take, b, a)

    parts = one.parts_s.keys() | other.parts_s.keys()
    zero = np.zeros_like(one.step_time_s)
    return replace(
        one,
        used=pick(one.used, other.used),
        step_time_s=pick(one.step_time_s, other.step_time_s),
        memory_gb=pick(one.memory_gb, other.memory_gb),
        layouts={k: pick(one.layouts[k], other.layouts[k]) for k in KEYS},
        parts_s={
            k: pick(one.parts_s.get(k, zero), other.parts_s.get(k, zero)) for k in sorted(parts)
        },
        tried=one.tried + other.tried,
        feasible=one.feasible + other.feasible,
    )


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


def _everywhere(case: Case, counts: Array, found: list[Found]) -> Sweep:
    replica = [k for k in KEYS if k != "dp"]
    rows = np.unique(
        np.concatenate([np.stack([f.layouts[k] for k in replica]) for f in found], axis=1), axis=1
    )
    tried, tokens = sum(f.tried for f in found), case.global_batch * case.seq_len
    flops = model_flops_per_token(case.shape, case.seq_len, case.images) * tokens
    shape = (counts.size, rows.shape[1])
    if not rows.size:
        none = np.full(counts.size, np.inf)
        zero = np.zeros(counts.size)
        return Sweep(
            counts, zero, none, zero, tokens, flops, dict.fromkeys(KEYS, zero + 1), {}, tried, zero
        )
    # layouts along one axis, counts along the other: values that do not depend on the count are
    # computed
    # once
    columns = {k: rows[i][None, :] for i, k in enumerate(replica)}
    ranks = (counts * case.device.ranks)[:, None]
    cut = columns["tp"] * columns["pp"] * columns["cp"]
    dp = np.minimum(np.floor(ranks / cut), np.floor(case.global_batch / columns["micro_batch"]))
    groups = dp * columns["cp"] * columns["tp"]
    ok = (dp >= 1) & (np.mod(groups, columns["ep"] * columns["etp"]) == 0) & (groups > 0)
    columns["dp"] = np.maximum(dp, 1.0)
    setup = case_setup(case, layout_table(case, columns))
    existing = memory(setup).total
    ok &= (existing <= usable_bytes(case)) & fits_host(case, setup)
    done = step(setup)
    simple = 1.0 + 1e-9 * (columns["pp"] * columns["vpp"] + columns["tp"] / 64.0 + columns["cp"])
    time = np.where(ok, done.time_s, np.inf)
    best = (np.arange(counts.size), np.argmin(time * simple, axis=1))
    at = {k: np.broadcast_to(columns[k], shape)[best] for k in KEYS}
    return Sweep(
        accelerators=counts,
        used=at["tp"] * at["pp"] * at["cp"] * at["dp"] / case.device.ranks,
        step_time_s=time[best],
        memory_gb=np.broadcast_to(existing, shape)[best] / GIGA,
        tokens_per_step=tokens,
        flops_per_step=flops,
        layouts=at,
        parts_s={k: np.broadcast_to(v, shape)[best] for k, v in done.parts_s.items()},
        tried=tried,
        feasible=ok.sum(axis=1).astype(np.float64),
    )


def streamed(
    shape: Architecture,
    seq_len: int,
    global_batch_tokens: float,
    hardware: Hardware,
    counts: Array,
    images: float,
) -> Sweep:
    """Return the sweep of weight streaming, with complete sequences on each wafer.

    Weights are broadcast layer by layer, and gradients are reduced.

    Compute at the family's fraction of peak; the weight stream is hidden behind it at the used
    batches.
    """
    sequences = max(global_batch_tokens / seq_len, 1.0)
    used = np.minimum(counts, math.floor(sequences))
    each = np.ceil(sequences / used)
    flops = model_flops_per_token(shape, seq_len, images)
    rate = hardware.peak_tflops * TERA * hardware.device.half_gemm_frac
    compute = each * seq_len * flops / rate
    one = np.ones_like(counts)
    tokens = sequences * seq_len
    layouts = {
        k: (one * 0.0 if k in {"recompute", "zero", "schedule", "offload"} else one) for k in KEYS
    } | {"dp": used}
    return Sweep(
        accelerators=counts,
        used=used,
        step_time_s=compute,
        memory_gb=one * 0.0,
        tokens_per_step=tokens,
        flops_per_step=flops * tokens,
        layouts=layouts,
        parts_s={"gemm": compute},
        tried=1,
        feasible=one,
    )


def layout_of(result: Sweep | Found, i: int) -> dict[str, int | str]:
    """Return the layout of the i-th row with the usual names."""
    names = ("tp", "pp", "vpp", "dp", "cp", "ep", "etp")
    layout: dict[str, int | str] = {name: int(result.layouts[name][i]) for name in names}
    layout["mbs"] = int(result.layouts["micro_batch"][i])
    layout["recompute"] = RECOMPUTE[int(result.layouts["recompute"][i])]
    layout["zero"] = int(result.layouts["zero"][i])
    if result.layouts["schedule"][i]:
        layout["schedule"] = schedule_name(result.layouts["schedule"][i])
    if result.layouts["offload"][i]:
        layout["offload"] = "all"
    return layout
