"""Layouts of many problems as rows of arrays, with the problems that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.llm.tables import Array
from dcplan.training.grid import KEYS, Index
from dcplan.training.many.group import INNER, OUTER, Group, Mask


@dataclass(frozen=True)
class Problems:
    """Devices with their numbers of ranks, one entry each."""

    device: Index
    ranks: Array
    bar_s: Array
    """Step times that a layout must not exceed to be of use."""


@dataclass(frozen=True)
class Rows:
    """Layouts of problems, one entry each."""

    problem: Index
    one: Index
    """Row of the group's micro-batch times."""
    outer: Index
    """Row of the group's stages and modes."""
    dp: Array

    def take(self, at: Index | Mask) -> Rows:
        """Return some rows."""
        return Rows(self.problem[at], self.one[at], self.outer[at], self.dp[at])


@dataclass(frozen=True)
class Timed:
    """Layouts that fit in memory, with their step time and memory."""

    rows: Rows
    time_s: Array
    memory_bytes: Array

    def take(self, at: Index | Mask) -> Timed:
        """Return some rows."""
        return Timed(self.rows.take(at), self.time_s[at], self.memory_bytes[at])


def joined(parts: Sequence[Rows]) -> Rows:
    """Return the rows of all parts in their order; there is at least one part."""
    return Rows(
        np.concatenate([x.problem for x in parts]),
        np.concatenate([x.one for x in parts]),
        np.concatenate([x.outer for x in parts]),
        np.concatenate([x.dp for x in parts]),
    )


def counted(sizes: Index) -> Index:
    """Return 0, 1, 2 and so on for each of some sizes."""
    return np.asarray(np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes))


def columns_of(group: Group, found: Rows) -> dict[str, Array]:
    """Return the columns of layouts."""
    at = group.inner_of(found.one)
    columns = {k: group.inner[k][at] for k in INNER}
    columns |= {k: group.outer.columns[k][found.outer] for k in OUTER} | {"dp": found.dp}
    return {k: columns[k] for k in KEYS}
