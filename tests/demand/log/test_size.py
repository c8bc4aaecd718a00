"""Sizes from replays: brute force, textbook rules, resampled weeks, the check on unseen jobs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.demand.log.fidelity import fit
from dcplan.demand.log.jobs import log_of
from dcplan.demand.log.recorded import Recorded, expected_runs, recorded_work, units_of
from dcplan.demand.log.replay import replay
from dcplan.demand.log.size import (
    Cluster,
    Target,
    counted_from,
    shortage,
    smallest_units,
    wait_quantile,
)
from dcplan.demand.log.staffing import Load, erlang_units, load_of, square_root_units
from dcplan.demand.log.waits import split_waits
from dcplan.demand.log.weeks import resampled, week_draws, whole_weeks
from dcplan.demand.log.work import Rules, Work, work_of

WEEK = 604_800.0


def drawn(seed: int, jobs: int = 400, span_s: float = 4e5) -> Work:
    random = np.random.default_rng(seed)
    submit = np.sort(random.uniform(0.0, span_s, jobs))
    run = random.lognormal(8.0, 1.0, jobs)
    return work_of(submit, run, random.choice([1, 2, 4, 8], jobs))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    wait_s=st.sampled_from([0.0, 600.0, 7200.0]),
    order=st.sampled_from(["fifo", "backfill"]),
)
def test_the_size_is_the_smallest_from_which_the_next_two_also_keep_the_target(
    seed: int, wait_s: float, order: str
) -> None:
    """Brute force over all sizes up to the largest that could matter."""
    work, cluster = drawn(seed), Cluster(8, 8, Rules(order))  # type: ignore[arg-type]
    target = Target(wait_s, 0.9)
    first = counted_from(work)

    def late_frac(units: int) -> float:
        wait = replay(work, units, 8, cluster.rules).wait_s[first:]
        return float(np.mean(wait > wait_s))

    sizes = range(8, 200, 8)
    keeps = {c: late_frac(c) <= target.late_frac + 1e-12 for c in sizes}
    good = [c for c in sizes if all(keeps.get(c + 8 * k, True) for k in range(3))]
    found = smallest_units(work, cluster, target)
    assert found in good
    if order == "fifo":  # a strict line is monotone
        assert found == good[0]


def test_shortage_has_the_waits_of_each_size() -> None:
    work = drawn(1)
    rows = shortage(
        work, Cluster(0, 1, Rules("fifo")), Target(600.0, 0.9), [16, 24, 48], [0.5, 0.95]
    )
    late = [r.late_frac for r in rows]
    assert late == sorted(late, reverse=True)
    assert rows[0].used_frac > rows[2].used_frac
    wait = replay(work, 24, 24, Rules("fifo")).wait_s[counted_from(work) :]
    assert rows[1].waits_s == (wait_quantile(wait, 0.5), wait_quantile(wait, 0.95))
    hours = (work.units * work.run_s)[counted_from(work) :][wait > 600.0].sum() / 3600.0
    assert rows[1].late_unit_h == pytest.approx(hours)


def test_the_load_of_poisson_gangs_has_the_gang_factor_as_peakedness() -> None:
    """M/G/infinity: variance over mean is E[n^2 S]/E[n S]; half of the jobs have 1, half 9 units:
    (1 + 81) / (1 + 9) = 8.2. 200,000 jobs: 6 %."""
    random = np.random.default_rng(2)
    jobs = 200_000
    submit = np.cumsum(random.exponential(1.0, jobs))
    work = work_of(submit, random.exponential(20.0, jobs), random.choice([1, 9], jobs))
    load = load_of(work)
    assert load.gang_factor == pytest.approx(8.2, rel=0.02)
    assert load.peakedness == pytest.approx(8.2, rel=0.06)
    assert load.mean == pytest.approx(100.0, rel=0.02)  # 1 job/s x 20 s x 5 units
    assert load.quantile(0.5) == pytest.approx(100.0, rel=0.03)


def test_textbook_rules() -> None:
    """R = 374.2 and z = 182: 374.2 + 1.645 sqrt(374.2 x 182) = 803.5; with the gang factor 7.34:
    374.2 + 1.645 sqrt(374.2 x 7.34) = 460.4; square roots of 260.97 and 52.41."""
    load = Load(374.2, 182.0, 7.34, np.zeros(1), np.zeros(1))
    assert square_root_units(load, 0.05, load.peakedness) == pytest.approx(803.5, abs=0.2)
    assert square_root_units(load, 0.05, load.gang_factor) == pytest.approx(460.4, abs=0.2)


def test_erlang_c_of_a_table() -> None:
    """a = 8: C(10, 8) = 0.409 and C(11, 8) = 0.245, C(12, 8) = 0.139 (Erlang C tables)."""
    load = Load(8.0, 1.0, 1.0, np.zeros(1), np.zeros(1))
    assert erlang_units(load, 1.0, 0.0, 0.41) == 10
    assert erlang_units(load, 1.0, 0.0, 0.25) == 11
    assert erlang_units(load, 1.0, 0.0, 0.14) == 12
    # P(W > 1) on 10 servers: 0.409 exp(-2) = 0.0554
    assert erlang_units(load, 1.0, 1.0, 0.056) == 10
    assert erlang_units(load, 1.0, 1.0, 0.055) == 11


def test_weeks_are_drawn_whole() -> None:
    submit = np.sort(np.random.default_rng(0).uniform(0.0, 3 * WEEK, 3_000))
    work = work_of(submit, np.ones(3_000), np.arange(3_000) % 7 + 1)
    again = resampled(work, np.array([2, 2, 0]))
    first = again.submit_s[again.submit_s < submit[0] + WEEK]
    kept = submit[submit >= submit[0] + 2 * WEEK]
    assert first == pytest.approx(kept[kept < submit[0] + 3 * WEEK] - 2 * WEEK)
    hour = (again.submit_s - submit[0]) % WEEK
    assert set(np.round(hour, 6)) <= set(np.round((submit - submit[0]) % WEEK, 6))
    assert whole_weeks(work) == 2
    assert len(week_draws(work, 5, 1)) == 5
    assert all(np.all(w < 2) for w in week_draws(work, 5, 1))


def test_limits_come_from_the_last_two_runs_of_the_user() -> None:
    """User 0: runs of 10 s and 20 s have ended when the third starts; the fourth starts before the
    third has ended and uses the same two."""
    user = np.array([0, 0, 0, 0, -1])
    start = np.array([0.0, 20.0, 100.0, 110.0, 120.0])
    run = np.array([10.0, 20.0, 500.0, 40.0, 7.0])
    assert expected_runs(user, start, start + run, run).tolist() == [10, 20, 15, 15, 7]


def test_shares_are_units() -> None:
    assert units_of(np.array([1 / 7, 2 / 7, 1.0])) == 7
    assert units_of(np.array([0.5, 1.0, 16.0])) == 2
    assert units_of(np.array([0.123])) == 20


def record(work: Work, units: int, order: str = "backfill") -> Recorded:
    """Return a log of the replay on a cluster: what such a cluster would have recorded."""
    wait = replay(work, units, units, Rules(order)).wait_s  # type: ignore[arg-type]
    start = work.submit_s + wait
    log = log_of(work.submit_s, start, start + work.run_s, work.units, limit_s=work.limit_s)
    return recorded_work(log, split_waits(log, units, units, cycle_s=0.0))


@pytest.mark.parametrize(("units", "order"), [(48, "backfill"), (40, "fifo")])
def test_a_fit_finds_the_size_that_a_log_was_recorded_on(units: int, order: str) -> None:
    """The given size is a third too large; waits of the unseen half are repeated within 40 %.

    Policy holds are recorded waits in which a job would have fitted: a strict line has many.
    """
    work = drawn(7, 1_500, 8e5)
    recorded = record(work, units, order)
    found = fit(recorded, int(units * 4 / 3), int(units * 4 / 3), 0, Rules(), ["backfill", "fifo"])
    assert found.units == pytest.approx(units, rel=0.1)
    assert found.factor(0.95) < 1.4
    assert found.jobs == 750


def test_a_fit_cannot_repeat_waits_that_have_another_cause() -> None:
    """Waits of the second half are ten times those of the first, on the same cluster and load."""
    random = np.random.default_rng(3)
    jobs = 2_000
    submit = np.sort(random.uniform(0.0, 1e6, jobs))
    run = random.exponential(3_000.0, jobs)
    wait = random.exponential(600.0, jobs) * np.where(np.arange(jobs) < jobs // 2, 1.0, 30.0)
    recorded = Recorded(work_of(submit, run, np.full(jobs, 4)), wait, 1, 0)
    found = fit(recorded, 32, 32, 0, Rules(), ["backfill"])
    assert found.factor(0.95) > 2.0


def test_a_quantile_is_the_least_wait_that_the_share_does_not_exceed() -> None:
    waits = np.arange(1.0, 101.0)
    assert wait_quantile(waits, 0.95) == 95.0
    assert wait_quantile(waits, 1.0) == 100.0
    assert math.isnan(wait_quantile(np.zeros(0), 0.5))


def test_no_size_keeps_a_target_that_a_quota_prevents() -> None:
    """Ten jobs of one unit come together; a quota of one lets them run one after another."""
    jobs = work_of([0.0] * 10, [100.0] * 10, [1] * 10)
    with pytest.raises(ValueError, match="no size keeps the target"):
        smallest_units(jobs, Cluster(0, 1, Rules(quota=(1,))), Target(10.0, 0.9))
