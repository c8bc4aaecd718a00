"""Bill of materials: each part once, nothing lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.fabric.bom import Bill, Fills, Parts, bill, node_cages, switch_cages
from dcplan.fabric.topology.clos import Counts
from dcplan.fabric.topology.networks import Attached, Ports, tree
from dcplan.fabric.topology.wiring import Fill, even

PARTS = Parts(
    leaf_usd=30_000.0,
    spine_usd=31_000.0,
    core_usd=32_000.0,
    leaf_kw=0.7,
    spine_kw=0.8,
    core_kw=0.9,
    switch_units=2.0,
    leaf_optic_usd=1_200.0,
    leaf_optic_kw=0.017,
    leaf_optic_ports=2,
    node_optic_usd=900.0,
    node_optic_kw=0.009,
    cable_usd=100.0,
)
QUICK = settings(max_examples=60, deadline=None)
FILL = st.builds(Fill, st.integers(0, 500), st.integers(0, 144), st.integers(0, 144))
FILLS = st.builds(Fills, *[st.lists(FILL, max_size=3).map(tuple)] * 3)


def _counts(fills: Fills) -> Counts:
    leaf, spine, core = (sum(f.switches for f in t) for t in fills.tiers)
    down = [sum(f.switches * f.down for f in t) for t in fills.tiers]
    return Counts(leaf, spine, core, *down)


def test_dgx_h100_superpod_of_4_units() -> None:
    """RA-11333-001 V11, tables 7 and 8, as built: 127 nodes of four twin-port cages, four links of
    fabric managers.

    48 switches whose 48 x 32 = 1,536 cages are all filled (31 links of a leaf take 16 cages too);
    127 x 4 = 508 in nodes and 4 in managers; 1,016 + 1,024 cables and the managers' four.
    """
    network = tree(Attached(127, 8, 4), Ports(64, nodes_per_su=32), "rail-optimized")
    assert switch_cages(network.fills, 2, 2) == 1536
    assert node_cages(network.counts.node_leaf_links, 4, 2) == 508 + 4
    found = bill(
        network.counts, replace(PARTS, node_optic_ports=2), network.fills, management_links=4
    )
    assert (found.switches, found.cables) == (48, 2040 + 4)
    assert (found.switch_transceivers, found.node_transceivers) == (1536, 512)


def test_three_tier_bill_by_hand() -> None:
    """3 leaves, 2 spines, 1 core; 10 node links, 6 leaf-spine, 4 spine-core.

    Leaves 4 + 3 + 3 links down, each two cages, and 2 up, each one: 9. Spines 3 down, two cages,
    and 2 up, one: 6. The core's 4: two. 17 transceivers. Cables 10 + 6 + 4 = 20. USD: 3 x 30,000 +
    2 x 31,000 + 32,000 = 184,000; 17 x 1,200 = 20,400; 10 x 900 = 9,000; 20 x 100 = 2,000. kW: 3 x
    0.7 + 2 x 0.8 + 0.9 = 4.6; 17 x 0.017 = 0.289; 10 x 0.009 = 0.09.
    """
    fills = Fills(even(3, 10, 2), even(2, 6, 2), even(1, 4))
    found = bill(Counts(3, 2, 1, 10, 6, 4), PARTS, fills)
    assert found == Bill(6, 17, 10, 20, pytest.approx(215_400.0), pytest.approx(4.979), 12.0)


def test_half_filled_cage_needs_a_whole_transceiver() -> None:
    assert bill(Counts(1, 0, 0, 3, 0, 0), PARTS, Fills((Fill(1, 3, 0),))).switch_transceivers == 2
    assert bill(Counts(3, 0, 0, 3, 0, 0), PARTS, Fills((Fill(3, 1, 0),))).switch_transceivers == 3


@given(FILLS)
@QUICK
def test_optics_power_is_counted_once(fills: Fills) -> None:
    counts = _counts(fills)
    with_optics = bill(counts, PARTS, fills).power_kw
    without = bill(counts, replace(PARTS, leaf_optic_kw=0.0, node_optic_kw=0.0), fills).power_kw
    optics = switch_cages(fills, 2, 2) * 0.017 + counts.node_leaf_links * 0.009
    assert with_optics - without == pytest.approx(optics, rel=1e-9, abs=1e-6)
    assert without == pytest.approx(
        0.7 * counts.leaf + 0.8 * counts.spine + 0.9 * counts.core, abs=1e-6
    )


@given(FILLS)
@QUICK
def test_cages_hold_every_link_and_waste_less_than_one_a_side(fills: Fills) -> None:
    ends = sum(f.switches * (f.down + f.up) for tier in fills.tiers for f in tier)
    switches = sum(f.switches for tier in fills.tiers for f in tier)
    assert ends <= 2 * switch_cages(fills, 2, 2) <= ends + 2 * switches


@given(FILLS, FILLS)
@QUICK
def test_two_networks_cost_the_sum_of_both(a: Fills, b: Fills) -> None:
    one, two = bill(_counts(a), PARTS, a), bill(_counts(b), PARTS, b)
    joined = Fills(*(x + y for x, y in zip(a.tiers, b.tiers, strict=True)))
    both = bill(_counts(joined), PARTS, joined)
    for name in (
        "switches",
        "switch_transceivers",
        "node_transceivers",
        "cables",
        "capex_usd",
        "power_kw",
    ):
        assert getattr(both, name) == pytest.approx(
            getattr(one, name) + getattr(two, name), rel=1e-9
        ), name
    assert both.rack_units == one.rack_units + two.rack_units


def test_an_empty_network_is_free() -> None:
    assert bill(Counts(0, 0, 0, 0, 0, 0), PARTS, Fills()) == Bill(0, 0, 0, 0, 0.0, 0.0, 0.0)
