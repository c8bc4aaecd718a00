"""Checkpoints and goodput: published examples, and the closed form against a run played through
stop by stop."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.reliability.checkpoint import blocking_s, checkpoint_bytes, daly_interval_s
from dcplan.reliability.goodput import Recovery, Tier, best_interval_s, losses, renewal_time_frac
from dcplan.reliability.simulation import Hazards, simulate
from dcplan.reliability.spares import waiting_frac

QUICK = settings(max_examples=60, deadline=None)
DAY = 86400.0


def first_order_frac(stops: float, save: float, interval: float, restart: float) -> float:
    """Kokolis et al. 2024, section III-E: (1 - l (R + dt / 2)) / (1 + w / dt), from 0 to 1."""
    kept = 1.0 - stops / DAY * (restart + interval / 2.0)
    return min(max(kept / (1.0 + save / interval), 0.0), 1.0)


def test_intervals_of_public_examples() -> None:
    # w 10 s, MTTF 6,000 s: 339.8; Daly 2006, figures 3 to 5: saves of 300 s, 117, 57 and 9.1 min
    assert daly_interval_s(10, 6000) == pytest.approx(339.8, abs=0.05)
    assert daly_interval_s(300, 86400) / 60 == pytest.approx(117, abs=0.5)
    assert daly_interval_s(300, 21600) / 60 == pytest.approx(57, abs=0.5)
    assert daly_interval_s(300, 900) / 60 == pytest.approx(9.1, abs=0.05)
    assert daly_interval_s(500, 100) == pytest.approx(100)  # a save longer than twice the MTTF


@pytest.mark.parametrize(
    ("per_node_day", "save", "expected", "interval"),
    # Kokolis et al. 2024: 12,000 accelerators (1,500 nodes), restart 300 s; to first order
    [(1e-3, 300, 0.898, 5879), (6.5e-3, 10, 0.921, 421), (6.5e-3, 300, 0.740, 2306)],
)
def test_effective_time_of_12000_accelerators(
    per_node_day: float, save: float, expected: float, interval: float
) -> None:
    stops = 1500 * per_node_day
    assert first_order_frac(stops, save, interval, 300) == pytest.approx(expected, abs=5e-4)
    found = renewal_time_frac(stops, Tier(save, interval, 300))
    assert found == pytest.approx(expected, abs=5e-3)


@pytest.mark.parametrize(
    ("nodes", "save", "restart", "expected"),
    # Llama 3 (published above 0.90) and ByteRobust (0.97) at 3.789 stops a thousand node-days
    [(2048, 10, 600, 0.906), (1200, 1, 300, 0.974)],
)
def test_effective_time_of_production_runs(
    nodes: int, save: float, restart: float, expected: float
) -> None:
    stops = nodes * 3.789e-3
    tier = Tier(save, float(best_interval_s(stops, save, 0.0)), restart)
    assert renewal_time_frac(stops, tier) == pytest.approx(expected, abs=3e-3)


def test_checkpoint_sizes_and_writes() -> None:
    # 405 B x 16 bytes at 250 GB/s: 26 s; BLOOM's 2.3 TB in 40 s: 57.5 GB/s
    assert blocking_s(checkpoint_bytes(405e9, 4, 12), 2048, 20, 250) == pytest.approx(26, abs=0.1)
    assert blocking_s(2.3e12, 48, 1e9, 57.5) == pytest.approx(40)


RUNS = [
    pytest.param(7.76, Tier(10.0, 465.0, 600.0), None, 0.0, id="llama-3"),
    pytest.param(9.75, Tier(300.0, 2306.0, 300.0), None, 0.0, id="rsc-1, slow writes"),
    pytest.param(1.5, Tier(300.0, 5879.0, 300.0), None, 0.0, id="rsc, few failures"),
    pytest.param(7.76, Tier(10.0, 1800.0, 900.0), Tier(0.5, 60.0, 400.0), 0.8, id="peers"),
    pytest.param(60.0, Tier(2.0, 75.0, 720.0), None, 0.0, id="131,072 accelerators"),
]


@pytest.mark.parametrize(("stops", "durable", "peer", "share"), RUNS)
def test_closed_form_is_what_runs_played_through_give(
    stops: float, durable: Tier, peer: Tier | None, share: float
) -> None:
    recovery = Recovery(durable, peer, share)
    simulation = simulate(40.0, recovery, Hazards(stops), 200, 7)
    assert simulation.goodput_frac(40.0) == pytest.approx(
        float(losses(stops, recovery).goodput_frac), abs=0.01
    )
    # stops come at their rate over the whole wall-clock time
    assert simulation.stops.mean() == pytest.approx(stops * simulation.days.mean(), rel=0.03)


@pytest.mark.parametrize("spares", [4, 8, 12])
def test_waiting_for_spares_is_erlangs(spares: int) -> None:
    """7.76 stops a day, 40 % take a node out for 44 h: 5.7 in repair. Repairs go on during
    restarts: 3 points."""
    recovery = Recovery(Tier(2.0, 200.0, 60.0))
    simulation = simulate(40.0, recovery, Hazards(7.76, 0.4, spares, 44.0), 200, 7)
    lost = losses(7.76, recovery, 0.0, waiting_frac(7.76 * 0.4 * 44 / 24, spares))
    assert simulation.goodput_frac(40.0) == pytest.approx(float(lost.goodput_frac), abs=0.03)
    assert simulation.waited_days.mean() > 0


def test_early_failures_stop_more_at_first() -> None:
    """3 times the stops at the start, fading over 30 days: 1 + 2 (30/40)(1 - e^(-40/30)) = 2.105
    times over 40 days."""
    recovery = Recovery(Tier(0.1, 300.0, 1.0))
    settled = simulate(40.0, recovery, Hazards(5.0), 300, 3).stops.mean()
    early = simulate(
        40.0, recovery, Hazards(5.0, early_factor=2.0, early_days=30.0), 300, 3
    ).stops.mean()
    assert early / settled == pytest.approx(2.105, rel=0.03)


def test_the_same_seed_gives_the_same_days() -> None:
    recovery = Recovery(Tier(10.0, 500.0, 600.0))
    one, two, other = (simulate(30.0, recovery, Hazards(5.0), 50, seed).days for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_run_that_never_gets_on_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dcplan.reliability.simulation.MOST_STOPS", 300)
    with pytest.raises(ValueError, match="does not end"):
        simulate(30.0, Recovery(Tier(10.0, 86400.0, 600.0)), Hazards(200.0), 3, 1)


def test_thousand_replicas_of_a_long_run_take_seconds() -> None:
    """The goal: 1,000 replicas of a 90-day run on 16,384 accelerators under 5 s; measured 0.2 s."""
    began = time.perf_counter()
    simulation = simulate(
        90.0, Recovery(Tier(10.0, 465.0, 600.0)), Hazards(7.76, 0.4, 24, 44.0), 1000, 1
    )
    assert time.perf_counter() - began < 5.0
    assert simulation.days.size == 1000


@given(st.floats(0.01, 50.0), st.floats(0.1, 300.0), st.floats(10.0, 3000.0))
@QUICK
def test_first_order_and_renewal_agree_where_stops_are_rare(
    stops: float, save: float, restart: float
) -> None:
    interval = float(best_interval_s(stops, save, 0.0))
    exact = float(renewal_time_frac(stops, Tier(save, interval, restart)))
    plain = first_order_frac(stops, save, interval, restart)
    assert 0 <= exact <= 1
    share = stops / DAY * (restart + interval + save)
    assert abs(exact - plain) <= share**2 + save / interval * share + 1e-9


@given(st.floats(0.5, 20.0), st.floats(1.0, 100.0), st.floats(60.0, 1000.0))
@QUICK
def test_no_other_interval_is_much_better(stops: float, save: float, restart: float) -> None:
    best = float(best_interval_s(stops, save, 0.0))
    kept = float(renewal_time_frac(stops, Tier(save, best, restart)))
    for other in (0.5 * best, 0.8 * best, 1.25 * best, 2.0 * best):
        assert kept >= float(renewal_time_frac(stops, Tier(save, other, restart))) - 2e-4


@given(st.floats(0.1, 50.0), st.floats(0.0, 0.2), st.floats(0.0, 0.2))
@QUICK
def test_losses_and_goodput_are_all_of_the_time(stops: float, slow: float, waiting: float) -> None:
    found = losses(
        stops, Recovery(Tier(5.0, 400.0, 500.0), Tier(0.5, 60.0, 200.0), 0.7), slow, waiting
    )
    parts = (found.saves, found.lost_work, found.restarts, found.slow, found.waiting)
    assert all(float(p) >= 0 for p in parts)
    assert sum(float(p) for p in parts) + float(found.goodput_frac) == pytest.approx(1.0)


def test_a_peers_copy_is_not_durable() -> None:
    """Half of the stops lose the peers' copies, and the durable tier never saves: the run goes
    back to its start."""
    recovery = Recovery(Tier(10.0, 1e9, 600.0), Tier(1.0, 100.0, 300.0), 0.5)
    with pytest.raises(ValueError, match="does not end"):
        simulate(10.0, recovery, Hazards(20.0), 5, 1)


def test_restarts_that_are_always_hit_are_said_so() -> None:
    with pytest.raises(ValueError, match="every restart"):
        simulate(1.0, Recovery(Tier(1.0, 100.0, 1e7)), Hazards(1000.0), 2, 1)


@given(st.floats(0.1, 20.0), st.floats(1.0, 30.0), st.floats(60.0, 900.0), st.floats(0.0, 0.99))
@settings(max_examples=12, deadline=None)
def test_closed_form_holds_for_random_habits(
    stops: float, save: float, restart: float, share: float
) -> None:
    """While stops are rare against restarts: within a point of the run played through, and its
    scatter."""
    durable = Tier(save, float(best_interval_s(stops, save, 0.0)), restart)
    recovery = Recovery(durable, Tier(0.5, 60.0, restart / 2), share)
    simulation = simulate(60.0, recovery, Hazards(stops), 100, 3)
    scatter = simulation.days.std() / simulation.days.mean() / 10.0
    closed = float(losses(stops, recovery).goodput_frac)
    assert simulation.goodput_frac(60.0) == pytest.approx(closed, abs=0.01 + 3 * scatter)
