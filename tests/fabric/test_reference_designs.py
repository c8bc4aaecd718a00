"""Published networks, row by row: NVIDIA's reference architectures, DeepSeek, a public cost sheet,
Alibaba, AMD, Slingshot machines, TPU pods. Where a print is wrong, the corrected value stands with
the reason."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.fabric.topology.clos import Counts
from dcplan.fabric.topology.direct import dragonfly, scheduled, torus
from dcplan.fabric.topology.networks import Attached, Network, Ports, nearest, tree

RAIL = "rail-optimized"
H100 = {"radix": 64, "nodes_per_su": 32}  # QM9700 at 400 Gb/s, 32 nodes a unit
B300_ETH = {"radix": 128, "nodes_per_su": 64, "planes": 2}  # SN5600 at 400 Gb/s, two planes
XDR = {"radix": 144, "nodes_per_su": 72}  # Q3400-RA at 800 Gb/s
DESIGNS: list[Any] = [
    # RA-11333-001 V11, table 3 (ideal)
    pytest.param((128, 8), H100, RAIL, Counts(32, 16, 0, 1024, 1024, 0), id="h100-4su"),
    pytest.param((256, 8), H100, RAIL, Counts(64, 32, 0, 2048, 2048, 0), id="h100-8su"),
    pytest.param((512, 8), H100, RAIL, Counts(128, 128, 64, 4096, 4096, 4096), id="h100-16su"),
    # table 4 (built: one node makes room for the fabric manager, whose four links stand on the
    # leaves)
    pytest.param((31, 8, 4), H100, RAIL, Counts(8, 4, 0, 252, 256, 0), id="h100-1su-built"),
    pytest.param((95, 8, 4), H100, RAIL, Counts(24, 16, 0, 764, 768, 0), id="h100-3su-built"),
    pytest.param((127, 8, 4), H100, RAIL, Counts(32, 16, 0, 1020, 1024, 0), id="b200-4su-built"),
    pytest.param((1024, 8), H100, RAIL, Counts(256, 256, 128, 8192, 8192, 8192), id="b200-32su"),
    pytest.param((63, 8, 4), H100, RAIL, Counts(16, 8, 0, 508, 512, 0), id="h100-2su-built"),
    pytest.param((64, 8), H100, RAIL, Counts(16, 8, 0, 512, 512, 0), id="b200-2su"),
    # 64 leaves a rail are two spine groups of 32: no divisor of 32 uplinks is 64
    pytest.param((2048, 8), H100, RAIL, Counts(512, 512, 256, 16384, 16384, 16384), id="b200-64su"),
    # RA-09950-001 (A100, 40-port HDR), recalled and not read again: a group of 10 spines for each
    # rail of 7 leaves
    pytest.param(
        (140, 8),
        {"radix": 40, "nodes_per_su": 20},
        RAIL,
        Counts(56, 80, 28, 1120, 1120, 1120),
        id="a100-7su-recalled",
    ),
    # B300 Spectrum-X, table 3; printed cables are 800 Gb/s cages: half of the 400 Gb/s links here
    pytest.param((64, 8), B300_ETH, RAIL, Counts(16, 8, 0, 1024, 1024, 0), id="b300-eth-1su"),
    pytest.param((128, 8), B300_ETH, RAIL, Counts(32, 16, 0, 2048, 2048, 0), id="b300-eth-2su"),
    pytest.param((256, 8), B300_ETH, RAIL, Counts(64, 32, 0, 4096, 4096, 0), id="b300-eth-4su"),
    pytest.param((512, 8), B300_ETH, RAIL, Counts(128, 64, 0, 8192, 8192, 0), id="b300-eth-8su"),
    # 128 leaves a plane are exactly the ports of a spine
    pytest.param(
        (1024, 8), B300_ETH, RAIL, Counts(256, 128, 0, 16384, 16384, 0), id="b300-eth-16su"
    ),
    pytest.param((288, 8), XDR, RAIL, Counts(32, 18, 0, 2304, 2304, 0), id="b300-xdr-4su"),
    # B300 XDR, table 3; 18 units print 9,216 accelerators where 10,368 links stand: 10,368
    pytest.param((72, 8), XDR, RAIL, Counts(8, 4, 0, 576, 576, 0), id="b300-xdr-1su"),
    pytest.param((144, 8), XDR, RAIL, Counts(16, 8, 0, 1152, 1152, 0), id="b300-xdr-2su"),
    pytest.param((576, 8), XDR, RAIL, Counts(64, 36, 0, 4608, 4608, 0), id="b300-xdr-8su"),
    pytest.param((1296, 8), XDR, RAIL, Counts(144, 72, 0, 10368, 10368, 0), id="b300-xdr-18su"),
    # GB300: 144 trays of four rails a unit, two leaves a rail; 64 spines round up to 72
    pytest.param(
        (2304, 4),
        {"radix": 144, "nodes_per_su": 144},
        RAIL,
        Counts(128, 72, 0, 9216, 9216, 0),
        id="gb300-16su",
    ),
    # GB300 enterprise: two planes, blocks of 36 trays, 36 down and 36 up
    pytest.param(
        (144, 4),
        {"radix": 128, "nodes_per_su": 36, "planes": 2, "endpoints_per_leaf": 36},
        RAIL,
        Counts(32, 12, 0, 1152, 1152, 0),
        id="gb300-enterprise",
    ),
    # arXiv 2505.09343, table 3
    pytest.param(
        (2048, 8),
        {"radix": 64},
        "rail-only",
        Counts(512, 256, 0, 16384, 16384, 0),
        id="deepseek-mpft",
    ),
    pytest.param(
        (65536, 1),
        {"radix": 64},
        "fat-tree",
        Counts(2048, 2048, 1024, *[65536] * 3),
        id="deepseek-ft3",
    ),
    # Alibaba HPN: 128 x 200G down, 60 x 400G up, two planes, 15 segments
    pytest.param(
        (1920, 8),
        {
            "radix": 256,
            "spine_radix": 128,
            "nodes_per_su": 128,
            "planes": 2,
            "endpoints_per_leaf": 128,
            "leaf_up": 60,
            "uplink_width": 2.0,
        },
        RAIL,
        Counts(240, 120, 0, 30720, 14400, 0),
        id="alibaba-hpn",
    ),
]


ELSEWHERE: list[Any] = [
    # apetops.com, storage of a 512-server design on 40-port HDR: 37 leaves, 20 spines (19 do not
    # divide 20 uplinks)
    pytest.param(740, Ports(40), 37, 20, id="apetops-storage"),
    # docs.it4i.cz/karolina: 60 switches of 40 ports, 40 and 20
    pytest.param(800, Ports(40), 40, 20, id="karolina"),
    # JLab 12s: 276 nodes on 36 ports, "uplinks in pairs to 9 core switches" (8 do not divide 18)
    pytest.param(276, Ports(36), 16, 9, id="jlab-12s"),
    # TACC Frontera: 182 leaves of 22 down and 18 up, six directors of 800 ports (5 do not divide
    # 18)
    pytest.param(
        4004, Ports(40, endpoints_per_leaf=22, leaf_up=18, spine_radix=800), 182, 6, id="frontera"
    ),
    # TACC Stampede: 320 leaves of 20 and 16, eight directors of 648 ports
    pytest.param(
        6400, Ports(36, endpoints_per_leaf=20, leaf_up=16, spine_radix=648), 320, 8, id="stampede"
    ),
    # JUPITER Booster, one group: 15 leaves under 16 spines whose other ports go to other groups
    pytest.param(480, Ports(64, spine_radix=32), 15, 16, id="jupiter-group"),
    # Arista: 4,096 ports from 24 switches of 512
    pytest.param(4096, Ports(512), 16, 8, id="arista-4096"),
    # Tomahawk 6 at 200 Gb/s: two tiers end at 512 x 256
    pytest.param(131072, Ports(512), 512, 256, id="tomahawk-6-200g"),
]


@pytest.mark.parametrize(("endpoints", "ports", "leaf", "spine"), ELSEWHERE)
def test_two_tiers_built_elsewhere(endpoints: int, ports: Ports, leaf: int, spine: int) -> None:
    """Machines and designs that no NVIDIA table shows, found in public documentation."""
    found = tree(Attached(endpoints, 1), ports, "fat-tree").counts
    assert (found.leaf, found.spine, found.core) == (leaf, spine, 0)


def test_reach_of_three_tiers_of_40_ports() -> None:
    """k^3 / 4 = 16,000 ports from 5 k^2 / 4 = 2,000 switches: 800, 800, 400."""
    assert tree(Attached(16000, 1), Ports(40), "fat-tree").counts == Counts(
        800, 800, 400, *[16000] * 3
    )


@pytest.mark.parametrize("rail_nodes", [1, 2, 64])
def test_single_switches_a_rail(rail_nodes: int) -> None:
    """Public cost sheet, 64 nodes: eight switches, one for each rail."""
    assert tree(Attached(rail_nodes, 8), Ports(64), "rail-only").counts.switches == 8


@pytest.mark.parametrize(("attached", "ports", "topology", "counts"), DESIGNS)
def test_published_design(
    attached: tuple[int, ...], ports: dict[str, Any], topology: str, counts: Counts
) -> None:
    assert tree(Attached(*attached), Ports(**ports), topology).counts == counts


@pytest.mark.parametrize(
    ("nodes", "switches"),
    # public H100 cost sheet: eight networks of one rail each; total switches
    [(128, 48), (512, 192), (2048, 768), (8192, 5120), (32768, 20480), (65536, 40960)],
)
def test_public_cost_sheet(nodes: int, switches: int) -> None:
    assert tree(Attached(nodes, 8), Ports(64), "rail-only").counts.switches == switches


@pytest.mark.parametrize(
    ("nodes", "nics", "planes", "switches"),
    [(4, 3, 1, 2), (16, 5, 1, 2), (12, 9, 1, 2), (8, 9, 2, 4)],
)
def test_enterprise_pairs(nodes: int, nics: int, planes: int, switches: int) -> None:
    """NVIDIA's enterprise designs up to 16 nodes: two collapsed switches, two a plane."""
    found = tree(Attached(nodes, nics), Ports(128, planes=planes), "collapsed-pair")
    assert found.counts.switches == switches


def test_slingshot_and_canonical_dragonflies() -> None:
    aurora = dragonfly(166, 32, 16, 2)
    assert (aurora.switches, aurora.local_links, aurora.endpoints) == (5312, 82336, 84992)
    assert aurora.taper == pytest.approx(1.552, abs=5e-4)
    # DeepSeek's table 3: p = 16, a = 32, h = 16, 511 groups; 32 x 16 global links of each group
    # over 510 others
    canonical = dragonfly(511, 32, 16, 32 * 16 / 510)
    assert canonical.switches == 16352
    assert canonical.endpoints == 261632
    assert canonical.local_links + canonical.global_links == 384272


def test_scheduled_fabric_of_amd() -> None:
    found = scheduled(1152, 18, 20, 128).counts
    assert (found.leaf, found.spine) == (64, 10)
    # one unit of 288 accelerators at 400 Gb/s: 144 ports of 800, 8 leaves
    assert scheduled(144, 18, 20, 128).counts.leaf == 8


def test_rails_of_cells() -> None:
    """AMD's largest rail-scheduled design, 9,216 accelerators: 256 leaves of 36 ports; eight rails
    of 32 and 5."""
    found = scheduled(1152 * 8, 36, 20, 128, rails=8)
    assert (found.counts.leaf, found.counts.spine, found.counts.leaf_spine_links) == (256, 40, 5120)
    with pytest.raises(ValueError, match="256 leaves exceed the 128 ports"):
        scheduled(1152 * 8, 36, 20, 128)


def test_pairs_joined() -> None:
    """DGX BasePOD NDR400, table 4.2: as many links between two switches as half of those to nodes."""
    found = tree(Attached(4, 8), Ports(64), "linked-pair")
    assert found.counts == Counts(2, 0, 0, 32, 16, 0)
    with pytest.raises(ValueError, match="use rail-optimized or fat-tree"):
        tree(Attached(9, 8), Ports(64), "linked-pair")


def test_lumi() -> None:
    """LUMI-G: 24 groups of 32 switches; 276 TB/s between groups are 20 links of 50 GB/s both ways
    for each pair."""
    found = dragonfly(24, 32, 16, 20)
    assert (found.switches, found.global_links) == (768, 5520)


def test_tpu_pods() -> None:
    v4, ironwood = torus(4096), torus(9216)
    assert (v4.cubes, v4.optical_ends) == (64, 6144)
    assert (ironwood.cubes, ironwood.circuits) == (144, 6912)
    with pytest.raises(ValueError, match="9216 are"):
        torus(9200)


NODES = st.integers(1, 20_000)
PORTS = st.builds(
    Ports,
    radix=st.sampled_from([32, 64, 128, 144]),
    planes=st.sampled_from([1, 2]),
    nodes_per_su=st.sampled_from([1, 4, 32, 72]),
    leaf_spine=st.sampled_from([1.0, 1.5, 2.0, 3.0]),
)


def _sized(nodes: int, ports: Ports, topology: str) -> Network | None:
    try:
        return tree(Attached(nodes, 8), ports, topology)
    except ValueError:
        return None


@given(NODES, PORTS, st.sampled_from([RAIL, "fat-tree", "rail-only"]))
@settings(max_examples=150, deadline=None)
def test_ports_balance(nodes: int, ports: Ports, topology: str) -> None:
    """No switch has more links than ports; links of a tier are as many at both ends;
    oversubscription as asked."""
    found = _sized(nodes, ports, topology)
    if found is None:
        return
    c, plan = found.counts, found.plan
    assert c.node_leaf_links <= c.leaf * (plan.radix if plan.tiers == 1 else plan.leaf_down)
    if plan.tiers == 1:
        return
    assert plan.leaf_down + plan.leaf_up <= plan.radix
    assert c.leaf_spine_links == c.leaf * plan.leaf_up
    assert c.leaf_spine_links <= c.spine * (plan.radix if plan.tiers == 2 else plan.spine_down)
    assert plan.leaf_down / plan.leaf_up <= ports.leaf_spine * 1.05
    if plan.tiers == 2:
        # every leaf reaches every spine with the same number of links
        assert plan.leaf_up % (c.spine // (plan.planes * found.parallel)) == 0
    else:
        assert c.spine_core_links >= c.leaf_spine_links * plan.spine_up / plan.spine_down
        assert c.spine_core_links <= c.core * plan.radix


@given(NODES, PORTS, st.sampled_from([RAIL, "fat-tree"]))
@settings(max_examples=80, deadline=None)
def test_more_nodes_never_take_fewer_links(nodes: int, ports: Ports, topology: str) -> None:
    one, more = _sized(nodes, ports, topology), _sized(nodes + 37, ports, topology)
    if one is None or more is None:
        return
    assert more.counts.leaf >= one.counts.leaf
    assert more.counts.node_leaf_links > one.counts.node_leaf_links


def test_a_million_accelerators_take_no_time() -> None:
    began = time.process_time()
    found = tree(Attached(131072, 8), Ports(256, planes=8, nodes_per_su=128), RAIL)
    assert time.process_time() - began < 0.2
    assert found.counts.node_leaf_links == 131072 * 8 * 8


@pytest.mark.parametrize(
    ("ports", "topology", "words"),
    [
        (Ports(63), "fat-tree", "radix 63 is odd"),
        (Ports(64, tiers=2), "fat-tree", "use three tiers"),
        (Ports(64, leaf_spine=0.0), "fat-tree", "oversubscription"),
        (Ports(64), "hypercube", "one of rail-optimized"),
        (Ports(64, endpoints_per_leaf=60), "fat-tree", "exceed the 64 ports"),
        (Ports(64, leaf_up=64), "fat-tree", "64 uplinks leave no port of 64"),
    ],
)
def test_impossible_networks_name_the_rule(ports: Ports, topology: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tree(Attached(4096, 8), ports, topology)


@pytest.mark.parametrize(
    ("nodes", "ports", "topology", "mend"),
    [
        (128, Ports(63, nodes_per_su=32), RAIL, "--radix 62"),
        (512, Ports(64, tiers=2, nodes_per_su=32), RAIL, "leave --tiers out"),
        (
            64,
            Ports(64, endpoints_per_leaf=60),
            "fat-tree",
            "leave --endpoints-per-leaf and --leaf-uplinks out",
        ),
        (8192 * 8, Ports(64, nodes_per_su=32), RAIL, "--topology rail-only"),
        # a unit whose own leaves are more than three tiers hold
        (100, Ports(16, nodes_per_su=2000), RAIL, "--nodes-per-su 100"),
        (10_000, Ports(16), "fat-tree", "--nodes 128 is the most"),
    ],
)
def test_the_nearest_design_that_works_is_named(
    nodes: int, ports: Ports, topology: str, mend: str
) -> None:
    assert nearest(Attached(nodes, 8), ports, topology) == mend
