"""Recipes in 8-bit integers and in 32 bit, by hand on the tiny accelerator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Recipe
from dcplan.inputs.training.devices import recipe_terms
from dcplan.llm.device_terms import RecipeTerms, device_table, recipe_table
from dcplan.llm.operations import elementwise
from dcplan.training.memory import kept_bytes, logits_bytes
from dcplan.training.traffic import boundary_s
from tests.training.tiny import BF16, DEVICE, FP8, STACK, setup

FP32 = RecipeTerms("fp32", 4.0, 0.0, 4.0, 4.0, 8.0, 4.0, activation_bytes=4.0)
WIDE = replace(DEVICE, fp32_tflops=10.0, int8_tflops=160.0, attention_frac=0.5)


def test_all_work_of_32_bit_tensors_runs_at_their_peak() -> None:
    """10 TFLOP/s: 8 at a share of 0.8 for products and output layer, 5 at 0.5 for attention."""
    wide = replace(WIDE, fp32_gemm_frac=0.8)
    table = device_table([wide], [STACK], [FP32])
    assert table.linear_flops[0] == table.half_flops[0] == pytest.approx(8e12)
    assert table.attention_flops[0] == pytest.approx(5e12)
    # BF16: 100 TFLOP/s at 0.5
    assert device_table([WIDE], [STACK], [BF16]).attention_flops[0] == pytest.approx(50e12)


def test_integers_take_the_fp8_share_of_their_own_peak() -> None:
    """160e12 operations/s at 0.5, attention at 16 bit; without FP8, the 16-bit share of 0.5."""
    int8 = replace(FP8, gemm="int8")
    table = device_table([WIDE], [STACK], [int8])
    assert table.linear_flops[0] == pytest.approx(80e12)
    assert table.half_flops[0] == pytest.approx(50e12)
    old = replace(WIDE, fp8_gemm_frac=0.0, half_gemm_frac=0.25)
    assert device_table([old], [STACK], [int8]).linear_flops[0] == pytest.approx(40e12)


def test_integers_store_weights_as_fp8_does() -> None:
    lean = replace(STACK, low_weight_bytes=2.0, low_gather=True)
    eight, ints = (recipe_table([r], [lean]) for r in (FP8, replace(FP8, gemm="int8")))
    assert ints.weight_bytes[0] == eight.weight_bytes[0] == 2.0
    assert ints.gather_bytes[0] == eight.gather_bytes[0] == 1.0


def test_32_bit_values_are_twice_as_wide() -> None:
    """Norms, kept layer inputs and stage boundaries have 4 for 2 bytes; logits (4 + 4) for (2 + 4)."""
    ideal = replace(STACK, elementwise=1.0)
    wide, half = (setup(device=WIDE, stack=ideal, recipe=r, pp=2) for r in (FP32, BF16))
    for a, b in zip(elementwise(wide), elementwise(half), strict=True):
        assert a == pytest.approx(2 * b)
        assert np.all(b > 0)
    assert kept_bytes(wide).inputs == pytest.approx(2 * kept_bytes(half).inputs)
    assert boundary_s(wide) == pytest.approx(2 * boundary_s(half))
    assert logits_bytes(wide) == pytest.approx(8 / 6 * logits_bytes(half))


@pytest.mark.parametrize(
    ("name", "gemm", "state_bytes", "activation_bytes"),
    [
        # FP32 weights 4 and Adam's two moments 8: 12; TF32 the same
        ("fp32", "fp32", 12.0, 4.0),
        ("tf32", "tf32", 12.0, 4.0),
        # mixed precision: master and moments 12, and the 16-bit copy (2) or 8-bit copies (3)
        ("bf16", "half", 14.0, 2.0),
        ("int8", "int8", 15.0, 2.0),
    ],
)
def test_bytes_of_the_recipes(
    name: str, gemm: str, state_bytes: float, activation_bytes: float
) -> None:
    terms = recipe_terms(load().get("recipes", name, Recipe))
    assert terms.gemm == gemm
    assert terms.weight_bytes + terms.optimizer_bytes == state_bytes
    assert terms.activation_bytes == activation_bytes
