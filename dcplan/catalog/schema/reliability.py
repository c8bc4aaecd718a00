"""What fails and what holds data: component failure rates, storage building blocks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dcplan.catalog.schema.base import Row
from dcplan.provenance import Fraction, NonNegative, Positive

Role = Literal[
    "accelerator",
    "memory",
    "nic",
    "link",
    "switch",
    "host",
    "psu",
    "cdu",
    "software",
    "corruption",
    "planned",
]
Counted = Literal["accelerator", "memory_gb", "nic", "link", "switch", "host", "psu", "cdu"]


class Component(Row):
    """How often one kind of part stops a job that uses it."""

    role: Role
    """What it is."""
    per: Counted
    """What the rate is multiplied by."""
    stops_per_year: NonNegative
    """Job stops a year of one of them."""
    replaced_frac: Fraction | None = None
    """Share of the stops after which a node leaves the job until it is repaired."""
    families: tuple[str, ...] = ()
    """Accelerator families it is for; empty: all that have no row of their own for the role."""
    covers: tuple[Role, ...] = ()
    """Other roles that this rate already holds."""


class StorageTier(Row):
    """A storage product or class by its building block: appliance, enclosure, server or drive set
    of a node.
    """

    kind: Literal["local", "file", "nvme-of", "object"]
    """How clients reach it."""
    software: str
    """File or object system."""
    unit: str
    """What one building block is."""
    usable_tb: Positive
    """Of one building block, after protection."""
    read_gb_per_s: Positive
    """Of one block."""
    write_gb_per_s: Positive
    """Of one block."""
    kw: NonNegative | None = None
    """Of one block; left out, a class value by capacity."""
    rack_units: Positive | None = None
    """Of one block; left out, a class value by capacity."""
    price_usd: NonNegative | None = None
    """Of one block; left out, a class value by capacity."""
    min_units: int = Field(default=1, ge=1)
    """Fewest blocks that make a system."""
