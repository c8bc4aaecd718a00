"""Texts of the fields of a schema, read from the source on request.

Reading them at import would cost every command a fifth of a second.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel


def docs_of(model: type[BaseModel]) -> dict[str, str]:
    """Return the text of each field, including fields of base classes.

    Examples
    --------
    >>> from dcplan.catalog.schema import System
    >>> docs_of(System)["weight_kg"], docs_of(System)["id"]
    ('Weight of one unit.', 'Kebab-case name, unique in its kind.')
    """
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            found |= _of_module(base.__module__).get(base.__name__, {})
    return {name: found[name] for name in model.model_fields if name in found}


@functools.cache
def _of_module(name: str) -> dict[str, dict[str, str]]:
    tree = ast.parse(inspect.getsource(sys.modules[name]))
    return {c.name: dict(_fields(c)) for c in tree.body if isinstance(c, ast.ClassDef)}


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement, after in zip(node.body, node.body[1:], strict=False):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            yield statement.target.id, " ".join(str(after.value.value).replace("``", "`").split())


def described(schema: dict[str, Any], models: dict[str, type[BaseModel]]) -> dict[str, Any]:
    """Return JSON Schema with the fields' texts as descriptions; ``models`` by names of its
    definitions.
    """
    parts = [(models[k], v) for k, v in schema.get("$defs", {}).items() if k in models]
    for model, part in parts:
        for name, text in docs_of(model).items():
            alias = model.model_fields[name].alias or name
            part.get("properties", {}).get(alias, {}).setdefault("description", text)
    return schema


def parts_of(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """Return every model that is part of a model, with itself, by class name in the order of its
    fields.

    Examples
    --------
    >>> from dcplan.catalog.schema import System
    >>> list(parts_of(System))
    ['System', 'SourceText', 'Quantity', 'AverageKw', 'ImmersionStatement', 'OwnNetwork']
    """
    found: dict[str, type[BaseModel]] = {}
    _collect(model, found)
    return found


def _collect(kind: Any, found: dict[str, type[BaseModel]]) -> None:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if kind.__name__ not in found:
            found[kind.__name__] = kind
            for info in kind.model_fields.values():
                _collect(info.annotation, found)
        return
    for part in getattr(kind, "__args__", ()):
        _collect(part, found)
