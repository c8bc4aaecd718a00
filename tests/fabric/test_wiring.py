"""Wiring and placement: every port once, every leaf to every spine of its pod, and closed forms
that match the list."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.fabric.floor.lengths import STOCK_M, lengths
from dcplan.fabric.floor.placement import Floor, Hall
from dcplan.fabric.floor.schedule import Cable, schedule
from dcplan.fabric.topology.links import links
from dcplan.fabric.topology.networks import Attached, Network, Ports, tree
from dcplan.fabric.topology.wiring import leaf_fills, leaf_ports, upper_fills

QUICK = settings(max_examples=60, deadline=None)
FLOOR = Floor(4, 10, 0.6, 3.0, 2.2, 2.0, 0.1, 8, 8, 8)
KINDS = st.sampled_from(["rail-optimized", "fat-tree", "rail-only"])
PORTS = st.builds(
    Ports,
    radix=st.sampled_from([8, 12, 16]),
    planes=st.sampled_from([1, 2]),
    nodes_per_su=st.sampled_from([1, 2, 4, 5, 6, 11]),
    leaf_spine=st.sampled_from([1.0, 2.0]),
    spine_core=st.sampled_from([1.0, 3.0]),
)


def _network(
    nodes: int, rails: int, ports: Ports, kind: str, management: int = 0
) -> Network | None:
    try:
        return tree(Attached(nodes, rails, management), ports, kind)
    except ValueError:
        return None


@given(st.integers(1, 90), st.integers(1, 4), PORTS, KINDS, st.integers(0, 3))
@QUICK
def test_every_port_has_one_cable_and_no_more_ports_are_used_than_there_are(
    nodes: int, rails: int, ports: Ports, kind: str, management: int
) -> None:
    network = _network(nodes, rails, ports, kind, management)
    if network is None or network.wiring is None:
        return
    plan, counts, copies = network.plan, network.counts, network.plan.planes * network.parallel
    ends: dict[str, set[tuple[int, int]]] = defaultdict(set)
    met: dict[int, Counter[int]] = defaultdict(Counter)
    number: Counter[str] = Counter()
    for part in links(network.wiring):
        number[part.tier] += part.lower.size
        low, high = part.tier.split("-")
        for a, p, b, q in zip(
            part.lower, part.lower_port, part.upper, part.upper_port, strict=True
        ):
            for end in ((f"{low} up", (int(a), int(p))), (f"{high} down", (int(b), int(q)))):
                assert end[1] not in ends[end[0]], "a port has two cables"
                ends[end[0]].add(end[1])
            if part.tier == "leaf-spine":
                met[int(a)][int(b)] += 1
    assert number["node-leaf"] * copies == counts.node_leaf_links
    assert number["leaf-spine"] * copies == counts.leaf_spine_links
    assert number["spine-core"] * copies == counts.spine_core_links
    most = {
        "leaf down": plan.radix if plan.tiers == 1 else plan.leaf_down,
        "leaf up": plan.leaf_up,
        "spine down": plan.spine_down,
        "spine up": plan.spine_up,
        "core down": plan.core_ports,
    }
    for side, ports_most in most.items():
        assert all(port < ports_most for _, port in ends[side]), side
    # every leaf has the same number of links to each spine of its pod
    for reached in met.values():
        assert len(set(reached.values())) == 1
        assert sum(reached.values()) == plan.leaf_up
    assert {s for c in met.values() for s in c} == set(range(counts.spine // copies))


@given(st.integers(1, 90), st.integers(1, 4), PORTS, KINDS, st.integers(0, 3))
@QUICK
def test_ports_in_use_are_those_of_the_list(
    nodes: int, rails: int, ports: Ports, kind: str, management: int
) -> None:
    network = _network(nodes, rails, ports, kind, management)
    if network is None or network.wiring is None:
        return
    wiring = network.wiring
    used: dict[str, Counter[int]] = defaultdict(Counter)
    for part in links(wiring):
        low, high = part.tier.split("-")
        used[f"{low} up"].update(part.lower.tolist())
        used[f"{high} down"].update(part.upper.tolist())
    assert leaf_ports(wiring).tolist() == [used["leaf down"][i] for i in range(wiring.leaf_count)]
    leaf = Counter((used["leaf down"][i], used["leaf up"][i]) for i in range(wiring.leaf_count))
    assert leaf == Counter({(f.down, f.up): f.switches for f in leaf_fills(wiring)})
    spines, cores = upper_fills(wiring.plan, wiring.leaf_count, wiring.groups)
    for name, fills, count in (
        ("spine", spines, wiring.spine_count),
        ("core", cores, wiring.core_count),
    ):
        listed = Counter((used[f"{name} down"][i], used[f"{name} up"][i]) for i in range(count))
        summed: Counter[tuple[int, int]] = Counter()
        for f in fills:
            summed[f.down, f.up] += f.switches
        assert listed == +summed


@given(
    st.integers(1, 90),
    st.integers(1, 4),
    PORTS,
    KINDS,
    st.sampled_from(["unit", "rack", "center"]),
    st.integers(1, 30),
    st.integers(0, 2),
)
@QUICK
def test_lengths_are_those_of_the_schedule(
    nodes: int, rails: int, ports: Ports, kind: str, leaf_at: str, per_row: int, managers: int
) -> None:
    network = _network(nodes, rails, ports, kind, managers)
    if network is None or network.wiring is None:
        return
    floor = Floor(4, per_row, 0.6, 3.0, 2.2, 2.0, 0.1, 8, 8, 8, leaf_at)
    hall = Hall(network.wiring, floor, network.plan.planes * network.parallel)
    listed = list(schedule(hall, network.plan.planes))
    for tier, found in lengths(hall).items():
        own = [c for c in listed if c.tier == tier]
        assert found.cables == len(own)
        assert (
            found.counts.tolist()
            == np.bincount([c.stock for c in own], minlength=STOCK_M.size + 1).tolist()
        )
        assert found.total_m == pytest.approx(sum(c.length_m for c in own), abs=0.006 * len(own))
        assert found.longest_m == pytest.approx(max(c.length_m for c in own), abs=0.006)


def test_two_devices_never_share_a_name_and_racks_hold_one_kind() -> None:
    network = tree(Attached(40, 4), Ports(16, planes=2, nodes_per_su=8), "rail-optimized")
    assert network.wiring is not None
    cables = list(schedule(Hall(network.wiring, FLOOR, 2), 2))
    ends = Counter((c.from_device, c.from_port) for c in cables) + Counter(
        (c.to_device, c.to_port) for c in cables
    )
    assert max(ends.values()) == 1
    racks: dict[str, set[str]] = defaultdict(set)
    for c in cables:
        racks[c.from_rack].add(c.from_device.split("-")[0])
        racks[c.to_rack].add(c.to_device.split("-")[0])
    assert all(len(kinds) == 1 for kinds in racks.values())
    leaves = {c.to_device for c in cables if c.tier == "node-leaf"}
    assert len(leaves) == network.counts.leaf


def test_first_cable_of_a_superpod() -> None:
    """Node 1 stands at the end of its unit of 8 racks, the leaves after the fourth: 4 racks and
    two drops, and 10 %."""
    network = tree(Attached(127, 8, 4), Ports(64, nodes_per_su=32), "rail-optimized")
    assert network.wiring is not None
    floor = Floor(4, 16, 0.6, 3.0, 2.2, 2.0, 0.1, 8, 8, 8)
    first = next(iter(schedule(Hall(network.wiring, floor), 1)))
    meters = round((2 * 2.2 + 4 * 0.6) * 1.1, 2)
    assert first == Cable(
        "node-leaf",
        "node-00001",
        "nic1",
        "R001-C001",
        "leaf-0001",
        "1",
        "R001-C005",
        meters,
        STOCK_M.tolist().index(10),
    )
