"""Building of a group: the micro-batches of one case on several devices, in every mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dcplan.llm.device_terms import device_table
from dcplan.llm.operations import Setup
from dcplan.llm.tables import Array, column, each, rows
from dcplan.training.grid import KEYS, Case, Index, case_setup, default_axes, layout_table
from dcplan.training.many.group import Group, Mask
from dcplan.training.many.menu import inner_menu, modes_of, outer_menu
from dcplan.training.memory import Kept, in_mode, kept_bytes
from dcplan.training.micro_batch import MicroBatch, micro_batch, work
from dcplan.training.search import usable_bytes
from dcplan.training.sharding import local_params
from dcplan.training.traffic import traffic
from dcplan.units import FLOAT_BYTES, GIGA

LINKS = ("scaleout_gb_per_s", "in_network", "exchange_frac")
"""Values of a device's network."""


def group_of(cases: Sequence[Case]) -> Group:
    """Compute the micro-batches of one case on several devices.

    Parameters
    ----------
    cases : sequence of Case
        Cases that differ only in their device.
    """
    first, axes = cases[0], default_axes(cases[0])
    inner, allowed = inner_menu(cases)
    modes = np.array(modes_of(axes), dtype=np.float64)
    devices = device_table(
        [c.device for c in cases], [c.stack for c in cases], [c.recipe for c in cases]
    )
    at = np.repeat(np.arange(len(cases)), inner["tp"].size)
    setup = replace(_setup(first, inner, len(cases)), device=rows(devices, at))
    one = _micro_batches(setup, modes)
    order, least = _ordered(inner, one, len(modes), allowed)
    kept, first_kept, spare = _memory(_setup(first, inner, 1), first, modes)
    family, links = _networks(cases)
    return Group(
        cases=tuple(cases),
        inner=inner,
        modes=len(modes),
        outer=outer_menu(first, axes, setup),
        setup=replace(setup, device=devices),
        one=one,
        kept=kept,
        first=first_kept,
        spare=spare,
        ranks=np.array([c.device.ranks for c in cases]),
        usable=np.array([usable_bytes(c) for c in cases]),
        host=np.array([c.device.host_gb / c.device.ranks * GIGA for c in cases]),
        family=family,
        links=links,
        block_s=one.blocks_s,
        whole_s=one.least_s,
        order=order,
        least=least,
    )


def _setup(case: Case, inner: dict[str, Array], devices: int) -> Setup:
    """Return the setup of the inner layouts once for each device, on one stage of one replica."""
    tiled = {k: np.tile(v, devices) for k, v in inner.items()}
    ones = np.ones(devices * inner["tp"].size)
    blank = {
        k: tiled.get(k, ones if k in {"pp", "vpp", "dp"} else np.zeros_like(ones)) for k in KEYS
    }
    return case_setup(case, layout_table(case, blank))


def _micro_batches(setup: Setup, modes: Array) -> MicroBatch:
    """Return the micro-batches of each device and inner layout in each mode."""
    did, sent = work(setup), traffic(setup)
    # offload costs time in each problem, not in the micro-batch
    wide = replace(
        setup,
        device=each(setup.device, column),
        layout=replace(setup.layout, recompute=modes[None, :, 0], schedule=modes[None, :, 1]),
    )
    shape = (setup.layout.tp.size, len(modes))
    return each(
        micro_batch(wide, each(did, column), each(sent, column)),
        lambda value: np.broadcast_to(value, shape).reshape(-1),
    )


def _ordered(
    inner: dict[str, Array], one: MicroBatch, modes: int, allowed: Mask
) -> tuple[tuple[Index, ...], tuple[Array, ...]]:
    """Return the rows of each device by the time of one sequence on one rank, and these times."""
    cost = np.tile(np.repeat(inner["tp"] * inner["cp"] / inner["micro_batch"], modes), len(allowed))
    least = (one.least_s * cost).reshape(len(allowed), -1)
    able = np.repeat(allowed, modes, axis=1)
    order = [
        np.flatnonzero(ok)[np.argsort(x[ok], kind="stable")]
        for x, ok in zip(least, able, strict=True)
    ]
    return (
        tuple(o + i * least.shape[1] for i, o in enumerate(order)),
        tuple(x[o] for x, o in zip(least, order, strict=True)),
    )


def _memory(alone: Setup, case: Case, modes: Array) -> tuple[Kept, Array, Array]:
    """Return what inner layouts keep, and by mode the first micro-batch and the least buffers.

    ``alone`` is the setup of the inner layouts on one device. [byte]
    """
    kept = kept_bytes(alone)
    first = in_mode(each(kept, column), modes[None, :, 0]) * (1.0 - modes[None, :, 2])
    again = np.where(modes[None, :, 0] >= 2, column(kept.whole) / case.shape.layers, 0.0)
    p = local_params(alone)
    largest = np.maximum(p.largest * FLOAT_BYTES, p.head * alone.recipe.head_bytes)
    spare = again + column(largest * case.trainable) + alone.coefficients.reserve_bytes
    shape = (alone.layout.tp.size, len(modes))
    return (
        kept,
        np.broadcast_to(first, shape).reshape(-1),
        np.broadcast_to(spare, shape).reshape(-1),
    )


def _networks(cases: Sequence[Case]) -> tuple[tuple[int, ...], tuple[tuple[float, ...], ...]]:
    """Return the number of each device without its network, and the speed of its network."""
    plain = [replace(c.device, **dict.fromkeys(LINKS, 0.0)) for c in cases]
    families = list(dict.fromkeys(plain))
    return (
        tuple(families.index(x) for x in plain),
        tuple(tuple(getattr(c.device, k) for k in LINKS) for c in cases),
    )
