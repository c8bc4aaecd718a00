"""Weight and power of a rack: how many nodes and switches fit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.catalog.schema import Switch
from dcplan.errors import InputError, Place, Problem

RACK_HELP = "fewer --nodes-per-rack, or a higher --rack-kg-max and --rack-kw-max"


@dataclass(frozen=True)
class Load:
    """Weight and maximum power of one device, or of a whole rack."""

    kg: float
    kw: float

    def times(self, count: int) -> Load:
        """Return the load of several devices."""
        return Load(self.kg * count, self.kw * count)

    def plus(self, other: Load) -> Load:
        """Return the load of both."""
        return Load(self.kg + other.kg, self.kw + other.kw)


def limits(resolved: ResolvedFabric) -> Load:
    """Return the limits of a rack; infinite where the request has none."""
    request = resolved.request
    return Load(request.rack_kg_max or math.inf, request.rack_kw_max or math.inf)


def node_load(resolved: ResolvedFabric) -> Load:
    """Return the load of a node; zero for a node of no named system."""
    system = resolved.system
    if system is None:
        return Load(0.0, 0.0)
    hosts = max(resolved.attached.nodes // resolved.request.nodes, 1)
    kg, kw = (q.value / hosts if q else 0.0 for q in (system.weight_kg, system.rated_kw))
    return Load(kg, kw)


def switch_load(row: Switch | None) -> Load:
    """Return the load of a switch with all line cards; zero where the row does not say."""
    if row is None:
        return Load(0.0, 0.0)
    cards = row.cards or 0
    kg = (row.weight_kg.value if row.weight_kg else 0.0) + cards * (
        row.card_kg.value if row.card_kg else 0.0
    )
    power = row.max_kw or row.typical_kw
    kw = (power.value if power else 0.0) + cards * (row.card_kw.value if row.card_kw else 0.0)
    return Load(kg, kw)


def fit_count(name: str, one: Load, most: int, limit: Load) -> int:
    """Return how many devices fit in a rack: at most ``most``, and what weight and power allow.

    Raises
    ------
    InputError
        When not even one device is within the limits.
    """
    found = most
    for each, top in ((one.kg, limit.kg), (one.kw, limit.kw)):
        if each > 0.0 and top < math.inf:
            found = min(found, math.floor(top / each + 1e-9))
    if found < 1:
        refuse(f"1 x {name}", one, limit)
    return found


def refuse(what: str, load: Load, limit: Load) -> None:
    """Refuse a rack that is heavier or draws more than its limits.

    Raises
    ------
    InputError
        With the load and the limit that it exceeds.
    """
    for has, top, unit, flag in (
        (load.kg, limit.kg, "kg", "--rack-kg-max"),
        (load.kw, limit.kw, "kW", "--rack-kw-max"),
    ):
        if has > top * (1 + 1e-9):
            cause = f"{what} in one rack: {has:,.1f} {unit} of {top:g} {unit}"
            raise InputError([Problem("DC050", cause, Place(flag), help=RACK_HELP)])
