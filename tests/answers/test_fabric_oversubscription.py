"""Oversubscription and free ports in ``dcplan fabric``."""

from __future__ import annotations

from typing import Any

import pytest

from dcplan.answers.fabric.answer import fabric


def test_oversubscription_is_in_the_bandwidth() -> None:
    """3:1 at the leaf leaves a third of 400 Gb/s across it: 50 x 0.95 / 3."""
    found = fabric(nodes=96, nics_per_node=8, nic_gbps=400, switch="qm9700", oversubscription=3)
    rows = found.frame("bandwidth").set_index("level")
    assert rows.loc["pod", "gb_per_s"] == pytest.approx(50 * 0.95 / 3)
    assert rows.loc["pod", "latency_us"] == pytest.approx(2.8 + 2 * 0.45)


def test_empty_ports_are_said() -> None:
    """Units of 144 trays on leaves of 64 ports: 144 of 192 ports a rail are used."""
    found = fabric(nodes=128, system="gb300-nvl72", fabric="spectrum-x-800", nodes_per_su=144)
    assert found.frame("notes")["note"].str.contains("6,144 of 24,576 node ports").any()
    # with an unlisted protocol it is said, too
    other = fabric(nodes=128, system="mi300x-8", fabric="ib-ndr-400")
    assert other.frame("notes")["note"].str.contains("infiniband").any()


def test_units_fill_the_leaves_and_save_a_tier_in_the_comparison_too() -> None:
    """110 GB300 racks on two planes of 128-port switches: 16 units of 126 nodes need
    16 x 4 x 2 = 128 leaves a plane, which the 128 ports of a spine connect: 2 x (128 + 64) = 384
    switches in two tiers. Units of 144 nodes need three tiers and USD 125 M."""
    alone = fabric(nodes=110, system="gb300-nvl72", fabric="spectrum-x-800")
    assert alone.value("fabric.switches") == 384
    assert alone.value("fabric.core_switches") == 0
    assert 50e6 < alone.value("fabric.capex_usd") < 60e6
    compared = fabric(nodes=110, system="gb300-nvl72", compare="spectrum-x-800,eth-800")
    rows = compared.frame("comparison").set_index("fabric")
    assert rows.loc["spectrum-x-800", "usd"] == alone.value("fabric.capex_usd")
    assert rows.loc["spectrum-x-800", "usd"] < rows.loc["eth-800", "usd"]
    assert compared.frame("notes")["note"].str.startswith("spectrum-x-800: scalable units").any()


def test_oversubscription_takes_the_ports_that_it_frees() -> None:
    """120 GB300 racks at 7:1 on 144 ports: 126 ports a leaf go to nodes, so 18 units of 126 nodes
    have 18 x 4 = 72 leaves instead of 120; at 2:1 units of 5 racks
    do not fill 96 ports, so rails share leaves: 2,160 x 4 / 96 = 90."""
    flags: dict[str, Any] = {"nodes": 120, "system": "gb300-nvl72", "fabric": "ib-xdr-800"}
    seven = fabric(**flags, oversubscription=7)
    assert seven.value("fabric.leaf_switches") == 72
    assert fabric(**flags, oversubscription=2).value("fabric.leaf_switches") == 90
    assert fabric(**flags).value("fabric.leaf_switches") == 120


def test_a_requested_unit_or_topology_stays() -> None:
    """With --nodes-per-su 144 the three tiers of 1,016 switches stay."""
    flags: dict[str, Any] = {"nodes": 110, "system": "gb300-nvl72", "fabric": "spectrum-x-800"}
    assert fabric(**flags, nodes_per_su=144).value("fabric.switches") == 1016
    few: dict[str, Any] = {"nodes": 9, "system": "dgx-h100", "fabric": "ib-ndr-400"}
    assert fabric(**few, topology="rail-optimized").value("fabric.leaf_switches") == 8
    # 72 links on leaves of 32 ports: 3 leaves, and 96 uplinks on 2 spines of 64 ports
    assert fabric(**few).value("fabric.switches") == 5


def test_an_oversubscribed_network_costs_less() -> None:
    """1,024 links of each plane at 2:1: 14 leaves of 128 ports (13 where endpoints fill leaf after
    leaf), and five spines for their 40 uplinks; 16 and 8 without oversubscription."""
    request: dict[str, Any] = {"nodes": 128, "system": "dgx-b300", "fabric": "spectrum-x-800"}
    full, less = fabric(**request), fabric(**request, oversubscription=2.0)
    assert full.value("fabric.switches") == 2 * (16 + 8)
    assert less.value("fabric.spine_switches") == 2 * 5
    assert less.value("fabric.capex_usd") < full.value("fabric.capex_usd")
    grown = fabric(**request, oversubscription=2.0, growth_nodes=(256,))
    assert grown.value("fabric.leaf_spine_links") == 42 * grown.value("fabric.leaf_switches")
