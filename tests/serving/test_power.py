"""Power and energy of accelerators that serve."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.serving.power import PowerTerms, Step, Use, joules_per_token, power_frac, use_of
from tests.serving.small import EXPERTS, one, served

QUICK = settings(max_examples=60, deadline=None)


def test_use_of_memory_and_peak_by_hand() -> None:
    # a step of 1 s: 33,600 bytes of weights and 2 x 332 x 128 of the cache over 1e6 byte/s; 2 + 3
    # tokens/s x 2 x 16,800 FLOP over 1e6 FLOP/s
    found = use_of(served(), one(2), one(100), one(1.0), one(3))
    assert found.memory == pytest.approx((33_600 + 2 * 332 * 128) / 1e6)
    assert found.compute == pytest.approx(5 * 2 * 16_800 / 1e6)
    # steps of half the time: twice the bytes/s, and 4 + 3 tokens/s
    fast = use_of(served(), one(2), one(100), one(0.5), one(3))
    assert fast.memory == pytest.approx(2 * (33_600 + 2 * 332 * 128) / 1e6)
    assert fast.compute == pytest.approx(7 * 2 * 16_800 / 1e6)


def test_use_of_experts_counts_the_active_ones() -> None:
    # two requests: attention, shared experts and output layer (4,000 + 400 + 800) x 2 bytes, 3.5 of
    # 8 experts x 2,000 weights of 1 byte, cache
    found = use_of(served(EXPERTS), one(2), one(100), one(1.0), one(0))
    assert found.memory == pytest.approx((5200 * 2 + 3.5 * 2000 + 2 * 332 * 128) / 1e6)
    # two experts of 2,000 weights for each token
    assert found.compute == pytest.approx(2 * 2 * (5200 + 2 * 2000) / 1e6)


def test_verified_tokens_and_drafts_are_computed() -> None:
    # a step of 1 s verifies 3 tokens of each of 2 requests, and a draft of 2 x 0.1 steps:
    # 2 x (3 + 0.2) + 3 tokens/s x 2 x 16,800 FLOP, and 1.2 times the bytes
    plain = use_of(served(), one(2), one(100), one(1.0), one(3))
    found = use_of(served(), one(2), one(100), one(1.0), one(3), Step(3.0, 0.2))
    assert found.compute == pytest.approx((2 * 3.2 + 3) * 2 * 16_800 / 1e6)
    assert found.memory == pytest.approx(1.2 * plain.memory)


def test_prompts_of_a_step_choose_experts() -> None:
    # 1,000 prompt tokens choose all 8 experts of 2,000 weights of 1 byte
    found = use_of(served(EXPERTS), one(0), one(100), one(1.0), one(0), Step(prompt_tokens=1e3))
    assert found.memory == pytest.approx((5200 * 2 + 8 * 2000) / 1e6)


def test_ranks_and_stages_share_the_work() -> None:
    whole = use_of(served(), one(2), one(100), one(1.0), one(3))
    half = use_of(served(tp=2), one(2), one(100), one(1.0), one(3))
    assert half.memory == pytest.approx(whole.memory / 2)
    assert half.compute == pytest.approx(whole.compute / 2)
    stages = use_of(served(pp=2), one(2), one(100), one(1.0), one(3))
    assert stages.memory == pytest.approx(whole.memory / 2)


def test_use_is_at_most_the_data_sheet() -> None:
    found = use_of(served(), one(50), one(1000), one(1e-3), one(1e4))
    assert found.memory == 1.0
    assert found.compute == 1.0


@QUICK
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_power_grows_with_use_up_to_the_design_power(
    busy: float, memory: float, more: float
) -> None:
    terms = PowerTerms(one(busy), one(0.4), one(0.6), one(0.1))
    few = power_frac(terms, Use(one(memory), one(0.1)))
    many = power_frac(terms, Use(one(min(memory + more, 1.0)), one(0.1)))
    assert busy <= few[0] <= many[0] <= 1.0


def test_energy_is_power_over_rate() -> None:
    assert joules_per_token(one(5600), one(2800)) == pytest.approx(2.0)
