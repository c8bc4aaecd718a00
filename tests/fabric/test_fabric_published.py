"""Published reference designs, switch by switch and link by link."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from dcplan.fabric.topology.clos import Counts, leaves, size
from dcplan.fabric.topology.design import ClosDesign, design

H100 = "NVIDIA DGX SuperPOD H100, RA-11333-001 V11 (2023-09-22)"
B200 = "NVIDIA DGX SuperPOD B200, RA-11334-001 V08 (2025-04-24)"
B300 = "NVIDIA DGX SuperPOD B300 Spectrum-X reference architecture, table 3"
XDR = "NVIDIA DGX SuperPOD B300 XDR reference architecture, table 3"
GB300 = "NVIDIA DGX SuperPOD GB300 reference architecture"
DEEPSEEK = "DeepSeek-V3 at ISCA 2025, arXiv 2505.09343, table 3"
SHEET = "Public H100 InfiniBand cost sheet (Aug 2024), 8 independent rail planes; the totals are published"
NVL72 = "NVIDIA Enterprise RA GB300 NVL72 2-4-5-800, dual plane (second hand)"


class Published(NamedTuple):
    """A printed row. ``nodes`` are those the network is built for, ``node_leaf`` the printed
    cables."""

    name: str
    source: str
    plan: ClosDesign
    nodes: int
    rails: int
    nodes_per_su: int
    leaf: int
    spine: int
    core: int
    node_leaf: int
    leaf_spine: int
    spine_core: int = 0
    links_per_cable: int = 1


IB64, IB64_3 = design(64, 2), design(64, 3)
SPX = design(128, 2, planes=2)  # 128 x 400G; a NIC puts 400G on each of two planes
XDR144 = design(144, 2)
RAIL8, RAIL8_3 = design(64, 2, planes=8), design(64, 3, planes=8)
BLOCK36 = design(
    128, 2, planes=2, endpoints_per_leaf=36
)  # a block is 2 racks: 36 trays on each rail

ROWS = [
    Published("h100-4su", H100, IB64, 128, 8, 32, 32, 16, 0, 1024, 1024),
    Published("h100-8su", H100, IB64, 256, 8, 32, 64, 32, 0, 2048, 2048),
    Published("h100-16su", H100, IB64_3, 512, 8, 32, 128, 128, 64, 4096, 4096, 4096),
    # as built: one node less for the fabric manager, which takes 4 ports: 8 x 31 + 4 = 252 cables
    Published("h100-1su-built", H100, IB64, 31, 8, 32, 8, 4, 0, 31 * 8 + 4, 256),
    # 24 leaves x 32 uplinks / 64 = 12 spines, but 12 does not divide 32: 16
    Published("h100-3su-built", H100, IB64, 95, 8, 32, 24, 16, 0, 95 * 8 + 4, 768),
    Published("b200-16su", B200, IB64_3, 512, 8, 32, 128, 128, 64, 4096, 4096, 4096),
    Published("b200-32su", B200, IB64_3, 1024, 8, 32, 256, 256, 128, 8192, 8192, 8192),
    Published("b200-1su-built", B200, IB64, 31, 8, 32, 8, 4, 0, 31 * 8 + 4, 256),
    Published("b200-4su-built", B200, IB64, 127, 8, 32, 32, 16, 0, 127 * 8 + 4, 1024),
    # the printed cables are 800G cages, each with two 400G links
    Published("b300-spx-1su", B300, SPX, 64, 8, 64, 16, 8, 0, 512, 512, links_per_cable=2),
    Published("b300-spx-2su", B300, SPX, 128, 8, 64, 32, 16, 0, 1024, 1024, links_per_cable=2),
    Published("b300-spx-4su", B300, SPX, 256, 8, 64, 64, 32, 0, 2048, 2048, links_per_cable=2),
    Published("b300-spx-8su", B300, SPX, 512, 8, 64, 128, 64, 0, 4096, 4096, links_per_cable=2),
    Published("b300-xdr-1su", XDR, XDR144, 72, 8, 72, 8, 4, 0, 576, 576),
    Published("b300-xdr-2su", XDR, XDR144, 144, 8, 72, 16, 8, 0, 1152, 1152),
    # 64 x 72 / 144 = 32 spines, but 32 does not divide 72: 36
    Published("b300-xdr-8su", XDR, XDR144, 576, 8, 72, 64, 36, 0, 4608, 4608),
    # the table prints 9,216 GPUs; its cables and 1,296 x 8 say 10,368
    Published("b300-xdr-18su", XDR, XDR144, 1296, 8, 72, 144, 72, 0, 10368, 10368),
    # trays of 4 GPUs, 144 of them a unit, two leaves a rail; leaf-spine is 128 x 72, not printed
    Published("gb300-16su", GB300, XDR144, 2304, 4, 144, 128, 72, 0, 9216, 128 * 72),
    Published("deepseek-mpft", DEEPSEEK, RAIL8, 2048, 1, 32, 512, 256, 0, 16384, 16384),
    # k^3/4 endpoints, k^2/2 leaves, k^2/2 spines, k^2/4 cores
    Published(
        "deepseek-ft3", DEEPSEEK, IB64_3, 65536, 1, 32, 2048, 2048, 1024, 65536, 65536, 65536
    ),
    Published("sheet-128", SHEET, RAIL8, 128, 1, 32, 32, 16, 0, 1024, 1024),
    Published("sheet-512", SHEET, RAIL8, 512, 1, 32, 128, 64, 0, 4096, 4096),
    Published("sheet-2048", SHEET, RAIL8, 2048, 1, 32, 512, 256, 0, 16384, 16384),
    Published("sheet-8192", SHEET, RAIL8_3, 8192, 1, 32, 2048, 2048, 1024, 65536, 65536, 65536),
    Published(
        "sheet-32768", SHEET, RAIL8_3, 32768, 1, 32, 8192, 8192, 4096, 262144, 262144, 262144
    ),
    Published(
        "sheet-65536", SHEET, RAIL8_3, 65536, 1, 32, 16384, 16384, 8192, 524288, 524288, 524288
    ),
    # 16 leaves x 36 / 128 = 4.5 -> 5 does not divide 36: 6 spines a plane; links are counted by
    # hand
    Published("gb300-era-8-racks", NVL72, BLOCK36, 144, 4, 36, 32, 12, 0, 1152, 2 * 16 * 36),
]


def _built(row: Published) -> Counts:
    per_plane = leaves(row.nodes, row.rails, row.nodes_per_su, row.plan.leaf_down)
    links = row.node_leaf * row.links_per_cable // row.plan.planes
    return size(row.plan, per_plane, links)


@pytest.mark.parametrize("row", ROWS, ids=[r.name for r in ROWS])
def test_published_design_is_reproduced_exactly(row: Published) -> None:
    expected = Counts(
        row.leaf,
        row.spine,
        row.core,
        row.node_leaf * row.links_per_cable,
        row.leaf_spine * row.links_per_cable,
        row.spine_core,
    )
    assert _built(row) == expected, row.source


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("deepseek-mpft", 768),
        ("deepseek-ft3", 5120),
        ("sheet-128", 48),
        ("sheet-512", 192),
        ("sheet-2048", 768),
        ("sheet-8192", 5120),
        ("sheet-32768", 20480),
        ("sheet-65536", 40960),
    ],
)
def test_published_switch_totals(name: str, total: int) -> None:
    row = next(r for r in ROWS if r.name == name)
    assert _built(row).switches == total


def test_gb300_superpod_has_two_leaves_on_each_of_four_rails() -> None:
    # one unit: 8 racks = 144 trays; 144 / 72 = 2 leaves a rail (DGX SuperPOD GB300 RA: 8 leaves)
    assert leaves(nodes=144, rails=4, nodes_per_su=144, leaf_down=design(144, 2).leaf_down) == 8


def test_alibaba_hpn_dual_plane_pod() -> None:
    """SimAI ``gen_Topo_Template.py`` (github.com/aliyun/SimAI): 240 ToR, 120 aggregation, 15,360
    GPUs.

    Counted in 400G ports of a 51.2T chip: 64 down carry 128 x 200G, 60 go up, 64 : 60 = 1.067.
    """
    plan = design(128, 2, planes=2, endpoints_per_leaf=64, leaf_spine=64 / 60)
    assert (plan.leaf_down, plan.leaf_up) == (64, 60)
    # 15 segments of 128 hosts, 8 rails, one ToR for the 128 x 200G of a rail and plane: 120 a plane
    per_plane = leaves(nodes=1920, rails=8, nodes_per_su=128, leaf_down=128)
    # 120 x 60 / 128 = 56.25 -> 57 does not divide 60: 60 a plane
    assert size(plan, per_plane, 1920 * 8) == Counts(240, 120, 0, 30720, 14400, 0)


def test_alibaba_hpn_three_layer_pod_leaves() -> None:
    """8 segments of 16 leaves and 128 servers a pod; 64 x 400G up (the spine count is not
    published)."""
    plan = design(128, 3, planes=2)
    counts = size(plan, leaves(1024, 8, 128, 128), 1024 * 8)
    assert (counts.leaf, counts.node_leaf_links, counts.leaf_spine_links) == (128, 16384, 8192)


@pytest.mark.parametrize("nodes_per_su", [2, 384], ids=["rack", "pod"])
def test_meta_24k_roce_cluster(nodes_per_su: int) -> None:
    """24,576 H100 on 3,072 nodes, one leaf a rack of two nodes, 7:1 above the second tier.

    Gangidi et al., SIGCOMM 2024, and glennklockwood.com (Meta's H100 clusters): 1,536 racks. The
    spines here are 128-port ones, not Meta's chassis: 13 pods of 112 leaves with 16 spines, one of
    80 with ceil(80 x 16 / 112) = 12 rounded to 16; 16 and ceil(80 / 7) = 12 ports up: 13 x 256 + 16
    x 12 = 3,520, 28 cores.
    """
    plan = design(128, 3, endpoints_per_leaf=16, spine_core=7)
    assert (plan.leaf_down, plan.leaf_up, plan.spine_down, plan.spine_up) == (16, 16, 112, 16)
    counts = size(plan, leaves(3072, 8, nodes_per_su, plan.leaf_down), 24576)
    assert counts == Counts(1536, 224, 28, 24576, 24576, 3520)
    assert counts.leaf_spine_links / counts.spine_core_links == pytest.approx(
        7.0, rel=0.005
    )  # whole spines


def test_meta_leaf_may_have_more_uplinks_than_endpoints() -> None:
    # the other account of the same cluster: 18 uplinks for 16 GPUs, 1 : 1.125
    assert design(128, 3, endpoints_per_leaf=16, leaf_spine=16 / 18, spine_core=7).leaf_up == 18


@pytest.mark.parametrize(
    ("radix", "tiers", "endpoints"),
    # k^2/2 (2,048, 8,192, 10,368) and k^3/4 (arXiv 2505.09343 table 3)
    [(64, 2, 2048), (128, 2, 8192), (144, 2, 10368), (64, 3, 65536), (64, 1, 64)],
)
def test_reach_is_the_published_maximum(radix: int, tiers: int, endpoints: int) -> None:
    assert design(radix, tiers).reach_endpoints == endpoints
