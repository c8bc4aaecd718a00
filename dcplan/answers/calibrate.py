"""``dcplan calibrate``: the measuring script, and what it measured as a catalog overlay."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Accelerator
from dcplan.catalog.yaml12 import Document, parse, read_text
from dcplan.errors import EXIT_OK, InputError, Place, Problem, did_you_mean
from dcplan.planning.menu.devices import SMALL_DOMAIN, training_terms
from dcplan.provenance import Quantity
from dcplan.result import Cell, Result, Table
from dcplan.training.calibration import LARGE, Fitted, Products, fit_attention, fit_gemm, fit_grouped, fit_rate

SCHEMA = "dcplan.calibration/1"
SCRIPT = "measure.py"
OVERLAY = "calibrated.yaml"
ANY: tuple[str, ...] = ()
TEXTS: dict[str, dict[str, tuple[str, ...]]] = {
    "gemm": {"dtype": ANY},
    "grouped": {"dtype": ANY},
    "attention": {"direction": ("forward", "backward")},
    "memory": {"kind": ANY},
    "collectives": {"op": ANY},
}
"""Text of each measurement, and what it may be."""
SIZES = {
    "gemm": ("m", "n", "k"),
    "grouped": ("groups", "m", "n", "k"),
    "attention": ("batch", "heads", "seq", "head_dim"),
    "memory": ("bytes",),
    "collectives": ("bytes", "ranks", "nodes"),
}
TIMES = ("p10_s", "median_s", "p90_s")
BYTES = {"bf16": 2.0, "fp8": 1.0}
LEAST = {"gemm": 8, "attention": 1, "memory": 1}
"""Measurements without which there is no overlay; the products carry two quantities."""
MOST_ROWS, MOST_SIZE, LEAST_TIME, MOST_TIME = 1000, 10**13, 1e-8, 1e5
ABOVE_PEAK = 1.02
"""What clocks and rounding may add to a data sheet's peak; beyond it the data sheet is another device's."""
UNSTEADY = 1.2
"""90th over 10th percentile of one shape's repeats at which something else disturbed them."""
FAR = 0.25
"""Mean error of a fit at which its law no longer describes the device."""
Entry = dict[str, Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """The answer, and the text of the overlay file."""

    result: Result
    overlay: str


@dataclass(frozen=True)
class Measured:
    """A file of the script after every check; ``parts`` hold the fastest way of each shape."""

    document: Document
    parts: dict[str, list[Entry]]

    def column(self, part: str, name: str, **only: str) -> Floats:
        """One field of the rows with the given texts."""
        return np.array([float(row[name]) for row in self.rows(part, **only)], dtype=np.float64)

    def rows(self, part: str, **only: str) -> list[Entry]:
        """Rows of one part with the given texts."""
        return [row for row in self.parts[part] if all(row[k] == v for k, v in only.items())]

    def products(self, part: str, dtype: str) -> Products:
        """Matrix products of one type."""
        m, n, k, time_s = (self.column(part, name, dtype=dtype) for name in ("m", "n", "k", "median_s"))
        groups = self.column(part, "groups", dtype=dtype) if part == "grouped" else 1.0
        return Products(m, n, k, time_s, BYTES[dtype], groups)


@dataclass(frozen=True)
class Sheet:
    """The data sheet of what PyTorch sees as one device: the accelerator, or one of its ``ranks`` dies."""

    row: Accelerator
    ranks: float

    def peak(self, name: str) -> float:
        """A peak in FLOP/s or byte/s; 0 where the row has none."""
        quantity: Quantity | None = getattr(self.row, name)
        scale = 1e9 if name.endswith("_gb_per_s") else 1e12
        return quantity.value * scale / self.ranks if quantity else 0.0


def script() -> str:
    """Text of the script that measures; it needs PyTorch and nothing of dcplan."""
    return files("dcplan.answers").joinpath(f"calibration/{SCRIPT}.txt").read_text(encoding="utf-8")


def calibrate(result_file: str | Path, *, accelerator: str, catalogs: Sequence[str] = ()) -> Calibration:
    """Fit the kernel laws of the training model to what the script measured.

    Parameters
    ----------
    result_file : str or Path
        The JSON that the script wrote.
    accelerator : str
        Catalog row whose data sheet the times are held against.
    catalogs : sequence of str
        Overlay folders.

    Raises
    ------
    InputError
        When the file is not one of the script's, holds impossible numbers, or contradicts the data sheet.
    """
    catalog = load_catalog(tuple(Path(c) for c in catalogs))
    row = catalog.find("accelerators", accelerator, Accelerator)
    if row is None:
        hint = did_you_mean(accelerator, catalog.rows["accelerators"])
        cause = f"no accelerator {accelerator!r}"
        raise InputError([Problem("DC010", cause, Place("--accelerator"), hint, "dcplan catalog list accelerators")])
    lacking = [f for f in ("bf16_tflops", "hbm_tb_per_s") if getattr(row, f) is None]
    if lacking:
        cause = f"{row.id} has no {' and no '.join(lacking)} to hold the times against"
        raise InputError([Problem("DC003", cause, Place("--accelerator"), help=f"dcplan catalog show {row.id}")])
    measured = read(Path(result_file))
    before = training_terms(catalog, row)
    sheet = Sheet(row, before["ranks"] or 1.0)
    found, left = _fit(measured, sheet)
    return Calibration(_answer(measured, row, before, found, left), _overlay(measured, row, found))


def read(path: Path) -> Measured:
    """Check every value of a file of the script.

    Raises
    ------
    InputError
        With the line of everything that is wrong.
    """
    document = parse(read_text(path), str(path))  # JSON is YAML too, and this reader knows the lines
    data = document.data
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        schema = data.get("schema") if isinstance(data, dict) else None
        help_text = f"write the script with: dcplan calibrate --out {SCRIPT}"
        where = ("schema",) if schema is not None else ()
        cause = f"not a {SCHEMA} file (schema is {schema!r})"
        raise InputError([document.problem("DC004", cause, where, help=help_text)])
    problems = _header(document)
    parts = {part: _fastest(_rows(document, part, problems)) for part in SIZES}
    if not problems:
        for part, least in LEAST.items():
            rows = [r for r in parts[part] if part != "gemm" or r["dtype"] == "bf16"]
            if len(rows) < least:
                what = "gemm: bf16 products" if part == "gemm" else f"{part}: measurements"
                cause = f"{what} are too few: {len(rows)} of at least {least}"
                problems.append(document.problem("DC003", cause, (part,), help="run the script with a larger --max-s"))
    if problems:
        raise InputError(problems)
    return Measured(document, parts)


def _header(document: Document) -> list[Problem]:
    data, problems = document.data, []
    for name in ("device", "torch", "cuda"):
        value = data.get(name)
        if not isinstance(value, str) or not value.strip() or len(value) > 200 or not value.isprintable():
            problems.append(document.problem(_code(value), f"{name} must be one line of text, got {value!r}", (name,)))
    if not _whole(data.get("multiprocessors")):
        cause = f"multiprocessors must be a whole number above 0, got {data.get('multiprocessors')!r}"
        problems.append(document.problem(_code(data.get("multiprocessors")), cause, ("multiprocessors",)))
    date = data.get("date")
    if not isinstance(date, str) or not _day(date):
        cause = f"date must be a day such as 2026-11-21, got {date!r}"
        problems.append(document.problem(_code(date), cause, ("date",)))
    return problems


def _day(text: str) -> bool:
    try:
        return dt.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _code(value: object) -> str:
    return "DC003" if value is None else "DC004"


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_SIZE


def _rows(document: Document, part: str, problems: list[Problem]) -> list[Entry]:
    """Rows of one part in which everything is there and possible; the rest become problems."""
    rows = document.data.get(part, [])
    if not isinstance(rows, list) or len(rows) > MOST_ROWS:
        cause = f"{part} must be a list of at most {MOST_ROWS:,} measurements"
        problems.append(document.problem("DC004", cause, (part,)))
        return []
    good = []
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            problems.append(document.problem("DC004", f"{part}[{i}] must be a measurement with names", (part, i)))
            continue
        texts = TEXTS[part].items()
        wrong = [(n, "be text") for n, _ in texts if not isinstance(row.get(n), str)]
        wrong += [(n, f"be {' or '.join(only)}") for n, only in texts if only and row.get(n) not in (*only, None)]
        wrong += [("causal", "be true or false")] if not isinstance(row.get("causal", True), bool) else []
        wrong += [(n, "be a whole number above 0") for n in SIZES[part] if not _whole(row.get(n))]
        span = f"lie between {LEAST_TIME:g} and {MOST_TIME:g} s"
        wrong += [(n, span) for n in TIMES if not _seconds(row.get(n))]
        if not wrong and not row["p10_s"] <= row["median_s"] <= row["p90_s"]:
            wrong = [("median_s", "lie between p10_s and p90_s")]
        for name, rule in wrong:
            cause = f"{part}[{i}].{name} must {rule}, got {row.get(name)!r}"
            problems.append(document.problem(_code(row.get(name)), cause, (part, i, name)))
        if not wrong:
            good.append({**row, "at": (part, i)})
    return good


def _seconds(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(float(value)) and LEAST_TIME <= float(value) <= MOST_TIME  # type: ignore[arg-type]


def _fastest(rows: list[Entry]) -> list[Entry]:
    """The fastest of the ways in which one shape was measured: what tuned training software would take."""
    best: dict[tuple[Any, ...], Entry] = {}
    for row in rows:
        key = tuple((k, str(v)) for k, v in sorted(row.items()) if k not in {*TIMES, "method", "at"})
        if key not in best or row["median_s"] < best[key]["median_s"]:
            best[key] = row
    return list(best.values())


def _fit(measured: Measured, sheet: Sheet) -> tuple[dict[str, Fitted], dict[str, str]]:
    """Each quantity that was measured, and why the others were not."""
    found: dict[str, Fitted] = {}
    left: dict[str, str] = {}
    name, units = sheet.row.id, float(measured.document.data["multiprocessors"])
    half, low, hbm = sheet.peak("bf16_tflops"), sheet.peak("fp8_tflops"), sheet.peak("hbm_tb_per_s")
    moved, took = measured.column("memory", "bytes"), measured.column("memory", "median_s")
    large = np.where(moved >= LARGE * moved.max(), moved, 0.0)  # small ones stay in the cache
    _hold(measured, measured.parts["memory"], large / took / hbm, f"memory bandwidth of {name}")
    hbm_frac = fit_rate(moved, took, peak_bytes_per_s=hbm)
    device: dict[str, float] = {"units": units, "bytes_per_s": hbm * hbm_frac.value}

    x = measured.products("gemm", "bf16")
    _hold(measured, measured.rows("gemm", dtype="bf16"), _speed(x) / half, f"bf16 peak of {name}")
    found["half_gemm_frac"], depth = fit_gemm(x, peak_flops_per_s=half, **device)
    x = measured.products("gemm", "fp8")
    if x.m.size and low:
        _hold(measured, measured.rows("gemm", dtype="fp8"), _speed(x) / low, f"fp8 peak of {name}")
        found["fp8_gemm_frac"], _ = fit_gemm(x, peak_flops_per_s=low, prologue=depth.value, **device)
    else:
        left["fp8_gemm_frac"] = f"{name} has no fp8_tflops" if x.m.size else "no fp8 product was measured"
    found["prologue_depth"] = depth
    x = measured.products("grouped", "bf16")
    if x.m.size:
        full = half * found["half_gemm_frac"].value
        found["grouped_rows"] = fit_grouped(x, flops_per_s=full, bytes_per_s=device["bytes_per_s"])
    else:
        left["grouped_rows"] = "no grouped bf16 product was measured"
    found["attention_frac"] = _attention(measured, half, units, name)
    found["hbm_frac"] = hbm_frac
    _scaleup(measured, sheet, found, left)
    return found, left


def _speed(x: Products) -> Floats:
    return 2.0 * x.m * x.n * x.k / x.time_s


def _hold(measured: Measured, rows: list[Entry], fractions: Floats, of: str) -> None:
    """Refuse times that beat the data sheet."""
    i = int(np.argmax(fractions))
    if fractions[i] > ABOVE_PEAK:
        where = rows[i]["at"]
        cause = f"{where[0]}[{where[1]}] ran at {fractions[i]:.2f} times the {of}"
        hint = "is this another accelerator than --accelerator says?"
        raise InputError([measured.document.problem("DC015", cause, (*where, "median_s"), hint=hint)])


def _attention(measured: Measured, peak: float, units: float, name: str) -> Fitted:
    rows = measured.parts["attention"]
    batch, heads, seq, dim, took = (measured.column("attention", n) for n in (*SIZES["attention"], "median_s"))
    mask = np.array([0.5 if r.get("causal", True) else 1.0 for r in rows])
    back = np.array([r["direction"] == "backward" for r in rows])
    pairs, dims = batch * seq * seq * mask, 2.0 * dim
    speed = np.where(back, 5.0, 2.0) * pairs * heads * dims / took
    _hold(measured, rows, speed / peak, f"bf16 peak of {name}")
    shapes = {"pairs": pairs, "heads": heads, "dims": dims, "work": batch * seq * heads}
    return fit_attention(**shapes, backward=back, time_s=took, peak_flops_per_s=peak, units=units)


def _scaleup(measured: Measured, sheet: Sheet, found: dict[str, Fitted], left: dict[str, str]) -> None:
    """All-gathers that stayed inside one scale-up domain, as bandwidth of the links of one rank."""
    rows = measured.rows("collectives", op="all_gather")
    peak, domain = sheet.peak("scaleup_gb_per_s"), (sheet.row.scaleup_domain or 1) * sheet.ranks
    inside = [r for r in rows if 1 < r["ranks"] <= domain and (r["nodes"] == 1 or domain > SMALL_DOMAIN)]
    if not inside or not peak:
        why = (
            "every all-gather left the scale-up domain" if rows else "no all-gather was measured (start with torchrun)"
        )
        left["scaleup_frac"] = why if peak else f"{sheet.row.id} has no scaleup_gb_per_s"
        return
    ranks, size, took = (np.array([float(r[n]) for r in inside]) for n in ("ranks", "bytes", "median_s"))
    moved = (ranks - 1.0) / ranks * size
    _hold(measured, inside, moved / took / peak, f"scale-up bandwidth of {sheet.row.id}")
    found["scaleup_frac"] = fit_rate(moved, took, peak_bytes_per_s=peak)


def _answer(
    measured: Measured, row: Accelerator, before: dict[str, float], found: dict[str, Fitted], left: dict[str, str]
) -> Result:
    data = measured.document.data
    values: list[tuple[Cell, ...]] = [
        (name, f.value, f.low, f.high, f.points, f.error, before.get(name) or None) for name, f in found.items()
    ]
    units = float(data["multiprocessors"])
    values.append(("multiprocessors", units, units, units, 1, 0.0, before.get("multiprocessors") or None))
    words = {
        "half_gemm_frac": "large matrix products approach {:.0%} of the bf16 peak",
        "fp8_gemm_frac": "{:.0%} of the fp8 peak",
        "attention_frac": "attention {:.0%} of the bf16 peak",
        "hbm_frac": "memory {:.0%} of its bandwidth",
        "scaleup_frac": "links {:.0%} of theirs",
    }
    told = ", ".join(text.format(found[name].value) for name, text in words.items() if name in found)
    return Result(
        verb="calibrate",
        status="ok",
        exit_code=EXIT_OK,
        headline=f"{row.id}, measured on {data['device']}: {told}",
        tables={
            "values": Table(("quantity", "measured", "low", "high", "points", "error_frac", "catalog"), tuple(values)),
            "left_out": Table(("quantity", "reason"), tuple(left.items())),
        },
        warnings=[{"code": "calibrate", "message": text} for text in _doubts(measured, row, found)],
    )


def _doubts(measured: Measured, row: Accelerator, fits: dict[str, Fitted]) -> list[str]:
    """What may be wrong with the measurement as a whole."""
    data, found = measured.document.data, []
    scatter = float(np.median([r["p90_s"] / r["p10_s"] for rows in measured.parts.values() for r in rows]))
    if scatter > UNSTEADY:
        found.append(f"repeats scatter by a factor of {scatter:.2f} (10th to 90th percentile): was the device idle?")
    odd = [f"{name} {f.error:.0%}" for name, f in fits.items() if f.error > FAR]
    if odd:
        found.append(f"the training model's laws fit these times badly (mean error): {', '.join(odd)}")
    marks = [w for w in re.split(r"[-.]", row.id) if re.search(r"\d", w)]
    if marks and not any(w in data["device"].lower().replace(" ", "") for w in marks):
        found.append(f"the device calls itself {data['device']}: is it {row.id}?")
    skipped = data.get("skipped")
    late = [s for s in skipped if isinstance(s, dict)] if isinstance(skipped, list) else []
    parts = sorted({str(s.get("part")) for s in late if s.get("reason") == "out of time"} & set(SIZES))
    if parts:
        found.append(f"the script ran out of time in {', '.join(parts)}: a larger --max-s measures more")
    return found


def _overlay(measured: Measured, row: Accelerator, found: dict[str, Fitted]) -> str:
    """One accelerator row whose training terms are the measured ones; all else stays the catalog's."""
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
        lines.append(f"      {name}: {{value: {f.value:.4g}, low: {f.low:.4g}, high: {f.high:.4g}, {origin}}}")
    units = data["multiprocessors"]
    lines.append(f"      multiprocessors: {{value: {units}, low: {units}, high: {units}, {origin}}}")
    return "\n".join(lines) + "\n"
