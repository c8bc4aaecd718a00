"""Words of the sources of measured runs as settings of the model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dcplan.answers.validation.runs.shapes import number
from dcplan.llm.device_terms import StackTerms
from dcplan.llm.tables import RECOMPUTE
from dcplan.training.recompute import MODULES

Row = Mapping[str, str]
PRECISIONS = (
    ("nvfp4", "fp4"),
    ("fp4", "fp4"),
    ("mxfp8", "mxfp8"),
    ("rowwise", "fp8-rowwise"),
    ("fp8", "fp8"),
    ("bf16", "bf16"),
    ("fp16", "fp16"),
    ("tf32", "tf32"),
    ("int8", "int8"),
    ("fp32", "fp32"),
)
MODES = {
    "no": "none",
    "off": "none",
    "minimal": "selective",
    "minimal_with_context": "selective",
    "minimal_offloaded": "selective",
    "per-op sac": "selective",
    "op": "selective",
    "yes": "full",
    "custom": "full",
}
"""Other names of the recompute modes; ``custom`` is a policy that the source does not print."""
POLICIES = {
    "save_qkv_proj": ("layernorm", "core_attn", "attn_proj", "mlp", "mlp_act"),
    "save_out_proj": ("layernorm", "qkv", "core_attn", "mlp", "mlp_act"),
    "qkv_proj_offloaded": ("layernorm", "core_attn", "attn_proj", "mlp", "mlp_act"),
    "save_dot_except_mlp": ("layernorm", "core_attn", "mlp", "mlp_act"),
    "save_dot_except_mlpwi": ("layernorm", "core_attn", "mlp", "mlp_act"),
    "save_dot_with_context_except_mlp": ("layernorm", "mlp", "mlp_act"),
}
"""Modules that the rematerialization policies of MaxText compute again."""
ATTENTION_WORDS = (
    ("non-flash", "unfused"),
    ("unfused", "unfused"),
    ("cudnn", "native"),
    ("splash", "native"),
    ("fa3", "native"),
    ("fa4", "native"),
    ("transformer engine", "native"),
)
"""Words of the column ``attention_kernel``, and the origin of the kernels they mean."""


@dataclass(frozen=True)
class Recompute:
    """What a run says about recomputation."""

    mode: float
    """Index in ``RECOMPUTE``; negative if the run does not say."""
    modules: tuple[str, ...] = ()
    """Modules that are computed again, in place of those of the mode."""
    layers: float = 0.0
    """Layers of a stage that are computed again in full, in place of all."""
    offload: float = 0.0
    """Share of the activations that moves to host memory."""


def recompute(row: Row) -> Recompute:
    """Return the recompute setting of a run in the words of its source.

    It reads a mode, modules of Megatron-Core, policies of MaxText, a number of layers, and whether
    activations are offloaded.

    Raises
    ------
    ValueError
        When the words have no meaning here; the message lists those that do.
    """
    text = row.get("activation_recompute", "").strip().lower()
    if not text:
        return Recompute(-1.0)
    offload = float("offload" in text)
    names = re.findall(r"[a-z_-]+(?: sac)?", text)
    for name in names:
        if name in POLICIES:
            return Recompute(1.0, POLICIES[name], offload=offload)
    modules = tuple(name for name in names if name in MODULES)
    if modules:
        return Recompute(1.0, modules, offload=offload)
    layers = re.search(r"(\d+) layers", text)
    if layers:
        return Recompute(2.0, layers=float(layers.group(1)), offload=offload)
    for name in names:
        mode = MODES.get(name, name)
        if mode in RECOMPUTE:
            return Recompute(float(RECOMPUTE.index(mode)), offload=offload)
    if offload:
        return Recompute(0.0, offload=offload)
    known = ", ".join((*RECOMPUTE, *MODES, *POLICIES, *MODULES))
    msg = f"activation_recompute {text!r}: one of {known}, or a number of layers"
    raise ValueError(msg)


def measured_step_s(row: Row) -> float | None:
    """Return the measured time of a step, given or from tokens per second [s]."""
    if row.get("step_time_s"):
        return number(row, "step_time_s")
    rate = number(row, "tokens_per_s_per_accel")
    tokens = number(row, "global_batch_seqs") * number(row, "seq_len")
    return (
        tokens / (rate * number(row, "n_accelerators"))
        if rate and tokens and row.get("n_accelerators")
        else None
    )


def recipe_id(precision: str) -> str:
    """Return the recipe for a precision in the words of a source; blank means half precision.

    Raises
    ------
    ValueError
        When no recipe has such a name.
    """
    text = precision.lower()
    if not text:
        return "bf16"
    for word, recipe in PRECISIONS:
        if word in text:
            return recipe
    msg = f"no recipe for precision {precision!r}"
    raise ValueError(msg)


def link_gb_per_s(fabric: str, host: float) -> float | None:
    """Return the scale-out bandwidth [GB/s] of one accelerator that a text states, or None."""
    if found := re.search(r"([\d.]+) ?Gb(?:ps|/s)\s*(?:/| per )\s*node", fabric):
        return float(found.group(1)) / 8.0 / (host or 8.0)
    if found := re.search(r"(\d+)x(\d+)G", fabric):
        return float(found.group(1)) * float(found.group(2)) / 8.0 / (host or 8.0)
    if found := re.search(r"([\d.]+) ?Gb/s per GPU", fabric):
        return float(found.group(1)) / 8.0
    return None


def chunks(row: Row) -> float:
    """Return the chunks of a pipeline stage."""
    text = row.get("vpp", "")
    try:
        float(text or 1.0)
    except ValueError:
        return 2.0 if "interleaved" in text else 1.0
    return max(number(row, "vpp", 1.0), 1.0)


def sequence_parallel(row: Row, stack: StackTerms) -> float:
    """Return 1 if tensor parallelism includes sequence parallelism."""
    text = row.get("sp", "").strip().lower()
    return float(stack.sequence_parallel) if not text else float(text in {"yes", "true", "1", "on"})


def sharding(row: Row, stack: StackTerms, ranks: float) -> tuple[float, float]:
    """Return the ZeRO stage and the number of ranks that share one copy."""
    text = row.get("zero_stage_or_fsdp", "")
    if found := re.search(r"ZeRO-?(\d)", text):
        return float(found.group(1)), ranks
    if "GRAD_OP" in text:
        return 2.0, ranks
    size = re.search(r"FSDP (?:shard group )?(\d+)", text)
    slices = re.search(r"between (\d+) slices", row.get("scaleout_fabric", ""))
    if "FSDP" in text or stack.zero >= 3:
        if slices:
            return 3.0, max(ranks / float(slices.group(1)), 1.0)
        return 3.0, min(float(size.group(1)), ranks) if size else ranks
    return float(stack.zero), ranks


def attention_origin(row: Row, usual: str) -> str:
    """Return the origin of the attention kernels that a run names, or that of its stack."""
    text = row.get("attention_kernel", "").lower()
    return next((origin for word, origin in ATTENTION_WORDS if word in text), usual)
