"""Pieces of a plan's fabric for its workbook: what one costs and draws, and the inputs that say
so.
"""

from __future__ import annotations

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Fabric, Optic, Switch
from dcplan.planning.problem.terms import FabricOption, PortClass
from dcplan.scenario.load import Question

Piece = tuple[float, float, str, str]
"""Price [USD], power [kW] and the formula of each."""


def pieces(option: FabricOption, ports: PortClass, question: Question) -> dict[str, Piece]:
    """Every role in a fabric for one NIC class, with formulas over catalog prices."""
    parts, catalog = option.parts[ports], question.catalog
    family = catalog.get("fabrics", option.family, Fabric)
    found: dict[str, Piece] = {}
    for role, name in zip(("leaf", "spine", "core"), option.switch_models, strict=True):
        switch = catalog.find("switches", name, Switch)
        key = f"switches.{switch.id}" if switch else ""
        usd, kw = getattr(parts, f"{role}_usd"), getattr(parts, f"{role}_kw")
        found[role] = (usd, kw, f"[{key}.price_usd]", f"[{key}.typical_kw]")
    node = family.leaf_optic if parts.node_optic_ports > 1 else family.node_optic
    for role, name, usd, kw in (
        ("switch optic", family.leaf_optic, parts.leaf_optic_usd, parts.leaf_optic_kw),
        ("node optic", node, parts.node_optic_usd, parts.node_optic_kw),
    ):
        optic = catalog.find("optics", name, Optic)
        key = f"optics.{optic.id}" if optic else ""
        found[role] = (usd, kw, f"[{key}.price_usd]", f"[{key}.max_kw]")
    found["cable"] = (parts.cable_usd, 0.0, _cable(family, catalog), "")
    return found


def _cable(family: Fabric, catalog: Catalog) -> str:
    row = catalog.find("optics", family.fiber, Optic) if family.fiber else None
    if row is None:
        return ""
    ends = f"[optics.{row.id}.price_usd]" if row.price_usd else "0"
    return ends + (
        f" + [optics.{row.id}.usd_per_m] * [power.cable-length-m]"
        if row.usd_per_m is not None
        else ""
    )
