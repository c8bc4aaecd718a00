"""Catalog rows of accelerators and recipes as numbers of the training room."""

from __future__ import annotations

from dataclasses import fields

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Family, Parameter, Recipe, Stack, TrainingTerms
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.peaks import FIELDS, half_peak, row_peak
from dcplan.llm.device_terms import WIDE_GEMMS, DeviceTerms, RecipeTerms
from dcplan.provenance import Quantity
from dcplan.units import W_PER_KW

GENERIC = "generic"
HOST_ACCELERATORS = 8
"""Default number of accelerators in a host: that of the common server."""
SMALL_DOMAIN = 16
"""Largest scale-up domain that is one host; a host with fewer accelerators has a smaller
domain."""
CLOCKED = ("half_gemm_frac", "fp8_gemm_frac", "fp4_gemm_frac", "attention_frac")
"""Fractions of products and attention that reach the power limit; portable attention does not."""
NEW_PEAKS = {"fp8_gemm_frac": "fp8_tflops", "fp4_gemm_frac": "fp4_tflops"}
"""Fractions that a family may lack although a newer accelerator of it has the peak."""


def _number(value: object) -> float | None:
    return value.value if isinstance(value, Quantity) else None


def family_of(catalog: Catalog, row: Accelerator) -> Family:
    """Return the family of an accelerator, or the generic family."""
    return catalog.get("families", row.family or GENERIC, Family)


def training_terms(catalog: Catalog, row: Accelerator) -> dict[str, float]:
    """Return achievable fractions of the accelerator, or of its family, or 0.

    Fractions of the family are scaled with the clock that the accelerator's power allows.
    """
    clock = clock_ratio(catalog, row)
    terms = {}
    for name in TrainingTerms.model_fields:
        value = _number(_term(catalog, row, name)[1]) or 0.0
        shared = name in CLOCKED and getattr(row.training, name) is None
        terms[name] = min(value * clock, 1.0) if shared else value
    return terms


def clock_ratio(catalog: Catalog, row: Accelerator) -> float:
    r"""Return the sustained clock of an accelerator over that of its family's reference.

    .. math:: c = \min\left(\left(\frac{P / F}{P_0 / F_0}\right)^a,\ c_{max}\right)

    with the rated power P and the 16-bit peak F of the accelerator, P_0 and F_0 of the reference,
    the exponent a ``gemm-power-exponent`` and the highest ratio c_max ``clock-headroom``. Large
    matrix products run at the power limit, not at the boost clock of the data sheet. The ratio is
    1 without a reference, a power or a peak.
    """
    family = family_of(catalog, row)
    if family.reference is None or family.reference == row.id:
        return 1.0
    reference = catalog.get("accelerators", family.reference, Accelerator)
    own, base = _w_per_tflops(catalog, row), _w_per_tflops(catalog, reference)
    if own is None or base is None:
        return 1.0
    exponent = catalog.get("power", "gemm-power-exponent", Parameter).value.value
    most = catalog.get("training", "clock-headroom", Parameter).value.value
    return float(min((own / base) ** exponent, most))


def _w_per_tflops(catalog: Catalog, row: Accelerator) -> float | None:
    """Return the rated power over the 16-bit peak, or None if one is unknown."""
    power, peak = _number(row.tdp_kw), _number(half_peak(catalog, row))
    return power * W_PER_KW / peak if power and peak else None


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
    if row.tdp_kw is not None and clock_ratio(log.catalog, row) != 1.0:
        log.parameter("power", "gemm-power-exponent")
        log.parameter("training", "clock-headroom")
        log.take(f"{key}.tdp_kw", row.tdp_kw)
    habits = log.catalog.get("stacks", stack, Stack)
    for name in ("elementwise", "tp_overlap_frac", "dp_overlap_frac", "launch_us"):
        value = getattr(habits, name)
        if value is not None:
            log.take(f"stacks.{stack}.{name}", value)
