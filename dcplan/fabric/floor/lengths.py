"""Number of cables by length, computed from racks in closed form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.fabric.floor.placement import Hall, Meters, length_m
from dcplan.fabric.topology.links import leaf_numbers, placed_pods
from dcplan.fabric.topology.wiring import Whole, leaf_of

Histogram = npt.NDArray[np.int64]
STOCK_M = np.array(
    [
        0.5,
        1,
        1.5,
        2,
        2.5,
        3,
        5,
        7,
        10,
        15,
        20,
        25,
        30,
        40,
        50,
        75,
        100,
        150,
        200,
        300,
        500,
        1000,
        2000,
    ]
)
"""Stock lengths of cables; longer cables are made to measure."""
MOST_PODS = 128
"""Maximum pods with exact cable lengths; with more, evenly spaced pods represent all."""
MOST_LINKS = 2_000_000
"""Maximum exact spine-core links; with more, every spine reaches every core equally."""
MOST_ENDS = 131_072
"""Maximum exact node-leaf links; with more, evenly spaced links represent all."""
CHUNK = 1_024
"""Nodes measured at a time."""


def stock(meters: Meters) -> Whole:
    """Return the index of the shortest sufficient stock length; one past the last if none."""
    return np.searchsorted(STOCK_M, meters - 1e-9)


@dataclass(frozen=True)
class Lengths:
    """Cables of one tier by stock length, all planes and rails together."""

    counts: Histogram
    """One count per :data:`STOCK_M`, and one for longer cables."""
    total_m: float
    longest_m: float

    @property
    def cables(self) -> int:
        """Return the number of all cables."""
        return int(self.counts.sum())


def lengths(hall: Hall) -> dict[str, Lengths]:
    """Return the lengths of node-leaf, leaf-spine and spine-core cables.

    They are exact for up to :data:`MOST_PODS` pods and :data:`MOST_LINKS` links above spines; racks, not
    cables, are counted, so a million accelerators need little time and memory.
    """
    found = {"node-leaf": _total(_node_leaf(hall))}
    if hall.wiring.pods:
        found["leaf-spine"] = _total(_leaf_spine(hall))
    if hall.wiring.core_count:
        found["spine-core"] = _total(_spine_core(hall))
    return found


Weighed = tuple[Meters, Meters]
"""Lengths and the number of cables of each."""


def _total(parts: Iterator[Weighed]) -> Lengths:
    counts = np.zeros(STOCK_M.size + 1)
    meters, longest = 0.0, 0.0
    for length, weight in parts:
        if length.size:
            counts += np.bincount(stock(length), weights=weight, minlength=counts.size)
            meters += float(length @ weight)
            longest = max(longest, float(length.max()))
    whole = np.rint(counts).astype(np.int64)
    # samples give no integer counts: the most common length takes the difference
    whole[int(whole.argmax())] += round(float(counts.sum())) - int(whole.sum())
    return Lengths(whole, meters, longest)


def _node_leaf(hall: Hall) -> Iterator[Weighed]:
    """Return node-leaf lengths: one full unit represents all full units, the last is exact.

    Managers are in the racks of their leaf switches.
    """
    w, each = hall.wiring, hall.unit_nodes
    whole, rest = divmod(w.nodes, each)
    by_unit = bool(w.nodes_per_su) and hall.floor.leaf_at == "unit"
    if w.management_links:
        yield np.array([hall.floor.in_rack_m]), np.array([float(w.management_links * hall.copies)])
    parts = [(0, each, float(whole)), (whole * each, rest, 1.0)] if by_unit else [(0, w.nodes, 1.0)]
    for first, count, weight in parts:
        if not count or not weight:
            continue
        starts = [
            (copy, part)
            for copy in range(hall.copies)
            for part in range(first, first + count, CHUNK)
        ]
        starts = starts[:: max(len(starts) * CHUNK * w.rails // MOST_ENDS, 1)]
        shown = sum(min(CHUNK, first + count - part) for _, part in starts)
        for copy, part in starts:
            nodes = np.arange(part, min(part + CHUNK, first + count))
            node, rail = np.repeat(nodes, w.rails), np.tile(np.arange(w.rails), nodes.size)
            leaf, _ = leaf_of(w, node, rail)
            length = length_m(hall.floor, hall.node_at(node), hall.leaf_at(leaf, copy))
            yield length, np.full(length.size, weight * count * hall.copies / shown)


def _leaf_spine(hall: Hall) -> Iterator[Weighed]:
    w = hall.wiring
    placed = list(placed_pods(w))
    step = max(len(placed) * hall.copies // MOST_PODS, 1)
    chosen = [(copy, *at) for copy in range(hall.copies) for at in placed][::step]
    shown = sum(pod.leaves for _, pod, _, _ in chosen)
    weight = hall.copies * w.leaf_count / shown
    for copy, pod, first_leaf, first_spine in chosen:
        leaf = leaf_numbers(w, first_leaf + np.arange(pod.leaves))
        spine = first_spine + np.arange(pod.spines)
        yield from _pairs(
            hall,
            hall.leaf_at(leaf, copy),
            hall.spine_at(spine, copy),
            w.plan.leaf_up / pod.spines * weight,
        )


def _spine_core(hall: Hall) -> Iterator[Weighed]:
    w = hall.wiring
    up = np.concatenate([np.full(p.pods * p.spines, p.spine_up) for p in w.pods])
    for copy in range(hall.copies):
        if int(up.sum()) * hall.copies <= MOST_LINKS:
            spine = np.repeat(np.arange(up.size), up)
            core = np.arange(spine.size) % w.core_count
            length = length_m(hall.floor, hall.spine_at(spine, copy), hall.core_at(core, copy))
            yield length, np.ones(length.size)
        else:
            spines, cores = (
                hall.spine_at(np.arange(up.size), copy),
                hall.core_at(np.arange(w.core_count), copy),
            )
            yield from _pairs(hall, spines, cores, float(up.sum()) / (up.size * w.core_count))


def _pairs(
    hall: Hall, a: tuple[Whole, Whole], b: tuple[Whole, Whole], weight: float
) -> Iterator[Weighed]:
    """Return the lengths between every device of a and every device of b, rack by rack."""
    (ra, ca, na), (rb, cb, nb) = _racks(a), _racks(b)
    length = length_m(hall.floor, (ra[:, None], ca[:, None]), (rb[None, :], cb[None, :]))
    yield length.ravel(), np.outer(na, nb).ravel().astype(np.float64) * weight


def _racks(at: tuple[Whole, Whole]) -> tuple[Whole, Whole, Whole]:
    place = at[0] * 1_000_000 + at[1]
    unique, count = np.unique(place, return_counts=True)
    return unique // 1_000_000, unique % 1_000_000, count
