"""The event simulation against a second one, formulas of queues, and identities."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.demand.arrivals import Jobs, draw_jobs
from dcplan.demand.classes import JobClass
from dcplan.demand.outcome import Record
from dcplan.demand.pool import Pool
from dcplan.demand.simulation import replay, simulate, span_hours
from tests.demand.mixes import MIXES, WEEK, WEEKLY
from tests.demand.plain import Cluster, Job, random_jobs

ALL = {**MIXES, "week": (WEEKLY, WEEK)}


def plain(
    classes: list[JobClass], pool: int | list[int], order: str, jobs: list[Job], until: float
):
    cluster = Cluster(pool if isinstance(pool, list) else [pool], order == "fifo")
    cluster.run(jobs, until)
    return cluster


@pytest.mark.parametrize("order", ["backfill", "fifo"])
@pytest.mark.parametrize("name", list(ALL))
def test_the_same_jobs_wait_as_long_as_in_the_plain_simulation(name: str, order: str) -> None:
    classes, pool = ALL[name]
    span = span_hours(classes, 700)
    jobs = draw_jobs(classes, span, seed=5)
    rows = zip(jobs.arrival_h.tolist(), jobs.kind.tolist(), jobs.run_h.tolist(), strict=True)
    own = [Job(classes[k], t, run, queued=t) for t, k, run in rows]
    record = replay(classes, jobs, pool, order, span)
    plain(classes, pool, order, own, span)
    done = np.array([job.done for job in own[: record.counted.stop]])
    waits = np.array([job.wait for job in own[: record.counted.stop]])
    assert done.mean() > 0.8
    assert waits.max() > 0.5  # the jobs do queue
    np.testing.assert_allclose(record.wait_h[: done.size][done], waits[done], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MIXES))
def test_a_plain_simulation_with_other_random_numbers_agrees(name: str) -> None:
    """Mean wait, P90 of the waits and use within 10 %, or three standard errors of both."""
    classes, pool = MIXES[name]
    pool += pool // 6  # so that waits do not hang on few crowded days
    ours = simulate(classes, pool, seed=3, jobs=300_000)
    hours, parts = span_hours(classes, 12_000), []
    for seed in range(4):
        jobs = random_jobs(classes, hours, seed)
        cluster = plain(classes, pool, "backfill", jobs, hours)
        late = [job for job in jobs if 0.15 * hours < job.arrival < 0.9 * hours]
        waits = {c.id: np.array([j.wait for j in late if j.kind.id == c.id]) for c in classes}
        parts.append(
            [cluster.busy_h / hours / pool]
            + [f(waits[c.id]) for c in classes for f in (np.mean, lambda w: np.quantile(w, 0.9))]
        )
    theirs = np.mean(parts, axis=0)
    error = np.std(parts, axis=0, ddof=1) / 2.0
    mine = [ours.utilization_frac] + [
        x for c in ours.classes for x in (c.wait_mean_h, c.wait_p90_h)
    ]
    own = [ours.utilization_se_frac]
    own += [x for c in ours.classes for x in (c.wait_mean_se_h, c.wait_quantile_se_h)]
    room = np.maximum(0.1 * theirs, 3.0 * np.hypot(error, own)) + 0.002
    assert abs(mine[0] / theirs[0] - 1.0) < 0.02
    assert (np.abs(np.array(mine) - theirs) < room).all(), (mine, theirs.tolist(), room.tolist())


def served(classes: list[JobClass], pool: int, runs: list[str], count: int, seed: int) -> Record:
    """Poisson arrivals with run times of a given law, from an empty pool."""
    rng = np.random.default_rng(seed)
    span = span_hours(classes, count)
    at = [np.cumsum(rng.exponential(1 / c.jobs_per_h, int(c.jobs_per_h * span))) for c in classes]
    at = [t * (span / t[-1]) for t in at]
    time = [
        rng.exponential(c.hours, t.size) if law == "M" else np.full(t.size, c.hours)
        for c, t, law in zip(classes, at, runs, strict=True)
    ]
    # means exact, as a load off by 0.1 % moves the wait of 100 servers by 5 %
    time = [t * (c.hours / t.mean()) for c, t in zip(classes, time, strict=True)]
    kind = np.concatenate([np.full(t.size, k) for k, t in enumerate(at)])
    order = np.argsort(np.concatenate(at), kind="stable")
    jobs = Jobs(np.concatenate(at)[order], kind[order], np.concatenate(time)[order])
    return replay(classes, jobs, pool, "backfill", span)


def mean_wait(record: Record, k: int = 0) -> float:
    part = slice(record.counted.start, record.counted.stop)
    return float(record.wait_h[part][record.jobs.kind[part] == k].mean())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("servers", "load", "room"),
    # 100 servers: four runs of 600,000 jobs spread by 8 %, so that their mean is known to 4 %
    [(1, 0.6, 0.03), (10, 8.0, 0.03), (100, 90.0, 0.08)],
)
def test_erlang_c(servers: int, load: float, room: float) -> None:
    # Erlang B by its recursion, then C = B / (1 - rho (1 - B)); mean wait C S / (c - a), S = 1 h
    lost = 1.0
    for n in range(1, servers + 1):
        lost = load * lost / (n + load * lost)
    waits = lost / (1.0 - load / servers * (1.0 - lost))
    expected = waits / (servers - load)
    one = JobClass("a", 1, 1.0, load)
    found = [mean_wait(served([one], servers, ["M"], 600_000, seed=s)) for s in (1, 2, 3, 4)]
    assert np.mean(found) == pytest.approx(expected, rel=room)


@pytest.mark.slow
def test_constant_run_times_on_one_accelerator() -> None:
    # Pollaczek-Khinchine: rho S / (2 (1 - rho)) = 0.7 x 1 / 0.6 = 1.1667 h
    record = served([JobClass("a", 1, 1.0, 0.7)], 1, ["D"], 600_000, seed=1)
    assert mean_wait(record) == pytest.approx(0.7 / 0.6, rel=0.03)


@pytest.mark.slow
def test_two_priorities_on_one_accelerator() -> None:
    """M/M/1 with stops that lose nothing; wait is the time in the system less the run time."""
    low = JobClass("low", 1, 1.0, 0.3, preemptible=True)
    top = JobClass("top", 1, 1.0, 0.4, priority=1)
    record = served([low, top], 1, ["M", "M"], 500_000, seed=4)
    # top: S / (1 - r1) - S = 1 / 0.6 - 1; low: S / (1 - r1) + (r1 + r2) S / ((1 - r1)(1 - r1 - r2)) - S
    assert mean_wait(record, 1) == pytest.approx(1 / 0.6 - 1.0, rel=0.03)
    assert mean_wait(record, 0) == pytest.approx(1 / 0.6 + 0.7 / (0.6 * 0.3) - 1.0, rel=0.03)


def test_accelerator_hours_are_those_of_the_work_and_of_what_was_lost() -> None:
    classes, pool = MIXES["preemption"]
    # all jobs end long before the last mark: the span is ten times that of the arrivals
    span = span_hours(classes, 2_000)
    jobs = draw_jobs(classes, span, seed=1)
    record = replay(classes, jobs, pool, "backfill", 10.0 * span)
    gangs = np.array([c.gang for c in classes])[jobs.kind]
    work = np.bincount(jobs.kind, gangs * (jobs.run_h + record.lost_h))
    early = replay(classes, replace(jobs), pool, "backfill", 10.0 * span)
    assert record.lost_h.sum() > 1.0
    np.testing.assert_allclose(record.held_h[-1], work, rtol=1e-9)
    np.testing.assert_array_equal(early.wait_h, record.wait_h)  # the same again: deterministic


def test_littles_law() -> None:
    """Jobs that run on average are arrivals times run time; held over gang counts them."""
    classes, pool = MIXES["gangs"]
    found = simulate(classes, pool, seed=2, jobs=60_000)
    for one, own in zip(classes, found.classes, strict=True):
        running = own.utilization_frac * pool / one.gang
        assert running == pytest.approx(one.jobs_per_h * one.hours, rel=0.05)


GANGS = st.sampled_from([1 / 7, 0.25, 0.5, 1, 2, 4, 8])


@st.composite
def job_classes(draw: st.DrawFn, name: str) -> JobClass:
    gang = draw(GANGS)
    return JobClass(
        name,
        gang,
        hours=draw(st.sampled_from([0.5, 1.0, 3.0])),
        jobs_per_h=draw(st.sampled_from([0.5, 1.0, 2.0])) * min(1.0, 4.0 / gang),
        hours_cv=draw(st.sampled_from([0.0, 0.5, 2.0])),
        arrival_cv2=draw(st.sampled_from([0.5, 1.0, 9.0])),
        priority=draw(st.integers(0, 2)),
        preemptible=draw(st.booleans()),
        loss_h=draw(st.sampled_from([0.0, 0.25, math.inf])),
        most_accelerators=draw(st.sampled_from([max(gang, 1), 8, 16, math.inf])),
    )


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(job_classes("a"), job_classes("b"), job_classes("c")),
    st.lists(st.integers(8, 24), min_size=168, max_size=168),
    st.integers(0, 9),
    st.sampled_from(["backfill", "fifo"]),
)
def test_capacity_base_and_quotas_are_never_exceeded(classes, week, seed, order) -> None:
    hold = Pool.hold
    seen = []

    def checked(pool: Pool, k: int, count: int, now: float) -> None:
        hold(pool, k, count, now)
        if count > 0:
            seen.append(pool.free >= 0)
            seen.append(pool.soft[k] or pool.firm_free >= 0)
            seen.append(pool.held[k] <= max(pool.quota[k], 1))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pool, "hold", checked)
        found = simulate(classes, week, order=order, seed=seed, jobs=200)
    assert seen
    assert all(seen)
    assert found.utilization_frac <= 1.0 + 1e-9


def test_waits_grow_with_the_load() -> None:
    classes, pool = MIXES["gangs"]
    waits = [
        sum(
            c.wait_mean_h
            for c in simulate(
                [replace(c, jobs_per_h=c.jobs_per_h * f) for c in classes],
                pool,
                seed=1,
                jobs=20_000,
            ).classes
        )
        for f in (0.6, 0.8, 1.0, 1.1)
    ]
    assert waits == sorted(waits)
    assert waits[-1] > 2.0 * waits[0]


def test_bursts_and_gangs_wait_longer() -> None:
    calm = JobClass("a", 2, 1.0, 20.0, 1.0)
    found = [simulate([c], 50, seed=1, jobs=40_000).classes[0].wait_mean_h for c in (
        replace(calm, arrival_cv2=0.0), calm, replace(calm, arrival_cv2=10.0))]  # fmt: skip
    assert found[0] < found[1] < 0.5 * found[2]


def test_a_job_that_never_fits_is_an_error_with_its_numbers() -> None:
    with pytest.raises(
        ValueError, match="class a: a job of 8 accelerators never starts, at most 4"
    ):
        simulate([JobClass("a", 8, 1.0, 1.0)], 4)
    with pytest.raises(ValueError, match="one number or 168"):
        simulate([JobClass("a", 8, 1.0, 1.0)], [8, 9])
    with pytest.raises(ValueError, match="not a whole number"):
        JobClass("a", 1.5, 1.0, 1.0)
    with pytest.raises(ValueError, match="out of range: hours, wait_quantile"):
        JobClass("a", 1, 0.0, 1.0, wait_quantile=1.0)
