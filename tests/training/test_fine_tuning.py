"""Fine-tuning as a training step: packed samples, forward-only passes, frozen parameters."""

from __future__ import annotations

import numpy as np
import pytest

from dcplan.llm.architecture import context_tokens, model_flops_per_token
from dcplan.training.step import step
from dcplan.training.tuning.fine_tuning import (
    attention_flops_per_token,
    forward_s,
    of_step_s,
    packed_shape,
    scored_shape,
    tuning_flops_per_token,
)
from tests.training.test_adapters import shape_of
from tests.training.tiny import LAYER, setup


@pytest.mark.parametrize("sample", [100.0, 900.0, 4000.0])
def test_a_packed_sample_meets_half_of_its_own_keys(sample: float) -> None:
    """32 layers of Llama 3 8B: 32 x sample / 2 keys of a query."""
    packed = packed_shape(shape_of("llama-3-8b"), 8192, sample)
    assert context_tokens(packed, 8192) == pytest.approx(32 * sample / 2, rel=0.02)
    assert packed.params == shape_of("llama-3-8b").params


def test_a_sample_that_fills_the_sequence_changes_nothing() -> None:
    shape = shape_of("llama-3-8b")
    assert packed_shape(shape, 8192, 8192.0) == shape


def test_layers_with_a_shorter_window_keep_their_keys() -> None:
    """Gemma 3 27B: 62 layers, a window of 1,024 in 52 of them; samples of 4,000 tokens."""
    shape = shape_of("gemma-3-27b")
    local = shape.local_layers
    assert (shape.attention_layers, shape.window) == (62, 1024)
    by_hand = (62 - local) * 2000 + local * (1024 - 1024**2 / (2 * 8192))
    assert context_tokens(packed_shape(shape, 8192, 4000.0), 8192) == pytest.approx(
        by_hand, rel=0.01
    )


def test_a_reward_model_has_no_output_layer() -> None:
    """Llama 3 8B without 128,256 x 4,096 parameters of the output layer, with one value instead."""
    shape = shape_of("llama-3-8b")
    scored = scored_shape(shape)
    assert shape.params - scored.params == 128_256 * 4096 - 4096
    less = model_flops_per_token(shape, 4096) - model_flops_per_token(scored, 4096)
    assert less == pytest.approx(6 * (128_256 * 4096 - 4096))


def test_a_forward_pass_is_a_third_of_the_products() -> None:
    """8 layers of 12,582,912 weights and 1,024 x 1,024 of the output layer on 1,024 tokens at 50
    TFLOP/s, with free attention and memory."""
    by_hand = 2 * (8 * LAYER + 1024**2) * 1024 / 50e12
    plain = setup()
    assert forward_s(plain, step(plain))[0] == pytest.approx(by_hand, rel=1e-6)
    # full recompute repeats the blocks in the backward pass alone
    again = setup(recompute=2)
    assert forward_s(again, step(again))[0] == pytest.approx(by_hand, rel=1e-6)


def test_an_addition_to_a_micro_batch_passes_the_pipeline() -> None:
    """Four stages, one chunk, 8 micro-batches of 1 s over all stages: (8 + 3) / 4 s."""
    piped = setup(pp=4, micro_batches=8)
    assert of_step_s(piped, step(piped), np.ones(1))[0] == pytest.approx(11 / 4)


def test_flops_of_lora_are_two_thirds_of_full_training() -> None:
    """NVIDIA's LoRA rows of Llama 3 70B at 4,096 tokens print 735 TFLOP/s at 2,643 tokens/s, its SFT
    rows 710 at 1,638: 278 and 433 GFLOP a token. Attention has no weights, so less than a third is
    saved here."""
    shape = shape_of("llama-3-70b")
    full, pairs = model_flops_per_token(shape, 4096), attention_flops_per_token(shape, 4096)
    assert full == pytest.approx(710e12 / 1638, rel=0.03)
    assert tuning_flops_per_token(full, pairs, 0.0) == pytest.approx(735e12 / 2643, rel=0.06)
    assert tuning_flops_per_token(full, pairs, 1.0) == full
