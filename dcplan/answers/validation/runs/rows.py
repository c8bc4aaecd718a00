"""Rows of a table of measured runs: each becomes a setup of the model, or has a reason why not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcplan.answers.validation.runs.settings import (
    experts_of,
    published_recompute,
    published_settings,
    shares_again,
)
from dcplan.answers.validation.runs.shapes import Shapes, number
from dcplan.answers.validation.runs.words import (
    Recompute,
    attention_origin,
    chunks,
    link_gb_per_s,
    measured_step_s,
    recipe_id,
    recompute,
    sequence_parallel,
    sharding,
)
from dcplan.catalog.loader import Catalog
from dcplan.catalog.releases import stack_of_software
from dcplan.catalog.schema import Accelerator, Recipe, Stack
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.devices import device_terms, recipe_terms
from dcplan.inputs.training.peaks import peak_gap
from dcplan.inputs.training.speed import maturity_of, slowed_device, software_age_quarters
from dcplan.inputs.training.stacks import stack_terms, with_experts
from dcplan.llm.architecture import Architecture
from dcplan.llm.device_terms import DeviceTerms, RecipeTerms, StackTerms
from dcplan.training.recompute import Recomputed

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


class Unsupported(Exception):  # noqa: N818
    """A run that the model does not support, with the reason."""


@dataclass(frozen=True)
class Run:
    """One run, ready for the tables of the training room; all counts are numbers of ranks."""

    id: str
    shape: Architecture
    accelerator: Accelerator
    stack_id: str
    age_quarters: float | None
    """Age of its release on the accelerator; None without dates. [quarters]"""
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
    again: Recomputed | None
    """Shares computed again by the modules of a published recipe; None uses the mode."""
    offload: float
    """Share of the activations in host memory, where the run says it."""
    seq_len: float
    trainable: float
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
        measured = measured_step_s(row)
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
        published = published_settings(row, stack_row, accelerator)
        stack = stack_terms(stack_row, accelerator.family, InputLog(self.catalog))
        path = experts_of(row, published)
        if path is not None and path.dispatcher in stack_row.dispatchers:
            stack = with_experts(stack, stack_row, path)
        stack = replace(stack, attention=attention_origin(row, stack.attention))
        device = self._device(row, accelerator)
        age = software_age_quarters(accelerator, stack_row)
        if age is not None:
            device = slowed_device(device, maturity_of(age, InputLog(self.catalog)))
        shape = self.shapes.of(row)
        said = published_recompute(recompute(row), published)
        return _run(
            row, shape, accelerator, stack_row, device, stack, recipe, said, measured or 0.0
        )

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
    said: Recompute,
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
    zero, shard = sharding(row, stack, dp * cp)
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
        age_quarters=software_age_quarters(accelerator, stack_row),
        releases=stack_row.past_releases,
        device=device,
        stack=stack,
        recipe=recipe,
        tp=tp,
        pp=pp,
        vpp=chunks(row) if pp > 1 else 1.0,
        dp=dp,
        cp=cp,
        ep=ep,
        micro_batch=micro,
        micro_batches=batch / (dp * micro),
        recompute=said.mode,
        zero=zero,
        shard=shard,
        again=shares_again(said, shape, pp),
        offload=said.offload,
        seq_len=number(row, "seq_len"),
        trainable=0.0 if "LORA" in row.get("model", "").upper() else 1.0,
        sequence_parallel=sequence_parallel(row, stack),
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
