"""Vision encoders by their configuration: read, refused, or left out by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.inputs.model_files import with_library_defaults
from dcplan.llm.config import from_config
from dcplan.llm.vision.joined import assumed, uncounted_parts
from tests.training.test_training_vision import SMALL, VISION


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"patch_size": None}, "vision_config: config.json has no patch_size"),
        ({"num_hidden_layers": 0}, "vision_config: layers is 0"),
        ({"intermediate_size": -8}, "vision_config: .*ffn is -8"),
        ({"patch_size": 0}, "vision_config: patch_size 0 does not fit image_size 224"),
        ({"num_attention_heads": 0}, "a size is not a number"),
        ({"image_size": [224, 224]}, "a size is not a number"),
    ],
)
def test_a_broken_encoder_is_named(changed: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        from_config({**SMALL, "vision_config": {**VISION, **changed}})


def test_internvl_without_its_norm_is_refused() -> None:
    config = load().get("models", "internvl2.5-78b", Model).config
    for broken, text in (("group_norm", "norm_type 'group_norm'"), (None, "no norm_type")):
        with pytest.raises(ValueError, match=text):
            from_config(
                {**config, "vision_config": {**config["vision_config"], "norm_type": broken}}
            )


def test_cross_attention_is_refused_by_its_field() -> None:
    with pytest.raises(ValueError, match="cross_attention_layers"):
        from_config(
            {**SMALL, "text_config": {**SMALL["text_config"], "cross_attention_layers": [3, 7]}}
        )


def test_an_unknown_encoder_is_left_out_by_name() -> None:
    unknown = {**SMALL, "vision_config": {**VISION, "model_type": "pixtral"}}
    assert from_config(unknown).tower is None
    assert uncounted_parts(unknown) == ("vision_config",)
    assert uncounted_parts(SMALL) == ()
    assert uncounted_parts({**SMALL, "audio_config": {"layers": 2}}) == ("audio_config",)


def test_image_size_left_open_is_said() -> None:
    config = load().get("models", "qwen2.5-vl-7b", Model).config
    assert "448 x 448" in assumed(config)[0]
    larger = {**config, "vision_config": {**config["vision_config"], "image_size": 896}}
    assert assumed(larger) == ()
    assert from_config(larger).tower_patches == 4 * from_config(config).tower_patches == 4096


def test_text_sizes_that_a_file_leaves_out_are_its_class_s_own() -> None:
    """llava-1.5-7b-hf's text_config names no sizes: LlamaConfig's are Vicuna 7B's, 7.06 B with the
    tower."""
    row = dict(load().get("models", "llava-1.5-7b", Model).config)
    row["text_config"] = {"model_type": "llama", "vocab_size": 32064}
    for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"):
        row.pop(key, None)
    full = with_library_defaults(load(), row)
    assert from_config(full).params == pytest.approx(7.063e9, rel=2e-3)


@pytest.mark.parametrize(
    ("name", "params", "tolerance", "tokens"),
    [
        # google/siglip-so400m-patch14-384: 428,225,600 in the released weights
        ("siglip-so400m-patch14-384", 428_225_600, 0.0, (384 // 14) ** 2),
        # the encoder of LLaVA 1.5 is the same one
        ("clip-vit-l-14-336", 303_507_456, 0.0, 24 * 24 + 1),
        # Dosovitskiy et al. 2021, table 1: 86 M and 307 M
        ("vit-base-patch16-224", 86e6, 0.01, 14 * 14 + 1),
        ("vit-large-patch16-384", 307e6, 0.01, 24 * 24 + 1),
        # Oquab et al. 2023, table 1: 0.3 B and 1.1 B
        ("dinov2-large", 0.3e9, 0.05, 37 * 37 + 1),
        ("dinov2-giant", 1.1e9, 0.05, 37 * 37 + 1),
        # OpenCLIP, ViT-H/14: 632 M with the projection of 1280 x 1024
        ("clip-vit-h-14", 632e6 - 1280 * 1024, 0.001, 16 * 16 + 1),
    ],
)
def test_encoders_alone(name: str, params: float, tolerance: float, tokens: int) -> None:
    shape = from_config(load().get("models", name, Model).config)
    assert shape.params == pytest.approx(params, rel=tolerance)
    assert shape.tower_patches == tokens
    assert not shape.causal


def test_the_encoder_of_llava_is_clip_alone() -> None:
    llava = from_config(load().get("models", "llava-1.5-7b", Model).config).tower
    alone = from_config(load().get("models", "clip-vit-l-14-336", Model).config)
    assert replace(alone, tower_patches=0) == llava


def test_an_encoder_alone_without_a_size_is_refused_by_its_key() -> None:
    with pytest.raises(ValueError, match="image_size"):
        from_config({**VISION, "image_size": None})
