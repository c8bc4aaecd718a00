"""What quotas strand: by hand, and on published counts of Helios."""

from __future__ import annotations

import csv
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from dcplan.demand import stranded as module
from dcplan.demand.log.jobs import log_of
from dcplan.demand.stranded import Counts, stranded, stranded_jobs

DATA = Path(__file__).parent / "data"
MAY_MINUTES = 31 * 24 * 60


def helios(*names: str) -> tuple[Counts, np.ndarray]:
    rows = []
    for name in names:
        with (DATA / name).open(encoding="utf-8") as file:
            rows += csv.DictReader(file)
    minutes = sorted({int(r["minute"]) for r in rows} | {MAY_MINUTES})
    at = {m: i for i, m in enumerate(minutes)}
    by_queue = defaultdict(list)
    for r in rows:
        by_queue[r["queue"]].append(r)
    used, waiting = np.zeros((2, len(by_queue), len(minutes) - 1))
    quota = np.zeros(len(by_queue))
    for k, changes in enumerate(by_queue.values()):
        for r in changes:
            i = at[int(r["minute"])]
            used[k, i:], waiting[k, i:] = float(r["running"]), float(r["pending"])
            quota[k] = float(r["quota"])
    return Counts(np.array(minutes) * 60.0, used, waiting), quota


def test_pending_minutes_of_helios_with_enough_idle_accelerators() -> None:
    """Counts of 8 queues with 616 accelerators, May 2020: 39,839 minutes with something pending, in
    73.458 % of which the queues together had as many idle accelerators (counted by a separate
    script from the same file)."""
    counts, quota = helios("helios_earth_counts.csv")
    found = stranded(counts, quota, 616.0)
    assert found.pending_h * 60 == pytest.approx(39_839, abs=0.01)
    assert found.enough_h / found.pending_h == pytest.approx(0.734582, abs=1e-6)
    assert found.accelerator_h.sum() == pytest.approx(29_771.4, abs=0.1)


def test_published_sums_of_the_sixteen_queues_of_helios_earth() -> None:
    """May 2020, sums of the sixteen queues over 44,640 minutes: 856 GPUs, 66.7 % of them running, 285.1
    idle and 61.4 waited for in the mean, something waits in 89.3 % of the minutes, and in 98.7 % of
    these the queues together have as many idle (evidence demand_truth.csv, helios-earth-may2020)."""
    counts, quota = helios("helios_earth_counts.csv", "helios_earth_other_counts.csv")
    found = stranded(counts, quota, float(quota.sum()))
    share = np.diff(counts.at_s) / (MAY_MINUTES * 60.0)
    used, waiting = (float((x @ share).sum()) for x in (counts.used, counts.waiting))
    assert (len(quota), quota.sum()) == (16, 856.0)
    assert used / 856.0 == pytest.approx(0.667, abs=5e-4)
    assert 856.0 - used == pytest.approx(285.1, abs=0.05)
    assert waiting == pytest.approx(61.4, abs=0.05)
    assert found.pending_h * 60.0 / MAY_MINUTES == pytest.approx(0.893, abs=5e-4)
    assert found.enough_h / found.pending_h == pytest.approx(0.987, abs=5e-4)


def test_what_waits_in_its_own_queue_for_idle_accelerators_is_not_stranded_by_quota() -> None:
    """Queue 0: 4 idle, jobs wait for 4 (a gang on no node): own idle ones. Queue 1: 8 idle."""
    counts = Counts(np.array([0.0, 3600.0]), np.array([[12.0], [8.0]]), np.array([[4.0], [0.0]]))
    found = stranded(counts, np.array([16.0, 16.0]), 32.0)
    assert found.accelerator_h.tolist() == [0.0, 0.0]
    assert found.pending_h == 1.0
    assert found.short_h.tolist() == [0.0, 0.0]


def test_borrowed_accelerators_are_not_idle() -> None:
    """Queue 0 uses 20 with a quota of 16 and waits for 8; queue 1 uses 8 of 16: 4 are idle in fact."""
    counts = Counts(np.array([0.0, 3600.0]), np.array([[20.0], [8.0]]), np.array([[8.0], [0.0]]))
    assert stranded(counts, np.array([16.0, 16.0]), 32.0).accelerator_h.sum() == 4.0


def test_two_queues_share_what_a_third_has_idle() -> None:
    """12 idle in queue 2; queues 0 and 1 wait for 8 and 16: 12 x 8/24 = 4 and 12 x 16/24 = 8."""
    counts = Counts(
        np.array([0.0, 3600.0]), np.array([[8.0], [8.0], [4.0]]), np.array([[8.0], [16.0], [0.0]])
    )
    found = stranded(counts, np.array([8.0, 8.0, 16.0]), 32.0)
    assert found.accelerator_h.tolist() == pytest.approx([4.0, 8.0, 0.0])


def test_jobs_that_could_not_start_yet_do_not_wait_for_quota() -> None:
    """A job of 4 comes at 0, may start at 3,600 s, and starts at 7,200 s: 1 h x 4."""
    log = log_of(
        [0, 0], [0, 7200], [7200, 9000], [4, 4],
        pools=("a", "b"), pool=[0, 0], eligible_s=[0, 3600],
    )  # fmt: skip
    assert stranded_jobs(log, np.array([4.0, 4.0]), 8.0).accelerator_h.tolist() == [4.0, 0.0]


def test_blocks_of_moments_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    submit = np.sort(random.uniform(0, 1e5, 200))
    start = submit + random.exponential(2e3, 200)
    end = start + random.exponential(5e3, 200)
    log = log_of(
        submit, start, end, random.integers(1, 9, 200),
        pools=("a", "b", "c"), pool=random.integers(0, 3, 200),
    )  # fmt: skip
    quota = np.array([20.0, 10.0, 30.0])
    whole = stranded_jobs(log, quota, 60.0)
    monkeypatch.setattr(module, "MOST_MOMENTS", 7)
    parts = stranded_jobs(log, quota, 60.0)
    assert parts.accelerator_h == pytest.approx(whole.accelerator_h, rel=1e-9)
    assert parts.pending_h == pytest.approx(whole.pending_h)
    # by brute force, each moment on its own
    at = np.unique(np.concatenate([submit, start, end]))
    total = 0.0
    for t, until in pairwise(at):
        short = spare = 0.0
        for k in range(3):
            mine = log.pool == k
            used = log.accelerators[mine & (log.start_s <= t) & (log.end_s > t)].sum()
            waits = log.accelerators[mine & (log.submit_s <= t) & (log.start_s > t)].sum()
            idle = max(quota[k] - used, 0.0)
            short += max(waits - idle, 0.0)
            spare += quota[k] - used - min(waits, idle)
        total += min(short, max(spare, 0.0)) * (until - t) / 3600
    assert whole.accelerator_h.sum() == pytest.approx(total, rel=1e-9)
