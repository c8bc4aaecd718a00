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

from dcplan.units import (
    MOST_PUE,
    MOST_USD_PER_ACCELERATOR,
    MOST_USD_PER_ACCELERATOR_HOUR,
    MOST_USD_PER_INSTANCE_HOUR,
    MOST_USD_PER_KWH,
)

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


def _check(test: Callable[[float], bool], words: str) -> AfterValidator:
    def check(quantity: Quantity) -> Quantity:
        for number in (quantity.value, *quantity.bounds):
            if not test(number):
                code = "quantity_range"
                raise PydanticCustomError(
                    code, "{words}, got {number}", {"words": words, "number": number}
                )
        return quantity

    return AfterValidator(check)


Positive = Annotated[Quantity, _check(lambda x: x > 0, "must be above 0")]
NonNegative = Annotated[Quantity, _check(lambda x: x >= 0, "must not be negative")]
Years = Annotated[Quantity, _check(lambda x: 0 < x <= 100, "must be above 0 and at most 100 years")]
Megawatts = Annotated[
    Quantity, _check(lambda x: 0 < x <= 100_000, "must be above 0 and at most 100,000 MW")
]
Seconds = Annotated[
    Quantity, _check(lambda x: 0.001 <= x <= 1e7, "must be between 0.001 and 10,000,000 s")
]
YearHours = Annotated[
    Quantity, _check(lambda x: 0 < x <= 8_766, "must be above 0 and at most 8,766 h (one year)")
]
DayHours = Annotated[
    Quantity, _check(lambda x: 0 < x < 24, "must be above 0 and below 24 h (one day)")
]
EventHours = Annotated[
    Quantity,
    _check(lambda x: 0 < x <= 2_191.5, "must be above 0 and at most 2,191.5 h (a quarter)"),
]
MonthHours = Annotated[
    Quantity, _check(lambda x: 600 <= x <= 744, "must be between 600 and 744 h (31 days)")
]
WeekHours = Annotated[
    Quantity, _check(lambda x: 0 < x <= 168, "must be above 0 and at most 168 h (one week)")
]
Hours = Annotated[
    Quantity, _check(lambda x: 0 < x <= 100_000, "must be above 0 and at most 100,000 h")
]
NodeStops = Annotated[
    Quantity, _check(lambda x: 1e-6 <= x <= 10_000, "must be between 0.000001 and 10,000")
]
Slowdown = Annotated[Quantity, _check(lambda x: 0.2 <= x <= 5, "must be between 0.2 and 5")]
Ratio = Annotated[Quantity, _check(lambda x: 0.1 <= x <= 1000, "must be between 0.1 and 1000")]
AtLeastOne = Annotated[Quantity, _check(lambda x: x >= 1, "must be at least 1")]
Fraction = Annotated[Quantity, _check(lambda x: 0 <= x <= 1, "must be a fraction between 0 and 1")]

CarnotFraction = Annotated[
    Quantity, _check(lambda x: 0.35 <= x <= 1, "must be a fraction between 0.35 and 1")
]
HeatC = Annotated[
    Quantity,
    _check(lambda x: 20 <= x <= 150, "must be between 20 and 150 C (water of a heat network)"),
]
Pue = Annotated[
    Quantity, _check(lambda x: 1 <= x <= MOST_PUE, f"must be between 1 and {MOST_PUE:g}")
]
EnergyPrice = Annotated[
    Quantity,
    _check(
        lambda x: 0 <= x <= MOST_USD_PER_KWH, f"must be between 0 and {MOST_USD_PER_KWH:g} USD/kWh"
    ),
]
HourPrice = Annotated[
    Quantity,
    _check(
        lambda x: 0 <= x <= MOST_USD_PER_ACCELERATOR_HOUR,
        f"must be between 0 and {MOST_USD_PER_ACCELERATOR_HOUR:,.0f} USD per accelerator-hour",
    ),
]
InstancePrice = Annotated[
    Quantity,
    _check(
        lambda x: 0 < x <= MOST_USD_PER_INSTANCE_HOUR,
        f"must be above 0 and at most {MOST_USD_PER_INSTANCE_HOUR:,.0f} USD per hour of an instance",
    ),
]
AcceleratorPrice = Annotated[
    Quantity,
    _check(
        lambda x: 0 <= x <= MOST_USD_PER_ACCELERATOR,
        f"must be between 0 and {MOST_USD_PER_ACCELERATOR:,.0f} USD",
    ),
]
Share = Annotated[
    Quantity, _check(lambda x: 0 < x <= 1, "must be a fraction above 0 and at most 1")
]
NetworkShare = Annotated[
    Quantity, _check(lambda x: 0 <= x <= 0.9, "must be a fraction between 0 and 0.9")
]


def one_or_many(data: Any) -> Any:
    """Return a list as it is, and a single value as a list of one."""
    return data if isinstance(data, list) else [data]


class ByQuarter:
    """Mark of a series: one value for all quarters, one per quarter, or a start that grows.

    ``dcplan/scenario/series.py`` expands growth when a scenario loads; a model sees the list.
    """

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        many = handler(schema)
        change = {"type": "number", "exclusiveMinimum": -1, "maximum": 10}
        growth = {
            "type": "object",
            "description": "start * (1 + growth_frac_per_quarter)^quarters, 0 before `from`",
            "additionalProperties": False,
            "required": ["start", "growth_frac_per_quarter"],
            "properties": {
                "start": many["items"],
                "growth_frac_per_quarter": change,
                "from": {"type": "string", "pattern": r"^\d{4}-Q[1-4]$"},
                "shift_quarters": {"type": "integer", "minimum": -80, "maximum": 80},
            },
        }
        return {"anyOf": [many["items"], many, growth]}


Series = Annotated[list[NonNegative], BeforeValidator(one_or_many), ByQuarter]
"""One number for all quarters, or one number per quarter; a scenario may give its growth instead."""
Fractions = Annotated[list[Fraction], BeforeValidator(one_or_many), ByQuarter]
"""Fractions from 0 to 1, one number for all quarters or one number per quarter."""
EnergyPrices = Annotated[list[EnergyPrice], BeforeValidator(one_or_many), ByQuarter]
"""Energy prices, one number for all quarters or one number per quarter. [USD/kWh]"""


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
