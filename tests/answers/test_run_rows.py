"""Rows of measured runs: what a blank means, what the columns are read as, and why a run is not
taken."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dcplan.answers.validation.runs.rows import Reader, Run, Unsupported
from dcplan.answers.validation.runs.tables import predict
from dcplan.answers.validation.runs.words import link_gb_per_s, recipe_id
from dcplan.llm.tables import RECOMPUTE
from tests.training.tiny import COEFFICIENTS

# Llama 2 7B of Meta's report on 64 H100: width 4,096, 32 layers and heads, MLP 11,008, 32,000 words
PLAIN = {
    "id": "plain",
    "layers": "32",
    "hidden": "4096",
    "heads": "32",
    "ffn_hidden": "11008",
    "vocab": "32000",
    "seq_len": "4096",
    "accelerator_id": "h100-sxm",
    "stack": "megatron-core",
    "n_accelerators": "64",
    "tp": "2",
    "pp": "4",
    "global_batch_seqs": "128",
    "step_time_s": "2",
}
# a width, heads and MLP that no catalog model has
OWN = {
    **PLAIN,
    "hidden": "4032",
    "heads": "36",
    "head_dim": "112",
    "ffn_hidden": "12000",
    "tp": "1",
}


def read(reader: Reader, base: dict[str, str] | None = None, /, **change: str) -> Run:
    """One row with some cells changed."""
    return reader.read({**(base or PLAIN), **change})


def why(reader: Reader, base: dict[str, str] | None = None, /, **change: str) -> str:
    """Reason of a row that is not taken."""
    with pytest.raises(Unsupported) as refused:
        read(reader, base, **change)
    return str(refused.value)


def test_counts_and_times_are_those_of_the_row(reader: Reader) -> None:
    run = read(
        reader, micro_batch="2", cp="2", vpp="4", peak_memory_gib="61.5", config_group="mine"
    )
    # 64 ranks / (2 x 4 x 2) = 4 replicas; 128 sequences / (4 x 2) = 16 micro-batches
    assert (run.tp, run.pp, run.cp, run.vpp, run.dp) == (2, 4, 2, 4, 4)
    assert (run.micro_batch, run.micro_batches, run.global_batch) == (2, 16, 128)
    assert (run.measured_s, run.peak_memory_gib, run.seq_len, run.trainable) == (2, 61.5, 4096, 1)
    assert (run.id, run.source, run.stack_id, run.accelerator.id) == (
        "plain",
        "mine",
        "megatron-core",
        "h100-sxm",
    )
    assert not run.moe


def test_a_blank_is_what_is_usual(reader: Reader) -> None:
    run = read(reader)
    assert (run.micro_batch, run.vpp, run.cp, run.ep) == (1, 1, 1, 1)
    assert run.dp == 8  # 64 / (2 x 4)
    assert run.recompute == -1  # the lightest mode that fits memory
    assert (run.zero, run.shard) == (run.stack.zero, 8)
    assert run.sequence_parallel == float(run.stack.sequence_parallel) == 1
    assert (run.device.domain, run.device.node, run.recipe.gemm) == (8, 8, "half")


@pytest.mark.parametrize(
    ("stack", "zero", "parallel"), [("composer-fsdp", 3, 1), ("megatron-2021", 0, 0)]
)
def test_a_blank_sharding_is_the_habit_of_the_stack(
    reader: Reader, stack: str, zero: int, parallel: int
) -> None:
    run = read(reader, stack=stack)
    assert (run.zero, run.sequence_parallel) == (zero, parallel)


def test_an_alias_names_accelerator_and_stack(reader: Reader) -> None:
    run = read(reader, accelerator_id="nvidia_h100_sxm", stack="nemo")
    assert (run.accelerator.id, run.stack_id) == ("h100-sxm", "megatron-core")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("yes", 1), ("True", 1), ("on", 1), ("1", 1), ("no", 0), ("off", 0), ("0", 0)],
)
def test_sequence_parallel_is_as_written(reader: Reader, text: str, expected: int) -> None:
    assert read(reader, sp=text).sequence_parallel == expected


@pytest.mark.parametrize(
    ("text", "zero", "shard"),
    [
        (
            "DDP (distributed optimizer not stated in table)",
            1,
            8,
        ),  # no word on it: the stack's habit
        ("ZeRO-1", 1, 8),
        ("ZeRO-3", 3, 8),
        ("DeepSpeed ZeRO-3 + CPU offload", 3, 8),
        ("FSDP SHARD_GRAD_OP", 2, 8),
        ("FSDP FULL_SHARD", 3, 8),
        ("FSDP 4", 3, 4),
        ("FSDP shard group 4", 3, 4),
        ("FSDP 64", 3, 8),  # no more than there are
    ],
)
def test_sharding_is_read_from_the_words_of_the_source(
    reader: Reader, text: str, zero: int, shard: int
) -> None:
    run = read(reader, zero_stage_or_fsdp=text)
    assert (run.zero, run.shard) == (zero, shard)


def test_slices_are_scale_up_domains_that_replicate_the_shards(reader: Reader) -> None:
    # MaxText on TPU v4: 128 chips in two slices of 64; parameters sharded in a slice, gradients
    # over the network
    row = {
        **PLAIN,
        "accelerator_id": "tpu-v4",
        "stack": "jax-xla",
        "n_accelerators": "128",
        "tp": "1",
        "pp": "1",
    }
    run = read(reader, row, scaleout_fabric="ICI within slice; DCN between 2 slices")
    assert (run.device.domain, run.zero, run.shard) == (64, 3, 64)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 1), ("4", 4), ("interleaved (stages not printed)", 2), ("not printed", 1), ("0", 1)],
)
def test_chunks_of_a_stage_may_be_words(reader: Reader, text: str, expected: float) -> None:
    assert read(reader, vpp=text).vpp == expected


def test_chunks_need_a_pipeline(reader: Reader) -> None:
    assert read(reader, pp="1", vpp="4").vpp == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((name, RECOMPUTE.index(name)) for name in RECOMPUTE),
        ("Full", RECOMPUTE.index("full")),
        ("minimal", RECOMPUTE.index("selective")),  # MaxText's name
        ("custom (remat policy)", RECOMPUTE.index("full")),
        ("", -1),
    ],
)
def test_recompute_words_of_the_frameworks_are_known(
    reader: Reader, text: str, expected: int
) -> None:
    assert read(reader, activation_recompute=text).recompute == expected


def test_torchtitan_counts_the_micro_batch_before_the_pipeline_cuts_it(reader: Reader) -> None:
    # local batch 8 through 4 stages: 2 sequences a micro-batch; 128 / (8 x 2) = 8 of them
    run = read(reader, stack="torchtitan", micro_batch="8")
    assert (run.micro_batch, run.micro_batches) == (2, 8)


def test_jax_runs_the_batch_of_a_device_at_once(reader: Reader) -> None:
    run = read(reader, stack="jax-xla", accelerator_id="tpu-v5p", pp="1", tp="1")
    assert (run.micro_batch, run.micro_batches) == (2, 1)  # 128 sequences on 64 chips


def test_cores_count_as_ranks_on_trainium(reader: Reader) -> None:
    # 16 chips a host, two NeuronCores a chip; the table counts dp of cores
    row = {
        **PLAIN,
        "accelerator_id": "trainium1",
        "stack": "neuronx",
        "n_accelerators": "32",
        "tp": "8",
        "pp": "4",
    }
    run = read(reader, row, accelerators_per_node="16")
    assert (run.device.ranks, run.dp) == (2, 2)


def test_lora_trains_no_base_weights(reader: Reader) -> None:
    assert read(reader, model="Llama 2 7B (LoRA)").trainable == 0


@pytest.mark.parametrize(
    ("precision", "recipe"),
    [
        ("", "bf16"),
        ("bf16 (amp)", "bf16"),
        ("fp16", "fp16"),  # the same bytes and speed
        ("tf32", "tf32"),
        ("fp8", "fp8"),
        ("FP8 (current scaling)", "fp8"),
        ("fp8 rowwise", "fp8-rowwise"),
        ("mxfp8", "mxfp8"),
        ("nvfp4", "fp4"),
        ("mxfp4", "fp4"),
    ],
)
def test_precision_is_read_as_sources_write_it(precision: str, recipe: str) -> None:
    assert recipe_id(precision) == recipe


@pytest.mark.parametrize(
    ("fabric", "host", "expected"),
    [
        ("RoCE 1600 Gbps/node", 8, 25),  # 1600 / 8 bit / 8 accelerators
        ("RoCE 1600 Gbps/node", 4, 50),
        ("800 Gb/s per node (repo validation config inter_node_bandwidth)", 8, 12.5),
        ("100 Gb/s per node", 4, 3.125),
        ("HDR IB, 8x200G HCA per 8-GPU node (Selene)", 8, 25),
        ("8x200G", 0, 25),  # no host size: 8
        ("RDMA 400 Gb/s per GPU", 8, 50),
        ("EFA 340 Gb/s measured", 8, None),
        ("ICI", 4, None),
        ("single node", 8, None),
        ("", 0, None),
    ],
)
def test_the_fabric_column_gives_the_bandwidth_of_an_accelerator(
    fabric: str, host: float, expected: float | None
) -> None:
    assert link_gb_per_s(fabric, host) == expected


def test_the_fabric_column_is_what_the_device_gets(reader: Reader) -> None:
    assert read(
        reader, scaleout_fabric="100 Gb/s per node"
    ).device.scaleout_gb_per_s == pytest.approx(1.5625)
    small = read(reader, accelerators_per_node="4").device  # a half-filled host is a smaller domain
    assert (small.domain, small.node) == (4, 4)


def test_tokens_per_second_give_the_time_of_a_step(reader: Reader) -> None:
    # 128 sequences x 4,096 tokens / (4,096 tokens/s x 64) = 2 s
    run = read(reader, step_time_s="", tokens_per_s_per_accel="4096")
    assert run.measured_s == pytest.approx(2.0, rel=1e-12)
    assert read(reader, tokens_per_s_per_accel="1").measured_s == 2  # a stated time goes first


def test_a_named_model_gives_what_the_columns_leave_out(reader: Reader) -> None:
    row = {
        **PLAIN,
        "layers": "61",
        "hidden": "7168",
        "heads": "128",
        "vocab": "129280",
        "experts": "256",
    }
    row |= {"experts_per_token": "8", "ffn_hidden": "18432", "head_dim": "56"}  # DeepSeek-V3
    latent = read(reader, row).shape
    assert (latent.kv_rank, latent.query_rank, latent.rope_dim) == (512, 1536, 64)
    assert (latent.moe_layers, latent.dense_layers) == (58, 3)
    row = {
        **PLAIN,
        "layers": "118",
        "hidden": "8192",
        "heads": "64",
        "kv_heads": "8",
        "ffn_hidden": "32768",
    }
    hybrid = read(reader, row, vocab="131072").shape  # Nemotron-H 56B
    assert (hybrid.mamba_layers, hybrid.attention_layers, hybrid.dense_layers) == (54, 10, 54)


def test_a_named_model_takes_the_layers_and_the_words_of_the_run(reader: Reader) -> None:
    shape = read(reader, layers="8", vocab="50304").shape  # Llama 2 7B, cut to 8 layers
    assert (shape.layers, shape.attention_layers, shape.vocab, shape.gated) == (8, 8, 50304, True)


def test_a_multi_token_layer_is_counted_where_the_source_says_so(reader: Reader) -> None:
    assert read(reader).shape.mtp_layers == 0
    assert (
        read(reader, flops_definition="model-FLOPs (causal attn, 1 MTP layer)").shape.mtp_layers
        == 1
    )
    assert read(reader, model="DeepSeek-V3 (w/ MTP)").shape.mtp_layers == 1


def test_stated_parameters_say_whether_an_unknown_mlp_is_gated(reader: Reader) -> None:
    # per layer 4 x 4032^2 of attention and 2 or 3 x 4032 x 12000 of MLP, 32 layers; 129 M an
    # embedding
    layer, mlp, words = 4 * 4032**2, 4032 * 12000, 32000 * 4032
    for matrices, copies in ((2, 1), (2, 2), (3, 1), (3, 2)):
        stated = 32 * (layer + matrices * mlp) + copies * words
        shape = read(reader, OWN, params_b=f"{stated / 1e9:.6f}").shape
        assert (shape.gated, shape.tied) == (matrices == 3, copies == 1)
        assert shape.params == pytest.approx(stated, rel=1e-3)


def test_without_parameters_a_classic_mlp_of_four_widths_is_not_gated(reader: Reader) -> None:
    assert not read(reader, OWN, ffn_hidden="16128").shape.gated
    assert not read(reader, OWN, ffn_hidden="").shape.gated
    assert read(reader, OWN).shape.gated  # three widths


def test_an_unknown_mixture_of_experts_is_built_from_its_columns(reader: Reader) -> None:
    sparse = {
        **OWN,
        "experts": "12",
        "experts_per_token": "3",
        "expert_ffn": "1000",
        "shared_experts": "2",
    }
    run = read(reader, sparse, params_b="20")
    shape = run.shape
    assert (shape.moe_layers, shape.experts, shape.experts_per_token) == (32, 12, 3)
    assert (shape.expert_ffn, shape.shared_ffn) == (1000, 2000)
    assert run.moe


MIXTRAL = {
    **PLAIN,
    "hidden": "6144",
    "heads": "48",
    "kv_heads": "8",
    "layers": "56",
    "vocab": "32768",
    "experts": "8",
    "experts_per_token": "2",
    "ffn_hidden": "16384",
}


def test_experts_are_spread_as_written_or_as_the_stack_does(reader: Reader) -> None:
    assert read(reader, MIXTRAL, ep="8").ep == 8
    assert read(reader, MIXTRAL).ep == 1
    # AutoModel spreads experts over up to 64 ranks: here over as many as there are experts
    assert read(reader, MIXTRAL, stack="automodel-fsdp").ep == 8


def test_the_packaged_table_is_read_the_same_row_by_row_and_together(
    reader: Reader, repo: Path
) -> None:
    with (repo / "catalogs" / "runs" / "training_runs.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        table = [row for row in csv.DictReader(file) if row["complete"] == "yes"]
    runs = [reader.read(row) for row in table[::25]]
    together = predict(runs, COEFFICIENTS)
    for i, run in enumerate(runs):
        alone = predict([run], COEFFICIENTS)
        assert alone.step.time_s[0] == pytest.approx(together.step.time_s[i], rel=1e-12)
        assert alone.memory.total[0] == pytest.approx(together.memory.total[i], rel=1e-12)


def test_a_blank_recompute_is_the_lightest_mode_that_fits(reader: Reader) -> None:
    roomy, tight = (
        read(reader),
        read(reader, seq_len="65536", n_accelerators="8", micro_batch="4", pp="1"),
    )
    modes = predict([roomy, tight], COEFFICIENTS).setup.layout.recompute
    assert RECOMPUTE[int(modes[0])] == "none"
    assert RECOMPUTE[int(modes[1])] == "full"
    given = read(reader, activation_recompute="full")
    assert RECOMPUTE[int(predict([given], COEFFICIENTS).setup.layout.recompute[0])] == "full"


def test_parts_of_every_step_sum_to_it(reader: Reader) -> None:
    runs = [
        read(reader),
        read(reader, OWN),
        read(reader, stack="torchtitan", activation_recompute="full"),
    ]
    done = predict(runs, COEFFICIENTS).step
    assert sum(done.parts_s.values()) == pytest.approx(done.time_s, rel=1e-12)


def test_an_unknown_recompute_mode_is_refused_and_not_read_as_blank(reader: Reader) -> None:
    assert "some words" in why(reader, MIXTRAL, activation_recompute="some words")
