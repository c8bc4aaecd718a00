"""Numbers for people: the column's name decides the form."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.report.text.numbers import is_number, shown


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("gap_frac", 0.0104, "1.04%"),
        ("solver.gap_frac", 0.5, "50.00%"),
        ("price_usd", 170e6, "170 M"),
        ("usd", -138e6, "-138 M"),
        ("cost.capex_usd", 1.1e9, "1.1 bn"),
        ("racks", 50, "50"),
        ("racks", 9999, "9,999"),
        ("racks", 10_000, "10,000"),
        ("accelerators", 24_576, "24,576"),
        ("days", 85.734, "85.73"),
        ("days", 86.0, "86"),
        ("w", 123_456.7, "123,457"),
        ("usd_per_kwh", 0.0892, "0.0892"),  # a price per unit is not an amount: no powers
        ("fabric", None, "-"),
        ("cost_usd", None, "-"),
        ("sold", True, "yes"),
        ("gap_frac", "n/a", "n/a"),
    ],
)
def test_shown_follows_the_column_name(name: str, value: object, text: str) -> None:
    assert shown(name, value) == text


@given(st.floats(min_value=-1e12, max_value=1e12, allow_nan=False))
@settings(max_examples=100, deadline=None)
def test_shown_keeps_four_digits(value: float) -> None:
    # four significant digits: at most half of the last, 0.5e-3 of the value; above 100,000 whole
    # units are kept
    assert float(shown("x", value).replace(",", "")) == pytest.approx(
        value, rel=5.01e-4, abs=1e-300
    )


@given(st.floats(min_value=0.0, max_value=10.0))
@settings(max_examples=50, deadline=None)
def test_fractions_are_shown_as_percent_with_two_decimals(value: float) -> None:
    text = shown("x_frac", value)
    assert text.endswith("%")
    assert float(text[:-1]) / 100 == pytest.approx(value, abs=0.5001e-4)


def test_truth_values_are_not_numbers() -> None:
    assert [is_number(x) for x in (1, 1.5, True, None, "1")] == [True, True, False, False, False]
