"""A training run's cost: hardware, network, energy, hours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.depreciation import economic_value_usd
from dcplan.economics.run_cost import (
    RunCost,
    accelerator_hours,
    amortized_hardware_usd,
    network_from_share_usd,
    run_energy_usd,
)

QUICK = settings(max_examples=60, deadline=None)


def test_amortised_hardware_by_hand() -> None:
    # 10,000 USD, one year old at half an order a year: 3,162.28; x 0.5 ln 10 / 8,760 = 0.415604
    # USD/h; 1,000 h
    usd = amortized_hardware_usd(10_000, 1.0, 1_000, oom_per_year=0.5, hours_per_year=8_760)
    assert usd == pytest.approx(3162.2777 * 1.1512925 / 8.76, rel=1e-6)
    assert amortized_hardware_usd(10_000, 1.0, 1_000, oom_per_year=0.0, hours_per_year=8_760) == 0.0
    # where values rise, owning has earned money
    assert amortized_hardware_usd(10_000, 1.0, 1_000, oom_per_year=-0.1, hours_per_year=8_760) < 0.0


@given(st.floats(0.0, 5.0), st.floats(0.01, 0.5))
@QUICK
def test_a_short_run_costs_what_the_market_takes_off(years: float, oom: float) -> None:
    hour = 1 / 8_766
    lost = economic_value_usd(1e6, years, oom) - economic_value_usd(1e6, years + hour, oom)
    assert amortized_hardware_usd(
        1e6, years, 1.0, oom_per_year=oom, hours_per_year=8_766
    ) == pytest.approx(lost, rel=1e-3)


def test_years_have_their_own_hours() -> None:
    long, short = (
        amortized_hardware_usd(1.0, 0.0, 1.0, oom_per_year=0.14, hours_per_year=hours)
        for hours in (8_766, 8_760)
    )
    assert short / long == pytest.approx(8_766 / 8_760)


def test_energy_by_hand() -> None:
    # 1.05 kW x 1.2 x 100 h = 126 kWh at 0.10
    assert run_energy_usd(1.05, 1.2, 100.0, 0.10) == pytest.approx(12.6)


def test_the_lines_sum_before_and_after_the_deflator() -> None:
    assert network_from_share_usd(75.0, 0.25) == pytest.approx(25.0)
    assert network_from_share_usd(75.0, 0.0) == 0.0
    cost = RunCost(75.0, 25.0, 10.0, 1.1)
    assert cost.nominal_usd == pytest.approx(110.0)
    assert cost.total_usd == pytest.approx(121.0)
    assert RunCost(75.0, 0.0, 10.0).total_usd == 85.0


def test_hours_from_parameters_and_tokens() -> None:
    # 6 x 1e9 x 3.6e12 = 2.16e22 FLOP over 1e15 x 0.5 x 3,600 a GPU-hour = 12,000
    hours = accelerator_hours(1e9, 3.6e12, 1000.0, 0.5)
    assert hours == pytest.approx(12_000.0)
    # with full recomputation eight FLOP for each parameter and token
    assert accelerator_hours(1e9, 3.6e12, 1000.0, 0.5, flops_per_param_token=8.0) == pytest.approx(
        16_000.0
    )


def test_samples_run_through() -> None:
    price = np.array([1e4, 2e4])
    hardware = amortized_hardware_usd(price, 1.0, 1000.0, oom_per_year=0.14, hours_per_year=8_766)
    cost = RunCost(hardware, network_from_share_usd(hardware, np.array([0.1, 0.2])), 5.0)
    assert cost.total_usd[0] == pytest.approx(hardware[0] / 0.9 + 5.0)
    assert cost.total_usd[1] == pytest.approx(hardware[1] / 0.8 + 5.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: amortized_hardware_usd(1, -1, 1, oom_per_year=0.1, hours_per_year=8766),
            "years must be at least 0",
        ),
        (
            lambda: amortized_hardware_usd(1, 1, 1, oom_per_year=0.1, hours_per_year=0),
            "hours_per_year must be above",
        ),
        (lambda: network_from_share_usd(1.0, 1.0), "1 - network_share_frac must be above 0"),
        (lambda: run_energy_usd(1.0, 0.9, 1.0, 0.1), "pue must be at least 1"),
        (lambda: accelerator_hours(1e9, 1e12, 1000.0, 40.0), "mfu_frac must be at most 1"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
