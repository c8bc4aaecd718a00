"""Collectives over a domain and its rails: hand calculations, limits, and links that are counted
once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.fabric.collectives import all_to_all_s, group_rate, ring_half_s, tree_half_s

QUICK = settings(max_examples=80, deadline=None)
POWERS = st.sampled_from([1, 2, 4, 8, 16, 32, 64])


def _time(message_gb: float, ranks: float, gb_per_s: float, latency_s: float = 0.0) -> float:
    return float(ring_half_s(np.array(message_gb), np.array(ranks), gb_per_s, latency_s))


@pytest.mark.parametrize(
    ("message_gb", "ranks", "gb_per_s", "latency_s", "seconds"),
    [
        (1.0, 1, 50.0, 1e-3, 0.0),  # one rank sends nothing
        (8.0, 8, 50.0, 0.0, 0.14),  # 7/8 x 8 GB = 7 GB at 50 GB/s
        (8.0, 8, 50.0, 1e-3, 0.147),  # and 7 steps of 1 ms
        (0.0, 5, 50.0, 2e-6, 8e-6),  # latency alone: 4 steps
    ],
)
def test_ring_by_hand(
    message_gb: float, ranks: int, gb_per_s: float, latency_s: float, seconds: float
) -> None:
    assert _time(message_gb, ranks, gb_per_s, latency_s) == pytest.approx(seconds, rel=1e-12)


def test_all_reduce_bus_bandwidth_is_the_link_rate() -> None:
    """Two halves make an all-reduce; busbw = M / t x 2 (n - 1) / n (nccl-tests PERFORMANCE.md)."""
    message, ranks, rate = 16.0, 32.0, 50.0
    seconds = 2 * _time(message, ranks, rate)
    assert message / seconds * 2 * (ranks - 1) / ranks == pytest.approx(rate)


@given(st.floats(0.001, 1e3), st.integers(1, 10_000), st.floats(1.0, 1000.0), st.floats(0.0, 1e-4))
@QUICK
def test_ring_grows_with_ranks_and_stays_under_its_limit(
    message_gb: float, ranks: int, gb_per_s: float, latency_s: float
) -> None:
    here, next_ = (_time(message_gb, n, gb_per_s, latency_s) for n in (ranks, ranks + 1))
    assert here <= next_ * (1 + 1e-12)
    assert here <= message_gb / gb_per_s + (ranks - 1) * latency_s + 1e-12
    assert _time(2 * message_gb, ranks, gb_per_s) == pytest.approx(
        2 * _time(message_gb, ranks, gb_per_s)
    )


def test_arrays_are_answered_element_by_element() -> None:
    both = ring_half_s(np.array([50.0, 100.0]), np.array([2.0, 4.0]), 50.0)
    assert both == pytest.approx([0.5, 1.5])  # 1/2 x 50 / 50 and 3/4 x 100 / 50


def _tree(message: float, ranks: float, rate: float, latency_s: float = 0.0) -> float:
    return float(tree_half_s(*(np.array(x) for x in (message, ranks, rate, latency_s))))


@pytest.mark.parametrize(
    ("ranks", "steps"),
    [(1, 0), (2, 1), (3, 2), (8, 3), (9, 4), (1024, 10), (1025, 11)],  # ceil(log2 n)
)
def test_tree_steps_grow_with_the_logarithm(ranks: int, steps: int) -> None:
    assert _tree(0.0, ranks, 50.0, 1e-6) == pytest.approx(steps * 1e-6, rel=1e-12)


def test_tree_by_hand() -> None:
    # 7/8 of 8 GB at 50 GB/s are 0.14 s, and 3 steps of 1 ms
    assert _tree(8.0, 8, 50.0, 1e-3) == pytest.approx(0.143, rel=1e-12)


@given(st.floats(0.001, 1e3), st.integers(1, 10_000), st.floats(1.0, 1000.0), st.floats(0.0, 1e-4))
@QUICK
def test_tree_moves_a_ring_s_bytes_in_fewer_steps(
    message: float, ranks: int, rate: float, latency_s: float
) -> None:
    assert _tree(message, ranks, rate) == pytest.approx(_time(message, ranks, rate), rel=1e-12)
    assert _tree(message, ranks, rate, latency_s) <= _time(message, ranks, rate, latency_s) * (
        1 + 1e-12
    )
    assert _tree(message, ranks, rate, latency_s) <= _tree(message, ranks + 1, rate, latency_s) * (
        1 + 1e-12
    )


def _rate(
    ranks: float, stride: float, domain: float, up: float = 450.0, out: float = 50.0
) -> tuple[float, bool]:
    rate, leaves = group_rate(*(np.array(float(x)) for x in (ranks, stride, domain, up, out)))
    return float(rate), bool(leaves)


@pytest.mark.parametrize(
    ("ranks", "stride", "rate", "leaves"),
    [
        (8, 1, 450.0, False),  # all of one domain
        (2, 4, 450.0, False),  # ranks 0 and 4
        (1, 64, 450.0, False),  # alone: nothing leaves
        (16, 1, 400.0, True),  # 8 NICs of 50
        (16, 2, 200.0, True),  # 4 of a domain's ranks, the other group has the other NICs
        (16, 8, 50.0, True),
        (2, 8, 50.0, True),
        (16, 64, 50.0, True),  # never below one NIC
    ],
)
def test_group_rate_by_hand(ranks: int, stride: int, rate: float, leaves: bool) -> None:
    """Domains of 8 at 450 GB/s inside, one 50 GB/s NIC a rank."""
    assert _rate(ranks, stride, 8) == (rate, leaves)


def test_ring_is_never_faster_than_the_slowest_link_inside() -> None:
    assert _rate(64, 1, 32, up=450.0, out=50.0) == (450.0, True)  # 32 x 50 = 1,600 GB/s of NICs


@given(POWERS, POWERS, POWERS)
@QUICK
def test_groups_of_a_domain_never_share_a_nic(ranks: int, stride: int, domain: int) -> None:
    """Ranks 0..d-1 belong to groups (rank // (s n), rank mod s); their rings together have the d
    NICs.

    Groups of whole domains, as layouts of powers of two make them; the NICs are what limits (up is
    endless).
    """
    rate, leaves = _rate(ranks, stride, domain, up=1e9, out=1.0)
    groups = {(rank // (stride * ranks), rank % stride) for rank in range(domain)}
    if leaves:
        assert rate * len(groups) == domain
    else:
        assert len(groups) * ranks == domain or ranks == 1


@given(POWERS, POWERS, st.sampled_from([1, 2, 4, 8, 72]))
@QUICK
def test_a_larger_domain_never_slows_a_group(ranks: int, stride: int, domain: int) -> None:
    assert _rate(ranks, stride, 2 * domain)[0] >= _rate(ranks, stride, domain)[0]


def _send(
    ranks: float, copies: float, domain: float = 8.0, most: float = np.inf, **rates: float
) -> float:
    up, out = rates.get("up", 400.0), rates.get("out", 50.0)
    numbers = (1000.0, 2.0, copies, ranks, 1.0, domain, up, out)
    return float(all_to_all_s(*(np.array(float(x)) for x in numbers), most))


def test_one_rank_sends_nothing() -> None:
    assert _send(1, 8) == 0.0


def test_dispatch_inside_a_domain_by_hand() -> None:
    # 8 ranks, 2 copies: 7 x (1 - (7/8)^2) = 1.640625 others; 1,000 rows of 2 bytes at 400 byte/s
    assert _send(8, 2) == pytest.approx(1.640625 * 2000 / 400, rel=1e-12)


def test_dispatch_across_domains_sends_a_row_once_to_each() -> None:
    """32 ranks are 4 domains, 8 copies: 3 x (1 - (3/4)^8) = 2.6997 domains at 50 byte/s.

    Inside, 31 x (1 - (31/32)^8) = 6.953 ranks at 400 run at the same time and are shorter.
    """
    assert _send(32, 8) == pytest.approx(3 * (1 - 0.75**8) * 2000 / 50, rel=1e-12)
    assert _send(32, 8, out=1e6) == pytest.approx(31 * (1 - (31 / 32) ** 8) * 2000 / 400, rel=1e-12)


def test_node_limited_routing_sends_to_no_more_domains() -> None:
    # DeepSeek-V3 (arXiv 2412.19437, section 2.1.2): 8 experts of 256 in at most 4 nodes; 8 nodes of
    # 8
    free, limited = _send(64, 8), _send(64, 8, most=4)
    assert free == pytest.approx(7 * (1 - (7 / 8) ** 8) * 2000 / 50, rel=1e-12)  # 4.6 nodes
    assert limited == pytest.approx(4 * 2000 / 50, rel=1e-12)
    assert _send(64, 8, most=64) == free


@given(st.integers(1, 256), st.integers(1, 16))
@QUICK
def test_no_more_ranks_are_reached_than_copies_or_others_exist(ranks: int, copies: int) -> None:
    reached = _send(ranks, copies, domain=256.0) * 400 / 2000
    assert reached <= min(ranks - 1, copies) + 1e-9
    assert _send(ranks, copies + 1, domain=256.0) >= _send(ranks, copies, domain=256.0)
    assert _send(ranks + 1, copies, domain=256.0) >= _send(ranks, copies, domain=256.0) * (
        1 - 1e-12
    )


def test_very_many_copies_reach_every_other_rank() -> None:
    assert _send(8, 1e4) == pytest.approx(7 * 2000 / 400, rel=1e-9)
    assert _send(8, 64) > 0.999 * 7 * 2000 / 400  # 1 - (7/8)^64 = 0.9998


@given(POWERS, st.integers(1, 8), POWERS)
@QUICK
def test_a_larger_domain_never_slows_a_dispatch(ranks: int, copies: int, domain: int) -> None:
    assert _send(ranks, copies, domain=2.0 * domain) <= _send(
        ranks, copies, domain=float(domain)
    ) * (1 + 1e-12)
