"""Rows of several files in columns, each with its file and line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dcplan.demand.log.jobs import Array, Flags, Index
from dcplan.errors import Place
from dcplan.inputs.logs.cells import NOTHING, duration_s, moments, number, numbers
from dcplan.inputs.logs.traps import Found, Trap

Columns = dict[str, npt.NDArray[Any]]
TIMES = ("submit", "eligible", "start", "end")


@dataclass(frozen=True)
class Marks:
    """File and line of each row, for what is found in it."""

    found: Found
    paths: Sequence[str]
    file: Index
    line: Index

    def place(self, i: int) -> Place:
        """Return the place of a row."""
        return Place(self.paths[int(self.file[i])], int(self.line[i]))

    def note(self, trap: Trap, chosen: Flags, detail: str = "") -> None:
        """Count the rows with a trap."""
        at = np.flatnonzero(chosen)
        if len(at):
            self.found.add(trap, len(at), self.place(int(at[0])), detail)

    def bad(self, chosen: Flags, cause: str, help_text: str = "") -> None:
        """Note rows that cannot be read."""
        for i in np.flatnonzero(chosen).tolist():
            place = self.place(i)
            self.found.bad(place.path, place.line, cause, help_text)


@dataclass
class Rows:
    """Rows of all files of one kind; readers add to it batch by batch."""

    found: Found
    paths: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, int]] = field(default_factory=dict)
    """Number of each text, by column."""
    pieces: list[Columns] = field(default_factory=list)
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Earliest and latest time of each file. [s]"""
    _known: dict[str, dict[str, int]] = field(default_factory=dict)
    """Number of each cell, by column."""
    _read: dict[str, dict[str, float]] = field(default_factory=dict)
    """Value of each cell that is no plain number, by column."""

    def open(self, path: str) -> int:
        """Return the number of a file, new or known."""
        if path not in self.paths:
            self.paths.append(path)
        return self.paths.index(path)

    def columns(self) -> Columns:
        """Return every column of all rows."""
        names = self.pieces[0] if self.pieces else ()
        return {name: np.concatenate([p[name] for p in self.pieces]) for name in names}

    def marks(self, columns: Columns) -> Marks:
        """Return the places of rows."""
        return Marks(self.found, self.paths, columns["file"], columns["line"])

    def span(self, columns: Columns) -> None:
        """Keep the earliest and the latest time of each file."""
        lowest = np.fmin.reduce([columns[name] for name in TIMES])
        highest = np.fmax.reduce([columns[name] for name in TIMES])
        for i, path in enumerate(self.paths):
            mine = (columns["file"] == i) & np.isfinite(lowest)
            if mine.any():
                self.spans[path] = float(lowest[mine].min()), float(highest[mine].max())

    def names(self, column: str) -> tuple[str, ...]:
        """Return the texts of a column by their numbers."""
        return tuple(self.codes.get(column, {}))

    def coded(self, column: str, cells: Sequence[str]) -> Index:
        """Return the number of each text; -1 for an unknown one."""
        codes = self.codes.setdefault(column, {})
        known = self._known.setdefault(column, {})
        for cell in dict.fromkeys(cells):
            if cell not in known:
                text = cell.strip()
                nothing = text.lower() in NOTHING
                known[cell] = -1 if nothing else codes.setdefault(text, len(codes))
        return np.array([known[c] for c in cells], dtype=np.int64)

    def moments(
        self, column: str, cells: Sequence[str], lines: Sequence[int], path: str
    ) -> Columns:
        """Return the times of a column, and which are of a local clock."""
        read = moments(cells)
        for i, cause in read.bad:
            self.found.bad(path, lines[i], f"{column}: {cause}")
        return {column: read.value_s, f"{column}_local": read.local}

    def numbers(
        self,
        column: str,
        cells: Sequence[str],
        lines: Sequence[int],
        path: str,
        *,
        durations: bool = False,
    ) -> Array:
        """Return the numbers, or the durations in seconds, of a column."""
        known = self._read.setdefault(column, {})
        value, bad = numbers(cells, duration_s if durations else number, known)
        for i, cause in bad:
            self.found.bad(path, lines[i], f"{column}: {cause}")
        return value
