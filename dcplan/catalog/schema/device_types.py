"""Device types as the NetBox community's library names them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dcplan.catalog.schema.base import Id, Row, Strict
from dcplan.catalog.schema.ranges import Positive


class NamedInterface(Strict):
    """One interface of a device type that is not a data port."""

    name: str
    """Name of the interface."""
    type: str
    """Type of the interface, as NetBox writes it."""
    mgmt_only: bool = False
    """Whether the interface is for management alone."""


class DeviceType(Row):
    """One device type of the NetBox community's library; its id is that of a switch of the
    catalog, or of a tray of rack-scale systems.
    """

    manufacturer: str
    """Manufacturer, as the library writes it."""
    model: str
    """Model, as the library writes it."""
    slug: str = Field(pattern="^[-a-z0-9_]+$")
    """Slug of the library."""
    part_number: str | None = None
    """Part number of the library."""
    rack_units: Positive
    """Height in rack units."""
    is_full_depth: bool
    """Whether the device takes both faces of the rack."""
    is_powered: bool = True
    """Whether the device has a power inlet."""
    airflow: str | None = None
    """Direction of the air, as NetBox writes it."""
    weight_kg: Positive | None = None
    """Weight of one device."""
    ports: str | None = None
    """Names of the data ports in the order of their numbers, with ranges in brackets."""
    port_type: str | None = None
    """Type of the data ports, as NetBox writes it."""
    split_mark: str = ":"
    """Text between a port's name and the number of a part of it, where a port is split."""
    absent_ports: tuple[str, ...] = ()
    """Data ports of the product that the library's file lacks."""
    other_interfaces: tuple[NamedInterface, ...] = ()
    """Management interfaces and uplinks of another speed."""
    console_ports: str | None = None
    """Names of the console ports, with ranges in brackets."""
    console_type: str | None = None
    """Type of the console ports, as NetBox writes it."""
    power_ports: str | None = None
    """Names of the power inlets, with ranges in brackets."""
    power_type: str | None = None
    """Type of the power inlets, as NetBox writes it."""
    draw_w: int | None = Field(default=None, ge=1)
    """Maximum draw of one power inlet."""
    module_bays: str | None = None
    """Names of the bays of power supplies, with ranges in brackets."""
    systems: tuple[Id, ...] = ()
    """Systems whose racks hold the device."""
    per_rack: int | None = Field(default=None, ge=1)
    """Number of the devices in a rack of these systems."""
    license: Literal["CC0-1.0"]
    """License of the library's file."""
    commit: str = Field(pattern="^[0-9a-f]{40}$")
    """Commit of the library that was read."""
