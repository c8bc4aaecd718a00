"""Which layer has which block, in the spellings of each family; sizes by hand."""

from __future__ import annotations

from typing import Any

import pytest

from dcplan.llm.architecture import context_tokens, model_flops_per_token
from dcplan.llm.config import from_config
from dcplan.training.shapes import refusal_of_training

BASE: dict[str, Any] = {
    "hidden_size": 512,
    "num_hidden_layers": 8,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "intermediate_size": 1024,
    "vocab_size": 1000,
}
MINIMAX = {**BASE, "model_type": "minimax_m1", "attn_type_list": [0, 0, 0, 1] * 2}


@pytest.mark.parametrize(
    ("keys", "local", "window"),
    [
        ({"sliding_window": 128}, 8, 128),
        ({"sliding_window": 128, "model_type": "qwen2"}, 0, 0),
        (
            {"sliding_window": 128, "model_type": "qwen2", "use_sliding_window": True}
            | {"max_window_layers": 6},
            2,
            128,
        ),
        ({"sliding_window": 128, "sliding_window_pattern": 4}, 6, 128),
        ({"sliding_window": 128, "sliding_window_pattern": "LLLG"}, 6, 128),
        ({"sliding_window": 128, "model_type": "olmo3"}, 6, 128),
        ({"attention_chunk_size": 256, "model_type": "llama4_text"}, 6, 256),
        ({"sliding_window": 128, "hybrid_layer_pattern": [0, 1, 1, 1] * 2}, 6, 128),
        ({"local_attention": 128, "model_type": "modernbert"}, 5, 128),
        ({"layer_types": ["full_attention"] * 8, "sliding_window": 128}, 0, 0),
    ],
)
def test_windows_in_all_spellings(keys: dict[str, Any], local: int, window: int) -> None:
    shape = from_config({**BASE, **keys})
    assert (shape.local_layers, shape.window) == (local, window)
    assert shape.attention_layers == 8


@pytest.mark.parametrize(
    ("keys", "moe"),
    [
        ({}, 8),
        ({"first_k_dense_replace": 3}, 5),
        ({"moe_layer_start_index": 1, "moe_layer_end_index": 6}, 6),
        ({"decoder_sparse_step": 2}, 4),
        ({"decoder_sparse_step": 2, "mlp_only_layers": [1, 3]}, 2),
        ({"interleave_moe_layer_step": 2}, 4),
        ({"expert_layer_period": 2, "expert_layer_offset": 1}, 4),
        ({"mlp_layer_types": ["dense"] * 3 + ["sparse"] * 5}, 5),
        ({"moe_layer_freq": [0, 1, 1, 1, 1, 1, 1, 1]}, 7),
        ({"moe_layers_enum": "2,3,4,5"}, 4),
    ],
)
def test_layers_with_experts_in_all_spellings(keys: dict[str, Any], moe: int) -> None:
    shape = from_config({**BASE, "num_experts": 4, "num_experts_per_tok": 2, **keys})
    assert (shape.moe_layers, shape.dense_layers) == (moe, 8 - moe)


def test_lightning_attention_is_no_attention() -> None:
    """MiniMax-M1 by its own list: 70 of 80 layers have lightning attention.

    At 1 M tokens, the keys of a query are those of 10 layers, not of 80: 10 x 500,000.
    """
    shape = from_config(MINIMAX)
    assert (shape.attention_layers, shape.linear_layers) == (2, 6)
    # five matrices of 512 x 512 and a norm of 512, two norms of the layer
    assert shape.linear_params == 5 * 512 * 512 + 512 + 2 * 512
    assert shape.linear_state == 8 * 64 * 64
    assert context_tokens(shape, 1_000_000) == 2 * 500_000
    dense = from_config({k: v for k, v in MINIMAX.items() if k != "attn_type_list"})
    long = model_flops_per_token(shape, 1_000_000)
    assert model_flops_per_token(dense, 1_000_000) > 3.5 * long


def test_attention_and_state_space_side_by_side() -> None:
    """Falcon-H1: both in each of 8 layers, then an MLP; two norms a layer, none in the mixer.

    Width 8 x 64 = 512, convolution over 512 + 2 x 128 = 768 channels: 512 x (512 + 768 + 8) in,
    768 x 5, 3 x 8, 512 x 512 out.
    """
    falcon = {
        **BASE,
        "model_type": "falcon_h1",
        "mamba_n_heads": 8,
        "mamba_d_head": 64,
        "mamba_n_groups": 1,
        "mamba_d_state": 128,
        "mamba_d_conv": 4,
    }
    mamba = 512 * (512 + 768 + 8) + 768 * 5 + 24 + 512 * 512
    attention = 2 * 512 * 512 + 2 * 512 * 128
    layer = mamba + attention + 3 * 512 * 1024 + 2 * 512
    shape = from_config(falcon)
    assert shape.params == 8 * layer + 2 * 1000 * 512 + 512
    assert "attention and a state space in one layer" in (refusal_of_training(shape) or "")


def test_mamba_1_by_hand() -> None:
    """Width 1024, rank 32, 16 states, depth 4: one block and its norm a layer, no MLP."""
    mamba = {
        "model_type": "mamba",
        "hidden_size": 512,
        "num_hidden_layers": 2,
        "expand": 2,
        "state_size": 16,
        "conv_kernel": 4,
        "time_step_rank": 32,
        "vocab_size": 1000,
    }
    block = 512 * 2048 + 1024 * 5 + 1024 * (32 + 32) + 32 * 1024 + 1024 + 1024 * 17 + 1024 * 512
    shape = from_config(mamba)
    assert shape.params == 2 * (block + 512) + 1000 * 512 + 512
    assert (shape.attention_layers, shape.dense_layers, shape.mamba_layers) == (0, 0, 2)
    assert "Mamba-1" in (refusal_of_training(shape) or "")
    assert from_config({**mamba, "time_step_rank": "auto"}).params == shape.params


def test_identity_experts_leave_fewer_real_ones() -> None:
    # LongCat-Flash: 12 of 512 + 256, so 8 real experts on average; two attention blocks a layer
    longcat = {
        **BASE,
        "model_type": "longcat_flash",
        "n_routed_experts": 512,
        "zero_expert_num": 256,
        "moe_topk": 12,
        "expert_ffn_hidden_size": 64,
    }
    shape = from_config(longcat)
    assert (shape.experts, shape.experts_per_token) == (512, 8)
    assert (shape.layers, shape.attention_layers, shape.dense_layers, shape.moe_layers) == (
        *(8, 16, 16),
        8,
    )
    assert shape.moe_fixed_params == 512 * 768
    assert "two attention blocks" in (refusal_of_training(shape) or "")


def test_layers_that_share_an_indexer() -> None:
    # GLM-5.2: an indexer in every layer that is named full
    sparse = {
        **BASE,
        "index_topk": 64,
        "index_topk_freq": 4,
        "index_n_heads": 4,
        "index_head_dim": 32,
    }
    types = ["full", "shared", "shared", "shared"] * 2
    shape = from_config({**sparse, "indexer_types": types})
    assert (shape.index_layers, shape.sparse_topk) == (2, 64)
    with pytest.raises(ValueError, match=r"index_topk_freq.*add indexer_types"):
        from_config(sparse)


def test_window_layers_with_other_heads() -> None:
    # MiMo-V2-Flash: more key-value heads in window layers are counted, other query heads refused
    mimo = {**BASE, "sliding_window": 128, "hybrid_layer_pattern": [0, 1, 1, 1] * 2}
    shape = from_config({**mimo, "swa_num_key_value_heads": 4})
    assert shape.kv_heads_total == 2 * 2 + 6 * 4
    more = shape.params - from_config(mimo).params
    assert more == 8 * (2 * 512 * 64 * (28 - 16) // 8)
    with pytest.raises(ValueError, match=r"^swa_num_attention_heads: window layers"):
        from_config({**mimo, "swa_num_attention_heads": 16})
