"""The layouts that a search of many problems may choose, for any number of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dcplan.llm.operations import Setup
from dcplan.llm.tables import RECOMPUTE, Array
from dcplan.training.grid import (
    KEYS,
    SMALL_MICRO_BATCHES,
    Axes,
    Case,
    divisors,
    layout_table,
    stages,
    tensor_sizes,
)
from dcplan.training.many.group import INNER, OUTER, Mask, Outer
from dcplan.training.sharding import local_params
from dcplan.training.step import STAGE_ROUNDING_TOLERANCE

MOST_CONTEXT = 32
"""Largest context parallelism of a menu."""
MOST_TENSOR = 32
"""Largest tensor parallelism of a menu."""


def inner_menu(cases: Sequence[Case]) -> tuple[dict[str, Array], Mask]:
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


def modes_of(axes: Axes) -> list[tuple[int, int, float]]:
    """Return all recompute modes, schedules and shares of offload."""
    return [
        (r, s, off)
        for r in axes.recompute
        for s in axes.schedule
        for off in (axes.offload if r < RECOMPUTE.index("full") else (0.0,))
    ]


def outer_menu(case: Case, axes: Axes, setup: Setup) -> Outer:
    """Return all stages and modes, for any number of ranks."""
    layers, modes = case.shape.layers, modes_of(axes)
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
