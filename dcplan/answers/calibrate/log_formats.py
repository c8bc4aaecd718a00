"""Formats of training logs, each declared once: its step lines, and the columns that it states.

The lines are those that the software prints: ``training_log`` and the dump of arguments of
Megatron-LM (``megatron/training/training.py``, ``arguments.py``; Megatron-Bridge and NeMo share
them), ``MetricsProcessor.log`` of torchtitan (``torchtitan/components/metrics.py``), the progress
printer of NeMo (``nemo/lightning/pytorch/callbacks/progress_printer.py``), the metric logger and
``pyconfig.py`` of MaxText, and ``Trainer.log_metrics`` of Hugging Face Transformers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dcplan.units import MILLI

Facts = Mapping[str, str]
"""Names and values that a log states; of repeated names, the last value."""


@dataclass(frozen=True)
class Column:
    """One column of a table of runs, and how a log states it."""

    name: str
    text: Callable[[Facts], str]
    """Its text, from the facts of the log; empty if they do not say."""


@dataclass(frozen=True)
class LogFormat:
    """One kind of training log."""

    id: str
    title: str
    stack: str
    """Stack of the catalog that writes it; empty if several do."""
    step: re.Pattern[str]
    """Step line; its groups are ``step``, and one of ``seconds``, ``ms``, ``tokens`` and ``rate``;
    and, where the line has them, ``batch`` and ``gib``."""
    facts: tuple[re.Pattern[str], ...]
    """Lines with facts; the groups ``name`` and ``value``, or groups that are the names."""
    columns: tuple[Column, ...]
    whole: bool = False
    """Whether its only line is the mean of the whole run, with its start and its evaluations."""

    @property
    def timed(self) -> bool:
        """Whether a step line has a time; otherwise it has a throughput."""
        return "tokens" not in self.step.groupindex

    def value(self, line: re.Match[str]) -> float:
        """Return the time of a step, or its tokens in each second on one accelerator."""
        found = line.groupdict()
        if not self.timed:
            return float(found["tokens"].replace(",", ""))
        if "rate" in found:
            return 1.0 / float(found["rate"]) if float(found["rate"]) else 0.0
        return float(found["ms"]) * MILLI if "ms" in found else float(found["seconds"])


def plain(column: str, *names: str) -> Column:
    """Return the column that is the first of these facts with a value."""

    def text(facts: Facts) -> str:
        return next((v for n in names if (v := known(facts, n))), "")

    return Column(column, text)


def known(facts: Facts, name: str) -> str:
    """Return a fact without its quotes, or an empty text if the log gives none."""
    value = facts.get(name, "").strip("'\"").replace(",", "")
    return "" if value.lower() in {"none", "null", "-1"} else value


def on(facts: Facts, name: str) -> bool:
    """Whether a switch is on."""
    return known(facts, name).lower() == "true"


def product(column: str, *names: str) -> Column:
    """Return the column that is the product of these facts; empty if none of them is known."""

    def text(facts: Facts) -> str:
        values = [v for n in names if n in facts and (v := known(facts, n))]
        unknown = any(n in facts and not known(facts, n) for n in names)
        return "" if unknown or not values else f"{math.prod(map(float, values)):g}"

    return Column(column, text)


def _megatron_precision(facts: Facts) -> str:
    if known(facts, "fp4"):
        return "nvfp4"
    if known(facts, "fp8"):
        return "mxfp8" if known(facts, "fp8_recipe") == "mxfp8" else "fp8"
    return "bf16" if on(facts, "bf16") else "fp16" if on(facts, "fp16") else ""


def _if(switch: str, column: str, name: str) -> Column:
    """Return a column that counts only with a switch or a number that is not None."""
    return Column(
        column, lambda f: known(f, name) if on(f, switch) or known(f, switch).isdigit() else ""
    )


def _shared_experts(facts: Facts) -> str:
    shared = known(facts, "moe_shared_expert_intermediate_size")
    each = known(facts, "moe_ffn_hidden_size")
    return f"{float(shared) / float(each):g}" if shared and each else ""


def _titan_precision(facts: Facts) -> str:
    """Return the precision of the products: at its start, torchtitan names only those below 16 bits."""
    if known(facts, "mx_recipe"):
        return "mxfp8"
    if known(facts, "float8_recipe"):
        return f"fp8 {known(facts, 'float8_recipe')}"
    if known(facts, "float8_layers"):
        return "fp8"
    return "bf16" if "mesh_size" in facts else ""


def _maxtext_precision(facts: Facts) -> str:
    half = "quantization" in facts or known(facts, "dtype") == "bfloat16"
    return known(facts, "quantization") or ("bf16" if half else "")


MEGATRON_COLUMNS = (
    plain("layers", "num_layers"),
    plain("hidden", "hidden_size"),
    plain("ffn_hidden", "ffn_hidden_size"),
    plain("heads", "num_attention_heads"),
    _if("group_query_attention", "kv_heads", "num_query_groups"),
    plain("head_dim", "kv_channels"),
    plain("vocab", "padded_vocab_size", "vocab_size"),
    plain("seq_len", "seq_length"),
    _if("num_experts", "experts", "num_experts"),
    _if("num_experts", "experts_per_token", "moe_router_topk"),
    _if("num_experts", "expert_ffn", "moe_ffn_hidden_size"),
    Column("shared_experts", _shared_experts),
    plain("n_accelerators", "world_size"),
    plain("tp", "tensor_model_parallel_size"),
    plain("pp", "pipeline_model_parallel_size"),
    plain("vpp", "virtual_pipeline_model_parallel_size"),
    plain("cp", "context_parallel_size"),
    plain("ep", "expert_model_parallel_size"),
    plain("dp", "data_parallel_size"),
    plain("global_batch_seqs", "batch", "global_batch_size"),
    plain("micro_batch", "micro_batch_size"),
    Column(
        "sp",
        lambda f: {"true": "yes", "false": "no"}.get(known(f, "sequence_parallel").lower(), ""),
    ),
    Column(
        "zero_stage_or_fsdp",
        lambda f: (
            "FSDP"
            if on(f, "use_torch_fsdp2") or on(f, "use_megatron_fsdp")
            else "ZeRO-1"
            if on(f, "use_distributed_optimizer")
            else ""
        ),
    ),
    Column(
        "activation_recompute",
        lambda f: (
            known(f, "recompute_granularity") or "none" if "recompute_granularity" in f else ""
        ),
    ),
    Column("precision", _megatron_precision),
)
TITAN_COLUMNS = (
    plain("layers", "n_layers"),
    plain("hidden", "dim"),
    plain("heads", "n_heads"),
    plain("kv_heads", "n_kv_heads"),
    plain("vocab", "vocab_size"),
    Column("params_b", lambda f: f"{float(p) / 1e9:.6g}" if (p := known(f, "params")) else ""),
    plain("seq_len", "seq_length"),
    product("n_accelerators", "mesh_size"),
    Column("tp", lambda f: known(f, "mesh_tp") or ("1" if "mesh_size" in f else "")),
    Column("pp", lambda f: known(f, "mesh_pp") or ("1" if "mesh_size" in f else "")),
    plain("cp", "mesh_cp"),
    plain("ep", "mesh_ep"),
    plain("global_batch_seqs", "global_batch_size"),
    plain("micro_batch", "local_batch_size"),
    plain("activation_recompute", "checkpointing"),
    Column("zero_stage_or_fsdp", lambda f: "FSDP" if "mesh_dp_shard" in f else ""),
    Column("precision", _titan_precision),
)
MAXTEXT_COLUMNS = (
    plain("layers", "num_decoder_layers", "base_num_decoder_layers"),
    plain("hidden", "emb_dim", "base_emb_dim"),
    plain("ffn_hidden", "mlp_dim", "base_mlp_dim"),
    plain("heads", "num_query_heads", "base_num_query_heads"),
    plain("kv_heads", "num_kv_heads", "base_num_kv_heads"),
    plain("head_dim", "head_dim"),
    plain("vocab", "vocab_size"),
    plain("seq_len", "max_target_length"),
    Column("experts", lambda f: e if (e := known(f, "num_experts")) not in {"", "1"} else ""),
    Column(
        "experts_per_token",
        lambda f: known(f, "num_experts_per_tok") if known(f, "num_experts") != "1" else "",
    ),
    Column(
        "expert_ffn",
        lambda f: (
            known(f, "moe_mlp_dim") or known(f, "base_moe_mlp_dim")
            if known(f, "num_experts") != "1"
            else ""
        ),
    ),
    plain("n_accelerators", "num_devices"),
    product("tp", "ici_tensor_parallelism", "dcn_tensor_parallelism"),
    product("pp", "ici_pipeline_parallelism", "dcn_pipeline_parallelism"),
    product("cp", "ici_context_parallelism", "dcn_context_parallelism"),
    product("ep", "ici_expert_parallelism", "dcn_expert_parallelism"),
    Column(
        "global_batch_seqs",
        lambda f: (
            known(f, "global_batch_size_to_train_on")
            or product("", "per_device_batch_size", "num_devices").text(f)
        ),
    ),
    Column("zero_stage_or_fsdp", lambda f: "FSDP" if "ici_fsdp_parallelism" in f else ""),
    Column(
        "activation_recompute",
        lambda f: {"full": "full", "minimal": "minimal", "custom": "custom (remat policy)"}.get(
            known(f, "remat_policy"), ""
        ),
    ),
    Column("precision", _maxtext_precision),
)
_ARGUMENT = re.compile(r"(?<![\w.])(?P<name>[a-z]\w+) \.{3,} (?P<value>\S+)")
_FIELD = re.compile(r"(?<![\w.])(?P<name>[a-z]\w+)(?:: |=)(?P<value>[\w.+'-]+)")
FORMATS = (
    LogFormat(
        "megatron",
        "Megatron-LM, Megatron-Bridge",
        "megatron-core",
        re.compile(
            r"iteration\s+(?P<step>\d+)/\s*\d+ \|.*?elapsed time per iteration \(ms\): "
            r"(?P<ms>\d+(?:\.\d+)?) \|(?:.*?global batch size:\s*(?P<batch>\d+))?"
        ),
        (_ARGUMENT,),
        MEGATRON_COLUMNS,
    ),
    LogFormat(
        "nemo",
        "NeMo",
        "megatron-core",
        re.compile(
            r"(?:global_batch_size: (?P<batch>\d+) \| )?global_step[:=] ?(?P<step>\d+)"
            r".*?train_step_timing in s[:=] ?(?P<seconds>\d+(?:\.\d+)?)"
        ),
        (re.compile(r"Starting with (?P<world_size>\d+) processes"), _ARGUMENT, _FIELD),
        MEGATRON_COLUMNS,
    ),
    LogFormat(
        "torchtitan",
        "torchtitan",
        "torchtitan",
        re.compile(
            r"(?<!validate )step:\s*(?P<step>\d+)\s+loss:.*?memory:\s*(?P<gib>\d+(?:\.\d+)?)GiB"
            r".*?tps:\s*(?P<tokens>\d[\d,]*)"
        ),
        (
            re.compile(r"device mesh with \[(?P<mesh_names>[^\]]+)\], \[(?P<mesh_sizes>[\d, ]+)\]"),
            re.compile(r"size: (?P<params>[\d,]+) total parameters"),
            re.compile(r"Float8 (?P<float8_recipe>tensorwise|rowwise)"),
            re.compile(r"(?P<float8_layers>Float8Linear) layers"),
            re.compile(r"(?P<mx_recipe>MXFP8|MX) training active", re.IGNORECASE),
            re.compile(r"Applied (?P<checkpointing>full|selective) activation checkpointing"),
            re.compile(r"local batch size (?P<local_batch_size>\d+)"),
            re.compile(r"global batch size (?P<global_batch_size>\d+)"),
            re.compile(r"sequence length (?P<seq_length>\d+)"),
            _FIELD,
        ),
        TITAN_COLUMNS,
    ),
    LogFormat(
        "maxtext",
        "MaxText",
        "jax-xla",
        re.compile(r"completed step: (?P<step>\d+), seconds: (?P<seconds>\d+(?:\.\d+)?)"),
        (
            re.compile(r"Config param (?P<name>\w+): (?P<value>\S*)"),
            re.compile(r"Num_devices: (?P<num_devices>\d+)"),
        ),
        MAXTEXT_COLUMNS,
    ),
    LogFormat(
        "transformers",
        "Hugging Face Trainer",
        "",
        re.compile(r"(?P<step>)'train_steps_per_second': '?(?P<rate>\d+(?:\.\d+)?)"),
        (
            re.compile(r"Total train batch size \([^)]*\) = (?P<global_batch_size>[\d,]+)"),
            re.compile(r"Instantaneous batch size per device = (?P<micro_batch_size>[\d,]+)"),
        ),
        (plain("global_batch_seqs", "global_batch_size"), plain("micro_batch", "micro_batch_size")),
        whole=True,
    ),
)
"""Formats in the order in which a log is compared with them."""
