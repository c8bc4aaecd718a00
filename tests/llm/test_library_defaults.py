"""What the class of a ``model_type`` fills in, and what a file keeps."""

from __future__ import annotations

from typing import Any

import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import LibraryDefaults
from dcplan.inputs.model_files import file_notes, with_library_defaults
from dcplan.llm.config import from_config
from dcplan.llm.configs.check_keys import READABLE

CATALOG = load()
ROWS = list(CATALOG.table("library_defaults", LibraryDefaults).values())


def _params(config: dict[str, Any]) -> int:
    return from_config(with_library_defaults(CATALOG, config)).params


def test_rows_hold_only_keys_that_a_reader_reads() -> None:
    assert len(ROWS) > 50
    assert {key for row in ROWS for key in row.keys} - READABLE == set()
    assert all("Transformers 5.23.0" in row.source.title for row in ROWS)


@pytest.mark.parametrize(
    ("config", "params"),
    # the class of Transformers 5.23.0, made without memory from this config alone
    [
        ({"model_type": "mixtral"}, 46_702_792_704),
        ({"model_type": "gemma"}, 8_537_680_896),
        ({"model_type": "gpt2"}, 124_439_808),
        ({"model_type": "qwen2_moe"}, 14_315_784_192),
        ({"model_type": "phi3"}, 3_821_079_552),
        ({"model_type": "deepseek_v3"}, 671_026_404_352),
        ({"model_type": "mamba2"}, 7_285_403_648),
        ({"model_type": "jamba"}, 51_570_323_328),
        ({"model_type": "qwen3_next"}, 79_674_391_296),
        ({"model_type": "seed_oss"}, 28_921_040_896),
    ],
)
def test_a_file_with_its_kind_alone_is_the_class(config: dict[str, Any], params: int) -> None:
    assert _params(config) == pytest.approx(params, rel=1e-4)


def test_what_the_file_says_is_kept_in_any_spelling() -> None:
    given = {"model_type": "qwen3_moe", "num_local_experts": 16, "sliding_window": None}
    full = with_library_defaults(CATALOG, given)
    assert "num_experts" not in full
    assert full["sliding_window"] is None
    assert from_config(full).experts == 16


def test_the_language_model_is_filled_in_by_its_own_kind() -> None:
    # Gemma 3 4B leaves heads and vocabulary of its text_config to the library
    text = {
        "model_type": "gemma3_text",
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "num_hidden_layers": 34,
        "sliding_window": 1024,
    }
    shape = from_config(
        with_library_defaults(CATALOG, {"model_type": "gemma3", "text_config": text})
    )
    assert (shape.heads, shape.kv_heads, shape.head_dim, shape.vocab) == (8, 4, 256, 262_208)
    # five local layers to one full: 34 // 6 = 5 full
    assert (shape.local_layers, shape.window) == (29, 1024)
    assert shape.tied


def test_a_key_around_the_text_model_is_not_overwritten() -> None:
    outer = {"model_type": "llava", "vocab_size": 32_064, "text_config": {"model_type": "llama"}}
    assert "vocab_size" not in with_library_defaults(CATALOG, outer)["text_config"]


def test_each_value_that_was_filled_in_is_named() -> None:
    config = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257}
    (note,) = file_notes(CATALOG, config)
    assert "n_positions" in note
    assert "Transformers 5.23.0, GPT2Config" in note
    whole = with_library_defaults(CATALOG, config)
    assert file_notes(CATALOG, whole) == ()
