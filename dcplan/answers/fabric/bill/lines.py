"""Lines of a bill of materials with low and high prices, and their sums."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from dcplan.catalog.schema import Optic
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import MissingError
from dcplan.provenance import Quantity


class Kind(Enum):
    """Kind of a line in the bill of materials."""

    SWITCH = auto()
    NODE_OPTIC = auto()
    """Transceiver in a node."""
    SWITCH_OPTIC = auto()
    """Transceiver in a switch."""
    CABLE = auto()
    OTHER = auto()


OPTICS = (Kind.NODE_OPTIC, Kind.SWITCH_OPTIC)


class Price(NamedTuple):
    """A price with its bounds [USD]."""

    low: float
    value: float
    high: float

    def times(self, count: float) -> Price:
        """Return the price of several pieces."""
        return Price(self.low * count, self.value * count, self.high * count)

    def plus(self, other: Price) -> Price:
        """Return the sum of both prices, with summed bounds."""
        return Price(self.low + other.low, self.value + other.value, self.high + other.high)


FREE = Price(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Line:
    """One kind of part; the values are for all pieces."""

    kind: Kind
    item: str
    part: str
    count: int
    price: Price
    kw: float = 0.0
    rack_units: float = 0.0
    kg: float = 0.0
    status: str = ""
    optic: Optic | None = None
    """Row of a transceiver or cable."""


@dataclass(frozen=True)
class Totals:
    """Sums of lines."""

    price: Price
    kw: float
    rack_units: float
    kg: float
    transceivers: int

    @classmethod
    def of(cls, lines: Iterable[Line]) -> Totals:
        """Sum lines."""
        rows = list(lines)
        return cls(
            functools.reduce(Price.plus, (row.price for row in rows), FREE),
            sum(row.kw for row in rows),
            sum(row.rack_units for row in rows),
            sum(row.kg for row in rows),
            sum(row.count for row in rows if row.kind in OPTICS),
        )


def price_of(log: InputLog, key: str, quantity: Quantity | None) -> Price:
    """Return the price of a part with its bounds.

    Raises
    ------
    MissingError
        When the catalog has none.
    """
    value = value_of(log, key, quantity)
    low, high = quantity.bounds if quantity else (value, value)
    return Price(low, value, high)


def value_of(log: InputLog, key: str, quantity: Quantity | None) -> float:
    """Return a figure of a part.

    Raises
    ------
    MissingError
        When the catalog has none.
    """
    if quantity is None:
        msg = f"no value for {key}"
        raise MissingError(msg)
    return log.take(key, quantity)


def status_of(quantity: Quantity | None) -> str:
    """Return whether a price is an estimate or listed; empty without one."""
    return (
        "" if quantity is None else ("estimate" if str(quantity.status) == "estimate" else "listed")
    )
