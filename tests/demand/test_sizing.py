"""Sizes against the simulation itself, Erlang C, and what no pool serves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dcplan.demand.classes import JobClass, gang_factor, offered_accelerators
from dcplan.demand.refusal import Reason, RefusedError
from dcplan.demand.simulation import simulate
from dcplan.demand.sizing import accelerators_for

MIX = [
    JobClass("notebooks", 1 / 7, 2.0, 10.0, 1.0, priority=2, wait_h=0.1),
    JobClass("tunes", 8, 3.0, 2.0, 1.0, priority=1, wait_h=1.0),
    JobClass("bulk", 1, 4.0, 8.0, 1.0, preemptible=True, loss_h=0.5, wait_h=12.0),
]


def test_a_size_keeps_every_wait_and_a_smaller_pool_does_not() -> None:
    found = accelerators_for(MIX, step=8, seed=1)
    assert found.accelerators % 8 == 0
    assert all(c.meets(one) for c, one in zip(found.outcome.classes, MIX, strict=True))
    below = found.accelerators - max(8, math.ceil(found.se_accelerators / 8) * 8)
    short = simulate(MIX, below, seed=1, jobs=found.jobs)
    assert not all(c.meets(one) for c, one in zip(short.classes, MIX, strict=True))
    assert found.offered_accelerators == pytest.approx(20 / 7 + 48 + 32)
    assert accelerators_for(MIX, step=8, seed=1) == found


def test_single_accelerators_agree_with_erlang_c() -> None:
    """P(wait > t) = C exp(-(c - a) t / S); least c for P(wait > 0.1 h) <= 10 % at a = 50, S = 1 h."""
    load, least = 50.0, 0
    lost = 1.0
    for n in range(1, 200):
        lost = load * lost / (n + load * lost)
        waits = lost / (1.0 - load / n * (1.0 - lost))
        if n > load and waits * math.exp(-(n - load) * 0.1) <= 0.1:
            least = n
            break
    # run times here are lognormal with the spread of the exponential law, which many servers forgive
    one = JobClass("a", 1, 1.0, load, 1.0, wait_h=0.1)
    found = accelerators_for([one], seed=1, most_jobs=96_000)
    assert least == 58
    assert found.accelerators == pytest.approx(least, abs=1.5)


def test_sizes_grow_with_rates_and_shrink_with_lent_accelerators() -> None:
    sizes = []
    for f in (1.0, 1.5, 2.0):
        grown = [replace(c, jobs_per_h=c.jobs_per_h * f) for c in MIX]
        sizes.append(accelerators_for(grown, seed=1, most_jobs=6_000).accelerators)
    assert sizes == sorted(sizes)
    assert sizes[2] < 2.0 * sizes[0]  # a larger pool needs less in reserve
    night = np.where(np.arange(168) % 24 < 12, 40.0, 0.0)
    assert accelerators_for(MIX, lent=night, seed=1, most_jobs=6_000).accelerators < sizes[0]


def test_waits_fall_with_the_pool() -> None:
    pools = [simulate(MIX, c, seed=0, jobs=20_000) for c in (88, 96, 112, 160)]
    waits = [q.classes[1].wait_mean_h for q in pools]
    assert waits == sorted(waits, reverse=True)


def test_load_counts_what_is_left_over_beside_shares() -> None:
    # 0.3 of an accelerator: three on one, 10 h of work an hour hold 10 / 3
    assert offered_accelerators([JobClass("a", 0.3, 1.0, 10.0)]) == pytest.approx(10 / 3)
    # (1 x 1 + 64 x 1) / (1 + 8)
    assert gang_factor([JobClass("a", 1, 1.0, 1.0), JobClass("b", 8, 1.0, 1.0)]) == 65 / 9


ONE = JobClass("a", 8, 2.0, 3.0, wait_h=1.0)


@pytest.mark.parametrize(
    ("one", "most", "reason", "nearest"),
    [
        (ONE, 4, Reason.SIZE, 8),
        (replace(ONE, most_accelerators=4), math.inf, Reason.QUOTA_SIZE, 8),
        (replace(ONE, most_accelerators=40), math.inf, Reason.QUOTA_LOAD, None),
        (ONE, 48, Reason.LOAD, None),
        (replace(ONE, wait_h=0.0, wait_quantile=0.99), 64, Reason.WAIT, None),
        (replace(ONE, wait_h=0.1, most_accelerators=56), math.inf, Reason.QUOTA_WAIT, 80),
    ],
)
def test_a_refusal_has_its_reason_and_the_nearest_limit(one, most, reason, nearest) -> None:
    with pytest.raises(RefusedError) as caught:
        accelerators_for([one], most=most, seed=1)
    refusal = caught.value.refusal
    assert refusal.reason is reason
    assert refusal.value > refusal.limit or (refusal.value == refusal.limit == 48)
    assert math.isnan(refusal.nearest) if nearest is None else refusal.nearest == nearest
    assert "over" in str(refusal)


def test_a_mix_without_a_target_has_no_size() -> None:
    with pytest.raises(ValueError, match="no class has a wait_h"):
        accelerators_for([replace(ONE, wait_h=math.inf)])
