"""Parameters and model FLOPs of real models, against what their makers print."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.llm.architecture import Architecture, context_tokens, model_flops_per_token
from dcplan.llm.config import from_config

MODELS = sorted(load().rows["models"])
QUICK = settings(max_examples=60, deadline=None)


def _shape(name: str) -> Architecture:
    return from_config(load().get("models", name, Model).config)


@pytest.mark.parametrize("name", MODELS)
def test_counted_parameters_are_the_catalog_s(name: str) -> None:
    assert _shape(name).params / 1e9 == pytest.approx(
        load().get("models", name, Model).params_b.value, rel=0.005
    )


def test_catalog_has_many_models() -> None:
    assert len(MODELS) > 50


@pytest.mark.parametrize(
    ("name", "params"),
    # the parameter count of the released weights, as the model's Hugging Face page or paper prints
    # it
    [
        ("gpt-2-1.5b", 1_557_611_200),
        ("llama-2-7b", 6_738_415_616),
        ("llama-2-70b", 68_976_648_192),
        ("llama-3.1-8b", 8_030_261_248),
        ("mistral-7b", 7_241_732_096),
        ("mixtral-8x7b", 46_702_792_704),
        ("gpt-neox-20b", 20_554_567_680),  # arXiv 2204.06745, table 1
        ("qwen2.5-7b", 7_615_616_512),
        ("gemma-2-27b", 27_227_128_320),
    ],
)
def test_released_weights_are_counted_to_the_last_parameter(name: str, params: int) -> None:
    assert _shape(name).params == params


@pytest.mark.parametrize(
    ("name", "total_b", "active_b", "rel"),
    [
        (
            "deepseek-v3",
            671.0,
            37.0,
            0.016,
        ),  # arXiv 2412.19437: rounded; 37.55 with both embeddings
        ("deepseek-v2", 236.0, 21.0, 0.02),  # arXiv 2405.04434
        (
            "mixtral-8x22b",
            141.0,
            39.0,
            0.005,
        ),  # mistral.ai, Cheaper, Better, Faster, Stronger (2024-04)
        ("qwen3-235b-a22b", 235.0, 22.0, 0.01),  # Qwen3 technical report, arXiv 2505.09388
        ("llama-4-maverick", 400.0, 17.0, 0.012),  # Meta, The Llama 4 herd
    ],
)
def test_mixture_of_experts_total_and_active(
    name: str, total_b: float, active_b: float, rel: float
) -> None:
    shape = _shape(name)
    assert shape.params / 1e9 == pytest.approx(total_b, rel=0.005)
    assert shape.active_params / 1e9 == pytest.approx(active_b, rel=rel)


def test_gpt_oss_active_without_the_input_embedding() -> None:
    # the model card's 5.13 B leaves the embedding (201,088 x 2,880 = 0.579 B) out
    shape = _shape("gpt-oss-120b")
    assert (shape.active_params - 201_088 * 2880) / 1e9 == pytest.approx(5.13, rel=0.002)


def test_mixtral_by_hand() -> None:
    """56 layers, hidden 6,144, 48 heads of 128, 8 key-value heads, 8 experts of 16,384, vocabulary
    32,000.

    Attention 2 x 6,144^2 + 2 x 6,144 x 1,024 = 88,080,384; norms 12,288; router 49,152; expert
    3 x 6,144 x 16,384 = 301,989,888; embeddings 2 x 32,000 x 6,144 = 393,216,000; last norm 6,144.
    """
    fixed = 56 * (88_080_384 + 12_288 + 49_152) + 393_216_000 + 6_144
    shape = _shape("mixtral-8x22b")
    assert shape.params == fixed + 56 * 8 * 301_989_888
    assert shape.active_params == fixed + 56 * 2 * 301_989_888
    assert shape.routed_params == 56 * 8 * 301_989_888


def test_deepseek_v3_by_hand() -> None:
    """arXiv 2412.19437, section 4.2: hidden 7,168, 61 layers (3 dense), 128 heads, 256 + 1 experts,
    8 active.

    Latent attention: queries over 1,536, keys and values over 512, 128 + 64 and 128 a head, two
    norms.
    """
    attention = 7168 * 1536 + 1536 + 1536 * 128 * 192  # queries
    attention += 7168 * (512 + 64) + 512 + 512 * 128 * (128 + 128) + 128 * 128 * 7168
    expert = 3 * 7168 * 2048
    fixed = 61 * (attention + 2 * 7168) + 3 * 3 * 7168 * 18_432 + 58 * (expert + 256 * 7168)
    fixed += 2 * 129_280 * 7168 + 7168
    shape = _shape("deepseek-v3")
    assert shape.params == fixed + 58 * 256 * expert
    assert shape.active_params == fixed + 58 * 8 * expert


def test_dense_models_pass_through_all_their_parameters() -> None:
    shape = _shape("llama-3.1-405b")
    assert shape.active_params == shape.params
    assert shape.routed_params == 0


def test_llama_405b_flops_by_hand() -> None:
    # 6 x (405,853,388,800 - 128,256 x 16,384 looked up) + 6 x 126 x 8,192 x 128 heads x (128 + 128)
    # / 2
    expected = 6 * (405_853_388_800 - 2_101_346_304) + 6 * 126 * 8192 * 16384
    assert model_flops_per_token(_shape("llama-3.1-405b"), 8192) == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize(
    ("name", "seq_len", "tflops_per_s", "tokens_per_s"),
    # tpu-recipes, training/ironwood/README.md: causal attention, no MTP; TFLOP/s over tokens/s of a
    # chip
    [("llama-3.1-405b", 8192, 1261.4, 499.77), ("deepseek-v3", 4096, 607.53, 2425.75)],
)
def test_published_flops_of_a_token(
    name: str, seq_len: int, tflops_per_s: float, tokens_per_s: float
) -> None:
    published = tflops_per_s * 1e12 / tokens_per_s
    assert model_flops_per_token(_shape(name), seq_len) == pytest.approx(published, rel=1e-3)


def test_llama_405b_whole_training() -> None:
    # arXiv 2407.21783: 3.8e25 FLOPs, 15.6 T tokens; that is 6 N D, attention adds about 4 %
    flops = model_flops_per_token(_shape("llama-3.1-405b"), 8192) * 15.6e12
    assert flops == pytest.approx(3.8e25, rel=0.04)
    assert 6 * _shape("llama-3.1-405b").params * 15.6e12 == pytest.approx(3.8e25, rel=0.005)


def test_gpt3_whole_training() -> None:
    # arXiv 2005.14165, table D.1: 3.14e23 FLOPs, 300 B tokens, 6 a parameter, attention left out
    # there
    shape = _shape("gpt3-175b")
    attention = 6 * 96 * 2048 * 12288  # L s h, causal: half of 12 L s h
    assert model_flops_per_token(shape, 2048) - attention == pytest.approx(
        3.14e23 / 300e9, rel=0.003
    )


@pytest.mark.parametrize("name", ["megatron-18.4b", "megatron-145.6b", "megatron-1t"])
def test_megatron_formula(name: str) -> None:
    """Narayanan et al., SC21, equation 3 without recompute (72 for 96), per token, attention
    halved.

    72 L h^2 (1 + s/(6 h) + V/(12 L h)) has all scores; causal ones are s/(12 h).
    """
    shape = _shape(name)
    layers, h, s, v = shape.layers, shape.hidden, 2048, shape.vocab
    causal = 72 * layers * h**2 * (1 + s / (12 * h) + v / (12 * layers * h))
    assert model_flops_per_token(shape, s) == pytest.approx(causal, rel=5e-4)  # norms and biases


@given(st.integers(1, 131_072), st.integers(1, 131_072))
@QUICK
def test_attention_flops_are_linear_in_the_sequence(a: int, b: int) -> None:
    shape = _shape("llama-3.1-8b")
    # a token attends to half of s: 6 x 32 layers x 32 heads x 256 / 2 each
    more = model_flops_per_token(shape, a + b) - model_flops_per_token(shape, a)
    assert more == pytest.approx(6 * 32 * 32 * 256 / 2 * b, rel=1e-6)


BASE: dict[str, Any] = {
    "hidden_size": 1024,
    "num_hidden_layers": 4,
    "intermediate_size": 2048,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
}


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"tie_word_embeddings": True}, -1000 * 1024),
        ({"attention_bias": True}, 4 * (1024 + 2 * 256 + 1024)),
        ({"mlp_bias": True}, 4 * (2 * 2048 + 1024)),
        ({"num_key_value_heads": 8}, 4 * 2 * 1024 * (1024 - 256)),
        ({"gated_mlp": False}, -4 * 1024 * 2048),
        ({"qk_norm": True}, 4 * 2 * 128),
        ({"num_local_experts": 4}, 4 * (3 * 3 * 1024 * 2048 + 4 * 1024)),
    ],
)
def test_one_key_changes_only_its_own_parameters(change: dict[str, Any], difference: int) -> None:
    assert from_config({**BASE, **change}).params - from_config(BASE).params == difference


@pytest.mark.parametrize(
    "key", ["hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"]
)
def test_missing_key_is_named(key: str) -> None:
    with pytest.raises(ValueError, match=rf"config.json has no {key}"):
        from_config({k: v for k, v in BASE.items() if k != key})


def test_text_part_of_a_multimodal_config_is_read() -> None:
    assert from_config({"model_type": "x", "text_config": BASE}).params == from_config(BASE).params


HYBRID: dict[str, Any] = {
    "hidden_size": 1024,
    "hybrid_override_pattern": "M-M*-",
    "intermediate_size": 4096,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "mamba_num_heads": 32,
    "mamba_head_dim": 64,
    "n_groups": 4,
    "ssm_state_size": 128,
    "conv_kernel": 4,
}


def test_hybrid_by_hand() -> None:
    """Nemotron-H (arXiv 2504.03624): two Mamba-2 blocks, one attention, two ungated MLPs; a norm
    before each.

    Mamba: width 32 x 64 = 2,048, convolution over 2,048 + 2 x 4 x 128 = 3,072 channels;
    in-projection 1,024 x (2,048 + 3,072 + 32), convolution 3,072 x (4 + 1), A, D and bias 3 x 32,
    norm 2,048, out 2,048 x 1,024.
    """
    mamba = 1024 * (2048 + 3072 + 32) + 3072 * 5 + 3 * 32 + 2048 + 2048 * 1024
    attention, mlp = 2 * 1024**2 + 2 * 1024 * 256, 2 * 1024 * 4096
    shape = from_config(HYBRID)
    assert shape.params == 2 * mamba + attention + 2 * mlp + 5 * 1024 + 1024 + 2 * 1000 * 1024
    assert (shape.layers, shape.mamba_layers, shape.attention_layers, shape.dense_layers) == (
        5,
        2,
        1,
        2,
    )
    matmul = 6 * (shape.params - 1000 * 1024)
    # one attention block, causal; the scan 18 x 2,048 x 128 a Mamba block
    assert model_flops_per_token(shape, 4096) == matmul + 6 * 2048 * 8 * 256 + 2 * 18 * 2048 * 128


def test_unknown_block_of_a_hybrid_is_named() -> None:
    with pytest.raises(ValueError, match="hybrid_override_pattern: unknown block 'X'"):
        from_config({**HYBRID, "hybrid_override_pattern": "M-X*"})


@pytest.mark.parametrize(
    ("name", "local", "layers", "window"),
    [
        ("gemma-2-27b", 23, 46, 4096),  # arXiv 2408.00118, section 2: every other layer
        (
            "gemma-3-27b",
            52,
            62,
            1024,
        ),  # arXiv 2503.19786, section 2: five local to one global, 62 // 6 = 10 global
        ("gpt-oss-120b", 18, 36, 128),  # model card, section 2.2: alternating
        ("gpt-oss-20b", 12, 24, 128),
        ("mistral-7b", 32, 32, 4096),  # arXiv 2310.06825: all
        ("llama-3.1-8b", 0, 32, 0),
    ],
)
def test_layers_with_a_sliding_window(name: str, local: int, layers: int, window: int) -> None:
    shape = _shape(name)
    assert (shape.local_layers, shape.attention_layers, shape.window) == (local, layers, window)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"sliding_window": 256}, (4, 256)),
        ({"sliding_window": 256, "use_sliding_window": False}, (0, 0)),
        ({"sliding_window": 256, "sliding_window_pattern": 4}, (3, 256)),
        (
            {"sliding_window": 256, "layer_types": ["sliding_attention", "full_attention"] * 2},
            (2, 256),
        ),
        ({"attention_chunk_size": 512, "model_type": "llama4"}, (3, 512)),
        ({"sliding_window": None}, (0, 0)),
    ],
)
def test_window_is_read_from_the_key_that_a_family_uses(
    change: dict[str, Any], expected: tuple[int, int]
) -> None:
    shape = from_config({**BASE, **change})
    assert (shape.local_layers, shape.window) == expected


def test_keys_a_query_meets_by_hand() -> None:
    """4 layers, 8,192 tokens: all causal 4 x 4,096; a window of 1,024 leaves 1,024 - 1,024^2 /
    16,384 = 960.

    Three of four local: 4,096 + 3 x 960. A window of at least the sequence is none.
    """
    assert context_tokens(from_config(BASE), 8192) == 4 * 4096
    assert context_tokens(from_config({**BASE, "sliding_window": 1024}), 8192) == 4 * 960
    mixed = from_config({**BASE, "sliding_window": 1024, "sliding_window_pattern": 4})
    assert context_tokens(mixed, 8192) == 4096 + 3 * 960
    assert context_tokens(mixed, 1024) == context_tokens(mixed, 512) * 2 == 4 * 512


@given(st.integers(1, 4096), st.integers(1, 4096))
@QUICK
def test_windowed_queries_meet_the_keys_one_by_one(window: int, seq_len: int) -> None:
    """Summed query by query, min(i, w) keys for the i-th, less half a key each for the diagonal."""
    keys = sum(min(i, window) for i in range(1, seq_len + 1)) / seq_len
    found = context_tokens(from_config({**BASE, "sliding_window": window}), seq_len) / 4
    assert found == pytest.approx(keys, abs=0.5 + 1e-9)
    assert found <= min(window, seq_len)


def test_extra_prediction_layers_are_read_but_not_counted() -> None:
    # arXiv 2412.19437, section 4.2: 671 B without the multi-token-prediction module of depth 1
    shape = _shape("deepseek-v3")
    assert shape.mtp_layers == 1
    without = from_config(
        {**load().get("models", "deepseek-v3", Model).config, "num_nextn_predict_layers": 0}
    )
    assert (without.mtp_layers, without.params) == (0, shape.params)


@pytest.mark.parametrize(
    ("name", "groups"),
    # arXiv 2412.19437, section 2.1.2: at most 4 nodes; arXiv 2405.04434, section 2.2.2: at most 3
    # devices
    [("deepseek-v3", 4), ("deepseek-v2", 3), ("mixtral-8x22b", 0), ("qwen3-235b-a22b", 0)],
)
def test_groups_a_token_may_reach(name: str, groups: int) -> None:
    assert _shape(name).expert_groups == groups


def test_one_group_or_all_groups_is_no_limit() -> None:
    experts = {"num_local_experts": 8}
    for given_groups in ({"n_group": 1, "topk_group": 1}, {"n_group": 4, "topk_group": 4}, {}):
        assert from_config({**BASE, **experts, **given_groups}).expert_groups == 0
    assert from_config({**BASE, **experts, "n_group": 4, "topk_group": 2}).expert_groups == 2
