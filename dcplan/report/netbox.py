"""A network as files for import into NetBox, from manufacturers to cables and power feeds.

The columns are those of NetBox 4 (``dcim/forms/bulk_import.py`` of version 4.6); device types are
YAML documents of the community's library. The files are numbered in the order of import.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dcplan.answers.fabric.devices.types import Model, all_names, port_names, slug
from dcplan.answers.fabric.inventory import Inventory
from dcplan.fabric.floor.lengths import STOCK_M
from dcplan.report.csvs import csv_lines
from dcplan.report.files import write_whole
from dcplan.report.netbox_types import type_of, types_yaml
from dcplan.result import Result
from dcplan.units import W_PER_KW

RACK_INCHES = 19
COLORS = {
    "node": "4caf50",
    "leaf": "2196f3",
    "spine": "3f51b5",
    "core": "673ab7",
    "manager": "9e9e9e",
    "tray": "8bc34a",
    "storage": "ff9800",
    "in-band": "795548",
    "out-of-band": "607d8b",
}
KINDS = {
    "dac": "dac-passive",
    "acc": "dac-active",
    "aec": "dac-active",
    "aoc": "aoc",
    "cat6": "cat6",
}
FEED_AMPS = (16, 32, 63, 125)
"""Rated currents of industrial connectors, IEC 60309. [A]"""
SIDES = (("A", "primary"), ("B", "redundant"))
"""Power panels, and the kind of their feeds: each side carries a whole rack."""


CABLE_COLUMNS = (
    *("side_a_device", "side_a_type", "side_a_name"),
    *("side_b_device", "side_b_type", "side_b_name"),
    *("type", "status", "label", "length", "length_unit"),
)
DEVICE_COLUMNS = (
    *("name", "role", "manufacturer", "device_type", "status"),
    *("site", "rack", "position", "face"),
)
FEED_COLUMNS = (
    *("site", "power_panel", "name", "rack", "status", "type"),
    *("supply", "phase", "voltage", "amperage", "max_utilization"),
)
Lines = Iterable[tuple[object, ...]]
Files = dict[str, tuple[tuple[str, ...], Lines]]
"""Name of a file -> its columns and its lines."""


@dataclass
class _Rack:
    """Devices of a rack, from the top down."""

    next_unit: float
    kw: float = 0.0
    """Maximum power of its devices."""
    nodes: int = 0


@dataclass
class _Placed:
    """Devices, ports and racks that the cables connect, collected while the cables are read."""

    found: Inventory
    racks: dict[str, _Rack] = field(default_factory=dict)
    devices: dict[str, tuple[str, str, float | None]] = field(default_factory=dict)
    """Name -> kind, rack and position."""
    added: dict[tuple[str, str], str] = field(default_factory=dict)
    """Device and port that the device type lacks -> type of the interface."""
    own: dict[str, set[str]] = field(default_factory=dict)
    """Kind -> ports that its device type has."""
    seen: dict[str, dict[str, str]] = field(default_factory=dict)
    """Kind without numbered ports -> names of its ports, with their type."""

    def place(self, device: str, kind: str, rack: str) -> None:
        """Add a device; it takes the next position of its rack."""
        shelf, model = (
            self.racks.setdefault(rack, _Rack(self.found.rack_units)),
            self.found.models[kind],
        )
        self.devices[device] = kind, rack, _position(shelf, model)
        shelf.kw += model.kw
        shelf.nodes += kind == "node"

    def see(self, device: str, port: str, rack: str, kind: str) -> str:
        """Add an end of a cable, and return the name of its port."""
        if device not in self.devices:
            self.place(device, device.split("-", maxsplit=1)[0], rack)
        role = self.devices[device][0]
        model = self.found.models[role]
        names = port_names(model)
        if not names:
            self.seen.setdefault(role, {})[port] = kind
            return port
        name = names[int(port) - 1] if port.isdigit() and int(port) <= len(names) else port
        if name not in self.own.setdefault(role, set(all_names(type_of(self.found.models, role)))):
            self.added[device, name] = kind
        return name

    def cable_lines(self) -> Lines:
        """Yield the line of each cable, and see its ends."""
        models = self.found.models
        for i, one in enumerate(self.found.cables, 1):
            c = one.cable
            below, above = c.tier.split("-")
            near = self.see(c.from_device, c.from_port, c.from_rack, models[below].upper_type)
            far = self.see(c.to_device, c.to_port, c.to_rack, models[above].lower_type)
            bought = float(STOCK_M[c.stock]) if c.stock < STOCK_M.size else c.length_m
            yield (
                *(c.from_device, "dcim.interface", near),
                *(c.to_device, "dcim.interface", far),
                *(cable_type(one.kind, one.glass), "planned", f"C{i:07d}", bought, "m"),
            )

    def side_lines(self) -> Lines:
        """Yield the line of each cable of the side networks; their length is not known.

        Their switches have a rack and no place on the floor.
        """
        self.add_uncabled()
        for i, one in enumerate(self.found.side_cables, 1):
            near, far = (
                (end.device, "dcim.interface", self.see(end.device, str(end.port), "", end.type))
                for end in (one.near, one.far)
            )
            yield (*near, *far, cable_type(one.kind, "os2"), "planned", f"S{i:07d}", None, None)

    def add_uncabled(self) -> None:
        """Add trays to the racks of nodes, and the switches of the side networks to racks of their own."""
        for rack, shelf in list(self.racks.items()):
            for kind, count in self.found.trays.items() if shelf.nodes else ():
                for i in range(count):
                    self.place(f"{kind}-{rack}-{i + 1}", kind, rack)
        number = 1
        for kind, count in self.found.side_switches.items():
            for i in range(count):
                shelf = self.racks.get(f"N{number:03d}", _Rack(self.found.rack_units))
                number += shelf.next_unit < self.found.models[kind].rack_units
                self.place(f"{kind}-{i + 1:04d}", kind, f"N{number:03d}")


def write_netbox(result: Result, found: Inventory, folder: Path, site: str) -> int:
    """Write the files into a folder, and return the number of devices.

    Devices and racks are collected while cables stream into their file. The position of a device in
    its rack counts down from the top by its height. Devices that do not fit have no position, which
    NetBox allows. A device type has the ports of the library; the file of interfaces has only ports
    that a type lacks, and is left out without one.
    """
    placed = _Placed(found)
    cables = itertools.chain(placed.cable_lines(), placed.side_lines())
    _write(folder, "8-cables.csv", CABLE_COLUMNS, cables)
    used = {kind: found.models[kind] for kind, _, _ in placed.devices.values()}
    write_whole(folder / "2-device-types.yaml", types_yaml(used, placed.seen))
    files = _kinds(used) | _places(placed, used, site, result.headline) | _power(placed, site)
    for name, (columns, lines) in files.items():
        _write(folder, name, columns, lines)
    return len(placed.devices)


def _kinds(used: dict[str, Model]) -> Files:
    """Return the files of manufacturers and roles."""
    makers = sorted({m.manufacturer for m in used.values()})
    return {
        "1-manufacturers.csv": (("name", "slug"), ((m, slug(m)) for m in makers)),
        "3-device-roles.csv": (
            ("name", "slug", "color"),
            ((k, slug(k), COLORS[k]) for k in sorted(used)),
        ),
    }


def _places(placed: _Placed, used: dict[str, Model], site: str, headline: str) -> Files:
    """Return the files of the site, its racks, its devices and the interfaces that types lack."""
    height = round(placed.found.rack_units)
    devices = (
        (
            *(name, kind, used[kind].manufacturer, used[kind].model, "planned"),
            *(site, rack, at, "front" if at else None),
        )
        for name, (kind, rack, at) in sorted(placed.devices.items())
    )
    files: Files = {
        "4-sites.csv": (
            ("name", "slug", "status", "description"),
            [(site, slug(site), "planned", headline)],
        ),
        "5-racks.csv": (
            ("site", "name", "status", "width", "u_height"),
            ((site, name, "planned", RACK_INCHES, height) for name in sorted(placed.racks)),
        ),
        "6-devices.csv": (DEVICE_COLUMNS, devices),
    }
    if placed.added:
        files["7-interfaces.csv"] = (
            ("device", "name", "type"),
            ((d, p, t) for (d, p), t in sorted(placed.added.items())),
        )
    return files


def _power(placed: _Placed, site: str) -> Files:
    """Return the files of power panels and of the feeds of every rack with known power."""
    if not placed.found.feed_volt:
        return {}
    return {
        "9-power-panels.csv": (("site", "name"), [(site, name) for name, _ in SIDES]),
        "10-power-feeds.csv": (FEED_COLUMNS, _feeds(placed, site)),
    }


def _feeds(placed: _Placed, site: str) -> Iterator[tuple[object, ...]]:
    """Yield the feeds of both sides of each rack.

    I = P / (sqrt(3) U f) with the highest load f; as few feeds of the largest rating as carry it, then
    the smallest rating that does.
    """
    found = placed.found
    load_frac, volt = found.feed_load_frac, round(found.feed_volt)
    for rack, shelf in sorted(placed.racks.items()):
        if not shelf.kw:
            continue
        amps = shelf.kw * W_PER_KW / (math.sqrt(3) * found.feed_volt * load_frac)
        count = math.ceil(amps / FEED_AMPS[-1])
        rating = next(a for a in FEED_AMPS if a * count >= amps)
        for panel, kind in SIDES:
            for i in range(count):
                yield (
                    *(site, panel, f"{rack}-{panel}{i + 1}", rack, "planned", kind),
                    *("ac", "three-phase", volt, rating, round(100 * load_frac)),
                )


def _position(rack: _Rack, model: Model) -> float | None:
    """Return the lowest unit of the next device; None if the rack is full."""
    at = rack.next_unit - model.rack_units + 1
    if at < 1:
        return None
    rack.next_unit = at - 1
    return at


def cable_type(kind: str, glass: str | None) -> str | None:
    """Return NetBox's slug of a cable by its kind, and of fiber by its glass.

    Examples
    --------
    >>> cable_type("fiber", "os2"), cable_type("cat6", None), cable_type("acc", None)
    ('smf-os2', 'cat6', 'dac-active')
    """
    if kind in KINDS:
        return KINDS[kind]
    return {"os2": "smf-os2", "om3": "mmf-om3", "om4": "mmf-om4"}.get(glass or "")


def _write(
    folder: Path, name: str, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]
) -> None:
    write_whole(folder / name, csv_lines(columns, rows))
