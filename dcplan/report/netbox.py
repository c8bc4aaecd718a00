"""A network as CSV files for import into NetBox, from manufacturers to cables.

The columns are those of NetBox 4 (``dcim/forms/bulk_import.py`` of version 4.6); the files are
numbered in the order of import.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dcplan.answers.fabric.inventory import Cabled, Inventory, Model
from dcplan.fabric.floor.lengths import STOCK_M
from dcplan.report.csvs import csv_lines
from dcplan.report.files import write_whole
from dcplan.result import Result

RACK_INCHES = 19
COLORS = {
    "node": "4caf50",
    "leaf": "2196f3",
    "spine": "3f51b5",
    "core": "673ab7",
    "manager": "9e9e9e",
}
KINDS = {"dac": "dac-passive", "acc": "dac-active", "aec": "dac-active", "aoc": "aoc"}


CABLE_COLUMNS = (
    *("side_a_device", "side_a_type", "side_a_name"),
    *("side_b_device", "side_b_type", "side_b_name"),
    *("type", "status", "label", "length", "length_unit"),
)
DEVICE_COLUMNS = (
    *("name", "role", "manufacturer", "device_type", "status"),
    *("site", "rack", "position", "face"),
)
TYPE_COLUMNS = (
    *("manufacturer", "model", "slug"),
    *("u_height", "is_full_depth", "weight", "weight_unit"),
)
Lines = Iterable[tuple[object, ...]]
Files = dict[str, tuple[tuple[str, ...], Lines]]
"""Name of a file -> its columns and its lines."""


@dataclass
class _Rack:
    """Devices of a rack, from the top down."""

    next_unit: float
    devices: list[str] = field(default_factory=list)


@dataclass
class _Placed:
    """Devices, ports and racks that the cables connect, collected while the cables are read."""

    found: Inventory
    racks: dict[str, _Rack] = field(default_factory=dict)
    devices: dict[str, tuple[str, str, float | None]] = field(default_factory=dict)
    """Name -> kind, rack and position."""
    ports: dict[tuple[str, str], str] = field(default_factory=dict)
    """Device and port -> type of the interface."""

    def see(self, device: str, port: str, rack: str, kind: str) -> None:
        """Add an end of a cable; a new device takes the next position of its rack."""
        role = device.split("-", maxsplit=1)[0]
        if device not in self.devices:
            shelf = self.racks.setdefault(rack, _Rack(self.found.rack_units))
            self.devices[device] = role, rack, _position(shelf, self.found.models[role])
        self.ports[device, port] = kind

    def cable_lines(self) -> Lines:
        """Yield the line of each cable, and see its ends."""
        models = self.found.models
        for i, one in enumerate(self.found.cables, 1):
            c = one.cable
            below, above = c.tier.split("-")
            self.see(c.from_device, c.from_port, c.from_rack, models[below].upper_type)
            self.see(c.to_device, c.to_port, c.to_rack, models[above].lower_type)
            bought = float(STOCK_M[c.stock]) if c.stock < STOCK_M.size else c.length_m
            yield (
                *(c.from_device, "dcim.interface", c.from_port),
                *(c.to_device, "dcim.interface", c.to_port),
                *(_cable_type(one), "planned", f"C{i:07d}", bought, "m"),
            )


def write_netbox(result: Result, found: Inventory, folder: Path, site: str) -> int:
    """Write the eight files into a folder, and return the number of devices.

    Devices and racks are collected while cables stream into their file. The position of a device in
    its rack counts down from the top by its height. Devices that do not fit have no position, which
    NetBox allows.
    """
    placed = _Placed(found)
    _write(folder, "8-cables.csv", CABLE_COLUMNS, placed.cable_lines())
    used = {kind: found.models[kind] for kind, _, _ in placed.devices.values()}
    files = _kinds(used) | _places(placed, used, site, result.headline)
    for name, (columns, lines) in files.items():
        _write(folder, name, columns, lines)
    return len(placed.devices)


def _kinds(used: Mapping[str, Model]) -> Files:
    """Return the files of manufacturers, device types and roles."""
    makers = sorted({m.manufacturer for m in used.values()})
    types = sorted(
        {(m.manufacturer, m.model, m.rack_units, m.weight_kg) for m in used.values()}, key=str
    )
    return {
        "1-manufacturers.csv": (("name", "slug"), ((m, slug(m)) for m in makers)),
        "2-device-types.csv": (
            TYPE_COLUMNS,
            (
                (maker, name, slug(name), u, "true", kg, "kg" if kg else None)
                for maker, name, u, kg in types
            ),
        ),
        "3-device-roles.csv": (
            ("name", "slug", "color"),
            ((k, slug(k), COLORS[k]) for k in sorted(used)),
        ),
    }


def _places(placed: _Placed, used: Mapping[str, Model], site: str, headline: str) -> Files:
    """Return the files of the site, its racks, its devices and their interfaces."""
    height = round(placed.found.rack_units)
    devices = (
        (
            *(name, kind, used[kind].manufacturer, used[kind].model, "planned"),
            *(site, rack, at, "front" if at else None),
        )
        for name, (kind, rack, at) in sorted(placed.devices.items())
    )
    return {
        "4-sites.csv": (
            ("name", "slug", "status", "description"),
            [(site, slug(site), "planned", headline)],
        ),
        "5-racks.csv": (
            ("site", "name", "status", "width", "u_height"),
            ((site, name, "planned", RACK_INCHES, height) for name in sorted(placed.racks)),
        ),
        "6-devices.csv": (DEVICE_COLUMNS, devices),
        "7-interfaces.csv": (
            ("device", "name", "type"),
            ((d, p, t) for (d, p), t in sorted(placed.ports.items())),
        ),
    }


def _position(rack: _Rack, model: Model) -> float | None:
    """Return the lowest unit of the next device; None if the rack is full."""
    at = rack.next_unit - model.rack_units + 1
    if at < 1:
        return None
    rack.next_unit = at - 1
    return at


def _cable_type(one: Cabled) -> str | None:
    if one.kind in KINDS:
        return KINDS[one.kind]
    return {"os2": "smf-os2", "om3": "mmf-om3", "om4": "mmf-om4"}.get(one.glass or "")


def _write(
    folder: Path, name: str, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]
) -> None:
    write_whole(folder / name, csv_lines(columns, rows))


def slug(text: str) -> str:
    """Return NetBox's slug: lower case letters, digits and dashes.

    Examples
    --------
    >>> slug("NVIDIA Quantum-2 QM9700 (NDR)")
    'nvidia-quantum-2-qm9700-ndr'
    """
    kept = "".join(c if c.isalnum() and c.isascii() else " " for c in text.lower())
    return "-".join(kept.split())
