"""Accelerators as the serving room sees them: peaks by tensor class, memory, links."""

from __future__ import annotations

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Parameter, WeightFormat
from dcplan.inputs.training.devices import HOST_ACCELERATORS, SMALL_DOMAIN, training_terms
from dcplan.inputs.training.peaks import half_peak, row_peak
from dcplan.provenance import Quantity
from dcplan.units import GIGA, TERA

WIDE = frozenset({"half", "fp32", "tf32"})
"""Kinds of products on inputs of 16 bit or more."""


def _value(quantity: Quantity | None) -> float | None:
    return quantity.value if quantity is not None else None


def product_tflops(catalog: Catalog, row: Accelerator, math: str) -> float | None:
    """Return the peak at which an accelerator multiplies weights of a format.

    A format that the accelerator does not multiply is widened in registers to 16 bit, as 4-bit
    weights on Hopper are: the memory traffic stays narrow, the products run at the 16-bit peak.
    """
    half = _value(half_peak(catalog, row))
    if math in ("half", "fp32", "tf32"):
        own = _value(row_peak(row, math))
        return half if math == "half" or own is None else own
    own = _value(row_peak(row, math))
    return own if own is not None else half


def clock_frac(catalog: Catalog, row: Accelerator) -> float:
    r"""Return the clock under matrix products of a power-limited part over that of its silicon.

    .. math:: f = p^a

    with the power limit p and the exponent ``power-limit-exponent``; memory keeps its rate.
    """
    limit = _value(row.power_limit_frac)
    if limit is None:
        return 1.0
    exponent = catalog.get("serving", "power-limit-exponent", Parameter).value.value
    return float(limit**exponent)


def quantized_frac(
    catalog: Catalog, row: Accelerator, formats: dict[str, WeightFormat], *, experts: bool
) -> float:
    """Return the share of a layer's blocks that quantize their inputs: attention and MLP.

    Weights that the accelerator does not multiply at their own width are widened instead.
    """
    mlp = formats["experts" if experts else "dense"]

    def narrow(math: str) -> bool:
        return math not in WIDE and row_peak(row, math) is not None

    return (narrow(formats["attention"].math) + narrow(mlp.math)) / 2.0


def served_device(
    catalog: Catalog,
    row: Accelerator,
    formats: dict[str, WeightFormat],
    cache_kind: str,
    nic_gb_per_s: float | None = None,
    domain: int | None = None,
) -> dict[str, float] | str:
    """Return the fields of a :class:`dcplan.serving.tables.ServedDevice`, or what is missing."""
    memory = _value(row.usable_hbm_gb) or _value(row.hbm_gb)
    bandwidth, half = _value(row.hbm_tb_per_s), _value(half_peak(catalog, row))
    if memory is None or bandwidth is None or half is None:
        return f"{row.id} has no memory size, memory bandwidth or 16-bit peak"
    terms = training_terms(catalog, row)
    nic = nic_gb_per_s or terms["scaleout_gb_per_s"]
    link = _value(row.scaleup_gb_per_s) or nic
    size = float(domain or row.scaleup_domain or 1)
    clock = clock_frac(catalog, row) * TERA
    peaks = {k: (product_tflops(catalog, row, f.math) or half) * clock for k, f in formats.items()}
    cache = _value(row_peak(row, "fp8")) if cache_kind == "fp8" else None
    return {
        "hbm_bytes_per_s": bandwidth * TERA,
        "memory_bytes": memory * GIGA,
        "attention_flops": peaks["attention"],
        "dense_flops": peaks["dense"],
        "expert_flops": peaks["experts"],
        "half_flops": half * clock,
        "cache_flops": (cache or half) * clock,
        "link_bytes_per_s": link * GIGA,
        "domain": size if size > SMALL_DOMAIN else min(size, HOST_ACCELERATORS),
        "nic_bytes_per_s": nic * GIGA,
    }
