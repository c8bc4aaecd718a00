"""What is refused, and in which words."""

from __future__ import annotations

import numpy as np
import pytest

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
def test_outside_a_range_is_refused_in_plain_words(low: float, high: float, value: float, words: str) -> None:
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
