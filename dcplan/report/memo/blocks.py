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


def change(value: object) -> str:
    """Write a difference with its sign.

    Examples
    --------
    >>> change(4.51e6), change(-504e3), change(None)
    ('+USD 4.51 M', '-USD 504 k', 'withheld')
    """
    return f"+{usd(value)}" if isinstance(value, int | float) and value > 0 else usd(value)


def counted(quantity: float, unit: str) -> str:
    """Write an amount with its unit, whose name is a plural.

    Examples
    --------
    >>> counted(1, "racks"), counted(17623.06, "accelerator-hours")
    ('1 rack', '17,623 accelerator-hours')
    """
    return f"{quantity:,.0f} {unit.removesuffix('s') if quantity == 1 else unit}"
