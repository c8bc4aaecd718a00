"""Rows of published prices of tokens: each is one operating point of one system.

A row states lengths, speed of one request, price of an accelerator-hour and stack of its publisher;
layout and load are left to ``dcplan serve``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dcplan.answers.validation.measured_csv import rows_of
from dcplan.errors import InputError, Place, Problem
from dcplan.units import MILLI, SECONDS_PER_HOUR, TOKENS_PER_MTOKEN

PACKAGED = ("published", "price_performance.csv")
NUMBERS = (
    "input_tokens",
    "output_tokens",
    "tokens_per_s_per_user",
    "usd_per_accelerator_hour",
    "accelerators",
)
REQUIRED = ("id", "model", "system", "precision", "engine", *NUMBERS)
PRICES = ("usd_per_million_tokens", "tokens_per_s_per_accelerator")
"""A row has at least one: the printed price, or the throughput of input and output tokens."""
NO_LIMIT_MS = 1e6
"""The publishers limit the speed of a request, not its time to first token."""
MEDIAN = 0.5
"""Speeds of requests are published as medians."""


@dataclass(frozen=True)
class Cell:
    """One published price with its operating point."""

    row: Mapping[str, str]
    numbers: Mapping[str, float]
    said_usd: float
    """Price of a million tokens to compare with: the printed one where there is one."""

    @property
    def throughput_usd(self) -> float | None:
        """Return the price of a million tokens from the publisher's throughput, if there is one."""
        return _throughput_usd(self.numbers)

    @property
    def basis(self) -> str:
        """Return whether runs of this publisher, model and accelerator are in the fit."""
        return "fitted" if self.row.get("in_fit", "")[:1] == "y" else "independent"

    @property
    def ask(self) -> dict[str, object]:
        """Return the arguments of ``serve``."""
        ask: dict[str, object] = {
            "model": self.row["model"],
            "system": (self.row["system"],),
            "accelerators": int(self.numbers["accelerators"]),
            "isl": self.numbers["input_tokens"],
            "osl": self.numbers["output_tokens"],
            "tpot_ms": 1.0 / self.numbers["tokens_per_s_per_user"] / MILLI,
            "ttft_ms": NO_LIMIT_MS,
            "quantile": MEDIAN,
            "engine": self.row["engine"],
            "precision": self.row["precision"],
            "usd_per_accelerator_hour": self.numbers["usd_per_accelerator_hour"],
        }
        if self.row.get("disaggregated", "")[:1] == "y":
            ask["disaggregated"] = True
        if self.row.get("speculative"):
            ask["speculative"] = self.row["speculative"]
        return ask


def tokens_usd(usd_per_accelerator_hour: float, tokens_per_s_per_accelerator: float) -> float:
    """Return the price of a million tokens.

    price = 1e6 (USD per accelerator-hour) / (3600 tokens/s per accelerator)

    Examples
    --------
    1.95 USD an hour and 5,857 tokens/s make 0.0925 USD; the publisher prints 0.092.

    >>> round(tokens_usd(1.95, 5857.0), 4)
    0.0925
    """
    return (
        TOKENS_PER_MTOKEN
        * usd_per_accelerator_hour
        / (SECONDS_PER_HOUR * tokens_per_s_per_accelerator)
    )


def read_cells(file: Path) -> list[Cell]:
    """Read a table of published prices of tokens.

    Raises
    ------
    InputError
        When the file cannot be read, lacks a column or has a cell that is not a number above 0.
    """
    cells, problems = [], []
    rows = rows_of(file, REQUIRED, f"catalogs/{'/'.join(PACKAGED)} has all columns")
    for line, row in enumerate(rows, start=2):
        found = {c: _number(row.get(c, "")) for c in (*NUMBERS, *PRICES)}
        numbers = {k: v for k, v in found.items() if v is not None}
        wrong = [
            c for c in (*NUMBERS, *PRICES) if c not in numbers and (c in NUMBERS or row.get(c))
        ]
        said = None if wrong else numbers.get(PRICES[0], _throughput_usd(numbers))
        if said is None:
            names = ", ".join(wrong) or " or ".join(PRICES)
            cause = f"{row['id']}: not a number above 0: {names}"
            problems.append(Problem("DC053", cause, Place(str(file), line, 1)))
            continue
        cells.append(Cell(row, numbers, said))
    if problems:
        raise InputError(problems)
    return cells


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 < value < float("inf") else None


def _throughput_usd(numbers: Mapping[str, float]) -> float | None:
    rate = numbers.get("tokens_per_s_per_accelerator")
    return None if rate is None else tokens_usd(numbers["usd_per_accelerator_hour"], rate)
