"""Lengths of requests: two numbers, or a CSV with one request a line."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dcplan.catalog.delimiter import check_delimiter
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.serving.tables import Array

COLUMNS = ("input_tokens", "output_tokens")
LARGEST = 50_000_000
"""Bytes of a file of lengths at most."""
MOST_PROBLEMS = 10
MOST_ROWS = 2000
"""Requests that stand for a longer list in the percentiles."""


@dataclass(frozen=True)
class Lengths:
    """Requests of equal weight."""

    input_tokens: Array
    output_tokens: Array
    hit_tokens: Array
    """Tokens of each prompt that the prefix cache holds."""

    @property
    def input_mean(self) -> float:
        """Mean input tokens."""
        return float(self.input_tokens.mean())

    @property
    def output_mean(self) -> float:
        """Mean output tokens."""
        return float(self.output_tokens.mean())

    @property
    def hit_mean(self) -> float:
        """Mean cached tokens of a prompt."""
        return float(self.hit_tokens.mean())

    def longer(self, tokens: float) -> Lengths:
        """Return requests whose prompts have more tokens that no prefix cache holds."""
        return replace(self, input_tokens=self.input_tokens + tokens)

    def sample(self) -> Lengths:
        """Return at most :data:`MOST_ROWS` requests at equal distances in the list."""
        size = self.input_tokens.size
        if size <= MOST_ROWS:
            return self
        at = np.linspace(0, size - 1, MOST_ROWS).astype(int)
        return Lengths(self.input_tokens[at], self.output_tokens[at], self.hit_tokens[at])


def fixed(input_tokens: float, output_tokens: float, hit_frac: float = 0.0) -> Lengths:
    """Return requests of one length; ``hit_frac`` of a prompt is cached.

    Examples
    --------
    >>> fixed(1000, 200, 0.25).hit_mean
    250.0
    """
    return _lengths(np.array([float(input_tokens)]), np.array([float(output_tokens)]), hit_frac)


def _lengths(inputs: Array, outputs: Array, hit_frac: float) -> Lengths:
    return Lengths(inputs, outputs, np.minimum(np.floor(hit_frac * inputs), inputs - 1.0))


def read_lengths(path: str, hit_frac: float = 0.0, flag: str = "--lengths") -> Lengths:
    """Read a CSV with the columns ``input_tokens`` and ``output_tokens``.

    Raises
    ------
    InputError
        With every wrong line (at most 10), a missing column, or a file that cannot be read.
    """
    lines = _lines(path, flag)
    reader = csv.reader(lines)
    head = [x.strip().casefold() for x in next(reader, [])]
    check_delimiter(head, COLUMNS, path)
    missing = [c for c in COLUMNS if c not in head]
    if missing:
        hint = did_you_mean(missing[0], head)
        cause = f"columns missing: {', '.join(missing)}"
        raise InputError([Problem("DC053", cause, Place(path, 1, 1), hint, f"{','.join(COLUMNS)}")])
    at = [head.index(c) for c in COLUMNS]
    rows, problems = [], []
    for row in reader:
        if not any(x.strip() for x in row):
            continue
        cells = [row[i].strip() if i < len(row) else "" for i in at]
        found = [_tokens(x, least) for x, least in zip(cells, (1, 2), strict=True)]
        for name, cell, value, least in zip(COLUMNS, cells, found, (1, 2), strict=True):
            if value is None:
                cause = f"{name} {cell!r}: a number from {least} is needed"
                problems.append(Problem("DC004", cause, Place(path, reader.line_num, 1)))
        if None not in found:
            rows.append(found)
    if problems:
        raise InputError(problems[:MOST_PROBLEMS])
    if not rows:
        raise InputError([Problem("DC053", "the file has no requests", Place(path, 2, 1))])
    table = np.array(rows, dtype=np.float64)
    return _lengths(table[:, 0], table[:, 1], hit_frac)


def _lines(path: str, flag: str) -> list[str]:
    try:
        if Path(path).stat().st_size > LARGEST:
            cause = f"{path} is larger than {LARGEST / 1e6:,.0f} MB"
            raise InputError([Problem("DC007", cause, Place(flag))])
        return Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        cause = f"{path} cannot be read: {error}"
        raise InputError([Problem("DC006", cause, Place(flag))]) from error


def _tokens(text: str, least: int) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if least <= value <= 1e8 else None
