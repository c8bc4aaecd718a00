"""Pydantic's findings in the planner's words: every error, each with its place and the next step."""

from __future__ import annotations

from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from dcplan.errors import Problem, did_you_mean
from dcplan.provenance import Path


class Locatable(Protocol):
    """Something that can say where a value stands: one parsed file, or a merged tree."""

    def problem(
        self, code: str, cause: str, path: Path, *, key: bool = False, hint: str = "", help: str = ""
    ) -> Problem:
        """Build a problem at the place of a value."""
        ...


_INNER = ("function-", "literal[", "tuple[", "constrained-", "lax-or-strict", "is-instance")
"""Parts of a location that name a validator, not a key of the document."""

_WORDS = {
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_from_float": "expected a whole number",
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
    """Names allowed at a path below a model, for "did you mean"; empty when unknown."""
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
    error: ValidationError, document: Locatable, model: type[BaseModel], base: Path = (), help: str = ""
) -> list[Problem]:
    """Translate every entry of a validation error; ``base`` is where the model stands in the document."""
    problems = []
    items = error.errors(include_url=False)
    for item in items:
        if item["type"] == "too_short" and any(
            o is not item and o["loc"][: len(item["loc"])] == item["loc"] for o in items
        ):
            continue  # its elements were refused one by one; the list is not empty
        path: Path = tuple(part for part in item["loc"] if not str(part).startswith(_INNER))
        where = (*base, *path)
        dotted = ".".join(str(part) for part in where)
        if item["type"] == "extra_forbidden":
            word = str(path[-1])
            hint = did_you_mean(word, fields_at(model, path[:-1]))
            problems.append(
                document.problem("DC002", f"{dotted}: unknown field", where, key=True, hint=hint, help=help)
            )
        elif item["type"] == "missing":
            is_source = path == ("source",)
            cause = f"{dotted}: a row without a source does not load" if is_source else f"{dotted}: missing field"
            code = "DC020" if is_source else "DC003"
            problems.append(document.problem(code, cause, where[:-1], help=help))
        else:
            cause = f"{dotted}: {_words(item)}"
            problems.append(document.problem("DC004", cause, where, hint=_choices_hint(item), help=help))
    return problems


def _words(item: Any) -> str:
    known = _WORDS.get(item["type"])
    shown = repr(item.get("input"))
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    if item["type"] == "literal_error":
        return f"expected one of {item['ctx']['expected']}, got {shown}"
    if item["type"] == "string_pattern_mismatch":
        return f"{shown} does not match {item['ctx']['pattern']}"
    message = known or str(item["msg"]).removeprefix("Value error, ")
    return f"{message}, got {shown}" if known else message


def _choices_hint(item: Any) -> str:
    if item["type"] != "literal_error":
        return ""
    choices = [part.strip(" '") for part in item["ctx"]["expected"].replace(" or ", ", ").split(",")]
    return did_you_mean(str(item.get("input")), choices)
