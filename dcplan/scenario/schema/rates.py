"""Series of rates whose numbers may be texts with a unit: ``2e9 tokens/day``, ``90 requests/min``."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from dcplan.catalog.schema.ranges import ByQuarter, NonNegative, one_or_many
from dcplan.units import (
    DAYS_PER_MONTH,
    DAYS_PER_WEEK,
    DAYS_PER_YEAR,
    SECONDS_PER_DAY,
    SECONDS_PER_HOUR,
    SECONDS_PER_MINUTE,
)

PERIODS_S: dict[str, float] = {
    "s": 1.0,
    "min": SECONDS_PER_MINUTE,
    "h": SECONDS_PER_HOUR,
    "day": SECONDS_PER_DAY,
    "week": SECONDS_PER_DAY * DAYS_PER_WEEK,
    "month": SECONDS_PER_DAY * DAYS_PER_MONTH,
    "year": SECONDS_PER_DAY * DAYS_PER_YEAR,
}
"""Length of each period of a rate [s]; a month is 365.25 / 12 days."""
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
RATE = re.compile(rf"\s*({NUMBER})\s*([a-z]*)\s*/\s*([a-z]*)\s*")
NUMBERS = ("value", "low", "high")
"""Keys of a quantity that hold its number and its bounds."""


def units_of(noun: str) -> str:
    """Return the units of a rate, as a list for people.

    Examples
    --------
    >>> units_of("tokens")
    'tokens/s, tokens/min, tokens/h, tokens/day, tokens/week, tokens/month, tokens/year'
    """
    return ", ".join(f"{noun}/{period}" for period in PERIODS_S)


def per_second(text: str, noun: str) -> float:
    """Return the rate of a text with its unit: amount / length of the period [1/s].

    Parameters
    ----------
    text : str
        A number and a unit, such as ``2e9 tokens/day``.
    noun : str
        What is counted: ``tokens`` or ``requests``.

    Raises
    ------
    PydanticCustomError
        When the text is not a number with one of the units of :func:`units_of`.

    Examples
    --------
    >>> per_second("8.64e9 tokens/day", "tokens"), per_second("90 requests/min", "requests")
    (100000.0, 1.5)
    """
    found = RATE.fullmatch(text)
    if found is None or found[2] != noun or found[3] not in PERIODS_S:
        code = "rate"
        raise PydanticCustomError(
            code,
            "expected a number of {noun}/s, or a number with its unit ({units}), got {got}",
            {"noun": noun, "units": units_of(noun), "got": repr(text)[:60]},
        )
    return float(found[1]) / PERIODS_S[found[3]]


def _converted(noun: str) -> Callable[[Any], Any]:
    """Return the conversion of a text, or of the texts of a quantity, to numbers per second."""

    def convert(data: Any) -> Any:
        if isinstance(data, str):
            return {"value": per_second(data, noun), "note": data.strip()}
        texts = (
            {k: data[k] for k in NUMBERS if isinstance(data.get(k), str)}
            if isinstance(data, dict)
            else {}
        )
        if not texts:
            return data
        notes = (data.get("note"), texts.get("value", "").strip())
        numbers = {k: per_second(text, noun) for k, text in texts.items()}
        return {**data, **numbers, "note": "; ".join(str(x) for x in notes if x) or None}

    return convert


@dataclass(frozen=True)
class _TextWithUnit:
    """JSON Schema of a quantity whose numbers may also be texts with a unit."""

    noun: str

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        number, quantity = copy.deepcopy(handler.resolve_ref_schema(handler(schema)))["anyOf"]
        pattern = rf"^\s*{NUMBER}\s*{self.noun}\s*/\s*({'|'.join(PERIODS_S)})\s*$"
        text = {"type": "string", "pattern": pattern}
        for key in NUMBERS:
            own = quantity["properties"][key]
            own["anyOf"] = [*(own.pop("anyOf", None) or [{"type": own.pop("type")}]), text]
        return {"anyOf": [number, text, quantity]}


TokenRate = Annotated[NonNegative, BeforeValidator(_converted("tokens")), _TextWithUnit("tokens")]
RequestRate = Annotated[
    NonNegative, BeforeValidator(_converted("requests")), _TextWithUnit("requests")
]
TokenRates = Annotated[list[TokenRate], BeforeValidator(one_or_many), ByQuarter]
"""Tokens per second, one number or one per quarter; a text has its own unit."""
RequestRates = Annotated[list[RequestRate], BeforeValidator(one_or_many), ByQuarter]
"""Requests per second, one number or one per quarter; a text has its own unit."""
