"""Periods of the week: what they keep of the loads, and how near the greedy merge is to the best one."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.demand.periods import HOURS, Periods, periods_of, week_of

Loads = npt.NDArray[np.float64]


def random_loads(seed: int, services: int, distinct: int) -> Loads:
    """Loads with a number of distinct hours, mean 1."""
    rng = np.random.default_rng(seed)
    kinds = rng.gamma(2.0, 1.0, (services, distinct)) + 0.01
    of_hour = np.concatenate([np.arange(distinct), rng.integers(0, distinct, HOURS - distinct)])
    loads = kinds[:, rng.permutation(of_hour)]
    return np.asarray(loads / loads.mean(axis=1, keepdims=True))


def sized(found: Periods, weights: Loads) -> float:
    """Load-hours that the highest loads of the periods need, which the merge minimizes."""
    return float(weights @ found.high @ found.hours_frac)


CASES = st.tuples(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 30), st.integers(1, 8))


@settings(max_examples=60, deadline=None)
@given(case=CASES)
def test_periods_keep_hours_and_loads(case: tuple[int, int, int, int]) -> None:
    seed, services, distinct, most = case
    loads, weights = random_loads(seed, services, distinct), np.arange(1.0, services + 1.0)
    found = periods_of(loads, weights, most)
    number = min(most, distinct)
    assert found.hours_frac.shape == (number,)
    assert found.high.shape == found.mean.shape == (services, number)
    assert found.hours_frac.sum() == pytest.approx(1.0, abs=1e-12)
    counts = np.bincount(found.of_hour, minlength=number)
    assert found.hours_frac * HOURS == pytest.approx(counts)
    assert counts.min() >= 1
    assert np.all(found.high[:, found.of_hour] >= loads - 1e-12)  # no hour is above its period
    assert np.all(found.high >= found.mean - 1e-12)
    assert found.mean @ found.hours_frac == pytest.approx(loads.mean(axis=1))
    for p in range(number):  # the highest load is that of one hour
        assert found.high[:, p] == pytest.approx(loads[:, found.of_hour == p].max(axis=1))
    size = weights @ found.high
    assert np.all(np.diff(size) <= 1e-9)  # the first period has the highest loads


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), services=st.integers(1, 3), distinct=st.integers(1, 8))
def test_few_distinct_hours_are_exact(seed: int, services: int, distinct: int) -> None:
    loads = random_loads(seed, services, distinct)
    found = periods_of(loads, np.ones(services), 8)
    assert found.high[:, found.of_hour] == pytest.approx(loads, abs=1e-15)
    assert found.mean[:, found.of_hour] == pytest.approx(loads, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), services=st.integers(1, 3), distinct=st.integers(2, 30))
def test_more_periods_never_need_more(seed: int, services: int, distinct: int) -> None:
    """Periods are joined one by one, so more periods divide the same groups further."""
    loads, weights = random_loads(seed, services, distinct), np.linspace(1.0, 3.0, services)
    sizes = [sized(periods_of(loads, weights, most), weights) for most in range(1, 10)]
    assert all(b <= a + 1e-9 for a, b in itertools.pairwise(sizes))
    assert sizes[0] == pytest.approx(float(weights @ loads.max(axis=1)))
    assert sizes[-1] >= float(weights.sum()) - 1e-9  # at least the mean loads


@cache
def partitions(n: int, most: int) -> tuple[tuple[int, ...], ...]:
    """Labels of n things in at most ``most`` groups, each partition once."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(n):
        found = [(*x, g) for x in found for g in range(min(max(x, default=-1) + 2, most))]
    return tuple(found)


def best_sized(loads: Loads, weights: Loads, most: int) -> float:
    """Least load-hours over all partitions of the distinct hours."""
    kinds, counts = np.unique(loads, axis=1, return_counts=True)
    least = np.inf
    for labels in partitions(kinds.shape[1], most):
        at = np.array(labels)
        total = sum(
            float(counts[at == g].sum() * (weights @ kinds[:, at == g].max(axis=1)))
            for g in range(max(labels) + 1)
        )
        least = min(least, total)
    return least / HOURS


def excess(seed: int, services: int) -> tuple[float, float]:
    """Load-hours above the loads, of the merge and of the best partition, over the loads."""
    loads, weights = random_loads(seed, services, 8), np.linspace(1.0, 2.0, services)
    own = sized(periods_of(loads, weights, 3), weights)
    best = best_sized(loads, weights, 3)
    return own / weights.sum() - 1.0, best / weights.sum() - 1.0


def test_the_merge_is_near_the_best_partition() -> None:
    """Eight distinct hours in three periods, 60 cases: measured 5.6 % more load-hours at most, 0.7 %
    in the mean."""
    found = np.array([excess(seed, services) for services in (1, 2, 3) for seed in range(20)])
    own, best = found.T
    assert np.all(own >= best - 1e-12)
    ratio = (1.0 + own) / (1.0 + best)
    assert ratio.max() < 1.06
    assert ratio.mean() < 1.01


@settings(max_examples=40, deadline=None)
@given(
    shape=st.lists(st.floats(0.0, 100.0), min_size=24, max_size=24).filter(lambda x: sum(x) > 0.01),
    offset=st.integers(-12, 14),
)
def test_a_day_is_a_week_of_equal_days(shape: list[float], offset: int) -> None:
    week = week_of(shape, offset)
    assert week.shape == (HOURS,)
    assert week.mean() == pytest.approx(1.0)
    assert week == pytest.approx(week_of(shape * 7, offset), abs=1e-12)
    assert week[:24] == pytest.approx(week[24:48], abs=1e-12)
    for hour in (0, 5, 23, 100, 167):  # local time is UTC plus the offset
        local = shape[(hour + offset) % 24]
        assert week[hour] == pytest.approx(local / np.mean(shape), abs=1e-12)


def test_a_week_moves_over_its_end() -> None:
    """Monday 00:00 at UTC+9 is Sunday 15:00 UTC, hour 6 x 24 + 15 of the week."""
    local = [0.0] * HOURS
    local[0] = 1.0
    assert int(week_of(local, 9).argmax()) == 6 * 24 + 15
    assert int(week_of(local, -8).argmax()) == 8
    assert week_of(local, 9).max() == HOURS


@pytest.mark.parametrize(
    "shape", [[1.0] * 23, [1.0] * 169, [0.0] * 24, [1.0] * 23 + [-1.0]], ids=str
)
def test_a_bad_shape_is_refused(shape: list[float]) -> None:
    with pytest.raises(ValueError, match="24 or 168 numbers"):
        week_of(shape)
