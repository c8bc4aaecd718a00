"""Constants that own runs may change, with their priors and widths from the catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from dcplan.answers.validation.runs.rows import Run
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Family, Stack
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.devices import family_of
from dcplan.llm.device_terms import NARROW_GEMMS, DeviceTerms, StackTerms
from dcplan.llm.kernel_fit import Fitted
from dcplan.llm.tables import Array
from dcplan.training.shrinkage import Priors

Kernels = Mapping[str, Mapping[str, Fitted]]
"""Measured training terms of accelerators, by id and field."""
INTERVAL_SHARE = 0.8
"""Share of runs that the intervals of the catalog hold."""
FRACTION = "_frac"
"""End of the name of a share, which is at most 1."""
STACK = "stack"


@dataclass(frozen=True)
class Constant:
    """One constant of a stack, and which runs depend on it."""

    field: str
    """Field of the catalog's stacks."""
    needs: str
    """Property of a run that depends on it; empty for every run."""
    shown_by: Callable[[Run], bool]


CONSTANTS = (
    Constant("elementwise", "", lambda r: True),
    Constant("launch_us", "", lambda r: True),
    Constant("cast_factor", "8-bit or 4-bit products", lambda r: r.recipe.gemm in NARROW_GEMMS),
    Constant("moe_host_ms", "a mixture of experts", lambda r: r.moe),
    Constant("tp_overlap_frac", "tensor parallelism", lambda r: r.tp > 1),
    Constant("dp_overlap_frac", "data parallelism", lambda r: r.dp > 1),
    Constant("pp_overlap_frac", "an interleaved pipeline", lambda r: r.pp > 1 and r.vpp > 1),
    Constant("ep_overlap_frac", "expert parallelism", lambda r: r.moe and r.ep > 1),
    Constant(
        "contention_frac",
        "sharded parameters without a pipeline",
        lambda r: r.zero >= 3 and r.dp > 1 and r.pp <= 1,
    ),
    Constant("context_frac", "context parallelism", lambda r: r.cp > 1),
    Constant("collective_us", "more than one rank", lambda r: r.tp * r.dp * r.cp * r.ep > 1),
)
"""Constants of a stack that are fitted; all others are those of the stack that gives the priors."""
GEMM_FIELDS = {"fp8": "fp8_gemm_frac", "int8": "fp8_gemm_frac", "fp4": "fp4_gemm_frac"}
ATTENTION_FIELDS = {"native": "attention_frac", "portable": "portable_attention_frac"}
PRODUCTS = ("half_gemm_frac", "fp8_gemm_frac", "fp4_gemm_frac")


@dataclass(frozen=True)
class Factor:
    """One factor on speeds of an accelerator family with this stack."""

    name: str
    fields: Callable[[StackTerms], tuple[str, ...]]
    """Training terms that it multiplies."""
    used: Callable[[Run], str | None]
    """The one of them that a run uses."""


FACTORS = (
    Factor(
        "matrix_products",
        lambda s: PRODUCTS,
        lambda r: GEMM_FIELDS.get(r.recipe.gemm, "half_gemm_frac"),
    ),
    Factor(
        "attention",
        lambda s: tuple(v for k, v in ATTENTION_FIELDS.items() if k == s.attention),
        lambda r: ATTENTION_FIELDS.get(r.stack.attention),
    ),
)


@dataclass(frozen=True)
class Item:
    """One constant of the fit with its prior."""

    on: str
    """``stack``, or the accelerator family of a factor."""
    name: str
    prior: float
    width: float
    most: float


@dataclass(frozen=True)
class Chosen:
    """Constants of a fit, and why the others are not in it."""

    items: tuple[Item, ...]
    left: dict[str, str]

    @property
    def priors(self) -> Priors:
        """The constants as arrays."""
        value, width, most = (
            np.array([getattr(i, name) for i in self.items]) for name in ("prior", "width", "most")
        )
        return Priors(value, width, most)


def choose(log: InputLog, runs: Sequence[Run], kernels: Kernels) -> Chosen:
    """Choose the constants that some run depends on.

    Parameters
    ----------
    runs : sequence of Run
        Runs of one stack, at least one.
    kernels : mapping
        Measured training terms by accelerator. They narrow the factors of a family whose runs all
        use that accelerator.
    """
    left: dict[str, str] = {}
    items: list[Item] = []
    terms = runs[0].stack
    least = log.parameter("training", "own-run-least-width")
    for constant in CONSTANTS:
        value = float(getattr(terms, constant.field))
        if not any(map(constant.shown_by, runs)):
            left[constant.field] = f"no run has {constant.needs}"
        elif value <= 0.0:
            left[constant.field] = f"it is 0 in {runs[0].stack_id}, so it has no scale to fit"
        else:
            width = max(stack_width(log.catalog, constant.field), least)
            most = 1.0 if constant.field.endswith(FRACTION) else np.inf
            items.append(Item(STACK, constant.field, value, width, most))
    for factor in FACTORS:
        ours = [r for r in runs if factor.used(r)]
        items += _factors(log, ours, factor, kernels)
        if not ours:
            left[factor.name] = "attention of every run is unfused"
    return Chosen(tuple(items), left)


def _factors(
    log: InputLog, runs: Sequence[Run], factor: Factor, kernels: Kernels
) -> Iterator[Item]:
    """Return the factor of each accelerator family among the runs."""
    for name in sorted({group(r) for r in runs}):
        ours = [r for r in runs if group(r) == name]
        used = {field for r in ours if (field := factor.used(r))}
        speeds = [float(getattr(r.device, field)) for r in ours for field in used]
        most = max((1.0 / s for s in speeds if s > 0.0), default=1.0)
        width = device_width(log.catalog, ours[0], factor.name)
        parts = {r.accelerator.id for r in ours}
        measured = kernels.get(next(iter(parts)), {}) if len(parts) == 1 else {}
        known = [measured[field].error for field in used if field in measured]
        if known:
            width = max(*known, log.parameter("training", "own-run-noise-frac"))
        yield Item(name, factor.name, 1.0, width, most)


def group(run: Run) -> str:
    """Return the family of a run's accelerator, or its id if it has none."""
    return run.accelerator.family or run.accelerator.id


def stack_width(catalog: Catalog, field: str) -> float:
    """Return the spread of a constant over the catalog's stacks: the deviation of its logarithm.

    It is 0 if fewer than two stacks have the constant.
    """
    rows = catalog.table("stacks", Stack).values()
    if field == "moe_host_ms":
        every = [way.host_ms for s in rows for way in s.dispatchers.values()]
    else:
        every = [q for s in rows if (q := getattr(s, field)) is not None]
    values = [q.value for q in every if q.value > 0.0]
    return float(np.std(np.log(values), ddof=1)) if len(values) > 1 else 0.0


def device_width(catalog: Catalog, run: Run, name: str) -> float:
    """Return the width of a factor: of matrix products or of attention.

    Products take most of a step, so their width is that of the family's interval of a step time.
    Attention differs by the kernels that a stack uses: its width is the root mean square of
    ln(own kernels / portable kernels) over the families.
    """
    if name == "attention":
        ratios = [
            np.log(own.value / other.value)
            for f in catalog.table("families", Family).values()
            if (own := f.terms.attention_frac) and (other := f.terms.portable_attention_frac)
        ]
        return float(np.sqrt(np.mean(np.square(ratios))))
    spread = family_of(catalog, run.accelerator).spread_frac.value
    return float(np.log1p(spread)) / NormalDist().inv_cdf((1.0 + INTERVAL_SHARE) / 2.0)


def applied(runs: Sequence[Run], items: Sequence[Item], values: Array) -> list[Run]:
    """Return the runs with the values of the constants."""
    own: dict[str, Any] = {
        i.name: float(v) for i, v in zip(items, values, strict=True) if i.on == STACK
    }
    factors = {(i.on, i.name): float(v) for i, v in zip(items, values, strict=True)}
    return [
        replace(run, stack=replace(run.stack, **own), device=faster(run, factors)) for run in runs
    ]


def faster(run: Run, factors: Mapping[tuple[str, str], float]) -> DeviceTerms:
    """Return the device of a run with the factors of its family; a fraction stays at most 1."""
    changed = {
        field: min(float(getattr(run.device, field)) * factors[group(run), factor.name], 1.0)
        for factor in FACTORS
        if (group(run), factor.name) in factors
        for field in factor.fields(run.stack)
    }
    return replace(run.device, **changed)


def measured_device(run: Run, kernels: Kernels) -> Run:
    """Return a run with the measured kernels of its accelerator, if there are any."""
    known = {f.name for f in fields(DeviceTerms)}
    terms = kernels.get(run.accelerator.id, {})
    found = {name: f.value for name, f in terms.items() if name in known}
    return replace(run, device=replace(run.device, **found))
