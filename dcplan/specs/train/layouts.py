"""Metrics and tables of ``train``: job options, layouts, the step, cluster sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs import columns as common
from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

PARAMS = MetricSpec(
    "train.params_b",
    "",
    "Parameters of the model in billions, counted from its configuration, without draft layers",
    main=True,
    label="Parameters of the model, in billions",
)
ACTIVE_PARAMS = MetricSpec(
    "train.active_params_b",
    "",
    "Parameters that one token uses, in billions, both embeddings included",
    main=True,
    label="Parameters that one token uses, in billions",
)
STEP_TIME = MetricSpec("train.step_time_s", "s", "Time of one optimizer step", main=True)
TOKENS_PER_S = MetricSpec(
    "train.tokens_per_s_per_accelerator",
    "1/s",
    "Tokens per second and accelerator",
    better=Better.HIGHER,
    main=True,
)
TFLOPS = MetricSpec("train.tflops_per_accelerator", "TFLOP/s", "Model FLOP/s per accelerator")
MFU = MetricSpec(
    "train.mfu_frac",
    "",
    "Model FLOPs utilization: model FLOP/s over the dense peak of the precision",
    better=Better.HIGHER,
    main=True,
    label="Model FLOPs utilization (MFU)",
)
HFU = MetricSpec("train.hfu_frac", "", "Hardware FLOPs utilization, including full recompute")
MEMORY_GIB = MetricSpec("train.memory_gib", "GiB", "Peak memory of the fullest rank", main=True)
ACCELERATORS_USED = MetricSpec(
    "train.accelerators", "", "Accelerators in complete replicas; the rest are idle"
)
SYSTEMS = MetricSpec("train.systems", "", "Number of systems")
LARGEST_TOKENS = MetricSpec(
    "train.largest_tokens",
    "",
    "Largest number of tokens of this model by the deadline on this cluster",
)
LARGEST_PARAMS_B = MetricSpec(
    "train.largest_params_b",
    "",
    "Largest dense model in billion parameters, at 20 tokens per parameter and the same FLOP/s",
)
LARGEST_PARAMS_TOKENS = MetricSpec(
    "train.largest_params_tokens", "", "Tokens of this largest model"
)
FASTEST_STEP_TIME = MetricSpec(
    "train.fastest_step_time_s",
    "s",
    "Step time of the fastest layout, without exchanges between sites and waits for data",
)
SEARCH_TIES = MetricSpec(
    "train.layouts_tied", "", "Layouts that the model cannot tell from the fastest by their time"
)
SEARCH_LAYOUTS = MetricSpec("train.layouts_searched", "", "Layouts searched")
SEARCH_FEASIBLE = MetricSpec("train.layouts_feasible", "", "Layouts that fit in memory")
SEARCH_SECONDS = MetricSpec("train.search_s", "s", "Search time")

Tp = Annotated[int, Column("Ranks of a tensor-parallel group")]
Pp = Annotated[int, Column("Pipeline stages")]
Vpp = Annotated[int, Column("Virtual stages: interleaved parts of one pipeline stage")]
Dp = Annotated[int, Column("Data-parallel replicas")]
Cp = Annotated[int, Column("Ranks of a context-parallel group")]
Ep = Annotated[int, Column("Ranks of an expert-parallel group")]
Etp = Annotated[int, Column("Ranks of an expert-tensor-parallel group")]
Mbs = Annotated[int, Column("Sequences per micro-batch")]
Recompute = Annotated[str, Column("Activation recompute: none, selective or full")]
Zero = Annotated[
    int, Column("ZeRO stage: what data-parallel ranks shard, from 0 (nothing) to 3 (parameters)")
]


@dataclass(frozen=True)
class JobOptionRow:
    """One option to run a job of a scenario."""

    job: common.Job
    place: Annotated[str, Column("Hall as site/hall, or cloud and the offer")]
    system: common.System
    accelerators: Annotated[int, Column("Accelerators reserved for the run, including spares")]
    precision: common.Precision
    days_p50: common.P50Days
    days: Annotated[float, Column("Duration of the run at the job's required confidence")]
    mfu_frac: common.MfuFrac
    layout: common.Layout


JOB_OPTIONS = TableSpec("job_options", JobOptionRow, "Options for each job", section=Section.DESIGN)


@dataclass(frozen=True)
class PhaseRow:
    """One phase of a run."""

    phase: Annotated[int, Column("Number of the phase")]
    tokens: Annotated[float, Column("Training tokens of the phase")]
    seq_len: Annotated[int, Column("Sequence length in tokens")]
    global_batch_tokens: Annotated[float, Column("Tokens per optimizer step")]
    step_time_s: Annotated[
        float,
        Column("Time of one optimizer step, including exchanges between sites and waits for data"),
    ]
    clean_days: Annotated[
        float, Column("Days at this step time without interruptions and other losses")
    ]
    layout: common.Layout


PHASES = TableSpec("phases", PhaseRow, "Phases")


@dataclass(frozen=True)
class LayoutRow:
    """The chosen layout."""

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
    schedule: Annotated[str | None, Column("Pipeline schedule; only if not the default")] = None
    offload: Annotated[str | None, Column("Data moved to host memory; only if any is")] = None


LAYOUT = TableSpec("layout", LayoutRow, "Layout")


@dataclass(frozen=True)
class SizeRow:
    """One cluster size and whether it meets the requested limits."""

    accelerators: Annotated[int, Column("Training accelerators, in complete systems")]
    precision: Annotated[str, common.PRECISION]
    days_p50: Annotated[float, common.P50_DAYS]
    days_p80: Annotated[float, Column("80th percentile of the run's duration")]
    it_mw: Annotated[float, Column("Rated IT power of the systems at the specified power limit")]
    cost_usd: Annotated[float | None, Column("Rent of all accelerators over the median duration")]
    meets_target: Annotated[bool, Column("Whether the size meets all requested limits")]


SIZES = TableSpec("cluster_sizes", SizeRow, "Cluster sizes", by_item=True)


@dataclass(frozen=True)
class SmallerClusterRow:
    """The same run on a smaller cluster."""

    accelerators: Annotated[int, Column("Training accelerators, in complete systems")]
    step_time_s: Annotated[
        float, Column("Predicted time of one optimizer step, including waits for data")
    ]
    days_p50: common.P50Days
    mfu_frac: common.MfuFrac
    memory_margin_gib: Annotated[float, Column("Memory left on the fullest rank")]
    cost_usd: Annotated[float | None, Column("Rent of all accelerators over the median duration")]


SMALLER_CLUSTERS = TableSpec(
    "smaller_clusters",
    SmallerClusterRow,
    "The same run on fewer accelerators",
    shown=Shown.VERBOSE,
    by_item=True,
)


@dataclass(frozen=True)
class LayoutsRow:
    """One of the layouts that the search found."""

    rank: Annotated[int, Column("Rank of the layout by step time, fastest first")]
    chosen: Annotated[bool, Column("Whether it is the layout of the answer")]
    tie: Annotated[
        bool, Column("Whether the model cannot tell its step time from that of the fastest")
    ]
    step_time_s: Annotated[
        float,
        Column("Time of one optimizer step, without exchanges between sites and waits for data"),
    ]
    memory_gib: Annotated[float, Column("Peak memory of the fullest rank")]
    memory_margin_gib: Annotated[float, Column("Memory left on the fullest rank")]
    among_fastest: Annotated[
        bool,
        Column(
            "Whether it is one of the requested fastest layouts; the others follow common recipes or "
            "use less memory",
            shown=Shown.VERBOSE,
        ),
    ]
    schedule: Annotated[str, Column("Pipeline schedule")]
    offload: Annotated[str, Column("Data moved to host memory: none or all")]
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


LAYOUTS = TableSpec(
    "layouts",
    LayoutsRow,
    "Fastest layouts",
    brief=lambda x: bool(x.among_fastest or x.chosen),
    section=Section.ORDERS,
)


@dataclass(frozen=True)
class BreakdownRow:
    """One part of an optimizer step."""

    part: Annotated[
        str,
        Column(
            "Id of a part of an optimizer step: compute, communication or waiting",
            shown=Shown.VERBOSE,
        ),
    ]
    what: Annotated[str, Column("The part in words")]
    time_s: Annotated[float, Column("Exposed time of the part in one step")]
    share_frac: Annotated[float, Column("Share of the step time")]


BREAKDOWN = TableSpec("breakdown", BreakdownRow, "Step time")


@dataclass(frozen=True)
class MemoryRow:
    """Memory of one kind in the fullest rank."""

    part: Annotated[str, Column("Kind of data in memory")]
    memory_gib: Annotated[float, Column("Memory of this kind on the fullest rank")]


MEMORY = TableSpec("memory", MemoryRow, "Memory of the fullest rank", shown=Shown.VERBOSE)
