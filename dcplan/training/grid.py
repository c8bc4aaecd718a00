"""All valid layouts of a model on a number of ranks, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dcplan.llm.architecture import Architecture
from dcplan.llm.coefficients import Coefficients
from dcplan.llm.device_terms import (
    DeviceTerms,
    RecipeTerms,
    StackTerms,
    device_table,
    recipe_table,
    stack_table,
)
from dcplan.llm.operations import Setup
from dcplan.llm.tables import RECOMPUTE, Array, LayoutTable, model_table, tower_table
from dcplan.units import GIGA

BATCH_ROUNDING_TOLERANCE = 0.1
"""Maximum rounding of a run's batch to fill its micro-batches."""
SMALL_MICRO_BATCHES = tuple(range(1, 9))
"""Micro-batch sizes that are always tried; the last micro-batch may be partly empty."""
BLOCK = 65536
"""Rows of a grid built at a time."""
Index = npt.NDArray[np.intp]
KEYS = (
    "tp",
    "pp",
    "vpp",
    "dp",
    "cp",
    "ep",
    "etp",
    "micro_batch",
    "recompute",
    "zero",
    "schedule",
    "offload",
)


@dataclass(frozen=True)
class Case:
    """Model, accelerator, stack and recipe, without the count."""

    shape: Architecture
    device: DeviceTerms
    stack: StackTerms
    recipe: RecipeTerms
    coefficients: Coefficients
    seq_len: int
    global_batch: float
    """Sequences per optimizer step."""
    trainable: float = 1.0
    images: float = 0.0
    """Images (or tiles) per sequence that pass through the model's vision tower."""


@dataclass(frozen=True)
class Axes:
    """Values that the search tries, in addition to the divisors of model and count."""

    recompute: tuple[int, ...]
    zero: tuple[int, ...]
    schedule: tuple[int, ...] = (0,)
    offload: tuple[float, ...] = (0.0,)
    etp: bool = True
    coarse: bool = False
    """Coarse grid for many counts: powers of two, tensor parallelism inside a domain, context
    parallelism up to 16, few chunks."""


def default_axes(case: Case) -> Axes:
    """Return the axes that the stack supports.

    They are its recompute modes, its sharding and, if supported, offload.
    """
    modes = tuple(RECOMPUTE.index(name) for name in case.stack.recompute)
    fast = case.device.host_gb_per_s * GIGA >= case.coefficients.offload_bytes_per_s
    zero = (3,) if case.stack.zero >= 3 else tuple(sorted({case.stack.zero, 1, 3}))
    return Axes(modes, zero, offload=(0.0, 1.0) if case.stack.offloads and fast else (0.0,))


def divisors(n: int) -> list[int]:
    """Return all divisors, ascending.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    small = [i for i in range(1, int(n**0.5) + 1) if n % i == 0]
    return sorted({*small, *(n // i for i in small)})


def case_setup(case: Case, layout: LayoutTable) -> Setup:
    """Return the setup of one model, accelerator, stack and recipe with a table of layouts."""
    stack = stack_table([case.stack])
    return Setup(
        model_table([case.shape]),
        device_table([case.device], [case.stack], [case.recipe]),
        recipe_table([case.recipe], [case.stack]),
        stack,
        layout,
        case.coefficients,
        tower_table(case.shape, case.images),
    )


def rounded_batch(exact: Array, group: Array) -> Array:
    """Return the micro-batches of a rank in complete groups; a slight rounding is left out."""
    near = np.maximum(np.round(exact / group), 1.0) * group
    return np.where(
        np.abs(near - exact) <= BATCH_ROUNDING_TOLERANCE * exact,
        exact,
        np.ceil(exact / group - 1e-9) * group,
    )


def layout_table(case: Case, columns: dict[str, Array]) -> LayoutTable:
    """Return a layout table with the batch divided into micro-batches.

    Interleaved schedules run micro-batches in groups of pp (Narayanan et al. 2021, section 2.2). A
    batch within 10 % of complete groups is used unchanged, because a run rounds its batch slightly;
    a larger difference costs a partly empty group.
    """
    dp = columns["dp"]
    exact = case.global_batch / (dp * columns["micro_batch"])
    count = rounded_batch(exact, np.where(columns["vpp"] > 1, columns["pp"], 1.0))
    one = np.ones(1)
    given: dict[str, Any] = {name: columns[name] for name in KEYS}
    return LayoutTable(
        **given,
        micro_batches=count,
        shard=columns.get("shard", dp * columns["cp"]),
        seq_len=one * case.seq_len,
        trainable=one * case.trainable,
    )


def model_parallel_accelerators(layouts: Mapping[str, Array], ranks: float) -> Array:
    """Return the accelerators of the largest group that shares one copy of a layer.

    Parameters
    ----------
    layouts : mapping of arrays
        Columns of layouts, ``tp``, ``cp``, ``ep`` and ``etp`` among them.
    ranks : float
        Ranks per accelerator.

    Examples
    --------
    >>> one = {k: np.array([n]) for k, n in {"tp": 8.0, "cp": 2.0, "ep": 64.0, "etp": 1.0}.items()}
    >>> model_parallel_accelerators(one, 2.0)
    array([32.])
    """
    dense, experts = layouts["tp"] * layouts["cp"], layouts["ep"] * layouts["etp"]
    return np.maximum(dense, experts) / ranks


def tensor_sizes(case: Case) -> list[int]:
    """Return the tensor-parallel sizes.

    They are divisors of the heads that divide key-value heads and scale-up domains evenly.
    """
    kv, domain = case.shape.kv_heads, round(case.device.domain * case.device.ranks)

    def even(tp: int, whole: int) -> bool:
        return whole % tp == 0 or tp % whole == 0

    return [tp for tp in divisors(case.shape.heads) if even(tp, kv) and even(tp, domain)]


def inner_columns(case: Case, ranks: int, axes: Axes) -> dict[str, Array]:
    """Return all (tp, cp, micro-batch, ep, etp), which determine the time of one micro-batch."""
    batch = int(case.global_batch)
    tps, cps = tensor_sizes(case), divisors(case.seq_len)
    eps = divisors(case.shape.experts) if case.shape.moe_layers else [1]
    micros = sorted({*divisors(batch), *(b for b in SMALL_MICRO_BATCHES if b <= batch)})
    if axes.coarse:
        inside = case.device.domain * case.device.ranks
        tps = [t for t in tps if t <= min(inside, 16) and _power(t)]
        cps, eps = [c for c in cps if c <= 16 and _power(c)], [e for e in eps if _power(e)]
        micros = [
            b for b in (SMALL_MICRO_BATCHES if len(axes.offload) > 1 else (1, 2, 4)) if b <= batch
        ]
    tps, cps = [t for t in tps if t <= ranks], [c for c in cps if c <= ranks]
    table = []
    for tp in tps:
        etps = (1, tp) if case.shape.moe_layers and tp > 1 and axes.etp else (1,)
        table += [
            (tp, cp, b, ep, etp)
            for cp in cps
            if tp * cp <= ranks
            for b in micros
            for ep in eps
            for etp in etps
            if ep * etp <= ranks
        ]
    columns = np.array(table, dtype=np.float64).T
    return dict(zip(("tp", "cp", "micro_batch", "ep", "etp"), columns, strict=True))


def _power(n: int) -> bool:
    return n & (n - 1) == 0


def _chunks(layers: int, pp: int) -> list[int]:
    """Return the numbers of chunks of a stage; even stages divide into chunks.

    Embedding and output layer may count as layers, so that 126 make 128 (Megatron-Core);
    otherwise the stages are uneven.
    """
    if pp == 1:
        return [1]
    depth = layers if layers % pp == 0 else layers + 2 if (layers + 2) % pp == 0 else 0
    return divisors(depth // pp) if depth else [v for v in (1, 2, 4) if v <= layers // pp]


def stages(layers: int) -> list[tuple[int, int]]:
    """Return all pipeline sizes with every number of chunks.

    >>> stages(3)
    [(1, 1), (2, 1), (3, 1)]
    """
    return [(pp, v) for pp in range(1, layers + 1) for v in _chunks(layers, pp)]


def _stages(layers: int, ranks: int, *, coarse: bool) -> list[tuple[int, int]]:
    """Return pipeline sizes of a number of ranks with every number of chunks."""
    found = []
    for pp in range(1, min(layers, ranks) + 1):
        if pp > 1 and coarse and not (_power(pp) or (layers % pp == 0 and pp <= 32)):
            continue
        if pp == 1 or ranks % pp == 0 or layers % pp == 0 or _power(pp):
            chunks = _chunks(layers, pp)
            few = sorted({1, chunks[len(chunks) // 2], chunks[-1]})
            found += [(pp, v) for v in (few if coarse else chunks)]
    return found


Block = tuple[dict[str, Array], Index, Index]


def grid(case: Case, ranks: int, axes: Axes, columns: dict[str, Array]) -> Iterator[Block]:
    """Yield blocks of valid layouts, with each row's row in the inner table and in the mode table."""
    outer = [
        (pp, v, r, z, sch, off)
        for pp, v in _stages(case.shape.layers, ranks, coarse=axes.coarse)
        for r in axes.recompute
        for z in axes.zero
        for sch in (axes.schedule if pp > 1 and v == 1 else (0,))
        for off in (axes.offload if r < RECOMPUTE.index("full") else (0.0,))
        if z < 3 or pp == 1 or case.stack.zero >= 3
    ]
    table = np.array(outer, dtype=np.float64)
    names = ("pp", "vpp", "recompute", "zero", "schedule", "offload")
    modes = [(r, s) for r in axes.recompute for s in axes.schedule]
    mode = np.array([modes.index((row[2], row[4])) for row in outer], dtype=np.intp)
    replica = columns["tp"] * columns["cp"]
    step_rows = max(BLOCK // max(len(outer), 1), 1)
    for start in range(0, len(replica), step_rows):
        at = np.arange(start, min(start + step_rows, len(replica)))
        most = np.floor(case.global_batch / columns["micro_batch"][at])[:, None]
        dp = np.minimum(np.floor(ranks / (replica[at][:, None] * table[:, 0][None, :])), most)
        groups = dp * replica[at][:, None]
        ok = dp >= 1
        ok &= columns["ep"][at][:, None] * columns["etp"][at][:, None] <= groups
        ok &= np.mod(groups, columns["ep"][at][:, None] * columns["etp"][at][:, None]) == 0
        first, second = np.nonzero(ok)
        if not first.size:
            continue
        block = {name: table[second, i] for i, name in enumerate(names)}
        block |= {name: column[at][first] for name, column in columns.items()}
        block["dp"] = dp[first, second]
        yield {name: block[name] for name in KEYS}, at[first], at[first] * len(modes) + mode[second]
