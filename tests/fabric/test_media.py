"""Media by reach: the cheapest that reaches, ties, and what is said when none does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.fabric.media import Medium, pick

QUICK = settings(max_examples=60, deadline=None)


def _medium(
    name: str, reach_m: float, usd: float, kw: float = 0.0, usd_per_m: float = 0.0
) -> Medium:
    return Medium(name, "dac", reach_m, usd, usd / 2, usd * 2, kw, usd_per_m)


COPPER = _medium("copper", 2.0, 170.0)
ACTIVE = _medium("active", 5.0, 450.0, 0.016)
LIGHT = _medium("light", 500.0, 1300.0, 0.03, 2.0)
FAR = _medium("far", 2000.0, 1400.0, 0.034, 1.0)
ALL = [FAR, LIGHT, ACTIVE, COPPER]
MEDIA = st.lists(
    st.builds(
        _medium,
        st.sampled_from("abcdefgh"),
        st.sampled_from([1.0, 3.0, 30.0, 500.0]),
        st.sampled_from([100.0, 200.0, 300.0]),
        st.sampled_from([0.0, 0.01, 0.02]),
        st.sampled_from([0.0, 1.0]),
    ),
    max_size=8,
)


@pytest.mark.parametrize(
    ("meters", "best"),
    [
        (0.5, "copper"),
        (2.0, "copper"),  # as far as it reaches
        (2.01, "active"),
        (5.01, "light"),
        (99.0, "light"),  # 1,300 + 198 = 1,498 before 1,400 + 99 = 1,499
        (101.0, "far"),  # 1,502 after 1,501: fibre a metre decides
        (600.0, "far"),
    ],
)
def test_the_cheapest_that_reaches(meters: float, best: str) -> None:
    assert pick(ALL, meters).id == best


def test_the_price_of_a_link_has_its_fibre() -> None:
    assert LIGHT.cost(30.0) == 1360.0
    assert COPPER.cost(2.0) == 170.0


def test_of_equals_the_one_that_draws_less_then_the_first_by_name() -> None:
    same = [
        _medium("b", 5.0, 100.0, 0.02),
        _medium("c", 5.0, 100.0, 0.01),
        _medium("a", 5.0, 100.0, 0.02),
    ]
    assert pick(same, 1.0).id == "c"
    assert pick([same[0], same[2]], 1.0).id == "a"
    assert pick([same[2], same[0]], 1.0).id == "a"
    # 1,400 + 100 and 1,300 + 200: light draws less
    assert pick([FAR, LIGHT], 100.0).id == "light"


def test_a_length_of_rounding_noise_still_fits() -> None:
    assert pick(ALL, 2.0 + 1e-12).id == "copper"  # 0.1 x 20 and the like


def test_the_error_names_the_longest() -> None:
    with pytest.raises(ValueError, match=r"^no medium reaches 2500 m: far reaches 2000 m$"):
        pick(ALL, 2500.0)
    with pytest.raises(ValueError, match=r"^no medium reaches 3 m: copper reaches 2 m$"):
        pick([COPPER, _medium("short", 1.0, 1.0)], 3.0)
    with pytest.raises(ValueError, match="the catalog has no medium"):
        pick([], 1.0)


@given(MEDIA, st.floats(0.1, 600.0))
@QUICK
def test_nothing_that_reaches_is_cheaper(media: list[Medium], meters: float) -> None:
    able = [m for m in media if m.reach_m >= meters]
    if not able:
        with pytest.raises(ValueError, match="no medium reaches"):
            pick(media, meters)
        return
    found = pick(media, meters)
    assert found in able
    assert all(
        (found.cost(meters), found.kw, found.id) <= (m.cost(meters), m.kw, m.id) for m in able
    )
    assert pick(media[::-1], meters).cost(meters) == found.cost(meters)


@given(MEDIA.filter(bool), st.floats(0.1, 600.0), st.floats(0.0, 100.0))
@QUICK
def test_a_longer_link_never_costs_less(media: list[Medium], meters: float, more: float) -> None:
    if max(m.reach_m for m in media) >= meters + more:
        short, long = pick(media, meters), pick(media, meters + more)
        assert short.cost(meters) <= long.cost(meters + more)
