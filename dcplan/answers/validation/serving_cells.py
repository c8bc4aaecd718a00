"""Cells of a row of measured serving: names, numbers, lengths, load and layout.

The columns are those of ``catalogs/runs/serving_runs.csv``. A disaggregated row states its pools in
``notes``: ``prefill 1x(tp1 dp4 ep4); decode 4x(tp8 dp1 ep8, bs 1)``. Lengths that vary are stated
as ``lengths uniform in 0.8-1.0 of nominal``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

Row = Mapping[str, str]
T = TypeVar("T")
POOLS = re.compile(
    r"prefill (\d+)x\(tp(\d+) dp(\d+) ep(\d+)[^)]*\); decode (\d+)x\(tp(\d+) dp(\d+) ep(\d+)(?:, bs (\d+))?"
)
LENGTHS = re.compile(r"lengths uniform in (\d+\.?\d*)-(\d+\.?\d*) of nominal")
COPIES = re.compile(r"attention-DP")
MEDIAN_GAP = re.compile(r"tpot = median inter-token latency")
"""A median leaves out the steps that a prompt delays."""
MOST_RUNNING = re.compile(r"max_num_seqs (\d+)")
MOST_COUNT = 1_000_000
"""Accelerators or ranks of a row at most: a larger number is a typing mistake."""
MOST_TOKENS = 100_000_000
CLOSED, STATIC, SATURATED = "closed", "static", "saturated"
SCENARIOS = {"fixed-concurrency": CLOSED, "offline": STATIC, "single-stream": STATIC}
"""Mode of a measurement by its scenario, where the number of requests is stated."""


class Unsupported(Exception):  # noqa: N818
    """A row that the model does not support, with the reason."""


@dataclass(frozen=True)
class Pool:
    """Replicas of one layout."""

    replicas: int
    tp: int
    dp: int
    pp: int = 1
    ep: int = 1


def known(found: T | None, row: Row, column: str) -> T:
    """Return a row of the catalog that a cell names.

    Raises
    ------
    Unsupported
        If the catalog has none.
    """
    if found is None:
        msg = f"no {column.replace('_', ' ')} {row.get(column, '')!r} in the catalog"
        raise Unsupported(msg)
    return found


def number(row: Row, column: str) -> float | None:
    """Return a number of a row; None if the cell is empty.

    Raises
    ------
    Unsupported
        If the cell is not a number above 0.
    """
    text = row.get(column, "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError as error:
        raise Unsupported(f"{column} {text!r} is not a number") from error
    if not (value >= 0 and math.isfinite(value)):
        raise Unsupported(f"{column} {text!r} is not a number of at least 0")
    return value


def count_of(row: Row, column: str) -> int | None:
    """Return a count of a row; None if the cell is empty.

    Raises
    ------
    Unsupported
        If the cell is not a whole number from 1 to MOST_COUNT.
    """
    value = number(row, column)
    if value is None:
        return None
    if value != int(value) or not 1 <= value <= MOST_COUNT:
        msg = f"{column} {row[column].strip()!r} is not a whole number from 1 to {MOST_COUNT:,}"
        raise Unsupported(msg)
    return int(value)


def lengths(row: Row, usual_input_tokens: float) -> tuple[float, float]:
    """Return mean input and output tokens.

    Parameters
    ----------
    row : Row
        The row.
    usual_input_tokens : float
        Prompt of a closed loop without ``isl``. [tokens]

    Raises
    ------
    Unsupported
        If a length is missing or out of range.
    """
    isl, osl = number(row, "isl"), number(row, "osl")
    if isl is None and mode_of(row) != CLOSED:
        msg = "missing isl"
        raise Unsupported(msg)
    if osl is None:
        msg = "missing osl"
        raise Unsupported(msg)
    if not 1 <= osl <= MOST_TOKENS or (isl or 0) > MOST_TOKENS:
        msg = f"isl and osl are from 1 to {MOST_TOKENS:,} tokens"
        raise Unsupported(msg)
    found = LENGTHS.search(row.get("notes", ""))
    mean = (float(found[1]) + float(found[2])) / 2.0 if found else 1.0
    return max((isl or usual_input_tokens) * mean, 1.0), max(osl * mean, 1.0)


def load_of(row: Row) -> tuple[str, float]:
    """Return the mode of a measurement and its concurrent requests.

    Raises
    ------
    Unsupported
        If the scenario is unknown, or the requests are missing.
    """
    mode = mode_of(row)
    text = row.get("concurrency_or_batch", "").strip()
    if text == "saturated":
        return SATURATED, math.inf
    requests = number(row, "concurrency_or_batch")
    if not requests:
        msg = "missing concurrency_or_batch"
        raise Unsupported(msg)
    return mode, requests


def mode_of(row: Row) -> str:
    """Return the mode of a row's scenario.

    Raises
    ------
    Unsupported
        If the scenario is unknown.
    """
    scenario = row.get("scenario", "").strip()
    if scenario not in SCENARIOS:
        msg = f"scenario {scenario!r} is none of {', '.join(SCENARIOS)}"
        raise Unsupported(msg)
    return SCENARIOS[scenario]


def pools(row: Row, count: int, experts: int) -> tuple[Pool, Pool | None, int]:
    """Return decode pool, prefill pool if the row is disaggregated, and the batch limit of a rank.

    Raises
    ------
    Unsupported
        If the notes do not state both pools, or the layout needs more accelerators.
    """
    if row.get("disaggregated", "n")[:1].lower() == "y":
        found = POOLS.search(row.get("notes", ""))
        if not found or not all(0 < int(found[i]) <= MOST_COUNT for i in (1, 2, 3, 5, 6, 7)):
            msg = "disaggregated: notes do not state both pools, as prefill 1x(tp1 dp4 ep4); decode 4x(tp8 dp1 ep8)"
            raise Unsupported(msg)
        n = [int(x or 0) for x in found.groups()]
        return Pool(n[4], n[5], n[6], 1, n[7]), Pool(n[0], n[1], n[2], 1, n[3]), n[8]
    tp, pp, dp, ep = (count_of(row, c) or 1 for c in ("tp", "pp", "dp", "ep"))
    if pp * dp > count:
        msg = f"pp {pp} x dp {dp} is more than the {count} accelerators of the row"
        raise Unsupported(msg)
    if not row.get("tp"):
        tp = max(count // (pp * dp), 1)
    if tp * pp * dp > count:
        # a table may count cores or experts ranks in tp
        tp = max(count // (pp * dp), 1)
    if experts and tp * dp < ep <= count // pp and ep % tp == 0:
        # experts on more ranks than attention: every rank group has its own copy of attention
        dp = ep // tp
    if COPIES.search(row.get("notes", "")) and experts and tp > 1:
        tp, dp, ep = 1, tp * dp, tp * dp
    return Pool(max(count // (tp * pp * dp), 1), tp, dp, pp, ep), None, 0
