"""Every key is read, known to be without effect, refused, or named: none is passed over in silence."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from dcplan.llm.config import config_notes, from_config, timed_config
from dcplan.llm.configs.check_keys import READABLE
from dcplan.llm.configs.families import READ_TYPES, REFUSED_TYPES
from dcplan.llm.configs.known_keys import NO_EFFECT_ENDS, NO_EFFECT_KEYS, READ, REFUSED

TINY: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 100,
}
READERS = sorted((Path(__file__).parents[2] / "dcplan/llm/configs").glob("*.py"))
LOOK_UPS = {"get", "need", "whole", "_first"}
PARTS_OF_OBJECTS = {"full_attn_layers", "short_conv_kernel_size"}
"""Keys of ``linear_attn_config``."""
SIZES_MADE = {"mamba_inner", "mamba_heads"}
"""Fields of an architecture that a reader looks up in what another one returned."""


def looked_up(file: Path) -> set[str]:
    """The texts that a module looks up in a mapping."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in LOOK_UPS:
                found |= {a.value for a in node.args if isinstance(a, ast.Constant)}
    return {text for text in found if isinstance(text, str)}


def test_every_key_that_a_reader_looks_up_is_declared() -> None:
    mixers = READERS[0].parents[1] / "mixers.py"
    found = set().union(*(looked_up(file) for file in [*READERS, mixers]))
    assert len(found) > 80
    assert found - READABLE - NO_EFFECT_KEYS - PARTS_OF_OBJECTS - SIZES_MADE == set()


def test_a_key_is_in_one_list_only() -> None:
    assert set() == READABLE & NO_EFFECT_KEYS
    assert set(REFUSED) & (READABLE | NO_EFFECT_KEYS) == set()
    assert {key for key in READ if key.endswith(NO_EFFECT_ENDS)} == set()
    assert set(REFUSED_TYPES) & READ_TYPES == set()


@pytest.mark.parametrize("key", sorted(REFUSED))
def test_a_key_that_changes_the_cost_is_refused_by_name(key: str) -> None:
    with pytest.raises(ValueError, match=f"^{key}: .*does not count this.*Use a model without it$"):
        from_config({**TINY, key: 4})
    for empty in (None, False, 0, [], {}):
        assert from_config({**TINY, key: empty}) == from_config(TINY)


@pytest.mark.parametrize("kind", sorted(REFUSED_TYPES))
def test_a_kind_of_model_without_reader_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match=rf"^model_type '{kind}' has .*no reader supports it$"):
        from_config({**TINY, "model_type": kind})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("num_hiden_layers", "num_hidden_layers"),
        ("sliding_windows", "sliding_window"),
        ("intermediate_siz", "intermediate_size"),
        ("num_expert_per_tok", "num_experts_per_tok"),
        ("atn_type_list", "attn_type_list"),
    ],
)
def test_a_misspelled_key_is_refused_with_the_right_one(written: str, meant: str) -> None:
    with pytest.raises(ValueError, match=rf"^{written} is not a key .* did you mean {meant}\?"):
        from_config({**TINY, written: 4})


def test_an_unknown_key_is_named_and_has_no_effect() -> None:
    strange = {**TINY, "warp_drive_layers": 7, "other_thing": None}
    assert from_config(strange) == from_config(TINY)
    (note,) = config_notes(strange)
    assert "warp_drive_layers is unknown and not read" in note
    assert "other_thing" not in note


def test_an_unknown_kind_of_model_is_named() -> None:
    (note,) = config_notes({**TINY, "model_type": "brand_new_lm"})
    assert "'brand_new_lm' is unknown: its blocks are taken as those of Llama" in note


def test_keys_of_the_language_model_are_checked_inside_its_object() -> None:
    with pytest.raises(ValueError, match=r"^hc_mult: several residual streams"):
        from_config({"model_type": "x", "text_config": {**TINY, "hc_mult": 4}})
    assert config_notes({"vision_config": {"anything": 1}, "text_config": TINY}) == ()


def test_a_state_space_without_its_layers_is_refused() -> None:
    # before: counted as attention in every layer
    with pytest.raises(ValueError, match=r"^mamba_d_state: hybrid layers, but no key says which"):
        from_config({**TINY, "mamba_d_state": 16})
    with pytest.raises(ValueError, match="unknown kind of layer 'retention'"):
        from_config({**TINY, "layer_types": ["retention"] * 4})
    with pytest.raises(ValueError, match=r"^3 layer_types for 4 layers"):
        from_config({**TINY, "layer_types": ["full_attention"] * 3})
    with pytest.raises(ValueError, match="linear attention of model_type 'llama'"):
        from_config({**TINY, "attn_type_list": [0, 0, 0, 1]})


def test_two_stacks_are_counted_and_not_timed() -> None:
    whisper = {
        "model_type": "whisper",
        "d_model": 384,
        "encoder_layers": 4,
        "decoder_layers": 4,
        "encoder_attention_heads": 6,
        "decoder_attention_heads": 6,
        "encoder_ffn_dim": 1536,
        "decoder_ffn_dim": 1536,
        "num_mel_bins": 80,
        "vocab_size": 51865,
        "max_source_positions": 1500,
        "max_target_positions": 448,
        "is_encoder_decoder": True,
    }
    # blocks: 4 x 384^2 + 3 x 384 an attention, 2 x 384 x 1536 + 1920 an MLP, 768 a norm; two
    # convolutions of depth 3; positions 1500 and 448; the embedding is the output layer
    attention, mlp = 4 * 384**2 + 3 * 384 + 768, 2 * 384 * 1536 + 1920 + 768
    outside = 3 * 80 * 384 + 3 * 384**2 + 2 * 384 + (1500 + 448) * 384 + 2 * 768 + 51_865 * 384
    assert from_config(whisper).params == 12 * attention + 8 * mlp + outside
    with pytest.raises(
        ValueError, match=r"cross attention .*are counted, but dcplan has no time model"
    ):
        timed_config(whisper)
    with pytest.raises(ValueError, match="of models with two stacks, only bart"):
        from_config({**TINY, "is_encoder_decoder": True})
