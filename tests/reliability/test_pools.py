"""Spare nodes that several runs share: tails by hand, and the longest wait of a run in a pool."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.reliability.job import Machine, Policy
from dcplan.reliability.outlook import outlook
from dcplan.reliability.spares import (
    PoolRule,
    down_quantile,
    longest_wait,
    most_covered,
    waiting_frac,
)

SHARES = st.sampled_from([0.0005, 0.002, 0.01, 0.05, 0.2])


def at_most(spares: int, nodes: int, share: float) -> float:
    """P(Binomial(nodes, share) <= spares), term by term."""
    terms = (
        math.comb(nodes, i) * share**i * (1.0 - share) ** (nodes - i) for i in range(spares + 1)
    )
    return sum(terms)


def test_four_runs_of_64_nodes_share_three_spares_by_hand() -> None:
    """Each node is in repair 0.24 % of the time. Alone, 64 nodes: P(0) = 0.8575, P(1) = 0.1320, so one spare
    covers 98.95 % and two 99.95 %. Together, 256 nodes of mean 0.6144: P(0) = 0.5406, P(1) = 0.3329,
    P(2) = 0.1021, P(3) = 0.0208, so two spares cover 97.56 % and three 99.64 %: 3 in place of 8.
    """
    share = 0.0024
    assert [round(at_most(k, 64, share), 4) for k in (0, 1, 2)] == [0.8575, 0.9895, 0.9995]
    assert [round(at_most(k, 256, share), 4) for k in (0, 2, 3)] == [0.5406, 0.9756, 0.9964]
    rule = PoolRule(8, share, 0.99)
    assert (4 * rule.spares(64), rule.spares(256)) == (8, 3)


def test_small_runs_may_need_a_spare_together() -> None:
    """Five nodes at 0.2 % are all up 99.004 % of the time, ten 98.02 %."""
    rule = PoolRule(8, 0.002, 0.99)
    assert (rule.spares(5), rule.spares(10)) == (0, 1)


@given(share=SHARES, spares=st.integers(0, 12))
def test_most_covered_is_the_inverse_of_the_quantile(share: float, spares: int) -> None:
    most = most_covered(spares, share, 0.99)
    assert down_quantile(most, share, 0.99) <= spares
    assert down_quantile(most + 1, share, 0.99) == spares + 1


@given(share=SHARES, nodes=st.integers(1, 300), more=st.integers(0, 1500))
def test_no_larger_pool_waits_longer(share: float, nodes: int, more: int) -> None:
    rule, whole = PoolRule(8, share, 0.99), nodes + more
    mean, spares = longest_wait(nodes, rule)
    wait = waiting_frac(whole * share, rule.spares(whole))
    assert wait <= waiting_frac(mean, spares) + 1e-12


MACHINE = Machine((1e-4, 2e-4, 3e-4), 1.5e-4, 0.0, 0.5, 8, 1, 12.0)
POLICY = Policy((0.1, 0.2, 0.3), 100.0, 2.0, 300.0, 1.0, (0.0, 0.0, 0.0), 1.0, 44.0, 0.99, 2.0)


def outlooks(machine: Machine = MACHINE, group: float = 8.0) -> list[tuple[float, int, float]]:
    """Spare accelerators, shared nodes and goodput of a run of 64 nodes, alone and in a pool."""
    found = []
    for policy in (POLICY, replace(POLICY, pooled=True)):
        x = outlook(machine, policy, np.array([512.0]), 1e12, np.array([group]), 30.0)
        goodput = float(np.asarray(x.goodput.value)[0])
        found.append((float(x.spares[0]), x.units[0].pooled_nodes, goodput))
    return found


def test_a_run_in_a_pool_waits_as_in_the_pool_with_the_longest_wait() -> None:
    """p = 1.5e-4 x 8 x 44 / 24 = 0.0022: the wait rises from that of one spare alone to that of the pool."""
    (own, none, alone), (same, nodes, shared) = outlooks()
    assert (own, same, none, nodes) == (8.0, 8.0, 0, 64)
    mean, spares = longest_wait(64, PoolRule(8, 0.0022, 0.99))
    outages = 2.0 / 8766.0
    before = 1.0 - outages - waiting_frac(64 * 0.0022, int(own) // 8)
    after = 1.0 - outages - waiting_frac(mean, spares)
    assert shared / alone == pytest.approx(after / before, rel=1e-9)
    assert shared < alone


def test_groups_of_several_nodes_keep_their_own_spares() -> None:
    domains = replace(MACHINE, domain_nodes=9)
    own, shared = outlooks(domains, group=32.0)
    assert own == shared
    assert shared[1] == 0
    assert outlooks(domains, group=8.0)[1][1] == 64
