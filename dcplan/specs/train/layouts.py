"""Metrics and tables of ``train``: ways to run a job, layouts, the step, cluster sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs import columns as common
from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Shown, TableSpec

STEP_TIME = MetricSpec("train.step_time_s", "s", "One optimizer step")
TOKENS_PER_S = MetricSpec(
    "train.tokens_per_s_per_accelerator", "1/s", "Tokens of one accelerator", better=Better.HIGHER
)
TFLOPS = MetricSpec("train.tflops_per_accelerator", "TFLOP/s", "Model FLOP/s of one accelerator")
MFU = MetricSpec(
    "train.mfu_frac",
    "",
    "Model FLOPs utilization: of the dense peak of the precision",
    better=Better.HIGHER,
)
HFU = MetricSpec("train.hfu_frac", "", "Hardware FLOPs utilization, full recompute counted")
MEMORY_GIB = MetricSpec("train.memory_gib", "GiB", "Peak memory of the fullest rank")
ACCELERATORS_USED = MetricSpec(
    "train.accelerators", "", "Accelerators that fill whole replicas; the rest are idle"
)
SYSTEMS = MetricSpec("train.systems", "", "Systems of the answer")
LARGEST_TOKENS = MetricSpec(
    "train.largest_tokens", "", "Tokens of this model that end by the deadline on this cluster"
)
LARGEST_PARAMS_B = MetricSpec(
    "train.largest_params_b",
    "",
    "Billion parameters of a dense model at 20 tokens a parameter, at the same FLOP/s",
)
LARGEST_PARAMS_TOKENS = MetricSpec("train.largest_params_tokens", "", "Its tokens")
SEARCH_LAYOUTS = MetricSpec("train.layouts_searched", "", "Layouts tried")
SEARCH_FEASIBLE = MetricSpec("train.layouts_feasible", "", "Layouts that fit memory")
SEARCH_SECONDS = MetricSpec("train.search_s", "s", "Time of the search")

Tp = Annotated[int, Column("Ranks of a tensor-parallel group")]
Pp = Annotated[int, Column("Pipeline stages")]
Vpp = Annotated[int, Column("Pieces of a pipeline stage that are interleaved (virtual stages)")]
Dp = Annotated[int, Column("Data-parallel replicas")]
Cp = Annotated[int, Column("Ranks of a context-parallel group")]
Ep = Annotated[int, Column("Ranks of an expert-parallel group")]
Etp = Annotated[int, Column("Ranks that share the tensors of one expert")]
Mbs = Annotated[int, Column("Sequences of a micro-batch")]
Recompute = Annotated[
    str, Column("Activations computed again in the backward pass, none, selective or full")
]
Zero = Annotated[
    int, Column("ZeRO stage, what data-parallel ranks share out from nothing to parameters")
]


@dataclass(frozen=True)
class ConfigRow:
    """One way to run a job of a scenario."""

    job: common.Job
    place: Annotated[str, Column("Hall as site/hall, or cloud and the offer")]
    system: common.System
    accelerators: Annotated[int, Column("Accelerators held for the run, spares among them")]
    precision: common.Precision
    days_p50: common.P50Days
    days: Annotated[float, Column("Length of the run at the confidence that the job asks for")]
    mfu_frac: common.MfuFrac
    layout: common.Layout


CONFIGS = TableSpec("job_options", ConfigRow, "Ways to run each job")


@dataclass(frozen=True)
class PhaseRow:
    """One phase of a run."""

    phase: Annotated[int, Column("Number of the phase")]
    tokens: Annotated[float, Column("Training tokens of the phase")]
    seq_len: Annotated[int, Column("Tokens of a sequence")]
    global_batch_tokens: Annotated[float, Column("Tokens of one optimizer step")]
    step_time_s: Annotated[
        float, Column("One optimizer step, exchanges between sites and waiting for data counted in")
    ]
    clean_days: Annotated[float, Column("Days at this step time without stops and other losses")]
    layout: common.Layout


PHASES = TableSpec("phases", PhaseRow, "Phases")


@dataclass(frozen=True)
class LayoutRow:
    """The layout of the answer."""

    tp: Tp
    pp: Pp
    vpp: Vpp
    dp: Dp
    cp: Cp
    ep: Ep
    etp: Etp
    mbs: Mbs
    recompute: Recompute
    zero: Zero
    schedule: Annotated[
        str | None, Column("Pipeline schedule; stands only where it is not the usual one")
    ] = None
    offload: Annotated[
        str | None, Column("What is moved to host memory; stands only where something is")
    ] = None


LAYOUT = TableSpec("layout", LayoutRow, "Layout")


@dataclass(frozen=True)
class SizeRow:
    """One cluster size against the limits that were asked for."""

    accelerators: Annotated[int, Column("Accelerators of whole systems that train")]
    precision: Annotated[str, common.PRECISION]
    days_p50: Annotated[float, common.P50_DAYS]
    days_p80: Annotated[float, Column("Length that the run stays below with 80 % probability")]
    it_mw: Annotated[float, Column("Rated IT power of the systems at the asked power limit")]
    cost_usd: Annotated[float | None, Column("Rent of all accelerators over the median length")]
    meets_target: Annotated[bool, Column("Whether the size keeps to all limits asked for")]


SIZES = TableSpec("cluster_sizes", SizeRow, "Cluster sizes")


@dataclass(frozen=True)
class SmallerClusterRow:
    """The same run on a smaller cluster."""

    accelerators: Annotated[int, Column("Accelerators that train, whole systems")]
    step_time_s: Annotated[
        float, Column("One optimizer step as predicted, waiting for data counted in")
    ]
    days_p50: common.P50Days
    mfu_frac: common.MfuFrac
    memory_margin_gib: Annotated[float, Column("Memory left beside the fullest rank")]
    cost_usd: Annotated[float | None, Column("Rent of all accelerators over the median length")]


FEWER = TableSpec("smaller_clusters", SmallerClusterRow, "The same run on fewer accelerators")


@dataclass(frozen=True)
class LayoutsRow:
    """One of the layouts that the search found."""

    rank: Annotated[int, Column("Place of the layout by step time, the fastest first")]
    step_time_s: Annotated[
        float, Column("One optimizer step, without exchanges between sites and waiting for data")
    ]
    memory_gib: Annotated[float, Column("Peak memory of the fullest rank")]
    memory_margin_gib: Annotated[float, Column("Memory of a rank less that peak")]
    among_fastest: Annotated[
        bool,
        Column(
            "Whether it is one of the fastest asked for; the others use less memory",
            shown=Shown.VERBOSE,
        ),
    ]
    schedule: Annotated[str, Column("Pipeline schedule")]
    offload: Annotated[str, Column("What is moved to host memory, none or all")]
    tp: Tp
    pp: Pp
    vpp: Vpp
    dp: Dp
    cp: Cp
    ep: Ep
    etp: Etp
    mbs: Mbs
    recompute: Recompute
    zero: Zero


LAYOUTS = TableSpec("layouts", LayoutsRow, "Fastest layouts", brief=lambda x: bool(x.among_fastest))


@dataclass(frozen=True)
class BreakdownRow:
    """One part of an optimizer step."""

    part: Annotated[str, Column("Part of an optimizer step, compute, communication or waiting")]
    time_s: Annotated[float, Column("Time of the part in one step that nothing hides")]
    share_frac: Annotated[float, Column("Its share of the whole step")]


BREAKDOWN = TableSpec("breakdown", BreakdownRow, "Step time")


@dataclass(frozen=True)
class MemoryRow:
    """Memory of one kind in the fullest rank."""

    part: Annotated[str, Column("What the memory holds")]
    memory_gib: Annotated[float, Column("Memory of it in the fullest rank")]


MEMORY = TableSpec("memory", MemoryRow, "Memory of the fullest rank")
