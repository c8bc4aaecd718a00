"""Power blocks under each redundancy, against the arithmetic of the topologies."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.facility.electrical.power import RULES, blocks_needed

QUICK = settings(max_examples=120, deadline=None)
REDUNDANT = ("n+1", "2n", "4n/3", "3n/2")


@pytest.mark.parametrize(
    ("redundancy", "installed_over_required"),
    # N 1, N+1 (n+1)/n, 3N/2 1.5, 4N/3 1.333, 2N 2; with n = 12 blocks of 2.5 MW for 30 MW
    [("n", 1.0), ("n+1", 13 / 12), ("3n/2", 1.5), ("4n/3", 4 / 3), ("2n", 2.0)],
)
def test_installed_over_required_is_the_topology_table(
    redundancy: str, installed_over_required: float
) -> None:
    blocks = blocks_needed(30.0, 2.5, redundancy)
    assert blocks * 2.5 / 30.0 == pytest.approx(installed_over_required)


@pytest.mark.parametrize(
    ("redundancy", "load_frac"),
    # the same table's second column, load of a module in normal operation: n/(n+1), 66.7 %, 75 %,
    # 50 %
    [("n", 1.0), ("n+1", 12 / 13), ("3n/2", 2 / 3), ("4n/3", 0.75), ("2n", 0.5)],
)
def test_normal_load_of_a_block_is_the_topology_table(redundancy: str, load_frac: float) -> None:
    assert 30.0 / (blocks_needed(30.0, 2.5, redundancy) * 2.5) == pytest.approx(load_frac)


def test_every_topology_is_in_the_tests() -> None:
    assert set(RULES) == {"n", *REDUNDANT}


@pytest.mark.parametrize(
    ("redundancy", "blocks"),
    # 31 MW on 2.5 MW blocks is 12.4: N 13, N+1 14, 4N/3 16.53 -> 17, 3N/2 18.6 -> 19, 2N two sides
    # of 13 -> 26
    [("n", 13), ("n+1", 14), ("4n/3", 17), ("3n/2", 19), ("2n", 26)],
)
def test_a_part_of_a_block_is_a_whole_block(redundancy: str, blocks: int) -> None:
    assert blocks_needed(31.0, 2.5, redundancy) == blocks


@pytest.mark.parametrize("redundancy", sorted(RULES))
def test_no_load_needs_no_block(redundancy: str) -> None:
    assert blocks_needed(0.0, 2.5, redundancy) == 0


@given(
    st.floats(0.01, 500.0),
    st.floats(0.0, 50.0),
    st.floats(0.1, 10.0),
    st.sampled_from(sorted(RULES)),
)
@QUICK
def test_blocks_never_fall_with_load(
    load: float, more: float, block: float, redundancy: str
) -> None:
    assert blocks_needed(load, block, redundancy) <= blocks_needed(load + more, block, redundancy)


@given(st.floats(3.0, 300.0), st.sampled_from(sorted(RULES)))
@QUICK
def test_installed_capacity_is_enough_and_no_block_too_many(load: float, redundancy: str) -> None:
    factor, spare = {
        "n": (1, 0),
        "n+1": (1, 1),
        "2n": (2, 0),
        "4n/3": (4 / 3, 0),
        "3n/2": (1.5, 0),
    }[redundancy]
    blocks = blocks_needed(load, 1.0, redundancy)
    step = 2 if redundancy == "2n" else 1  # a side gets a block only with the other
    assert blocks - spare >= factor * load - 1e-6
    assert blocks - spare - step < factor * load


@given(st.floats(3.0, 300.0), st.sampled_from(REDUNDANT))
@QUICK
def test_redundant_blocks_carry_a_large_load_with_one_lost(load: float, redundancy: str) -> None:
    assert blocks_needed(load, 1.0, redundancy) - 1 >= load - 1e-6


@pytest.mark.parametrize("redundancy", REDUNDANT)
@pytest.mark.parametrize("load", [0.4, 1.4, 2.2])
def test_redundant_blocks_carry_a_small_load_with_one_lost(load: float, redundancy: str) -> None:
    """What redundancy means: 0.4 MW on 1 MW blocks needs two, whatever the factor says."""
    assert blocks_needed(load, 1.0, redundancy) - 1 >= load
