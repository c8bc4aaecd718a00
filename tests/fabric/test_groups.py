"""Cables of a dragonfly, against hand counts and brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.answers.fabric.answer import fabric
from dcplan.fabric.floor.groups import group_lengths
from dcplan.fabric.floor.lengths import STOCK_M
from dcplan.fabric.floor.placement import Floor
from dcplan.fabric.topology.clos import Counts
from dcplan.fabric.topology.direct import GROUP_SWITCHES, dragonfly

FLOOR = Floor(4, 8, 0.6, 3.0, 2.2, 2.0, 0.1, 16, 16, 16)
FRONTIER = {
    "nodes": 9408,
    "nics_per_node": 4,
    "nic_gbps": 200,
    "fabric": "slingshot-200",
    "links_per_pair": 4,
}


def path_m(a: int, b: int) -> float:
    """One cable between two racks of rows of eight."""
    if a == b:
        return FLOOR.in_rack_m
    (row_a, col_a), (row_b, col_b) = divmod(a, 8), divmod(b, 8)
    return (4.4 + 0.6 * abs(col_a - col_b) + 3.0 * abs(row_a - row_b)) * 1.1


@settings(max_examples=30, deadline=None)
@given(groups=st.integers(2, 9), per_pair=st.integers(1, 5), racks=st.integers(1, 5))
def test_every_link_is_counted_once_and_is_as_long_as_one_by_one(
    groups: int, per_pair: int, racks: int
) -> None:
    shape = dragonfly(groups, GROUP_SWITCHES, 16, per_pair)
    counts = Counts(shape.switches, 0, 0, shape.endpoints, shape.local_links, shape.global_links)
    found = group_lengths(counts, racks, FLOOR)
    assert [x.cables for x in found.values()] == [
        shape.endpoints,
        shape.local_links,
        shape.global_links,
    ]
    middle = [g * racks + racks // 2 for g in range(groups)]
    far = [path_m(a, b) for a, b in itertools.combinations(middle, 2) for _ in range(per_pair)]
    near = [
        path_m(g * racks + a * racks // 32, g * racks + b * racks // 32)
        for g in range(groups)
        for a, b in itertools.combinations(range(GROUP_SWITCHES), 2)
    ]
    for tier, meters in (("local", near), ("global", far)):
        assert found[tier].total_m == pytest.approx(sum(meters))
        assert found[tier].longest_m == pytest.approx(max(meters))
        whole = np.bincount(
            np.searchsorted(STOCK_M, np.array(meters) - 1e-9), minlength=STOCK_M.size + 1
        )
        assert found[tier].counts.tolist() == whole.tolist()


def test_frontiers_groups_are_cabinets_of_copper_and_two_links_share_a_cable() -> None:
    """5,402 optical cables between groups (public count); inside a cabinet 37,632 / 2 and 36,704 /
    2 of copper."""
    found = fabric(**FRONTIER)
    bill = found.frame("bill_of_materials")
    pieces = {
        tier: bill[bill["item"].str.startswith(f"{tier} cables")]
        for tier in ("node-leaf", "local", "global")
    }
    assert {tier: int(rows["count"].sum()) for tier, rows in pieces.items()} == {
        "node-leaf": 18816,
        "local": 18352,
        "global": 5402,
    }
    assert set(pieces["node-leaf"]["part"]) == set(pieces["local"]["part"]) == {"generic-400g-dac"}
    assert set(pieces["global"]["part"]) == {"generic-400g-aoc"}
    # 2 m in the cabinet: the rest is between cabinets
    between = found.value("fabric.cable_km") - 2.0e-3 * (18816 + 18352)
    assert 5402 * 5.0e-3 < between < 5402 * 30.0e-3


def test_racks_of_four_nodes_spread_a_group_over_the_floor() -> None:
    whole, spread = fabric(**FRONTIER), fabric(**FRONTIER, nodes_per_rack=4)
    assert spread.value("fabric.cable_km") > 2 * whole.value("fabric.cable_km")
    assert spread.value("fabric.capex_usd") > whole.value("fabric.capex_usd")
    assert spread.value("fabric.switches") == whole.value("fabric.switches")


def test_halves_of_a_dragonfly_share_the_links_of_their_groups() -> None:
    """Two halves of 37 whole groups have 37 x 37 x 4 = 5,476 of the 10,804 links between them:
    1,095.2 Tb/s.

    Of two groups all links cross: 256 nodes with 8 links for the pair have 8 x 200 Gb/s.
    """
    assert fabric(**FRONTIER).value("fabric.bisection_tbps") == pytest.approx(5476 * 0.2)
    pair = fabric(**FRONTIER | {"nodes": 256, "links_per_pair": 8})
    assert pair.value("fabric.bisection_tbps") == pytest.approx(1.6)


def test_a_cable_of_two_links_is_laid_once() -> None:
    """Two groups of 128 nodes in a cabinet each, side by side: every cable carries two links of 200
    Gb/s.

    1,024 links to nodes and 2 x 32 x 31 / 2 = 992 in the groups: 512 + 496 cables of 2 m in the
    cabinets. 8 links between the groups: 4 cables of (2 x 2.2 + 0.6) x 1.1 = 5.5 m. 2,016 + 22 =
    2,038 m.
    """
    found = fabric(**{**FRONTIER, "nodes": 256, "links_per_pair": 8})
    assert found.value("fabric.cable_km") == pytest.approx(2.038, rel=1e-9)
