"""Bill of materials: each part once, nothing lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.fabric.bom import Bill, Parts, bill
from dcplan.fabric.clos import Counts, design, size

PARTS = Parts(
    leaf_usd=30_000.0,
    spine_usd=31_000.0,
    core_usd=32_000.0,
    leaf_kw=0.7,
    spine_kw=0.8,
    core_kw=0.9,
    switch_units=2.0,
    leaf_optic_usd=1_200.0,
    leaf_optic_kw=0.017,
    leaf_optic_ports=2,
    node_optic_usd=900.0,
    node_optic_kw=0.009,
    cable_usd=100.0,
)
COUNTS = st.builds(Counts, *[st.integers(0, 5000)] * 6)
QUICK = settings(max_examples=60, deadline=None)


def test_dgx_h100_superpod_of_4_units() -> None:
    """RA-11333-001 V11, tables 7 and 8: 48 switches whose 48 x 32 = 1,536 cages are all filled.

    Ideal network: 1,024 + 2 x 1,024 ports in use, two a cage. As built (127 nodes) 1,016 node-leaf and 1,024
    leaf-spine cables are 2,040.
    """
    assert bill(size(design(64, 2), 32, 1024), PARTS).switch_transceivers == 1536
    built = bill(size(design(64, 2), 32, 127 * 8), PARTS)
    assert (built.switches, built.cables) == (48, 2040)


def test_three_tier_bill_by_hand() -> None:
    """3 leaves, 2 spines, 1 core; 10 node links, 6 leaf-spine, 4 spine-core.

    Switch ports in use 10 + 2 x (6 + 4) = 30, two a transceiver: 15. Cables 10 + 6 + 4 = 20.
    USD: 3 x 30,000 + 2 x 31,000 + 32,000 = 184,000; 15 x 1,200 = 18,000; 10 x 900 = 9,000; 20 x 100 = 2,000.
    kW: 3 x 0.7 + 2 x 0.8 + 0.9 = 4.6; 15 x 0.017 = 0.255; 10 x 0.009 = 0.09.
    """
    found = bill(Counts(3, 2, 1, 10, 6, 4), PARTS)
    assert found == Bill(6, 15, 10, 20, pytest.approx(213_000.0), pytest.approx(4.945), 12.0)


def test_half_filled_cage_needs_a_whole_transceiver() -> None:
    assert bill(Counts(1, 0, 0, 3, 0, 0), PARTS).switch_transceivers == 2


@given(COUNTS)
@QUICK
def test_optics_power_is_counted_once(counts: Counts) -> None:
    with_optics = bill(counts, PARTS).power_kw
    without = bill(counts, replace(PARTS, leaf_optic_kw=0.0, node_optic_kw=0.0)).power_kw
    # a link has two ends, a node-leaf link one of them in the node
    ends = counts.node_leaf_links + 2 * (counts.leaf_spine_links + counts.spine_core_links)
    optics = -(-ends // 2) * 0.017 + counts.node_leaf_links * 0.009
    assert with_optics - without == pytest.approx(optics, rel=1e-9, abs=1e-6)
    assert without == pytest.approx(0.7 * counts.leaf + 0.8 * counts.spine + 0.9 * counts.core, abs=1e-6)


@given(COUNTS, COUNTS)
@QUICK
def test_two_networks_cost_the_sum_of_both(a: Counts, b: Counts) -> None:
    parts = replace(PARTS, leaf_optic_ports=1)  # with twin cages only the last half-filled one may differ
    one, two = bill(a, parts), bill(b, parts)
    both = bill(
        Counts(
            a.leaf + b.leaf,
            a.spine + b.spine,
            a.core + b.core,
            a.node_leaf_links + b.node_leaf_links,
            a.leaf_spine_links + b.leaf_spine_links,
            a.spine_core_links + b.spine_core_links,
        ),
        parts,
    )
    for name in ("switches", "switch_transceivers", "node_transceivers", "cables", "capex_usd", "power_kw"):
        assert getattr(both, name) == pytest.approx(getattr(one, name) + getattr(two, name), rel=1e-9), name
    assert both.rack_units == one.rack_units + two.rack_units


def test_an_empty_network_is_free() -> None:
    assert bill(Counts(0, 0, 0, 0, 0, 0), PARTS) == Bill(0, 0, 0, 0, 0.0, 0.0, 0.0)
