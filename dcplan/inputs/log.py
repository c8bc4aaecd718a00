"""Record of every input of an answer: key, value, bounds, unit, status, source and place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Parameter
from dcplan.provenance import Quantity, Status
from dcplan.units import unit_of

FORMAT_DEFAULT = "default of the scenario format"
"""Source of a value that the scenario leaves out."""


@dataclass(frozen=True)
class Input:
    """One row of a result's ``inputs``."""

    key: str
    value: float | str
    low: float | None
    high: float | None
    unit: str
    status: str
    source: str | None
    as_of: str | None
    at: str | None
    note: str | None = None


@dataclass
class InputLog:
    """Collector of inputs while the planning problem is built; each key once."""

    catalog: Catalog
    rows: dict[str, Input] = field(default_factory=dict)

    def take(self, key: str, quantity: Quantity, status: Status | None = None) -> float:
        """Record a quantity under a key and return its value.

        ``status`` overrides the status of the quantity.
        """
        self.rows[key] = Input(
            key,
            quantity.value,
            quantity.low,
            quantity.high,
            unit_of(key),
            str(status or quantity.status or Status.INPUT),
            quantity.source,
            quantity.as_of,
            quantity.at,
            quantity.note,
        )
        return quantity.value

    def text(
        self, key: str, value: str, status: Status, source: str | None = None, at: str | None = None
    ) -> str:
        """Record a choice that is not a number."""
        self.rows[key] = Input(key, value, None, None, "", str(status), source, None, at)
        return value

    def series(self, key: str, series: Sequence[Quantity], quarters: int) -> tuple[float, ...]:
        """Record a series; one number applies to all quarters."""
        for i, quantity in enumerate(series):
            self.take(key if len(series) == 1 else f"{key}[{i}]", quantity)
        values = tuple(q.value for q in series)
        return values * quarters if len(values) == 1 else values

    def parameter(self, kind: str, key: str) -> float:
        """Return the value of a catalog parameter, recorded under ``kind.key``.

        Its status is default, unless it is an estimate or the user's own value.
        """
        quantity = self.catalog.get(kind, key, Parameter).value
        keep = Status.DEFAULT if quantity.status is Status.CATALOG else quantity.status
        return self.take(f"{kind}.{key}", quantity, keep)

    def assumed(self, key: str, given: float | None, default: float) -> float:
        """Return the given value, or a default of the scenario format, recorded as such."""
        if given is not None:
            return self.take(key, Quantity(value=given, status=Status.INPUT))
        return self.take(key, Quantity(value=default, status=Status.DEFAULT, source=FORMAT_DEFAULT))

    def answered(self, key: str, *, given: bool, default: bool) -> bool:
        """Return the answer to a question of the scenario format; another one than the default is given."""
        status, source = Status.INPUT, None
        if given == default:
            status, source = Status.DEFAULT, FORMAT_DEFAULT
        self.text(key, str(given).lower(), status, source)
        return given

    def chosen(self, key: str, given: Quantity | None, kind: str, default: str) -> float:
        """Return the given value, or the catalog parameter that replaces it."""
        return self.take(key, given) if given is not None else self.parameter(kind, default)


def width(row: Input) -> float:
    """Return the width of an input's bounds relative to its value; 0 without bounds."""
    if (
        row.low is None
        or row.high is None
        or not isinstance(row.value, int | float)
        or not row.value
    ):
        return 0.0
    return (row.high - row.low) / abs(row.value)
