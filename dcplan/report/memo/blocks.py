"""Parts of a memo, before they become Markdown or HTML."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.units import money

WITHHELD = "withheld"
"""Amount that a redacted result does not have."""


@dataclass(frozen=True)
class Note:
    """A paragraph; commands are between backquotes."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """A table as text."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]


Block = Note | Items | Grid


def usd(value: object) -> str:
    """Write an amount for people.

    Examples
    --------
    >>> usd(39e6), usd(-504e3), usd(None)
    ('USD 39 M', '-USD 504 k', 'withheld')
    """
    if not isinstance(value, int | float):
        return WITHHELD
    return f"-USD {money(-value)}" if value < 0 else f"USD {money(value)}"
