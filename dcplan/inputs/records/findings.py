"""What a reader found in its files that a plain reading gets wrong, counted, each with its first row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from dcplan.errors import Place

K = TypeVar("K", bound=StrEnum)
Meanings = Mapping[K, tuple[str, str]]
"""Kind -> what it counts, and what the reader did about it."""


@dataclass(frozen=True)
class Finding(Generic[K]):
    """A property of the files, counted."""

    kind: K
    count: int
    place: Place
    """First row with it."""
    what: str
    """What the files have."""
    effect: str
    """What the reader did about it."""


class Findings(Generic[K]):
    """Collects findings while files are read.

    Parameters
    ----------
    meanings : mapping
        Meaning of each kind, in the order in which findings are listed.
    apart : bool
        Whether findings of one kind with different details are counted apart. Otherwise the detail of
        the first row is kept.
    """

    def __init__(self, meanings: Meanings[K], *, apart: bool = False) -> None:
        self._meanings, self._apart = meanings, apart
        self._found: dict[tuple[K, str], tuple[int, Place, str]] = {}

    def add(self, kind: K, count: int, place: Place, detail: str = "") -> None:
        """Count a property; the place of its first row is kept."""
        if count:
            key = kind, detail if self._apart else ""
            before, first, known = self._found.get(key, (0, place, detail))
            self._found[key] = before + count, first, known

    def findings(self) -> tuple[Finding[K], ...]:
        """Return what was found, in the order of the meanings.

        Examples
        --------
        >>> class Kind(StrEnum):
        ...     TWICE = "twice"
        >>> notes = Findings({Kind.TWICE: ("rows that occur twice", "counted once")})
        >>> notes.add(Kind.TWICE, 2, Place("a.csv", 3))
        >>> notes.add(Kind.TWICE, 1, Place("a.csv", 9))
        >>> [(str(f.kind), f.count, str(f.place), f.what) for f in notes.findings()]
        [('twice', 3, 'a.csv:3', 'rows that occur twice')]
        """
        return tuple(
            Finding(kind, count, place, ": ".join(filter(None, (what, detail))), effect)
            for kind, (what, effect) in self._meanings.items()
            for (one, _), (count, place, detail) in self._found.items()
            if one is kind
        )
