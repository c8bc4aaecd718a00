"""`dcplan calibrate --from-log`: step lines and settings of each format, as the software prints
them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from dcplan.answers.calibrate.answer import calibrate
from dcplan.answers.calibrate.logs import COLUMNS
from dcplan.answers.validation.runs.rows import Reader
from dcplan.answers.validation.runs.words import recipe_id
from dcplan.catalog.loader import load
from dcplan.errors import InputError

ARGUMENTS = {
    "bf16": "True",
    "context_parallel_size": "1",
    "encoder_tensor_model_parallel_size": "0",
    "expert_model_parallel_size": "1",
    "ffn_hidden_size": "14336",
    "fp8": "None",
    "global_batch_size": "256",
    "group_query_attention": "True",
    "hidden_size": "4096",
    "kv_channels": "128",
    "micro_batch_size": "1",
    "moe_router_topk": "2",
    "num_attention_heads": "32",
    "num_experts": "None",
    "num_layers": "32",
    "num_query_groups": "8",
    "padded_vocab_size": "128256",
    "pipeline_model_parallel_size": "2",
    "recompute_granularity": "None",
    "seq_length": "8192",
    "sequence_parallel": "True",
    "tensor_model_parallel_size": "4",
    "use_distributed_optimizer": "True",
    "virtual_pipeline_model_parallel_size": "None",
    "world_size": "64",
}


def _megatron(milliseconds: list[float], batches: list[int] | None = None, **changed: str) -> str:
    """The dump of arguments and the lines of ``training_log`` (Megatron-LM)."""
    lines = [f"  {k} {'.' * (48 - len(k))} {v}" for k, v in (ARGUMENTS | changed).items()]
    for i, ms in enumerate(milliseconds, 1):
        batch = batches[i - 1] if batches else 256
        lines.append(
            f" [2026-11-01 10:00:{i:02d}] iteration {i:8d}/     100 | consumed samples: {i * 256:12d} |"
            f" elapsed time per iteration (ms): {ms:.1f} | throughput per GPU (TFLOP/s/GPU): 400.1 |"
            f" learning rate: 1.000E-04 | global batch size: {batch:5d} | lm loss: 1.0E+01 |"
        )
    return "\n".join(lines)


def _row(folder: Path, text: str, **asked: object) -> tuple[dict[str, str], list[str]]:
    """The row of one log, and the warnings."""
    file = folder / "train.log"
    file.write_text(text, encoding="utf-8")
    found = calibrate(from_log=[file], **asked)
    (row,) = csv.DictReader(io.StringIO(found.rows))
    assert tuple(row) == COLUMNS
    return row, [w["message"] for w in found.result.warnings]


def test_megatron_row(tmp_path: Path) -> None:
    """Of 12 steps the first three are warm-up; of the rest one holds a checkpoint. The median of
    6100.4 .. 6101.1 without the eighth step is 6100.85 ms."""
    times = [
        38000.0,
        6105.0,
        6100.3,
        6100.4,
        6100.5,
        6100.6,
        6100.7,
        21000.0,
        6101.0,
        6101.0,
        6101.1,
        6101.1,
    ]
    row, said = _row(tmp_path, _megatron(times), accelerator="h100-sxm")
    assert float(row["step_time_s"]) == pytest.approx(6.10085)
    expected = {
        "layers": "32",
        "hidden": "4096",
        "ffn_hidden": "14336",
        "heads": "32",
        "kv_heads": "8",
        "head_dim": "128",
        "vocab": "128256",
        "seq_len": "8192",
        "experts": "",
        "vpp": "",
        "experts_per_token": "",
        "n_accelerators": "64",
        "tp": "4",
        "pp": "2",
        "cp": "1",
        "global_batch_seqs": "256",
        "micro_batch": "1",
        "sp": "yes",
        "precision": "bf16",
        "zero_stage_or_fsdp": "ZeRO-1",
        "activation_recompute": "none",
        "id": "train",
        "stack": "megatron-core",
        "accelerator_id": "h100-sxm",
    }
    assert {k: row[k] for k in expected} == expected
    assert said == []
    run = Reader(load()).read(row)
    assert (run.dp, run.micro_batches) == (8.0, 32.0)
    assert run.measured_s == pytest.approx(6.10085)


@pytest.mark.parametrize(
    ("changed", "column", "value"),
    [
        ({"fp8": "hybrid"}, "precision", "fp8"),
        ({"fp8": "e4m3", "fp8_recipe": "mxfp8"}, "precision", "mxfp8"),
        ({"group_query_attention": "False", "num_query_groups": "1"}, "kv_heads", ""),
        ({"num_experts": "64"}, "experts_per_token", "2"),
        ({"recompute_granularity": "selective"}, "activation_recompute", "selective"),
        ({"sequence_parallel": "False"}, "sp", "no"),
        ({"use_distributed_optimizer": "False"}, "zero_stage_or_fsdp", ""),
        ({"virtual_pipeline_model_parallel_size": "5"}, "vpp", "5"),
    ],
)
def test_megatron_settings(
    tmp_path: Path, changed: dict[str, str], column: str, value: str
) -> None:
    row, _ = _row(tmp_path, _megatron([6100.0] * 5, None, **changed))
    assert row[column] == value


def test_only_the_last_batch_size_of_a_ramp_counts(tmp_path: Path) -> None:
    row, _ = _row(tmp_path, _megatron([1000.0] * 8 + [2000.0] * 5, [128] * 8 + [256] * 5))
    assert (row["step_time_s"], row["global_batch_seqs"]) == ("2", "256")


TITAN = "".join(
    f"[rank0]:[titan] 2026-02-13 11:33:12 - root - INFO - {text}\n"
    for text in (
        "Building 2-D device mesh with ['dp_shard', 'tp'], [8, 4]",
        "Building llama3 8B with ModelArgs(dim=4096, n_layers=32, n_heads=32, n_kv_heads=8, "
        "vocab_size=128256, norm_eps=1e-05, max_seq_len=8192)",
        "\x1b[34mModel llama3 8B \x1b[31msize: 8,030,261,248 total parameters\x1b[39m",
        "Applied selective activation checkpointing to the model",
        "Training starts at step 1, with local batch size 2, global batch size 16, "
        "sequence length 8192, total steps 100 (warmup 10)",
    )
)


def test_torchtitan_row(tmp_path: Path) -> None:
    """Its tokens a second are those of one accelerator; a validation line is no step."""
    rates = [900, 5900, 6000, 6010, 6020, 6030, 6040]
    steps = "".join(
        f"[rank0]:[titan] - root - INFO - \x1b[31mstep: {10 * i:2}  \x1b[32mloss:  9.1000  "
        f"\x1b[33mgrad_norm:  1.2000  \x1b[36mmemory: 40.10GiB(50.30%)  \x1b[34mtps: {rate:,}  "
        f"\x1b[36mtflops: 300.00  \x1b[35mmfu: 30.00%\x1b[39m\n"
        for i, rate in enumerate(rates, 1)
    )
    late = "[rank0]: validate step: 70  loss:  8.0000  memory: 60.00GiB(50.30%)  tps: 90,000\n"
    row, said = _row(tmp_path, TITAN + steps + late, accelerator="h100-sxm")
    expected = {
        "tokens_per_s_per_accel": "6025",
        "step_time_s": "",
        "peak_memory_gib": "40.1",
        "layers": "32",
        "hidden": "4096",
        "heads": "32",
        "kv_heads": "8",
        "vocab": "128256",
        "params_b": "8.03026",
        "seq_len": "8192",
        "n_accelerators": "32",
        "tp": "4",
        "pp": "1",
        "global_batch_seqs": "16",
        "micro_batch": "2",
        "activation_recompute": "selective",
        "zero_stage_or_fsdp": "FSDP",
        "precision": "bf16",
        "stack": "torchtitan",
    }
    assert {k: row[k] for k in expected} == expected
    assert said == []
    # 16 sequences of 8192 tokens at 6025 tokens/s on each of 32 accelerators
    assert Reader(load()).read(row).measured_s == pytest.approx(16 * 8192 / (6025 * 32))


TITAN_STEPS = "".join(
    f"[titan] step: {10 * i:2}  loss:  9.1  memory: 40.10GiB(50.30%)  tps: 6,000  mfu: 30.00%\n"
    for i in range(1, 8)
)


@pytest.mark.parametrize(
    ("line", "precision", "recipe"),
    [
        ("Float8 tensorwise scaled training active", "fp8 tensorwise", "fp8"),
        ("Float8 rowwise scaled training active", "fp8 rowwise", "fp8-rowwise"),
        ("Swapped to Float8Linear layers with enable_fsdp_float8_all_gather=True", "fp8", "fp8"),
        ("MXFP8 training active with recipe mxfp8_cublas", "mxfp8", "mxfp8"),
    ],
)
def test_torchtitan_names_precisions_below_16_bits(
    tmp_path: Path, line: str, precision: str, recipe: str
) -> None:
    row, said = _row(tmp_path, f"{TITAN}[titan] {line}\n{TITAN_STEPS}", accelerator="h100-sxm")
    assert row["precision"] == precision
    assert recipe_id(row["precision"]) == recipe
    assert said == []


def test_a_log_without_its_start_does_not_say_the_precision(tmp_path: Path) -> None:
    row, said = _row(tmp_path, TITAN_STEPS, accelerator="h100-sxm", model="llama-3.1-8b")
    assert row["precision"] == ""
    assert any("does not say precision" in text for text in said)


def test_another_model_than_that_of_the_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        _row(tmp_path, TITAN + TITAN_STEPS, model="llama-3.1-70b")
    assert [p.cause for p in refused.value.problems] == [
        "the log has params_b 8.03026, but Llama 3.1 70B has 70.5537",
        "the log has layers 32, but Llama 3.1 70B has 80",
        "the log has hidden 4096, but Llama 3.1 70B has 8192",
        "the log has heads 32, but Llama 3.1 70B has 64",
    ]
    row, _ = _row(tmp_path, TITAN + TITAN_STEPS, model="llama-3.1-8b")
    assert row["ffn_hidden"] == "14336"


def test_maxtext_row(tmp_path: Path) -> None:
    config = {
        "base_emb_dim": 2048,
        "emb_dim": 4096,
        "num_decoder_layers": 32,
        "mlp_dim": 14336,
        "num_query_heads": 32,
        "num_kv_heads": 8,
        "head_dim": 128,
        "vocab_size": 128256,
        "max_target_length": 8192,
        "num_experts": 1,
        "num_experts_per_tok": 1,
        "global_batch_size_to_train_on": 512,
        "ici_tensor_parallelism": 2,
        "dcn_tensor_parallelism": 2,
        "ici_fsdp_parallelism": -1,
        "quantization": "",
        "ici_pipeline_parallelism": 1,
        "dcn_pipeline_parallelism": 1,
        "remat_policy": "full",
    }
    text = "Num_devices: 256, shape (1, 256, 1)\n" + "".join(
        f"I0317 09:59:16.242750 1 pyconfig.py:413] Config param {k}: {v}\n"
        for k, v in config.items()
    )
    text += "".join(
        f"completed step: {i}, seconds: {44.923 if i == 0 else 3.4}, TFLOP/s/device: 105.100, "
        "Tokens/s/device: 4094.100, total_weights: 196608, loss: 12.038\n"
        for i in range(6)
    )
    row, said = _row(tmp_path, text, accelerator="tpu-v5p")
    expected = {
        "step_time_s": "3.4",
        "hidden": "4096",
        "layers": "32",
        "tp": "4",
        "pp": "1",
        "experts": "",
        "n_accelerators": "256",
        "global_batch_seqs": "512",
        "precision": "bf16",
        "activation_recompute": "full",
        "stack": "jax-xla",
    }
    assert {k: row[k] for k in expected} == expected
    assert said == []


@pytest.mark.parametrize(
    "form", ["train_step_timing in s: 1.505 |", "train_step_timing in s=1.505]"]
)
def test_nemo_row_names_what_it_does_not_say(tmp_path: Path, form: str) -> None:
    text = "All distributed processes registered. Starting with 8 processes\n" + "".join(
        f"Training epoch 0, iteration {i}/249 | lr: 1.961e-06 | global_batch_size: 8 | "
        f"global_step: {i} | reduced_train_loss: 1.315 | {form} consumed_samples: 16\n"
        for i in range(6)
    )
    row, said = _row(tmp_path, text, model="llama-3.1-8b", set=["tp=2", "seq_len=4096"])
    expected = {
        "step_time_s": "1.505",
        "n_accelerators": "8",
        "global_batch_seqs": "8",
        "tp": "2",
        "seq_len": "4096",
        "layers": "32",
        "hidden": "4096",
        "vocab": "128256",
    }
    assert {k: row[k] for k in expected} == expected
    assert any("does not say accelerator_id, pp: fill in these columns" in text for text in said)


def test_the_trainer_of_hugging_face_has_a_mean_only(tmp_path: Path) -> None:
    text = (
        "  Instantaneous batch size per device = 4\n"
        "  Total train batch size (w. parallel, distributed & accumulation) = 64\n"
        "{'train_runtime': 1891.9, 'train_samples_per_second': 5.816, "
        "'train_steps_per_second': 0.4, 'train_loss': 0.31, 'epoch': 3.0}\n"
    )
    row, said = _row(tmp_path, text)
    assert (row["step_time_s"], row["global_batch_seqs"], row["micro_batch"]) == ("2.5", "64", "4")
    assert any("only the mean of the whole run" in text for text in said)


@pytest.mark.parametrize(
    ("text", "asked", "cause"),
    [
        ("nothing here\n", {}, "no line is a step line"),
        ("completed step: 1, seconds: 0.000\n", {}, "no line is a step line"),
        ("completed step: 1, seconds: 3.4\n", {"set": ["layer=3"]}, "column=value is needed"),
        ("completed step: 1, seconds: 3.4\n", {"accelerator": "h10"}, "no accelerators row"),
        ("completed step: 1, seconds: 3.4\n", {"model": "llama"}, "no models row"),
        ("completed step: 1, seconds: 3.4\n", {"like": "torchtitan"}, "--like is not for"),
    ],
)
def test_what_cannot_be_read_is_refused(
    tmp_path: Path, text: str, asked: dict[str, object], cause: str
) -> None:
    with pytest.raises(InputError, match=cause):
        _row(tmp_path, text, **asked)


def test_a_missing_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        calibrate(from_log=[tmp_path / "none.log"])
