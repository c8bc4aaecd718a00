"""Laws of a Clos network that hold for every size."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.fabric.topology.clos import Counts, leaves, size
from dcplan.fabric.topology.design import ClosDesign, design
from dcplan.fabric.topology.networks import Attached, Ports, tree
from dcplan.fabric.topology.pods import pods

RADIX = st.sampled_from([32, 36, 64, 72, 128, 144, 256])
OVERSUBSCRIPTION = st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0, 7.0])
QUICK = settings(max_examples=80, deadline=None)


def _network(plan: ClosDesign, fill: float) -> tuple[int, Counts]:
    most = plan.radix if plan.tiers == 2 else plan.spine_down * plan.radix
    count = max(1, round(most * fill))
    return count, size(plan, count, count * plan.leaf_down)


@pytest.mark.parametrize("radix", [32, 64, 128, 144])
def test_nonblocking_leaf_splits_its_ports_in_two_halves(radix: int) -> None:
    plan = design(radix, 2)
    assert plan.leaf_down == plan.leaf_up == radix // 2


@pytest.mark.parametrize(
    ("ratio", "down", "up"),
    # 64 ports: 3:1 is 48 and 16, 7:1 is 56 and 8; 2:1 could be 42 and 21, but 21 uplinks are shared
    # evenly by 1, 3, 7 or 21 spines, and 20 by 1, 2, 4, 5, 10 or 20
    [(1.0, 32, 32), (3.0, 48, 16), (7.0, 56, 8), (2.0, 40, 20)],
)
def test_leaf_ports_follow_the_oversubscription(ratio: float, down: int, up: int) -> None:
    plan = design(64, 2, leaf_spine=ratio)
    assert (plan.leaf_down, plan.leaf_up) == (down, up)


@given(RADIX, OVERSUBSCRIPTION, OVERSUBSCRIPTION)
@QUICK
def test_no_tier_is_more_oversubscribed_than_asked(
    radix: int, leaf_spine: float, spine_core: float
) -> None:
    plan = design(radix, 3, leaf_spine=leaf_spine, spine_core=spine_core)
    assert plan.leaf_down + plan.leaf_up <= radix
    assert plan.leaf_down <= leaf_spine * plan.leaf_up + 1e-9
    assert plan.spine_down <= spine_core * plan.spine_up + 1e-9


@given(RADIX, OVERSUBSCRIPTION, st.floats(0.01, 1.0), st.integers(1, 8))
@QUICK
def test_two_tiers_give_every_leaf_equal_links_to_every_spine(
    radix: int, ratio: float, fill: float, planes: int
) -> None:
    plan = design(radix, 2, planes=planes, leaf_spine=ratio)
    count, counts = _network(plan, fill)
    spines = counts.spine // planes
    assert plan.leaf_up % spines == 0
    # no spine has more links than ports, and one divisor fewer would not do
    assert count * plan.leaf_up // spines <= radix
    fewer = [s for s in range(1, spines) if plan.leaf_up % s == 0]
    assert all(count * plan.leaf_up / s > radix for s in fewer)


@given(RADIX, OVERSUBSCRIPTION, OVERSUBSCRIPTION, st.floats(0.0, 1.0))
@QUICK
def test_three_tiers_have_no_more_links_than_ports(
    radix: int, leaf_spine: float, spine_core: float, fill: float
) -> None:
    plan = design(radix, 3, leaf_spine=leaf_spine, spine_core=spine_core)
    count, counts = _network(plan, fill)
    assert counts.leaf_spine_links == count * plan.leaf_up
    assert counts.leaf_spine_links <= counts.spine * plan.spine_down
    assert counts.spine_core_links <= counts.core * radix
    # links above the spines keep the ratio asked for, and one core fewer would not carry them
    assert counts.spine_core_links * plan.spine_down >= counts.leaf_spine_links * plan.spine_up
    assert counts.spine_core_links > (counts.core - 1) * radix
    # every leaf of a pod has equal links to every spine of it, and full pods have no port to spare
    for pod in pods(plan, count):
        assert plan.leaf_up % pod.spines == 0
        assert (
            pod.spine_down * pod.spines == pod.leaves * plan.leaf_up <= pod.spines * plan.spine_down
        )


@given(RADIX, st.floats(0.0, 1.0))
@QUICK
def test_nonblocking_network_carries_every_endpoint_to_the_core(radix: int, fill: float) -> None:
    _, counts = _network(design(radix, 3), fill)
    assert counts.node_leaf_links == counts.leaf_spine_links <= counts.spine_core_links


@given(st.integers(1, 4000), st.integers(0, 200), st.sampled_from([1, 4, 8]), st.integers(1, 150))
@QUICK
def test_leaves_never_fall_with_nodes_and_always_hold_them(
    nodes: int, more: int, rails: int, nodes_per_su: int
) -> None:
    few = leaves(nodes, rails, nodes_per_su, 32)
    assert few <= leaves(nodes + more, rails, nodes_per_su, 32)
    assert few * 32 >= nodes * rails


@given(st.sampled_from([2, 3]), OVERSUBSCRIPTION, st.integers(1, 63))
@QUICK
def test_switches_and_links_never_fall_with_leaves(tiers: int, ratio: float, count: int) -> None:
    plan = design(64, tiers, leaf_spine=ratio)
    less, more = size(plan, count, count), size(plan, count + 1, count + 1)
    for name in ("leaf", "spine", "core", "leaf_spine_links", "spine_core_links", "switches"):
        assert getattr(less, name) <= getattr(more, name), name


@given(st.sampled_from([2, 3]), st.integers(1, 64), st.integers(2, 8))
@QUICK
def test_planes_multiply_everything(tiers: int, count: int, planes: int) -> None:
    one, many = (size(design(64, tiers, planes=p), count, 7) for p in (1, planes))
    single = (
        one.leaf,
        one.spine,
        one.core,
        one.node_leaf_links,
        one.leaf_spine_links,
        one.spine_core_links,
    )
    assert many == Counts(*(n * planes for n in single))


def test_a_unit_is_bought_whole() -> None:
    # 32 of the 72 nodes of a unit still need all 8 leaves and 4 spines
    plan = design(144, 2)
    count = leaves(nodes=32, rails=8, nodes_per_su=72, leaf_down=plan.leaf_down)
    assert count == leaves(72, 8, 72, plan.leaf_down) == 8
    assert size(plan, count, 32 * 8).spine == 4


def test_rails_share_leaves_when_the_unit_is_smaller_than_a_leaf() -> None:
    # 5 nodes in units of 4: 8 nodes bought, 64 endpoints, two leaves of 32
    assert leaves(nodes=5, rails=8, nodes_per_su=4, leaf_down=32) == 2


def test_no_leaves_is_no_network() -> None:
    assert size(design(64, 3), 0, 0) == Counts(0, 0, 0, 0, 0, 0)


def test_two_tiers_end_at_the_ports_of_a_spine() -> None:
    assert size(design(64, 2), 64, 2048).spine == 32
    with pytest.raises(ValueError, match="65 leaves exceed the 64 ports of a spine"):
        size(design(64, 2), 65, 2080)


def test_three_tiers_end_at_their_reach() -> None:
    assert size(design(64, 3), 2048, 65536).core == 1024
    with pytest.raises(ValueError, match="2049 leaves exceed a three-tier network of radix 64"):
        size(design(64, 3), 2049, 65568)


def test_one_tier_is_one_switch() -> None:
    assert size(design(64, 1), 1, 64) == Counts(1, 0, 0, 64, 0, 0)
    # a second switch of a single tier has no way to the first: the docstring promises ValueError
    with pytest.raises(ValueError, match="2 leaves"):
        size(design(64, 1), 2, 128)


@pytest.mark.parametrize(
    ("endpoints", "ratio"),
    # 48 endpoints non-blocking need 48 uplinks, 64 ports leave 16; 80 endpoints do not even fit
    [(48, 1.0), (80, 1.0), (64, 3.0)],
)
def test_endpoints_that_break_the_asked_oversubscription_are_refused(
    endpoints: int, ratio: float
) -> None:
    with pytest.raises(ValueError, match="endpoints"):
        design(64, 2, endpoints_per_leaf=endpoints, leaf_spine=ratio)


@pytest.mark.parametrize("radix", [64, 128, 144])
@pytest.mark.parametrize("ratio", [1.5, 2.0, 3.0, 4.0])
def test_oversubscription_never_needs_more_switches(radix: int, ratio: float) -> None:
    """At the same size: leaves have more ports to nodes, and no more uplinks."""
    for nodes in (radix // 8 + 1, 64, 100, 128, 200, 256, 512, 1024):
        full = tree(Attached(nodes, 8), Ports(radix), "fat-tree").counts
        less = tree(Attached(nodes, 8), Ports(radix, leaf_spine=ratio), "fat-tree")
        assert less.counts.switches <= full.switches
        assert less.plan.leaf_down <= ratio * less.plan.leaf_up


def test_uplinks_that_spines_share_evenly() -> None:
    """1,024 links at 2:1 on 128 ports: 84 and 42 are 13 leaves and ceil(13 x 42 / 128) = 5, so six
    spines; 85 and 43 are 13 leaves and 43 spines, as 43 is a prime number."""
    ports = Ports(128, leaf_spine=2.0)
    even = tree(Attached(128, 8), ports, "fat-tree").counts
    assert (even.leaf, even.spine) == (13, 6)
    prime = tree(Attached(128, 8), replace(ports, endpoints_per_leaf=85), "fat-tree").counts
    assert (prime.leaf, prime.spine) == (13, 43)
