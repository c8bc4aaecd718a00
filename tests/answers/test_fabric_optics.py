"""Transceivers of split NICs, shared cords, and types of optics in the bill of materials."""

from __future__ import annotations

import re

import pytest

import dcplan
from dcplan.catalog.loader import load
from dcplan.catalog.schema import Fabric, Optic
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import links_per_cord, parts_of, unlike_lanes
from dcplan.result import Result

TYPED = re.compile(r"\b(?:2x)?(?:SR|DR|FR|LR)[48]\b")


def _bill(result: Result, item: str) -> dict[str, object]:
    rows = result.tables["bill_of_materials"].records()
    return next(row for row in rows if str(row["item"]).startswith(item))


@pytest.fixture(scope="module")
def helios() -> Result:
    """1,024 accelerators with two NICs of 800 Gb/s in four planes each."""
    return dcplan.fabric(
        nodes=1024,
        nics_per_node=2,
        nic_gbps=800,
        planes=4,
        switch="tomahawk6-box",
        topology="rail-only",
        tiers=2,
    )


def test_a_split_nic_has_one_transceiver(helios: Result) -> None:
    # SemiAnalysis on MI455X: two 800G DR4 at the NICs of an accelerator
    nodes = _bill(helios, "transceivers in nodes")
    assert (nodes["count"], nodes["type"], nodes["fibers"]) == (2048, "DR4", 8)
    assert _bill(helios, "transceivers in leaves to nodes")["type"] == "DR8"


def test_links_of_one_connector_share_a_cord(helios: Result) -> None:
    # eight networks of 1,024 links of 200 Gb/s; a DR4 connector has four of them: 8,192 / 4 cords.
    # Rounding up adds less than one cord for each stock length.
    rows = [
        r
        for r in helios.tables["bill_of_materials"].records()
        if str(r["item"]).startswith("node-leaf cables")
    ]
    cords = sum(int(str(r["count"])) for r in rows)
    assert 2048 <= cords < 2048 + len(rows)
    assert {(r["type"], r["fibers"]) for r in rows} == {("MPO-12", 8)}


def test_a_transceiver_for_each_link_can_be_asked_for() -> None:
    found = dcplan.fabric(
        nodes=64, nics_per_node=8, nic_gbps=800, planes=2, switch="sn5610", nic_ports_per_cage=1
    )
    assert _bill(found, "transceivers in nodes")["count"] == 64 * 8 * 2
    usual = dcplan.fabric(nodes=64, nics_per_node=8, nic_gbps=800, planes=2, switch="sn5610")
    assert _bill(usual, "transceivers in nodes")["count"] == 64 * 8


def test_links_per_cord() -> None:
    rows = load(()).table("optics", Optic)
    dr8, twin, dr4 = rows["generic-800g-dsp"], rows["mms4x00-nm"], rows["mms4x00-ns400"]
    assert isinstance(dr8, Optic)
    assert isinstance(twin, Optic)
    assert isinstance(dr4, Optic)
    assert links_per_cord([(dr8, 8), (dr8, 8)]) == 4  # 16 fibers in two connectors, 2 a link
    assert links_per_cord([(twin, 2), (dr4, 1)]) == 1
    assert links_per_cord([(dr8, 1), (dr8, 1)]) == 0.5  # 16 fibers: two cords of 8
    assert (
        links_per_cord([(dr8, 1), (dr8, 4)]) == 1
    )  # a link of 200 Gb/s: 4 fibers of one connector


def test_types_agree_with_the_names_of_the_makers() -> None:
    for row in load(()).table("optics", Optic).values():
        assert isinstance(row, Optic)
        if row.kind in ("transceiver", "lpo", "lro", "cpo"):
            assert row.type, row.id
            assert row.fibers, row.id
            named = TYPED.findall(row.name)
            if "twin 2x" in row.name and named and row.vendor == "NVIDIA":
                assert row.type.startswith("2x"), row.id
            if named and "2x800G" not in row.name:
                assert set(named) <= set(row.type.split("/")), row.id
            lanes = sum(
                int(part[-1]) * (2 if part.startswith("2x") else 1)
                for part in row.type.split("/")[:1]
            )
            parallel = row.type.lstrip("2x").startswith(("SR", "DR"))
            pairs = 2 if row.type.startswith("2x") else 1
            assert row.fibers == (2 * lanes if parallel else 2 * pairs), row.id


def test_most_nodes_of_the_b300_superpod() -> None:
    # 144 ports in two tiers: 18 units of 72 nodes (B300 XDR reference architecture, table 3)
    found = dcplan.fabric(nodes=288, system="dgx-b300", fabric="ib-xdr-800")
    assert found.metrics["fabric.most_nodes"].value == 1296


def test_planes_of_102t_switches_save_a_tier() -> None:
    """16,416 NICs of 800 Gb/s: 128 ports connect 8,192 in two tiers and 512 ports 131,072, so four
    planes of 200 Gb/s have two tiers. Leaves with 256 links each: ceil(16,416 / 256) = 65 a plane."""
    rows = dcplan.fabric(
        nodes=114, system="vr-nvl72", compare="spectrum-6-800,spectrum-6-800-4-planes"
    )
    found = rows.frame("comparison").set_index("fabric")
    planes, single = found.loc["spectrum-6-800-4-planes"], found.loc["spectrum-6-800"]
    assert planes["switches"] < single["switches"]
    assert planes["usd"] < single["usd"]
    one = dcplan.fabric(
        nodes=114, system="vr-nvl72", fabric="spectrum-6-800-4-planes", topology="fat-tree"
    )
    assert one.value("fabric.leaf_switches") == 4 * 65
    assert one.value("fabric.core_switches") == 0
    nodes = _bill(one, "transceivers in nodes")
    assert nodes["count"] == 114 * 144


def test_davisson_has_no_transceivers_in_the_switch() -> None:
    found = dcplan.fabric(nodes=128, system="dgx-b300", fabric="eth-800-102t-cpo")
    assert found.value("fabric.transceivers") == 128 * 8


def test_uplinks_with_few_divisors_have_a_note() -> None:
    """AMD's 1:1.16 with seven nodes of eight NICs a leaf: 56 ports down, ceil(56 x 1.16) = 65 up. 37
    leaves need 37 x 65 / 128 = 18.8 spines; 65 is divided by 5, 13 and 65, 66 by 22."""
    flags = {"nodes": 256, "system": "mi355x-8-dlc", "switch": "tomahawk5-box"}
    few = dcplan.fabric(**flags, topology="fat-tree", endpoints_per_leaf=56, leaf_uplinks=65)
    assert few.value("fabric.spine_switches") == 65
    notes = [str(row["note"]) for row in few.tables["notes"].records()]
    assert any("--endpoints-per-leaf 56 --leaf-uplinks 66 needs 22" in note for note in notes)
    taken = dcplan.fabric(**flags, topology="fat-tree", endpoints_per_leaf=56, leaf_uplinks=66)
    assert taken.value("fabric.spine_switches") == 22


def test_a_twin_cage_has_the_transceiver_of_its_rate() -> None:
    """Two NICs of 400 Gb/s in a cage of 800: the family's own 800G part, not the 1.6T of the switch."""
    log = InputLog(load(()))
    family = log.catalog.get("fabrics", "eth-800-102t", Fabric)
    box = family.leaf
    found = parts_of(log, family, (box, box, box), 400.0, 2)
    own = log.catalog.get("optics", "generic-800g-dr4", Optic)
    assert own.price_usd is not None
    assert (found.node_optic_ports, found.node_optic_usd) == (2, own.price_usd.value)


def test_trays_of_nvl72_have_three_management_ports() -> None:
    """54 ports of 1G in each of eight racks (enterprise design GB300 NVL72): two switches of 48 ports a
    rack. A rack of servers has one port for each."""
    found = dcplan.fabric(nodes=8, system="gb300-nvl72", fabric="ib-xdr-800")
    assert found.value("fabric.out_of_band.switches") == 16
    rows = {row["network"]: row for row in found.tables["side_networks"].records()}
    strips = 3 * 8  # power strips of a rack
    assert rows["out-of-band"]["node_links"] == 8 * 54 + strips


@pytest.mark.parametrize(
    ("system", "family", "fits"),
    [
        ("mi355x-8-dlc", "eth-1600", False),  # DR4 at 400G: 8 fibers; a quarter of DR8 at 1.6T: 4
        ("mi355x-8-dlc", "spectrum-6-800-cpo", False),  # half of an 800G engine of four lanes
        ("mi355x-8-dlc", "eth-400", True),  # half of an 800G DR8: 8 fibers
        ("dgx-b300", "eth-800-102t", True),  # four lanes of 200G at both ends
        ("gb300-nvl72", "ib-xdr-800-cpo", True),
    ],
)
def test_lanes_of_both_ends_have_one_speed(system: str, family: str, fits: bool) -> None:
    found = dcplan.fabric(nodes=16, system=system, fabric=family)
    notes = found.frame("notes")["note"] if "notes" in found.tables else []
    assert any("form no link" in note for note in notes) is not fits
    listed = dcplan.fabric(nodes=16, system=system, compare="all").frame("comparison")
    why = listed.set_index("fabric").loc[family, "why_not"]
    assert ("form no link" in str(why)) is not fits


def test_a_link_has_lanes_of_one_speed() -> None:
    """DR4 of 400 Gb/s: 100 Gb/s a pair of fibers; DR8: 100 at 800 Gb/s and 200 at 1.6 Tb/s."""
    optics = load().table("optics", Optic)
    dr4, dr8, slow = (optics[f"generic-{x}"] for x in ("400g-dr4", "1600g-dr8", "800g-dsp"))
    assert unlike_lanes(dr4, slow) == ""
    assert unlike_lanes(dr4, dr8).endswith("100 and 200 Gb/s a pair of fibers")
    assert unlike_lanes(dr4, optics["mcp7y00-dac"]) == ""  # copper: not known
