"""Forward pass without attention: roofline limits, experts, collectives, by hand and as properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.serving.forward import Parts, active_experts, forward_parts
from dcplan.serving.step import decode_s, prompt_s
from dcplan.serving.tables import ServedModel
from tests.serving.small import DEVICE, EXPERTS, MODEL, TERMS, changed, one, served

QUICK = settings(max_examples=60, deadline=None)
WEIGHTS = 4 * 4000 + 800
SHARP = changed(TERMS, overlap_power=60)
"""Memory and compute overlap completely."""


def parts(given_served: object, tokens: float, dp: float = 1) -> Parts:
    return forward_parts(given_served, one(tokens), one(tokens * dp))  # type: ignore[arg-type]


def test_one_token_is_bound_by_memory() -> None:
    # 16,800 weights x 2 bytes at 0.5e6 byte/s; compute would take 2 x 16,800 / 0.5e6, as long, so
    # the device gets ten times the peak
    fast = changed(DEVICE, attention_flops=1e7, dense_flops=1e7, half_flops=1e7)
    found = parts(served(terms=SHARP, device=fast), 1).linear
    assert found == pytest.approx(WEIGHTS * 2 / 0.5e6, rel=1e-6)


def test_many_tokens_are_bound_by_compute() -> None:
    found = parts(served(terms=SHARP), 1000).linear
    assert found == pytest.approx(2 * WEIGHTS * 1000 / 0.5e6, rel=1e-6)


def test_a_power_of_one_adds_memory_and_compute() -> None:
    # 16,800 weights: bytes 33,600 / 0.5e6 s and 2 x 16,800 x 5 / 0.5e6 s
    assert parts(served(), 5).linear == pytest.approx((33_600 + 168_000) / 0.5e6)


def test_prompts_need_the_output_layer_for_their_last_token_only() -> None:
    whole = forward_parts(served(), one(100), one(100)).linear
    last = forward_parts(served(), one(100), one(100), one(1)).linear
    assert whole - last == pytest.approx(2 * 800 * 99 / 0.5e6)


def test_active_experts_by_hand() -> None:
    # 2 of 8 experts: one token uses 2; two tokens 8 x (1 - 0.75^2) = 3.5
    for tokens, expected in ((1, 2.0), (2, 3.5), (1e5, 8.0), (0, 0.0)):
        found = active_experts(one(8), one(2), one(tokens), one(1))
        assert found == pytest.approx(expected)
    assert active_experts(one(0), one(0), one(5), one(1)) == 0.0


@pytest.mark.parametrize(("experts", "each", "tokens"), [(64, 6, 10), (256, 8, 32), (128, 4, 100)])
def test_active_experts_are_those_of_random_choices(experts: int, each: int, tokens: int) -> None:
    # 400 draws: the standard error of the mean is below 0.5 experts in these cases
    random = np.random.default_rng(7)
    drawn = [
        len({e for _ in range(tokens) for e in random.choice(experts, each, replace=False)})
        for _ in range(400)
    ]
    found = active_experts(one(experts), one(each), one(tokens), one(1))
    assert found == pytest.approx(np.mean(drawn), rel=0.01)


def test_time_of_experts() -> None:
    # 3.5 experts x 4 layers x 500 bytes at 0.25e6 byte/s, and 2 x 2 tokens x 2 x 2,000 at 0.2e6
    # FLOP/s, over two ranks
    found = parts(served(EXPERTS, tp=2), 2).experts
    assert found == pytest.approx((3.5 * 2000 / 0.25e6 + 8 * 2000 / 0.2e6) / 2)
    # complete experts on ranks: the busiest rank takes 1.5 times as long
    busy = served(EXPERTS, terms=changed(TERMS, expert_imbalance=1.5), tp=2, ep=2)
    assert parts(busy, 2).experts == pytest.approx(1.5 * float(found[0]))


def test_all_reduce_of_four_ranks() -> None:
    # two all-reduces in each of 4 layers: 10 us (1 + 0.3) + 20 tokens x 16 values x 2 bytes x 2 x
    # 3/4 at 0.5e6 byte/s
    terms = changed(TERMS, allreduce_us=10, allreduce_growth=0.3)
    found = parts(served(terms=terms, tp=4), 20).reductions
    assert found == pytest.approx(8 * (13e-6 + 960 / 0.5e6))
    assert parts(served(terms=terms, tp=1), 20).reductions == 0.0


def test_all_reduce_outside_the_domain_takes_the_network() -> None:
    # 8 ranks, domain of 4: network of a tenth of the rate, and one hop more
    slow = changed(DEVICE, nic_bytes_per_s=1e5)
    terms = changed(TERMS, hop_us=50)
    found = parts(served(terms=terms, device=slow, tp=8), 20).reductions
    assert found == pytest.approx(8 * (50e-6 + 20 * 32 * 2 * 7 / 8 / 0.5e5))


def test_exchange_of_tokens_between_attention_copies() -> None:
    # 4 layers: 100 us + 20 tokens x 2 experts x 16 values x 3 bytes at 0.5e6 byte/s
    terms = changed(TERMS, exchange_us=100)
    inside = served(EXPERTS, terms=terms, dp=4, ep=4)
    assert parts(inside, 20, 4).exchange == pytest.approx(4 * (100e-6 + 1920 / 0.5e6))
    # 8 ranks leave the domain: a token crosses the network once for two experts, so it counts twice
    outside = served(EXPERTS, terms=changed(terms, hop_us=5), dp=8, ep=8)
    assert parts(outside, 20, 8).exchange == pytest.approx(4 * (110e-6 + 1920 / 1e6))
    assert parts(served(MODEL, terms=terms, dp=4), 20, 4).exchange == 0.0


def test_floors_of_a_layer() -> None:
    # 4 layers x (10 + 0.5 x 6) us, 4 expert layers x 7, 4 with shared experts x 2, 4 latent x 3,
    # one recurrent x 20
    terms = changed(
        TERMS, layer_us=10, quantize_us=6, moe_layer_us=7, shared_us=2, latent_us=3, recurrent_us=20
    )
    model = changed(EXPERTS, quantized=0.5, shared_layers=4, latent_dims=9, recurrent_layers=1)
    assert parts(served(model, terms=terms), 1).floors == pytest.approx(
        (52 + 28 + 8 + 12 + 20) * 1e-6
    )


def test_activations_pass_the_memory() -> None:
    # 4 layers x 12 passes x 16 values x 2 bytes x 50 tokens at the complete bandwidth
    found = parts(served(terms=changed(TERMS, activation_passes=12)), 50).activations
    assert found == pytest.approx(4 * 12 * 32 * 50 / 1e6)


def test_decode_step_by_hand() -> None:
    # forward pass of 5 tokens + cache of 5 x 332 x 128 bytes at 0.5e6 + 300 us + 5 x 10 us
    terms = changed(TERMS, step_us=300, request_us=10)
    found = decode_s(served(terms=terms), one(5), one(100))
    assert found == pytest.approx((33_600 + 168_000 + 5 * 332 * 128) / 0.5e6 + 350e-6)


def test_pipeline_stages_work_on_micro_batches() -> None:
    # 8 requests on 2 stages: every token passes all layers at the speed of a batch of 4, and two
    # sends of 4 tokens x 16 x 2 bytes at 1e6 byte/s with 10 us each
    terms = changed(TERMS, hop_us=10)
    found = decode_s(served(terms=terms, pp=2), one(8), one(100))
    alone = decode_s(served(terms=terms), one(4), one(100))
    assert found - alone == pytest.approx(2 * (10e-6 + 128e-6))


def test_stages_wait_for_the_largest_one() -> None:
    # 4 layers in 3 stages: 2 layers in the largest, so 3 micro-batches of 2 requests take 3 x 2/4
    # of the time of one micro-batch in all layers; 2 micro-batches take 2 x 2/4
    terms = changed(TERMS, step_us=0, request_us=0, hop_us=0)
    fast = changed(DEVICE, nic_bytes_per_s=1e30)
    model = served(terms=terms, device=fast)
    uneven = served(terms=terms, device=fast, pp=3)
    assert decode_s(uneven, one(6), one(100)) == pytest.approx(
        1.5 * float(decode_s(model, one(2), one(100))[0])
    )
    assert decode_s(uneven, one(2), one(100)) == pytest.approx(
        float(decode_s(model, one(1), one(100))[0])
    )


def test_prompt_by_hand() -> None:
    # two prompts of 100 tokens, 60 cached: 80 tokens through 16,000 weights, two through the output
    # layer, and attention
    factor = changed(TERMS, prefill_factor=1.5, step_us=300)
    found = prompt_s(served(terms=factor), one(2), one(100), 60.0)
    bytes_s = 33_600 / 0.5e6
    flops_s = 2 * (16_000 * 80 + 800 * 2) / 0.5e6
    # 3 layers (100^2 - 60^2) / 2 and one layer with a window of 32: 40 x 32
    pairs = 3 * 3200 + 1280
    attention_s = 2 * 2 * pairs * 8 * 16 / 0.4e6
    assert found == pytest.approx(1.5 * (bytes_s + flops_s + attention_s) + 300e-6)


RANKS = st.sampled_from([1, 2, 4])
MODELS = st.sampled_from([MODEL, EXPERTS])


@QUICK
@given(st.integers(1, 5000), st.integers(1, 500), RANKS, MODELS, st.floats(1, 5))
def test_time_grows_with_tokens(
    tokens: int, more: int, tp: int, model: ServedModel, power: float
) -> None:
    given_served = served(model, terms=changed(TERMS, overlap_power=power), tp=tp)
    less, greater = parts(given_served, tokens).total, parts(given_served, tokens + more).total
    assert greater[0] > less[0]


@QUICK
@given(st.integers(1, 500), st.floats(1.01, 4), st.floats(1, 5))
def test_time_grows_with_bytes_and_layers(tokens: int, factor: float, power: float) -> None:
    terms = changed(TERMS, overlap_power=power, layer_us=5)
    base = parts(served(terms=terms), tokens).total[0]
    wide = changed(MODEL, attention_bytes=2 * factor, dense_bytes=2 * factor)
    assert parts(served(wide, terms=terms), tokens).total[0] > base
    deep = changed(MODEL, layers=4 * factor, attention_layers=4 * factor, dense_layers=4 * factor)
    assert parts(served(deep, terms=terms), tokens).total[0] > base


@QUICK
@given(st.integers(1, 5000), RANKS, MODELS, st.floats(1, 5))
def test_more_tensor_parallelism_never_raises_the_products(
    tokens: int, tp: int, model: ServedModel, power: float
) -> None:
    terms = changed(TERMS, overlap_power=power)
    few, many = (parts(served(model, terms=terms, tp=t), tokens) for t in (tp, 2 * tp))
    assert many.linear[0] <= few.linear[0] * (1 + 1e-12)
    assert many.experts[0] <= few.experts[0] * (1 + 1e-12)
    assert many.linear[0] == pytest.approx(few.linear[0] / 2)
