"""Component failure rates and storage building blocks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dcplan.catalog.schema.base import Row
from dcplan.catalog.schema.ranges import Fraction, NonNegative, Positive

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
    """Failure rate of one kind of part, as stops of a job that uses it."""

    role: Role
    """Role of the part."""
    per: Counted
    """Quantity that multiplies the rate."""
    stops_per_year: NonNegative
    """Job stops per year of one part."""
    replaced_frac: Fraction | None = None
    """Share of stops after which the node leaves the job until its repair."""
    families: tuple[str, ...] = ()
    """Accelerator families of the row; empty: all families without their own row for the role."""
    covers: tuple[Role, ...] = ()
    """Other roles that this rate includes."""


class StorageTier(Row):
    """A storage product or class, described by its building block: appliance, enclosure, server or
    drive set of a node.
    """

    kind: Literal["local", "file", "nvme-of", "object"]
    """Access of clients to the storage."""
    software: str
    """File or object system."""
    unit: str
    """Kind of building block."""
    usable_tb: Positive
    """Usable capacity of one block, after data protection."""
    read_gb_per_s: Positive
    """Read rate of one block."""
    write_gb_per_s: Positive
    """Write rate of one block."""
    kw: NonNegative | None = None
    """Power of one block. Default: a class value by capacity."""
    rack_units: Positive | None = None
    """Height of one block. Default: a class value by capacity."""
    price_usd: NonNegative | None = None
    """Price of one block. Default: a class value by capacity."""
    min_units: int = Field(default=1, ge=1)
    """Minimum number of blocks in a system."""
