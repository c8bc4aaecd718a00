"""Documentation of the fields of scenarios and catalogs, from the schema."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from dcplan.catalog.field_docs import docs_of
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import KINDS, Parameter, ranges
from dcplan.catalog.schema.base import QuarterName, SourceText
from dcplan.provenance import Quantity
from dcplan.scenario.schema import Scenario
from dcplan.scenario.schema.fine_tuning import FineTuning
from dcplan.units import unit_of

WORDS = {
    "Positive": "number > 0",
    "NonNegative": "number >= 0",
    "Fraction": "fraction, 0 to 1",
    "Share": "fraction, above 0 to 1",
    "AtLeastOne": "number >= 1",
    "Pue": "number, 1 to 10",
    "EnergyPrice": "number, 0 to 10",
    "HourPrice": "number, 0 to 1,000",
    "InstancePrice": "number, above 0 to 10,000",
    "Years": "number, above 0 to 100",
    "Megawatts": "number, above 0 to 100,000",
    "YearHours": "hours of a year",
    "Seconds": "number of seconds",
    "Hours": "number of hours",
    "NodeStops": "number, 0.000001 to 10,000",
    "Slowdown": "number, 0.2 to 5",
    "Ratio": "number, 0.1 to 1000",
}
"""Types of :mod:`dcplan.catalog.schema.ranges` in words; each also accepts {value, low, high, source, as_of,
note}."""
_BY_CHECK = {id(getattr(ranges, name).__metadata__[0]): words for name, words in WORDS.items()}
QUARTER = typing.get_args(QuarterName)[1].pattern
STANDS_IN = re.compile(r"`([a-z_]+)/([a-z0-9.-]+)`")
"""A catalog row that a field text names: the default of the field."""


@dataclass(frozen=True)
class FieldDoc:
    """One field in the spelling of the user's file."""

    key: str
    """Dotted, without list ids: ``sites.halls.it_mw``; for a catalog row, the kind comes first."""
    type: str
    unit: str
    default: str
    meaning: str
    model: str
    """Name of the part that has the field."""
    of: str
    """scenario or catalog."""


def scenario_fields(catalog: Catalog | None = None) -> list[FieldDoc]:
    """Return every field of a scenario, each followed by the fields of its parts.

    With a catalog, a default from a catalog parameter has its value and source.
    """
    return list(_walk(Scenario, "", "scenario", catalog))


def fine_tuning_fields(catalog: Catalog | None = None) -> list[FieldDoc]:
    """Return every key of fine-tuning, which is no part of a scenario."""
    return list(_walk(FineTuning, "fine_tuning", "train --post-training", catalog))


def catalog_fields(kind: str) -> list[FieldDoc]:
    """Return every field of a catalog kind."""
    return list(_walk(KINDS[kind], kind, "catalog", None))


def _walk(
    model: type[BaseModel], prefix: str, of: str, catalog: Catalog | None
) -> Iterator[FieldDoc]:
    texts = docs_of(model)
    for name, info in model.model_fields.items():
        shown = info.alias or name
        key = f"{prefix}.{shown}" if prefix else shown
        meaning = texts.get(name, "")
        default = _default(info, meaning, catalog)
        yield FieldDoc(
            key,
            _type(info.annotation, info.metadata),
            unit_of(name),
            default,
            meaning,
            model.__name__,
            of,
        )
        for part in _parts(info.annotation):
            yield from _walk(part, key, of, catalog)


def _parts(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the mappings that a field consists of.

    Quantities and sources are left out, because users write them as numbers and texts.
    """
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation not in (Quantity, SourceText):
            yield annotation
        return
    for part in typing.get_args(annotation):
        yield from _parts(part)


def _default(info: FieldInfo, meaning: str, catalog: Catalog | None) -> str:
    if info.is_required():
        return "required"
    found = STANDS_IN.search(meaning)
    if found and catalog is not None and found[1] in KINDS:
        row = catalog.find(found[1], found[2], Parameter)
        if row is not None and isinstance(row, Parameter):
            unit = "" if row.unit == "1" else row.unit
            return f"{row.value.value:g} {unit}".strip() + f" ({row.source.title})"
    value = info.default
    if value is PydanticUndefined or value in (None, (), ""):
        return ""
    if isinstance(value, Quantity):
        return f"{value.value:g}"
    if isinstance(value, BaseModel):
        return ""
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return (
        {True: "true", False: "false"}.get(value, str(value))
        if isinstance(value, bool)
        else str(value)
    )


def _type(annotation: Any, metadata: list[Any] | None = None) -> str:
    """Return a type in words.

    Examples
    --------
    >>> _type(int | None), _type(typing.Literal["a", "b"]), _type(tuple[str, ...])
    ('whole number', 'a or b', 'list of texts')
    """
    checked = next((_BY_CHECK[id(m)] for m in metadata or () if id(m) in _BY_CHECK), "")
    if checked:
        return checked
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _type(args[0], list(args[1:]))
    if annotation in (int, float, str):
        return _plain(annotation, metadata or [])
    is_enum = isinstance(annotation, type) and issubclass(annotation, Enum)
    if origin is typing.Literal or is_enum:
        words = [str(x.value) for x in annotation] if is_enum else list(map(str, args))
        return " or ".join(words) if len(words) < 3 else "one of " + ", ".join(words)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_type(a) for a in args if a is not type(None)))
    if origin in (list, tuple, dict):
        by_quarter = origin is list and "Quantity" in str(args[0])
        kind, part = ("mapping", args[1]) if origin is dict else ("list", args[0])
        several = f"{kind} of {_many(part)}"
        return "number, one per quarter, or growth" if by_quarter else several
    if (
        isinstance(annotation, type)
        and issubclass(annotation, BaseModel)
        and annotation is not Quantity
    ):
        return "text or {title, url, as_of}" if annotation is SourceText else "mapping"
    return {bool: "true or false", Quantity: "number"}.get(annotation, "any")


def _plain(kind: type, metadata: list[Any]) -> str:
    if kind is str:
        return (
            "quarter" if any(getattr(m, "pattern", None) == QUARTER for m in metadata) else "text"
        )
    return ("whole number" if kind is int else "number") + _range(metadata)


def _range(metadata: list[Any]) -> str:
    """Return the bounds of a plain number in words."""
    all_of = [m for x in metadata for m in (x.metadata if isinstance(x, FieldInfo) else [x])]
    found = {
        n: getattr(m, n)
        for m in all_of
        for n in ("ge", "gt", "le", "lt")
        if getattr(m, n, None) is not None
    }
    low = f">= {found['ge']:,}" if "ge" in found else f"> {found['gt']:,}" if "gt" in found else ""
    high = f"<= {found['le']:,}" if "le" in found else f"< {found['lt']:,}" if "lt" in found else ""
    return f" {' and '.join(x for x in (low, high) if x)}".rstrip()


def _many(annotation: Any) -> str:
    word = _type(annotation)
    return {
        "text": "texts",
        "number": "numbers",
        "quarter": "quarters",
        "mapping": "mappings",
        "any": "anything",
    }.get(word, word)
