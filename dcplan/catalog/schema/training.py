"""What the training model reads: accelerator families, software stacks, precision recipes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from dcplan.catalog.schema.base import Row
from dcplan.provenance import Fraction, NonNegative, Positive


class TrainingTerms(BaseModel):
    """Achievable speeds of an accelerator. Of an accelerator's own row, what differs from its
    family.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    half_gemm_frac: Fraction | None = None
    """Of the bf16 (or fp16) peak, on large matrix products."""
    fp8_gemm_frac: Fraction | None = None
    """Of the FP8 peak, on large matrix products."""
    fp4_gemm_frac: Fraction | None = None
    """Of the FP4 peak, on large matrix products."""
    attention_frac: Fraction | None = None
    """Of the 16-bit peak, fused attention forward in the vendor's own kernels, causal work counted
    once."""
    portable_attention_frac: Fraction | None = None
    """The same in kernels not written for this generation."""
    hbm_frac: Fraction | None = None
    """Of the memory bandwidth, in memory-bound kernels."""
    scaleup_frac: Fraction | None = None
    """Of the scale-up bandwidth, in collectives."""
    scaleout_frac: Fraction | None = None
    """Of a NIC's rate, in collectives."""
    scaleup_us: NonNegative | None = None
    """Latency of a collective's step inside a domain."""
    scaleout_us: NonNegative | None = None
    """Latency of a collective's step across domains."""
    kernel_us: NonNegative | None = None
    """Fixed time of a kernel."""
    prologue_depth: NonNegative | None = None
    """Depth k0 of a matrix product whose time is its fill and drain."""
    multiprocessors: Positive | None = None
    """Of one package: products are cut into waves of tiles over them."""
    host_gb_per_s: Positive | None = None
    """To host memory, for offloading."""
    ranks: Positive | None = None
    """Ranks of a layout for one accelerator: 2 where frameworks count cores (Trainium 1)."""
    scaleout_gb_per_s: Positive | None = None
    """Scale-out of one accelerator where its systems state none. [GB/s]"""
    grouped_rows: Positive | None = None
    """Rows m0 by which grouped products (experts) are short of full speed."""


class Family(Row):
    """An architecture generation: defaults for its accelerators, and how far its predictions were
    off.
    """

    terms: TrainingTerms
    """The defaults."""
    in_network_reduction: bool = False
    """Whether the switches of its scale-up domain add up (NVLink SHARP)."""
    measured: bool
    """False: carried over from relatives, no training run behind it."""
    spread_frac: Fraction
    """Half width of the 80 % interval with software that has no residuals on it."""


class Stack(Row):
    """A training software stack and its habits; times and shares are fitted to measured runs where
    it has some.
    """

    since: str | None = None
    """First release that the habits are of."""
    host_ms: NonNegative | None = None
    """Host time to launch one transformer layer forward and backward. [ms]"""
    moe_host_ms: NonNegative | None = None
    """The same, added by a mixture-of-experts layer. [ms]"""
    graph_frac: Fraction | None = None
    """Share of the host time that CUDA graphs with static shapes leave."""
    fused_moe_frac: Fraction | None = None
    """Share of a mixture-of-experts block's memory traffic that fused dispatch kernels leave."""
    fused_families: tuple[str, ...] = ()
    """Accelerator families on which the current release has those graphs and kernels."""
    elementwise: Positive | None = None
    """Tensor passes of small kernels over the ideal number."""
    attention: Literal["native", "portable", "unfused"] = "native"
    """Whose fused kernels it calls."""
    tp_overlap_frac: Fraction | None = None
    """Share of tensor-parallel traffic behind compute."""
    dp_overlap_frac: Fraction | None = None
    """Share of compute that may hide data-parallel traffic."""
    pp_overlap_frac: Fraction | None = None
    """Share of pipeline sends behind compute."""
    ep_overlap_frac: Fraction | None = None
    """Share of expert traffic behind compute."""
    contention_frac: NonNegative | None = None
    """Slow-down of compute by traffic behind it."""
    straggler_frac: Fraction | None = None
    """Spread of step times among nodes."""
    collective_us: NonNegative | None = None
    """Host time of launching a collective."""
    sequence_parallel: bool = True
    """Whether tensor parallel comes with sequence parallel where nothing is said."""
    zero: int = Field(default=1, ge=0, le=3)
    """How it shards where nothing is said: 0 nothing, 1 optimizer, 2 gradients, 3 parameters."""
    recompute: tuple[Literal["none", "selective", "full"], ...] = ("none", "selective", "full")
    """Modes it has, lightest first."""
    selective_gemm_frac: Fraction | None = None
    """Share of matrix products computed again under selective recompute."""
    selective_attention_frac: Fraction | None = None
    """Share of attention computed again under selective recompute."""
    context_frac: Fraction | None = None
    """Speed of attention under context parallel over that without."""
    grad_bytes: Positive | None = None
    """Bytes of a gradient at rest."""
    low_weight_bytes: Positive | None = None
    """Bytes of a parameter at rest under an 8- or 4-bit recipe: 2 where the low copy is the
    primary one."""
    low_gather: bool = False
    """8-bit parameters travel as 8 bit."""
    lean_grad_bytes: Positive | None = None
    """The same in the lean form."""
    lean_optimizer_bytes: Positive | None = None
    """What it falls back to before full recompute: 16-bit gradients, split master weights."""
    offloads: bool = False
    """Whether it moves activations to host memory before it recomputes."""
    local_batch: bool = False
    """A given micro-batch is the whole batch of a rank; the pipeline cuts it again (torchtitan)."""
    device_batch: bool = False
    """A step takes the whole batch at once, no accumulation (JAX)."""
    expert_parallel: int | None = Field(default=None, ge=1)
    """Expert parallel where nothing is said."""
    spreads: dict[str, Fraction] = Field(default_factory=dict)
    """Half width of the 80 % interval from leave-one-source-out residuals, by accelerator family
    (``hopper``), and for mixtures of experts (``hopper-moe``); a pair that is not here has no
    measured run."""


class Recipe(Row):
    """A precision recipe by tensor class."""

    gemm: Literal["tf32", "half", "fp8", "fp4"]
    """Peak that its matrix products run at."""
    operand_bytes: Positive
    """Of an operand of a matrix product."""
    cast_bytes: NonNegative
    """HBM traffic of quantizing one value of a linear layer's input, with its transpose and
    scales."""
    gather_bytes: Positive
    """Of a parameter on the wire."""
    weight_bytes: Positive
    """Of a parameter in memory."""
    optimizer_bytes: Positive
    """Optimizer state of a parameter."""
    stored_bytes: Positive
    """Of an activation kept for the backward pass."""
    families: tuple[str, ...] = ()
    """Accelerator families that have it in hardware; none named: all that have the peak."""
