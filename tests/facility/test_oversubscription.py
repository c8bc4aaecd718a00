"""Risk of oversubscribed feeds: hand-counted binomials and what must hold for every one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.facility.oversubscription import risk


def test_three_jobs_by_hand() -> None:
    """At 0.9 and 0.3 of rated power on a feed for 1/1.3: k jobs of three draw 0.39, 0.65, 0.91 and
    1.17 of it."""
    found = risk(3, 0.7, 0.9, 0.3, 1.3)
    assert found.over_frac == pytest.approx(0.7**3)
    assert found.mean_over_frac == pytest.approx(0.17)
    assert found.worst_frac == pytest.approx(1.17)


def test_no_risk_below_the_feed() -> None:
    assert risk(5, 0.9, 0.8, 0.2, 1.2).over_frac == 0.0


@given(
    jobs=st.integers(1, 60),
    busy=st.floats(0.05, 0.95),
    high=st.floats(0.5, 1.0),
    low=st.floats(0.0, 0.5),
    ratio=st.floats(1.0, 2.0),
)
def test_more_racks_on_a_feed_never_lower_the_risk(
    jobs: int, busy: float, high: float, low: float, ratio: float
) -> None:
    less, more = risk(jobs, busy, high, low, ratio), risk(jobs, busy, high, low, ratio + 0.1)
    assert 0.0 <= less.over_frac <= more.over_frac + 1e-12 <= 1.0 + 1e-9


def test_many_jobs_average_out_where_the_mean_fits() -> None:
    """Mean load 1.2 x (0.6 x 0.9 + 0.4 x 0.3) = 0.79 of the feed: the more jobs, the rarer the
    excess."""
    found = [risk(j, 0.6, 0.9, 0.3, 1.2).over_frac for j in (1, 8, 64)]
    assert found[0] > found[1] > found[2]
    assert found[2] < 1e-3
