"""Kernel models of the training room, fitted to measurements and checked against data sheets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.answers.calibrate.read import SIZES, Entry, Floats, Measured
from dcplan.catalog.schema import Accelerator
from dcplan.errors import InputError
from dcplan.inputs.training.devices import SMALL_DOMAIN
from dcplan.llm.coefficients import AttentionRamp, Coefficients
from dcplan.llm.kernel_fit import (
    FIT_LARGE_FRAC,
    Fitted,
    Products,
    fit_attention,
    fit_gemm,
    fit_grouped,
    fit_rate,
)
from dcplan.provenance import Quantity

ABOVE_PEAK = 1.02
"""Tolerance above the peak of a data sheet for clocks and rounding; above it, the data sheet
belongs to a different device."""


@dataclass(frozen=True)
class Sheet:
    """The data sheet of one PyTorch device: the accelerator, or one of its ``ranks`` dies."""

    row: Accelerator
    ranks: float

    def peak(self, name: str) -> float:
        """Return a peak in FLOP/s or byte/s; 0 if the row has none."""
        quantity: Quantity | None = getattr(self.row, name)
        scale = 1e9 if name.endswith("_gb_per_s") else 1e12
        return quantity.value * scale / self.ranks if quantity else 0.0


def fit(
    measured: Measured, sheet: Sheet, coefficients: Coefficients
) -> tuple[dict[str, Fitted], dict[str, str]]:
    """Fit each measured quantity, and give the reason for each missing one.

    Raises
    ------
    InputError
        When a measurement is faster than the data sheet allows.
    """
    found: dict[str, Fitted] = {}
    left: dict[str, str] = {}
    name, units = sheet.row.id, float(measured.document.data["multiprocessors"])
    half, low, hbm = sheet.peak("bf16_tflops"), sheet.peak("fp8_tflops"), sheet.peak("hbm_tb_per_s")
    moved, took = measured.column("memory", "bytes"), measured.column("memory", "median_s")
    large = np.where(
        moved >= FIT_LARGE_FRAC * moved.max(), moved, 0.0
    )  # small arrays stay in the cache
    _hold(measured, measured.parts["memory"], large / took / hbm, f"memory bandwidth of {name}")
    hbm_frac = fit_rate(moved, took, peak_bytes_per_s=hbm)
    device: dict[str, float] = {"units": units, "bytes_per_s": hbm * hbm_frac.value}

    x = measured.products("gemm", "bf16")
    _hold(measured, measured.rows("gemm", dtype="bf16"), _speed(x) / half, f"bf16 peak of {name}")
    found["half_gemm_frac"], depth = fit_gemm(
        x, peak_flops_per_s=half, tiling=coefficients.tiling, **device
    )
    x = measured.products("gemm", "fp8")
    if x.m.size and low:
        _hold(measured, measured.rows("gemm", dtype="fp8"), _speed(x) / low, f"fp8 peak of {name}")
        found["fp8_gemm_frac"], _ = fit_gemm(
            x, peak_flops_per_s=low, prologue=depth.value, tiling=coefficients.tiling, **device
        )
    else:
        left["fp8_gemm_frac"] = (
            f"{name} has no fp8_tflops" if x.m.size else "no fp8 product was measured"
        )
    found["prologue_depth"] = depth
    x = measured.products("grouped", "bf16")
    if x.m.size:
        full = half * found["half_gemm_frac"].value
        found["grouped_rows"] = fit_grouped(x, flops_per_s=full, bytes_per_s=device["bytes_per_s"])
    else:
        left["grouped_rows"] = "no grouped bf16 product was measured"
    found["attention_frac"] = _attention(measured, half, units, name, coefficients.ramp)
    found["hbm_frac"] = hbm_frac
    _scaleup(measured, sheet, found, left)
    return found, left


def _speed(x: Products) -> Floats:
    return 2.0 * x.m * x.n * x.k / x.time_s


def _hold(measured: Measured, rows: list[Entry], fractions: Floats, of: str) -> None:
    """Refuse measurements that are faster than the data sheet allows."""
    i = int(np.argmax(fractions))
    if fractions[i] > ABOVE_PEAK:
        where = rows[i]["at"]
        cause = f"{where[0]}[{where[1]}] ran at {fractions[i]:.2f} times the {of}"
        hint = "check that --accelerator is the measured accelerator"
        raise InputError(
            [measured.document.problem("DC015", cause, (*where, "median_s"), hint=hint)]
        )


def _attention(
    measured: Measured, peak: float, units: float, name: str, ramp: AttentionRamp
) -> Fitted:
    rows = measured.parts["attention"]
    batch, heads, seq, dim, took = (
        measured.column("attention", n) for n in (*SIZES["attention"], "median_s")
    )
    mask = np.array([0.5 if r.get("causal", True) else 1.0 for r in rows])
    back = np.array([r["direction"] == "backward" for r in rows])
    pairs, dims = batch * seq * seq * mask, 2.0 * dim
    speed = np.where(back, 5.0, 2.0) * pairs * heads * dims / took
    _hold(measured, rows, speed / peak, f"bf16 peak of {name}")
    shapes = {"pairs": pairs, "heads": heads, "dims": dims, "work": batch * seq * heads}
    return fit_attention(
        **shapes, backward=back, time_s=took, peak_flops_per_s=peak, units=units, ramp=ramp
    )


def _scaleup(
    measured: Measured, sheet: Sheet, found: dict[str, Fitted], left: dict[str, str]
) -> None:
    """Fit the link bandwidth of one rank to the all-gathers inside one scale-up domain."""
    rows = measured.rows("collectives", op="all_gather")
    peak, domain = sheet.peak("scaleup_gb_per_s"), (sheet.row.scaleup_domain or 1) * sheet.ranks
    inside = [
        r for r in rows if 1 < r["ranks"] <= domain and (r["nodes"] == 1 or domain > SMALL_DOMAIN)
    ]
    if not inside or not peak:
        why = (
            "every all-gather left the scale-up domain"
            if rows
            else "no all-gather was measured (start with torchrun)"
        )
        left["scaleup_frac"] = why if peak else f"{sheet.row.id} has no scaleup_gb_per_s"
        return
    ranks, size, took = (
        np.array([float(r[n]) for r in inside]) for n in ("ranks", "bytes", "median_s")
    )
    moved = (ranks - 1.0) / ranks * size
    _hold(measured, inside, moved / took / peak, f"scale-up bandwidth of {sheet.row.id}")
    found["scaleup_frac"] = fit_rate(moved, took, peak_bytes_per_s=peak)
