"""Peaks of an accelerator by precision: those of its row, and a class value for 16 bit."""

from __future__ import annotations

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Parameter
from dcplan.llm.device_terms import WIDE_GEMMS
from dcplan.provenance import Quantity, Status
from dcplan.units import quarter_index

FIELDS = {
    "half": ("bf16_tflops", "fp16_tflops"),
    "tf32": ("tf32_tflops",),
    "fp32": ("fp32_tflops",),
    "fp8": ("fp8_tflops",),
    "fp4": ("fp4_tflops",),
    "int8": ("int8_tops",),
}
"""Fields of an accelerator's row with the dense peak of each kind of matrix product."""
STEPS = (
    ("fp8_tflops", "bf16_tflops", "fp8-over-half-peak"),
    ("fp4_tflops", "fp8_tflops", "fp4-over-fp8-peak"),
)
"""Known peak, next wider peak, and the catalog parameter of their ratio."""


def row_peak(row: Accelerator, gemm: str) -> Quantity | None:
    """Return the dense peak of a kind of matrix product in an accelerator's own row, or None."""
    return next((q for name in FIELDS[gemm] if (q := getattr(row, name)) is not None), None)


def half_peak(catalog: Catalog, row: Accelerator) -> Quantity | None:
    """Return the 16-bit peak of an accelerator, or a class value from a narrower peak, or None.

    The class value is the FP8 peak (or first an FP8 peak from the FP4 peak) over a ratio: that of
    the newest row of the same family with both peaks, else the class value of the catalog. Its
    bounds are those of the class ratio.
    """
    own = row_peak(row, "half")
    if own is not None:
        return own
    if row.fp8_tflops is not None:
        return _wider(catalog, row, row.fp8_tflops, *STEPS[0])
    if row.fp4_tflops is None:
        return None
    fp8 = _wider(catalog, row, row.fp4_tflops, *STEPS[1])
    half = _wider(catalog, row, fp8, *STEPS[0])
    return half.model_copy(update={"note": f"{fp8.note}; {half.note}"})


def _wider(
    catalog: Catalog, row: Accelerator, known: Quantity, narrow: str, wide: str, key: str
) -> Quantity:
    """Return a peak divided by the ratio of it to the next wider one."""
    usual = catalog.get("training", key, Parameter)
    near = _newest_of_family(catalog, row, narrow, wide)
    ratio = usual.value.value
    whose = f"the class value {key}"
    if near is not None:
        ratio = getattr(near, narrow).value / getattr(near, wide).value
        whose = f"that of {near.id}, the newest row of its family"
    low, high = usual.value.low or ratio, usual.value.high or ratio
    step = f"{_name(narrow)} peak {known.value:,.0f} over {ratio:.3g} ({whose})"
    return Quantity(
        value=known.value / ratio,
        low=(known.low or known.value) / max(high, ratio),
        high=(known.high or known.value) / min(low, ratio),
        status=Status.ESTIMATE,
        source=str(usual.source),
        as_of=usual.source.as_of,
        note=step,
    )


def _newest_of_family(
    catalog: Catalog, row: Accelerator, narrow: str, wide: str
) -> Accelerator | None:
    rows = [
        r
        for r in catalog.table("accelerators", Accelerator).values()
        if r.family is not None
        and r.family == row.family
        and r.available_from is not None
        and getattr(r, narrow) is not None
        and getattr(r, wide) is not None
    ]
    return max(rows, key=lambda r: (quarter_index(r.available_from or ""), r.id), default=None)


def _name(field: str) -> str:
    return field.removesuffix("_tflops").upper()


def half_peak_note(catalog: Catalog, row: Accelerator) -> str | None:
    """Return a note if the 16-bit peak of an accelerator is a class value."""
    derived = half_peak(catalog, row)
    if derived is None or row_peak(row, "half") is not None:
        return None
    return (
        f"attention and the output layer of {row.id} run at a 16-bit peak of {derived.value:,.0f} "
        f"TFLOP/s, a class value ({derived.low:,.0f} to {derived.high:,.0f}): {derived.note}"
    )


def peak_gap(catalog: Catalog, row: Accelerator, gemm: str) -> str | None:
    """Return which peak an accelerator lacks for a kind of matrix product, or None.

    Only the peaks that the precision uses are needed: its own, and 16 bit unless all tensors have
    32 bit.
    """
    needed = (gemm,) if gemm in WIDE_GEMMS else (gemm, "half")
    lacks = next((g for g in needed if _known(catalog, row, g, gemm) is None), None)
    if lacks is None:
        return None
    return f"{row.id} has no dense {'bf16 or fp16' if lacks == 'half' else lacks} peak"


def _known(catalog: Catalog, row: Accelerator, gemm: str, main: str) -> Quantity | None:
    """Return a peak; a class value never serves the main products."""
    return row_peak(row, gemm) if gemm == main else half_peak(catalog, row)


def missing_peak(catalog: Catalog, row: Accelerator, gemm: str) -> str | None:
    """Return which peak an accelerator lacks and how to give it, or None."""
    gap = peak_gap(catalog, row, gemm)
    if gap is None:
        return None
    name = FIELDS[gemm if row_peak(row, gemm) is None else "half"][0]
    return (
        f"{gap}: the catalog has no {name}; give it in a scenario with `prices: "
        f"{{{row.id}: {{{name}: VALUE}}}}`, or in an overlay with --catalogs"
    )
