"""Growth: links that stay against the list of both networks' cables, and purchases that add up to
the last network."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.fabric.topology.growth import Phase, kept_links, phases
from dcplan.fabric.topology.links import links
from dcplan.fabric.topology.networks import Attached, Network, Ports, tree
from dcplan.fabric.topology.wiring import Wiring

QUICK = settings(max_examples=60, deadline=None)
KINDS = st.sampled_from(["rail-optimized", "fat-tree", "rail-only"])
PORTS = st.builds(
    Ports,
    radix=st.sampled_from([8, 12, 16]),
    planes=st.sampled_from([1, 2]),
    nodes_per_su=st.sampled_from([1, 2, 4, 5, 6, 11]),
    leaf_spine=st.sampled_from([1.0, 2.0]),
    spine_core=st.sampled_from([1.0, 3.0]),
)
SIZES = st.lists(st.integers(1, 90), min_size=2, max_size=3, unique=True).map(sorted)
RAIL = "rail-optimized"


def _steps(sizes: list[int], rails: int, ports: Ports, kind: str) -> list[tuple[int, Network]]:
    """Networks of growing size; an example without one of them is passed over."""
    found = []
    for nodes in sizes:
        try:
            found.append((nodes, tree(Attached(nodes, rails), ports, kind)))
        except ValueError:
            assume(False)
    return found


def _pairs(wiring: Wiring, tier: str = "leaf-spine") -> Counter[tuple[int, int]]:
    """Lower and upper device of every link of a tier, from the list of cables."""
    found: Counter[tuple[int, int]] = Counter()
    for part in links(wiring):
        if part.tier == tier:
            # a node's NICs are rails: each is a device of its own
            lower = part.lower * 1000 + part.lower_port if tier == "node-leaf" else part.lower
            found.update(zip(lower.tolist(), part.upper.tolist(), strict=True))
    return found


TIERS = ("node-leaf", "leaf-spine", "spine-core")


def _links(network: Network) -> int:
    c = network.counts
    return c.node_leaf_links + c.leaf_spine_links + c.spine_core_links


def _stay(before: Network, after: Network) -> int:
    """Links of one plane that both lists have, of parallel ones as many as the shorter has."""
    assert before.wiring is not None
    assert after.wiring is not None
    return sum((_pairs(before.wiring, t) & _pairs(after.wiring, t)).total() for t in TIERS)


def _way(
    steps: list[tuple[int, Network]], settled: list[tuple[int, Network]], way: str
) -> list[Phase]:
    return [phase for phase in phases(steps, settled) if phase.way == way]


def _settled(
    steps: list[tuple[int, Network]], rails: int, ports: Ports, kind: str
) -> list[tuple[int, Network]]:
    """The same sizes, all in the tiers of the last."""
    return _steps([n for n, _ in steps], rails, replace(ports, tiers=steps[-1][1].plan.tiers), kind)


def _sums(bought: list[Phase]) -> tuple[int, ...]:
    return (
        sum(p.leaf for p in bought),
        sum(p.spine for p in bought),
        sum(p.core for p in bought),
        sum(p.node_links for p in bought),
        sum(p.between_links for p in bought),
    )


def _whole(network: Network) -> tuple[int, ...]:
    c = network.counts
    return c.leaf, c.spine, c.core, c.node_leaf_links, c.leaf_spine_links + c.spine_core_links


@pytest.mark.parametrize(
    ("sizes", "rails", "ports", "kind"),
    [
        pytest.param((32, 128), 8, Ports(64, nodes_per_su=32), RAIL, id="h100-1su-4su"),
        pytest.param((64, 96), 8, Ports(64, nodes_per_su=32), RAIL, id="h100-2su-3su"),
        pytest.param((256, 512), 8, Ports(64, nodes_per_su=32), RAIL, id="h100-two-to-three-tiers"),
        pytest.param(
            (64, 256), 8, Ports(128, planes=2, nodes_per_su=64), RAIL, id="b300-two-planes"
        ),
        pytest.param((72, 576), 8, Ports(144, nodes_per_su=72), RAIL, id="b300-xdr"),
        pytest.param((512, 2048), 8, Ports(64), "rail-only", id="rail-only"),
        pytest.param((300, 700), 4, Ports(32), "fat-tree", id="fat-tree-three-tiers"),
        pytest.param((8, 100), 8, Ports(64), "fat-tree", id="one-tier-to-two"),
        pytest.param((140, 160), 8, Ports(40, nodes_per_su=20), RAIL, id="a100-rail-groups"),
    ],
)
def test_links_that_stay_are_those_of_both_lists(
    sizes: tuple[int, int], rails: int, ports: Ports, kind: str
) -> None:
    (_, before), (_, after) = _steps(list(sizes), rails, ports, kind)
    assert before.wiring is not None
    assert after.wiring is not None
    stay = _stay(before, after)
    assert (
        kept_links(before.wiring, after.wiring)
        == (_pairs(before.wiring) & _pairs(after.wiring)).total()
    )
    steps = [(sizes[0], before), (sizes[1], after)]
    last = _way(steps, steps, "as needed")[1]
    copies = before.plan.planes * before.parallel
    assert last.recabled_links == _links(before) - stay * copies


@given(SIZES, st.integers(1, 4), PORTS, KINDS)
@QUICK
def test_links_that_stay_in_any_tree(sizes: list[int], rails: int, ports: Ports, kind: str) -> None:
    steps = _steps(sizes, rails, ports, kind)
    bought = _way(steps, steps, "as needed")
    assert bought[0].recabled_links == 0
    for ((_, before), (_, after)), phase in zip(itertools.pairwise(steps), bought[1:], strict=True):
        copies = before.plan.planes * before.parallel
        assert phase.recabled_links == _links(before) - _stay(before, after) * copies


def test_a_network_that_does_not_grow_keeps_all() -> None:
    wiring = tree(Attached(127, 8, 4), Ports(64, nodes_per_su=32), RAIL).wiring
    assert wiring is not None
    assert kept_links(wiring, wiring) == 1024


def test_a_superpod_of_one_unit_becomes_four() -> None:
    """RA-11333-001 V11, table 3: 8 leaves and 4 spines become 32 and 16.

    Leaves had 8 links to each of 4 spines and have 2 to each of 16 then: 8 x 4 x 2 = 64 of 256
    stay. Bought are 24 leaves, 12 spines, 768 links to nodes and 768 more between switches. All
    spine ports are taken before and after. With spines first, 16 x 64 ports wait for 24 x 32 links.
    """
    ports = Ports(64, nodes_per_su=32)
    steps = _steps([32, 128], 8, ports, RAIL)
    assert list(phases(steps, steps)) == [
        Phase("as needed", 32, 8, 4, 0, 256, 256, 0, 0, 0),
        Phase("as needed", 128, 24, 12, 0, 768, 768, 192, 0, 0),
        Phase("spines first", 32, 8, 16, 0, 256, 256, 0, 0, 768),
        Phase("spines first", 128, 24, 0, 0, 768, 768, 0, 0, 0),
    ]


@given(SIZES, st.integers(1, 4), PORTS, KINDS)
@QUICK
def test_purchases_add_up_to_the_last_network(
    sizes: list[int], rails: int, ports: Ports, kind: str
) -> None:
    steps = _steps(sizes, rails, ports, kind)
    settled, last = _settled(steps, rails, ports, kind), steps[-1][1]
    needed, first = _way(steps, settled, "as needed"), _way(steps, settled, "spines first")
    assert _sums(first) == _whole(last)
    assert [p.nodes for p in needed] == [p.nodes for p in first] == sizes
    spare = sum(p.spare_switches for p in needed)
    switches = sum(_sums(needed)[:3])
    assert switches - spare == last.counts.switches
    if not spare:
        assert _sums(needed) == _whole(last)
    for phase in needed + first:
        numbers = (phase.leaf, phase.spine, phase.core, phase.node_links, phase.between_links)
        assert (
            min(*numbers, phase.recabled_links, phase.spare_switches, phase.idle_spine_ports) >= 0
        )


@given(SIZES, st.integers(1, 4), PORTS, KINDS)
@QUICK
def test_spines_bought_first_are_never_recabled(
    sizes: list[int], rails: int, ports: Ports, kind: str
) -> None:
    steps = _steps(sizes, rails, ports, kind)
    first = _way(steps, _settled(steps, rails, ports, kind), "spines first")
    assert all(p.recabled_links == p.spare_switches == 0 for p in first)
    assert all(p.spine == p.core == 0 for p in first[1:])
    waiting = [p.idle_spine_ports for p in first]
    assert waiting == sorted(waiting, reverse=True)
    last = steps[-1][1]  # at the end both ways have the same network, and the same free ports
    c = last.counts
    assert waiting[-1] == c.spine * last.plan.spine_ports - c.leaf_spine_links - c.spine_core_links
