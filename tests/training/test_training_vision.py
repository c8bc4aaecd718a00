"""Vision encoders beside a language model: counts against the released weights, time and memory by
hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.llm.architecture import Architecture, context_tokens, model_flops_per_token, tower_flops
from dcplan.llm.config import from_config
from dcplan.llm.operations import Setup
from dcplan.llm.tables import tower_table
from dcplan.training.grid import Axes, Case, case_setup, grid, layout_table
from dcplan.training.memory import memory
from dcplan.training.search import prepare, quick_search, search
from dcplan.training.step import Step, least_step_s, step
from tests.training.tiny import (
    BF16,
    COEFFICIENTS,
    DENSE,
    DEVICE,
    LAZY,
    LINEAR_FLOPS_PER_S,
    MOE,
    REAL,
    setup,
)

QUICK = settings(max_examples=60, deadline=None)
TEXT = {
    "hidden_size": 1024,
    "num_hidden_layers": 8,
    "intermediate_size": 4096,
    "num_attention_heads": 8,
}
VISION = {
    "model_type": "siglip_vision_model",
    "hidden_size": 512,
    "intermediate_size": 2048,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "image_size": 224,
    "patch_size": 14,
}
SMALL = {
    "model_type": "gemma3",
    "mm_tokens_per_image": 64,
    "text_config": {**TEXT, "model_type": "llama", "vocab_size": 1024, "gated_mlp": False},
    "vision_config": VISION,
}
SEEING = from_config(SMALL)
"""``DENSE`` with a tower of 4 layers of 12 x 512^2 weights on 256 patches, and 64 tokens an image.
"""
PROJECTOR = 512 * 1024
"""Weights in its matrix."""


def _shape(name: str) -> Architecture:
    return from_config(load().get("models", name, Model).config)


def _seen(images: float, shape: Architecture = SEEING, **given: Any) -> Setup:
    return replace(setup(shape, **given), tower=tower_table(shape, images))


@pytest.mark.parametrize(
    ("name", "params"),
    # parameter counts of the released weights, as the models' Hugging Face pages print them
    [
        ("llava-1.5-7b", 7_063_427_072),
        ("qwen2-vl-7b", 8_291_375_616),
        ("qwen2.5-vl-7b", 8_292_166_656),
        ("internvl2.5-78b", 78_408_318_336),
        ("gemma-3-27b-vision", 27_432_406_640),
        ("llama-4-scout-vision", 108_641_793_536),
        ("llama-4-maverick-vision", 401_583_781_376),
    ],
)
def test_released_weights_are_counted_to_the_last_parameter(name: str, params: int) -> None:
    assert _shape(name).params == params


def test_towers_are_counted_to_the_last_parameter() -> None:
    # CLIP ViT-L/14 at 336 pixels; Qwen2.5-VL 7B's vision module with its merger
    clip, qwen = _shape("llava-1.5-7b"), _shape("qwen2.5-vl-7b")
    assert clip.tower is not None
    assert clip.tower.params == 303_507_456
    assert qwen.tower_params == 676_550_144
    assert clip.trunk_params + clip.tower_params == clip.params
    assert clip.active_params == clip.trunk_params


@pytest.mark.parametrize(
    ("name", "patches", "tokens"),
    # 24^2 and a class token; 32^2 at 448 pixels; 64^2 averaged to 256; 24^2 / 4
    [
        ("llava-1.5-7b", 577, 576),
        ("qwen2.5-vl-7b", 1024, 256),
        ("internvl2.5-78b", 1025, 256),
        ("gemma-3-27b-vision", 4096, 256),
        ("llama-4-scout-vision", 577, 144),
    ],
)
def test_patches_and_tokens_of_an_image(name: str, patches: int, tokens: int) -> None:
    assert (_shape(name).tower_patches, _shape(name).tower_tokens) == (patches, tokens)


def test_flops_of_an_image_by_hand() -> None:
    """CLIP ViT-L/14: a layer has 12 x 1,024^2 weights, biases and norms of 13,312; 577 tokens meet
    all 577.

    Patch matrix 588 x 1,024 and two norms of 2,048 outside the layers; the projector works on 576
    tokens.
    """
    layer = 12 * 1024**2 + 9 * 1024 + 4 * 1024
    token = 6 * (24 * layer + 588 * 1024 + 2 * 2048) + 6 * 24 * 577 * 16 * (64 + 64)
    projector = 1024 * 4096 + 4096 + 4096 * 4096 + 4096
    shape = _shape("llava-1.5-7b")
    expected = 577 * token + 6 * 576 * projector
    assert tower_flops(shape) == pytest.approx(expected, rel=1e-12)
    more = model_flops_per_token(shape, 2048, images=2.0) - model_flops_per_token(shape, 2048)
    assert more == pytest.approx(2 * expected / 2048, rel=1e-9)


def test_windows_of_qwen_hold_their_own_patches() -> None:
    # 112 pixels are 8 patches of 14: 64 a window in 28 layers, all 1,024 in 4 (arXiv 2502.13923,
    # section 2.1.1)
    tower = _shape("qwen2.5-vl-7b").tower
    assert tower is not None
    assert context_tokens(tower, 1024) == 28 * 64 + 4 * 1024
    assert context_tokens(replace(tower, causal=True), 1024) == 28 * (64 - 2) + 4 * 512


def test_no_mask_doubles_the_pairs_of_fused_attention() -> None:
    slow = replace(DEVICE, attention_frac=0.5)
    masked = step(setup(DENSE, slow)).parts_s["attention"]
    assert step(setup(replace(DENSE, causal=False), slow)).parts_s["attention"] == pytest.approx(
        2 * masked
    )
    local = replace(DENSE, causal=False, local_layers=8, window=256)
    assert step(setup(local, slow)).parts_s["attention"] == pytest.approx(2 * masked * 256 / 1024)


def test_time_of_a_tower_by_hand() -> None:
    # two images: 512 patches through 4 layers, 128 tokens through the projector, forward and twice
    # as much back
    expected = 6 * (512 * 4 * 12 * 512**2 + 128 * PROJECTOR) / LINEAR_FLOPS_PER_S
    without, seen = step(_seen(0.0)), step(_seen(2.0))
    assert seen.parts_s["tower"][0] == pytest.approx(expected, rel=1e-9)
    assert seen.time_s[0] - without.time_s[0] == pytest.approx(expected, rel=1e-9)
    # two context-parallel ranks take two of four images each
    assert step(_seen(4.0, cp=2.0)).parts_s["tower"][0] == pytest.approx(expected, rel=1e-9)


def test_tower_stands_on_the_first_stage() -> None:
    """Two stages of 4 layers: an image makes the first one longer, and the second waits.

    A layer takes l, the tower w: the first stage 4 l + w, the pipeline (m - 1) (4 l + w) + 8 l + w.
    """
    layer = 6 * 1024 * 12 * 1024**2 / LINEAR_FLOPS_PER_S
    tower = 6 * (512 * 4 * 12 * 512**2 + 128 * PROJECTOR) / LINEAR_FLOPS_PER_S
    assert tower < layer
    found = step(_seen(2.0, replace(SEEING, vocab=0), pp=2.0, micro_batches=5.0, zero=0.0)).parts_s
    running = sum(float(found[k][0]) for k in ("gemm", "tower", "imbalance", "bubble"))
    running -= float(found["pipeline_send"][0]) / 5  # the fill sends once
    assert running == pytest.approx(4 * (4 * layer + tower) + 8 * layer + tower, rel=1e-9)
    assert float(found["imbalance"][0]) == pytest.approx(5 * tower / 2, rel=1e-9)


def test_first_stage_gives_up_layers_for_a_long_tower() -> None:
    # 20 times the images: w = 20 w1 is several layers; drawn by hand no stage is longer than the
    # rounded mean
    layer = 6 * 1024 * 12 * 1024**2 / LINEAR_FLOPS_PER_S
    tower = 20 * 6 * (512 * 4 * 12 * 512**2 + 128 * PROJECTOR) / LINEAR_FLOPS_PER_S
    found = step(_seen(40.0, replace(SEEING, vocab=0), pp=2.0, micro_batches=5.0, zero=0.0)).parts_s
    whole = 8 * layer + tower
    fullest = (found["imbalance"][0] + 5 * whole / 2) / 5
    assert fullest == pytest.approx(max(np.ceil(whole / layer / 2) * layer, tower), rel=1e-9)
    assert fullest < 4 * layer + tower


LAYOUTS = {
    "tp": st.sampled_from([1.0, 2.0, 8.0]),
    "cp": st.sampled_from([1.0, 2.0]),
    "pp": st.sampled_from([1.0, 2.0, 3.0, 4.0, 8.0]),
    "dp": st.sampled_from([1.0, 4.0]),
    "zero": st.sampled_from([0.0, 1.0, 3.0]),
    "recompute": st.sampled_from([0.0, 1.0, 2.0]),
    "micro_batch": st.sampled_from([1.0, 2.0]),
    "micro_batches": st.sampled_from([1.0, 4.0, 16.0]),
}


def _timed(images: float, shape: Architecture, layout: dict[str, float]) -> tuple[Step, float]:
    case = _seen(images, shape, device=REAL, stack=LAZY, **layout)
    return step(case), float(np.atleast_1d(memory(case).total)[0])


@QUICK
@given(
    layout=st.fixed_dictionaries(LAYOUTS),
    images=st.lists(st.floats(0.0, 60.0), min_size=2, max_size=2),
)
@pytest.mark.parametrize("sparse", [False, True])
def test_more_images_are_never_faster_and_never_smaller(
    sparse: bool, layout: dict[str, float], images: list[float]
) -> None:
    fewer, more = sorted(images)
    text = replace(MOE, layers=8) if sparse else DENSE
    names = ("tower", "tower_patches", "tower_tokens", "projector_params")
    shape = replace(text, **{k: getattr(SEEING, k) for k in names})
    low, existing = _timed(fewer, shape, layout)
    high, larger = _timed(more, shape, layout)
    assert high.time_s[0] >= low.time_s[0] * (1 - 1e-12)
    assert larger >= existing * (1 - 1e-12)
    for done in (low, high):
        assert sum(float(np.atleast_1d(v)[0]) for v in done.parts_s.values()) == pytest.approx(
            done.time_s[0], rel=1e-9
        )
        assert min(float(np.atleast_1d(v)[0]) for v in done.parts_s.values()) >= 0


def test_no_images_take_no_time() -> None:
    layout = {"pp": 2.0, "dp": 1.0, "micro_batches": 4.0}
    blind, seen = (
        step(setup(DENSE, REAL, LAZY, **layout)),
        step(_seen(0.0, device=REAL, stack=LAZY, **layout)),
    )
    assert "tower" not in blind.parts_s
    assert not seen.parts_s["tower"].any()
    # the tower's weights still pass the optimizer; all else is as without it
    same = [k for k in blind.parts_s if k not in {"optimizer", "straggler"}]
    assert all(np.array_equal(blind.parts_s[k], seen.parts_s[k]) for k in same)
    assert seen.parts_s["optimizer"] > blind.parts_s["optimizer"]


@pytest.mark.parametrize("recompute", [0.0, 1.0, 2.0])
def test_memory_grows_by_the_tower(recompute: float) -> None:
    """First of two stages, two micro-batches of one image in flight: states once, activations
    twice.

    A tower layer keeps, of 256 tokens of 512: attention and MLP inputs and their norms 4 x 2 bytes,
    queries, keys, values 3 x 2, output 2 and a 32-bit sum for each of 8 heads, 2,048 hidden values
    twice; or, recomputed, its input.
    """
    assert SEEING.tower is not None
    layout = {"pp": 2.0, "micro_batches": 8.0, "recompute": recompute, "zero": 0.0}
    blind, seen = memory(setup(DENSE, **layout)), memory(_seen(1.0, **layout))
    r = setup().recipe
    each = float((r.weight_bytes + r.grad_bytes + r.optimizer_bytes)[0])
    grown = sum(getattr(seen, k) - getattr(blind, k) for k in ("weights", "gradients", "optimizer"))
    assert grown[0] == pytest.approx(SEEING.tower_params * each, rel=1e-12)
    whole = 256 * (512 * (4 * 2 + 3 * 2 + 2) + 8 * 4 + 2048 * 4) * 4
    light = 256 * (512 * (2 * 2 + 3 * 2 + 2) + 8 * 4 + 2048 * 2) * 4
    expected = {0.0: whole, 1.0: light, 2.0: 256 * 512 * 2 * 4}[recompute]
    assert (seen.activations - blind.activations)[0] == pytest.approx(2 * expected, rel=1e-12)


def test_tower_is_not_on_the_last_stage() -> None:
    # so many logits that the last stage is the fullest: the tower does not make it fuller
    shape = replace(SEEING, vocab=4_000_000)
    layout = {"pp": 8.0, "micro_batches": 8.0}
    blind = memory(setup(replace(shape, tower=None, projector_params=0), **layout))
    assert memory(_seen(1.0, shape, **layout)).total == pytest.approx(blind.total, rel=1e-12)


CASE = Case(
    replace(SEEING, layers=5, attention_layers=5, dense_layers=5),
    REAL,
    LAZY,
    BF16,
    COEFFICIENTS,
    1024,
    16.0,
    images=3.0,
)
AXES = Axes((0, 1, 2), (0, 1), schedule=(0, 1, 2), offload=(0.0, 1.0))


@pytest.mark.parametrize("images", [0.0, 0.3, 3.0, 40.0])
def test_bound_is_below_every_step_with_a_tower(images: float) -> None:
    case = replace(CASE, images=images)
    ready = prepare(case, 8, AXES)
    looked = 0
    for block, _, mode in grid(case, 8, AXES, ready.columns):
        layout = layout_table(case, block)
        low = least_step_s(ready.one.least_s[mode], layout)
        assert (low <= step(case_setup(case, layout)).time_s * (1 + 1e-12)).all()
        looked += low.size
    assert looked > 1000


def test_quick_search_finds_what_the_full_one_finds() -> None:
    full, quick = search(CASE, 8, axes=AXES), quick_search(prepare(CASE, 8, AXES), 8, 1)
    assert quick.step_time_s[0] == pytest.approx(full.step_time_s[0], rel=1e-12)
    # and a search times with the same tower as one layout alone
    alone = case_setup(CASE, layout_table(CASE, {k: v[:1] for k, v in full.layouts.items()}))
    assert step(alone).time_s[0] == pytest.approx(full.step_time_s[0], rel=1e-12)
    assert memory(alone).total[0] == pytest.approx(full.memory_bytes[0], rel=1e-12)
    assert full.step_time_s[0] > search(replace(CASE, images=0.0), 8, axes=AXES).step_time_s[0]


def test_heads_that_tensor_parallel_does_not_divide_are_padded() -> None:
    # 25 heads (InternViT) over 8 ranks: 4 a rank, as 32 would have
    odd = replace(SEEING, tower=replace(SEEING.tower, heads=25, kv_heads=25))
    even = replace(SEEING, tower=replace(SEEING.tower, heads=32, kv_heads=32))
    one, other = (step(_seen(2.0, s, device=REAL, stack=LAZY, tp=8.0)).time_s for s in (odd, even))
    assert one == pytest.approx(other, rel=1e-12)
