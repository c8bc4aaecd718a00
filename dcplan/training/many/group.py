"""One model, batch, software and recipe on several devices: the times that no count changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dcplan.llm.device_terms import device_table
from dcplan.llm.operations import Setup
from dcplan.llm.tables import RECOMPUTE, Array, column, each, rows
from dcplan.training.grid import (
    KEYS,
    SMALL_MICRO_BATCHES,
    Axes,
    Case,
    Index,
    case_setup,
    default_axes,
    divisors,
    layout_table,
    stages,
    tensor_sizes,
)
from dcplan.training.memory import Kept, in_mode, kept_bytes
from dcplan.training.search import usable_bytes
from dcplan.training.sharding import local_params
from dcplan.training.step import STAGE_ROUNDING_TOLERANCE, MicroBatch, micro_batch, work
from dcplan.training.traffic import traffic
from dcplan.units import FLOAT_BYTES, GIGA

MOST_CONTEXT = 32
"""Largest context parallelism of a menu."""
MOST_TENSOR = 32
"""Largest tensor parallelism of a menu."""
LINKS = ("scaleout_gb_per_s", "in_network", "exchange_frac")
"""Values of a device's network."""
INNER = ("tp", "cp", "micro_batch", "ep", "etp")
OUTER = ("pp", "vpp", "recompute", "zero", "schedule", "offload")
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Outer:
    """Pipeline stages with the modes of a layout, sorted by mode and fill."""

    columns: dict[str, Array]
    mode: Index
    """Index of recompute, schedule and offload."""
    dense: tuple[Array, Array]
    """Bytes of the dense states of the first stage, without tensor parallelism: those that every
    data-parallel rank keeps, and those that they share."""
    routed: tuple[Array, Array]
    """The same of its routed experts, without expert parallelism."""
    in_flight: Array
    """Most micro-batches that the first stage keeps, divided by the number of stages."""
    width: Array
    """Least share of the blocks that the slowest stage has."""
    even: Array
    """1 if the last stage also has the output layer without fewer blocks."""
    fill: Array
    """Lower bound of the time to fill the pipeline, in passes of one micro-batch."""
    always: Mask
    """Whether the stages divide the layers or are a power of two; others must divide the ranks."""


@dataclass(frozen=True)
class Group:
    """Micro-batch times of every device, valid for all counts.

    Rows of ``setup`` are devices times inner layouts; a row of ``one`` is such a row in a mode.
    """

    cases: tuple[Case, ...]
    inner: dict[str, Array]
    modes: int
    outer: Outer
    setup: Setup
    one: MicroBatch
    kept: Kept
    first: Array
    """Activations of one micro-batch that a pipeline keeps by inner layout and mode. [byte]"""
    spare: Array
    """Least bytes of buffers and of a repeated layer by inner layout and mode."""
    ranks: Array
    """Ranks of one accelerator of each device."""
    usable: Array
    """Memory that a rank of each device may use. [byte]"""
    host: Array
    """Memory of the host for one rank of each device. [byte]"""
    family: tuple[int, ...]
    """Devices that differ only in their network have the same number."""
    links: tuple[tuple[float, ...], ...]
    """Speed of the network of each device; more of each value never takes longer."""
    block_s: Array
    """Time of the blocks of a micro-batch, one entry for each row of ``one``. [s]"""
    whole_s: Array
    """The same with output layer and vision tower. [s]"""
    order: tuple[Index, ...]
    """Rows of ``one`` of each device, those of the least time first."""
    least: tuple[Array, ...]
    """Their time of one sequence on one rank: a lower bound without stages and gradients. [s]"""

    @property
    def size(self) -> int:
        """Return the number of inner layouts."""
        return int(self.inner["tp"].size)

    @property
    def sequences(self) -> float:
        """Return the sequences of a step."""
        return self.cases[0].global_batch

    def device_of(self, row: Index) -> Index:
        """Return the devices of rows of ``one``."""
        return np.asarray(row // (self.size * self.modes))

    def inner_of(self, row: Index) -> Index:
        """Return the inner layouts of rows of ``one``."""
        return np.asarray(row // self.modes % self.size)

    def shifted(self, row: Index, device: Index) -> Index:
        """Return the rows of the same layouts on other devices."""
        width = self.size * self.modes
        return np.asarray(row % width + device * width)


def group_of(cases: Sequence[Case]) -> Group:
    """Compute the micro-batches of one case on several devices.

    Parameters
    ----------
    cases : sequence of Case
        Cases that differ only in their device.
    """
    first = cases[0]
    axes = default_axes(first)
    inner, allowed = _inner(cases)
    devices, size = len(cases), inner["tp"].size
    modes = np.array(_modes(axes), dtype=np.float64)
    tiled = {k: np.tile(v, devices) for k, v in inner.items()}
    ones = np.ones(devices * size)
    blank = {
        k: tiled.get(k, ones if k in {"pp", "vpp", "dp"} else np.zeros_like(ones)) for k in KEYS
    }
    table = device_table(
        [c.device for c in cases], [c.stack for c in cases], [c.recipe for c in cases]
    )
    at = np.repeat(np.arange(devices), size)
    setup = replace(case_setup(first, layout_table(first, blank)), device=rows(table, at))
    did, sent = work(setup), traffic(setup)
    wide = replace(
        setup,
        device=each(setup.device, column),
        layout=replace(setup.layout, recompute=modes[None, :, 0], schedule=modes[None, :, 1]),
    )
    shape = (ones.size, len(modes))
    one = each(
        micro_batch(wide, each(did, column), each(sent, column)),
        lambda value: np.broadcast_to(value, shape).reshape(-1),
    )
    # offload costs time in each problem, not in the micro-batch
    alone = case_setup(first, layout_table(first, {k: v[:size] for k, v in blank.items()}))
    cost = np.repeat(tiled["tp"] * tiled["cp"] / tiled["micro_batch"], len(modes))
    least = (one.least_s * cost).reshape(devices, -1)
    able = np.repeat(allowed, len(modes), axis=1)
    order = [
        np.flatnonzero(ok)[np.argsort(x[ok], kind="stable")]
        for x, ok in zip(least, able, strict=True)
    ]
    kept = kept_bytes(alone)
    first_kept = in_mode(each(kept, column), modes[None, :, 0]) * (1.0 - modes[None, :, 2])
    again = np.where(modes[None, :, 0] >= 2, column(kept.whole) / first.shape.layers, 0.0)
    p = local_params(alone)
    largest = np.maximum(p.largest * FLOAT_BYTES, p.head * setup.recipe.head_bytes)
    spare = again + column(largest * first.trainable) + setup.coefficients.reserve_bytes
    plain = [replace(c.device, **dict.fromkeys(LINKS, 0.0)) for c in cases]
    families = list(dict.fromkeys(plain))
    return Group(
        cases=tuple(cases),
        inner=inner,
        modes=len(modes),
        outer=_outer(first, axes, setup),
        setup=replace(setup, device=table),
        one=one,
        kept=kept,
        first=np.broadcast_to(first_kept, (size, len(modes))).reshape(-1),
        spare=np.broadcast_to(spare, (size, len(modes))).reshape(-1),
        ranks=np.array([c.device.ranks for c in cases]),
        usable=np.array([usable_bytes(c) for c in cases]),
        host=np.array([c.device.host_gb / c.device.ranks * GIGA for c in cases]),
        family=tuple(families.index(x) for x in plain),
        links=tuple(tuple(getattr(c.device, k) for k in LINKS) for c in cases),
        block_s=one.blocks_s,
        whole_s=one.least_s,
        order=tuple(o + i * least.shape[1] for i, o in enumerate(order)),
        least=tuple(x[o] for x, o in zip(least, order, strict=True)),
    )


def _inner(cases: Sequence[Case]) -> tuple[dict[str, Array], Mask]:
    """Return the inner layouts of all devices, and which of them each device may have."""
    case = cases[0]
    shape, batch = case.shape, int(case.global_batch)
    own = [{t for t in tensor_sizes(c) if t <= MOST_TENSOR} for c in cases]
    cps = [c for c in divisors(case.seq_len) if c <= MOST_CONTEXT]
    eps = divisors(shape.experts) if shape.moe_layers else [1]
    micros = [b for b in SMALL_MICRO_BATCHES if b <= batch]
    table = np.array(
        [
            (tp, cp, b, ep, etp)
            for tp in sorted(set[int]().union(*own))
            for cp in cps
            for b in micros
            for ep, etp in [
                *((ep, 1) for ep in eps),
                *([(1, tp)] if shape.moe_layers and tp > 1 else []),
            ]
        ],
        dtype=np.float64,
    ).T
    inner = dict(zip(INNER, table, strict=True))
    return inner, np.array([np.isin(inner["tp"], sorted(sizes)) for sizes in own])


def _modes(axes: Axes) -> list[tuple[int, int, float]]:
    """Return all recompute modes, schedules and shares of offload."""
    return [
        (r, s, off)
        for r in axes.recompute
        for s in axes.schedule
        for off in (axes.offload if r < RECOMPUTE.index("full") else (0.0,))
    ]


def _outer(case: Case, axes: Axes, setup: Setup) -> Outer:
    """Return all stages and modes, for any number of ranks."""
    layers, modes = case.shape.layers, _modes(axes)
    found = [
        (pp, v, r, z, s, off)
        for r, s, off in modes
        for pp, v in stages(layers)
        if s == 0 or (pp > 1 and v == 1)
        for z in axes.zero
        if z < 3 or pp == 1 or case.stack.zero >= 3
    ]
    table = np.array(found, dtype=np.float64).T
    columns = dict(zip(OUTER, table, strict=True))
    mode = np.array([modes.index((r, s, off)) for _, _, r, _, s, off in found], dtype=np.intp)
    pp = columns["pp"]
    fill = np.where(columns["schedule"] > 0, 0.0, (pp - 1.0) / pp / columns["vpp"])
    order = np.lexsort([fill, mode])
    even = (np.mod(layers, pp) == 0) & (case.shape.mtp_layers <= 0)
    width = np.where(even, 1.0 / pp, np.ceil(layers / pp - STAGE_ROUNDING_TOLERANCE) / layers)
    always = (np.mod(layers, pp) == 0) | (np.mod(np.log2(pp), 1.0) == 0)
    ones = np.ones_like(pp)
    blank = {k: columns.get(k, ones) for k in KEYS}
    parts = local_params(replace(setup, layout=layout_table(case, blank)))
    zero, r, on = columns["zero"], setup.recipe, case.trainable
    each_has = (zero < 3) * r.weight_bytes + (
        (zero < 2) * r.grad_bytes + (zero < 1) * r.optimizer_bytes
    ) * on
    shared = r.weight_bytes + (r.grad_bytes + r.optimizer_bytes) * on - each_has
    return Outer(
        {k: v[order] for k, v in columns.items()},
        mode[order],
        ((parts.dense * each_has)[order], (parts.dense * shared)[order]),
        ((parts.routed_first * each_has)[order], (parts.routed_first * shared)[order]),
        np.where(columns["vpp"] > 1, 1.0 + fill, 1.0)[order],
        width[order],
        np.where(even, 1.0, 0.0)[order],
        fill[order],
        always[order],
    )
