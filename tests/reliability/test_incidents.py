"""Rates of counted failures, outages of nodes, delays with open repairs, lemon nodes, jobs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import gammaincinv
from scipy.stats import binom

from dcplan.reliability.counts import lemons, poisson_bounds
from dcplan.reliability.incidents import (
    censored_mean,
    censored_quantile,
    clean_frac,
    mttf_h,
    outages,
)

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [(0, 0.0, 3.689), (1, 0.0253, 5.572), (5, 1.624, 11.668), (10, 4.795, 18.390)],
)
def test_the_interval_of_a_count_is_garwoods(count: int, low: float, high: float) -> None:
    """E. S. Pearson, H. O. Hartley, Biometrika Tables for Statisticians, table 40, 95 %."""
    found = poisson_bounds(count, 1.0, 0.95)
    assert found == pytest.approx((low, high), abs=6e-4)


@pytest.mark.parametrize("count", [0, 3, 1_300, 250_000])
@pytest.mark.parametrize("confidence", [0.8, 0.999])
def test_the_interval_is_that_of_chi_square(count: int, confidence: float) -> None:
    miss = (1.0 - confidence) / 2.0
    low = float(gammaincinv(count, miss)) if count else 0.0
    high = float(gammaincinv(count + 1, 1.0 - miss))
    assert poisson_bounds(count, 10.0, confidence) == pytest.approx((low / 10, high / 10), rel=1e-9)


def test_published_jobs_of_rsc() -> None:
    """Kokolis et al., section III: 6.5 failures in 1,000 node-days give 1.8 h and 0.23 h."""
    assert mttf_h(16_384 / 8, 6.5e-3) == pytest.approx(1.8, abs=0.01)
    assert mttf_h(131_072 / 8, 6.5e-3) == pytest.approx(0.23, abs=0.005)
    # measured at 1,024 accelerators: 7.9 h. No one rate of a node gives both: a known divergence
    assert mttf_h(1_024 / 8, 6.5e-3) == pytest.approx(28.8, abs=0.05)
    assert mttf_h(4, 0.0) == INF
    assert clean_frac(128, 2.0, 6.5e-3) == pytest.approx(math.exp(-128 * 2 * 0.0065))


def test_incidents_that_overlap_are_one_outage() -> None:
    """Node 0: 0 to 100 s, in it 50 to 150 s, 150 to 155 s, 156 s again; node 1: no ends are known."""
    node = np.array([0, 0, 0, 0, 1, 1, -1, -1])
    start = np.array([0.0, 50.0, 150.0, 156.0, 10.0, 20.0, 5.0, 5.0])
    end = np.array([100.0, 150.0, 155.0, 161.0, NAN, NAN, 6.0, 7.0])
    found = outages(node, start, end, (0.0, 1_000.0))
    # at 150 s the node has not returned, at 156 s it stops again
    assert found.first.tolist() == [True, False, False, True, True, True, True, True]
    assert found.down_s == pytest.approx(155.0 + 5.0 + 1.0 + 2.0)
    assert (found.ended, found.mean_s) == (4, pytest.approx(163.0 / 4))
    twice = outages(np.array([2, 2]), np.array([5.0, 5.0]), np.array([NAN, NAN]), (0.0, 9.0))
    assert twice.first.tolist() == [True, False]


def test_an_open_outage_lasts_to_the_end_of_the_window() -> None:
    found = outages(np.array([0, 1]), np.array([10.0, 90.0]), np.array([INF, 200.0]), (0.0, 100.0))
    assert found.down_s == pytest.approx(90.0 + 10.0)
    # 90 s so far and 110 s, one of them after the window; one has ended
    assert found.mean_s == pytest.approx(90.0 + 110.0)


def test_quantiles_with_open_repairs_are_those_of_kaplan_and_meier() -> None:
    """Freireich's 6-MP group as printed by Kaplan-Meier textbooks: S(10) = 0.753, S(13) = 0.690,
    S(16) = 0.627, S(22) = 0.538, S(23) = 0.448: the median is 23 weeks."""
    weeks = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
    event = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    time, ended = np.array(weeks, dtype=float), np.array(event, dtype=bool)
    assert censored_quantile(time, ended, 0.5) == 23.0
    assert censored_quantile(time, ended, 1 - 0.70) == 13.0
    assert censored_quantile(time, ended, 0.95) is None
    # 359 weeks over 9 events
    assert censored_mean(time, ended) == pytest.approx(359 / 9)
    assert censored_mean(time, np.zeros(21, dtype=bool)) is None


def test_without_open_repairs_a_quantile_is_that_of_the_sorted_times() -> None:
    hours = np.arange(1.0, 101.0)
    ended = np.ones(100, dtype=bool)
    assert censored_quantile(hours, ended, 0.5) == 50.0
    assert censored_quantile(hours, ended, 0.95) == 95.0
    assert censored_mean(hours, ended) == 50.5


def test_the_chance_of_a_node_is_binomial() -> None:
    counts = np.array([9, 4, *[1] * 47])
    found = lemons(counts, 160, 0.05, 3)
    assert found.chance_frac[0] == pytest.approx(binom.sf(8, 60, 1 / 160), rel=1e-9)
    assert found.chance_frac[1] == pytest.approx(binom.sf(3, 60, 1 / 160), rel=1e-9)
    # above 0.05/160 = 3.1e-4, which the smallest must keep, and below 2 x 0.05/160 of the second
    assert 0.05 / 160 < found.chance_frac[1] < 2 * 0.05 / 160
    assert found.lemon.tolist() == [True, True, *[False] * 47]


def test_the_test_counts_the_nodes_without_an_outage() -> None:
    """4 of 60 outages: 5.6e-4, above 0.05/160; among the 57 nodes with outages it would pass."""
    found = lemons(np.array([4, *[1] * 56]), 160, 0.05, 3)
    assert 0.05 / 160 < found.chance_frac[0] < 0.05 / 57
    assert not found.lemon.any()


def test_few_equal_fleets_have_a_false_lemon() -> None:
    """At a false rate of 5 %, at most about 5 % of the fleets of equal nodes have any lemon."""
    random = np.random.default_rng(7)
    any_lemon = 0
    for _ in range(400):
        count = random.poisson(1.2, 300)
        any_lemon += bool(lemons(count[count > 0], 300, 0.05, 3).lemon.any())
    assert any_lemon / 400 <= 0.07


def test_lemons_are_found_again() -> None:
    """RSC removed 40 nodes; here 40 of 2,000 fail ten times as often for 200 days."""
    random = np.random.default_rng(3)
    rate = np.full(2_000, 200 * 4e-3)
    rate[:40] *= 10
    count = random.poisson(rate)
    number = np.flatnonzero(count)
    found = number[lemons(count[number], 2_000, 0.05, 3).lemon]
    assert np.sum(found < 40) >= 25
    assert np.sum(found >= 40) <= 0.2 * len(found)


def test_two_outages_make_no_lemon_and_a_fleet_of_one_has_none() -> None:
    assert not lemons(np.array([2]), 10_000, 0.05, 3).lemon.any()
    assert not lemons(np.array([50]), 1, 0.05, 3).lemon.any()
    assert lemons(np.zeros(0, dtype=np.int64), 10, 0.05, 3).lemon.tolist() == []
