"""Catalog rows of accelerators, software stacks and recipes as numbers of the training room."""

from __future__ import annotations

from dataclasses import fields

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Family, Parameter, Recipe, Stack, TrainingTerms
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.peaks import FIELDS, half_peak, row_peak
from dcplan.llm.device_terms import WIDE_GEMMS, DeviceTerms, RecipeTerms, StackTerms
from dcplan.provenance import Quantity

GENERIC = "generic"
DEFAULT_STACKS = {
    "tpu": "jax-xla",
    "asic": "megatron-core",
    "wafer": "cerebras-pytorch",
    "gpu": "megatron-core",
}
HOST_ACCELERATORS = 8
"""Default number of accelerators in a host: that of the common server."""
SMALL_DOMAIN = 16
"""Largest scale-up domain that is one host; a host with fewer accelerators has a smaller
domain."""
NO_EFFECT = {"graph_frac": 1.0, "fused_moe_frac": 1.0, "context_frac": 1.0}
"""Neutral values of a stack's shares, used if its row does not have them."""
NEW_PEAKS = {"fp8_gemm_frac": "fp8_tflops", "fp4_gemm_frac": "fp4_tflops"}
"""Fractions that a family may lack although a newer accelerator of it has the peak."""
CLASS_VALUES = {
    "elementwise": "stack-elementwise",
    "grad_bytes": "stack-grad-bytes",
    "low_weight_bytes": "stack-low-weight-bytes",
}
"""Catalog parameters that replace missing values of a stack's row."""


def _number(value: object) -> float | None:
    return value.value if isinstance(value, Quantity) else None


def family_of(catalog: Catalog, row: Accelerator) -> Family:
    """Return the family of an accelerator, or the generic family."""
    return catalog.get("families", row.family or GENERIC, Family)


def training_terms(catalog: Catalog, row: Accelerator) -> dict[str, float]:
    """Return achievable fractions of the accelerator, or of its family, or 0."""
    return {
        name: _number(_term(catalog, row, name)[1]) or 0.0 for name in TrainingTerms.model_fields
    }


def _term(catalog: Catalog, row: Accelerator, name: str) -> tuple[str, Quantity | None]:
    """Return the key and value of one term: of the accelerator, its family, or the generic family.

    The generic family counts only for a precision that the accelerator has and its family lacks.
    """
    own = getattr(row.training, name)
    if own is not None:
        return f"accelerators.{row.id}.training.{name}", own
    family = family_of(catalog, row)
    if getattr(family.terms, name) is None and getattr(row, NEW_PEAKS.get(name, ""), None):
        family = catalog.get("families", GENERIC, Family)
    return f"families.{family.id}.terms.{name}", getattr(family.terms, name)


def device_terms(
    catalog: Catalog,
    row: Accelerator,
    *,
    scaleout_gb_per_s: float | None = None,
    node: float | None = None,
    domain: float | None = None,
) -> DeviceTerms | str:
    """Return the numbers of an accelerator in its system, or the reason why there are none.

    A peak that neither the row nor a class value has is 0. A host with fewer accelerators than a
    server-sized scale-up domain limits the domain.
    """
    terms = training_terms(catalog, row)
    memory, bandwidth = _number(row.hbm_gb), _number(row.hbm_tb_per_s)
    if memory is None or bandwidth is None:
        return f"{row.id} has no memory size or bandwidth"
    size = float(domain or row.scaleup_domain or 1)
    host = node or min(size, HOST_ACCELERATORS)
    if size <= SMALL_DOMAIN and domain is None:
        size = min(size, host)
    up = _number(row.scaleup_gb_per_s)
    given = {
        **{f"{gemm}_tflops": _number(row_peak(row, gemm)) or 0.0 for gemm in FIELDS},
        "half_tflops": _number(half_peak(catalog, row)) or 0.0,
        "fp32_gemm_frac": catalog.get("training", "fp32-gemm-frac", Parameter).value.value,
        "hbm_tb_per_s": bandwidth,
        "hbm_gb": memory,
        "scaleup_gb_per_s": up if up is not None else terms["scaleout_gb_per_s"],
        "domain": size,
        "scaleout_gb_per_s": scaleout_gb_per_s or terms["scaleout_gb_per_s"],
        "node": host,
    }
    names = (
        {f.name for f in fields(DeviceTerms)}
        - given.keys()
        - {"in_network", "exchange_frac", "host_gb"}
    )
    return DeviceTerms(**given, **{name: terms[name] for name in names})


def stack_terms(row: Stack, log: InputLog) -> StackTerms:
    """Fill missing values of a stack: a class value, a neutral share, or 0."""
    filled: dict[str, object] = {}
    for f in fields(StackTerms):
        value = getattr(row, f.name)
        if isinstance(value, Quantity):
            value = value.value
        if value is None:
            key = CLASS_VALUES.get(f.name)
            value = log.parameter("training", key) if key else NO_EFFECT.get(f.name, 0.0)
        filled[f.name] = value
    filled["lean_grad_bytes"] = filled["lean_grad_bytes"] or filled["grad_bytes"]
    filled["lean_optimizer_bytes"] = filled["lean_optimizer_bytes"] or float("inf")
    return StackTerms(**filled)  # type: ignore[arg-type]


def recipe_terms(row: Recipe) -> RecipeTerms:
    """Return the byte counts of a precision recipe."""
    return RecipeTerms(
        gemm=row.gemm,
        operand_bytes=row.operand_bytes.value,
        cast_bytes=row.cast_bytes.value,
        gather_bytes=row.gather_bytes.value,
        weight_bytes=row.weight_bytes.value,
        optimizer_bytes=row.optimizer_bytes.value,
        stored_bytes=row.stored_bytes.value,
        **({"activation_bytes": own.value} if (own := row.activation_bytes) else {}),
    )


def default_stack(row: Accelerator) -> str:
    """Return the usual software stack of an accelerator."""
    usual = {"trainium": "neuronx", "cdna3": "primus-megatron", "cdna4": "primus-megatron"}
    return usual.get(row.family or "", DEFAULT_STACKS[row.kind])


def stack_refusal(catalog: Catalog, row: Accelerator, stack: Stack) -> str | None:
    """Return why a stack does not run on an accelerator, with the stacks that do, or None."""
    family = row.family or GENERIC
    if _runs(stack, family):
        return None
    known = [s.id for s in catalog.table("stacks", Stack).values() if _runs(s, family)]
    usual = default_stack(row)
    known.sort(key=lambda name: (name != usual, name))
    return f"{stack.id} does not run on {row.id}; stacks that do: {', '.join(known) or 'none'}"


def _runs(stack: Stack, family: str) -> bool:
    return not stack.runs_on or family in stack.runs_on


def spread_key(row: Accelerator, *, moe: bool) -> str:
    """Return the key of a stack's ``spreads`` for runs on an accelerator."""
    return f"{row.family}-moe" if moe else str(row.family)


def measured_spread(row: Accelerator, stack: Stack, *, moe: bool) -> float | None:
    """Return the half width of the 80 % interval; None if no such run was measured."""
    found = stack.spreads.get(spread_key(row, moe=moe))
    return found.value if found is not None else None


def spread_frac(log: InputLog, row: Accelerator, stack: Stack, *, moe: bool) -> float:
    """Return the half width of the 80 % interval of a step time.

    It comes from measured residuals, or from the family but at least the class value.
    """
    known = measured_spread(row, stack, moe=moe)
    if known is not None:
        return known
    key = "spread-unmeasured-moe-frac" if moe else "spread-unmeasured-frac"
    least = log.parameter("training", key)
    return max(family_of(log.catalog, row).spread_frac.value, least)


def record_training(log: InputLog, row: Accelerator, gemm: str, stack: str) -> None:
    """Record the inputs of an estimate: peaks, memory, fractions, stack values."""
    key = f"accelerators.{row.id}"
    needed = {gemm} if gemm in WIDE_GEMMS else {gemm, "half"}
    names = {name for kind in needed for name in FIELDS[kind] if getattr(row, name)}
    names -= {"fp16_tflops"} if row.bf16_tflops else set()
    derived = half_peak(log.catalog, row)
    if gemm not in WIDE_GEMMS and derived is not None and row_peak(row, "half") is None:
        log.take(f"{key}.bf16_tflops", derived)
    for name in (*sorted(names), "hbm_gb", "hbm_tb_per_s", "scaleup_gb_per_s"):
        value = getattr(row, name)
        if value is not None:
            log.take(f"{key}.{name}", value)
    gemms = {"fp8": "fp8_gemm_frac", "int8": "fp8_gemm_frac", "fp4": "fp4_gemm_frac"}
    for name in sorted({"half_gemm_frac", gemms.get(gemm, "half_gemm_frac"), "attention_frac"}):
        where, value = _term(log.catalog, row, name)
        if value is not None:
            log.take(where, value)
    habits = log.catalog.get("stacks", stack, Stack)
    for name in ("elementwise", "tp_overlap_frac", "dp_overlap_frac", "host_ms", "moe_host_ms"):
        value = getattr(habits, name)
        if value is not None:
            log.take(f"stacks.{stack}.{name}", value)
