"""Networks without scalable units: published and hand counts, and the cost that a plan assumes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dcplan.fabric.bom import Parts, bill
from dcplan.fabric.topology.clos import Counts
from dcplan.fabric.topology.connected import Nodes, connect, per_port, reach_ports
from dcplan.fabric.topology.design import ClosDesign, design
from dcplan.planning.problem.fabrics.fitted import fitted
from tests.planning.small import rack

SCHEDULED = ClosDesign(56, 2, 1, 36, 20, 128, 128)
"""Leaf switch of 36 ports of 400 Gb/s and 20 cell ports, spine switch of 128 cell ports."""
AMD = ClosDesign(38, 2, 1, 18, 20, 128, 128)
"""The same switches with ports of 800 Gb/s."""
SLINGSHOT = ClosDesign(64, 2, 1, 16, 31, 64)
PARTS = Parts(60e3, 60e3, 60e3, 1.0, 1.0, 1.0, 2.0, 800.0, 0.016, 2, 400.0, 0.009, 20.0)
RACK_UNITS = 36.0


@pytest.mark.parametrize(
    ("topology", "plan", "nodes", "leaf", "spine", "links"),
    [
        pytest.param("rail-only", design(64, 1), 64, 8, 0, 0, id="one switch a rail"),
        # 1,024 / 32 = 32 leaves a rail, 32 x 32 / 64 = 16 spines, eight times
        pytest.param("rail-only", design(64, 2), 1024, 256, 128, 8192, id="by hand"),
        # 33 leaves a rail need 33 x 32 / 64 = 16.5 spines; the next divisor of 32 is 32
        pytest.param("rail-only", design(64, 2), 1032, 264, 256, 8448, id="one leaf more"),
        # DeepSeek-AI, arXiv 2505.09343, table 3: eight planes, 16,384 endpoints, 768 switches
        pytest.param("rail-only", design(64, 2), 2048, 512, 256, 16384, id="DeepSeek"),
        # AMD MI3XX reference design of 2K: 1,152 ports of 800 Gb/s, 64 leaves, 10 spines
        pytest.param("scheduled", AMD, 144, 64, 10, 1280, id="AMD"),
        # 8,208 / 36 = 228 leaves would exceed the 128 ports of a spine; 4,608 / 36 = 128 fit
        pytest.param("scheduled", SCHEDULED, 576, 128, 20, 2560, id="full"),
        # Frontier: 74 groups of 32 switches, 74 x 32 x 31 / 2 links inside them
        pytest.param("dragonfly", SLINGSHOT, 4704, 2368, 0, 36704, id="Frontier"),
    ],
)
def test_counts(
    topology: str, plan: ClosDesign, nodes: int, leaf: int, spine: int, links: int
) -> None:
    counts, fills = connect(topology, plan, 32, [Nodes(nodes, 8)])
    assert (counts.leaf, counts.spine, counts.core) == (leaf, spine, 0)
    assert (counts.node_leaf_links, counts.leaf_spine_links) == (nodes * 8, links)
    assert sum(f.switches for tier in fills.tiers for f in tier) == counts.switches


def test_links_between_groups_fill_the_free_ports_up_to_a_taper_of_one() -> None:
    """74 groups of 512 ports: min(32 x 17 free ports, 512) / 73 = 7 links for each pair."""
    counts, _ = connect("dragonfly", SLINGSHOT, 1, [Nodes(4704, 8)])
    assert counts.spine_core_links == 7 * 74 * 73 // 2


def test_systems_have_rails_of_their_own() -> None:
    """Two systems on one design: the counts of both, added."""
    alone = [connect("rail-only", design(64, 2), 1, [Nodes(n, 8)])[0] for n in (100, 500)]
    both, _ = connect("rail-only", design(64, 2), 1, [Nodes(100, 8), Nodes(500, 8)])
    assert both == Counts(*(sum(getattr(c, x) for c in alone) for x in both.__dataclass_fields__))


@pytest.mark.parametrize(
    ("topology", "plan", "ports"),
    [
        pytest.param("rail-only", design(64, 2), 8 * 64 * 32, id="eight rails of 2,048"),
        pytest.param("scheduled", SCHEDULED, 128 * 36, id="one leaf a port of a spine"),
        # a group has 32 x 17 = 544 links to others, so 545 groups of 512 ports
        pytest.param("dragonfly", SLINGSHOT, 545 * 512, id="one link to each other group"),
    ],
)
def test_reach(topology: str, plan: ClosDesign, ports: int) -> None:
    assert reach_ports(topology, plan, 8) == ports
    connect(topology, plan, 1, [Nodes(ports // 8, 8)])
    with pytest.raises(ValueError, match=r"exceed|leave"):
        connect(topology, plan, 1, [Nodes(ports // 8 + 1, 8)])


def test_switches_and_links_of_a_port() -> None:
    """32 ports a leaf and half as many spines; a link to a node and one to a spine."""
    assert per_port("rail-only", design(64, 2)) == pytest.approx((1 / 32 + 1 / 64, 2.0))
    assert per_port("scheduled", SCHEDULED) == pytest.approx((1 / 36 + 20 / 36 / 128, 1 + 20 / 36))


DESIGNS = st.sampled_from(
    [
        ("rail-only", design(64, 1)),
        ("rail-only", design(64, 2)),
        ("rail-only", design(64, 3)),
        ("rail-only", design(128, 2, leaf_spine=3.0)),
        ("scheduled", SCHEDULED),
        ("dragonfly", SLINGSHOT),
    ]
)


@settings(max_examples=60, deadline=None)
@given(DESIGNS, st.sampled_from([16, 32, 72]), st.integers(1, 1500), st.floats(0.0, 1.0))
@example(("dragonfly", SLINGSHOT), 16, 1500, 1408 / 1500)
@example(("rail-only", design(128, 2, leaf_spine=3.0)), 16, 300, 192 / 300)
def test_the_exact_network_lies_between_both_costs_of_a_plan(
    made: tuple[str, ClosDesign], ports: int, most: int, part: float
) -> None:
    """Ideal x ports <= exact <= upper x ports + margin, also at sizes that were not counted."""
    topology, plan = made
    place = replace(
        rack("a", "wet", price=1e6, rated=40.0), ports=ports, rails=8, max_racks_unit=most
    )
    share, margin = fitted(topology, plan, PARTS, [place], 1, RACK_UNITS)
    count = max(round(part * min(most, reach_ports(topology, plan, 8) // ports)), 1)
    counts, fills = connect(topology, plan, 1, [Nodes(count * ports // 8, 8)])
    exact = bill(counts, PARTS, fills)
    for value, ideal, upper, rest in (
        (exact.capex_usd, share.usd, share.upper_usd, margin.usd),
        (exact.power_kw, share.kw, share.upper_kw, margin.kw),
        (exact.rack_units / RACK_UNITS, share.racks, share.upper_racks, margin.racks),
    ):
        assert ideal * count * ports <= value * (1 + 1e-9)
        assert value <= (upper * count * ports + rest) * (1 + 1e-9)
