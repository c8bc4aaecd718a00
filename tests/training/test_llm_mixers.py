"""Linear attention, sparse attention, encoders and key-value caches, against published sizes."""

from __future__ import annotations

from typing import Any

import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.llm.architecture import Architecture, context_tokens, model_flops_per_token
from dcplan.llm.cache import layer_bytes_per_token, state_bytes
from dcplan.llm.config import from_config
from dcplan.training.shapes import refusal_of_training, trained_shape


def _shape(name: str) -> Architecture:
    return from_config(load().get("models", name, Model).config)


def test_qwen3_next_by_hand() -> None:
    """48 layers, hidden 2,048; every fourth layer has full attention with a gated output.

    Linear layer: keys 16 x 128 = 2,048, values 32 x 128 = 4,096; projections 2,048 x (2 x 2,048 +
    2 x 4,096 + 2 x 32), convolution 4 x 8,192, A and bias 2 x 32, norm 128, out 4,096 x 2,048.
    Full layer: queries and gates 2,048 x 8,192, keys and values 2 x 2,048 x 512, out 4,096 x 2,048,
    norms of q and k 2 x 256. Experts 512 of 3 x 2,048 x 512, one shared with a gate of 2,048.
    """
    linear = 2048 * (4096 + 8192 + 64) + 4 * 8192 + 64 + 128 + 4096 * 2048
    full = 2048 * 8192 + 2 * 2048 * 512 + 4096 * 2048 + 512
    expert = 3 * 2048 * 512
    moe = 513 * expert + 2048 * 512 + 2048
    total = 36 * linear + 12 * full + 48 * (moe + 2 * 2048) + 2 * 151_936 * 2048 + 2048
    shape = _shape("qwen3-next-80b-a3b")
    assert shape.params == total
    assert (shape.linear_layers, shape.attention_layers, shape.layers) == (36, 12, 48)
    assert shape.linear_state == 32 * 128 * 128


def test_flops_of_a_linear_layer_do_not_grow_with_the_sequence() -> None:
    shape = _shape("qwen3-next-80b-a3b")
    more = model_flops_per_token(shape, 8192) - model_flops_per_token(shape, 4096)
    # 12 full layers, 16 heads of 256 + 256, 2,048 more keys on average
    assert more == pytest.approx(6 * 12 * 2048 * 16 * 512, rel=1e-9)
    without = model_flops_per_token(shape, 4096) - 6 * (shape.active_params - 151_936 * 2048)
    # 12 full layers with 2,048 keys, and 36 states of 524,288 values with 18 FLOPs each
    assert without == pytest.approx(6 * 12 * 2048 * 16 * 512 + 18 * 36 * 524_288, rel=1e-9)


def test_deepseek_v32_is_v3_with_indexers() -> None:
    # 1,536 x 64 x 128 + 7,168 x (128 + 64) + 2 x 128 in each of 61 layers
    index = 61 * (1536 * 64 * 128 + 7168 * 192 + 256)
    v32, v3 = _shape("deepseek-v3.2"), _shape("deepseek-v3")
    assert v32.params - v3.params == index
    # 65,536 tokens: 2,048 - 2,048^2 / 131,072 = 2,016 keys in place of 32,768
    assert context_tokens(v32, 65_536) == 61 * 2016
    assert context_tokens(v3, 65_536) == 61 * 32_768
    # below 2,048 tokens every key is selected
    assert context_tokens(v32, 1024) == context_tokens(v3, 1024)
    more = model_flops_per_token(v32, 1024) - model_flops_per_token(v3, 1024)
    assert more == pytest.approx(6 * index + 6 * 61 * 512 * 64 * 128, rel=1e-9)


def test_shared_indexers_are_refused() -> None:
    config = {**load().get("models", "glm-5", Model).config, "index_topk_freq": 4}
    with pytest.raises(ValueError, match="index_topk_freq"):
        from_config(config)


def test_experts_in_a_latent_space_by_hand() -> None:
    """Nemotron 3 Super: 512 experts of 2 x 1,024 x 2,688, projections 2 x 4,096 x 1,024, a shared
    expert of 2 x 4,096 x 5,376, router 512 x 4,096.
    """
    shape = _shape("nemotron-3-super-120b-a12b")
    assert shape.expert_params == 2 * 1024 * 2688
    assert shape.moe_fixed_params == 2 * 4096 * 1024 + 2 * 4096 * 5376 + 512 * 4096 + 4096
    assert shape.expert_hidden == 1024
    assert shape.active_params / 1e9 == pytest.approx(12.7, rel=0.01)  # model card


@pytest.mark.parametrize(
    ("name", "params"),
    # parameters of the released weights, as the model's Hugging Face page prints them; the
    # difference of an encoder is its table of token types (one or two rows of 1,024)
    [
        ("bge-large-en-v1.5", 335_141_888 - 2 * 1024),
        ("bge-m3", 567_754_752 - 1024),
        ("e5-mistral-7b", 7_110_660_096),
        ("qwen3-embedding-8b", 7_567_295_488),
        ("qwen3-next-80b-a3b", 79_674_391_296),
        ("nemotron-nano-12b-v2", 12_310_001_152),
        ("codellama-34b", 33_743_970_304),
        ("qwen1.5-72b", 72_287_920_128),
        ("internlm2-20b", 19_861_149_696),
        ("dbrx", 131_596_523_520),
    ],
)
def test_released_weights_are_counted_to_the_last_parameter(name: str, params: int) -> None:
    assert _shape(name).params == params


def test_encoders_see_all_tokens_and_multiply_no_vocabulary() -> None:
    shape = _shape("bge-large-en-v1.5")
    assert (shape.causal, shape.head) == (False, False)
    assert context_tokens(shape, 512) == 24 * 512
    # neither the table of 30,522 words nor the 512 positions are multiplied
    weights = shape.active_params - (30_522 + 512) * 1024
    assert model_flops_per_token(shape, 512) == 6 * weights + 6 * 24 * 512 * 16 * 128
    assert _shape("e5-mistral-7b").causal


def test_caches_of_a_layer_by_hand() -> None:
    # 2 x 8 x 128 x 2 bytes; a latent vector of 512 and a rotary key of 64; 2 x 8 x 64 x 2 bytes
    assert layer_bytes_per_token(_shape("llama-3.1-70b"), 2.0) == 4_096
    assert layer_bytes_per_token(_shape("deepseek-v3"), 2.0) == 576 * 2
    assert layer_bytes_per_token(_shape("gpt-oss-120b"), 2.0) == 2_048
    # 67 heads in 32 layers x 2 x 128 x 2 bytes
    assert 32 * layer_bytes_per_token(_shape("decilm-7b"), 2.0) == pytest.approx(67 * 2 * 128 * 2)
    # 15 full layers x 2 x 2 x 256 bytes at FP8
    qwen = _shape("qwen3.5-397b-a17b")
    assert (qwen.attention_layers, layer_bytes_per_token(qwen, 1.0)) == (15, 1_024)
    # V3.2 adds 61 index keys of 128 values
    sparse = _shape("deepseek-v3.2")
    assert (sparse.index_layers, sparse.index_dim) == (61, 128)


def test_states_of_a_hybrid_by_hand() -> None:
    # Nemotron Nano 9B v2: 27 layers, 128 x 80 x 128 and 3 x (10,240 + 2 x 8 x 128) values, 4 bytes
    shape = _shape("nemotron-nano-9b-v2")
    states = 27 * (10_240 * 128 + 3 * 12_288) * 4
    assert state_bytes(shape) == states


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("qwen3.5-397b-a17b", "linear_num_value_heads"),
        ("deepseek-v3.2", "index_topk"),
        ("nemotron-3-super-120b-a12b", "moe_latent_size"),
        ("decilm-7b", "key-value heads"),
        ("bge-m3", "encoder"),
    ],
)
def test_training_refuses_what_it_does_not_compute(name: str, cause: str) -> None:
    config: dict[str, Any] = dict(load().get("models", name, Model).config)
    with pytest.raises(ValueError, match=f"{cause}.*not for training"):
        trained_shape(config)
    assert refusal_of_training(_shape("deepseek-v3")) is None
