"""JSON schema of a device type in the NetBox community's library, as far as the export uses it.

From schema/devicetype.json (014cd468), components.json (013d489b), generated_schema.json (03f56bb4)
and reusable.json (23856e67) of github.com/netbox-community/devicetype-library, CC0 1.0: required and
allowed keys, lengths, and the choices of the types that the export writes.
"""

from __future__ import annotations

from typing import Any

NAME = {"type": "string", "maxLength": 64}
CONSOLE = ["de-9", "rj-45", "usb-a", "usb-c", "usb-mini-a", "usb-micro-b", "other"]
POWER = ["iec-60320-c14", "iec-60320-c16", "iec-60320-c20", "iec-60320-c22", "dc-terminal", "other"]
INTERFACE = [
    *("1000base-t", "10gbase-t", "25gbase-x-sfp28", "100gbase-x-qsfp28", "200gbase-x-qsfp56"),
    *("400gbase-x-qsfpdd", "400gbase-x-osfp", "800gbase-x-osfp", "1.6tbase-x-osfp1600"),
    *("infiniband-hdr", "infiniband-ndr", "infiniband-xdr", "other"),
]
"""1.6tbase-x-osfp1600 is a choice of NetBox 4.6; the read version of the schema is older."""


def _part(types: list[str], **more: Any) -> dict[str, Any]:
    """A list of components, each with a name and a type."""
    item = {
        "type": "object",
        "properties": {"name": NAME, "type": {"enum": types}, **more},
        "required": ["name", "type"],
        "additionalProperties": False,
    }
    return {"type": "array", "items": item}


BAY = {
    "type": "object",
    "properties": {"name": NAME, "position": {"type": "string", "maxLength": 30}},
    "required": ["name", "position"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "manufacturer": {"type": "string", "maxLength": 100},
        "model": {"type": "string", "maxLength": 100},
        "slug": {"type": "string", "maxLength": 100, "pattern": "^[-a-z0-9_]+$"},
        "part_number": {"type": "string", "maxLength": 50},
        "u_height": {"type": "number", "minimum": 0, "multipleOf": 0.5},
        "is_full_depth": {"type": "boolean"},
        "is_powered": {"type": "boolean"},
        "airflow": {"enum": ["front-to-rear", "rear-to-front", "side-to-rear", "passive", "mixed"]},
        "weight": {"type": "number", "minimum": 0},
        "weight_unit": {"enum": ["kg", "g", "lb", "oz"]},
        "comments": {"type": "string"},
        "console-ports": _part(CONSOLE),
        "power-ports": _part(POWER, maximum_draw={"type": "integer", "minimum": 1}),
        "interfaces": _part(INTERFACE, mgmt_only={"type": "boolean"}),
        "module-bays": {"type": "array", "items": BAY},
    },
    "required": ["manufacturer", "model", "slug", "u_height", "is_full_depth"],
    "dependentRequired": {"weight": ["weight_unit"], "weight_unit": ["weight"]},
    "additionalProperties": False,
}
