"""``datapackage.json``.

It describes the columns of exported CSV files in the Frictionless Table Schema.
"""

from __future__ import annotations

import json

from dcplan.report.csvs import INPUT_COLUMNS, METRIC_COLUMNS
from dcplan.result import Result, Table
from dcplan.units import unit_of

NUMBERS = frozenset({"value", "low", "high"})


def datapackage(result: Result) -> str:
    """Return the fields of every file of :func:`dcplan.report.csvs.all_csv`, with units.

    References
    ----------
    .. [1] Frictionless Data, Table Schema; ``unit`` is a property of this project.
    """
    resources = [_resource(name, _fields(table)) for name, table in sorted(result.tables.items())]
    for name, columns in (("metrics", METRIC_COLUMNS), ("inputs", INPUT_COLUMNS)):
        fields = [
            {"name": c, "type": "number" if c in NUMBERS and name == "metrics" else "any"}
            for c in columns
        ]
        resources.append(_resource(name, fields))
    package = {
        "name": "dcplan-" + str(result.scenario.get("name", result.verb)).lower(),
        "title": result.headline,
        "dcplan_schema": result.as_dict()["schema"],
        "resources": resources,
    }
    return json.dumps(package, indent=1, sort_keys=True) + "\n"


def _fields(table: Table) -> list[dict[str, str]]:
    described = table.as_dict()["columns"]
    return [{"name": c["name"], "type": c["type"], "unit": unit_of(c["name"])} for c in described]


def _resource(name: str, fields: list[dict[str, str]]) -> dict[str, object]:
    return {
        "name": name,
        "path": f"{name}.csv",
        "format": "csv",
        "encoding": "utf-8",
        "missingValues": [""],
        "schema": {"fields": fields},
    }
