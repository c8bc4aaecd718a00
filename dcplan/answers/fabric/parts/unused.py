"""Flags of a network that have no effect on the one that was sized."""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.answers.fabric.request import FabricRequest
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.fabric.topology.kinds import UNITED
from dcplan.fabric.topology.networks import Network

RAIL_ONLY, DRAGONFLY = "rail-only", "dragonfly"
CLOS = ("rail-optimized", "fat-tree", RAIL_ONLY)
"""Topologies whose tiers have leaves, spines and cores."""
CORES = ("leaves_per_pod", "core_oversubscription", "core_switch", "core_radix")
SPINES = (
    "min_spines",
    "leaf_uplinks",
    "endpoints_per_leaf",
    "oversubscription",
    "uplink_gbps",
    "spine_switch",
    "spine_radix",
)
UNITS = ("nodes_per_su",)
GROUPS = ("links_per_pair",)
TREE_ONLY = (*CORES, "min_spines", "tiers", *UNITS)
"""Flags of trees that no other topology reads."""


def unused(resolved: ResolvedFabric, network: Network) -> Iterator[str]:
    """Yield a note on the flags that the network does not have a place for, and why.

    A network that grows may use them later.
    """
    request = resolved.request
    if request.growth_nodes:
        return
    tiers, topology = network.plan.tiers, resolved.topology
    found: list[tuple[tuple[str, ...], str]] = []
    if topology != DRAGONFLY:
        found.append((GROUPS, "only a dragonfly has groups: --topology dragonfly"))
    if topology not in CLOS:
        if topology == DRAGONFLY or topology.endswith("scheduled"):
            found.append((TREE_ONLY, f"a {topology} network is no tree of leaves and spines"))
    elif tiers == 1:
        why = "one tier is enough for the nodes: --tiers 2 has spines"
        found.append(((*SPINES, *CORES, *UNITS), why))
    elif tiers == len(resolved.models) - 1:
        found.append((CORES, "two tiers are enough for the nodes: --tiers 3 has cores"))
    if topology in CLOS and topology not in UNITED and tiers > 1:
        found.append((UNITS, f"a {topology} network has no units"))
    for names, why in found:
        flags = [_flag(name) for name in names if _given(request, name)]
        if flags:
            yield f"no effect of {', '.join(flags)}: {why}"


def _given(request: FabricRequest, name: str) -> bool:
    return bool(getattr(request, name) != getattr(FabricRequest, name))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
