"""Quantities with the range that a field of a catalog or a scenario allows, and series of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from dcplan.provenance import Quantity
from dcplan.units import (
    MOST_PUE,
    MOST_USD_PER_ACCELERATOR,
    MOST_USD_PER_ACCELERATOR_HOUR,
    MOST_USD_PER_INSTANCE_HOUR,
    MOST_USD_PER_KWH,
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
