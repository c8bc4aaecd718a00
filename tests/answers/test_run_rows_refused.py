"""Rows of a table of runs that are not taken, with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.validation.runs.rows import Reader
from dcplan.catalog.loader import load
from tests.answers.test_run_rows import MIXTRAL, why


@pytest.mark.parametrize(
    ("change", "words"),
    [
        *(
            ({column: ""}, f"missing {column}")
            for column in (
                "layers",
                "hidden",
                "heads",
                "vocab",
                "seq_len",
                "n_accelerators",
                "tp",
                "pp",
                "global_batch_seqs",
            )
        ),
        ({"step_time_s": ""}, "missing step_time_s or tokens_per_s_per_accel"),
        ({"vocab": "", "step_time_s": ""}, "missing vocab, step_time_s or tokens_per_s_per_accel"),
        ({"complete": "no"}, "marked complete=no"),
        ({"accelerator_id": "h100"}, "no accelerator 'h100' in the catalog"),
        ({"accelerator_id": ""}, "no accelerator '' in the catalog"),
        ({"stack": "megatron-cor"}, "no stack 'megatron-cor' in the catalog"),
        ({"accelerator_id": "jaguar-shores"}, "jaguar-shores has no dense bf16 or fp16 peak"),
        ({"precision": "nvfp4"}, "h100-sxm has no dense fp4 peak"),
        (
            {"accelerator_id": "a100-80g-sxm", "precision": "fp8"},
            "a100-80g-sxm has no dense fp8 peak",
        ),
        ({"tp": "3"}, "tp x pp x cp = 12 does not divide 64 ranks"),
        ({"n_accelerators": "4"}, "tp x pp x cp = 8 does not divide 4 ranks"),
        ({"dp": "4", "micro_batch": "1"}, "tp x pp x cp x dp does not make 64 ranks: dp 4 for 8"),
        ({"tp": "64", "pp": "1"}, "32 heads do not divide by tp 64"),
        ({"micro_batch": "32"}, "global batch 128 is below dp 8 x micro-batch 32"),
        ({"global_batch_seqs": "4"}, "global batch 4 is below dp 8 x micro-batch 1"),
    ],
)
def test_a_run_that_is_not_taken_says_why(
    reader: Reader, change: dict[str, str], words: str
) -> None:
    assert words in why(reader, **change)


def test_a_run_on_an_accelerator_without_memory_figures_is_not_taken(tmp_path: Path) -> None:
    chip = """accelerators:
  - {id: bare-chip, name: bare, source: {title: "made up", as_of: 2026-01}, bf16_tflops: 100}
"""
    (tmp_path / "bare.yaml").write_text(chip, encoding="utf-8")
    words = "bare-chip has no memory size or bandwidth"
    assert words in why(Reader(load((tmp_path,))), accelerator_id="bare-chip")


NUMBERS = (
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "head_dim",
    "ffn_hidden",
    "vocab",
    "seq_len",
    "params_b",
    "experts",
    "n_accelerators",
    "accelerators_per_node",
    "tp",
    "pp",
    "cp",
    "dp",
    "global_batch_seqs",
    "micro_batch",
    "step_time_s",
    "peak_memory_gib",
)


@pytest.mark.parametrize("column", NUMBERS)
def test_a_word_where_a_number_belongs_is_a_reason_and_no_crash(
    reader: Reader, column: str
) -> None:
    assert "many" in why(reader, **{column: "many"})


@pytest.mark.parametrize(
    "column",
    [
        "layers",
        "hidden",
        "heads",
        "vocab",
        "seq_len",
        "n_accelerators",
        "global_batch_seqs",
        "micro_batch",
        "step_time_s",
    ],
)
def test_an_impossible_number_is_a_reason_and_no_crash(reader: Reader, column: str) -> None:
    for number in ("0", "-1", "nan", "inf", "1e400"):
        assert why(reader, **{column: number}), number


@pytest.mark.parametrize("number", ["0", "nan", "inf"])
def test_a_rate_that_is_none_is_a_reason_and_no_crash(reader: Reader, number: str) -> None:
    assert why(reader, step_time_s="", tokens_per_s_per_accel=number)
    assert why(reader, step_time_s="", tokens_per_s_per_accel="4096", n_accelerators=number)


@pytest.mark.parametrize(
    "change",
    [
        {"ep": "0"},
        {"ep": "-2"},
        {"ep": "1024"},  # of 16 ranks in a stage
        {"pp": "64", "tp": "1"},  # of 56 layers
        {"tp": "-4"},
        {"vpp": "nan"},
        {"precision": "int4"},  # not half precision
    ],
)
def test_an_impossible_layout_or_precision_is_a_reason(
    reader: Reader, change: dict[str, str]
) -> None:
    assert why(reader, MIXTRAL, **change)
