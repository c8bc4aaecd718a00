"""Energy storage for load swings by event, and the batch of the job."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.answers.facility.answer import facility
from dcplan.facility.swings import event_kwh

HALL: dict[str, Any] = {
    "site": "us-ashburn",
    "cooling": "direct-liquid-tower",
    "system": "gb300-nvl72",
    "it_mw": 50.0,
    "job": "llama-3.1-70b",
}


def test_end_of_a_job_and_a_pause() -> None:
    """22.5^2 / (2 x 5) = 50.6 MJ = 14.1 kWh; 22.5 MW x 30 s = 187.5 kWh; under 1 MW/s for 10 s
    22.5 x 10 - 1 x 100 / 2 = 175 MJ."""
    assert event_kwh(22.5, math.inf, 5.0) == pytest.approx(22.5**2 / 10 / 3.6)
    assert event_kwh(22.5, 30.0, 0.0) == pytest.approx(187.5)
    assert event_kwh(22.5, 10.0, 1.0) == pytest.approx(175 / 3.6)
    assert event_kwh(22.5, math.inf, 0.0) is None


@given(st.floats(0.1, 500), st.floats(0.01, 1000), st.floats(0.01, 100))
def test_longer_events_and_slower_ramps_need_more(fall: float, lasts: float, limit: float) -> None:
    here = event_kwh(fall, lasts, limit) or 0.0
    assert 0.0 <= here <= fall * lasts / 3.6 + 1e-9
    assert (event_kwh(fall, 2 * lasts, limit) or 0.0) >= here - 1e-9
    assert (event_kwh(fall, lasts, limit / 2) or 0.0) >= here - 1e-9


def test_events_of_a_hall() -> None:
    """F8: 333 racks of 135 kW fall by half in a wait: 22.4775 MW; a stop leaves idle power alone."""
    found = facility(ramp_limit_mw_per_s=5.0, **HALL)
    rows = found.frame("swing_events").set_index("event")
    pause = rows.loc["checkpoint pause"]
    t = float(pause["lasts_s"])
    assert pause["fall_mw"] == pytest.approx(22.4775)
    assert pause["store_kwh"] == pytest.approx((22.4775 * t - 5 * t * t / 2) / 3.6)
    end = rows.loc["end of the job"]
    assert end["fall_mw"] > 22.4775
    assert end["store_kwh"] == pytest.approx(end["fall_mw"] ** 2 / 10 / 3.6)


def test_batch_of_the_job() -> None:
    small, large = (
        facility(job_batch_tokens=tokens, **HALL).value("swing.frequency_hz")
        for tokens in (4e6, 16e6)
    )
    assert facility(**HALL).value("swing.frequency_hz") == small
    assert large < 0.6 * small  # four times the tokens; the exchange takes the same time
