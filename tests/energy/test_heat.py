"""Waste heat for a buyer: heat pump by hand."""

from __future__ import annotations

import pytest

from dcplan.energy.heat import cop, lifted


def test_a_heat_pump_by_hand() -> None:
    """From 43.75 to 70 C at half of Carnot: 0.5 x 343.15 / 26.25 = 6.536. One MWh of waste heat takes
    1 / 5.536 = 0.1806 MWh of electricity, and both reach the buyer."""
    assert cop(43.75, 70.0, 0.5) == pytest.approx(6.536, abs=5e-4)
    found = lifted(43.75, 70.0, 0.5)
    assert found.electricity == pytest.approx(0.1806, abs=5e-5)
    assert found.delivered == pytest.approx(1.0 + found.electricity)


def test_warm_water_needs_no_pump() -> None:
    assert (lifted(50.0, 50.0, 0.5).delivered, lifted(50.0, 50.0, 0.5).electricity) == (1.0, 0.0)
    with pytest.raises(ValueError, match="needs no heat pump"):
        cop(50.0, 50.0, 0.5)


def test_a_pump_that_takes_more_than_it_gives_is_refused() -> None:
    """0.2 x 423.15 / 130 = 0.65."""
    with pytest.raises(ValueError, match=r"COP of 0\.65"):
        cop(20.0, 150.0, 0.2)
