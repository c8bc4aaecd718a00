"""Recorded waits in parts: hand calculations, conservation, and real queues."""

from __future__ import annotations

import csv
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.locate import data_dir
from dcplan.demand.log.jobs import Array, JobLog, little_gap_frac, log_of
from dcplan.demand.log.waits import recorded_use, split_waits


def drawn(seed: int, jobs: int = 80) -> JobLog:
    random = np.random.default_rng(seed)
    submit = np.cumsum(random.exponential(20.0, jobs))
    eligible = submit + random.exponential(10.0, jobs) * (random.random(jobs) < 0.3)
    start = eligible + random.exponential(200.0, jobs) * (random.random(jobs) < 0.7)
    end = start + random.exponential(300.0, jobs)
    start[random.random(jobs) < 0.05] = np.nan
    return log_of(submit, start, end, random.choice([1, 2, 4, 8, 16], jobs), eligible_s=eligible)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), per_node=st.sampled_from([4, 8, 64]))
def test_the_parts_add_up_to_the_wait(seed: int, per_node: int) -> None:
    log = drawn(seed)
    waits = split_waits(log, 64, per_node, cycle_s=30.0)
    expected = log.start_s - log.submit_s
    assert waits.total_s == pytest.approx(expected, abs=1e-6, nan_ok=True)
    parts = (waits.before_s, waits.short_s, waits.scattered_s, waits.behind_s, waits.cycle_s)
    assert all(np.all(p[log.started] >= -1e-9) for p in (*parts, waits.policy_s))
    assert np.nanmax(waits.cycle_s) <= 30.0


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_more_accelerators_make_less_of_a_wait_one_for_capacity(seed: int) -> None:
    log = drawn(seed)
    few, many = (split_waits(log, c, c) for c in (32, 64))
    assert np.nansum(many.short_s) <= np.nansum(few.short_s) + 1e-6


def test_a_wait_before_a_job_is_eligible_is_not_for_capacity() -> None:
    """Submitted at 0 s, eligible at 50 s, started at 170 s. Four of four are busy until 100 s."""
    log = log_of([0, 0], [0, 170], [100, 200], [4, 2], eligible_s=[0, 50])
    waits = split_waits(log, 4, 4, cycle_s=60.0)
    assert waits.before_s.tolist() == [0, 50]
    assert waits.short_s.tolist() == [0, 50]
    assert waits.cycle_s.tolist() == [0, 60]
    assert waits.policy_s.tolist() == [0, 10]


def test_scattered_accelerators_are_their_own_part() -> None:
    """Two nodes of 4 have a job of 2 each until 100 s: 4 are idle, but no node is."""
    log = log_of([0, 0, 10], [0, 0, 100], [100, 120, 200], [3, 3, 4])
    assert split_waits(log, 8, 4, cycle_s=0.0).short_s.tolist() == [0, 0, 90]
    log = log_of([0, 0, 10], [0, 0, 100], [100, 120, 200], [2, 3, 4])
    waits = split_waits(log, 8, 4, cycle_s=0.0)
    assert waits.short_s.tolist() == [0, 0, 90]
    log = log_of([0, 0, 0, 10], [0, 0, 0, 100], [100, 120, 1, 200], [2, 2, 4, 4])
    # best fit puts both jobs of 2 on one node, so that the other is whole: no scatter
    assert split_waits(log, 8, 4, cycle_s=0.0).scattered_s.tolist() == [0, 0, 0, 0]
    log = log_of([0, 0, 10], [0, 0, 100], [100, 120, 200], [3, 2, 4])
    use = recorded_use(log, 8, 4)
    assert use.idle_nodes.tolist()[:1] == [0]
    assert split_waits(log, 9, 4, cycle_s=0.0).scattered_s.tolist() == [0, 0, 90]


def test_a_running_job_uses_accelerators_to_the_end_of_the_log() -> None:
    log = log_of([0, 10], [0, 60], [np.nan, 100], [4, 4])
    assert split_waits(log, 4, 4, cycle_s=0.0).short_s.tolist() == [0, 50]


def test_littles_identity_finds_mixed_up_columns() -> None:
    log = drawn(1)
    assert little_gap_frac(log) < 1e-9
    started = log.rows(log.started)
    mixed = log_of(started.start_s, started.submit_s, started.end_s, started.accelerators)
    assert little_gap_frac(mixed) > 0.5


TRACE = data_dir("scenarios") / "logs" / "helios-earth.csv"


COUNTS = Path(__file__).parents[1] / "data" / "helios_earth_counts.csv"


def test_the_queues_of_helios_earth() -> None:
    """The waits for accelerators of each queue, without nodes, lie between what the counts of the source
    say: at least while no accelerator is idle, at most while fewer are idle than all jobs wait for."""
    least, most = counted_short()
    for queue, log, cap in packaged():
        waits = split_waits(log, cap, cap)
        need = log.accelerators
        short = float(np.nansum(waits.short_s * need) / np.nansum(waits.total_s * need))
        assert least[queue] - 0.01 <= short <= most[queue] + 0.01, queue
        assert little_gap_frac(log) < 1e-3


def test_the_packaged_jobs_have_the_counts_of_their_source() -> None:
    """Accelerators in use, which the source caps at the quota, and accelerators that jobs wait for, by
    minute. The source has a job of 32 in vcvlY that still waits at the end of May (2.9 % of the wait
    there); it never started, and is not in the log."""
    for queue, log, cap in packaged():
        running, pending = (x[queue] for x in by_minute())
        waits = minutes(log.submit_s, log.start_s, log.accelerators)
        assert (
            np.abs(waits - pending).sum() <= (0.03 if queue == "vcvlY" else 0.001) * pending.sum()
        ), queue
        used = np.minimum(minutes(log.start_s, log.end_s, log.accelerators), cap)
        assert np.abs(used - running).sum() <= 1e-6 * running.sum(), queue


def packaged() -> Iterator[tuple[str, JobLog, int]]:
    """Yield the queues of the packaged log with their accelerators."""
    rows = defaultdict(list)
    with TRACE.open(encoding="utf-8") as file:
        for row in csv.DictReader(x for x in file if not x.startswith("#")):
            rows[row["pool"], int(row["cap"])].append(
                [float(row[k]) for k in ("submit", "n", "run", "wait")]
            )
    for (pool, cap), values in rows.items():
        submit, need, run, wait = np.array(values).T
        yield pool, log_of(submit, submit + wait, submit + wait + run, need), cap


@cache
def by_minute() -> tuple[dict[str, Array], dict[str, Array]]:
    """Accelerators that run jobs, and that jobs wait for, in each minute of May 2020, by queue."""
    running, pending = (defaultdict(lambda: np.zeros(31 * 24 * 60)) for _ in range(2))
    with COUNTS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            at = int(row["minute"])
            running[row["queue"]][at:] = float(row["running"])
            pending[row["queue"]][at:] = float(row["pending"])
    return running, pending


def counted_short() -> tuple[dict[str, float], dict[str, float]]:
    """Bounds of the share of the accelerators that jobs wait for while too few are idle."""
    caps = {queue: cap for queue, _, cap in packaged()}
    least, most = {}, {}
    for queue, waiting in by_minute()[1].items():
        idle = caps[queue] - by_minute()[0][queue]
        least[queue] = float(waiting[idle < 1.0].sum() / waiting.sum())
        most[queue] = float(waiting[idle < waiting].sum() / waiting.sum())
    return least, most


def minutes(from_s: Array, until_s: Array, need: Array) -> Array:
    """Accelerators in each minute of May 2020, of jobs that hold or need them between two moments."""
    change = np.zeros(31 * 24 * 60 + 1)
    np.add.at(change, (from_s / 60.0).astype(int), need)
    np.add.at(change, np.minimum(until_s / 60.0, len(change) - 1).astype(int), -need)
    return np.asarray(np.cumsum(change)[:-1])


def test_a_job_behind_one_that_is_short_waits_for_accelerators() -> None:
    """A line in order on 8: 4 are busy until 10 h; a job of 8 comes and runs from 10 to 20 h; a job
    of 1 that came at 0.1 h starts at 20 h. It would have fitted for 9.9 h, behind the job of 8, and
    is short for 10 h. With 13 accelerators all three start at once."""
    hour = 3600.0
    log = log_of(
        [0.0, 0.05 * hour, 0.1 * hour],
        [0.0, 10 * hour, 20 * hour],
        [10 * hour, 20 * hour, 21 * hour],
        [4, 8, 1],
    )
    waits = split_waits(log, 8, 8)
    assert waits.behind_s.tolist() == pytest.approx([0.0, 0.0, 9.9 * hour])
    assert waits.short_s.tolist() == pytest.approx([0.0, 9.95 * hour, 10 * hour])
    assert waits.policy_s.tolist() == pytest.approx([0.0, 0.0, 0.0])
    assert split_waits(log, 13, 13).capacity_s.tolist() == pytest.approx([0.0, 0.0, 0.0])


def test_a_job_of_lower_priority_holds_no_one_back() -> None:
    """The same jobs, but the job of 1 has the higher priority: its 9.9 h are policy."""
    log = log_of([0, 180, 360], [0, 36_000, 72_000], [36_000, 72_000, 75_600], [4, 8, 1])
    ranked = replace(log, priority=np.array([0.0, 1.0, 2.0]))
    waits = split_waits(ranked, 8, 8, cycle_s=0.0)
    assert waits.behind_s.tolist() == [0, 0, 0]
    assert waits.policy_s.tolist() == [0, 0, 35_640]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_waits_behind_equal_a_plain_count(seed: int) -> None:
    """Each moment of each wait is looked at by itself, run by run."""
    log = drawn(seed).rows(np.arange(30))
    log = replace(log, priority=np.random.default_rng(seed).integers(0, 3, 30).astype(float))
    waits = split_waits(log, 64, 64, cycle_s=0.0)
    at = np.unique(np.concatenate([log.submit_s, log.start_s, log.end_s]))
    at = at[np.isfinite(at)]
    eligible = np.clip(
        np.where(np.isfinite(log.eligible_s), log.eligible_s, log.submit_s),
        log.submit_s,
        log.start_s,
    )
    at = np.unique(np.concatenate([at, eligible[np.isfinite(eligible)]]))
    order = sorted(range(30), key=lambda i: (-log.priority[i], eligible[i], log.submit_s[i]))
    place = {run: k for k, run in enumerate(order)}
    expected = np.zeros(30)
    for now, then in itertools.pairwise(at.tolist()):
        running = (log.start_s <= now) & ~(log.end_s <= now)
        free = 64 - float(np.sum(log.accelerators[running]))
        waiting = [i for i in range(30) if eligible[i] <= now < log.start_s[i]]
        for i in waiting:
            ahead = [j for j in waiting if place[j] < place[i] and log.accelerators[j] > free]
            if log.accelerators[i] <= free and ahead:
                expected[i] += then - now
    started = log.started
    assert waits.behind_s[started] == pytest.approx(expected[started], abs=1e-6)
