"""Spot hours: what interruptions cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.spot import spot_calendar_h, spot_usd_per_useful_h, spot_useful_frac

QUICK = settings(max_examples=80, deadline=None)
HOURS = st.floats(0.01, 5.0)


def test_without_interruptions_only_saves_cost_time() -> None:
    assert spot_useful_frac(0.0, 9.0, 1.0, 5.0) == pytest.approx(0.9)
    assert spot_usd_per_useful_h(1.8, 0.9) == pytest.approx(2.0)


def test_one_interruption_in_ten_hours_by_hand() -> None:
    # rate 0.1, work 1, save 0, restart 0: 0.1 / (e^0.1 - 1) = 0.1 / 0.1051709 = 0.950833
    assert spot_useful_frac(0.1, 1.0, 0.0, 0.0) == pytest.approx(0.950833, abs=1e-6)
    # a restart of 1 h: e^-0.1 of it
    assert spot_useful_frac(0.1, 1.0, 0.0, 1.0) == pytest.approx(0.950833 * np.exp(-0.1), abs=1e-6)


def test_rare_interruptions_lose_half_an_interval_and_a_restart() -> None:
    # first order: 1 - rate (interval / 2 + restart)
    assert spot_useful_frac(1e-4, 2.0, 0.0, 0.5) == pytest.approx(1 - 1e-4 * 1.5, abs=1e-7)


def test_the_formula_is_what_a_simulation_of_paid_hours_finds() -> None:
    random = np.random.default_rng(4)
    rate, work, save, restart, paid, segments = 0.3, 1.0, 0.1, 0.2, 0.0, 20_000
    for _ in range(segments):
        need = work + save
        while (free := random.exponential(1 / rate)) < need:
            paid += free
            need = restart + work + save  # the restart comes before the segment is tried again
        paid += need
    # Daly's formula lets a restart that is interrupted start again by itself, as here
    assert spot_useful_frac(rate, work, save, restart) == pytest.approx(
        segments * work / paid, rel=0.02
    )


@given(st.floats(0.0, 2.0), st.floats(0.0, 1.0), HOURS, HOURS, HOURS)
@QUICK
def test_more_interruptions_never_help(
    rate: float, more: float, work: float, save: float, restart: float
) -> None:
    few, many = (spot_useful_frac(r, work, save, restart) for r in (rate, rate + more))
    assert 0.0 < many <= few * (1 + 1e-12) <= work / (work + save) * (1 + 1e-9)


def test_the_rarest_interruption_is_none() -> None:
    assert spot_useful_frac(5e-324, 0.4, 0.1, 1.0) == pytest.approx(0.8)


def test_hopeless_capacity_does_no_work_and_does_not_overflow() -> None:
    assert spot_useful_frac(1e6, 1.0, 0.1, 1.0) == 0.0


def test_waits_are_calendar_and_not_paid() -> None:
    # 90 h of work at 0.9 are 100 paid hours; 0.02 interruptions an hour wait 5 h: 10 h more
    assert spot_calendar_h(90.0, 0.9, 0.02, 5.0) == pytest.approx(110.0)
    assert spot_calendar_h(90.0, 0.9, 0.02, 0.0) == pytest.approx(100.0)


def test_samples_pass() -> None:
    assert spot_useful_frac(np.array([0.0, 0.1]), 1.0, 0.0, 0.0) == pytest.approx(
        np.array([1.0, 0.950833]), abs=1e-6
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: spot_useful_frac(-0.1, 1.0, 0.0, 0.0), "interruptions_per_h must be at least 0"),
        (lambda: spot_useful_frac(0.1, 0.0, 0.0, 0.0), "interval_h must be above 0"),
        (lambda: spot_usd_per_useful_h(1.0, 0.0), "useful_frac must be above 0"),
        (lambda: spot_calendar_h(1.0, 1.1, 0.0, 0.0), "useful_frac must be at most 1"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
