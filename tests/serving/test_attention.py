"""Cached tokens of attention: what is held, read and computed, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.serving.attention import (
    cache_shards,
    decode_attention_s,
    held_tokens,
    joined,
    prompt_attention_s,
    prompt_pairs,
    read_tokens,
    sequence_bytes,
)
from dcplan.serving.tables import ServedModel
from tests.serving.small import DEVICE, LATENT, MODEL, TERMS, changed, layout, one

QUICK = settings(max_examples=60, deadline=None)
SPARSE = changed(MODEL, sparse_topk=40, index_bytes=8)
OPEN = changed(MODEL, causal=0)


@pytest.mark.parametrize(
    ("model", "context", "read", "held"),
    [
        # 3 full layers x 100 + 1 local layer x 32
        (MODEL, 100, 332, 332),
        # below the window all layers have the complete context
        (MODEL, 20, 80, 80),
        # sparse attention reads 40 of 100 tokens in 3 layers, and holds all of them
        (SPARSE, 100, 3 * 40 + 32, 332),
        (SPARSE, 20, 80, 80),
        (MODEL, 0, 0, 0),
    ],
)
def test_read_and_held_tokens(model: ServedModel, context: float, read: float, held: float) -> None:
    assert read_tokens(model, one(context)) == pytest.approx(read)
    assert held_tokens(model, one(context)) == pytest.approx(held)


def counted(tokens: int, limit: int, *, causal: bool) -> int:
    """Query-key pairs of a layer, one query after the other; query i sees the last ``limit`` keys."""
    seen = [min(i, limit) if causal else min(tokens, limit) for i in range(1, tokens + 1)]
    return sum(seen)


@pytest.mark.parametrize(("tokens", "topk"), [(256, 0), (256, 40), (400, 100), (16, 40)])
def test_causal_pairs_are_those_of_a_count(tokens: int, topk: int) -> None:
    # the formula integrates, so half a pair for each query is missing: at most 1 / (2 limit)
    model = changed(MODEL, sparse_topk=topk)
    full = counted(tokens, topk or tokens, causal=True)
    local = counted(tokens, 32, causal=True)
    expected = 3 * full + local
    assert prompt_pairs(model, one(tokens)) == pytest.approx(expected, abs=4 * tokens / 2 + 1e-9)


def test_pairs_of_an_encoder_are_the_square() -> None:
    # no causal mask: 3 x 100 x 100, and 100 x 32 in the layer with a window
    assert prompt_pairs(OPEN, one(100)) == pytest.approx(3 * 100 * 100 + 100 * 32)


def test_the_cache_of_a_sequence_is_divided_by_the_key_value_heads() -> None:
    # 332 tokens x 64 values x 2 bytes, halved by two ranks; a third and fourth rank hold copies
    bytes_at = {t: float(sequence_bytes(MODEL, layout(tp=t), one(100))[0]) for t in (1, 2, 4)}
    assert bytes_at == {1: 332 * 128.0, 2: 332 * 64.0, 4: 332 * 64.0}
    assert cache_shards(MODEL, layout(tp=4)) == 2


def test_a_latent_cache_is_copied_on_every_rank() -> None:
    # DeepSeek-V3: 61 layers x (512 + 64) values x 2 bytes = 70,272 byte a token on each rank
    deepseek = changed(LATENT, full_layers=61, cache_width=576)
    for tp in (1, 8):
        assert sequence_bytes(deepseek, layout(tp=tp), one(1)) == pytest.approx(70_272)


def test_index_keys_and_recurrent_states_are_held_too() -> None:
    # 3 full layers x 100 tokens x 8 bytes of index keys
    assert sequence_bytes(SPARSE, layout(), one(100)) == pytest.approx(332 * 128 + 2400)
    # two recurrent layers of 5,000 bytes, divided by tensor parallelism, whatever the context
    hybrid = changed(MODEL, recurrent_layers=2, state_bytes=5000)
    assert sequence_bytes(hybrid, layout(tp=4), one(0)) == pytest.approx(2500)


def test_decode_reads_the_cache_at_its_share_of_the_bandwidth() -> None:
    # 10 sequences x 332 tokens x 128 bytes over 2 ranks at 0.5 x 1e6 byte/s
    time = decode_attention_s(MODEL, DEVICE, layout(tp=2), TERMS, one(10), one(100))
    assert time == pytest.approx(10 * 332 * 128 / 2 / 0.5e6)


def test_decode_reads_and_writes_a_recurrent_state() -> None:
    hybrid = changed(MODEL, full_layers=0, local_layers=0, recurrent_layers=2, state_bytes=5000)
    time = decode_attention_s(hybrid, DEVICE, layout(), TERMS, one(10), one(100))
    assert time == pytest.approx(2 * 10 * 2 * 5000 / 0.5e6)


def test_latent_decode_computes_on_the_cache() -> None:
    # memory: 400 tokens x 72 values x 2 bytes at 0.5e6; compute: 2 x 400 x 8 heads x 136 at 0.4e6
    time = decode_attention_s(LATENT, DEVICE, layout(), TERMS, one(1), one(100))
    assert time == pytest.approx(400 * 144 / 0.5e6 + 2 * 400 * 8 * 136 / 0.4e6)


def test_a_cached_prefix_saves_its_own_pairs_only() -> None:
    # pairs of 100 tokens less those of the first 40, not those of a prompt of 60
    pairs = prompt_pairs(MODEL, one(100)) - prompt_pairs(MODEL, one(40))
    time = prompt_attention_s(MODEL, DEVICE, layout(tp=2), TERMS, one(3), one(100), one(40))
    assert time == pytest.approx(float(2 * 3 * pairs[0] * 8 * 16 / 2 / 0.4e6))
    alone = prompt_attention_s(MODEL, DEVICE, layout(tp=2), TERMS, one(3), one(60), one(0))
    assert time[0] > alone[0]


@QUICK
@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(1, 30))
def test_joined_lies_between_the_longer_and_the_sum(a: float, b: float, power: float) -> None:
    found = float(joined(one(a), one(b), one(power))[0])
    assert max(a, b) * (1 - 1e-12) <= found <= (a + b) * (1 + 1e-12)


@QUICK
@given(st.integers(1, 4000), st.integers(1, 500), st.sampled_from([MODEL, SPARSE, LATENT, OPEN]))
def test_everything_grows_with_the_context(tokens: int, more: int, model: ServedModel) -> None:
    for count in (read_tokens, held_tokens, prompt_pairs):
        assert count(model, one(tokens + more))[0] >= count(model, one(tokens))[0]
    assert np.all(read_tokens(model, one(tokens)) <= held_tokens(model, one(tokens)))
