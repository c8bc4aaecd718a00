"""Cable schedule of a wired network: every cable with its two ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dcplan.fabric.floor.lengths import stock
from dcplan.fabric.floor.placement import Hall, length_m
from dcplan.fabric.topology.links import Links, links
from dcplan.fabric.topology.wiring import Whole


@dataclass(frozen=True)
class Cable:
    """One cable; ports are numbered from 1; switch ports towards nodes come first."""

    tier: str
    from_device: str
    from_port: str
    from_rack: str
    to_device: str
    to_port: str
    to_rack: str
    length_m: float
    stock: int
    """Index of the stock length in :data:`dcplan.fabric.floor.lengths.STOCK_M`."""


def name(kind: str, number: int, copy: int, copies: int, one: str = "p") -> str:
    """Return a device name; switches of several planes (p) or separate rails (r) have its number.

    Examples
    --------
    >>> name("leaf", 4, 0, 1), name("spine", 0, 1, 2), name("core", 11, 6, 8, "r")
    ('leaf-0005', 'spine-p2-0001', 'core-r7-0012')
    """
    return f"{kind}-{one}{copy + 1}-{number + 1:04d}" if copies > 1 else f"{kind}-{number + 1:04d}"


def rack(row: int, column: int) -> str:
    """Return the name of a rack by row and column.

    Examples
    --------
    >>> rack(2, 11)
    'R003-C012'
    """
    return f"R{row + 1:03d}-C{column + 1:03d}"


def schedule(hall: Hall, planes: int) -> Iterator[Cable]:
    """Yield every cable of all planes and separate rails, in constant memory.

    Parameters
    ----------
    hall : Hall
        Wired network on a floor.
    planes : int
        Planes among the hall's copies; the other copies are separate rails. [-]
    """
    for copy in range(hall.copies):
        for part in links(hall.wiring):
            yield from _cables(hall, part, copy, planes)


def _cables(hall: Hall, part: Links, copy: int, planes: int) -> Iterator[Cable]:
    low, high = _ends(hall, part, copy)
    meters = length_m(hall.floor, low, high)
    label = _labels(hall, part, copy, planes)
    columns = (*low, *high, meters, stock(meters))
    for (a, a_port, b, b_port), r1, c1, r2, c2, m, s in zip(
        label, *(c.tolist() for c in columns), strict=True
    ):
        yield Cable(part.tier, a, a_port, rack(r1, c1), b, b_port, rack(r2, c2), round(m, 2), s)


def _ends(hall: Hall, part: Links, copy: int) -> tuple[tuple[Whole, Whole], tuple[Whole, Whole]]:
    if part.tier == "node-leaf":
        upper = hall.leaf_at(part.upper, copy)
        # a manager is in the rack of its leaf switch
        return (upper, upper) if part.lower[0] < 0 else (hall.node_at(part.lower), upper)
    if part.tier == "leaf-spine":
        return hall.leaf_at(part.lower, copy), hall.spine_at(part.upper, copy)
    return hall.spine_at(part.lower, copy), hall.core_at(part.upper, copy)


def _labels(hall: Hall, part: Links, copy: int, planes: int) -> Iterator[tuple[str, str, str, str]]:
    copies, one = hall.copies, "p" if planes == hall.copies else "r"
    lower, upper = part.tier.split("-")
    first = {"leaf": hall.wiring.plan.leaf_down, "spine": hall.wiring.plan.spine_down}.get(lower, 0)
    columns = (
        part.lower.tolist(),
        part.lower_port.tolist(),
        part.upper.tolist(),
        part.upper_port.tolist(),
    )
    for a, a_port, b, b_port in zip(*columns, strict=True):
        to = name(upper, b, copy, copies, one), str(b_port + 1)
        if lower != "node":
            yield name(lower, a, copy, copies, one), str(first + a_port + 1), *to
        elif a < 0:
            yield "manager-0001", str(copy * hall.wiring.management_links + a_port + 1), *to
        else:
            yield f"node-{a + 1:05d}", _nic(hall, a_port, copy, planes), *to


def _nic(hall: Hall, port: int, copy: int, planes: int) -> str:
    """Return the NIC of a node by rail, with its plane if there are several."""
    rail = copy // planes if hall.wiring.rails == 1 else port
    return f"nic{rail + 1}/{copy % planes + 1}" if planes > 1 else f"nic{rail + 1}"
