"""`dcplan fabric`: the metric keys, sums of the bill, what is left out filled in, and what a bad request says."""

from __future__ import annotations

from typing import Any

import pytest

from dcplan.answers.fabric import fabric
from dcplan.errors import InputError

POD: dict[str, Any] = {
    "nodes": 127, "nics_per_node": 8, "nic_gbps": 400, "switch": "qm9700", "nodes_per_su": 32, "management_links": 4,
}  # fmt: skip


def test_superpod_of_127_nodes() -> None:
    """RA-11333-001, tables 4 and 7: 32 leaves, 16 spines, 1,020 and 1,024 links; half of the narrower at 400 Gb/s."""
    found = fabric(**POD)
    keys = ("leaf", "spine", "core", "node_leaf_links", "leaf_spine_links", "spine_core_links", "switches")
    assert [found.value(k) for k in keys] == [32, 16, 0, 1020, 1024, 0, 48]
    assert found.value("bisection_tbps") == pytest.approx(1020 / 2 * 0.4)


def test_failures_and_paths_of_the_pod() -> None:
    """2,044 links at 0.00404 stops a year and 48 switches at 0.08 (Llama 3, Azure); 32 uplinks of each leaf."""
    found = fabric(**POD)
    assert found.value("link_failures_per_day") == pytest.approx(2044 * 0.00404 / 365)
    assert found.value("switch_failures_per_day") == pytest.approx(48 * 0.08 / 365)
    low, high = (getattr(found.metrics["link_failures_per_day"], side) for side in ("low", "high"))
    assert low < found.value("link_failures_per_day") < high
    assert found.value("path_diversity") == 32
    two_planes = fabric(nodes=64, nics_per_node=8, nic_gbps=800, radix=128, port_gbps=400, planes=2, nodes_per_su=64)
    assert two_planes.value("path_diversity") == 2 * 64
    blocking = fabric(nodes=96, nics_per_node=8, nic_gbps=400, radix=64, port_gbps=400, oversubscription=3)
    assert blocking.value("path_diversity") == 16, "48 ports of 64 to nodes"
    assert fabric(nodes=8, nics_per_node=8, nic_gbps=400, radix=64, port_gbps=400).value("path_diversity") == 1


def test_bill_sums_to_the_metrics() -> None:
    found = fabric(**POD)
    rows = found.frame("bill")
    assert rows["usd"].sum() == pytest.approx(found.value("capex_usd"))
    assert rows["power_kw"].sum() == pytest.approx(found.value("power_kw"))
    optics = rows[rows["item"].str.contains("transceivers")]["count"].sum()
    assert optics == found.value("transceivers")


def test_system_and_family_fill_what_is_left_out() -> None:
    found = fabric(nodes=576, system="dgx-b300", fabric="ib-xdr-800")
    assert [found.value(k) for k in ("leaf", "spine", "node_leaf_links")] == [64, 36, 4608]
    assert found.value("usd_per_accelerator") == pytest.approx(found.value("capex_usd") / 4608)
    racks = fabric(nodes=128, system="gb300-nvl72", fabric="ib-xdr-800")
    assert [racks.value(k) for k in ("leaf", "spine", "node_leaf_links")] == [128, 72, 9216]


def test_two_planes_share_the_nic() -> None:
    found = fabric(nodes=64, nics_per_node=8, nic_gbps=800, radix=128, port_gbps=400, planes=2, nodes_per_su=64)
    assert [found.value(k) for k in ("leaf", "spine", "leaf_spine_links")] == [16, 8, 1024]
    assert "capex_usd" not in found.metrics
    assert found.warnings[0]["code"] == "price"


def test_scenario_s_menu_and_the_verb_price_alike() -> None:
    """The plan's own network of the same size: 3,312 ports on NDR in three tiers."""
    found = fabric(nodes=46, system="gb200-nvl72", fabric="ib-ndr-400", tiers=3)
    assert found.value("node_leaf_links") == 46 * 72
    assert found.value("capex_usd") / (46 * 72) == pytest.approx(6000, rel=0.5)


def test_scheduled_fabric_of_amd() -> None:
    """2,304 ports of 400 Gb/s: 64 leaves of 36, 10 spines of 128 x 800.

    A twin transceiver for two NIC links, one at each end of a cell link: 1,152 + 2 x 1,280.
    """
    found = fabric(nodes=288, nics_per_node=8, nic_gbps=400, fabric="eth-400-scheduled")
    assert [found.value(k) for k in ("leaf", "spine", "leaf_spine_links")] == [64, 10, 1280]
    rows = found.frame("bill").set_index("item")["count"]
    assert rows["switch transceivers"] == 1152 + 2560
    assert found.value("bisection_tbps") == pytest.approx(2304 * 0.4 / 2)


def test_frontier() -> None:
    """74 groups, four links between each pair: 10,804 global links, taper 1.753 (glennklockwood.com/garden)."""
    found = fabric(nodes=9408, nics_per_node=4, nic_gbps=200, fabric="slingshot-200", links_per_pair=4)
    keys = ("switches", "leaf_spine_links", "spine_core_links", "node_leaf_links")
    assert [found.value(k) for k in keys] == [2368, 36704, 10804, 37632]
    assert found.value("taper") == pytest.approx(1.753, abs=5e-4)
    wider = fabric(nodes=9408, nics_per_node=4, nic_gbps=200, fabric="slingshot-200")
    assert 1 <= wider.value("taper") < 1.753


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"nic_gbps": 800}, "no 800 Gb/s ports"),
        ({"switch": "qm9701"}, "no switches row 'qm9701'"),
        ({"switch": None}, "--switch, --radix or --fabric is needed"),
        ({"nics_per_node": None}, "--nics-per-node is needed"),
        ({"topology": "rail-optimised"}, "one of rail-optimized"),
        ({"nodes": 0}, "0 nodes"),
        ({"oversubscription": 0.0}, "0: 0.1 to 1000"),
        ({"tiers": 1}, "do not form one network"),
        ({"switch": None, "radix": 63}, "radix 63 is odd"),
        ({"switch": None, "radix": 64, "port_gbps": 200.0}, "faster than a port of 200"),
        ({"topology": "torus"}, "one of rail-optimized"),
        ({"topology": "scheduled"}, "needs a family"),
        ({"fabric": "slingshot-200", "switch": None, "nic_gbps": 200, "links_per_pair": 600}, "600 are asked for"),
    ],
)
def test_bad_networks_name_the_rule(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        fabric(**(POD | changed))
    assert any(words in p.cause for p in caught.value.problems)


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as caught:
        fabric(nodes=0, switch="nothing", topology="star")
    assert len(caught.value.problems) >= 4
