"""Transceivers of a plan's network and of ``dcplan fabric``: the same parts, counts and prices."""

from __future__ import annotations

import pytest

from dcplan.answers.fabric.answer import fabric
from dcplan.answers.plan.answer import plan
from dcplan.planning.exact_network import Network, exact_network
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import FabricOption
from dcplan.scenario.load import load

POD = "cases/superpod-gb300"
NICS = 72
"""NICs of 800 Gb/s in a GB300 NVL72 rack."""
TREE = {"topology": "rail-optimized", "tiers": 2}


def planned(family: str, racks: int) -> tuple[Network, FabricOption]:
    sets = (f"fabric.id={family}", f"fleet.accelerators={racks * 72}")
    problem = build(load(POD, sets=sets)).problem
    option = problem.fabrics[0]
    needed = {place.key: racks for place in problem.placements}
    return exact_network(problem, option.hall, option.id, needed), option


def billed(family: str, racks: int) -> tuple[tuple[int, float], tuple[int, float]]:
    """Return count and price of the transceivers of nodes and of switches in ``fabric``."""
    rows = fabric(system="gb300-nvl72", nodes=racks, fabric=family, **TREE)
    bill = rows.frame("bill_of_materials")
    light = bill[bill["item"].str.startswith("transceivers")]
    nodes = light[light["item"].str.contains("in nodes")]
    other = light.drop(nodes.index)
    return (
        (int(nodes["count"].sum()), float(nodes["usd"].sum())),
        (int(other["count"].sum()), float(other["usd"].sum())),
    )


@pytest.mark.parametrize("racks", [16, 48, 128])
@pytest.mark.parametrize(
    ("family", "usd"),
    [
        ("eth-800-8-planes", 650.0),  # generic-800g-dsp carries eight links of 100G
        ("eth-800-102t-4-planes", 500.0),  # generic-800g-dr4 carries four of 200G
        ("ib-xdr-800", 500.0),  # one plane
    ],
)
def test_plan_and_fabric_buy_the_same_transceivers(family: str, usd: float, racks: int) -> None:
    """One transceiver for a NIC, whatever its planes: 128 racks x 72 = 9,216, not 73,728."""
    network, option = planned(family, racks)
    (parts,) = option.parts.values()
    counts = {role: n for (_, role), n in network.parts.items()}
    nodes, switches = billed(family, racks)
    assert nodes == (racks * NICS, pytest.approx(racks * NICS * usd))
    assert counts["node optic"] == nodes[0]
    assert counts["node optic"] * parts.node_optic_usd == pytest.approx(nodes[1])
    assert counts["switch optic"] == switches[0]
    assert counts["switch optic"] * parts.leaf_optic_usd == pytest.approx(switches[1])


@pytest.mark.parametrize("family", ["spectrum-x-800", "eth-1600"])
def test_a_node_has_the_transceiver_of_its_links(family: str) -> None:
    """Two planes of 400G in a twin cage; a NIC of 800G on switches of 1.6T takes 800G, not 1.6T."""
    network, option = planned(family, 48)
    (parts,) = option.parts.values()
    nodes, _ = billed(family, 48)
    counts = {role: n for (_, role), n in network.parts.items()}
    assert (counts["node optic"], counts["node optic"] * parts.node_optic_usd) == (
        nodes[0],
        pytest.approx(nodes[1]),
    )


def test_the_workbook_has_the_cord_that_links_share() -> None:
    """Eight links leave an 800G DR8 in two connectors, so four share a cord of the catalog."""
    _, option = planned("eth-800-8-planes", 16)
    (parts,) = option.parts.values()
    assert parts.cord_links == 4
    sets = ("fabric.id=eth-800-8-planes", "fleet.accelerators=1152")
    found = plan(scenario=POD, sets=sets)
    assert found.value("accelerators.total") == 1152
