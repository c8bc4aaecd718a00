"""Unit and topology of a network whose request leaves them open."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from dcplan.fabric.topology.networks import Attached, Ports, tree
from dcplan.fabric.topology.shape import filled_unit, open_shape


@given(st.integers(1, 300), st.integers(1, 200), st.integers(1, 36))
def test_a_filled_unit_never_takes_more_leaves_per_node(unit: int, down: int, rack: int) -> None:
    """It has at most the leaves per node of the reference unit, and is not larger."""
    found = filled_unit(unit, down, rack)
    assert 0 < found <= unit
    assert math.ceil(found / down) / found <= math.ceil(unit / down) / unit + 1e-12
    assert found == unit or found % rack == 0


@given(st.integers(1, 3000), st.sampled_from([2, 4, 8]), st.sampled_from([64, 128, 144]))
def test_an_open_shape_has_the_fewest_tiers(nodes: int, nics: int, radix: int) -> None:
    """No other unit or topology has fewer tiers, and the reference unit has no fewer switches."""
    attached, ports = Attached(nodes, nics), Ports(radix, nodes_per_su=144)
    shape = open_shape(attached, ports, 18)
    found = tree(attached, Ports(radix, nodes_per_su=shape.nodes_per_su), shape.topology)
    for topology in ("rail-optimized", "fat-tree"):
        try:
            other = tree(attached, ports, topology)
        except ValueError:
            continue
        assert found.plan.tiers <= other.plan.tiers
        if topology == "rail-optimized" and other.plan.tiers == found.plan.tiers:
            assert found.counts.switches <= other.counts.switches


def test_reference_units_stay_where_they_fill_the_leaves() -> None:
    """GB300 on 144-port switches: 8 racks of 18 trays fill two leaves of 72 ports a rail."""
    shape = open_shape(Attached(2304, 4), Ports(144, nodes_per_su=144), 18)
    assert (shape.topology, shape.nodes_per_su, shape.note) == ("rail-optimized", 144, "")


def test_a_fat_tree_is_taken_where_units_need_another_tier() -> None:
    """113 racks: 17 units of 126 nodes have 136 leaves, more than the 128 ports of a spine; nodes one
    after another need ceil(2,034 x 4 / 64) = 128."""
    shape = open_shape(Attached(2034, 4), Ports(128, planes=2, nodes_per_su=144), 18)
    assert shape.topology == "fat-tree"
