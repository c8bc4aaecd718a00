"""A number with its provenance: value, bounds, source, date, status and place in a file."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetJsonSchemaHandler,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

Path = tuple[str | int, ...]

_DATE = re.compile(r"\d{4}(-((0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?|Q[1-4]))?")

CURRENCY = r"^[A-Z]{3}$"
"""Pattern of the code of a currency, such as EUR."""


class Status(StrEnum):
    """Origin of a value."""

    INPUT = "input"
    QUOTE = "quote"
    """Price of an imported list."""
    CATALOG = "catalog"
    ESTIMATE = "estimate"
    DEFAULT = "default"
    DERIVED = "derived"


def check_date(text: str) -> str:
    """Accept ``2026``, ``2026-09``, ``2026-Q3`` or ``2026-09-14``; reject anything else."""
    if not _DATE.fullmatch(text) or not _exists(text):
        code = "as_of"
        raise PydanticCustomError(
            code, "expected a date such as 2026-09-14, 2026-09, 2026-Q3 or 2026"
        )
    return text


def _exists(text: str) -> bool:
    if len(text) != len("2026-09-14"):
        return True
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def first_day(as_of: str) -> str:
    """Return the first day of a date, so that dates of any form can be ordered.

    Examples
    --------
    >>> [first_day(x) for x in ("2026", "2026-Q2", "2026-09", "2026-09-14")]
    ['2026-01-01', '2026-04-01', '2026-09-01', '2026-09-14']
    """
    year, _, rest = as_of.partition("-")
    if rest.startswith("Q"):
        return f"{year}-{3 * int(rest[1:]) - 2:02d}-01"
    return "-".join(
        (year, *([rest] if rest else ["01"]), *(["01"] if rest.count("-") == 0 else []))
    )


AsOf = Annotated[
    str,
    BeforeValidator(lambda x: str(x) if isinstance(x, int) and not isinstance(x, bool) else x),
    AfterValidator(check_date),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
]
"""A date as text; a bare year may be written unquoted."""


def _only_numbers(data: Any) -> Any:
    if isinstance(data, bool | str):
        code = "number"
        raise PydanticCustomError(code, "expected a number")
    return data


LARGEST = 1e18
"""Largest number of a quantity. Training runs have 1e14 tokens; a number far beyond is a typing
mistake and breaks the solver's arithmetic."""
Number = Annotated[float, BeforeValidator(_only_numbers)]
"""A float; text and true/false are rejected."""


class Quantity(BaseModel):
    """A number in a catalog or a scenario: bare, or with bounds and source.

    ``7`` and ``{value: 7, low: 6, high: 9, source: "supplier offer", as_of: 2026-10-02}`` are both
    accepted.

    Examples
    --------
    >>> Quantity.model_validate(7).value, Quantity.model_validate({"value": 7, "low": 6, "high": 9}).low
    (7.0, 6.0)
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    value: Number
    low: Number | None = None
    high: Number | None = None
    source: str | None = None
    as_of: AsOf | None = None
    note: str | None = None
    status: Status | None = None
    derived_from: tuple[str, ...] = ()
    at: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_number(cls, data: Any) -> Any:
        if isinstance(data, bool) or not isinstance(data, (int, float, dict, Quantity)):
            code = "quantity"
            raise PydanticCustomError(
                code, "expected a number, or {value, low, high, source, as_of, note}"
            )
        return {"value": data} if isinstance(data, (int, float)) else data

    @model_validator(mode="after")
    def _ordered(self) -> Quantity:
        if any(abs(x) > LARGEST for x in (self.value, self.low or 0.0, self.high or 0.0)):
            code = "quantity_size"
            raise PydanticCustomError(code, "must be at most 1e18")
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        if not low <= self.value <= high:
            code = "quantity_order"
            raise PydanticCustomError(code, "must satisfy low <= value <= high")
        return self

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Allow a bare number in the published JSON Schema."""
        resolved = handler.resolve_ref_schema(handler(schema))
        resolved.get("properties", {}).pop("at", None)
        resolved.get("properties", {})["currency"] = {
            "type": "string",
            "pattern": CURRENCY,
            "description": "Currency of an amount of money in a scenario, with its rate in fx",
        }
        return {"anyOf": [{"type": "number"}, resolved]}

    @property
    def bounds(self) -> tuple[float, float]:
        """Return low and high; the value itself if none is given."""
        return (
            self.value if self.low is None else self.low,
            self.value if self.high is None else self.high,
        )

    def times(self, factor: float, note: str, *, derived_from: tuple[str, ...] = ()) -> Quantity:
        """Scale value and bounds; the result has the status derived and names its origin."""
        low, high = sorted(b * factor for b in self.bounds)
        return Quantity(
            value=self.value * factor,
            low=low,
            high=high,
            source=self.source,
            as_of=self.as_of,
            note=note,
            status=Status.ESTIMATE if self.status is Status.ESTIMATE else Status.DERIVED,
            derived_from=derived_from,
            at=self.at,
        )


def sealed(
    node: Any,
    *,
    status: Status,
    source: str | None = None,
    as_of: str | None = None,
    locate: Callable[[Path], str | None] = lambda _: None,
    path: Path = (),
) -> Any:
    """Return a copy of a validated model in which every quantity has status, source and place.

    Values of the quantity itself override the arguments; a source that begins with ``estimate``
    makes the status ``estimate``.
    """
    if isinstance(node, Quantity):
        own = node.status
        if own is None and (node.source or "").lower().startswith("estimate"):
            own = Status.ESTIMATE
        return node.model_copy(
            update={
                "status": own or status,
                "source": node.source or source,
                "as_of": node.as_of or as_of,
                "at": node.at or locate(path),
            }
        )
    if isinstance(node, BaseModel):
        own_source = getattr(node, "source", None) if path else None
        if (
            own_source is not None
        ):  # a part with its own source, such as one dated price of an offer
            source = str(own_source)
            as_of = getattr(node, "as_of", None) or getattr(own_source, "as_of", None)
        changed = {
            name: sealed(
                value, status=status, source=source, as_of=as_of, locate=locate, path=(*path, name)
            )
            for name, value in node
        }
        return node.model_copy(update=changed)
    if isinstance(node, dict):
        return {
            key: sealed(
                value, status=status, source=source, as_of=as_of, locate=locate, path=(*path, key)
            )
            for key, value in node.items()
        }
    if isinstance(node, list | tuple):
        return type(node)(
            sealed(value, status=status, source=source, as_of=as_of, locate=locate, path=(*path, i))
            for i, value in enumerate(node)
        )
    return node
