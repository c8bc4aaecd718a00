"""Settings of a run that its software's releases and published recipes give."""

from __future__ import annotations

import pytest

import dcplan
from dcplan.answers.validation.runs.rows import Reader
from dcplan.answers.validation.runs.words import recompute
from dcplan.catalog.loader import load
from dcplan.catalog.releases import find_stack, stack_of_software
from dcplan.catalog.schema import Stack
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.published_recipes import RecipeKey, recipe_of_run
from dcplan.inputs.training.speed import software_age_quarters
from dcplan.inputs.training.stacks import stack_terms

QWEN = {
    "id": "qwen",
    "model": "Qwen3_30B_a3B",
    "layers": "48",
    "hidden": "2048",
    "heads": "32",
    "kv_heads": "4",
    "head_dim": "128",
    "vocab": "151936",
    "seq_len": "4096",
    "experts": "128",
    "experts_per_token": "8",
    "expert_ffn": "768",
    "accelerator_id": "gb200",
    "stack": "megatron-core",
    "n_accelerators": "8",
    "tp": "1",
    "pp": "1",
    "ep": "8",
    "global_batch_seqs": "512",
    "micro_batch": "4",
    "precision": "mxfp8",
    "step_time_s": "8",
}


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(load())


@pytest.mark.parametrize(
    ("software", "dispatcher", "graphs"),
    [
        # the preset of Qwen3 30B on GB200 in mxfp8 of NVIDIA-NeMo/Megatron-Bridge, by tag:
        # v0.2.0 and v0.3.0 capture routing, v0.5.0 the whole iteration
        ("Megatron-Bridge, NeMo 25.11 container", "hybridep", "partial"),
        ("Megatron-Bridge, NeMo 26.02 container", "hybridep", "partial"),
        ("Megatron-Bridge, NeMo 26.06 container", "hybridep", "full"),
        ("Megatron-Bridge, NeMo 27.01 container", "hybridep", "full"),
        # words without a version: the stack before its releases
        ("Megatron-LM", "alltoall", "none"),
    ],
)
def test_a_release_gives_the_path_of_experts(
    reader: Reader, software: str, dispatcher: str, graphs: str
) -> None:
    run = reader.read({**QWEN, "software": software})
    assert (run.stack.dispatcher, run.stack.moe_graphs) == (dispatcher, graphs)


def test_token_dropping_needs_no_counts_from_the_device(reader: Reader) -> None:
    software = "Megatron-Bridge, NeMo 25.09 container"
    run = reader.read({**QWEN, "model": "Qwen3_30B_a3B (tokendrop)", "software": software})
    assert (run.stack.dispatcher, run.stack.moe_graphs) == ("alltoall", "partial")


def test_a_recipe_gives_the_modules_that_a_run_does_not_state(reader: Reader) -> None:
    """DeepSeek-V3 on 256 B200 of v0.2.0 computes the up projections of latent attention again.

    They have 1,536 x 128 x 192 + 512 x 128 x (128 + 128) = 54.5 M of the 187.1 M parameters of an
    attention block, 61 of them; a dense MLP has 396.4 M (3 of them), shared expert, router and its
    biases 45.9 M (58 of them): 3.33 G of 15.27 G, 0.218.
    """
    row = {
        **QWEN,
        "model": "DeepSeekV3",
        "layers": "61",
        "hidden": "7168",
        "heads": "128",
        "kv_heads": "128",
        "head_dim": "",
        "vocab": "129280",
        "experts": "256",
        "expert_ffn": "2048",
        "accelerator_id": "b200-sxm",
        "n_accelerators": "256",
        "pp": "16",
        "global_batch_seqs": "2048",
        "micro_batch": "1",
        "software": "Megatron-Bridge, NeMo 25.11 container",
    }
    again = reader.read(row).again
    assert again is not None
    assert again.gemm == pytest.approx(0.218, abs=0.002)
    assert (again.grouped, again.attention) == (0.0, 0.0)
    given = reader.read({**row, "activation_recompute": "none"})
    assert given.again is None
    assert given.recompute == 0.0


def test_the_newest_recipe_up_to_the_release_counts() -> None:
    key = ("megatron-core", "26.05", "Qwen3_30B_a3B", "gb200", "mxfp8", "pretrain")
    found = recipe_of_run(RecipeKey(*key, (1, 1, 1, 1, 8, 4)))
    assert found is not None
    assert found.release <= "26.04.01"
    other = ("megatron-core", "26.05", "a model of no recipe", "gb200", "mxfp8", "pretrain")
    assert recipe_of_run(RecipeKey(*other, (1, 1, 1, 1, 8, 4))) is None


@pytest.mark.parametrize(
    ("text", "mode", "modules", "layers", "offload"),
    [
        ("", -1.0, (), 0.0, 0.0),
        ("none", 0.0, (), 0.0, 0.0),
        ("selective", 1.0, (), 0.0, 0.0),
        ("minimal", 1.0, (), 0.0, 0.0),
        ("custom (remat policy)", 2.0, (), 0.0, 0.0),
        ("selective (mla_up_proj, moe_act)", 1.0, ("mla_up_proj", "moe_act"), 0.0, 0.0),
        ("full, block, 10 layers", 2.0, (), 10.0, 0.0),
        ("activation offload", 0.0, (), 0.0, 1.0),
        ("minimal_offloaded", 1.0, (), 0.0, 1.0),
    ],
)
def test_words_of_recomputation(
    text: str, mode: float, modules: tuple[str, ...], layers: float, offload: float
) -> None:
    said = recompute({"activation_recompute": text})
    assert (said.mode, said.modules, said.layers, said.offload) == (mode, modules, layers, offload)


def test_a_policy_of_maxtext_computes_modules_again() -> None:
    said = recompute({"activation_recompute": "save_qkv_proj"})
    assert "qkv" not in said.modules
    assert {"core_attn", "mlp"} <= set(said.modules)


def test_stacks_are_found_at_a_release_or_a_date() -> None:
    catalog = load()
    newest = find_stack(catalog, "megatron-core")
    assert newest is not None
    assert newest.experts["blackwell"].graphs == "full"
    for name in ("megatron-core@26.02", "megatron-core@2026-02", "megatron@2026-02-20"):
        row = find_stack(catalog, name)
        assert row is not None
        assert row.label == "megatron-core@26.02"
        assert row.experts["blackwell"].graphs == "partial"
    assert find_stack(catalog, "megatron-core@99.9") is None
    assert find_stack(catalog, "no-stack") is None


def test_the_age_of_software_counts_from_the_accelerator() -> None:
    """GB200 came in the first quarter of 2025; release 25.05 is of May, four months later."""
    catalog = load()
    stack = stack_of_software(catalog.get("stacks", "megatron-core", Stack), "NeMo 25.05")
    gb200 = Reader(catalog).read({**QWEN, "software": "NeMo 25.05"}).accelerator
    assert software_age_quarters(gb200, stack) == pytest.approx(4.0 / 3.0)


def test_experts_take_the_path_of_the_family() -> None:
    catalog = load()
    stack = find_stack(catalog, "megatron-core")
    assert stack is not None
    log = InputLog(catalog)
    assert stack_terms(stack, "blackwell", log).moe_graphs == "full"
    assert stack_terms(stack, "ampere", log).dispatcher == "alltoall"


def test_a_stack_of_an_earlier_date_has_its_older_attention() -> None:
    """FlashAttention-2 of 2025 makes long sequences slower than cuDNN's attention of 2026."""
    asked = {"system": "dgx-h100", "accelerators": 8, "tokens": 1e9, "seq_len": 32768}
    layout = "tp=1,pp=1,dp=8,mbs=1,zero=3,recompute=full"
    times = {
        date: dcplan.train(
            "llama-3.1-8b",
            **asked,
            global_batch_tokens=8 * 32768,
            layout=layout,
            stack=f"torchtitan@{date}",
        ).value("train.step_time_s")
        for date in ("2025-06", "2026-10")
    }
    assert times["2025-06"] > 1.1 * times["2026-10"]
    newest = dcplan.train(
        "llama-3.1-8b", **asked, global_batch_tokens=8 * 32768, layout=layout, stack="torchtitan"
    )
    assert newest.value("train.step_time_s") == times["2026-10"]
