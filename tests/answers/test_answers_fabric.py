"""`dcplan fabric`: the metric keys, sums of the bill, what is left out filled in, and what a bad
request says."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest

from dcplan.answers.fabric.answer import fabric
from dcplan.answers.fabric.inventory import cables
from dcplan.catalog.loader import load
from dcplan.catalog.schema import Fabric
from dcplan.errors import InputError
from dcplan.fabric.bom import bill
from dcplan.fabric.floor.lengths import STOCK_M
from dcplan.fabric.topology.networks import Attached, Ports, tree
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import parts_of
from dcplan.result import Result

POD: dict[str, Any] = {
    "nodes": 127,
    "nics_per_node": 8,
    "nic_gbps": 400,
    "switch": "qm9700",
    "nodes_per_su": 32,
    "management_links": 4,
}


def test_superpod_of_127_nodes() -> None:
    """RA-11333-001, tables 4 and 7: 32 leaves, 16 spines, 1,020 and 1,024 links; half of the
    narrower at 400 Gb/s."""
    found = fabric(**POD)
    keys = (
        "fabric.leaf_switches",
        "fabric.spine_switches",
        "fabric.core_switches",
        "fabric.node_leaf_links",
        "fabric.leaf_spine_links",
        "fabric.spine_core_links",
        "fabric.switches",
    )
    assert [found.value(k) for k in keys] == [32, 16, 0, 1020, 1024, 0, 48]
    assert found.value("fabric.bisection_tbps") == pytest.approx(63 * 8 * 0.4), (
        "63 nodes against 64"
    )


def test_failures_and_paths_of_the_pod() -> None:
    """2,044 links at 0.00404 stops a year and 48 switches at 0.08 (Llama 3, Azure); 32 uplinks of
    each leaf."""
    found = fabric(**POD)
    assert found.value("fabric.link_failures_per_day") == pytest.approx(2044 * 0.00404 / 365)
    assert found.value("fabric.switch_failures_per_day") == pytest.approx(48 * 0.08 / 365)
    low, high = (
        getattr(found.metrics["fabric.link_failures_per_day"], side) for side in ("low", "high")
    )
    assert low < found.value("fabric.link_failures_per_day") < high
    assert found.value("fabric.path_diversity") == 32
    two_planes = fabric(
        nodes=64, nics_per_node=8, nic_gbps=800, radix=128, port_gbps=400, planes=2, nodes_per_su=64
    )
    assert two_planes.value("fabric.path_diversity") == 2 * 64
    blocking = fabric(
        nodes=96, nics_per_node=8, nic_gbps=400, radix=64, port_gbps=400, oversubscription=3
    )
    assert blocking.value("fabric.path_diversity") == 16, "48 ports of 64 to nodes"
    assert (
        fabric(nodes=8, nics_per_node=8, nic_gbps=400, radix=64, port_gbps=400).value(
            "fabric.path_diversity"
        )
        == 1
    )


def _bill(found: Result) -> dict[str, float]:
    """Count of each item."""
    rows = found.frame("bill_of_materials")
    return dict(rows.groupby("item")["count"].sum())


def test_bill_of_the_superpod_as_published() -> None:
    """RA-11333-001, tables 7 and 8: 48 switches, 1,536 transceivers in them, 508 in DGX and 4 in
    fabric managers."""
    found = fabric(**POD, nic_ports_per_cage=2)
    rows = _bill(found)
    assert rows["leaf switches"] + rows["spine switches"] == 48
    switches = ("leaves to nodes", "leaves to spines", "spines to leaves")
    assert [rows[f"transceivers in {side}"] for side in switches] == [512, 512, 512]
    assert rows["transceivers in nodes to leaves"] == 508 + 4
    # table 7: 1,016 + 1,024 cables, and the managers' four
    assert sum(n for item, n in rows.items() if "cables" in item) == 2040 + 4
    # 16 storage switches (12 leaves under 4 spines; 254 node links + 240 between switches), 8 in-
    # band, 8 out-of-band
    assert [found.value(f"fabric.{n}.switches") for n in ("storage", "in_band", "out_of_band")] == [
        16,
        8,
        8,
    ]
    storage = found.frame("side_networks").set_index("network").loc["storage"]
    assert storage["node_links"] + storage["links_between"] == 494
    system = fabric(nodes=127, system="dgx-h100", fabric="ib-ndr-400", management_links=4)
    assert _bill(system) == rows, "the system knows its twin-port cages"


def test_bill_sums_to_the_metrics() -> None:
    for flags in (
        POD,
        {"nodes": 46, "system": "gb200-nvl72", "fabric": "ib-ndr-400"},
        POD | {"media": "reach"},
    ):
        found = fabric(**flags)
        rows = found.frame("bill_of_materials")
        assert rows["usd"].sum() == pytest.approx(found.value("fabric.capex_usd"))
        assert rows["power_kw"].sum() == pytest.approx(found.value("fabric.power_kw"))
        assert rows["weight_kg"].sum() == pytest.approx(found.value("fabric.weight_kg"))
        capex = found.metrics["fabric.capex_usd"]
        assert (rows["low_usd"].sum(), rows["high_usd"].sum()) == pytest.approx(
            (capex.low, capex.high)
        )
        assert (rows["low_usd"] <= rows["usd"]).all()
        assert (rows["usd"] <= rows["high_usd"]).all()
        optics = rows[rows["item"].str.startswith("transceivers")]["count"].sum()
        assert optics == found.value("fabric.transceivers")
        assert found.frame("ancillary")["usd"].sum() == pytest.approx(
            found.value("fabric.ancillary_usd")
        )


def test_verb_and_plan_price_the_same_parts_alike() -> None:
    """The plan's bill of 127 nodes, with one average length, and the verb's, with the floor's
    lengths."""
    catalog = load()
    log = InputLog(catalog)
    family = catalog.get("fabrics", "ib-ndr-400", Fabric)
    parts = parts_of(log, family, ("qm9700",) * 3, 400.0, 2)
    network = tree(Attached(127, 8), Ports(64, nodes_per_su=32), "rail-optimized")
    planned = bill(network.counts, parts, network.fills)
    found = fabric(nodes=127, system="dgx-h100", fabric="ib-ndr-400")
    rows = found.frame("bill_of_materials")
    cords = rows[rows["item"].str.contains("cables")]["usd"].sum()
    assert planned.power_kw == pytest.approx(found.value("fabric.power_kw"))
    assert planned.capex_usd - planned.cables * parts.cable_usd == pytest.approx(
        found.value("fabric.capex_usd") - cords
    )


def test_schedule_agrees_with_the_bill() -> None:
    """Cables by tier, length and part, one by one and in all."""
    flags: dict[str, Any] = {
        "nodes": 100,
        "system": "dgx-h100",
        "fabric": "ib-ndr-400",
        "media": "reach",
    }
    flags |= {"racks_per_row": 9, "nodes_per_rack": 2, "management_links": 3}
    rows = fabric(**flags).frame("bill_of_materials")
    listed: Counter[tuple[str, str]] = Counter()
    for one in cables(**flags):
        c = one.cable
        bought = float(STOCK_M[c.stock])
        assert c.length_m <= bought
        listed[f"{c.tier} cables {bought:g} m", one.part] += 1
    billed = rows[rows["item"].str.contains("cables")]
    # a splitter of 800 Gb/s carries two of the links
    links = {
        key: math.ceil(n / 2) if key[1].startswith(("mc", "generic-800g")) else n
        for key, n in listed.items()
    }
    assert links == {(r.item, r.part): r.count for r in billed.itertuples(index=False)}
    assert any(key[1] == "generic-800g-aoc" for key in listed)


def test_copper_where_it_reaches() -> None:
    """Leaves over their nodes: two metres in the rack take copper, links between racks light."""
    flags: dict[str, Any] = {
        "nodes": 64,
        "nics_per_node": 8,
        "nic_gbps": 400,
        "switch": "tomahawk5-box",
    }
    flags |= {"endpoints_per_leaf": 16, "nodes_per_rack": 2, "leaf_placement": "rack"}
    light, copper = fabric(**flags), fabric(**flags, media="reach")
    near = copper.frame("cable_lengths").query("tier == 'node-leaf'")
    assert near["stock_m"].tolist() == [2.0]
    # one splitter for two NICs: 1.5 m of passive copper do not reach, the splitter of 3 m does
    assert near["medium"].tolist() == ["mcp7y00-dac"]
    bought = (
        copper.frame("bill_of_materials").set_index("item").loc["node-leaf cables 2 m", "count"]
    )
    assert bought == 64 * 8 / 2
    assert copper.value("fabric.capex_usd") < light.value("fabric.capex_usd")
    assert copper.value("fabric.power_kw") < light.value("fabric.power_kw")


@pytest.mark.parametrize("media", ["lpo", "lro"])
def test_other_optics_draw_less(media: str) -> None:
    flags: dict[str, Any] = {"nodes": 512, "nics_per_node": 8, "nic_gbps": 800, "fabric": "eth-800"}
    assert fabric(**flags, media=media).value("fabric.power_kw") < fabric(**flags).value(
        "fabric.power_kw"
    )


def test_far_spines_take_optics_that_reach() -> None:
    flags: dict[str, Any] = {
        "nodes": 512,
        "nics_per_node": 8,
        "nic_gbps": 400,
        "fabric": "ib-ndr-400",
    }
    far = fabric(**flags, nodes_per_su=32, cable_length_m=1500.0).frame("bill_of_materials")
    between = far[far["item"] == "transceivers in leaves to spines"]["part"].tolist()
    assert between == ["mms4x50-nm"], "2xFR4 reaches 2 km; the usual part 500 m"


def test_load_balancing_slows_what_crosses_spines_alone() -> None:
    """16,384 H100 on 51.2T switches: hashing leaves 0.60 of the line rate, spraying 0.93 (catalog,
    network rows)."""
    flags: dict[str, Any] = {"nodes": 2048, "system": "hgx-h100-8", "fabric": "eth-400"}
    rows = {
        how: fabric(**flags, load_balancing=how).frame("bandwidth").set_index("level")
        for how in ("ecmp", "spray")
    }
    assert rows["ecmp"].loc["leaf", "gb_per_s"] == rows["spray"].loc["leaf", "gb_per_s"] == 50.0
    assert rows["ecmp"].loc["pod", "gb_per_s"] == pytest.approx(50 * 0.6)
    assert rows["spray"].loc["pod", "gb_per_s"] == pytest.approx(50 * 0.93)
    slow, fast = (
        fabric(**flags, load_balancing=how).value("fabric.all_reduce_s")
        for how in ("ecmp", "spray")
    )
    assert slow > 1.3 * fast


def test_peak_power_counts_optics_once() -> None:
    """QM9700: 48 x 1.72 kW with optics, and the nodes' 512 transceivers of 17 W; typical 48 x
    0.747 and all optics."""
    found = fabric(**POD, nic_ports_per_cage=2)
    assert found.value("fabric.peak_kw") == pytest.approx(48 * 1.72 + 512 * 0.017)
    assert found.value("fabric.power_kw") == pytest.approx(48 * 0.747 + 2048 * 0.017)


def test_system_and_family_fill_what_is_left_out() -> None:
    found = fabric(nodes=576, system="dgx-b300", fabric="ib-xdr-800")
    assert [
        found.value(k)
        for k in ("fabric.leaf_switches", "fabric.spine_switches", "fabric.node_leaf_links")
    ] == [64, 36, 4608]
    assert found.value("fabric.usd_per_accelerator") == pytest.approx(
        found.value("fabric.capex_usd") / 4608
    )
    racks = fabric(nodes=128, system="gb300-nvl72", fabric="ib-xdr-800")
    assert [
        racks.value(k)
        for k in ("fabric.leaf_switches", "fabric.spine_switches", "fabric.node_leaf_links")
    ] == [128, 72, 9216]


def test_two_planes_share_the_nic() -> None:
    found = fabric(
        nodes=64, nics_per_node=8, nic_gbps=800, radix=128, port_gbps=400, planes=2, nodes_per_su=64
    )
    assert [
        found.value(k)
        for k in ("fabric.leaf_switches", "fabric.spine_switches", "fabric.leaf_spine_links")
    ] == [16, 8, 1024]
    assert "capex_usd" not in found.metrics
    assert any(w["code"] == "price" for w in found.warnings)


def test_scenario_s_menu_and_the_verb_price_alike() -> None:
    """The plan's own network of the same size: 3,312 ports on NDR in three tiers."""
    found = fabric(nodes=46, system="gb200-nvl72", fabric="ib-ndr-400", tiers=3)
    assert found.value("fabric.node_leaf_links") == 46 * 72
    assert found.value("fabric.capex_usd") / (46 * 72) == pytest.approx(6000, rel=0.5)


def test_co_packaged_switches_are_billed_once() -> None:
    """114 racks of 18 x 8 NICs on Q3450-LD: 648 switches x 236,400 = 153.2 M, 16,416 transceivers in
    nodes x 500 = 8.2 M, and fiber; no transceiver in a switch. Power 648 x 3.49 kW and 16,416 x 15 W."""
    found = fabric(nodes=114, system="vr-nvl72", switch="q3450-ld")
    assert found.value("fabric.transceivers") == 114 * 18 * 8
    assert found.value("fabric.power_kw") == pytest.approx(648 * 3.49 + 16_416 * 0.015)
    bill = found.frame("bill_of_materials")
    light = bill[bill["item"].str.startswith("transceivers")]
    assert light["item"].tolist() == ["transceivers in nodes to leaves"]
    switches = bill[bill["item"].str.endswith("switches")]["usd"].sum()
    assert switches == pytest.approx(648 * 236_400)
    assert found.value("fabric.capex_usd") == pytest.approx(164.7e6, rel=0.005)


def test_pluggable_switches_refuse_co_packaged_optics() -> None:
    """Optics inside the box are a property of the switch; no NIC has them."""
    with pytest.raises(InputError, match="part of the switch") as error:
        fabric(nodes=128, system="dgx-b300", fabric="ib-xdr-800", media="cpo")
    assert "q3450-ld" in str(error.value.problems[0].help)


@pytest.mark.parametrize(
    "family", ["ib-xdr-800", "ib-ndr-400", "eth-400", "eth-800", "spectrum-x-800"]
)
@pytest.mark.parametrize("nodes", [9, 128, 700])
def test_maximum_power_is_at_least_the_typical_power(family: str, nodes: int) -> None:
    """130.1 kW typical and 127.7 kW at most were printed for 128 nodes on XDR."""
    gbps = 400 if "400" in family else 800
    found = fabric(nodes=nodes, nics_per_node=8, nic_gbps=gbps, fabric=family)
    if "fabric.peak_kw" in found.metrics:
        assert found.value("fabric.peak_kw") >= found.value("fabric.power_kw")


def test_leaves_that_do_not_fit_in_the_rack_of_their_nodes_are_refused() -> None:
    """Four DGX B300 of 10 U and eight Q3400-RA of 4 U: 72 U of 42. NVL72 racks are full."""
    flags: dict[str, Any] = {"fabric": "ib-xdr-800", "leaf_placement": "rack"}
    with pytest.raises(InputError, match="72 U of 42 U"):
        fabric(nodes=144, system="dgx-b300", nodes_per_rack=4, **flags)
    with pytest.raises(InputError, match="do not fit in a rack"):
        fabric(nodes=128, system="gb300-nvl72", **flags)


def test_side_networks_of_any_size_have_ratios_and_rates_of_their_own() -> None:
    """4,096 nodes: the in-band network has three tiers, and less storage bandwidth fewer switches."""
    flags: dict[str, Any] = {"nodes": 4096, "system": "dgx-b300", "fabric": "ib-xdr-800"}
    usual, less = fabric(**flags), fabric(**flags, storage_oversubscription=4)
    rows = usual.frame("side_networks").set_index("network")
    # (4,096 x 2 + 20) links / 60 ports of a leaf with 4 uplinks: 137 leaves
    assert rows.loc["in-band", "node_links"] == 8192
    assert rows.loc["in-band", "leaf_switches"] >= 137
    wide = fabric(**flags, in_band_oversubscription=3).frame("side_networks").set_index("network")
    assert wide.loc["in-band", "links_between"] > rows.loc["in-band", "links_between"]
    key = "fabric.storage.switches"
    assert less.value(key) < usual.value(key)
    with pytest.raises(InputError, match="has no 123 Gb/s ports"):
        fabric(**flags, storage_gbps=123)


def test_families_of_one_network_are_one_row_of_a_comparison() -> None:
    """For NICs of 800 Gb/s, eth-1600 and eth-800-102t have the same switches and optics. Families of
    Spectrum-6 and of co-packaged switches are compared too."""
    found = fabric(nodes=114, system="vr-nvl72", compare="all").frame("comparison")
    rows = found.set_index("fabric")
    fits = rows[rows["usd"].notna()]
    assert len(fits) == len(fits.drop_duplicates())
    why = rows.loc[["eth-1600", "eth-800-102t"], "why_not"].dropna().tolist()
    assert len(why) == 1
    assert why[0].startswith("the same network as eth-")
    assert {"ib-xdr-800-cpo", "spectrum-6-800", "spectrum-6-800-cpo"} <= set(fits.index)
    assert fits.loc["ib-xdr-800-cpo", "power_kw"] < fits.loc["ib-xdr-800", "power_kw"]
    assert fits.loc["ib-xdr-800-cpo", "transceivers"] == 114 * 18 * 8


def test_one_scale_up_domain_needs_no_network() -> None:
    """Eight B300 of a server, and 72 of a GB300 rack, are one NVLink domain."""
    for nodes, system, alone in (
        (1, "dgx-b300", True),
        (2, "dgx-b300", False),
        (1, "gb300-nvl72", True),
    ):
        found = fabric(nodes=nodes, system=system, fabric="ib-xdr-800")
        rows = found.tables["notes"].records() if "notes" in found.tables else []
        assert any("need no compute network" in str(row["note"]) for row in rows) is alone
    assert fabric(nodes=1, system="dgx-b300", fabric="ib-xdr-800").headline.startswith(
        "1 node with"
    )


def test_ports_of_a_node_on_the_out_of_band_network() -> None:
    """20 nodes in racks of four, five ports each and three power strips a rack: 23 ports a rack, so a
    switch of 48 ports serves two racks, and five racks need three."""
    request: dict[str, Any] = {"nodes": 20, "nics_per_node": 5, "nic_gbps": 200.0}
    request |= {"switch": "sn5600", "topology": "collapsed-pair"}
    assert fabric(**request).value("fabric.out_of_band.switches") == 2
    found = fabric(**request, out_of_band_ports=5)
    assert found.value("fabric.out_of_band.switches") == 3
    rows = {row["network"]: row for row in found.tables["side_networks"].records()}
    assert rows["out-of-band"]["node_links"] == 20 * 5 + 5 * 3
