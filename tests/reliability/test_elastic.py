"""Elastic replicas: by hand, against an event simulation, against the job without them."""

from __future__ import annotations

import heapq
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import poisson

from dcplan.reliability.elastic import elastic_kept
from dcplan.reliability.job import Machine, Policy
from dcplan.reliability.outlook import Outlook, outlook
from dcplan.reliability.spares import short_units

SERVER = Machine((4e-4, 5e-4, 7e-4), 1.2e-4, 7e-6, 0.95, 8, 1, 25.0, planned_frac=0.1)
USUAL = Policy(
    (0.04, 0.13, 0.42), 120.0, 2.0, 300.0, 0.08, (0.0, 0.005, 0.02), 1.0, 44.0, 0.99, 22.0
)
ELASTIC = replace(
    USUAL, replica_accelerators=1024, stall_s=(19.0, 60.0, 300.0), whole_stops_per_day=0.87
)
COUNTS = np.array([512.0, 1024.0, 16384.0, 131072.0, 1048576.0])
QUICK = settings(max_examples=60, deadline=None)


def _look(policy: Policy = ELASTIC, machine: Machine = SERVER) -> Outlook:
    return outlook(machine, policy, COUNTS, 5.7e12, np.full(COUNTS.shape, 8.0), 60.0)


def _value(policy: Policy = ELASTIC, machine: Machine = SERVER) -> np.ndarray:
    return np.asarray(_look(policy, machine).goodput.value)


def played(rate: float, replicas: int, stall_s: float, rejoin_s: float, stops: int) -> float:
    """Play stops one by one; return the mean share of replicas that train at one time.

    A stop makes all replicas wait until `stall_s` after it, and its own until `rejoin_s` after it.
    """
    rng = np.random.default_rng(7)
    now, stalled_to, trained = 0.0, 0.0, 0.0
    back: dict[int, float] = {}
    rejoining: list[tuple[float, int]] = []
    for gap in rng.exponential(1.0 / rate, stops):
        end, at = now + gap, max(now, stalled_to)
        # between two stops, replicas only come back
        while rejoining and rejoining[0][0] <= end:
            time, which = heapq.heappop(rejoining)
            if back.get(which) != time:
                continue  # it stopped again while it was out
            if time > at:
                trained += (time - at) * (replicas - len(back))
                at = time
            del back[which]
        trained += max(end - at, 0.0) * (replicas - len(back))
        now, stalled_to = end, end + stall_s
        hit = int(rng.integers(replicas))
        back[hit] = now + rejoin_s
        heapq.heappush(rejoining, (back[hit], hit))
    return trained / replicas / now


@pytest.mark.parametrize(
    ("stops_per_day", "replicas", "stall_s", "rejoin_s"),
    [
        (80.0, 24, 180.0, 480.0),  # 100,000 accelerators
        (500.0, 256, 20.0, 600.0),  # a million, a short stall
        (500.0, 256, 180.0, 600.0),  # a million, a long one
        (500.0, 16, 0.0, 3600.0),  # large replicas that nobody waits for
        (1440.0, 30, 19.0, 24.0),  # torchft's failure every 60 s
    ],
)
def test_the_closed_form_is_the_played_run(
    stops_per_day: float, replicas: int, stall_s: float, rejoin_s: float
) -> None:
    kept = elastic_kept(stops_per_day, replicas, stall_s, rejoin_s)
    found = played(stops_per_day / 86_400, replicas, stall_s, rejoin_s, 200_000)
    assert float(kept.moving) * float(kept.present) == pytest.approx(found, abs=0.005)


def test_by_hand() -> None:
    # 86.4 stops a day are one in 1,000 s; stall 100 s: e^-0.1. Of 10 replicas each stops once in
    # 10,000 s and is out 200 s longer: e^-0.02; one node without a spare takes one of ten out: 0.9
    kept = elastic_kept(86.4, 10, 100.0, 300.0, 1.0)
    assert float(kept.moving) == pytest.approx(math.exp(-0.1))
    assert float(kept.present) == pytest.approx(math.exp(-0.02) * 0.9)


def test_torchft_loses_what_was_measured() -> None:
    # PyTorch blog, 300 L40S: a failure every 60 s at fixed times, steps of 9 s without failures;
    # 5,145 of 6,249 steps of 10.9 s were kept, 29.6 of 30 groups took part
    measured = 5145 * 9.0 * 29.6 / 30 / (6249 * 10.9)
    assert measured == pytest.approx(0.671, abs=0.001)
    # one step of 9 s is repeated and two timeouts of 5 s pass; random stops overlap, fixed ones
    # leave 1 - 19/60 = 0.683 instead of e^(-19/60) = 0.729
    kept = elastic_kept(86_400 / 60, 30, 19.0, 24.0)
    assert float(kept.moving) * float(kept.present) == pytest.approx(measured, abs=0.06)
    assert pytest.approx(measured, abs=0.015) == 1 - 19 / 60


@given(st.floats(0.01, 2000.0), st.integers(0, 300))
@QUICK
def test_units_without_a_spare_are_scipys(mean: float, spares: int) -> None:
    n = np.arange(spares + 1, spares + 20_000)
    assert short_units(mean, spares) == pytest.approx(
        float(((n - spares) * poisson.pmf(n, mean)).sum()), rel=1e-6, abs=1e-9
    )


@given(
    st.floats(0.0, 5000.0),
    st.integers(2, 4096),
    st.floats(0.0, 1000.0),
    st.floats(0.0, 1e5),
    st.floats(0.0, 1000.0),
    st.floats(1.0, 5.0),
)
@QUICK
def test_more_of_anything_bad_keeps_less(
    rate: float, replicas: int, stall_s: float, rejoin_s: float, short: float, more: float
) -> None:
    def kept(rate: float, replicas: float, stall_s: float, rejoin_s: float, short: float) -> float:
        found = elastic_kept(rate, replicas, stall_s, rejoin_s, short)
        assert 0.0 <= float(found.moving) <= 1.0
        assert 0.0 <= float(found.present) <= 1.0
        return float(found.moving) * float(found.present)

    usual = kept(rate, replicas, stall_s, rejoin_s, short) + 1e-12
    assert kept(rate * more, replicas, stall_s, rejoin_s, short) <= usual
    assert kept(rate, replicas, stall_s * more, rejoin_s, short) <= usual
    assert kept(rate, replicas, stall_s, rejoin_s * more, short) <= usual
    assert kept(rate, replicas, stall_s, rejoin_s, short * more) <= usual
    # fewer, larger replicas
    assert kept(rate, max(replicas // 2, 2), stall_s, rejoin_s, short) <= usual


def test_one_replica_is_the_job_without_them() -> None:
    plain, elastic = _look(USUAL), _look(ELASTIC)
    one = COUNTS < 2 * 1024
    assert (np.asarray(elastic.replicas)[one] == 1.0).all()
    for name in ("value", "low", "high"):
        assert np.allclose(
            np.asarray(getattr(elastic.goodput, name))[one],
            np.asarray(getattr(plain.goodput, name))[one],
            rtol=1e-12,
        )
    assert not plain.elastic
    assert (np.asarray(plain.whole_stops_per_day) == np.asarray(plain.stops_per_day)).all()


def test_replicas_pay_at_size_and_every_loss_is_counted() -> None:
    found, plain = _look(), _value(USUAL)
    lost = found.losses
    names = ("saves", "lost_work", "restarts", "slow", "waiting", "stalls", "absent")
    parts = [np.asarray(getattr(lost, name)) for name in names]
    assert all((p >= -1e-12).all() for p in parts)
    assert np.allclose(sum(parts) + np.asarray(lost.goodput_frac), 1.0)
    value = np.asarray(found.goodput.value)
    assert (value[2:] > plain[2:]).all()
    assert plain[-1] < 0.02
    assert value[-1] > 0.4


def test_slower_recovery_and_larger_replicas_give_less() -> None:
    usual = _value()
    fixed = replace(ELASTIC, spares=2)
    assert (_value(replace(ELASTIC, rejoin_h=2.0)) <= usual).all()
    assert (_value(replace(ELASTIC, stall_s=(60.0, 120.0, 300.0))) <= usual).all()
    assert (_value(replace(ELASTIC, replica_accelerators=8192))[3:] < usual[3:]).all()
    assert (_value(replace(fixed, repair_h=88.0)) <= _value(fixed)).all()
    more = replace(SERVER, stops_per_day=(8e-4, 1e-3, 1.4e-3))
    assert (_value(machine=more) < usual).all()


def test_planned_stops_are_those_of_the_job() -> None:
    found = _look()
    # 16,384 x 5e-4 = 8.192 stops, a tenth of them planned; a larger job has at most 0.87
    assert found.whole_stops_per_day[2] == pytest.approx(0.8192)
    assert found.stops_per_day[2] == pytest.approx(8.192)
    assert (found.whole_stops_per_day[3:] == 0.87).all()
    given = _look(replace(ELASTIC, whole_at_any_size=True))
    assert (given.whole_stops_per_day[2:] == 0.87).all()


@pytest.mark.parametrize("planned_frac", [0.0, 0.1])
def test_elastic_replicas_are_no_worse_than_one_replica(planned_frac: float) -> None:
    """A given rate counts failures only, with replicas and without: no planned stop is added.

    512 accelerators stop 0.26 times a day; 0.87 stops of the complete job would cost more.
    """
    machine = replace(SERVER, planned_frac=planned_frac)
    small = replace(ELASTIC, replica_accelerators=64)
    together = _value(replace(small, replica_accelerators=None), machine)
    assert (_value(small, machine) >= together).all()


def test_a_replica_holds_a_model_parallel_group() -> None:
    group = np.full(COUNTS.shape, 4096.0)
    found = outlook(SERVER, ELASTIC, COUNTS, 5.7e12, group, 60.0)
    assert found.replicas.tolist() == [1.0, 1.0, 4.0, 32.0, 256.0]
