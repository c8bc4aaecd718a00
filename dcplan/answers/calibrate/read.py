"""Reader of the script result: checks every value and keeps the fastest method of each shape."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dcplan.answers.calibrate.request import SCRIPT
from dcplan.catalog.yaml12 import Document, parse, read_text
from dcplan.errors import InputError, Problem
from dcplan.llm.kernel_fit import Products

SCHEMA = "dcplan.calibration/1"
ANY: tuple[str, ...] = ()
TEXTS: dict[str, dict[str, tuple[str, ...]]] = {
    "gemm": {"dtype": ANY},
    "grouped": {"dtype": ANY},
    "attention": {"direction": ("forward", "backward")},
    "memory": {"kind": ANY},
    "collectives": {"op": ANY},
}
"""Text fields of each measurement, and their allowed values."""
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
"""Minimum measurements for an overlay; the products determine two quantities."""
MOST_ROWS, MOST_SIZE, LEAST_TIME, MOST_TIME = 1000, 10**13, 1e-8, 1e5
Entry = dict[str, Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """A checked result of the script; ``parts`` hold the fastest method of each shape."""

    document: Document
    parts: dict[str, list[Entry]]

    def column(self, part: str, name: str, **only: str) -> Floats:
        """Return one field of the rows with the given texts."""
        return np.array([float(row[name]) for row in self.rows(part, **only)], dtype=np.float64)

    def rows(self, part: str, **only: str) -> list[Entry]:
        """Return the rows of one part with the given texts."""
        return [row for row in self.parts[part] if all(row[k] == v for k, v in only.items())]

    def products(self, part: str, dtype: str) -> Products:
        """Return the matrix products of one data type."""
        m, n, k, time_s = (
            self.column(part, name, dtype=dtype) for name in ("m", "n", "k", "median_s")
        )
        groups = self.column(part, "groups", dtype=dtype) if part == "grouped" else 1.0
        return Products(m, n, k, time_s, BYTES[dtype], groups)


def read(path: Path) -> Measured:
    """Read a result of the script and check every value.

    Raises
    ------
    InputError
        With the line of every invalid value.
    """
    document = parse(
        read_text(path), str(path)
    )  # JSON is also YAML, and this reader knows the line numbers
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
                what = "bf16 products in gemm" if part == "gemm" else f"measurements in {part}"
                cause = f"too few {what}: {len(rows)}, but at least {least} are needed"
                problems.append(
                    document.problem(
                        "DC003", cause, (part,), help="run the script with a larger --max-s"
                    )
                )
    if problems:
        raise InputError(problems)
    return Measured(document, parts)


def _header(document: Document) -> list[Problem]:
    data, problems = document.data, []
    for name in ("device", "torch", "cuda"):
        value = data.get(name)
        if (
            not isinstance(value, str)
            or not value.strip()
            or len(value) > 200
            or not value.isprintable()
        ):
            problems.append(
                document.problem(
                    _code(value), f"{name} must be one line of text, got {value!r}", (name,)
                )
            )
    if not _whole(data.get("multiprocessors")):
        cause = (
            f"multiprocessors must be a whole number above 0, got {data.get('multiprocessors')!r}"
        )
        problems.append(
            document.problem(_code(data.get("multiprocessors")), cause, ("multiprocessors",))
        )
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
    """Return the valid rows of one part; add a problem for each other row."""
    rows = document.data.get(part, [])
    if not isinstance(rows, list) or len(rows) > MOST_ROWS:
        cause = f"{part} must be a list of at most {MOST_ROWS:,} measurements"
        problems.append(document.problem("DC004", cause, (part,)))
        return []
    good = []
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            problems.append(
                document.problem(
                    "DC004", f"{part}[{i}] must be a mapping of names to values", (part, i)
                )
            )
            continue
        texts = TEXTS[part].items()
        wrong = [(n, "be text") for n, _ in texts if not isinstance(row.get(n), str)]
        wrong += [
            (n, f"be {' or '.join(only)}")
            for n, only in texts
            if only and row.get(n) not in (*only, None)
        ]
        wrong += (
            [("causal", "be true or false")]
            if not isinstance(row.get("causal", True), bool)
            else []
        )
        wrong += [(n, "be a whole number above 0") for n in SIZES[part] if not _whole(row.get(n))]
        span = f"be between {LEAST_TIME:g} and {MOST_TIME:g} s"
        wrong += [(n, span) for n in TIMES if not _seconds(row.get(n))]
        if not wrong and not row["p10_s"] <= row["median_s"] <= row["p90_s"]:
            wrong = [("median_s", "be between p10_s and p90_s")]
        for name, rule in wrong:
            cause = f"{part}[{i}].{name} must {rule}, got {row.get(name)!r}"
            problems.append(document.problem(_code(row.get(name)), cause, (part, i, name)))
        if not wrong:
            good.append({**row, "at": (part, i)})
    return good


def _seconds(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and LEAST_TIME <= value <= MOST_TIME
    )


def _fastest(rows: list[Entry]) -> list[Entry]:
    """Keep the fastest method of each shape, which tuned training software would use."""
    best: dict[tuple[Any, ...], Entry] = {}
    for row in rows:
        key = tuple(
            (k, str(v)) for k, v in sorted(row.items()) if k not in {*TIMES, "method", "at"}
        )
        if key not in best or row["median_s"] < best[key]["median_s"]:
            best[key] = row
    return list(best.values())
