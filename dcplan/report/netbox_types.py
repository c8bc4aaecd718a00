"""Device types as YAML in the form of the NetBox community's device-type library."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from dcplan.answers.fabric.devices.types import Model, own_names, spread
from dcplan.report.csvs import disarmed

LIBRARY_NOTE = "Names of ports as in the device-type library (CC0 1.0), commit {commit}."


def type_of(models: Mapping[str, Model], kind: str) -> Model:
    """Return the model whose ports the device type of a kind has.

    Kinds with the same switch are one type, whatever the speed of their ports: that of the fewest ports.
    """
    own = models[kind]
    same = [
        m
        for _, m in sorted(models.items())
        if (m.manufacturer, m.model) == (own.manufacturer, own.model)
    ]
    return min(same, key=lambda m: m.ports)


def types_yaml(models: Mapping[str, Model], seen: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the lines of a YAML file with one document for each device type.

    ``seen`` has the ports of models without numbered ports, such as the NICs of a node, and their
    types.
    """
    for kind in sorted(models):
        model = models[kind]
        if type_of(models, kind) is not model:
            continue
        yield "---\n"
        for key, value in _document(model, seen.get(kind, {})).items():
            yield from _field(key, value)


def _field(key: str, value: Any) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{key}: {json.dumps(value)}\n"
        return
    yield f"{key}:\n"
    for item in value:
        lead = "  - "
        for name, cell in item.items():
            yield f"{lead}{name}: {json.dumps(cell)}\n"
            lead = "    "


def _document(model: Model, seen: Mapping[str, str]) -> dict[str, Any]:
    """Return one device type with its components."""
    row = model.library
    found: dict[str, Any] = {
        "manufacturer": disarmed(model.manufacturer),
        "model": disarmed(model.model),
        "slug": model.slug,
    }
    if row and row.part_number:
        found["part_number"] = row.part_number
    units = model.rack_units
    found["u_height"] = int(units) if units == int(units) else units
    found["is_full_depth"] = row.is_full_depth if row else True
    if row and not row.is_powered:
        found["is_powered"] = False
    if row and row.airflow:
        found["airflow"] = row.airflow
    if model.weight_kg:
        found |= {"weight": round(model.weight_kg, 2), "weight_unit": "kg"}
    if row:
        found["comments"] = LIBRARY_NOTE.format(commit=row.commit)
    return found | _components(model, seen)


def _components(model: Model, seen: Mapping[str, str]) -> dict[str, Any]:
    row, found = model.library, {}
    if row and row.console_ports:
        names = spread(row.console_ports)
        found["console-ports"] = [{"name": n, "type": row.console_type} for n in names]
    if row and row.power_ports:
        draw: dict[str, Any] = {"maximum_draw": row.draw_w} if row.draw_w else {}
        names = spread(row.power_ports)
        found["power-ports"] = [{"name": n, "type": row.power_type, **draw} for n in names]
    if row and row.module_bays:
        found["module-bays"] = [{"name": n, "position": n} for n in spread(row.module_bays)]
    interfaces = [
        {"name": x.name, "type": x.type, **({"mgmt_only": True} if x.mgmt_only else {})}
        for x in (row.other_interfaces if row else ())
    ]
    kind = row.port_type if row and row.port_type else model.lower_type
    names = own_names(model) or tuple(sorted(seen, key=_natural))
    interfaces += [{"name": n, "type": seen.get(n, kind)} for n in names]
    return found | ({"interfaces": interfaces} if interfaces else {})


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers inside names by their value."""
    return [(int(x), "") if x.isdigit() else (-1, x) for x in re.split(r"(\d+)", name)]
