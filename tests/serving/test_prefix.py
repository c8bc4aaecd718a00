"""Prefix cache: against a count of stack distances, and its monotony in the capacity."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.serving.queue.prefix import hit_frac_by_capacity, hit_tokens

QUICK = settings(max_examples=200, deadline=None)
PROMPTS = st.lists(st.lists(st.integers(0, 12), max_size=8), max_size=30)
"""Any hashes, even repeated ones: the cache must not rely on their order."""


def slow(prompts: list[list[int]], capacity: int) -> list[int]:
    """Count the distinct blocks used since the last use of each block."""
    uses: list[int] = []
    hits = []
    for prompt in prompts:
        found = 0
        for block in prompt:
            if block not in uses:
                break
            last = len(uses) - 1 - uses[::-1].index(block)
            if len(set(uses[last:])) > capacity:
                break
            found += 1
        hits.append(found)
        uses += prompt[::-1]
    return hits


@given(PROMPTS, st.integers(0, 15))
@QUICK
def test_equal_to_a_count_of_distances(prompts: list[list[int]], capacity: int) -> None:
    expected = slow(prompts, capacity)
    hits, frac = hit_tokens(prompts, 512, capacity)
    assert hits.tolist() == [512 * h for h in expected]
    total = sum(map(len, prompts))
    assert frac == pytest.approx(sum(expected) / total if total else 0.0)


@given(PROMPTS)
@QUICK
def test_one_pass_equals_one_cache_for_each_capacity(prompts: list[list[int]]) -> None:
    capacities = [*range(15), np.inf]
    found = hit_frac_by_capacity(prompts, np.array(capacities))
    each = [hit_tokens(prompts, 16, None if np.isinf(c) else int(c))[1] for c in capacities]
    np.testing.assert_allclose(found, each, rtol=1e-12)


@given(PROMPTS, st.integers(0, 12), st.integers(1, 5))
@QUICK
def test_more_capacity_never_lowers_hits(
    prompts: list[list[int]], capacity: int, more: int
) -> None:
    few, many = (hit_tokens(prompts, 16, c)[0] for c in (capacity, capacity + more))
    assert np.all(few <= many)
    assert np.all(many <= hit_tokens(prompts, 16)[0])


def test_the_end_of_a_prompt_leaves_first() -> None:
    # blocks 1 2 3 in a cache of 3; block 9 evicts the end of the prompt: 3
    hits, _ = hit_tokens([[1, 2, 3], [9], [1, 2, 3]], 1, 3)
    assert hits.tolist() == [0, 0, 2]


def test_capacities_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="capacity_blocks"):
        hit_tokens([[1]], 16, -1)


def chats(requests: int) -> list[list[int]]:
    """Conversations that grow by two to six blocks a turn."""
    rng = np.random.default_rng(6)
    open_chats: list[list[int]] = []
    found, block = [], 0
    for _ in range(requests):
        new = not open_chats or rng.random() < 0.2
        chat = [] if new else open_chats.pop(int(rng.integers(len(open_chats))))
        more = int(rng.integers(2, 7))
        chat = chat + list(range(block, block + more))
        block += more
        found.append(chat)
        if len(chat) < 60:
            open_chats.append(chat)
    return found


def test_100_000_requests_within_seconds() -> None:
    prompts = chats(100_000)
    began = time.perf_counter()
    _, frac = hit_tokens(prompts, 16, 100_000)
    assert time.perf_counter() - began < 5.0
    began = time.perf_counter()
    by_size = hit_frac_by_capacity(prompts, np.array([1e4, 1e5, np.inf]))
    assert time.perf_counter() - began < 10.0
    assert by_size[1] == pytest.approx(frac)
    assert by_size[0] < by_size[1] < by_size[2]
