"""``dcplan calibrate``: the measuring script, and its measurements as a catalog overlay."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from dcplan.answers.calibrate.fit import Sheet, fit
from dcplan.answers.calibrate.read import SIZES, Measured, read
from dcplan.answers.calibrate.request import SCRIPT, CalibrateRequest, missing
from dcplan.answers.common.catalog_rows import named
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Accelerator
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.coefficients import coefficients
from dcplan.inputs.training.devices import training_terms
from dcplan.llm.kernel_fit import Fitted
from dcplan.result import Result, Table
from dcplan.specs.request import verb
from dcplan.specs.validation import calibrate as specs

OVERLAY = "calibrated.yaml"
UNSTEADY = 1.2
"""Ratio of the 90th to the 10th percentile above which a measurement counts as disturbed."""
FAR = 0.25
"""Mean error of a fit above which the model does not describe the device."""


@dataclass(frozen=True)
class Calibration:
    """The answer, and the text of the overlay file."""

    result: Result
    overlay: str


def script() -> str:
    """Return the measuring script; it needs PyTorch, but not dcplan."""
    return files("dcplan.answers.calibrate").joinpath(f"{SCRIPT}.txt").read_text(encoding="utf-8")


@verb(CalibrateRequest, "calibrate")
def calibrate(request: CalibrateRequest) -> Calibration:
    """Fit the kernel models of the training room to the measurements of the script.

    Raises
    ------
    InputError
        When the file is not a result of the script, holds impossible numbers, or contradicts the
        data sheet.
    """
    problems = missing(request)
    if problems or request.result_file is None or request.accelerator is None:
        raise InputError(problems)
    catalog = load_catalog(tuple(Path(c) for c in request.catalogs))
    row = named(catalog, "accelerators", request.accelerator, Accelerator, "--accelerator")
    lacking = [f for f in ("bf16_tflops", "hbm_tb_per_s") if getattr(row, f) is None]
    if lacking:
        cause = f"{row.id} has no {' and no '.join(lacking)}, which the comparison needs"
        help_text = f"dcplan catalog show {row.id}"
        raise InputError([Problem("DC003", cause, Place("--accelerator"), help=help_text)])
    measured = read(Path(request.result_file))
    before = training_terms(catalog, row)
    sheet = Sheet(row, before["ranks"] or 1.0)
    found, left = fit(measured, sheet, coefficients(InputLog(catalog)))
    return Calibration(_answer(measured, row, before, found, left), _overlay(measured, row, found))


def _answer(
    measured: Measured,
    row: Accelerator,
    before: dict[str, float],
    found: dict[str, Fitted],
    left: dict[str, str],
) -> Result:
    data = measured.document.data
    return Result(
        verb="calibrate",
        status="ok",
        exit_code=EXIT_OK,
        headline=f"{row.id}, measured on {data['device']}: {_told(found)}",
        tables={
            specs.VALUES.name: _values(data, before, found),
            specs.EXCLUDED.name: specs.EXCLUDED.table(
                specs.ExcludedRow(name, reason) for name, reason in left.items()
            ),
        },
        warnings=[{"code": "calibrate", "message": text} for text in _doubts(measured, row, found)],
    )


def _values(data: dict[str, Any], before: dict[str, float], found: dict[str, Fitted]) -> Table:
    units = float(data["multiprocessors"])
    counted = Fitted(units, units, units, 1, 0.0)
    return specs.VALUES.table(
        specs.ValueRow(
            quantity=name,
            measured=f.value,
            low=f.low,
            high=f.high,
            points=f.points,
            error_frac=f.error,
            catalog=before.get(name) or None,
        )
        for name, f in {**found, "multiprocessors": counted}.items()
    )


def _told(found: dict[str, Fitted]) -> str:
    """Return the main quantities in words."""
    words = {
        "half_gemm_frac": "large matrix products approach {:.0%} of the bf16 peak",
        "fp8_gemm_frac": "{:.0%} of the fp8 peak",
        "attention_frac": "attention {:.0%} of the bf16 peak",
        "hbm_frac": "memory {:.0%} of its bandwidth",
        "scaleup_frac": "links {:.0%} of their bandwidth",
    }
    return ", ".join(
        text.format(found[name].value) for name, text in words.items() if name in found
    )


def _doubts(measured: Measured, row: Accelerator, fits: dict[str, Fitted]) -> list[str]:
    """Return doubts about the measurement as a whole."""
    data, found = measured.document.data, []
    scatter = float(
        np.median([r["p90_s"] / r["p10_s"] for rows in measured.parts.values() for r in rows])
    )
    if scatter > UNSTEADY:
        spread = (
            f"repeated measurements vary by a factor of {scatter:.2f} (10th to 90th percentile)"
        )
        found.append(f"{spread}: check that the device was idle")
    odd = [f"{name} {f.error:.0%}" for name, f in fits.items() if f.error > FAR]
    if odd:
        found.append(
            f"the kernel models fit these measurements badly (mean error): {', '.join(odd)}"
        )
    marks = [w for w in re.split(r"[-.]", row.id) if re.search(r"\d", w)]
    if marks and not any(w in data["device"].lower().replace(" ", "") for w in marks):
        found.append(f"the device reports the name {data['device']}: check that it is {row.id}")
    skipped = data.get("skipped")
    late = [s for s in skipped if isinstance(s, dict)] if isinstance(skipped, list) else []
    parts = sorted(
        {str(s.get("part")) for s in late if s.get("reason") == "out of time"} & set(SIZES)
    )
    if parts:
        found.append(
            f"the script reached its time limit in {', '.join(parts)}: "
            "use a larger --max-s to measure more"
        )
    return found


def _overlay(measured: Measured, row: Accelerator, found: dict[str, Fitted]) -> str:
    """Return one accelerator row with the measured training terms; the catalog gives the rest."""
    data = measured.document.data
    runtime = data["cuda"] if data["cuda"].startswith("ROCm") else f"CUDA {data['cuda']}"
    source = f"dcplan calibrate, measured on {data['device']}, torch {data['torch']}, {runtime}"
    origin = f"source: {json.dumps(source)}, as_of: {json.dumps(data['date'])}"
    lines = [
        "# Written by dcplan calibrate. Use it with --catalogs and the folder of this file.",
        "accelerators:",
        f"  - id: {row.id}",
        "    training:",
    ]
    for name, f in found.items():
        lines.append(f"      # points: {f.points}, mean error: {f.error:.1%}")
        value = f"value: {f.value:.4g}, low: {f.low:.4g}, high: {f.high:.4g}"
        lines.append(f"      {name}: {{{value}, {origin}}}")
    units = data["multiprocessors"]
    lines.append(
        f"      multiprocessors: {{value: {units}, low: {units}, high: {units}, {origin}}}"
    )
    return "\n".join(lines) + "\n"
