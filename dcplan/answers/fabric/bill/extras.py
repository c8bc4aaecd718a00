"""NICs and ancillary equipment of a network: spare optics, patch panels, racks."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from dcplan.answers.fabric.bill.lines import FREE, OPTICS, Kind, Line, Price, price_of
from dcplan.answers.fabric.media.choice import Choice
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.catalog.schema import Parameter
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity


def nic_lines(resolved: ResolvedFabric) -> list[Line]:
    """Return the NICs of the nodes; the systems include their price and power."""
    name = (
        resolved.system.nic
        if resolved.system and resolved.system.nic
        else f"{resolved.nic_gbps:g} Gb/s"
    )
    count = resolved.attached.nodes * resolved.attached.nics_per_node
    return [Line(Kind.OTHER, "NICs (included in the systems' price)", name, count, FREE)]


def extra_lines(
    lines: Sequence[Line], chosen: dict[str, list[Choice]], other_units: float, log: InputLog
) -> list[Line]:
    """Return ancillary equipment: spare optics, patch panels, network racks.

    Panels terminate both ends of fiber trunks between switches. Racks contain the network's
    switches, its panels and ``other_units`` of other networks' switches.
    """
    found = []
    frac, least = (
        log.parameter("network", key) for key in ("spare-optics-frac", "spare-optics-least")
    )
    kinds: dict[str, list[Line]] = {}
    for line in lines:
        if line.kind in OPTICS:
            kinds.setdefault(line.part, []).append(line)
    for part, same in kinds.items():
        count = sum(line.count for line in same)
        if not count:
            continue
        spare = max(math.ceil(count * frac), round(least))
        price = functools.reduce(Price.plus, (line.price for line in same)).times(spare / count)
        status = same[0].status
        found.append(Line(Kind.OTHER, "spare transceivers", part, spare, price, status=status))
    trunks = sum(
        math.ceil(c.links / c.links_each)
        for tier, choices in chosen.items()
        if tier != "node-leaf"
        for c in choices
        if c.ends
    )
    found += _panels(trunks, log)
    units = sum(line.rack_units for line in (*lines, *found)) + other_units
    racks = math.ceil(units / log.parameter("network", "network-rack-units"))
    kg = log.parameter("network", "rack-kg") * racks
    price = price_of(log, "network.rack-usd", _parameter(log, "rack-usd")).times(racks)
    part = f"{log.parameter('facility', 'rack-units'):g} U"
    found.append(Line(Kind.OTHER, "network racks", part, racks, price, kg=kg, status="estimate"))
    return found


def _panels(links: int, log: InputLog) -> list[Line]:
    """Return panels at both ends of the trunks between switches."""
    if not links:
        return []
    units = math.ceil(2 * links / log.parameter("network", "mpo-ports-per-panel-unit"))
    price = price_of(
        log, "network.panel-usd-per-unit", _parameter(log, "panel-usd-per-unit")
    ).times(units)
    part = "1 U of MPO-12"
    return [
        Line(Kind.OTHER, "patch panels", part, units, price, rack_units=units, status="estimate")
    ]


def _parameter(log: InputLog, key: str) -> Quantity:
    return log.catalog.get("network", key, Parameter).value
