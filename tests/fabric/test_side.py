"""Side networks: counts of published SuperPODs, and ports that a switch really has."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dcplan.fabric.side_networks import Side, in_band, out_of_band, storage
from dcplan.fabric.topology.wiring import Fill

QUICK = settings(max_examples=60, deadline=None)
RADIX = st.sampled_from([32, 48, 64, 128, 144])


def _ends(fills: tuple[Fill, ...]) -> int:
    return sum(f.switches * (f.down + f.up) for f in fills)


def _ports_hold(side: Side, radix: int) -> None:
    """No switch has more cables than ports, and every switch is counted once."""
    assert all(f.down + f.up <= radix for tier in side.fills.tiers for f in tier)
    assert [sum(f.switches for f in tier) for tier in side.fills.tiers] == [
        side.leaf,
        side.spine,
        side.core,
    ]


def test_storage_of_the_h100_superpod() -> None:
    """RA-11333-001 V11, table 8: 127 nodes, 16 switches, 494 NDR cables, of which 254 to nodes, and
    48 to storage.

    By hand: 4 units x 32 nodes x 2 links / 32 = 8 node leaves of 32 x 3/4 = 24 uplinks: 192; a
    storage leaf a unit: 48 / 4 = 12 ports and 12 uplinks each: 48. 240 / 64 = 3.75, so 4 spines,
    which divide 24 and 12.
    """
    found = storage(127, 2, 32, 64, 4 / 3, 48, 1)
    assert (found.leaf, found.spine, found.switches) == (12, 4, 16)
    assert (found.node_links, found.between_links, found.other_links) == (254, 240, 48)
    assert found.node_links + found.between_links == 494
    assert found.fills.spine == (Fill(4, 60, 0),)
    assert sum(f.switches * f.down for f in found.fills.leaf) == 254 + 48
    _ports_hold(found, 64)


def test_storage_spines_divide_the_uplinks_of_both_kinds_of_leaf() -> None:
    """5 units: 10 leaves x 24 + 5 x 12 = 300 links are 4.7 spines; 5 divide neither 24 nor 12, 6
    divide both."""
    found = storage(160, 2, 32, 64, 4 / 3, 60, 1)
    assert (found.leaf, found.spine, found.between_links) == (15, 6, 300)
    assert found.fills.spine == (Fill(6, 50, 0),)


def test_in_band_of_the_h100_superpod() -> None:
    """RA-11333-001 V11, table 8: 8 SN4600C; cables 254 DGX + 8 management + 4 uplink + 8 NFS, 24
    leaf-core, 6 peers.

    By hand: 254 + 20 = 274 links on leaves of 64 - 4 - 2 = 58: 4.7, so three pairs; 6 x 4 to two
    cores, 3 x 2 to peers.
    """
    found = in_band(127, 2, 8 + 4 + 8, 64, 4, 2, 2)
    assert (found.leaf, found.spine, found.switches) == (6, 2, 8)
    assert found.between_links == 24 + 6
    assert found.node_links + found.other_links + found.between_links == 304
    assert found.fills.spine == (Fill(2, 12, 0),)
    _ports_hold(found, 64)


@pytest.mark.parametrize(
    ("ports", "racks", "each", "switches"),
    [
        # H100 (RA-11333-001 V11, table 8): 127 DGX + 64 + 8 + 8 + 2 + 108 PDUs = 317 ports; 32
        # racks of 4 nodes and 3
        # PDUs; 48 / 7 = 6 racks would fit a switch, 4 at most: 32 / 4
        pytest.param(317, 32, 4 + 3, 8, id="h100-superpod"),
        # B200 (RA-11334-001 V08): 127 nodes, two a rack and 3 PDUs, so 64 racks / 4
        pytest.param(127 + 64 * 3 + 80, 64, 2 + 3, 16, id="b200-superpod"),
        # GB300 enterprise design: 54 ports a rack, two switches in each of 8 racks
        pytest.param(8 * 54, 8, 54, 16, id="gb300-nvl72"),
        # a rack of exactly 48 ports has one switch; the ports of all others may ask for more: 500 /
        # 48 = 10.4
        pytest.param(8 * 48, 8, 48, 8, id="full"),
        pytest.param(500, 8, 12, 11, id="many-others"),
        pytest.param(3, 1, 3, 2, id="never-one"),
    ],
)
def test_out_of_band(ports: int, racks: int, each: int, switches: int) -> None:
    inside = min(racks * each, ports)
    found = out_of_band(ports, inside, racks, each, 48, 4, 2)
    assert (found.node_links, found.other_links) == (inside, ports - inside)
    assert (found.switches, found.between_links) == (switches, 2 * switches)
    assert sum(f.switches * f.down for f in found.fills.leaf) == ports


def test_a_small_network_is_one_switch_or_one_pair() -> None:
    """A unit of 4 nodes: 8 + 16 links on one switch of 64; in-band 8 + 20 on a pair, as in BasePOD
    (RA-11127-001)."""
    one = storage(4, 2, 4, 64, 4 / 3, 16, 1)
    assert (one.leaf, one.spine, one.between_links) == (1, 0, 0)
    assert one.fills.leaf == (Fill(1, 24, 0),)
    pair = in_band(4, 2, 20, 64, 4, 2, 2)
    assert (pair.leaf, pair.spine, pair.between_links) == (2, 0, 2)
    assert pair.fills.leaf == (Fill(2, 14, 2),)


def test_a_pair_that_is_full_grows() -> None:
    """2 x 64 ports less two at each end of the peer links hold 124 links, not 125."""
    assert in_band(62, 2, 0, 64, 4, 2, 2).switches == 2
    grown = in_band(62, 2, 1, 64, 4, 2, 2)
    assert (grown.leaf, grown.spine) == (4, 2)  # 125 / 58 = 2.2 leaves, in pairs


@given(
    st.integers(1, 400),
    st.integers(1, 4),
    RADIX,
    st.floats(1.0, 4.0),
    st.integers(1, 800),
    st.integers(1, 3),
)
@example(64, 2, 64, 4 / 3, 64, 1)
@QUICK
def test_storage_ports_and_links(
    nodes: int, links: int, radix: int, oversubscription: float, targets: int, per_su: int
) -> None:
    try:
        found = storage(nodes, links, radix // 2, radix, oversubscription, targets, per_su)
    except ValueError as error:
        assert "exceed a three-tier network" in str(error)  # noqa: PT017 - most draws fit
        return
    _ports_hold(found, radix)
    assert found.node_links == nodes * links
    assert found.other_links == targets
    if found.spine and not found.core:
        assert _ends(found.fills.spine) == found.between_links
        assert found.spine * radix >= found.between_links
        assert sum(f.switches * f.up for f in found.fills.leaf) == found.between_links


@given(
    st.integers(1, 500),
    st.integers(1, 4),
    st.integers(0, 60),
    RADIX,
    st.integers(1, 8),
    st.integers(1, 4),
)
@QUICK
def test_in_band_ports_and_links(
    nodes: int, links: int, other: int, radix: int, up: int, peers: int
) -> None:
    found = in_band(nodes, links, other, radix, up, peers, 2)
    _ports_hold(found, radix)
    if found.core:  # three tiers: a tree without pairs
        assert sum(f.switches * f.down for f in found.fills.leaf) == nodes * links + other
        return
    # every leaf has a link to every core
    assert all(f.up >= found.spine for f in found.fills.leaf) or not found.spine
    assert found.leaf % 2 == 0
    assert found.spine in {0, *range(2, found.leaf * up + 1)}
    # a peer link has both its ends on leaves, an uplink one
    ends_up = sum(f.switches * f.up for f in found.fills.leaf)
    core_links = _ends(found.fills.spine)
    assert ends_up + core_links == 2 * found.between_links


@given(st.integers(1, 400), st.integers(1, 60), st.integers(0, 300), st.sampled_from([24, 48]))
@QUICK
def test_out_of_band_ports(racks: int, each: int, others: int, radix: int) -> None:
    found = out_of_band(racks * each + others, racks * each, racks, each, radix, 4, 2)
    # uplinks have ports of their own (SN2201: 48 x 1G and 4 x 100G)
    assert all(f.down <= radix for f in found.fills.leaf)
    assert found.leaf * radix >= racks * each + others
    assert found.leaf >= racks / 4
    assert (found.node_links, found.other_links) == (racks * each, others)


@given(st.integers(1, 1500), st.integers(1, 200), RADIX)
@QUICK
def test_more_nodes_never_take_fewer_leaves_or_links(nodes: int, more: int, radix: int) -> None:
    def shared(n: int) -> Side:
        return storage(n, 2, radix // 2, radix, 4 / 3, math.ceil(0.375 * n), 1)

    def managed(n: int) -> Side:
        return in_band(n, 2, 20, 2 * radix, 4, 2, 2)

    def outside(n: int) -> Side:
        racks = math.ceil(n / 4)
        return out_of_band(n + racks * 3 + 50, n + racks * 3, racks, 7, 48, 4, 2)

    for build in (shared, managed, outside):
        few, many = build(nodes), build(nodes + more)
        assert (few.leaf <= many.leaf, few.node_links <= many.node_links) == (True, True)
    assert managed(nodes).switches <= managed(nodes + more).switches
    assert outside(nodes).switches <= outside(nodes + more).switches
