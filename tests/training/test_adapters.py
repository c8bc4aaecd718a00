"""Low-rank adapters: parameters against published counts, time by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.speed import hardware
from dcplan.llm.architecture import Architecture
from dcplan.llm.config import from_config
from dcplan.llm.operations import Setup
from dcplan.llm.tables import RECOMPUTE
from dcplan.scenario.schema.fine_tuning import ATTENTION, TARGETS
from dcplan.training.estimate import case_of
from dcplan.training.grid import KEYS, case_setup, layout_table
from dcplan.training.tuning.adapters import (
    AdapterPasses,
    adapter_s,
    adapters,
    dequantize_s,
    linear_layers,
)


def shape_of(name: str) -> Architecture:
    return from_config(load(()).get("models", name, Model).config)


def setup_of(name: str, **columns: float) -> Setup:
    """Return one layout of one sequence of 1,024 tokens on H100."""
    spec = hardware("h100-sxm", "bf16", 50.0, InputLog(load(())), moe=False)
    assert not isinstance(spec, str)
    case = case_of(shape_of(name), 1024, 1024.0, spec)
    usual = dict.fromkeys(KEYS, 1.0) | {"recompute": 0.0, "zero": 0.0, "schedule": 0.0}
    usual |= {"offload": 0.0} | columns
    return case_setup(case, layout_table(case, {k: np.array([v]) for k, v in usual.items()}))


@pytest.mark.parametrize(
    ("model", "published"),
    [
        # Hugging Face PEFT prints these for rank 16 on all linear layers
        ("llama-3-8b", 41_943_040),
        ("llama-3-70b", 207_093_760),
    ],
)
def test_trainable_parameters_are_the_published_ones(model: str, published: int) -> None:
    assert adapters(shape_of(model), 16, TARGETS).params == published


def test_queries_and_values_of_gpt3_are_the_count_of_the_paper() -> None:
    """LoRA, table 4: rank 4 on queries and values of GPT-3 175B has 18.9 M parameters (there 2 x
    96 x 2 x 4 x 12,288)."""
    assert adapters(shape_of("gpt3-175b"), 4, ["q", "v"]).params == 2 * 96 * 2 * 4 * 12_288


def test_every_expert_has_adapters_and_a_token_passes_its_own() -> None:
    """Qwen3 30B-A3B: 48 layers, 128 experts of 768, 8 of a token, width 2,048."""
    shape = shape_of("qwen3-30b-a3b")
    found = adapters(shape, 16, ["up"])
    assert found.params == 48 * 128 * 16 * (2048 + 768)
    assert found.width == 48 * 8 * (2048 + 768)
    assert found.layers == 48


@pytest.mark.parametrize("model", ["llama-3-8b", "deepseek-v3", "nemotron-h-56b", "gpt-2-1.5b"])
def test_every_linear_layer_can_be_named(model: str) -> None:
    shape = shape_of(model)
    assert {x.name for x in linear_layers(shape)} <= set(TARGETS)
    # norms, biases, routers and the embedding are what linear layers leave of the parameters
    held = sum(x.layers * x.stored * x.inputs * x.outputs for x in linear_layers(shape))
    rest = shape.params - shape.embedding_params - held
    assert 0 <= rest < 0.01 * shape.params


def test_the_time_of_adapters_by_hand() -> None:
    """q of Llama 3 8B: 32 layers of 4,096 + 4,096 values, 12 passes at 2 bytes, 1,024 tokens."""
    setup, passes = setup_of("llama-3-8b"), AdapterPasses(5.0, 7.0, 10.0)
    sizes = adapters(shape_of("llama-3-8b"), 16, ["q"])
    rate, gap = float(setup.device.hbm_bytes_per_s[0]), float(setup.device.kernel_s[0])
    by_hand = 12 * 32 * 8192 / 2 * 2 * 1024 / rate + 10 * 32 * gap
    assert adapter_s(setup, sizes, passes)[0] == pytest.approx(by_hand)
    again = setup_of("llama-3-8b", recompute=RECOMPUTE.index("full"))
    assert adapter_s(again, sizes, passes)[0] == pytest.approx(
        by_hand + 5 * 32 * 8192 / 2 * 2 * 1024 / rate
    )


def test_the_time_to_unpack_weights_by_hand() -> None:
    """Llama 3 8B: 6.98 G parameters outside embedding and output layer, read at 0.5 bytes, written
    at 2, twice, at 0.3 of the memory rate."""
    setup = setup_of("llama-3-8b")
    rate = float(setup.device.hbm_bytes_per_s[0])
    shape = shape_of("llama-3-8b")
    blocks = shape.params - shape.embedding_params
    assert blocks == pytest.approx(6.98e9, rel=1e-3)
    by_hand = 2 * blocks * 2.5 / (0.3 * rate)
    assert dequantize_s(setup, 0.5, 0.3)[0] == pytest.approx(by_hand)
    assert dequantize_s(setup, 0.5, 0.3, forwards=2.0)[0] == pytest.approx(1.5 * by_hand)


def test_tensor_parallel_divides_the_passes_not_the_kernels() -> None:
    sizes, passes = adapters(shape_of("llama-3-8b"), 16, ATTENTION), AdapterPasses(5, 7, 0)
    one, four = (adapter_s(setup_of("llama-3-8b", tp=n), sizes, passes)[0] for n in (1.0, 4.0))
    assert one == pytest.approx(4 * four)
    kernels = replace(passes, forward=0, backward=0, kernels=10)
    one, four = (adapter_s(setup_of("llama-3-8b", tp=n), sizes, kernels)[0] for n in (1.0, 4.0))
    assert one == pytest.approx(four)
    assert one > 0
