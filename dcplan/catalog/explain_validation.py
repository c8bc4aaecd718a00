"""Validation errors as problems with their places and next steps."""

from __future__ import annotations

import re
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from dcplan.errors import Problem, did_you_mean
from dcplan.provenance import CURRENCY, Path


class Locatable(Protocol):
    """A source of places: one parsed file, or a merged tree."""

    def problem(
        self,
        code: str,
        cause: str,
        path: Path,
        *,
        key: bool = False,
        hint: str = "",
        help: str = "",
    ) -> Problem:
        """Build a problem at the place of a value."""
        ...


_INNER = ("function-", "literal[", "tuple[", "constrained-", "lax-or-strict", "is-instance")
"""Parts of a location that name a validator, not a key of the document."""

MERGE_KEY = (
    "merge keys of YAML (<<) are not read: write the fields, or use an alias for a complete value"
)
"""Hint for a key of YAML 1.1 that other readers accept."""

_WORDS = {
    "bool_type": "expected true or false",
    "int_type": "expected an integer",
    "int_parsing": "expected an integer",
    "int_from_float": "expected an integer",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "string_type": "expected text",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "dict_type": "expected a mapping (key: value)",
    "model_type": "expected a mapping (key: value)",
    "model_attributes_type": "expected a mapping (key: value)",
}


def fields_at(model: type[BaseModel], path: Path) -> list[str]:
    """Return the field names at a path below a model, for "did you mean"; empty if unknown."""
    current: Any = model
    for part in path:
        if isinstance(part, int):
            continue
        found = _models(getattr(current, "model_fields", {}).get(part))
        if not found:
            return []
        current = found[0]
    found_fields = getattr(current, "model_fields", {})
    return sorted(info.alias or name for name, info in found_fields.items())


def _models(field: Any) -> list[type[BaseModel]]:
    if field is None:
        return []
    found: list[type[BaseModel]] = []
    stack = [getattr(field, "annotation", field)]
    while stack:
        kind = stack.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found.append(kind)
        else:
            stack.extend(getattr(kind, "__args__", ()))
    return found


def problems_of(
    error: ValidationError,
    document: Locatable,
    model: type[BaseModel],
    base: Path = (),
    help: str = "",
) -> list[Problem]:
    """Translate every entry of a validation error; ``base`` is the path of the model in its
    document.
    """
    problems = []
    items = error.errors(include_url=False)
    for item in items:
        if item["type"] == "too_short" and any(
            o is not item and o["loc"][: len(item["loc"])] == item["loc"] for o in items
        ):
            continue  # its elements were rejected one by one; the list is not empty
        path: Path = tuple(part for part in item["loc"] if not str(part).startswith(_INNER))
        where = (*base, *path)
        dotted = ".".join(str(part) for part in where)
        if item["type"] == "extra_forbidden":
            word = str(path[-1])
            hint = MERGE_KEY if word == "<<" else did_you_mean(word, fields_at(model, path[:-1]))
            problems.append(
                document.problem(
                    "DC002", f"{dotted}: unknown field", where, key=True, hint=hint, help=help
                )
            )
        elif item["type"] == "missing":
            is_source = path == ("source",)
            cause = (
                f"{dotted}: a row without a source does not load"
                if is_source
                else f"{dotted}: missing field"
            )
            code = "DC020" if is_source else "DC003"
            problems.append(document.problem(code, cause, where[:-1], help=help))
        else:
            cause = f"{dotted}: {_words(item)}"
            named = ".".join(part for part in where if isinstance(part, str))
            next_step = f"dcplan explain {named}" if help else ""
            hint = _choices_hint(item) or _number_hint(item)
            problems.append(document.problem("DC004", cause, where, hint=hint, help=next_step))
    return problems


def _words(item: Any) -> str:
    known = _WORDS.get(item["type"])
    shown = repr(item.get("input"))
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    if item["type"] == "literal_error":
        return f"expected one of {item['ctx']['expected']}, got {shown}"
    if item["type"] == "string_pattern_mismatch":
        pattern = item["ctx"]["pattern"]
        if pattern == CURRENCY:
            return f"expected a currency in three capital letters such as EUR, got {shown}"
        return (
            f"expected a quarter such as 2027-Q1, got {shown}"
            if "-Q" in pattern
            else f"{shown} does not match {pattern}"
        )
    if item["type"] == "too_short":
        least, found = item["ctx"]["min_length"], item["ctx"]["actual_length"]
        return f"expected at least {least} {'entry' if least == 1 else 'entries'}, got {found}"
    message = known or str(item["msg"]).removeprefix("Value error, ")
    return f"{message}, got {shown}" if known else message


SIZES = {"%": 0.01, "k": 1e3, "M": 1e6, "B": 1e9, "bn": 1e9, "G": 1e9, "T": 1e12, "tn": 1e12}
UNITS = (
    {"w": 1.0, "kw": 1e3, "mw": 1e6, "gw": 1e9},
    {"wh": 1.0, "kwh": 1e3, "mwh": 1e6, "gwh": 1e9},
    {"mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15},
    {"usd": 1.0, "ct": 0.01, "cent": 0.01, "cents": 0.01},
)
"""Units that convert into each other, in lower case, with their sizes."""
_NUMBER = re.compile(r"\s*\$?\s*(\d[\d,_]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*([A-Za-z%]*)\S*\s*")
_THOUSANDS = re.compile(r"[\d_]+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
_CURRENCY = re.compile(CURRENCY)


def _number_hint(item: Any) -> str:
    """Suggest the YAML form of a number written for people: a fraction for percent, powers of ten
    for M and T, a decimal point, no unit. A unit other than that of the field is converted, or
    nothing is suggested.

    Examples
    --------
    >>> def hint(text, key="share"):
    ...     return _number_hint({"type": "quantity", "input": text, "loc": (key,)})
    >>> [hint(x) for x in ("10%", "250M", "soon", "80 EUR")]
    ['did you mean 0.1?', 'did you mean 2.5e+08?', '', '']
    >>> hint("6,5", "utility_mw"), hint("6,500", "utility_mw"), hint("6,50,0", "utility_mw")
    ('did you mean 6.5?', 'did you mean 6500?', '')
    >>> hint("140 kW", "rack_kw_max"), hint("6 kW", "utility_mw"), hint("6 kW", "racks")
    ('did you mean 140?', 'did you mean 0.006?', '')
    """
    found = _NUMBER.fullmatch(item["input"]) if isinstance(item.get("input"), str) else None
    if found is None or item["type"] not in ("quantity", "number", *_WORDS):
        return ""
    key = next((x for x in reversed(item["loc"]) if isinstance(x, str)), "")
    size, number = _size(found[2], key), _plain(found[1])
    return "" if size is None or number is None else f"did you mean {number * size:g}?"


def _plain(text: str) -> float | None:
    """Return a number with commas between thousands, or with a decimal comma; None for others."""
    if _THOUSANDS.fullmatch(text):
        return float(text.replace(",", "").replace("_", ""))
    return float(text.replace(",", ".")) if text.count(",") == 1 and "." not in text else None


def _size(unit: str, key: str) -> float | None:
    """Return the factor from a written unit to that of a field; None if there is none."""
    if unit in SIZES:
        return SIZES[unit]
    for sizes in UNITS:
        if unit.lower() in sizes:
            own = next((x for x in key.split("_") if x in sizes), None)
            return sizes[unit.lower()] / sizes[own] if own else None
    return None if _CURRENCY.fullmatch(unit) else 1.0


def _choices_hint(item: Any) -> str:
    if item["type"] != "literal_error":
        return ""
    choices = [
        part.strip(" '") for part in item["ctx"]["expected"].replace(" or ", ", ").split(",")
    ]
    return did_you_mean(str(item.get("input")), choices)
