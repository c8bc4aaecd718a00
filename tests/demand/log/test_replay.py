"""Replays of jobs: hand calculations, a second simulation, queueing theory, and properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.demand.log.nodes import Nodes
from dcplan.demand.log.replay import replay
from dcplan.demand.log.work import Rules, Work, work_of
from tests.demand.log.plain import Plain


def drawn(seed: int, jobs: int, *, priorities: int = 1, truth: bool = True) -> Work:
    random = np.random.default_rng(seed)
    submit = np.round(np.cumsum(random.exponential(10.0, jobs)))
    run = np.round(random.lognormal(3.5, 1.2, jobs)) + 1.0
    limit = run if truth else np.round(run * random.uniform(1.0, 5.0, jobs))
    units = random.choice([1, 1, 1, 2, 4, 8], jobs)
    priority = random.integers(0, priorities, jobs)
    return work_of(submit, run, units, limit_s=limit, priority=priority)


@pytest.mark.parametrize("order", ["backfill", "fifo"])
@pytest.mark.parametrize("seed", range(12))
def test_waits_equal_those_of_a_second_simulation(seed: int, order: str) -> None:
    work = drawn(seed, 250, priorities=1 + seed % 3, truth=bool(seed % 2))
    columns = (work.submit_s, work.run_s, work.limit_s, work.units, work.priority)
    rows = [tuple(x) for x in zip(*(c.tolist() for c in columns), strict=True)]
    expected = Plain(rows, 12, order == "backfill").waits()
    found = replay(work, 12, 12, Rules(order, depth=10_000))  # type: ignore[arg-type]
    assert found.wait_s.tolist() == pytest.approx(expected, abs=1e-9)
    assert max(expected) > 0.0


def test_a_reservation_is_kept_on_nodes() -> None:
    """Two nodes of 4. Each runs a job of 3 until 100 s. A job of 8 comes at 10 s. A job of one unit
    for 1,000 s comes at 20 s: it fits on either node, but the head needs both nodes at 100 s."""
    jobs = work_of([0, 0, 10, 20, 30], [100, 100, 50, 1000, 60], [3, 3, 8, 1, 1])
    assert replay(jobs, 8, 4, Rules()).wait_s.tolist() == [0, 0, 90, 130, 0]


def test_backfill_next_to_a_reservation() -> None:
    """Three nodes of 4, all with a job of 4 until 50, 100 and 200 s. The head needs 8: nodes 0 and 1
    at 100 s. A job of 4 for 1,000 s would take node 0 at 50 s and may not; one of 50 s may."""
    jobs = work_of([0, 0, 0, 1, 2, 3], [50, 100, 200, 10, 1000, 50], [4, 4, 4, 8, 4, 4])
    assert replay(jobs, 12, 4, Rules()).wait_s.tolist() == [0, 0, 0, 99, 108, 47]


def test_a_gang_waits_for_whole_nodes_while_enough_is_idle() -> None:
    """Two nodes of 4: single jobs of 3 on each until 10 s and 20 s. Five units for the next job: one
    whole node and one unit. At 10 s a node is idle and the other has one idle unit."""
    jobs = work_of([0, 0, 1], [10, 20, 5], [3, 3, 5])
    assert replay(jobs, 8, 4, Rules()).wait_s.tolist() == [0, 0, 9]
    assert replay(work_of([0, 0, 1], [10, 20, 5], [3, 3, 8]), 8, 4, Rules()).wait_s[2] == 19
    assert replay(jobs, 8, 8, Rules()).wait_s.tolist() == [0, 0, 9]


def test_a_job_of_higher_priority_stops_the_latest_preemptible_one() -> None:
    """Two preemptible jobs of 2 on 4 units since 0 and 10 s. One of higher priority stops the second
    at 30 s and runs for 10 s. The stopped job waits until 40 s and repeats 15 of its 20 s."""
    jobs = work_of(
        [0, 10, 30], [100, 90, 10], [2, 2, 2], priority=[0, 0, 1], preemptible=[True, True, False]
    )
    found = replay(jobs, 4, 4, Rules(loss_s=15.0))
    assert found.stops == 1
    assert found.wait_s.tolist() == [0, 10, 0]
    again = work_of([0, 40], [100, 1], [2, 4], priority=[0, 0])
    assert replay(again, 4, 4, Rules()).wait_s.tolist() == [0, 60]


def test_nothing_is_stopped_if_it_would_not_be_enough() -> None:
    jobs = work_of(
        [0, 0, 1], [50, 60, 5], [2, 2, 4], priority=[0, 0, 1], preemptible=[True, False, False]
    )
    found = replay(jobs, 4, 4, Rules())
    assert found.stops == 0
    assert found.wait_s.tolist() == [0, 0, 59]


def test_a_pool_at_its_quota_blocks_nobody() -> None:
    jobs = work_of([0, 1, 2], [100, 100, 100], [4, 4, 4], group=[0, 0, 1])
    found = replay(jobs, 12, 12, Rules("fifo", quota=(4, 8)))
    assert found.wait_s.tolist() == [0, 99, 0]


def test_jobs_that_never_fit_are_counted_and_have_no_wait() -> None:
    found = replay(work_of([0, 1], [10, 10], [9, 4]), 8, 4, Rules())
    assert found.never_fits == 1
    assert math.isnan(found.wait_s[0]) and found.wait_s[1] == 0.0  # noqa: PT018
    assert replay(work_of([0], [1], [8]), 8, 8, Rules(quota=(4,))).never_fits == 1


def test_a_replay_ends_early_with_too_many_late_jobs() -> None:
    jobs = work_of(np.zeros(100), np.ones(100), np.ones(100, dtype=int))
    assert replay(jobs, 1, 1, Rules(), late_s=5.0, most_late=10).gave_up
    assert not replay(jobs, 1, 1, Rules(), late_s=5.0, most_late=94).gave_up
    assert not replay(jobs, 1, 1, Rules(), late_s=5.0, most_late=0, count_from=100).gave_up


def test_the_mean_wait_of_single_servers_is_that_of_erlang_c() -> None:
    """M/M/10 at 80 %: P(W > 0) = 0.409, mean wait 0.409 / (10 - 8) = 0.2046 run times
    (Kleinrock, Queueing Systems 1, 3.5). 400,000 jobs: 3 %."""
    random = np.random.default_rng(5)
    jobs = 400_000
    submit = np.cumsum(random.exponential(1.0 / 8.0, jobs))
    work = work_of(submit, random.exponential(1.0, jobs), np.ones(jobs, dtype=int))
    found = replay(work, 10, 10, Rules("fifo"))
    assert float(found.wait_s.mean()) == pytest.approx(0.2046, rel=0.03)
    assert found.used_frac == pytest.approx(0.8, rel=0.01)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    per_node=st.sampled_from([1, 4, 8]),
    order=st.sampled_from(["backfill", "fifo"]),
)
def test_no_moment_uses_more_than_the_cluster_and_every_job_starts(
    seed: int, per_node: int, order: str
) -> None:
    work = drawn(seed, 120, truth=bool(seed % 2))
    found = replay(work, 16, per_node, Rules(order))  # type: ignore[arg-type]
    start = work.submit_s + found.wait_s
    assert np.all(found.wait_s >= 0.0)
    at = np.concatenate([start, start + work.run_s])
    step = np.concatenate([work.units, -work.units])
    ordered = np.lexsort((step, at))
    assert int(np.cumsum(step[ordered]).max()) <= 16


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), units=st.integers(8, 40))
def test_a_strict_line_waits_no_longer_on_more_accelerators(seed: int, units: int) -> None:
    work = drawn(seed, 100)
    small = replay(work, units, units, Rules("fifo")).wait_s
    large = replay(work, units + 1, units + 1, Rules("fifo")).wait_s
    assert np.all(large <= small + 1e-9)


def test_backfill_shortens_the_mean_wait_of_a_strict_line() -> None:
    work = drawn(3, 2_000)
    strict = replay(work, 16, 16, Rules("fifo"))
    easy = replay(work, 16, 16, Rules("backfill"))
    assert easy.wait_s.mean() < strict.wait_s.mean()
    assert easy.backfilled > 0


def test_work_must_be_sorted() -> None:
    with pytest.raises(ValueError, match="sorted"):
        work_of([1.0, 0.0], [1.0, 1.0], [1, 1])


def test_a_job_whose_patience_is_over_runs_elsewhere() -> None:
    """One unit. Jobs at 0, 1 and 2 s of 100 s each; after 50 s the second and the third leave, and a
    job that comes at 60 s starts at 100 s."""
    jobs = work_of([0, 1, 2, 60], [100, 100, 100, 5], [1, 1, 1, 1])
    found = replay(jobs, 1, 1, Rules(patience_s=50.0))
    assert found.gone.tolist() == [False, True, True, False]
    assert found.wait_s[3] == 40.0
    assert np.isnan(found.wait_s[1:3]).all()
    kept = replay(jobs, 1, 1, Rules(patience_s=50.0, leaves_units=0))
    assert not kept.gone.any()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), patience_s=st.sampled_from([0.0, 100.0, 1_000.0]))
def test_nobody_waits_longer_than_the_patience(seed: int, patience_s: float) -> None:
    work = drawn(seed, 150)
    found = replay(work, 8, 8, Rules(patience_s=patience_s))
    stayed = ~found.gone
    assert np.all(found.wait_s[stayed] <= patience_s + 1e-9)
    assert np.isnan(found.wait_s[found.gone]).all()


@pytest.mark.parametrize("seed", range(40))
def test_the_largest_job_that_fits_is_the_limit_of_all_sizes(seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes = Nodes(int(random.integers(1, 40)), int(random.choice([1, 3, 8])))
    for count in random.integers(1, 12, int(random.integers(0, 8))).tolist():
        nodes.place(count)
    some = frozenset(random.integers(0, len(nodes.idle), 3).tolist())
    for without in (frozenset(), some):
        most = nodes.most(without)
        assert [nodes.fits(n, without) for n in range(1, 45)] == [n <= most for n in range(1, 45)]
