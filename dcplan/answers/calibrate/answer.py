"""``dcplan calibrate``: the measuring script, its measurements and own runs as overlays, and logs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from dcplan.answers.calibrate.fit import Sheet, fit
from dcplan.answers.calibrate.logs import answer as logs_answer
from dcplan.answers.calibrate.overlay import kernel_overlay, runs_overlay
from dcplan.answers.calibrate.own_answer import answer as own_answer
from dcplan.answers.calibrate.own_answer import stack_key
from dcplan.answers.calibrate.own_runs import fit_runs
from dcplan.answers.calibrate.read import SIZES, Measured, read
from dcplan.answers.calibrate.request import SCRIPT, CalibrateRequest, form_of, missing, problem
from dcplan.answers.common.catalog_rows import named
from dcplan.answers.validation.runs.measured import read_table
from dcplan.catalog.loader import Catalog
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Accelerator
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.coefficients import coefficients
from dcplan.inputs.training.devices import training_terms
from dcplan.llm.kernel_fit import Fitted
from dcplan.result import Result, Table
from dcplan.specs.validation import calibrate as specs
from dcplan.specs.verb import verb

OVERLAY = "calibrated.yaml"
"""File of the overlay folder; one for all forms, as two files cannot share an accelerator."""
UNSTEADY = 1.2
"""Ratio of the 90th to the 10th percentile above which a measurement counts as disturbed."""
FAR = 0.25
"""Mean error of a fit above which the model does not describe the device."""


@dataclass(frozen=True)
class Calibration:
    """The answer, and the text of the file that it makes."""

    result: Result
    overlay: str = ""
    """Catalog overlay; empty for logs."""
    rows: str = ""
    """CSV of runs, made of logs."""


def script() -> str:
    """Return the measuring script; it needs PyTorch, but not dcplan."""
    return files("dcplan.answers.calibrate").joinpath(f"{SCRIPT}.txt").read_text(encoding="utf-8")


@verb(CalibrateRequest, "calibrate")
def calibrate(request: CalibrateRequest) -> Calibration:
    """Fit kernels to the measurements of the script, or a stack to own runs, or read training logs.

    Raises
    ------
    InputError
        When the forms are mixed, or a file cannot be read, holds impossible numbers, contradicts
        the data sheet, or has no supported run.
    """
    form = form_of(request)
    catalog = load_catalog(tuple(Path(c) for c in request.catalogs))
    if form == "--runs" and request.runs is not None:
        return _own(request, Path(request.runs), catalog)
    if form == "--from-log":
        result, rows = logs_answer(request, catalog)
        return Calibration(result, rows=rows)
    problems = missing(request)
    if problems or request.result_file is None or request.accelerator is None:
        raise InputError(problems)
    row = named(catalog, "accelerators", request.accelerator, Accelerator, "--accelerator")
    measured, found, left = _kernels(request.result_file, row, catalog)
    before = training_terms(catalog, row)
    return Calibration(
        _answer(measured, row, before, found, left), kernel_overlay(measured, row, found)
    )


def _kernels(
    file: Path, row: Accelerator, catalog: Catalog
) -> tuple[Measured, dict[str, Fitted], dict[str, str]]:
    """Fit the kernels that the script measured on an accelerator."""
    lacking = [f for f in ("bf16_tflops", "hbm_tb_per_s") if getattr(row, f) is None]
    if lacking:
        cause = f"{row.id} has no {' and no '.join(lacking)}, which the comparison needs"
        help_text = f"dcplan catalog show {row.id}"
        raise InputError([Problem("DC003", cause, Place("--accelerator"), help=help_text)])
    measured = read(Path(file))
    sheet = Sheet(row, training_terms(catalog, row)["ranks"] or 1.0)
    found, left = fit(measured, sheet, coefficients(InputLog(catalog)))
    return measured, found, left


def _own(request: CalibrateRequest, file: Path, catalog: Catalog) -> Calibration:
    """Fit a stack to own runs, with measured kernels if there are any."""
    measured, kernels = None, {}
    if request.kernels is not None:
        row = _measured_part(request, file, catalog)
        measured, kernels[row.id], _ = _kernels(request.kernels, row, catalog)
    own = fit_runs(catalog, file, request.like, kernels)
    key = stack_key(own, request.name)
    text = runs_overlay(own, key, file, kernels, measured)
    return Calibration(own_answer(own, key, catalog, file), text)


def _measured_part(request: CalibrateRequest, file: Path, catalog: Catalog) -> Accelerator:
    """Return the accelerator of the kernels: given, or the only one of the runs."""
    if request.accelerator is not None:
        return named(catalog, "accelerators", request.accelerator, Accelerator, "--accelerator")
    texts = {row.get("accelerator_id", "") for row in read_table(file)}
    parts = {x.id: x for text in texts if (x := catalog.find("accelerators", text, Accelerator))}
    if len(parts) != 1:
        cause = f"the runs use {', '.join(sorted(parts)) or 'no known accelerator'}"
        help_text = "name the accelerator of --kernels with --accelerator"
        raise InputError([problem(f"{cause}, and --kernels measures one", help_text)])
    return next(iter(parts.values()))


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
        headline=f"{row.id}, measured on {data['device']}: {_constants_text(found)}",
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


def _constants_text(found: dict[str, Fitted]) -> str:
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
