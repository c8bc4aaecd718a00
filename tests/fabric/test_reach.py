"""The most nodes of a design, compared with networks of one size more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcplan.fabric.topology.networks import Attached, Ports, tree
from dcplan.fabric.topology.reach import most_nodes

CASES = [
    (Attached(16, 1), Ports(8, tiers=2), "fat-tree"),
    (Attached(16, 1), Ports(8, tiers=3), "fat-tree"),
    (Attached(2, 8), Ports(8, tiers=3), "fat-tree"),
    (Attached(3, 2, 3), Ports(16, tiers=2), "fat-tree"),
    (Attached(4, 4), Ports(16, nodes_per_su=8, tiers=2), "rail-optimized"),
    (Attached(4, 4), Ports(16, nodes_per_su=12, tiers=3), "rail-optimized"),
    (Attached(4, 4), Ports(32, nodes_per_su=4, tiers=2), "rail-optimized"),
    (Attached(4, 2), Ports(16, tiers=2), "rail-only"),
    (Attached(1, 4), Ports(16, tiers=1), "fat-tree"),
]


@pytest.mark.parametrize(("attached", "ports", "kind"), CASES)
def test_one_node_more_does_not_fit(attached: Attached, ports: Ports, kind: str) -> None:
    network = tree(attached, ports, kind)
    assert network.wiring is not None
    most = most_nodes(network.wiring)
    assert tree(replace(attached, nodes=most), ports, kind).counts.leaf
    if ports.tiers == 1:  # one tier may have several switches, which are not connected
        assert most * attached.nics_per_node <= ports.radix
        return
    with pytest.raises(ValueError, match="tiers"):
        tree(replace(attached, nodes=most + 1), ports, kind)


def test_hosts_of_a_two_and_three_layer_clos() -> None:
    # hand calculation, 2 (k / 2)^L: 2 x 72^3 = 746,496; 2 x 36^3 = 93,312; 2 x 256^2 = 131,072
    for radix, tiers, hosts in ((144, 3, 746_496), (72, 3, 93_312), (512, 2, 131_072)):
        network = tree(Attached(1000, 1), Ports(radix, tiers=tiers), "fat-tree")
        assert network.wiring is not None
        assert most_nodes(network.wiring) == hosts
