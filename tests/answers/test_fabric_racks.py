"""Racks by weight and power, media that change nothing, the order of bandwidth rows, and the
out-of-band network."""

from __future__ import annotations

from typing import Any

import pytest

from dcplan.answers.fabric.answer import fabric
from dcplan.answers.fabric.inventory import inventory
from dcplan.errors import InputError

POD: dict[str, Any] = {"nodes": 128, "system": "dgx-b300", "fabric": "ib-xdr-800"}


def _most_nodes(**flags: Any) -> int:
    """Most nodes in one rack of the cable list."""
    racks: dict[str, set[str]] = {}
    for one in inventory(fabric(**POD, **flags)).cables:
        if one.cable.tier == "node-leaf":
            racks.setdefault(one.cable.from_rack, set()).add(one.cable.from_device)
    return max(len(nodes) for nodes in racks.values())


def test_power_of_a_rack_lowers_its_nodes() -> None:
    """A DGX B300 is rated 14.5 kW: 30 kW take two, 44 kW three."""
    assert _most_nodes(rack_kw_max=30.0) == 2
    assert _most_nodes(rack_kw_max=44.0) == 3


def test_weight_and_power_of_network_racks_lower_their_switches() -> None:
    """36 U take nine Q3400-RA of 4 U; of 60 kg each, 300 kg take five, so one rack has five at
    most."""
    for flags, most in (({}, 9), ({"rack_kg_max": 300.0}, 5)):
        racks: dict[str, set[str]] = {}
        for one in inventory(fabric(**POD, leaf_placement="center", **flags)).cables:
            if one.cable.tier == "leaf-spine":
                racks.setdefault(one.cable.from_rack, set()).add(one.cable.from_device)
        assert max(len(leaves) for leaves in racks.values()) == most


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            {"nodes_per_rack": 4, "rack_kw_max": 30.0},
            "4 nodes of dgx-b300 in one rack: 58.0 kW of 30",
        ),
        ({"rack_kw_max": 5.0}, "1 x dgx-b300 in one rack: 14.5 kW of 5 kW"),
        ({"rack_kg_max": 50.0}, "1 x q3400-ra in one rack: 60.0 kg of 50 kg"),
        ({"system": "gb300-nvl72", "nodes": 8, "rack_kw_max": 100.0}, "18 nodes of gb300-nvl72"),
    ],
)
def test_racks_over_their_limits_are_refused(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        fabric(**{**POD, **flags})
    assert words in caught.value.problems[0].cause


@pytest.mark.parametrize("media", ["aoc", "reach"])
def test_media_that_change_nothing_are_said_in_headline_and_notes(media: str) -> None:
    plain, found = fabric(**POD), fabric(**POD, media=media)
    assert found.value("fabric.capex_usd") == plain.value("fabric.capex_usd")
    assert found.headline.endswith(f"; --media {media} changes no link")
    notes = list(found.frame("notes")["note"])
    assert f"--media {media} changes no link: every link has the parts of --media family" in notes
    assert "changes no link" not in plain.headline


def test_media_that_change_the_bill_have_no_such_remark() -> None:
    found = fabric(**POD, media="lpo")
    assert found.value("fabric.capex_usd") != fabric(**POD).value("fabric.capex_usd")
    assert "changes no link" not in found.headline


def test_the_nearest_level_is_the_first_row() -> None:
    """A Helios domain of 72 is nearer than a leaf switch that has 21 of its accelerators or fewer."""
    rows = fabric(nodes=14, system="mi455x-helios-72", fabric="eth-800").frame("bandwidth")
    assert rows.iloc[0]["level"] == "scale-up domain"
    assert rows.iloc[1]["accelerators"] < rows.iloc[0]["accelerators"]
    assert rows["switch_hops"].is_monotonic_increasing


@pytest.mark.parametrize(
    ("system", "nodes", "accelerators", "alone"),
    [
        ("gb200-nvl4", 1, 4, True),
        ("gb200-nvl4", 8, 4, False),  # chips of a domain of 72, in servers that no NVLink joins
        ("h100-pcie-8", 1, 2, True),  # one server, whose bridges join pairs
        ("gb300-nvl72", 1, 72, True),
        ("gb300-nvl72", 2, 72, False),
    ],
)
def test_one_server_or_rack_scale_system_needs_no_compute_network(
    system: str, nodes: int, accelerators: int, alone: bool
) -> None:
    found = fabric(nodes=nodes, system=system, fabric="eth-800")
    row = found.frame("bandwidth").iloc[0]
    assert (row["level"], row["accelerators"]) == ("scale-up domain", accelerators)
    notes = found.frame("notes")["note"] if "notes" in found.tables else []
    assert any("need no compute network" in note for note in notes) is alone


def test_uplinks_of_the_out_of_band_network_follow_the_ratio() -> None:
    """48 ports of 1 Gb/s over two uplinks of 100 Gb/s are 0.24; 0.12 takes four, and 0.48 one."""
    links = {}
    for ratio in (None, 0.12, 0.24, 0.48):
        flags = {} if ratio is None else {"out_of_band_oversubscription": ratio}
        row = fabric(**POD, **flags).frame("side_networks").set_index("network").loc["out-of-band"]
        links[ratio] = row["links_between"] / row["leaf_switches"]
    assert links == {None: 2, 0.12: 4, 0.24: 2, 0.48: 1}


def test_out_of_band_network_of_another_rate_and_switch() -> None:
    flags = {"out_of_band_gbps": 100.0, "out_of_band_switch": "sn4600c"}
    row = fabric(**POD, **flags).frame("side_networks").set_index("network").loc["out-of-band"]
    assert row["switch"] == "sn4600c"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"out_of_band_gbps": 10.0}, "sn2201 has no 10 Gb/s ports; it has 1, 100"),
        ({"out_of_band_oversubscription": 0.05}, "needs 10 uplinks of 100 Gb/s, sn2201 has 4"),
        ({"out_of_band_switch": "sn220"}, "no switches row"),
    ],
)
def test_out_of_band_flags_without_ports_are_refused(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        fabric(**POD, **flags)
