"""`dcplan fabric` on machines as built, and its further questions: growth, sites, comparison,
size."""

from __future__ import annotations

import time
from typing import Any

import pytest

from dcplan.answers.fabric.answer import fabric
from dcplan.answers.fabric.built import build
from dcplan.answers.fabric.request import FabricRequest
from dcplan.answers.fabric.resolve import resolve
from dcplan.catalog.loader import load
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.result import Result

POD: dict[str, Any] = {
    "nodes": 127,
    "nics_per_node": 8,
    "nic_gbps": 400,
    "switch": "qm9700",
    "nodes_per_su": 32,
    "management_links": 4,
}

FEWER = 125
"""Nodes of a design over those of the small one that its work is compared with."""


def _bill(found: Result) -> dict[str, float]:
    """Count of each item."""
    rows = found.frame("bill_of_materials")
    return dict(rows.groupby("item")["count"].sum())


def test_research_super_cluster() -> None:
    """16,000 A100 at 200 Gb/s, two levels, not oversubscribed (Meta, 2022); directors of 800 ports
    fit it exactly.

    Leaves of 40 ports: 100 units x 8 rails = 800; 800 x 20 uplinks / 800 = 20 directors of 20 cards
    of 40 ports.
    """
    found = fabric(
        nodes=2000, system="dgx-a100", switch="qm8700", spine_switch="cs8500", nodes_per_su=20
    )
    assert [
        found.value(k)
        for k in (
            "fabric.leaf_switches",
            "fabric.spine_switches",
            "fabric.core_switches",
            "fabric.leaf_spine_links",
        )
    ] == [800, 20, 0, 16000]
    spines = found.frame("bill_of_materials").set_index("item").loc["spine switches"]
    assert spines["part"] == "cs8500 with 20 line cards"


def test_meta_roce_cluster_on_chassis() -> None:
    """24,576 H100: 8 pods of 192 racks with a leaf each, 18 uplinks to 18 chassis, 7:1 above
    (Gangidi et al. 2024).

    A chassis has 192 links down and ceil(192 / 7) = 28 up: ceil(220 / 36) = 7 cards of 36. 8 x 18 x
    28 = 4,032 links up are 7 chassis of 576.
    """
    found = fabric(
        nodes=3072,
        nics_per_node=8,
        nic_gbps=400,
        switch="tomahawk5-box",
        spine_switch="arista-7808r3",
        core_switch="arista-7816r3",
        endpoints_per_leaf=16,
        leaf_uplinks=18,
        leaves_per_pod=192,
        core_oversubscription=7,
        min_spines=18,
    )
    keys = (
        "fabric.leaf_switches",
        "fabric.spine_switches",
        "fabric.core_switches",
        "fabric.node_leaf_links",
        "fabric.leaf_spine_links",
        "fabric.spine_core_links",
    )
    assert [found.value(k) for k in keys] == [1536, 144, 7, 24576, 27648, 4032]
    assert (
        found.frame("bill_of_materials").set_index("item").loc["spine switches", "part"]
        == "arista-7808r3 with 7 line cards"
    )


def test_uplinks_of_another_speed() -> None:
    """Alibaba HPN: 128 x 200G down and 60 x 400G up a leaf, two planes, 240 and 120 switches
    (SimAI generator)."""
    found = fabric(
        nodes=1920,
        nics_per_node=8,
        nic_gbps=400,
        planes=2,
        switch="tomahawk5-box",
        nodes_per_su=128,
        endpoints_per_leaf=128,
        leaf_uplinks=60,
        uplink_gbps=400,
    )
    assert [
        found.value(k)
        for k in ("fabric.leaf_switches", "fabric.spine_switches", "fabric.leaf_spine_links")
    ] == [240, 120, 14400]
    # 14,400 x 400 Gb/s are narrower than 30,720 x 200
    assert found.value("fabric.bisection_tbps") == pytest.approx(14400 * 0.4 / 2)


def test_pair_joined_by_links() -> None:
    """DGX BasePOD NDR400 (RA-11127-001, table 4.2): 4 nodes, two switches, 16 twin cables to
    nodes, 8 between them."""
    for nodes, cages, between in ((4, 16, 8), (8, 32, 16)):
        found = fabric(
            nodes=nodes, nics_per_node=8, nic_gbps=400, switch="qm9700", topology="linked-pair"
        )
        assert found.value("fabric.leaf_switches") == 2
        assert found.value("fabric.node_leaf_links") / 2 == cages
        assert found.value("fabric.leaf_spine_links") / 2 == between


def test_growth_table() -> None:
    found = fabric(nodes=127, system="dgx-h100", fabric="ib-ndr-400", growth_nodes=[256])
    rows = found.frame("expansion").query("method == 'as needed'")
    # 64 leaves: 32 spines divide 32 uplinks; each of the first 32 leaves moves one of its two links
    # to every spine
    assert rows["links_recabled"].tolist() == [0, 32 * 16]
    assert rows["spine_switches_added"].sum() == 32
    with pytest.raises(InputError, match="sizes must increase"):
        fabric(nodes=127, system="dgx-h100", fabric="ib-ndr-400", growth_nodes=[64])


def test_two_sites() -> None:
    """80 km of air are 104 km of fibre at 1.3: 104 x 4.897 x 2 us; 20 Tb/s are 50 links of 400ZR
    on one pair."""
    found = fabric(**POD, site_link_km=80, site_link_gbps=20_000)
    assert found.value("fabric.site_link_rtt_us") == pytest.approx(104 * 4.897 * 2)
    row = found.frame("site_links").iloc[0]
    assert (row["links"], row["ports"], row["fibre_pairs"], row["amplifiers"]) == (50, 100, 1, 3)


def test_side_by_side() -> None:
    found = fabric(compare="ib-xdr-800,spectrum-x-800,eth-400", nodes=16, system="gb300-nvl72")
    rows = found.frame("comparison").set_index("fabric")
    assert rows.loc["ib-xdr-800", "switches"] == fabric(
        nodes=16, system="gb300-nvl72", fabric="ib-xdr-800"
    ).value("fabric.switches")
    assert "slower than the 800 Gb/s NICs" in rows.loc["eth-400", "why_not"]
    with pytest.raises(InputError, match="no fabrics row"):
        fabric(compare="ib-xdr-80", nodes=16, system="gb300-nvl72")


def test_ranked_by_one_run() -> None:
    """The cluster is the same, so the ranking follows the fabrics' prices and the days that
    hashing costs."""
    found = fabric(
        compare="ib-ndr-400,eth-400",
        for_job="llama-3.1-8b",
        tokens=1e11,
        nodes=64,
        system="dgx-h100",
    )
    rows = found.frame("job").set_index("fabric")
    assert (rows["usd_per_run"] == rows["fabric_usd"] + rows["cluster_usd"]).all()
    assert rows["usd_per_run"].is_monotonic_increasing
    assert rows.loc["eth-400", "days_p50"] > rows.loc["ib-ndr-400", "days_p50"]
    assert rows["days_lost"].min() == 0


def test_families_know_how_they_spread_flows_and_what_their_nics_plug_into() -> None:
    """Spectrum-X is adaptive and its NICs' twin cages serve both planes: 2,048 in 256 nodes."""
    found = fabric(nodes=256, system="dgx-b300", fabric="spectrum-x-800")
    # published as 64 nodes a unit (RA-11337, table 3), where the XDR design has 72
    assert [found.value(k) for k in ("fabric.leaf_switches", "fabric.spine_switches")] == [64, 32]
    assert _bill(found)["transceivers in nodes to leaves"] == 2048
    assert found.frame("bandwidth").iloc[-1]["gb_per_s"] == pytest.approx(100 * 0.95)
    taken = {row["key"]: row["value"] for row in found.inputs if row["status"] == "default"}
    assert taken["fabric.load_balancing"] == "adaptive"
    assert taken["fabric.topology"] == "rail-optimized"
    assert taken["fabric.nodes_per_su"] == "64"


def test_chassis_spines_have_cages_of_their_own_speed() -> None:
    """400 Gb/s cages of the chassis hold a link each, where the leaves' twin cages hold two."""
    found = fabric(
        nodes=3072, system="grand-teton-h100", fabric="eth-400", spine_switch="arista-7816r3"
    )
    rows = found.frame("bill_of_materials").set_index("item")
    links = found.value("fabric.leaf_spine_links")
    assert rows.loc["transceivers in leaves to spines", "count"] == links / 2
    assert rows.loc["transceivers in spines to leaves", "count"] == links
    assert rows.loc["transceivers in spines to leaves", "part"] == "generic-400g-dr4"


def test_torus_of_chips() -> None:
    """TPU v4: 64 cubes, 48 optical switches of 136 ports (Jouppi et al. 2023); Ironwood 1.5 optics
    a chip."""
    v4 = fabric(nodes=4096, topology="torus")
    assert (
        v4.value("fabric.switches"),
        v4.value("fabric.circuits"),
        v4.value("fabric.transceivers"),
    ) == (48, 3072, 6144)
    assert fabric(nodes=9216, topology="torus").value("fabric.transceivers_per_accelerator") == 1.5
    pod = fabric(nodes=1, system="tpu-v4-pod")
    assert pod.value("fabric.switches") == 48, "chips with links of their own are a torus"
    with pytest.raises(InputError, match="at most 4,096 chips"):
        fabric(nodes=2, system="tpu-v4-pod")


def test_flat_torus_of_chips() -> None:
    """TPU v5e: 16 x 16 chips of four links of 50 GB/s, 1.6 TB/s across the middle (Google Cloud,
    TPU v5e)."""
    pod = fabric(nodes=1, system="tpu-v5e-pod")
    assert (pod.value("fabric.switches"), pod.value("fabric.links")) == (0, 512)
    assert pod.value("fabric.bisection_tbps") == pytest.approx(1.6 * 8)
    with pytest.raises(InputError, match="no torus topology"):
        fabric(nodes=1, system="tpu8i-pod")


def test_a_million_accelerators_with_their_floor_and_bill() -> None:
    """Three tiers, and eight planes: the work of sizing, measuring and billing (best of three)
    grows no faster than the nodes."""
    catalog = load()
    designs: list[dict[str, Any]] = [
        {
            "nodes": 131072,
            "nics_per_node": 8,
            "nic_gbps": 800,
            "planes": 8,
            "radix": 512,
            "port_gbps": 100,
            "nodes_per_su": 256,
        },
        {"nodes": 125000, "nics_per_node": 8, "nic_gbps": 400, "switch": "tomahawk6-box"},
    ]
    for flags in designs:
        small = {**flags, "nodes": flags["nodes"] // FEWER}
        least = []
        for each in (small, flags):
            resolved = resolve(FabricRequest(**each), catalog)
            times = []
            for _ in range(3):
                began = time.process_time()
                built = build(resolved, InputLog(catalog))
                times.append(time.process_time() - began)
            least.append(min(times))
        assert least[1] < FEWER * least[0]
        assert built.network.counts.node_leaf_links >= 1_000_000


def test_scheduled_fabric_of_amd() -> None:
    """2,304 ports of 400 Gb/s: 64 leaves of 36, 10 spines of 128 x 800.

    A twin transceiver for two NIC links, one at each end of a cell link: 1,152 + 2 x 1,280.
    """
    found = fabric(nodes=288, nics_per_node=8, nic_gbps=400, fabric="eth-400-scheduled")
    assert [
        found.value(k)
        for k in ("fabric.leaf_switches", "fabric.spine_switches", "fabric.leaf_spine_links")
    ] == [64, 10, 1280]
    rows = _bill(found)
    assert rows["transceivers in leaves to nodes"] == 1152
    assert (
        rows["transceivers in leaves to spines"] + rows["transceivers in spines to leaves"] == 2560
    )
    assert found.value("fabric.bisection_tbps") == pytest.approx(2304 * 0.4 / 2)


def test_frontier() -> None:
    """74 groups, four links between each pair: 10,804 global links, taper 1.753
    (glennklockwood.com/garden)."""
    found = fabric(
        nodes=9408, nics_per_node=4, nic_gbps=200, fabric="slingshot-200", links_per_pair=4
    )
    keys = (
        "fabric.switches",
        "fabric.leaf_spine_links",
        "fabric.spine_core_links",
        "fabric.node_leaf_links",
    )
    assert [found.value(k) for k in keys] == [2368, 36704, 10804, 37632]
    assert found.value("fabric.global_taper_ratio") == pytest.approx(1.753, abs=5e-4)
    wider = fabric(nodes=9408, nics_per_node=4, nic_gbps=200, fabric="slingshot-200")
    assert 1 <= wider.value("fabric.global_taper_ratio") < 1.753
