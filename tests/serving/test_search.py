"""Search of layouts: every layout divides what it must, and the choice is that of brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.serving.forward import Served
from dcplan.serving.memory import MemoryTerms, most_requests
from dcplan.serving.search import (
    Layout,
    Limits,
    Points,
    Request,
    batches,
    frontier,
    layouts,
    points,
)
from dcplan.serving.split import split
from dcplan.serving.steady import Load, closed_loop
from dcplan.serving.step import decode_s, prompt_s
from dcplan.serving.tables import ServedLayout, table
from tests.serving.small import DEVICE, EXPERTS, TERMS, changed, one

QUICK = settings(max_examples=60, deadline=None)
LIMITS = Limits(heads=8, experts=8, layers=4, domain=4, most_accelerators=8)
ROOM = changed(DEVICE, memory_bytes=6e5)
REAL = changed(
    TERMS,
    step_us=3000,
    layer_us=500,
    allreduce_us=400,
    exchange_us=900,
    ingress_ms=20,
    handover_ms=50,
    separate_prefill_frac=0.7,
    pool_prefill_factor=0.8,
)
MEMORY = MemoryTerms(one(0.9), one(0), one(200))
REQUEST = Request(50, 20)
FOUND = layouts(LIMITS)
WIDE = Served(EXPERTS, ROOM, table(ServedLayout, FOUND), REAL)


@pytest.fixture(scope="module")
def grid() -> Points:
    return points(WIDE, MEMORY, REQUEST, 64)


@QUICK
@given(
    st.sampled_from([8, 12, 40, 64]),
    st.sampled_from([0, 8, 60, 128]),
    st.integers(1, 70),
    st.sampled_from([1, 4, 8, 72]),
    st.sampled_from([1, 2, 8, 32]),
)
def test_layouts_divide_heads_and_experts(
    heads: int, experts: int, layers: int, domain: int, most: int
) -> None:
    found = layouts(Limits(heads, experts, layers, domain, most))
    assert len(found) == len(set(found))
    assert Layout(1) in found
    for x in found:
        assert heads % x.tp == 0
        assert x.tp <= domain
        assert x.pp <= layers
        assert x.accelerators <= most
        assert x.ep in (1, x.tp * x.dp)
        if x.ep > 1:
            assert experts % x.ep == 0
        if x.dp > 1:
            assert experts > 0
            assert x.ep > 1


def test_no_layout_is_left_out() -> None:
    # brute force over powers of two with the rules of the docstring
    expected = set()
    for tp, dp, pp in product((1, 2, 4, 8), repeat=3):
        if tp > 4 or pp > 4 or tp * dp * pp > 8:
            continue
        if dp == 1:
            expected.add(Layout(tp, 1, pp, 1))
        if tp * dp > 1 and (dp > 1 or pp == 1):
            expected.add(Layout(tp, dp, pp, tp * dp))
    assert set(FOUND) == expected


def test_batches_grow_by_half_an_octave() -> None:
    assert batches(20).tolist() == [1, 2, 3, 4, 6, 8, 11, 16]
    assert batches(0.3).tolist() == [1]


def test_a_point_is_the_closed_loop_of_its_layout(grid: Points) -> None:
    row, column = FOUND.index(Layout(2, 2, 1, 4)), 3
    alone = Served(EXPERTS, ROOM, table(ServedLayout, [FOUND[row]]), REAL)
    fits = most_requests(EXPERTS, ROOM, alone.layout, MEMORY, one(60))
    load = Load(
        one(grid.concurrency[column]), one(50), one(20), one(0), np.minimum(fits, 128), one(200)
    )
    found = closed_loop(alone, load)
    assert grid.steady.tpot_s[row, column] == pytest.approx(float(found.tpot_s[0]))
    assert grid.most_requests[row, 0] == pytest.approx(min(float(fits[0]), 128))
    rate = float(found.requests_per_s[0]) * 20 / 4
    assert grid.tokens_per_s_per_accelerator[row, column] == pytest.approx(rate)
    assert grid.tokens_per_s_per_user[row, column] == pytest.approx(1 / float(found.tpot_s[0]))


def test_the_frontier_is_that_of_brute_force(grid: Points) -> None:
    rate, speed = grid.tokens_per_s_per_accelerator, grid.tokens_per_s_per_user
    every = {
        (float(rate[a]), float(speed[a]))
        for a in np.ndindex(grid.possible.shape)
        if grid.possible[a]
    }
    # of equal points one is kept, so sets of values are compared
    kept = {a for a in every if not any(b != a and b[0] >= a[0] and b[1] >= a[1] for b in every)}
    found = frontier(grid)
    assert {(float(rate[a]), float(speed[a])) for a in found} == kept
    assert len(found) == len(kept)
    assert np.all(np.diff([speed[a] for a in found]) < 0)
    assert np.all(np.diff([rate[a] for a in found]) > 0)


def chosen_split(ttft_s: float, tpot_s: float) -> tuple[float, float] | None:
    """Accelerators for one request per second of each pool, one layout and batch after the other."""
    decode, prefill = [], []
    for x in FOUND:
        alone = Served(EXPERTS, ROOM, table(ServedLayout, [x]), REAL)
        fits = float(most_requests(EXPERTS, ROOM, alone.layout, MEMORY, one(60))[0])
        for batch in batches(1e4):
            step = float(decode_s(alone, one(batch), one(60))[0])
            if batch <= min(fits, 64 * x.dp) and step <= tpot_s:
                decode.append((x.accelerators * 20 * step / batch, step))
    if not decode:
        return None
    cost, step = min(decode)
    for x in FOUND:
        alone = Served(EXPERTS, ROOM, table(ServedLayout, [x]), REAL)
        fits = float(most_requests(EXPERTS, ROOM, alone.layout, MEMORY, one(60))[0])
        prompt = 0.8 * float(prompt_s(alone, one(1), one(50))[0])
        each = 0.8 * float(prompt_s(alone, one(4), one(50))[0]) / 4
        # 3 full layers x 50 + 32 tokens x 128 bytes on two shards at most, a layer of four after the
        # other, over 1e6 byte/s
        sent = (3 * 50 + 32) * 128 / min(x.tp, 2) / 4 / 1e6
        first = prompt + 0.5 / (2 * 0.5) * prompt + sent + 0.07 + step
        if first <= ttft_s and fits >= 1:
            prefill.append(x.accelerators * each / (x.dp * 0.5))
    return (min(prefill), cost) if prefill else None


@pytest.mark.parametrize(("ttft_s", "tpot_s"), [(10, 1), (1.5, 0.4), (1.0, 0.2), (0.6, 0.1)])
def test_split_pools_are_those_of_brute_force(ttft_s: float, tpot_s: float) -> None:
    found = split(WIDE, MEMORY, REQUEST, 64, ttft_s, tpot_s, 0.5)
    expected = chosen_split(ttft_s, tpot_s)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        pools = (found.prefill_accelerators_per_rps, found.decode_accelerators_per_rps)
        assert pools == pytest.approx(expected)
        assert found.accelerators_per_rps == pytest.approx(sum(expected))
        assert found.tpot_s <= tpot_s
        assert found.ttft_s <= ttft_s


def test_no_split_meets_a_limit_of_zero() -> None:
    assert split(WIDE, MEMORY, REQUEST, 64, 10, 1e-9, 0.5) is None
    assert split(WIDE, MEMORY, REQUEST, 64, 1e-9, 10, 0.5) is None
