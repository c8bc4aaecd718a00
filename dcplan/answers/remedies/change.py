"""A change of a scenario in the words of a planner, and kinds of change with their sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from dcplan.provenance import Path

MOST_KINDS = 3
"""Kinds of change in one remedy; remedies with more are shown only where no smaller one was found."""


@dataclass(frozen=True)
class Change:
    """One or more edits of a scenario."""

    edits: tuple[str, ...]
    """``KEY=VALUE`` texts, as ``--set`` takes them."""
    text: str
    """The change for people."""
    paths: tuple[Path, ...]
    """Fields that change."""
    amounts: tuple[float, ...] = ()
    """Largest change of each field, or the share of a demand that is too much; empty for dates."""

    def is_part_of(self, other: Change) -> bool:
        """Return whether another change has the same fields with no smaller amounts, and more fields.

        Examples
        --------
        >>> less = Change((), "", (("demand",),), (0.5,))
        >>> more = Change((), "", (("racks",), ("demand",)), (20.0, 0.6))
        >>> less.is_part_of(more), more.is_part_of(less), less.is_part_of(less)
        (True, False, False)
        """
        own, its = (dict(zip(x.paths, x.amounts, strict=False)) for x in (self, other))
        known = len(own) == len(set(self.paths)) < len(set(other.paths))
        return known and all(its.get(path, 0.0) >= amount for path, amount in own.items())


@dataclass(frozen=True)
class Move:
    """One kind of change, for any size.

    Parameters
    ----------
    change : callable
        The change of a size; None if the scenario cannot express it. Sizes are rounded up to a
        natural step, so different sizes may be the same change.
    ladder : tuple of float
        Sizes to try, until one gives a plan.
    least : float
        Size that is known to be too small.
    price_musd : float
        Rough price of the change, for the order of the tests only.
    kinds : int
        Number of kinds of change in it.
    gives : bool
        Whether it gives more of a limit: more than is needed may then lower the cost.
    """

    change: Callable[[float], Change | None]
    ladder: tuple[float, ...]
    least: float = 0.0
    price_musd: float = 0.0
    screened: bool = False
    """Whether the largest sizes are tried first, because a kind that cannot help is common."""
    kinds: int = 1
    gives: bool = False

    @property
    def few(self) -> bool:
        """Return whether a person can follow the change: at most ``MOST_KINDS`` kinds."""
        return self.kinds <= MOST_KINDS


def both(first: Change, second: Change) -> Change:
    """Return two changes as one."""
    return Change(
        (*first.edits, *second.edits),
        f"{first.text} and {second.text}",
        (*first.paths, *second.paths),
        (*_amounts(first), *_amounts(second)),
    )


def _amounts(change: Change) -> tuple[float, ...]:
    """Return the amounts of a change; those of dates have no common unit."""
    return change.amounts or (math.nan,) * len(change.paths)


def after(first: Change, move: Move) -> Move:
    """Return a move whose change follows another one; it has none that replaces a field of the first."""

    def change(size: float) -> Change | None:
        second = move.change(size)
        if second is None or set(first.paths).intersection(second.paths):
            return None
        return both(first, second)

    return replace(move, change=change, kinds=1 + move.kinds, gives=False)
