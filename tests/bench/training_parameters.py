"""Parameters of the training model that are fitted, with the runs that inform each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

GPUS = ("volta", "ampere", "hopper", "blackwell")
EVERY = (*GPUS, "tpu", "trainium")
WAY_FIELDS = {
    "moe_host_ms": "host_ms",
    "moe_passes_frac": "passes_frac",
    "moe_rate_frac": "rate_frac",
}
"""Fields of a dispatcher in the catalog by their names in a stack."""


@dataclass(frozen=True)
class Parameter:
    """One number of the catalogs: rows that share it, prior and its width in log, upper bound."""

    kind: str
    rows: tuple[str, ...]
    field: str
    prior: float
    width: float
    most: float = np.inf


def _family(
    rows: Sequence[str], field: str, prior: float, width: float, most: float = np.inf
) -> Parameter:
    return Parameter("families", tuple(rows), field, prior, width, most)


def _stack(
    rows: Sequence[str], field: str, prior: float, width: float, most: float = np.inf
) -> Parameter:
    return Parameter("stacks", tuple(rows), field, prior, width, most)


def _way(
    rows: Sequence[str], field: str, prior: float, width: float, most: float = np.inf
) -> Parameter:
    return Parameter("dispatchers", tuple(rows), field, prior, width, most)


MEGATRON = ("megatron-core", "primus-megatron")
STACKS = (
    "megatron-core",
    "megatron-2021",
    "megatron-deepspeed",
    "composer-fsdp",
    "torchtitan",
    "automodel-fsdp",
    "jax-xla",
    "neuronx",
)
MATURITY = ("maturity-first-frac", "maturity-quarters")
PARAMETERS = (
    Parameter("training", (MATURITY[0],), "value", 0.85, 0.2, 1.0),
    Parameter("training", (MATURITY[1],), "value", 1.0, 0.7),
    # best measured matmul over peak: A100 0.72-0.76 at 300 W, H100 0.80, GB200 0.73; sustained
    # power takes some back
    _family(("ampere",), "half_gemm_frac", 0.80, 0.1, 1.0),
    # kernels of an H200 at its power limit, measured by dcplan calibrate
    _family(("hopper",), "half_gemm_frac", 0.81, 0.05, 1.0),
    _family(("blackwell",), "half_gemm_frac", 0.58, 0.15, 1.0),
    _family(("volta",), "half_gemm_frac", 0.6, 0.3, 1.0),
    _family(("trainium",), "half_gemm_frac", 0.6, 0.3, 1.0),
    *(
        Parameter("accelerators", (t,), "half_gemm_frac", 0.86, 0.1, 1.0)
        for t in ("tpu-v4", "tpu-v5e", "tpu-v5p", "tpu7x")
    ),
    _family(("hopper",), "fp8_gemm_frac", 0.80, 0.08, 1.0),
    _family(("blackwell",), "fp8_gemm_frac", 0.65, 0.15, 1.0),
    _family(("blackwell",), "fp4_gemm_frac", 0.55, 0.2, 1.0),
    _family(("tpu",), "fp8_gemm_frac", 0.75, 0.15, 1.0),
    Parameter("accelerators", ("gb300", "b300-sxm"), "fp4_gemm_frac", 0.43, 0.2, 1.0),
    _family(("ampere", "volta"), "prologue_depth", 140, 0.1),
    _family(("hopper",), "prologue_depth", 278, 0.1),
    _family(("blackwell", "rubin"), "prologue_depth", 180, 0.3),
    _family(("ampere",), "attention_frac", 0.45, 0.2),
    _family(("hopper",), "attention_frac", 0.65, 0.08),
    _family(("blackwell",), "attention_frac", 0.5, 0.15),
    _family(("tpu",), "attention_frac", 0.5, 0.3),
    _family(("hopper",), "portable_attention_frac", 0.28, 0.25),
    _family(tuple(f for f in EVERY if f != "hopper"), "hbm_frac", 0.78, 0.03, 1.0),
    _family(GPUS, "scaleup_frac", 0.8, 0.03, 1.0),
    _family(("tpu", "trainium"), "scaleup_frac", 0.8, 0.1, 1.0),
    _family(EVERY, "scaleout_frac", 0.78, 0.05, 1.0),
    _family(EVERY, "scaleout_us", 15, 0.3),
    Parameter("recipes", ("fp8",), "cast_bytes", 4.0, 0.2),
    Parameter("recipes", ("mxfp8",), "cast_bytes", 5.0, 0.2),
    Parameter("recipes", ("fp4",), "cast_bytes", 7.0, 0.2),
    Parameter("recipes", ("fp8-rowwise",), "cast_bytes", 8.0, 0.3),
    _stack(("torchtitan", "torch-compile"), "cast_factor", 2.5, 0.5),
    _stack(("torch-compile",), "elementwise", 1.5, 0.4),
    *(_stack((s,), "elementwise", 2.0, 0.4) for s in STACKS if s != "megatron-core"),
    _stack(MEGATRON, "elementwise", 2.0, 0.4),
    Parameter("releases", ("megatron-core@25.09",), "elementwise", 2.0, 0.4),
    *(
        _stack((s,), "launch_us", v, 0.4)
        for s, v in (("megatron-2021", 28.0), ("megatron-deepspeed", 80.0), ("megatron-core", 11.0))
    ),
    # NCCL's all-to-all and separate permutation against DeepEP and HybridEP
    _way(("megatron-core:alltoall", "primus-megatron:alltoall"), "moe_host_ms", 9.0, 0.3),
    _way(("megatron-core:alltoall", "primus-megatron:alltoall"), "moe_passes_frac", 0.9, 0.2, 1.0),
    _way(("megatron-core:alltoall", "primus-megatron:alltoall"), "moe_rate_frac", 0.7, 0.2, 1.0),
    _way(("megatron-core:hybridep", "megatron-core:deepep"), "moe_host_ms", 8.0, 0.3),
    _way(("megatron-core:hybridep", "megatron-core:deepep"), "moe_passes_frac", 0.6, 0.2, 1.0),
    _way(("megatron-core:hybridep", "megatron-core:deepep"), "moe_rate_frac", 0.8, 0.15, 1.0),
    _stack(("megatron-core",), "partial_graph_frac", 0.6, 0.3, 1.0),
    _stack(("megatron-core",), "full_graph_frac", 0.05, 0.3, 1.0),
    _stack(("megatron-core",), "full_passes_frac", 0.5, 0.4, 1.0),
    _stack(("megatron-core",), "scheduled_overlap_frac", 0.6, 0.3, 1.0),
    _stack(("megatron-core",), "scheduled_host_factor", 1.4, 0.2),
    *(
        _stack((s,), "tp_overlap_frac", 0.35, 0.3, 1.0)
        for s in ("torchtitan", "jax-xla", "neuronx")
    ),
    _stack(MEGATRON, "tp_overlap_frac", 0.35, 0.3, 1.0),
    *(
        _stack((s,), "dp_overlap_frac", 0.75, 0.2, 1.0)
        for s in ("composer-fsdp", "torchtitan", "automodel-fsdp", "jax-xla")
    ),
    _stack(MEGATRON, "dp_overlap_frac", 0.75, 0.2, 1.0),
    *(
        _stack((s,), "contention_frac", 0.25, 0.4, 1.0)
        for s in ("composer-fsdp", "torchtitan", "automodel-fsdp", "jax-xla", "megatron-core")
    ),
    _stack(
        (*MEGATRON, "torchtitan", "automodel-fsdp", "jax-xla"), "pp_overlap_frac", 0.6, 0.3, 1.0
    ),
    _stack((*MEGATRON, "automodel-fsdp"), "ep_overlap_frac", 0.1, 0.4, 1.0),
    _stack(("torchtitan",), "context_frac", 0.8, 0.2, 1.0),
    _stack(
        (*MEGATRON, "composer-fsdp", "torchtitan", "automodel-fsdp", "deepspeed"),
        "collective_us",
        40,
        0.4,
    ),
    # collectives of 2021 and 2022 that nothing hides: what the overlap leaves of them elsewhere
    _stack(("megatron-2021", "megatron-deepspeed"), "collective_us", 60, 0.4),
    _stack(STACKS, "straggler_frac", 0.01, 0.3),
)
