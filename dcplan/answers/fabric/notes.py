"""Notes on a design: what it chose or left out, and the flag that changes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dcplan.answers.fabric.built import Built
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.result import Table
from dcplan.specs.fabric import use as specs

IDLE_FRAC = 0.1
"""Share of unused leaf ports above which a note is given."""


def notes_table(found: Iterable[str]) -> dict[str, Table]:
    """Return the table of the notes; none without a note."""
    rows = [specs.NoteRow(note) for note in found]
    return {"notes": specs.NOTES.table(rows)} if rows else {}


def notes(built: Built) -> Iterator[str]:
    """Yield the notes on one network."""
    resolved, c, plan = built.resolved, built.network.counts, built.network.plan
    per_su, nodes = resolved.ports.nodes_per_su, resolved.attached.nodes
    rails = resolved.topology == "rail-optimized" and plan.tiers > 1
    if resolved.shape_note and plan.tiers > 1:
        yield resolved.shape_note
    if rails and nodes < per_su:
        whole = f"leaf switches are bought for a full scalable unit of {per_su} nodes"
        yield f"{whole}; {per_su - nodes} node positions stay empty"
    if rails and 1 < per_su < plan.leaf_down:
        yield (
            f"scalable units of {per_su} nodes do not fill leaf switches of {plan.leaf_down} "
            f"ports, so rails share leaf switches; set --nodes-per-su {plan.leaf_down} for "
            "separate leaf switches per rail"
        )
    yield from built.chosen.notes
    yield from _idle(built)
    yield from _mismatched(resolved)
    alone = c.spine // (resolved.ports.planes * built.network.parallel) == 1 and plan.tiers == 2
    if alone and resolved.ports.planes == 1:
        yield "a single spine is a single point of failure; set --min-spines 2 to add a second"


def _idle(built: Built) -> Iterator[str]:
    """Report unused leaf ports if they are more than 10 %."""
    wiring = built.network.wiring
    if wiring is None or not wiring.nodes_per_su or wiring.plan.tiers == 1 or built.hall is None:
        return
    ports = wiring.leaf_count * wiring.plan.leaf_down
    idle = ports - wiring.nodes * wiring.rails - wiring.management_links
    if idle > ports * IDLE_FRAC:
        copies, down, unit = built.hall.copies, wiring.plan.leaf_down, wiring.nodes_per_su
        whole = max(unit // down, 1) * down
        fills = (
            f"--nodes-per-su {whole} or --topology fat-tree fills"
            if whole != unit
            else "--topology fat-tree fills"
        )
        yield (
            f"{idle * copies:,} of {ports * copies:,} node ports of leaf switches are unused, "
            f"because scalable units have {unit} nodes and leaf switches {down} ports; {fills} "
            "them"
        )


def _mismatched(resolved: ResolvedFabric) -> Iterator[str]:
    """Report parts that fit together only under conditions."""
    request, system, leaf = resolved.request, resolved.system, resolved.leaf
    if system and leaf and system.protocols and leaf.protocol not in system.protocols:
        listed = f"{system.id} has {', '.join(system.protocols)} NICs"
        yield f"{listed}, but {leaf.id} uses {leaf.protocol}"
    used = resolved.ports.radix
    if leaf and request.radix and request.switch and used < max(leaf.ports.values()):
        yield f"{used} ports of {leaf.id} are used, but the price is for the complete switch"
