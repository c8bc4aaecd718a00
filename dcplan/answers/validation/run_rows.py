"""Rows of a table of measured runs: each becomes a setup of the model, or has a reason why not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcplan.answers.validation.run_shapes import Shapes, number
from dcplan.catalog.loader import Catalog
from dcplan.catalog.releases import stack_of_software
from dcplan.catalog.schema import Accelerator, Recipe, Stack
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.devices import device_terms, recipe_terms
from dcplan.inputs.training.peaks import peak_gap
from dcplan.inputs.training.stacks import stack_terms
from dcplan.llm.architecture import Architecture
from dcplan.llm.device_terms import (
    FUSED_DISPATCH,
    STATIC_SHAPES,
    DeviceTerms,
    RecipeTerms,
    StackTerms,
)
from dcplan.llm.tables import RECOMPUTE

Row = Mapping[str, str]
NEEDED = (
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
RECOMPUTE_WORDS = {"minimal": "selective", "custom (remat policy)": "full"}
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


class Unsupported(Exception):  # noqa: N818
    """A run that the model does not support, with the reason."""


@dataclass(frozen=True)
class Run:
    """One run, ready for the tables of the training room; all counts are numbers of ranks."""

    id: str
    shape: Architecture
    accelerator: Accelerator
    stack_id: str
    releases: tuple[str, ...]
    """Releases whose changes the stack has."""
    device: DeviceTerms
    stack: StackTerms
    recipe: RecipeTerms
    tp: float
    pp: float
    vpp: float
    dp: float
    cp: float
    ep: float
    micro_batch: float
    micro_batches: float
    recompute: float
    """Index in ``RECOMPUTE``; negative if the run does not state it."""
    zero: float
    shard: float
    seq_len: float
    trainable: float
    graphs: float
    sequence_parallel: float
    global_batch: float
    measured_s: float
    peak_memory_gib: float
    source: str

    @property
    def moe(self) -> bool:
        """Whether the model routes tokens to experts."""
        return self.shape.moe_layers > 0


class Reader:
    """Reader of rows, with a catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog, self.shapes = catalog, Shapes(catalog)

    def read(self, row: Row) -> Run:
        """Read one run.

        Raises
        ------
        Unsupported
            With the reason: a missing column, an unknown accelerator, stack or precision, an
            impossible layout.
        """
        try:
            return self._read(row)
        except ValueError as error:
            raise Unsupported(str(error)) from error

    def _read(self, row: Row) -> Run:
        measured = _measured(row)
        missing = [c for c in NEEDED if not row.get(c)]
        if measured is None:
            missing.append("step_time_s or tokens_per_s_per_accel")
        if missing or row.get("complete") == "no":
            what = (
                f"missing {', '.join(missing)}"
                if missing
                else "marked complete=no: some values are guesses"
            )
            raise Unsupported(what)
        accelerator = self.catalog.find("accelerators", row.get("accelerator_id", ""), Accelerator)
        if accelerator is None:
            raise Unsupported(f"no accelerator {row.get('accelerator_id', '')!r} in the catalog")
        stack_row = self.catalog.find("stacks", row.get("stack", ""), Stack)
        if stack_row is None:
            fit = "dcplan calibrate --runs FILE --like STACK -o overlay/ fits one to your runs"
            raise Unsupported(f"no stack {row.get('stack', '')!r} in the catalog: {fit}")
        recipe = recipe_terms(
            self.catalog.get("recipes", recipe_id(row.get("precision", "")), Recipe)
        )
        gap = peak_gap(self.catalog, accelerator, recipe.gemm)
        if gap is not None:
            raise Unsupported(gap)
        stack_row = stack_of_software(stack_row, row.get("software", ""))
        stack = stack_terms(stack_row, InputLog(self.catalog))
        stack = replace(stack, attention=_attention(row, stack.attention))
        device = self._device(row, accelerator)
        shape = self.shapes.of(row)
        return _run(row, shape, accelerator, stack_row, device, stack, recipe, measured or 0.0)

    def _device(self, row: Row, accelerator: Accelerator) -> DeviceTerms:
        fabric, host = row.get("scaleout_fabric", ""), number(row, "accelerators_per_node")
        slices = re.search(r"between (\d+) slices", fabric)
        domain = number(row, "n_accelerators") / float(slices.group(1)) if slices else None
        device = device_terms(
            self.catalog,
            accelerator,
            scaleout_gb_per_s=link_gb_per_s(fabric, host),
            node=host or None,
            domain=domain,
        )
        if isinstance(device, str):
            raise Unsupported(device)
        return device


def _run(
    row: Row,
    shape: Architecture,
    accelerator: Accelerator,
    stack_row: Stack,
    device: DeviceTerms,
    stack: StackTerms,
    recipe: RecipeTerms,
    measured: float,
) -> Run:
    tp, pp, cp, dp = _degrees(row, shape, device)
    batch = number(row, "global_batch_seqs")
    micro = number(row, "micro_batch", 1.0)
    if stack.device_batch:
        micro = batch / dp
    elif stack.local_batch and pp > 1:
        micro = max(micro / pp, 1.0)
    if batch < dp * micro:
        raise Unsupported(f"global batch {batch:.0f} is below dp {dp:.0f} x micro-batch {micro:g}")
    zero, shard = _sharding(row, stack, dp * cp)
    ep = number(row, "ep", _usual_experts(shape, stack, int(dp * cp * tp)))
    if shape.moe_layers and (shape.experts % ep or (dp * cp * tp) % ep):
        raise Unsupported(
            f"ep {ep:.0f} does not divide {shape.experts} experts and {dp * cp * tp:.0f} ranks"
        )
    return Run(
        id=row.get("id", ""),
        shape=shape,
        accelerator=accelerator,
        stack_id=stack_row.id,
        releases=stack_row.past_releases,
        device=device,
        stack=stack,
        recipe=recipe,
        tp=tp,
        pp=pp,
        vpp=_chunks(row) if pp > 1 else 1.0,
        dp=dp,
        cp=cp,
        ep=ep,
        micro_batch=micro,
        micro_batches=batch / (dp * micro),
        recompute=_recompute(row),
        zero=zero,
        shard=shard,
        seq_len=number(row, "seq_len"),
        trainable=0.0 if "LORA" in row.get("model", "").upper() else 1.0,
        graphs=float(moe_kernels(row, accelerator.family, stack_row)),
        sequence_parallel=_sequence_parallel(row, stack),
        global_batch=batch,
        measured_s=measured,
        peak_memory_gib=number(row, "peak_memory_gib"),
        source=row.get("config_group", "") or row.get("source_title", ""),
    )


def _degrees(
    row: Row, shape: Architecture, device: DeviceTerms
) -> tuple[float, float, float, float]:
    """Return tensor, pipeline, context and data parallel, whose product fills the ranks."""
    tp, pp, cp = (max(number(row, c, 1.0), 1.0) for c in ("tp", "pp", "cp"))
    ranks = number(row, "n_accelerators") * device.ranks
    dp = ranks / (tp * pp * cp)
    if dp < 1 or dp != int(dp):
        raise Unsupported(f"tp x pp x cp = {tp * pp * cp:.0f} does not divide {ranks:.0f} ranks")
    if number(row, "dp", dp) not in (dp, dp / device.ranks):
        raise Unsupported(
            f"tp x pp x cp x dp does not make {ranks:.0f} ranks: dp {row['dp']} for {dp:.0f}"
        )
    if shape.heads % tp:
        raise Unsupported(f"{shape.heads} heads do not divide by tp {tp:.0f}")
    if pp > shape.layers:
        raise Unsupported(f"pp {pp:.0f} is more than the {shape.layers} layers")
    if number(row, "seq_len") % cp:
        raise Unsupported(
            f"cp {cp:.0f} does not divide the sequence of {number(row, 'seq_len'):.0f} tokens"
        )
    return tp, pp, cp, dp


def _usual_experts(shape: Architecture, stack: StackTerms, ranks: int) -> float:
    """Return the usual expert parallelism: 1, or the largest that the stack supports."""
    most = min(stack.expert_parallel or 1, ranks)
    sizes = [n for n in range(1, most + 1) if shape.experts % n == 0 and ranks % n == 0]
    return float(max(sizes, default=1)) if shape.moe_layers else 1.0


def _measured(row: Row) -> float | None:
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


def _chunks(row: Row) -> float:
    text = row.get("vpp", "")
    try:
        float(text or 1.0)
    except ValueError:
        return 2.0 if "interleaved" in text else 1.0
    return max(number(row, "vpp", 1.0), 1.0)


def _recompute(row: Row) -> float:
    text = row.get("activation_recompute", "").strip().lower()
    if not text:
        return -1.0
    word = RECOMPUTE_WORDS.get(text, text)
    if word not in RECOMPUTE:
        raise Unsupported(
            f"activation_recompute {text!r}: one of {', '.join((*RECOMPUTE, *RECOMPUTE_WORDS))}"
        )
    return float(RECOMPUTE.index(word))


def _sequence_parallel(row: Row, stack: StackTerms) -> float:
    text = row.get("sp", "").strip().lower()
    return float(stack.sequence_parallel) if not text else float(text in {"yes", "true", "1", "on"})


def _sharding(row: Row, stack: StackTerms, ranks: float) -> tuple[float, float]:
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


def _attention(row: Row, usual: str) -> str:
    """Return the origin of the attention kernels that a run names, or that of its stack."""
    text = row.get("attention_kernel", "").lower()
    return next((origin for word, origin in ATTENTION_WORDS if word in text), usual)


def moe_kernels(row: Row, family: str | None, stack: Stack) -> int:
    """Return how much of a mixture-of-experts layer is captured in graphs.

    0 is nothing, 1 is with static shapes, 2 is also with fused dispatch.

    Token dropping makes shapes static; the releases of a stack name the families on which they
    fuse dispatch.
    """
    if family in stack.fused_families:
        return FUSED_DISPATCH
    return STATIC_SHAPES if "tokendrop" in row.get("model", "") else 0
