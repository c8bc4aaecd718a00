"""Samples of counters in columns: one row for each accelerator and moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.demand.log.jobs import Array, Flags, Index
from dcplan.errors import Place
from dcplan.inputs.counters.findings import Notes, Oddity
from dcplan.inputs.counters.names import MEANINGS, Counter
from dcplan.inputs.logs.rows import Columns

LABELS = ("job", "queue", "user", "cluster", "node")


@dataclass(frozen=True)
class Samples:
    """Samples, sorted by accelerator and time; unknown values are NaN, never zero."""

    accelerator: Index
    """Number of the accelerator from 0."""
    at_s: Array
    """Time. [s]"""
    values: dict[Counter, Array]
    """Values of each counter in its own unit; a counter that no file has is missing."""
    labels: dict[str, Index]
    """Job, queue, user, cluster and node by number; -1: none. A label that no file has is missing."""
    names: dict[str, tuple[str, ...]]
    """Texts of each label by number."""
    labeled: Flags
    """Whether the file of a sample has a column for the job."""
    paths: Sequence[str]
    file: Index
    line: Index

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.at_s)

    def place(self, i: int) -> Place:
        """Return the file and the row of a sample."""
        return Place(self.paths[int(self.file[i])], int(self.line[i]))

    def value(self, counter: Counter) -> Array:
        """Return the values of a counter; all unknown where no file has it."""
        return self.values.get(counter, np.full(len(self), np.nan))

    def label(self, name: str) -> Index:
        """Return the numbers of a label; -1 where no file has it."""
        return self.labels.get(name, np.full(len(self), -1))


def checked(c: Columns, paths: Sequence[str], ratio_files: Sequence[int], notes: Notes) -> None:
    """Leave out values outside their range, in place; each is counted with its first row."""
    for number in ratio_files:
        mine = c["file"] == number
        value = c[Counter.UTIL][mine]
        if np.isfinite(value).any() and np.nanmax(value) <= 1.0:
            row = int(np.flatnonzero(mine)[0])
            place = Place(paths[number], int(c["line"][row]))
            notes.add(Oddity.UTIL_UNIT, int(np.isfinite(value).sum()), place)
            c[Counter.UTIL] = np.where(
                mine, c[Counter.UTIL] * MEANINGS[Counter.UTIL].high, c[Counter.UTIL]
            )
    for counter, meaning in MEANINGS.items():
        value = c[counter]
        wrong = (value < meaning.low) | (value > meaning.high)
        at = np.flatnonzero(wrong)
        if len(at):
            first = int(at[0])
            place = Place(paths[int(c["file"][first])], int(c["line"][first]))
            unit = f" {meaning.unit}" if meaning.unit else ""
            ends = f"{meaning.low:g} to {round(meaning.high, 3):g}{unit}"
            ends = ends if np.isfinite(meaning.high) else f"at least {meaning.low:g}{unit}"
            detail = f"{counter} is {ends}, the first of them is {value[first]:g}"
            notes.add(Oddity.OUT_OF_RANGE, len(at), place, detail)
            c[counter] = np.where(wrong, np.nan, value)


def merged(
    c: Columns,
    accelerator: Index,
    names: dict[str, tuple[str, ...]],
    present: Sequence[Counter],
    paths: Sequence[str],
    notes: Notes,
) -> Samples:
    """Return one row for each accelerator and moment, from rows of one counter or of several."""
    order = np.lexsort((c["line"], c["file"], c["time"], accelerator))
    moved = {name: column[order] for name, column in c.items()}
    device = accelerator[order]
    new = np.ones(len(device), dtype=np.bool_)
    new[1:] = (device[1:] != device[:-1]) | (moved["time"][1:] != moved["time"][:-1])
    group = np.cumsum(new) - 1
    count = int(group[-1]) + 1
    _, device = np.unique(device[new], return_inverse=True)
    twice = np.zeros(len(group), dtype=np.bool_)
    values = {}
    for counter in present:
        known = np.isfinite(moved[counter])
        values[counter], repeated = _first(moved[counter], known, group, count, np.nan)
        twice |= repeated
    labels = {}
    for name in LABELS:
        if names.get(name):
            known = moved[name] >= 0
            labels[name] = _first(moved[name], known, group, count, -1)[0].astype(np.int64)
    found = Samples(
        np.asarray(device, dtype=np.int64).reshape(-1),
        moved["time"][new],
        values,
        labels,
        names,
        moved["labeled"][new],
        paths,
        moved["file"][new],
        moved["line"][new],
    )
    rows = np.flatnonzero(twice)
    if len(rows):
        i = int(rows[np.lexsort((moved["line"][rows], moved["file"][rows]))[0]])
        place = Place(paths[int(moved["file"][i])], int(moved["line"][i]))
        notes.add(Oddity.TWICE, len(rows), place)
    _note_unknown(found, notes)
    return found


def _first(
    value: npt.NDArray[np.generic], known: Flags, group: Index, count: int, nothing: float
) -> tuple[Array, Flags]:
    """Return the first known value of each group, and the rows of further ones."""
    at = np.flatnonzero(known)
    groups, first = np.unique(group[at], return_index=True)
    found = np.full(count, nothing)
    found[groups] = value[at[first]]
    repeated = np.zeros(len(value), dtype=np.bool_)
    repeated[at] = True
    repeated[at[first]] = False
    return found, repeated


def _note_unknown(samples: Samples, notes: Notes) -> None:
    """Count samples that lack a counter, and files whose counters never come together."""
    known = np.array([np.isfinite(v) for v in samples.values.values()])
    for counter, mine in zip(samples.values, known, strict=True):
        lacking = np.flatnonzero(~mine)
        if len(lacking):
            i = int(lacking[np.lexsort((samples.line[lacking], samples.file[lacking]))[0]])
            notes.add(Oddity.NO_VALUE, len(lacking), samples.place(i), str(counter))
    several = known.any(axis=1).sum() > 1
    if several and not known[known.any(axis=1)].all(axis=0).any():
        notes.add(Oddity.APART, len(samples), samples.place(0))
