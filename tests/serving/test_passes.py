"""Embedding, vision encoders and image generation: times by hand."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.serving.forward import Served
from dcplan.serving.passes import (
    ImageTokens,
    ImageWork,
    diffusion_pass,
    encoder_pass,
    joules_per_item,
    prefill_only,
    vision_prompt,
)
from dcplan.serving.step import prompt_s
from dcplan.serving.tables import (
    Array,
    EngineTerms,
    ServedDevice,
    ServedLayout,
    ServedModel,
    T,
    table,
)

QUICK = settings(max_examples=40, deadline=None)


def one(value: float) -> Array:
    return np.array([float(value)])


def made(kind: type[T], rest: float, **given: float) -> T:
    return table(kind, [{f.name: rest for f in fields(kind)} | given])  # type: ignore[arg-type]


MODEL = made(
    ServedModel,
    0.0,
    layers=2,
    hidden=8,
    heads=2,
    full_layers=2,
    pair_dims=8,
    attention_layers=2,
    attention_params=1000,
    dense_layers=2,
    dense_params=2000,
    attention_bytes=2,
    dense_bytes=2,
    shared_bytes=2,
    expert_bytes=2,
    head_bytes=2,
)
"""Two layers of 3,000 weights of 2 bytes, without a causal mask."""
DEVICE = made(ServedDevice, 1e6, domain=8)
"""1e6 byte/s and 1e6 FLOP/s."""
TERMS = made(
    EngineTerms,
    1.0,
    weight_hbm_frac=0.5,
    linear_flops_frac=0.5,
    prefill_attention_frac=0.4,
    overlap_power=1,
    activation_passes=10,
    layer_us=1000,
    step_us=1000,
    request_us=250,
)
"""A power of 1: memory and compute time add up."""


def served(model: ServedModel = MODEL, tp: float = 1, dp: float = 1, pp: float = 1) -> Served:
    return Served(model, DEVICE, ServedLayout(one(tp), one(dp), one(pp), one(1)), TERMS)


def test_an_embedding_batch_by_hand() -> None:
    """4 sequences of 10 tokens.

    linear  6000 x 2 / 5e5 + 2 x 6000 x 40 / 5e5      = 0.024 + 0.96
    passes  40 x 2 layers x 10 x 8 x 2 byte / 1e6     = 0.0128
    floors  2 x 1 ms                                  = 0.002
    pairs   2 x 4 x (2 layers x 10 x 10) x 2 x 8 / 4e5 = 0.064
    engine  1 ms + 4 x 0.25 ms                        = 0.002
    """
    found = prefill_only(served(), one(4), one(10))
    assert found.batch_s == pytest.approx(1.0648)
    assert found.items_per_s == pytest.approx(4 / 1.0648)
    assert found.tokens_per_s == pytest.approx(40 / 1.0648)


def test_a_causal_mask_halves_the_pairs() -> None:
    causal = served(replace(MODEL, causal=one(1)))
    assert prefill_only(causal, one(4), one(10)).batch_s == pytest.approx(1.0648 - 0.032)


def test_the_head_of_a_reranker_works_on_one_token_of_a_sequence() -> None:
    """5,000 weights: 10000 / 5e5 + 2 x 5000 x 4 / 5e5 = 0.02 + 0.08; all 40 tokens would take 0.82."""
    scores = served(replace(MODEL, head_params=one(5000)))
    assert prefill_only(scores, one(4), one(10)).batch_s == pytest.approx(1.0648 + 0.1)


def test_the_rate_is_that_of_one_accelerator() -> None:
    alone = prefill_only(served(), one(4), one(10))
    copies = prefill_only(served(dp=2), one(8), one(10))
    assert copies.batch_s - alone.batch_s == pytest.approx(4 * 0.25e-3)
    assert copies.items_per_s == pytest.approx(8 / 2 / copies.batch_s)
    stages = prefill_only(served(pp=2), one(4), one(10))
    # two batches on their way, on two accelerators
    assert stages.items_per_s == pytest.approx(alone.items_per_s)


@QUICK
@given(st.integers(1, 200), st.integers(1, 512))
def test_a_larger_batch_is_never_slower_per_sequence(batch: int, tokens: int) -> None:
    small, large = (prefill_only(served(), one(b), one(tokens)) for b in (batch, 2 * batch))
    assert large.items_per_s >= small.items_per_s
    assert large.batch_s >= small.batch_s


IMAGE = table(ImageTokens, [{"patches": 10, "tokens": 5, "projector_params": 3000}])


def test_images_in_an_encoder_by_hand() -> None:
    """4 images as above, 1.0628 without the engine; the projector works on 5 tokens of each:
    6000 / 5e5 + 2 x 3000 x 20 / 5e5 = 0.012 + 0.24; and 1 ms."""
    found = encoder_pass(served(), IMAGE, one(4))
    assert found.batch_s == pytest.approx(1.0628 + 0.252 + 0.001)
    assert found.items_per_s == pytest.approx(4 / 1.3158)
    assert found.tokens_per_s == pytest.approx(20 / 1.3158)


def test_images_lengthen_the_prompt_and_the_wait() -> None:
    language = served(replace(MODEL, causal=one(1)))
    plain = vision_prompt(language, served(), IMAGE, one(7), one(0))
    assert plain.tokens == 7
    assert plain.encode_s == 0
    assert plain.total_s == pytest.approx(prompt_s(language, one(1), one(7)))
    two = vision_prompt(language, served(), IMAGE, one(7), one(2))
    assert two.tokens == 7 + 2 * 5
    assert two.encode_s == pytest.approx(encoder_pass(served(), IMAGE, one(2)).batch_s)
    assert two.total_s == pytest.approx(two.encode_s + prompt_s(language, one(1), one(17)))


WORK = table(
    ImageWork,
    [
        {
            "tokens": 10,
            "steps": 3,
            "passes": 2,
            "once_params": 1000,
            "once_bytes": 2,
            "text_params": 4000,
            "text_tokens": 5,
            "text_hbm_frac": 0.2,
            "decode_flops": 1e5,
            "decode_flops_frac": 0.5,
        }
    ],
)


def test_an_image_by_hand() -> None:
    """One image of 10 tokens, two passes of a step as a batch of two.

    linear  0.024 + 2 x 6000 x 20 / 5e5 = 0.024 + 0.48
    passes  0.0064, floors 0.002, pairs 0.032, once 1000 x 2 / 5e5 = 0.004, engine 0.001
    text    4000 x 2 / 2e5 + 2 x 4000 x 5 x 2 / 5e5 = 0.04 + 0.16
    decode  1e5 / 5e5 = 0.2
    """
    found = diffusion_pass(served(), WORK, one(1))
    assert found.step_s == pytest.approx(0.5494)
    assert found.denoise_s == pytest.approx(3 * 0.5494)
    assert found.text_s == pytest.approx(0.2)
    assert found.decode_s == pytest.approx(0.2)
    assert found.batch_s == pytest.approx(2.0482)
    assert found.images_per_s == pytest.approx(1 / 2.0482)


def test_a_model_with_labels_has_no_text_encoder() -> None:
    found = diffusion_pass(served(), replace(WORK, text_params=one(0)), one(1))
    assert found.text_s == 0


def test_tensor_parallel_divides_a_step_but_not_text_and_decode() -> None:
    single, double = (diffusion_pass(served(tp=n), WORK, one(1)) for n in (1, 2))
    assert double.text_s == single.text_s
    assert double.decode_s == single.decode_s
    # the reductions are 1 us of latency each, and 4 messages of 20 x 8 x 2 byte at 1e6 byte/s
    floors = 0.0064 + 0.002 + 0.001
    shared = (0.5494 - floors) / 2 + floors + 4 * (1e-6 + 20 * 8 * 2 / 1e6)
    assert double.step_s == pytest.approx(shared)
    assert double.images_per_s == pytest.approx(1 / 2 / double.batch_s)


@QUICK
@given(st.integers(1, 100), st.integers(1, 2), st.integers(1, 16))
def test_more_steps_passes_and_images_take_longer(steps: int, passes: int, batch: int) -> None:
    def seconds(steps: float, passes: float, batch: float) -> Array:
        work = replace(WORK, steps=one(steps), passes=one(passes))
        return diffusion_pass(served(), work, one(batch)).batch_s

    base = seconds(steps, passes, batch)
    assert seconds(steps + 1, passes, batch) > base
    assert seconds(steps, passes + 1, batch) > base
    assert base < seconds(steps, passes, 2 * batch) <= 2 * base


def test_images_of_a_batch_share_the_text_encoders_and_each_is_decoded() -> None:
    """Text of two images: 0.04 to read the weights, and 0.16 for each; 0.2 for each decoded image."""
    found = diffusion_pass(served(), WORK, one(2))
    assert found.text_s == pytest.approx(0.04 + 2 * 0.16)
    assert found.decode_s == pytest.approx(2 * 0.2)
    assert found.images_per_s == pytest.approx(2 / found.batch_s)


def test_energy_of_an_image() -> None:
    """700 W for 2.0482 s."""
    found = diffusion_pass(served(), WORK, one(1))
    assert joules_per_item(one(0.7), found.images_per_s) == pytest.approx(700 * 2.0482)
