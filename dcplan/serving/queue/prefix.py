"""Prefix cache: which leading blocks of a prompt a cache of a given size still has.

The cache evicts the block whose last use is oldest. A request uses its blocks from the last to the
first, so the end of a prompt leaves the cache before its start, as in vLLM.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dcplan.serving.queue.clock import Array

Blocks = Sequence[Sequence[int]]
"""Hashes of the blocks of each prompt, from its start."""


def hit_tokens(
    block_hashes: Blocks, block_tokens: int, capacity_blocks: int | None = None
) -> tuple[npt.NDArray[np.int64], float]:
    """Return the cached prompt tokens of each request, shape (n,), and the share of hit blocks.

    Requests come in the order of the list. A request hits its leading blocks up to the first one
    that the cache does not have.

    Parameters
    ----------
    block_hashes : sequence of sequences of int
        Hashes of each prompt's blocks; equal hashes mean equal text from the start of the prompt.
    block_tokens : int
        Tokens of a block. [tokens]
    capacity_blocks : int or None
        Blocks that the cache holds, at least 0; None for a cache without limit.

    Raises
    ------
    ValueError
        When the capacity is below 0 or a block has no token.

    References
    ----------
    .. [1] R. Qin et al., "Mooncake: Trading More Storage for Less Computation", FAST 2025.

    Examples
    --------
    The second prompt shares one block with the first, the third both.

    >>> prompts = [[1, 2], [1, 3], [1, 2]]
    >>> [(hits.tolist(), frac) for hits, frac in (hit_tokens(prompts, 512), hit_tokens(prompts, 512, 2))]
    [([0, 512, 1024], 0.5), ([0, 512, 512], 0.3333333333333333)]
    """
    if block_tokens < 1 or (capacity_blocks is not None and capacity_blocks < 0):
        msg = f"block_tokens {block_tokens} is at least 1, capacity_blocks at least 0"
        raise ValueError(msg)
    cache: OrderedDict[int, None] = OrderedDict()
    hits = []
    for blocks in block_hashes:
        found = 0
        for block in blocks:
            if block not in cache:
                break
            found += 1
        hits.append(found)
        for block in reversed(blocks):
            cache[block] = None
            cache.move_to_end(block)
        if capacity_blocks is not None:
            while len(cache) > capacity_blocks:
                cache.popitem(last=False)
    total = sum(map(len, block_hashes))
    return np.array(hits, dtype=np.int64) * block_tokens, sum(hits) / total if total else 0.0


def hit_frac_by_capacity(block_hashes: Blocks, capacity_blocks: Array) -> Array:
    r"""Return the share of hit blocks for each capacity, shape (m,), from one pass.

    A block is in a cache of :math:`c` blocks if at most :math:`c - 1` other blocks were used since
    its last use: its stack distance is at most :math:`c` [1]_. A hit needs this of the block and
    of all blocks before it.

    Parameters
    ----------
    block_hashes : sequence of sequences of int
        Hashes of each prompt's blocks.
    capacity_blocks : Array
        Capacities, infinity allowed, shape (m,). [blocks]

    References
    ----------
    .. [1] R. L. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems
       Journal 9(2), 1970; counts of a tree: P. M. Fenwick, Software 24(3), 1994.

    Examples
    --------
    >>> hit_frac_by_capacity([[1, 2], [1, 3], [1, 2]], np.array([0.0, 2.0, 3.0])).round(3).tolist()
    [0.0, 0.333, 0.5]
    """
    total = sum(map(len, block_hashes))
    needed = np.sort(_needed(block_hashes))
    counts = np.searchsorted(needed, np.asarray(capacity_blocks, dtype=np.float64), side="right")
    return counts / max(total, 1)


def _needed(block_hashes: Blocks) -> Array:
    """Return the capacity from which on a block is a hit, for each block that can be one.

    A use has a place, and the latest use of each block is live. The stack distance of a block is
    the number of live places from its own on: those of later requests, from a Fenwick tree, and
    those of its own last request, by a count. Neighbors that were used one after the other differ
    by one.
    """
    count = len(block_hashes)
    tree = [0] * (count + 1)
    total = sum(map(len, block_hashes))
    live = bytearray(total)
    owner = np.repeat(np.arange(count), [len(b) for b in block_hashes]).tolist()
    ends = np.cumsum([len(b) for b in block_hashes]).tolist()
    place: dict[int, int] = {}
    found: list[int] = []
    alive, start = 0, 0
    for request, blocks in enumerate(block_hashes):
        need = distance = 0
        last = -1
        for block in blocks:
            at = place.get(block, -1)
            if at < 0:
                break
            if at == last - 1:
                distance += 1
            else:
                of = owner[at]
                older = _sum(tree, of + 1)
                distance = alive - older + live.count(1, at, ends[of])
            last = at
            need = max(need, distance)
            found.append(need)
        gone: dict[int, int] = {}
        at = start
        for block in reversed(blocks):
            before = place.get(block, -1)
            if before >= 0:
                live[before] = 0
                gone[owner[before]] = gone.get(owner[before], 0) + 1
            place[block] = at
            live[at] = 1
            at += 1
        gone[request] = gone.get(request, 0) - len(blocks)
        for of, fewer in gone.items():
            alive -= fewer
            _add(tree, of + 1, -fewer)
        start = at
    return np.array(found, dtype=np.float64)


def _sum(tree: list[int], end: int) -> int:
    """Return the sum of the first entries."""
    total = 0
    while end:
        total += tree[end]
        end &= end - 1
    return total


def _add(tree: list[int], entry: int, value: int) -> None:
    """Add to an entry, counted from 1."""
    while entry < len(tree):
        tree[entry] += value
        entry += entry & -entry
