"""Traces of requests: Azure LLM inference (CSV), Mooncake (JSON lines) and plain CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dcplan.catalog.delimiter import check_delimiter
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.records.header import check_once
from dcplan.llm.tables import Array
from dcplan.units import MILLI

MAX_TRACE_BYTES = 1_000_000_000
MOST_PROBLEMS = 20
"""Problems of a file that are reported."""
NAMES = {
    "arrival": (
        *("arrival_s", "arrival_ms", "timestamp_ms", "timestamp", "TIMESTAMP", "Timestamp"),
    ),
    "input": ("input_tokens", "ContextTokens", "input_length", "Request tokens"),
    "output": ("output_tokens", "GeneratedTokens", "output_length", "Response tokens"),
}
"""Names of each column: of a plain CSV, of Azure's traces, of Mooncake's, of BurstGPT."""
IN_MS = "_ms"
"""End of the name of a column in milliseconds."""
HASHES = "hash_ids"
HELP = (
    "a trace is a CSV with arrival_s (or timestamp, or arrival_ms), input_tokens, output_tokens and, "
    "if known, hash_ids; the CSV of Azure's LLM traces; or the JSON lines of Mooncake"
)


@dataclass(frozen=True)
class Trace:
    """Requests in the order of arrival; the first one arrives at 0."""

    arrivals_s: Array
    input_tokens: npt.NDArray[np.int64]
    output_tokens: npt.NDArray[np.int64]
    block_hashes: tuple[tuple[int, ...], ...] | None
    """Hashes of each prompt's blocks; None if the trace has none."""
    failed: tuple[int, ...] = ()
    """Lines of requests without output tokens, which are left out."""
    lines: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Line of each request."""


def read_trace(file: Path, *, leave_out_failed: bool = False) -> Trace:
    """Read a trace of requests.

    A file whose first character is a brace has JSON lines, with times in milliseconds as in
    Mooncake's traces. Every other file is a CSV with a header. Its times are seconds, or dates with
    time of day; those of ``arrival_ms`` and ``timestamp_ms`` are milliseconds. Hashes in a CSV are
    whole numbers, separated by spaces.

    Parameters
    ----------
    file : Path
    leave_out_failed : bool
        Whether requests of 0 output tokens, which failed, are left out and listed. Otherwise they
        are an error.

    Raises
    ------
    InputError
        When the file cannot be read, has no request, lacks a column, or has a value that is no
        time or no number of tokens of at least 1; each problem has its line.
    """
    text = _text(file)
    path = str(file)
    rows = _json_rows(text, path) if text.lstrip().startswith("{") else _csv_rows(text, path)
    arrivals: list[float] = []
    tokens: list[tuple[int, int]] = []
    hashes: list[tuple[int, ...] | None] = []
    failed: list[int] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for line, row in rows:
        if leave_out_failed and _is_zero(row.get("output")):
            failed.append(line)
            continue
        try:
            arrivals.append(_seconds(row["arrival"]))
            tokens.append((_tokens(row["input"], "input"), _tokens(row["output"], "output")))
            hashes.append(_hashes(row[HASHES]))
            lines.append(line)
        except (_ValueProblemError, KeyError) as error:
            cause = f"no value of {error}" if isinstance(error, KeyError) else str(error)
            problems.append(Problem("DC055", cause, Place(path, line), help=HELP))
            if len(problems) == MOST_PROBLEMS:
                break
    if not arrivals and not problems:
        problems = [Problem("DC055", "the trace has no request", Place(path), help=HELP)]
    if problems:
        raise InputError(problems)
    times = np.array(arrivals)
    order = np.argsort(times, kind="stable")
    counts = np.array(tokens, dtype=np.int64)[order]
    known = [hashes[i] for i in order.tolist()]
    blocks = tuple(h for h in known if h is not None)
    return Trace(
        times[order] - times.min(),
        counts[:, 0],
        counts[:, 1],
        blocks if len(blocks) == len(known) else None,
        tuple(failed),
        np.array(lines, dtype=np.int64)[order],
    )


def _is_zero(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and float(value) == 0.0
    except (TypeError, ValueError):
        return False


MOST_TOKENS = 100_000_000
"""Tokens of a request at most: a larger number is a typing mistake."""
MOST_SECONDS = 1e11
"""Time of a request at most, either side of 1970: some 3,000 years."""


class _ValueProblemError(ValueError):
    """A value that cannot be used; its text is the cause."""


def _text(file: Path) -> str:
    """Read the file, which may be larger than a scenario."""
    try:
        if file.stat().st_size > MAX_TRACE_BYTES:
            cause = f"larger than {MAX_TRACE_BYTES:,} bytes"
            raise InputError([Problem("DC007", cause, Place(str(file)))])
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        near = [p.name for p in file.parent.glob("*")] if file.parent.is_dir() else []
        hint = did_you_mean(file.name, near)
        cause = f"cannot read the file: {reason}"
        raise InputError([Problem("DC006", cause, Place(str(file)), hint)]) from error


def _json_rows(text: str, path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield line numbers and values of JSON lines, with times in seconds."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            cause = "not a JSON object"
            raise InputError([Problem("DC055", cause, Place(path, number), help=HELP)])
        row: dict[str, Any] = {HASHES: found.get(HASHES)}
        row |= {key: found[n] for key, names in NAMES.items() for n in names if n in found}
        if isinstance(found.get("timestamp"), int | float) and found["timestamp"] is not True:
            row["arrival"] = found["timestamp"] * MILLI
        yield number, row


def _csv_rows(text: str, path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield line numbers and values of a CSV."""
    reader = csv.reader(io.StringIO(text))
    header = [name.strip() for name in next(reader, [])]
    check_delimiter(header, chain.from_iterable(NAMES.values()), path)
    check_once(header, (*chain.from_iterable(NAMES.values()), HASHES), path, "DC055")
    where = {key: _column(header, names) for key, names in NAMES.items()}
    missing = [NAMES[key][0] for key, at in where.items() if at < 0]
    if missing:
        cause = f"columns missing: {', '.join(missing)}"
        hint = did_you_mean(missing[0], header)
        raise InputError([Problem("DC055", cause, Place(path, 1, 1), hint, HELP)])
    where[HASHES] = _column(header, (HASHES,))
    in_ms = header[where["arrival"]].endswith(IN_MS)
    for cells in reader:
        if any(cells):
            row: dict[str, Any] = {
                key: cells[at] if 0 <= at < len(cells) else None for key, at in where.items()
            }
            if in_ms:
                row["arrival"] = _from_ms(row["arrival"])
            yield reader.line_num, row


def _from_ms(value: Any) -> Any:
    """Return milliseconds as seconds; a text that is no number stays, and is refused with its row."""
    try:
        return float(value) * MILLI
    except (TypeError, ValueError):
        return value


def _column(header: list[str], names: tuple[str, ...]) -> int:
    return next((header.index(name) for name in names if name in header), -1)


def _seconds(value: Any) -> float:
    """Return a time in seconds; a date counts from 1970, in UTC if it has no zone."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = _date_s(str(value))
    if isinstance(value, bool) or not abs(found) <= MOST_SECONDS:
        raise _ValueProblemError(
            f"{value} is not a time in seconds; milliseconds are in a column arrival_ms"
        )
    return found


def _date_s(text: str) -> float:
    """Return the seconds of a date whose fraction may have more digits than microseconds."""
    whole, dot, rest = text.strip().partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    zone = rest[len(digits) :]
    try:
        date = datetime.fromisoformat(whole + (zone if dot else ""))
    except ValueError as error:
        raise _ValueProblemError(
            f"{text!r} is neither seconds nor a date with time of day"
        ) from error
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return date.timestamp() + (float(f"0.{digits}") if digits else 0.0)


def _tokens(value: Any, what: str) -> int:
    try:
        found = float(value)
    except (TypeError, ValueError) as error:
        raise _ValueProblemError(f"{what} tokens are {value!r}, not a number") from error
    if not 1 <= found <= MOST_TOKENS or found != int(found):
        raise _ValueProblemError(
            f"{what} tokens are {value}, not a whole number from 1 to {MOST_TOKENS:,}"
        )
    return int(found)


def _hashes(value: Any) -> tuple[int, ...] | None:
    """Return the hashes of a list or of numbers with spaces; None if there are none."""
    if value is None or value == "":
        return None
    try:
        return tuple(int(x) for x in (value.split() if isinstance(value, str) else value))
    except (TypeError, ValueError) as error:
        raise _ValueProblemError(f"{HASHES} are {value!r}, not whole numbers") from error
