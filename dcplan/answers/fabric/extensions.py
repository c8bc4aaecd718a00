"""Expansion of a network by phases."""

from __future__ import annotations

import itertools
from dataclasses import replace

from dcplan.answers.fabric.design import sized
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.topology.growth import phases
from dcplan.fabric.topology.networks import Network
from dcplan.result import Table
from dcplan.specs.fabric import use as specs


def growth_table(resolved: ResolvedFabric) -> Table:
    """Return the purchases of each phase under two expansion methods.

    Raises
    ------
    InputError
        When sizes do not increase, or a size has no network.
    """
    hosts = resolved.attached.nodes // resolved.request.nodes
    sizes = [resolved.attached.nodes, *(n * hosts for n in resolved.request.growth_nodes)]
    if any(b <= a for a, b in itertools.pairwise(sizes)):
        cause = f"sizes must increase: {', '.join(str(n) for n in sizes)} nodes"
        raise InputError([Problem("DC050", cause, Place("--growth-nodes"))])
    steps = [(n, _of_size(resolved, n)) for n in sizes]
    if any(network.wiring is None for _, network in steps):
        cause = (
            f"growth of a {resolved.topology} network is not supported, because it has no cable "
            "list"
        )
        raise InputError([Problem("DC050", cause, Place("--growth-nodes"))])
    last = replace(resolved, ports=replace(resolved.ports, tiers=steps[-1][1].plan.tiers))
    settled = [(n, _of_size(last, n)) for n in sizes]
    return specs.EXPANSION.table(
        specs.ExpansionRow(
            method=phase.way,
            total_nodes=phase.nodes,
            leaf_switches_added=phase.leaf,
            spine_switches_added=phase.spine,
            core_switches_added=phase.core,
            node_links_added=phase.node_links,
            switch_links_added=phase.between_links,
            links_recabled=phase.recabled_links,
            switches_removed=phase.spare_switches,
            spine_ports_unused=phase.idle_spine_ports,
        )
        for phase in phases(steps, settled)
    )


def _of_size(resolved: ResolvedFabric, nodes: int) -> Network:
    return sized(replace(resolved, attached=replace(resolved.attached, nodes=nodes)))
