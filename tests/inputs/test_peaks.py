"""Peaks that a precision needs, and the class value of a missing 16-bit peak."""

from __future__ import annotations

import statistics

import pytest

from dcplan.catalog.loader import Catalog, load
from dcplan.catalog.schema import Accelerator, Parameter
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.peaks import half_peak, half_peak_note, missing_peak
from dcplan.inputs.training.speed import hardware
from dcplan.provenance import Status
from dcplan.training.estimate import Hardware


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


def _row(catalog: Catalog, name: str) -> Accelerator:
    return catalog.get("accelerators", name, Accelerator)


def _without(catalog: Catalog, name: str, *fields: str) -> Accelerator:
    """Return a row whose maker publishes less than the catalog has."""
    return _row(catalog, name).model_copy(update=dict.fromkeys(fields))


def test_half_peak_by_the_ratio_of_the_newest_row_of_the_family(catalog: Catalog) -> None:
    """A later Rubin with 40,000 FP8 and no BF16: over the 34,722 / 8,000 of Rubin Ultra, 9,216."""
    row = _without(catalog, "rubin-ultra", "bf16_tflops")
    assert row.fp8_tflops is not None
    more = row.fp8_tflops.model_copy(update={"value": 40000.0})
    row = row.model_copy(update={"available_from": "2028-Q4", "fp8_tflops": more})
    peak = half_peak(catalog, row)
    assert peak is not None
    assert peak.value == pytest.approx(40000 / (34722 / 8000))
    assert peak.status is Status.ESTIMATE
    assert peak.low is not None
    assert peak.high is not None
    assert peak.low < peak.value < peak.high


def test_half_peak_from_an_fp4_peak_takes_two_steps(catalog: Catalog) -> None:
    """TPU 8t without other peaks: 12,600 FP4 over 2 is 6,300 FP8, over 2 is 3,150."""
    row = _without(catalog, "tpu8t", "bf16_tflops", "fp8_tflops")
    peak = half_peak(catalog, row)
    assert peak is not None
    assert peak.value == pytest.approx(3150)
    assert "FP4 peak 12,600 over 2" in str(peak.note)
    assert "FP8 peak 6,300 over 2" in str(peak.note)
    note = half_peak_note(catalog, row)
    assert note is not None
    assert "3,150 TFLOP/s, a class value" in note


def test_an_own_peak_stays(catalog: Catalog) -> None:
    row = _row(catalog, "h100-sxm")
    assert half_peak(catalog, row) == row.bf16_tflops
    assert half_peak_note(catalog, row) is None
    assert half_peak(catalog, _row(catalog, "jaguar-shores")) is None


@pytest.mark.parametrize(
    ("key", "narrow", "wide"),
    [
        ("fp8-over-half-peak", "fp8_tflops", "bf16_tflops"),
        ("fp4-over-fp8-peak", "fp4_tflops", "fp8_tflops"),
    ],
)
def test_class_ratios_are_those_of_the_catalog(
    catalog: Catalog, key: str, narrow: str, wide: str
) -> None:
    rows = catalog.table("accelerators", Accelerator).values()
    ratios = [
        getattr(r, narrow).value / getattr(r, wide).value
        for r in rows
        if getattr(r, narrow) and getattr(r, wide)
    ]
    value = catalog.get("training", key, Parameter).value
    assert statistics.median(ratios) == pytest.approx(value.value, rel=0.01)
    assert value.low is not None
    assert value.high is not None
    assert value.low * 0.99 <= min(ratios)
    assert max(ratios) <= value.high * 1.01


@pytest.mark.parametrize(
    ("accelerator", "gemm", "field"),
    [
        ("rubin-ultra", "half", "bf16_tflops"),
        ("tpu8t", "fp8", "fp8_tflops"),
        ("wse-3", "fp8", "fp8_tflops"),
        ("vr200", "int8", "int8_tops"),
        ("h20-sxm", "fp32", "fp32_tflops"),
        ("a100-80g-sxm", "fp4", "fp4_tflops"),
    ],
)
def test_a_missing_peak_names_the_field(
    catalog: Catalog, accelerator: str, gemm: str, field: str
) -> None:
    why = missing_peak(catalog, _without(catalog, accelerator, field), gemm)
    assert why is not None
    assert f"`prices: {{{accelerator}: {{{field}: VALUE}}}}`" in why


@pytest.mark.parametrize(
    ("accelerator", "gemm"),
    [("rubin-ultra", "fp8"), ("rubin-ultra", "fp4"), ("tpu8t", "fp4"), ("mtia-v2", "fp8")],
)
def test_only_the_peak_in_use_is_needed(catalog: Catalog, accelerator: str, gemm: str) -> None:
    why = missing_peak(catalog, _row(catalog, accelerator), gemm)
    assert (why is None) == (accelerator != "mtia-v2")


def test_32_bit_work_needs_no_16_bit_peak(catalog: Catalog) -> None:
    """FP32 alone is enough for FP32; INT8 also needs a 16-bit peak, for attention."""
    less = dict.fromkeys(("bf16_tflops", "fp16_tflops", "fp8_tflops", "tf32_tflops"))
    row = _row(catalog, "h100-sxm").model_copy(update=less)
    assert missing_peak(catalog, row, "fp32") is None
    assert "bf16_tflops" in str(missing_peak(catalog, row, "int8"))


def _spec(catalog: Catalog, accelerator: str, precision: str) -> tuple[Hardware, InputLog]:
    log = InputLog(catalog)
    spec = hardware(accelerator, precision, 0.0, log, moe=False)
    assert isinstance(spec, Hardware)
    return spec, log


def test_the_class_value_is_an_input_of_the_answer(catalog: Catalog) -> None:
    spec, log = _spec(catalog, "tpu8t", "fp4")
    row = log.rows["accelerators.tpu8t.bf16_tflops"]
    assert row.value == pytest.approx(3150)
    assert row.status == "estimate"
    # no TPU was measured in FP4: the generic family's share
    assert spec.device.fp4_gemm_frac == log.rows["families.generic.terms.fp4_gemm_frac"].value


@pytest.mark.parametrize(
    ("precision", "peak", "field"),
    [("int8", 1978.9, "int8_tops"), ("fp32", 66.9, "fp32_tflops"), ("tf32", 494.7, "tf32_tflops")],
)
def test_precisions_of_an_h100(catalog: Catalog, precision: str, peak: float, field: str) -> None:
    """H100 SXM data sheet, dense: 1,979 TOPS INT8, 67 TFLOP/s FP32, 495 TF32."""
    spec, log = _spec(catalog, "h100-sxm", precision)
    assert spec.peak_tflops == peak
    assert log.rows[f"accelerators.h100-sxm.{field}"].value == peak
    # 32-bit tensors need no 16-bit peak
    assert ("accelerators.h100-sxm.bf16_tflops" in log.rows) == (precision == "int8")
