"""Efficiency of the power chain against load, and load swings of training."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.facility.electrical.power import Stage, through
from dcplan.facility.swings import Step, remedy, swing

QUICK = settings(max_examples=80, deadline=None)
STEPS = st.builds(
    Step,
    st.floats(0.2, 20),
    st.floats(0.01, 0.6),
    st.floats(50, 100),
    st.floats(10, 50),
    st.floats(0.01, 0.5),
)


def test_power_shelf_at_half_load() -> None:
    """ORv3: about 97.5 % at half load, (0.006 + 0.027 x 0.25) / 0.5 = 2.55 % lost over the
    output."""
    assert Stage("shelf", 0.006, 0.0, 0.027).efficiency(0.5) == pytest.approx(1 / 1.0255)


def test_best_load_is_where_fixed_and_square_losses_are_equal() -> None:
    """a0 = a2 x^2: 0.012 / 0.019 -> 0.795."""
    ups = Stage("ups", 0.012, 0.0, 0.019)
    best = (0.012 / 0.019) ** 0.5
    assert all(ups.efficiency(best) > ups.efficiency(best + d) for d in (-0.2, -0.05, 0.05, 0.2))


@given(st.floats(0.05, 1.0), st.lists(st.floats(0.0, 0.02), min_size=3, max_size=3))
@QUICK
def test_a_chain_is_never_better_than_its_worst_stage(load: float, terms: list[float]) -> None:
    stages = [Stage("a", *terms), Stage("b", 0.005, 0.0, 0.02)]
    whole = through(stages, [load, load])
    assert 0.0 < whole <= min(s.efficiency(load) for s in stages) <= 1.0


def test_swing_by_hand() -> None:
    """80 MW that fall to 40 for a quarter of a 2 s step within 0.1 s: 40 MW, 0.5 Hz, 400 MW/s, mean
    70.

    Flat needs 40 x 0.25 x 0.75 x 2 = 15 MJ = 4.17 kWh and 30 MW; 100 MW/s leave 10 MW, a floor of
    70 and 7.5 MW more.
    """
    step = Step(2.0, 0.25, 80.0, 40.0, 0.1)
    s, r = swing(step), remedy(step, 100.0)
    assert (s.amplitude_mw, s.frequency_hz, s.ramp_mw_per_s, s.mean_mw) == pytest.approx(
        (40.0, 0.5, 400.0, 70.0)
    )
    assert (r.store_mw, r.store_kwh, r.floor_mw, r.extra_mw) == pytest.approx(
        (30.0, 15 / 3.6, 70.0, 7.5)
    )


@pytest.mark.parametrize(("low_share", "store_mw"), [(0.25, 30.0), (0.5, 20.0), (0.75, 30.0)])
def test_a_store_carries_the_larger_of_what_it_takes_and_gives(
    low_share: float, store_mw: float
) -> None:
    """80 MW that fall to 40 for a quarter, half and three quarters of the step: means of 70, 60 and
    50 MW.

    Flat, the store takes 30, 20 and 10 MW in the low phase and gives 10, 20 and 30 MW in the high
    one.
    """
    found = remedy(Step(2.0, low_share, 80.0, 40.0, 0.1), 100.0)
    assert found.store_mw == pytest.approx(store_mw, rel=1e-12)


@given(STEPS, st.floats(0, 5000))
@QUICK
def test_a_floor_keeps_the_limit_and_burns_no_more_than_a_flat_load(
    step: Step, limit: float
) -> None:
    r, s = remedy(step, limit), swing(step)
    assert (step.high_mw - r.floor_mw) / step.edge_s <= max(
        limit, 0.0
    ) + 1e-6 or s.ramp_mw_per_s <= limit
    assert -1e-9 <= r.extra_mw <= step.high_mw - s.mean_mw + 1e-9
    assert step.low_mw - 1e-9 <= r.floor_mw <= step.high_mw
