"""Catalog rows that a request names, and those that do not fit together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from dcplan.answers.common.catalog_rows import unknown
from dcplan.answers.fabric.request import FabricRequest
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Fabric, Parameter, Row, Switch, System
from dcplan.errors import Place, Problem

R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Parts:
    """A request with the catalog rows that it names."""

    request: FabricRequest
    system: System | None
    family: Fabric | None
    leaf: Switch | None
    spine: Switch | None
    """Set only if it differs from the leaf."""
    core: Switch | None
    """Set only if it differs from the spine."""
    rack_units: float
    """Height of a rack [U]."""

    @property
    def oversubscription(self) -> float:
        """Downlink over uplink capacity of a leaf: the request, the family, or 1."""
        if self.request.oversubscription is not None:
            return self.request.oversubscription
        own = self.family.oversubscription if self.family else None
        return own.value if own is not None else 1.0

    @property
    def planes(self) -> int:
        """Parallel networks; each has its share of the NIC's rate."""
        return self.request.planes or (self.family.planes if self.family else 1)


def named_parts(request: FabricRequest, catalog: Catalog, problems: list[Problem]) -> Parts:
    """Resolve every name; the default switches are those of the family."""
    system = _row(catalog, "systems", request.system, System, problems)
    family = _row(catalog, "fabrics", request.fabric, Fabric, problems)
    leaf, spine, core = (
        _row(catalog, "switches", name or usual, Switch, problems)
        for name, usual in (
            (request.switch, family.leaf if family else None),
            (request.spine_switch, family.spine if family else None),
            (request.core_switch, family.core if family else None),
        )
    )
    height = catalog.get("facility", "rack-units", Parameter).value.value
    return Parts(request, system, family, leaf, spine, core, height)


def _row(
    catalog: Catalog, kind: str, name: str | None, model: type[R], problems: list[Problem]
) -> R | None:
    if name is None:
        return None
    row = catalog.find(kind, name, model)
    if row is None:
        problems.append(unknown(catalog, kind, name, "fabric"))
    return row


def mismatches(parts: Parts, topology: str) -> list[Problem]:
    """Return problems of incompatible parts."""
    request, system, leaf = parts.request, parts.system, parts.leaf
    found = []
    for flag, model in (("--spine-switch", parts.spine), ("--core-switch", parts.core)):
        if leaf and model and model.protocol != leaf.protocol:
            cause = f"{model.id} uses {model.protocol}, but {leaf.id} uses {leaf.protocol}"
            found.append(Problem("DC050", cause, Place(flag), help=f"{flag} {leaf.id}"))
    if request.load_balancing == "scheduled" and not topology.endswith("scheduled"):
        cause = (
            f"cell scheduling needs scheduled switches and is not available in a {topology} network"
        )
        found.append(
            Problem("DC050", cause, Place("--load-balancing"), help="--topology scheduled")
        )
    pluggable = [m for m in (leaf, parts.spine, parts.core) if m and not m.co_packaged]
    if request.media == "cpo" and pluggable:
        cause = (
            "co-packaged optics are a part of the switch, and no NIC has them: "
            f"{pluggable[0].id} takes pluggable transceivers"
        )
        help_text = "--switch q3450-ld, or another switch with co-packaged optics, without --media"
        found.append(Problem("DC050", cause, Place("--media"), help=help_text))
    most = max(leaf.ports.values()) if leaf and request.radix and request.switch else 0
    if request.radix and most and request.radix > most:
        cause = (
            f"{request.radix} ports are requested, but {leaf.id if leaf else ''} has at most {most}"
        )
        found.append(Problem("DC050", cause, Place("--radix"), help="omit --radix or --switch"))
    if request.nodes_per_rack and system and system.rack_units and system.form == "server":
        fits = int(parts.rack_units // system.rack_units.value)
        if request.nodes_per_rack > fits:
            each = f"{request.nodes_per_rack} x {system.rack_units.value:g} U"
            cause = f"{each} do not fit in a rack of {parts.rack_units:g} U"
            help_text = f"--nodes-per-rack {fits}"
            found.append(Problem("DC050", cause, Place("--nodes-per-rack"), help=help_text))
    return found
