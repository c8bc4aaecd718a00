"""Elastic replicas against plain simulation, and setbacks and ramps of a run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dcplan.reliability.elastic import elastic_kept, replica_count, split_stops
from dcplan.reliability.setbacks import Setbacks, ramp_phases, setback_shares
from dcplan.reliability.spares import short_units


def simulated(
    stops_per_day: float, replicas: int, stall_s: float, rejoin_s: float, days: float
) -> tuple[float, float]:
    """Return the share of time without a stall, and the mean share of replicas that train then."""
    rng = np.random.default_rng(7)
    count = rng.poisson(stops_per_day * days)
    when = np.sort(rng.uniform(0.0, days * 86_400.0, count))
    which = rng.integers(0, replicas, count)
    every = np.arange(0.0, days * 86_400.0, 7.0)
    last = np.searchsorted(when, every) - 1
    moving = (last < 0) | (every - when[np.maximum(last, 0)] >= stall_s)
    present = np.zeros(every.size)
    for replica in range(replicas):
        own = when[which == replica]
        at = np.searchsorted(own, every) - 1
        present += (at < 0) | (every - own[np.maximum(at, 0)] >= rejoin_s)
    return float(moving.mean()), float(present[moving].mean() / replicas)


@pytest.mark.parametrize(
    ("stops", "replicas", "stall_s", "rejoin_s"),
    [(80.0, 24, 180.0, 480.0), (20.0, 4, 60.0, 1800.0), (400.0, 16, 30.0, 300.0)],
)
def test_the_closed_form_is_that_of_random_stops(
    stops: float, replicas: int, stall_s: float, rejoin_s: float
) -> None:
    kept = elastic_kept(stops, replicas, stall_s, rejoin_s)
    moving, present = simulated(stops, replicas, stall_s, rejoin_s, 60.0)
    assert float(kept.moving) == pytest.approx(moving, abs=0.01)
    assert float(kept.present) == pytest.approx(present, abs=0.01)


def test_more_stops_longer_repairs_and_fewer_replicas_keep_less() -> None:
    base = elastic_kept(100.0, 8, 60.0, 600.0, 0.5)
    assert elastic_kept(200.0, 8, 60.0, 600.0, 0.5).moving < base.moving
    assert elastic_kept(100.0, 8, 60.0, 1200.0, 0.5).present < base.present
    assert elastic_kept(100.0, 4, 60.0, 600.0, 0.5).present < base.present
    assert elastic_kept(100.0, 8, 60.0, 600.0, 1.0).present < base.present
    assert elastic_kept(0.0, 8, 60.0, 600.0).moving == 1.0


def test_one_replica_is_the_whole_job() -> None:
    counts = replica_count(np.array([100_000.0]), None, np.array([8.0]))
    split = split_stops(np.array([50.0]), counts, 0.1, 0.5)
    assert (counts[0], split.whole[0], split.single[0]) == (1.0, 50.0, 0.0)


def test_units_without_a_spare_by_hand() -> None:
    """Mean 2 and one spare: E[max(X - 1, 0)] = 2 - 1 + P(X = 0) = 1 + e^-2."""
    assert short_units(2.0, 1) == pytest.approx(1.0 + math.exp(-2.0))


def test_setbacks_by_hand() -> None:
    """20 days of 5,000 steps: 5 rollbacks of 100 steps add 2 days, 4 restarts of 12 h 2: 24 / 0.8."""
    shares = setback_shares(Setbacks(5, 100, 4, 12.0, 0.2), 5000, 20.0)
    assert shares.rollbacks == pytest.approx(2.0 / 30.0)
    assert shares.manual_restarts == pytest.approx(2.0 / 30.0)
    assert shares.kept_frac == pytest.approx(20.0 / 30.0)


def test_a_ramp_keeps_its_tokens_and_steps() -> None:
    """PaLM-like: 1 to 4 M tokens a step by half a million over 60 G tokens, 10 G at each of six."""
    every = ramp_phases(1e6, 5e5, 4e6, 60e9, 100)
    joined = ramp_phases(1e6, 5e5, 4e6, 60e9, 3)
    assert len(every) == 6
    assert len(joined) == 3
    for phases in (every, joined):
        assert sum(tokens for tokens, _ in phases) == pytest.approx(60e9)
        steps = sum(tokens / batch for tokens, batch in phases)
        assert steps == pytest.approx(sum(10e9 / b for b in (1e6, 1.5e6, 2e6, 2.5e6, 3e6, 3.5e6)))
    with pytest.raises(ValueError, match="does not lead"):
        ramp_phases(1e6, 7e5, 4e6, 60e9, 3)
