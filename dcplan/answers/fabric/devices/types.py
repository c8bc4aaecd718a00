"""Device types with the names of their ports, as the NetBox community's library has them."""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass

from dcplan.catalog.schema import DeviceType

RANGE = re.compile(r"\[(\d+)-(\d+)\]")
MAKERS = {"NVIDIA": "Nvidia", "Broadcom-based": "Generic"}
"""Vendors that the library writes otherwise; a box of no named maker is generic."""


@dataclass(frozen=True)
class Model:
    """Device model of a tier."""

    manufacturer: str
    model: str
    rack_units: float
    weight_kg: float | None
    lower_type: str
    """Interface type of ports to nodes, and of a node's ports."""
    upper_type: str
    ports: int = 0
    """Ports by their numbers; 0 where a device has named interfaces."""
    kw: float = 0.0
    """Maximum power of a device."""
    library: DeviceType | None = None
    """Device type of the library; None where it has none."""

    @property
    def slug(self) -> str:
        """Slug of the library, or one by its rule: manufacturer and model."""
        return self.library.slug if self.library else slug(f"{self.manufacturer} {self.model}")


def spread(pattern: str) -> tuple[str, ...]:
    """Return the names of a pattern with ranges in brackets, the last range fastest.

    Examples
    --------
    >>> spread("sw[1-2]p[1-2]"), spread("uart")
    (('sw1p1', 'sw1p2', 'sw2p1', 'sw2p2'), ('uart',))
    """
    texts = RANGE.sub("\n", pattern).split("\n")
    ranges = [range(int(a), int(b) + 1) for a, b in RANGE.findall(pattern)]
    return tuple(
        texts[0] + "".join(f"{n}{text}" for n, text in zip(numbers, texts[1:], strict=True))
        for numbers in itertools.product(*ranges)
    )


@functools.cache
def port_names(model: Model) -> tuple[str, ...]:
    """Return the names of a switch's ports in the order of their numbers.

    A port of the library that carries several links is split: its name, a mark, and a number from 0.

    Examples
    --------
    >>> port_names(Model("Generic", "4 ports", 1.0, None, "other", "other", 4))
    ('1', '2', '3', '4')
    """
    row = model.library
    if row is None or row.ports is None:
        return tuple(str(i + 1) for i in range(model.ports))
    names = spread(row.ports)
    parts = -(-model.ports // len(names))
    if parts <= 1:
        return names
    return tuple(f"{name}{row.split_mark}{i}" for name in names for i in range(parts))


def own_names(model: Model) -> tuple[str, ...]:
    """Return the data ports that the device type has by itself.

    Without a type of the library, they are those that the export writes.
    """
    row = model.library
    if row is None or row.ports is None:
        return port_names(model)
    return tuple(name for name in spread(row.ports) if name not in row.absent_ports)


def all_names(model: Model) -> tuple[str, ...]:
    """Return every interface that the device type has by itself: data ports and others."""
    others = model.library.other_interfaces if model.library else ()
    return (*own_names(model), *(row.name for row in others))


def slug(text: str) -> str:
    """Return NetBox's slug: lower case letters, digits and dashes.

    Examples
    --------
    >>> slug("NVIDIA Quantum-2 QM9700 (NDR)")
    'nvidia-quantum-2-qm9700-ndr'
    """
    kept = "".join(c if c.isalnum() and c.isascii() else " " for c in text.lower())
    return "-".join(kept.split())


def maker(vendor: str | None) -> str:
    """Return a vendor as the library writes it; ``Generic`` without one.

    Examples
    --------
    >>> maker("NVIDIA"), maker("Arista"), maker(None)
    ('Nvidia', 'Arista', 'Generic')
    """
    return MAKERS.get(vendor, vendor) if vendor else "Generic"


def short_model(name: str, vendor: str | None, row_id: str) -> str:
    """Return the model of a row that the library lacks: its product code, or the name.

    Examples
    --------
    >>> short_model("NVIDIA Quantum-X800 Q3450-LD (XDR)", "NVIDIA", "q3450-ld")
    'Q3450-LD'
    >>> short_model("NVIDIA DGX B300", "NVIDIA", "dgx-b300")
    'DGX B300'
    """
    for word in name.split():
        if slug(word) == row_id:
            return word
    return name.removeprefix(f"{vendor} ") if vendor else name
