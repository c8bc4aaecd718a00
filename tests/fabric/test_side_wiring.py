"""Wiring of side networks: every port at most once, as many links as the size says."""

from __future__ import annotations

from collections import Counter

import pytest

from dcplan.fabric.side_networks import Side, in_band, out_of_band, storage
from dcplan.fabric.side_wiring import node_links, ports_down, switch_links

CASES: list[tuple[str, int, Side, int]] = [
    ("storage of 127 nodes", 127, storage(127, 2, 32, 64, 4 / 3, 48, 1), 64),
    ("storage on one switch", 20, storage(20, 2, 32, 64, 4 / 3, 8, 1), 64),
    ("storage of 4,096 nodes", 4096, storage(4096, 2, 72, 64, 4 / 3, 1536, 1), 64),
    ("in-band of 127 nodes", 127, in_band(127, 2, 20, 64, 4, 2, 2), 64),
    ("in-band pair", 40, in_band(40, 2, 20, 64, 4, 2, 2), 64),
    ("in-band of 4,000 nodes", 4000, in_band(4000, 2, 20, 64, 4, 2, 2), 64),
]


@pytest.mark.parametrize(
    ("nodes", "side", "radix"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_every_port_has_one_link(nodes: int, side: Side, radix: int) -> None:
    taken: Counter[tuple[str, int, int]] = Counter()
    own = list(node_links(side, nodes))
    for a in own:
        taken["leaf", a.upper, a.upper_port] += 1
    between = list(switch_links(side))
    for tier, b in between:
        taken["spine" if tier == "core" else "leaf", b.lower, b.lower_port] += 1
        taken["leaf" if tier == "peer" else tier, b.upper, b.upper_port] += 1
    assert max(taken.values()) == 1
    assert all(port < radix for _, _, port in taken)
    counts = {"leaf": side.leaf, "spine": side.spine, "core": side.core}
    assert all(number < counts[kind] for kind, number, _ in taken)
    assert len(own) == side.node_links
    assert len(between) == side.between_links
    assert {(a.lower, a.lower_port) for a in own} == {(n, i) for n in range(nodes) for i in (0, 1)}


@pytest.mark.parametrize("at", [0, 3, 4])
def test_two_links_of_a_node_are_on_different_switches(at: int) -> None:
    """Four storage leaves of 63 and 64 links, six in-band leaves and a pair have room for it."""
    _, nodes, side, _ = CASES[at]
    ends = {(a.lower, a.lower_port): a.upper for a in node_links(side, nodes)}
    assert all(ends[n, 0] != ends[n, 1] for n in range(nodes))


def test_out_of_band_ports_have_no_spines() -> None:
    side = out_of_band(317, 223, 32, 7, 48, 4, 2)
    assert len(list(ports_down(side))) == 317
    assert list(switch_links(side)) == []
