"""Diffusion transformers: counts against what their makers print, FLOPs by hand, and what is
refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.llm.architecture import Architecture, context_tokens, model_flops_per_token
from dcplan.llm.config import from_config
from dcplan.llm.diffusion import guidance_passes, image_tokens
from dcplan.training.memory import memory
from dcplan.training.step import step
from tests.training.tiny import DENSE, DEVICE, setup

DIT = {
    "_class_name": "DiTTransformer2DModel",
    "num_layers": 28,
    "num_attention_heads": 16,
    "attention_head_dim": 72,
    "in_channels": 4,
    "out_channels": 8,
    "patch_size": 2,
    "num_embeds_ada_norm": 1000,
}


def _config(name: str) -> dict[str, Any]:
    return load().get("models", name, Model).config


def _shape(name: str) -> Architecture:
    return from_config(_config(name))


@pytest.mark.parametrize(
    ("name", "params"),
    [
        (
            "dit-xl-2",
            675_129_632 - 256 * 1152,
        ),  # the original's count without its 256 fixed positions
        ("sd3-medium", 2_028_328_000),  # of the released weights, as is the next
        ("flux.1-dev", 11_901_408_320),
    ],
)
def test_released_weights_are_counted_to_the_last_parameter(name: str, params: int) -> None:
    assert _shape(name).params == params


@pytest.mark.parametrize(
    ("name", "millions"),
    # Peebles and Xie 2022, table 4
    [("dit-b-2", 130), ("dit-l-2", 458), ("dit-xl-2", 675)],
)
def test_published_sizes_of_dit(name: str, millions: int) -> None:
    assert _shape(name).params / 1e6 == pytest.approx(millions, rel=0.005)


@pytest.mark.parametrize(
    ("name", "gflops"),
    # Peebles and Xie 2022, table 4; its "Gflops" are multiply-adds of one forward pass
    [("dit-b-2", 23.01), ("dit-l-2", 80.71), ("dit-xl-2", 118.64)],
)
def test_published_gflops_of_dit(name: str, gflops: float) -> None:
    """256 tokens: 12 h^2 weights a layer, and 2 x 256 h of scores and values, both multiply-adds.

    The remaining 0.3 % are the modulation, once an image (counted in ``once_params``, not in the
    FLOPs of a token).
    """
    shape = _shape(name)
    forward = model_flops_per_token(shape, 256) * 256 / 6
    assert (forward + shape.once_params) / 1e9 == pytest.approx(gflops, rel=0.002)
    assert forward / 1e9 == pytest.approx(gflops, rel=0.005)
    h = shape.hidden
    biases = 9 * h * shape.layers + h + 32
    by_hand = 256 * (shape.layers * (12 * h * h + 2 * 256 * h) + 16 * h + 32 * h + biases)
    assert forward == pytest.approx(by_hand, rel=1e-12)


def test_a_dit_block_by_hand() -> None:
    """Attention 4 h^2 and 4 biases, MLP 8 h^2 and 5, modulation 6 h^2 and 6: 18 h^2 + 15 h a
    block."""
    once = 256 * 1152 + 1152 + 1152 * 1152 + 1152 + 1001 * 1152 + 2 * 1152**2 + 2 * 1152
    ends = 16 * 1152 + 1152 + 1152 * 32 + 32
    shape = from_config(DIT)
    assert shape.params == 28 * (18 * 1152**2 + 15 * 1152) + once + ends
    assert shape.active_params == 28 * (12 * 1152**2 + 9 * 1152) + ends
    assert from_config({**DIT, "attention_bias": False}).params == shape.params - 28 * 3 * 1152


def test_a_token_of_two_streams_passes_through_one() -> None:
    """SD3 medium, h = 1,536: a token meets 12 h^2 + 9 h a block and its own patch, out and back."""
    h, shape = 1536, _shape("sd3-medium")
    assert shape.active_params == 24 * (12 * h * h + 9 * h) + 64 * h + h + 64 * h + 64
    assert shape.once_params == shape.params - shape.active_params
    assert shape.once_params > shape.active_params


def test_single_blocks_of_flux_are_not_doubled() -> None:
    # 19 blocks of two streams and 38 of one: 57 times 12 h^2 for each token
    h, shape = 3072, _shape("flux.1-dev")
    assert shape.layers == 57
    assert shape.active_params == pytest.approx(57 * 12 * h * h, rel=0.001)
    without = from_config({**_config("flux.1-dev"), "guidance_embeds": False})
    assert shape.params - without.params == 256 * h + h + h * h + h


def test_every_token_meets_all() -> None:
    assert context_tokens(_shape("dit-xl-2"), 256) == 28 * 256


def test_what_is_used_once_has_weight_but_no_time() -> None:
    one, once = (
        setup(from_config(DIT), DEVICE),
        setup(from_config({**DIT, "num_embeds_ada_norm": 2000}), DEVICE),
    )
    more = 1000 * 1152
    assert memory(once).weights - memory(one).weights == pytest.approx(2 * more, rel=1e-12)
    done, plain = step(once).parts_s, step(one).parts_s
    assert all(np.array_equal(done[k], plain[k]) for k in ("gemm", "attention", "head"))
    assert done["optimizer"] > plain["optimizer"]


def test_there_is_no_output_layer_over_a_vocabulary() -> None:
    found = setup(from_config(DIT), DEVICE)
    assert not step(found).parts_s["head"].any()
    assert not memory(found).logits.any()
    assert step(setup(DENSE, DEVICE)).parts_s["head"].any()


def test_the_older_class_name_of_dit() -> None:
    older = {**DIT, "_class_name": "Transformer2DModel"}
    assert from_config({**older, "norm_type": "ada_norm_zero"}) == from_config(DIT)
    with pytest.raises(ValueError, match="_class_name Transformer2DModel"):
        from_config(older)


SD3 = "sd3-medium"


@pytest.mark.parametrize(
    ("name", "changed", "text"),
    [
        (
            SD3,
            {"_class_name": "PixArtTransformer2DModel"},
            "_class_name PixArtTransformer2DModel.*SD3Transformer2D",
        ),
        (SD3, {"_class_name": "UNet2DConditionModel"}, "_class_name UNet2DConditionModel"),
        (SD3, {"qk_norm": "layer_norm"}, "qk_norm 'layer_norm'"),
        (SD3, {"joint_attention_dim": None}, "no joint_attention_dim"),
        (SD3, {"num_layers": "many"}, "many"),
        (SD3, {"num_layers": 0}, "layers is 0"),
        (SD3, {"attention_head_dim": -64}, "hidden is -1536"),
        ("flux.1-dev", {"num_single_layers": None}, "no num_single_layers"),
        ("dit-xl-2", {"num_embeds_ada_norm": None}, "no num_embeds_ada_norm"),
        ("dit-xl-2", {"num_layers": 10**8}, "layers is 100000000"),
    ],
)
def test_what_is_not_counted_is_refused_by_name(
    name: str, changed: dict[str, Any], text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        from_config({**_config(name), **changed})


def test_a_second_attention_of_the_image_is_counted() -> None:
    """SD3.5 Medium: the released file has 4.94 GB of 2 bytes, fixed positions of 384 x 384 included."""
    shape = _shape("sd3.5-medium")
    assert (shape.params + 384 * 384 * 1536) * 2 / 1e9 == pytest.approx(4.94, abs=0.005)
    assert (shape.layers, shape.attention_layers, shape.dense_layers) == (24, 24 + 13, 24)


@pytest.mark.parametrize(
    ("name", "tokens"), [("dit-xl-2", 4096), ("sd3-medium", 4096), ("flux.1-dev", 4096)]
)
def test_latent_patches_of_an_image(name: str, tokens: int) -> None:
    """A patch is 16 x 16 pixels in all three families: (1024 / 16)^2."""
    assert image_tokens(_config(name), 1024 * 1024) == tokens
    assert guidance_passes(_config(name)) == (1 if name == "flux.1-dev" else 2)


@pytest.mark.parametrize("norm", [None, "rms_norm"])
def test_norms_of_queries_and_keys(norm: str | None) -> None:
    # two norms of a head's width a stream and block
    plain = {k: v for k, v in _config("sd3.5-large").items() if k != "qk_norm"}
    more = from_config({**plain, "qk_norm": norm}).params - from_config(plain).params
    assert more == (38 * 4 * 64 if norm else 0)
