"""Schema of scenarios for editors: files with ``extends``, and numbers of YAML 1.1 tools."""

from __future__ import annotations

from typing import Any

REF = "#/$defs/"
CHANGED = "Changed"
"""Prefix of the parts of a file with ``extends``: the base has the fields that they leave out."""
EXPONENT = {"type": "string", "pattern": r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"}
"""A number such as ``60e6``, which YAML 1.1 reads as a text."""
LIMITS = ("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def for_editors(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a schema that accepts a whole file, and a file that changes another one.

    Parameters
    ----------
    document : dict
        JSON Schema of a whole file, with its parts in ``$defs``.
    name : str
        Name of the part that is the file itself.

    Examples
    --------
    >>> found = for_editors({"title": "T", "required": ["id"], "properties": {}}, "T")
    >>> found["then"], found["else"], sorted(found["$defs"])
    ({'$ref': '#/$defs/ChangedT'}, {'$ref': '#/$defs/T'}, ['ChangedT', 'T'])
    """
    top = {key: value for key, value in document.items() if key != "$defs"}
    parts = {name: top, **document.get("$defs", {})}
    whole = {part: with_exponents(node) for part, node in parts.items()}
    changed = {f"{CHANGED}{part}": _changed(node) for part, node in whole.items()}
    return {
        "title": top["title"],
        "type": "object",
        "if": {"required": ["extends"]},
        "then": {"$ref": f"{REF}{CHANGED}{name}"},
        "else": {"$ref": f"{REF}{name}"},
        "$defs": whole | changed,
    }


def with_exponents(node: Any) -> Any:
    """Return a schema whose numbers may be texts with an exponent.

    Examples
    --------
    >>> with_exponents({"type": "number", "minimum": 0, "title": "X"})["anyOf"][0]
    {'type': 'number', 'minimum': 0}
    """
    if isinstance(node, list):
        return [with_exponents(x) for x in node]
    if not isinstance(node, dict):
        return node
    found = {key: with_exponents(value) for key, value in node.items()}
    if found.get("type") == "number":
        number = {key: found.pop(key) for key in LIMITS if key in found}
        found["anyOf"] = [number, EXPONENT]
    return found


def _changed(node: Any) -> Any:
    """Return a part without required fields; it refers to parts without required fields."""
    if isinstance(node, list):
        return [_changed(x) for x in node]
    if isinstance(node, str) and node.startswith(REF):
        return f"{REF}{CHANGED}{node.removeprefix(REF)}"
    if not isinstance(node, dict):
        return node
    return {
        key: _changed(value)
        for key, value in node.items()
        if not (key == "required" and isinstance(value, list))
    }
