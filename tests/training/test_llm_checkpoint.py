"""Bytes of checkpoints by class of tensors, against published sizes."""

from __future__ import annotations

import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model, WeightFormat
from dcplan.inputs.checkpoint import checkpoint, checkpoint_formats, format_rows
from dcplan.llm.architecture import Architecture
from dcplan.llm.checkpoint import CLASSES, checkpoint_bytes, class_formats, tensor_params
from dcplan.llm.config import from_config

MODELS = sorted(load().rows["models"])


def _row(name: str) -> Model:
    return load().get("models", name, Model)


def _shape(name: str) -> Architecture:
    return from_config(_row(name).config)


@pytest.mark.parametrize("name", MODELS)
def test_classes_sum_to_the_parameters(name: str) -> None:
    shape = _shape(name)
    count = tensor_params(shape)
    assert sum(getattr(count, c) for c in CLASSES) == shape.trunk_params


def test_classes_of_mixtral_by_hand() -> None:
    """32 layers, hidden 4,096, 8 key-value heads of 128, 8 experts of 14,336, vocabulary 32,000."""
    count = tensor_params(_shape("mixtral-8x7b"))
    assert count.attention == 32 * (2 * 4096**2 + 2 * 4096 * 1024 + 2 * 4096)
    assert count.experts == 32 * 8 * 3 * 4096 * 14_336
    assert (count.dense, count.shared) == (0, 32 * 4096 * 8)
    assert (count.head, count.embedding) == (32_000 * 4096 + 4096, 32_000 * 4096)


def test_a_tied_table_is_read_as_the_output_layer() -> None:
    count = tensor_params(_shape("llama-3.2-1b"))
    assert (count.head, count.embedding) == (128_256 * 2048 + 2048, 0)
    encoder = tensor_params(_shape("bge-large-en-v1.5"))
    assert (encoder.head, encoder.embedding) == (2 * 1024, (30_522 + 512) * 1024)


@pytest.mark.parametrize(
    ("name", "gib"),
    # gpt-oss model card, arXiv 2508.10925, table 1: checkpoint size
    [("gpt-oss-120b", 60.8), ("gpt-oss-20b", 12.8)],
)
def test_mxfp4_checkpoints_have_the_published_size(name: str, gib: float) -> None:
    size, rate = checkpoint(load(), _row(name), "mxfp4")
    assert checkpoint_bytes(_shape(name), size) / 2**30 == pytest.approx(gib, rel=0.003)
    assert (rate.experts, rate.attention, rate.head) == ("fp4", "half", "half")


def test_kimi_has_4_bit_experts_alone() -> None:
    # 60 layers x 384 experts x 3 x 7,168 x 2,048 at 0.5 + 2 / 32 byte, the others at 2 bytes
    shape = _shape("kimi-k2.5")
    experts = 60 * 384 * 3 * 7168 * 2048
    size, rate = checkpoint(load(), _row("kimi-k2.5"), "int4")
    expected = experts * 0.5625 + 2 * (shape.params - experts)
    assert checkpoint_bytes(shape, size) == pytest.approx(expected, rel=1e-12)
    assert rate.experts == "half"


def test_attention_of_deepseek_nvfp4_is_16_bit() -> None:
    formats = checkpoint_formats(load(), _row("deepseek-v3"), "nvfp4")
    assert formats["attention"] == formats["head"] == formats["embedding"] == "bf16"
    assert formats["dense"] == formats["experts"] == formats["shared"] == "nvfp4"
    # Qwen3-32B has no exception: all linear layers but the output layer
    assert checkpoint_formats(load(), _row("qwen3-32b"), "fp4")["attention"] == "nvfp4"


def test_a_variant_follows_the_row_of_its_format() -> None:
    # the row of MiniMax M2 has fp8 with a 16-bit router, and does not name fp8-block
    formats = checkpoint_formats(load(), _row("minimax-m2"), "fp8-block")
    assert (formats["experts"], formats["shared"]) == ("fp8-block", "bf16")


def test_rows_of_formats_are_those_of_their_names() -> None:
    names = checkpoint_formats(load(), _row("gpt-oss-120b"), "mxfp4")
    rows = format_rows(load(), _row("gpt-oss-120b"), "mxfp4")
    assert {k: row.id for k, row in rows.items()} == names


@pytest.mark.parametrize("precision", ["bf16", "fp16", "fp32"])
def test_wide_formats_hold_for_all_classes(precision: str) -> None:
    assert set(class_formats(precision, {}).values()) == {precision}


def test_an_unknown_class_is_named() -> None:
    with pytest.raises(ValueError, match="router is not a class of tensors"):
        class_formats("fp8", {"router": "bf16"})


@pytest.mark.parametrize(
    ("format", "size"),
    # bits of a value and of its share of the scales
    [
        ("nvfp4", 4 / 8 + 1 / 16),
        ("mxfp4", 4 / 8 + 1 / 32),
        ("mxfp8", 1 + 1 / 32),
        ("fp8-block", 1 + 4 / 128**2),
        ("int4", 4 / 8 + 2 / 128),
        ("int4-g32", 4 / 8 + 2 / 32),
    ],
)
def test_bytes_of_a_weight_include_the_scales(format: str, size: float) -> None:
    row = load().get("formats", format, WeightFormat)
    assert row.weight_bytes.value == pytest.approx(size, rel=1e-6)


def test_formats_and_classes_of_rows_exist() -> None:
    formats = load().rows["formats"]
    for row in load().table("models", Model).values():
        for precision in row.checkpoints:
            assert precision in formats
            assert set(checkpoint_formats(load(), row, precision).values()) <= set(formats)
