"""What is refused, and in which words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dcplan.economics import break_even, rental, run_cost, spot, tariffs, utilization
from dcplan.economics.ranges import above, as_value, none_if_never, within


@pytest.mark.parametrize(
    ("low", "high", "value", "words"),
    [
        (0.0, 1.0, 1.5, "x must be from 0 to 1, got 1.5"),
        (0.0, np.inf, -2, "x must be at least 0, got -2"),
        (-np.inf, 1.0, 2, "x must be at most 1, got 2"),
        (-np.inf, np.inf, np.nan, "x must be a number, got nan"),
    ],
)
def test_outside_a_range_is_refused_in_plain_words(
    low: float, high: float, value: float, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        within("x", [0.5, value], low, high)


def test_the_ends_of_a_range_are_inside() -> None:
    assert within("x", [0.0, 1.0], 0.0, 1.0).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_above_refuses_the_bound_and_what_is_no_number(value: float) -> None:
    with pytest.raises(ValueError, match="x must be above 0"):
        above("x", value)


def test_one_number_stays_a_float_and_samples_stay_an_array() -> None:
    assert isinstance(as_value(np.array(1.5)), float)
    assert as_value(np.array([1.5])).shape == (1,)
    assert none_if_never(2.0) == 2.0
    assert none_if_never(np.nan) is None


NOTHING = utilization.Utilization(0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: rental.goodput_loss_usd(0.0, 0.5),
        lambda: tariffs.tiered_usd(0.0, [0.5], [0.0, 0.0]),
        lambda: rental.amortized_usd_per_h(0.0, 0.0, 12, 0.5),
        lambda: rental.cover([rental.Usage("a", 0.0, 0.0)]).total_usd,
        lambda: spot.spot_usd_per_useful_h(0.0, 0.5),
        lambda: spot.spot_calendar_h(0.0, 0.5, 0.0, 0.0),
        lambda: run_cost.amortized_hardware_usd(
            0.5, 0.0, 0.0, oom_per_year=0.1, hours_per_year=0.5
        ),
        lambda: run_cost.run_energy_usd(0.0, 1.0, 0.0, 0.5),
        lambda: run_cost.accelerator_hours(0.0, 0.0, 0.5, 0.5),
        lambda: utilization.delivered_pflop_days(0.0, 0.0, 0.0, NOTHING),
        lambda: utilization.usd_per_accelerator_hour(0.0, 0.5, 0.5, NOTHING, "owned"),
        lambda: utilization.usd_per_million_trained_tokens(0.0, 0.5),
        lambda: break_even.break_even_hours(0.0, 0.5, 0.0),
    ],
)
def test_nothing_costs_nothing_and_halves_are_numbers(call: Callable[[], float]) -> None:
    assert call() == 0.0
