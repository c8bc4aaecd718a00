"""``dcplan schema``: JSON Schema of scenarios, catalogs and results."""

from __future__ import annotations

from typing import Any

from dcplan.answers.reference.editor_schema import for_editors
from dcplan.catalog.documents import PUBLISHED
from dcplan.catalog.field_docs import described, parts_of
from dcplan.catalog.schema import KINDS, Row
from dcplan.catalog.schema.published import Published
from dcplan.result import SCHEMA
from dcplan.scenario.schema import Scenario
from dcplan.specs import registry

WHAT = ("scenario", "catalog", "result")


def schema(what: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a scenario file, a catalog file or a result document.

    Raises
    ------
    ValueError
        When ``what`` is none of these.
    """
    if what == "scenario":
        document = described(Scenario.model_json_schema(), parts_of(Scenario))
        top = described({"$defs": {"Scenario": document}}, {"Scenario": Scenario})["$defs"][
            "Scenario"
        ]
        made = for_editors(top, Scenario.__name__)
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
    if what == "catalog":
        return _catalog()
    if what == "result":
        return _result()
    msg = f"must be one of {', '.join(WHAT)}"
    raise ValueError(msg)


def _catalog() -> dict[str, Any]:
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    kinds: dict[str, type[Row]] = {**KINDS, PUBLISHED: Published}
    for kind, model in kinds.items():
        part = model.model_json_schema(ref_template="#/$defs/{model}")
        definitions.update(part.pop("$defs", {}))
        definitions[model.__name__] = part
        properties[kind] = {"type": "array", "items": {"$ref": f"#/$defs/{model.__name__}"}}
    parts = {name: part for model in kinds.values() for name, part in parts_of(model).items()}
    described({"$defs": definitions}, parts)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "dcplan catalog file",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "$defs": definitions,
    }


def _result() -> dict[str, Any]:
    """Return the schema of an answer of any verb."""
    fields = _fields()
    optional = {"verb", "headline", "run"}
    keys = [m.key for m in registry.metrics("plan")]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        "description": "Metric keys of plan: " + ", ".join(keys),
        "type": "object",
        "required": [name for name in fields if name not in optional],
        "properties": fields,
    }


def _fields() -> dict[str, Any]:
    """Return the schema of each field of an answer."""
    number = {"type": ["number", "null"]}
    metric = {
        "type": "object",
        "required": ["value", "low", "high", "unit", "label"],
        "properties": {
            "value": {"type": ["number", "string", "null"]},
            "low": number,
            "high": number,
            "unit": {"type": "string"},
            "label": {"type": "string"},
        },
    }
    column = {"type": "object", "required": ["name", "unit", "type"]}
    table = {
        "type": "object",
        "required": ["columns", "rows"],
        "properties": {
            "columns": {"type": "array", "items": column},
            "rows": {"type": "array", "items": {"type": "array"}},
        },
    }

    def rows(*required: str) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "object", "required": list(required)}}

    return {
        "schema": {"const": SCHEMA},
        "dcplan_version": {"type": "string"},
        "verb": {"type": "string"},
        "status": {"type": "string"},
        "exit_code": {"enum": [0, 1, 2, 3, 4, 70, 130]},
        "headline": {"type": "string"},
        "scenario": {"type": "object"},
        "solver": {"type": "object"},
        "metrics": {"type": "object", "additionalProperties": metric},
        "tables": {"type": "object", "additionalProperties": table},
        "inputs": rows("key", "value", "status"),
        "expectations": rows("id", "passed", "severity"),
        "warnings": rows("code", "message"),
        "run": {"type": "object"},
    }
