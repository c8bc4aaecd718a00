"""Inputs of the training model: accelerator families, software stacks, precision recipes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field

from dcplan.catalog.schema.base import Row, Source, Strict
from dcplan.catalog.schema.ranges import Fraction, NonNegative, Positive


class TrainingTerms(Strict):
    """Achievable speeds of an accelerator family; an accelerator's own row holds its differences."""

    half_gemm_frac: Fraction | None = None
    """Fraction of the bf16 (or fp16) peak on large matrix products."""
    fp8_gemm_frac: Fraction | None = None
    """Fraction of the FP8 peak on large matrix products."""
    fp4_gemm_frac: Fraction | None = None
    """Fraction of the FP4 peak on large matrix products."""
    attention_frac: Fraction | None = None
    """Fraction of the 16-bit peak in fused attention, forward, with the vendor's own kernels; causal
    work counts once."""
    portable_attention_frac: Fraction | None = None
    """Same fraction for kernels not written for this generation."""
    hbm_frac: Fraction | None = None
    """Fraction of the memory bandwidth in memory-bound kernels."""
    scaleup_frac: Fraction | None = None
    """Fraction of the scale-up bandwidth in collectives."""
    scaleout_frac: Fraction | None = None
    """Fraction of a NIC's rate in collectives."""
    scaleup_us: NonNegative | None = None
    """Latency of one collective step inside a scale-up domain."""
    scaleout_us: NonNegative | None = None
    """Latency of one collective step across scale-up domains."""
    kernel_us: NonNegative | None = None
    """Fixed time of a kernel."""
    prologue_depth: NonNegative | None = None
    """Depth k0 of a matrix product that takes as long as its fill and drain."""
    multiprocessors: Positive | None = None
    """Multiprocessors of one package, over which products run in waves of tiles."""
    host_gb_per_s: Positive | None = None
    """Bandwidth to host memory, for offloading."""
    ranks: Positive | None = None
    """Ranks per accelerator: 2 if frameworks count cores (Trainium 1)."""
    scaleout_gb_per_s: Positive | None = None
    """Scale-out rate of one accelerator if its systems do not define it. [GB/s]"""
    grouped_rows: Positive | None = None
    """Rows m0 that reduce the speed of grouped products (experts)."""


class Family(Row):
    """An architecture generation: defaults for its accelerators, and the error of its predictions."""

    terms: TrainingTerms
    """Default training terms."""
    reference: str | None = None
    """Accelerator whose power per 16-bit peak gives these fractions; parts with less power run at
    lower clocks, parts with more at higher ones. Default: the fractions hold for all."""
    in_network_reduction: bool = False
    """Whether the switches of its scale-up domain reduce in the network (NVLink SHARP)."""
    measured: bool
    """False: the values come from related families, not from a training run."""
    spread_frac: Fraction
    """Half width of the 80 % interval for software without measured residuals."""


class Dispatcher(Strict):
    """How a stack moves tokens to their experts and back."""

    host_ms: NonNegative
    """Host time of one mixture-of-experts block, in addition to its operators. [ms]"""
    passes_frac: Fraction
    """Share of the memory traffic of permutation and expert activation that remains."""
    rate_frac: Fraction
    """Share of the rate of other collectives that its all-to-all reaches."""
    combined: bool = False
    """Whether a token travels once to each other domain, and not once to each expert."""


class ExpertPath(Strict):
    """The settings with which a stack runs mixtures of experts."""

    dispatcher: str
    """Name of a dispatcher of the stack."""
    graphs: Literal["none", "partial", "full"] = "none"
    """What is captured in graphs: nothing, routing and parts of a layer, or the whole step."""
    overlap: bool = False
    """Whether the schedule hides the all-to-all of one micro-batch behind another."""


class Release(Strict):
    """A release of a stack, with the values that change from it on."""

    version: str
    """Version, as its publisher writes it: numbers with dots."""
    date: str
    """Month of the release, as 2026-02."""
    source: Source | None = None
    """Source of the changes. Default: the source of the stack."""
    note: str | None = None
    """What changed."""
    launch_us: NonNegative | None = None
    """Host time to launch one operator. [us]"""
    experts: dict[str, ExpertPath] | None = None
    """Usual settings of mixtures of experts by accelerator family, from this release on."""
    elementwise: Positive | None = None
    """Tensor passes of small kernels divided by the ideal number."""
    cast_factor: Positive | None = None
    """Memory traffic of casts relative to casts fused with their producer."""
    attention: Literal["native", "portable", "unfused"] | None = None
    """Origin of its fused attention kernels."""
    tp_overlap_frac: Fraction | None = None
    """Share of tensor-parallel traffic hidden behind compute."""
    dp_overlap_frac: Fraction | None = None
    """Share of compute that can hide data-parallel traffic."""
    ep_overlap_frac: Fraction | None = None
    """Share of expert traffic hidden behind compute."""
    contention_frac: NonNegative | None = None
    """Slowdown of compute by overlapping traffic."""
    collective_us: NonNegative | None = None
    """Host time to launch a collective."""
    spreads: dict[str, Fraction] | None = None
    """Half width of the 80 % interval by accelerator family."""


class Stack(Row):
    """A training software stack; times and shares are fitted to measured runs if there are any."""

    runs_on: tuple[str, ...] = ()
    """Accelerator families on which it runs; ``generic`` is an accelerator without a family.
    Default: all."""
    runs_on_source: Source | None = None
    """Source of the families."""
    runs_on_note: str | None = None
    """Note on the families, such as ports by other makers."""
    since: str | None = None
    """First release with these values."""
    releases: tuple[Release, ...] = ()
    """Later releases, oldest first; each holds the values that it changes."""
    version_after: str | None = None
    """Word before the version in texts about a run, such as NeMo."""
    release: str | None = None
    """Version whose values the row has; empty in a catalog, where releases hold the changes."""
    launch_us: NonNegative | None = None
    """Host time to launch one operator, with the small kernels that the software does not fuse
    into it. [us]"""
    dispatchers: dict[str, Dispatcher] = Field(default_factory=dict)
    """Its ways to move tokens to experts, by name."""
    experts: dict[str, ExpertPath] = Field(default_factory=dict)
    """Its usual settings of mixtures of experts by accelerator family; ``default`` is any other."""
    partial_graph_frac: Fraction | None = None
    """Share of the host time of an expert block that remains where parts are captured in graphs."""
    full_graph_frac: Fraction | None = None
    """Share of all host time that remains where the whole step is one graph."""
    full_passes_frac: Fraction | None = None
    """Share of the memory passes of experts that remains with the fused kernels of such a step."""
    scheduled_overlap_frac: Fraction | None = None
    """Share of expert traffic hidden where the schedule overlaps micro-batches."""
    scheduled_host_factor: Positive | None = None
    """Host time of an expert block under such a schedule, relative to one without."""
    elementwise: Positive | None = None
    """Tensor passes of small kernels divided by the ideal number."""
    cast_factor: Positive | None = None
    """Memory traffic of the casts to 8 or 4 bit, relative to casts fused with their producer."""
    weight_cast_bytes: NonNegative | None = None
    """Memory traffic per parameter and pass where weights are stored in 32 bit and cast for each
    use (autocast). [byte]"""
    attention: Literal["native", "portable", "unfused"] = "native"
    """Origin of its fused attention kernels."""
    tp_overlap_frac: Fraction | None = None
    """Share of tensor-parallel traffic hidden behind compute."""
    dp_overlap_frac: Fraction | None = None
    """Share of compute that can hide data-parallel traffic."""
    pp_overlap_frac: Fraction | None = None
    """Share of pipeline sends hidden behind compute."""
    ep_overlap_frac: Fraction | None = None
    """Share of expert traffic hidden behind compute."""
    contention_frac: NonNegative | None = None
    """Slowdown of compute by overlapping traffic."""
    straggler_frac: Fraction | None = None
    """Spread of step times between nodes."""
    collective_us: NonNegative | None = None
    """Host time to launch a collective."""
    sequence_parallel: bool = True
    """Whether tensor parallelism includes sequence parallelism by default."""
    zero: int = Field(default=1, ge=0, le=3)
    """Default sharding (ZeRO stage): 0 none, 1 optimizer, 2 gradients, 3 parameters."""
    recompute: tuple[Literal["none", "selective", "full"], ...] = ("none", "selective", "full")
    """Recompute modes, lightest first."""
    selective_gemm_frac: Fraction | None = None
    """Share of matrix products that selective recompute repeats."""
    selective_attention_frac: Fraction | None = None
    """Share of attention that selective recompute repeats."""
    context_frac: Fraction | None = None
    """Speed of attention with context parallelism, relative to the speed without."""
    grad_bytes: Positive | None = None
    """Bytes of a stored gradient."""
    low_weight_bytes: Positive | None = None
    """Bytes of a stored parameter under an 8-bit or 4-bit recipe: 2 if the low-precision copy is the
    primary copy."""
    low_gather: bool = False
    """Whether 8-bit parameters are communicated in 8 bit."""
    half_logits: bool = False
    """Whether the loss works on the 16-bit logits alone, whose gradient takes their place; false:
    it also keeps a 32-bit copy."""
    expands_kv: bool = False
    """Whether grouped keys and values are copied to all query heads before attention, which keeps
    the copies."""
    recomputes_casts: bool = False
    """Whether the backward pass repeats the casts to 8 or 4 bit instead of keeping their
    results."""
    lean_grad_bytes: Positive | None = None
    """Bytes of a stored gradient in the lean form."""
    lean_optimizer_bytes: Positive | None = None
    """Lean form used before full recompute: 16-bit gradients, split master weights."""
    offloads: bool = False
    """Whether it offloads activations to host memory before it recomputes."""
    local_batch: bool = False
    """Whether a micro-batch is the full batch of a rank, which the pipeline divides
    (torchtitan)."""
    device_batch: bool = False
    """Whether a step processes the full batch without gradient accumulation (JAX)."""
    expert_parallel: int | None = Field(default=None, ge=1)
    """Default expert parallelism."""
    spreads: dict[str, Fraction] = Field(default_factory=dict)
    """Half width of the 80 % interval from leave-one-source-out residuals, by accelerator family
    (``hopper``), and for mixtures of experts (``hopper-moe``); a missing pair has no measured
    run."""

    @property
    def label(self) -> str:
        """Return the name that gives the row: the id, with its release, or its first date if it has
        none of its releases.
        """
        base = self.since if self.releases else None
        version = self.release or base
        return f"{self.id}@{version}" if version else self.id

    @property
    def dated(self) -> str | None:
        """Return the month of the release whose values the row has, else of its first values."""
        dates = {r.version: r.date for r in self.releases}
        return dates[self.release] if self.release else self.since

    @property
    def past_releases(self) -> tuple[str, ...]:
        """Return the versions up to the one whose values the row has, oldest first."""
        versions = [r.version for r in self.releases]
        return tuple(versions[: versions.index(self.release) + 1]) if self.release else ()

    def released(self, releases: Sequence[Release]) -> Self:
        """Return the row with the values of its releases, applied in their order."""
        changes: dict[str, object] = {}
        for release in releases:
            given = {name: getattr(release, name) for name in CHANGED}
            changes |= {name: value for name, value in given.items() if value is not None}
            changes["release"] = release.version
        return self.model_copy(update=changes)


CHANGED = set(Release.model_fields) - {"version", "date", "source", "note"}
"""Fields of a stack that a release may change."""


class Recipe(Row):
    """A precision recipe by tensor class."""

    gemm: Literal["fp32", "tf32", "half", "fp8", "int8", "fp4"]
    """Peak rate that its matrix products use."""
    operand_bytes: Positive
    """Bytes of one operand of a matrix product."""
    cast_bytes: NonNegative
    """HBM traffic to quantize one input value of a linear layer, including its transpose and
    scales."""
    gather_bytes: Positive
    """Bytes of a parameter in communication."""
    weight_bytes: Positive
    """Bytes of a parameter in memory."""
    optimizer_bytes: Positive
    """Optimizer state per parameter."""
    stored_bytes: Positive
    """Bytes of an activation stored for the backward pass."""
    activation_bytes: Positive | None = None
    """Bytes of a value outside the linear layers. Default: 2."""
    families: tuple[str, ...] = ()
    """Accelerator families with hardware support; empty: all families with the peak rate."""
