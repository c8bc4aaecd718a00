"""Rent: hours of a month, lost hours, and the order in which commitments cover use."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.rental import (
    Reservation,
    SavingsPlan,
    Usage,
    accelerators_usd_per_month,
    amortized_usd_per_h,
    cover,
    goodput_loss_usd,
)

QUICK = settings(max_examples=60, deadline=None)


def test_hours_of_a_month_are_the_callers() -> None:
    assert accelerators_usd_per_month(10, 2.0, 720) == 14_400.0
    assert accelerators_usd_per_month(10, 2.0, 730) == 14_600.0
    assert (
        accelerators_usd_per_month(0, 2.0, 730) == accelerators_usd_per_month(10, 0.0, 730) == 0.0
    )


def test_lost_hours_cost_their_rent() -> None:
    assert goodput_loss_usd(1000.0, 0.9) == pytest.approx(100.0)
    assert goodput_loss_usd(1000.0, 1.0) == 0.0


def test_reservations_come_first_then_specific_then_general_by_hand() -> None:
    # 10 units at 1.00: 2 reserved at 0.50, 3 by the family plan (1.80 at 0.60), 2 by the general
    # one (1.40 at 0.70),
    # 3 on demand: 1.00 + 1.80 + 1.40 + 3.00 = 7.20
    hour = cover(
        [Usage("gpu", 10.0, 1.0)],
        [Reservation("ri", "gpu", 2.0, 0.5)],
        [
            SavingsPlan("general", 1.4, {"gpu": 0.7}),
            SavingsPlan("family", 1.8, {"gpu": 0.6}, specific=True),
        ],
    )
    assert [(row.by, row.quantity) for row in hour.rows] == [
        ("ri", 2.0),
        ("family", pytest.approx(3.0)),
        ("general", pytest.approx(2.0)),
        ("on demand", pytest.approx(3.0)),
    ]
    assert hour.total_usd == pytest.approx(7.20)


def test_a_specific_plan_goes_first_even_when_the_general_one_saves_more() -> None:
    plans = [
        SavingsPlan("general", 1.0, {"gpu": 0.2}),
        SavingsPlan("family", 0.6, {"gpu": 0.6}, specific=True),
    ]
    hour = cover([Usage("gpu", 1.0, 1.0)], plans=plans)
    assert hour.used_usd == pytest.approx({"general": 0.0, "family": 0.6})


def test_the_highest_saving_comes_first_and_the_lowest_rate_of_equal_ones() -> None:
    usages = [Usage("a", 10.0, 10.0), Usage("b", 10.0, 4.0), Usage("c", 10.0, 2.0)]
    # savings 10, 50 and 50 %: c (rate 1) before b (rate 2), then a (rate 9)
    hour = cover(usages, plans=[SavingsPlan("p", 35.0, {"a": 9.0, "b": 2.0, "c": 1.0})])
    assert [(row.usage, row.quantity) for row in hour.rows if row.by == "p"] == [
        ("c", 10.0),
        ("b", 10.0),
        ("a", pytest.approx(5 / 9)),
    ]


def test_what_is_not_used_is_paid_all_the_same() -> None:
    hour = cover(
        [Usage("gpu", 1.0, 1.0)],
        [Reservation("ri", "gpu", 3.0, 0.5)],
        [SavingsPlan("p", 2.0, {"gpu": 0.7})],
    )
    assert hour.unused_usd == pytest.approx({"ri": 1.0, "p": 2.0})
    assert hour.total_usd == pytest.approx(3.5)
    assert hour.on_demand_usd == 0.0


def test_hours_are_separate_nothing_is_carried_over() -> None:
    hour = cover(
        [Usage("gpu", np.array([0.0, 4.0]), 1.0)], plans=[SavingsPlan("p", 1.4, {"gpu": 0.7})]
    )
    assert hour.unused_usd["p"].tolist() == pytest.approx([1.4, 0.0])
    assert hour.total_usd.tolist() == pytest.approx([1.4, 1.4 + 2.0])


def test_no_commitment_at_all_is_on_demand() -> None:
    assert cover([Usage("gpu", 3.0, 2.0)]).total_usd == 6.0
    assert cover([]).total_usd == 0.0


@given(
    st.lists(st.floats(0.0, 100.0), min_size=3, max_size=3),
    st.lists(st.floats(0.0, 50.0), min_size=2, max_size=2),
    st.lists(st.floats(0.05, 1.0), min_size=3, max_size=3),
    st.floats(0.0, 20.0),
)
@QUICK
def test_used_and_unused_make_the_purchase_and_every_unit_is_paid_once(
    quantities: list[float], commitments: list[float], rates: list[float], reserved: float
) -> None:
    usages = [Usage(name, q, 1.0) for name, q in zip("abc", quantities, strict=True)]
    plans = [
        SavingsPlan("general", commitments[0], dict(zip("abc", rates, strict=True))),
        SavingsPlan("family", commitments[1], {"a": rates[0] * 0.9}, specific=True),
    ]
    hour = cover(usages, [Reservation("ri", "b", reserved, 0.4)], plans)
    for name, bought in hour.purchased_usd.items():
        assert hour.used_usd[name] + hour.unused_usd[name] == pytest.approx(bought, abs=1e-9)
        assert sum(row.usd for row in hour.rows if row.by == name) == pytest.approx(
            hour.used_usd[name], abs=1e-9
        )
    for usage in usages:
        paid = sum(row.quantity for row in hour.rows if row.usage == usage.name)
        assert paid == pytest.approx(usage.quantity, abs=1e-9)
    # cheaper plans never cost more than on demand and every purchase together
    assert hour.total_usd <= sum(quantities) + sum(hour.purchased_usd.values()) + 1e-9


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cover([Usage("a", 1.0, 1.0), Usage("a", 1.0, 1.0)]), "the usage a is given twice"),
        (
            lambda: cover([Usage("a", 1, 1)], plans=[SavingsPlan("p", 1, {"b": 1.0})]),
            "p names an unknown usage",
        ),
        (
            lambda: cover([Usage("a", 1, 1)], [Reservation("r", "b", 1, 1)]),
            "r names an unknown usage: b",
        ),
        (
            lambda: cover(
                [Usage("a", 1, 1)], [Reservation("p", "a", 1, 1)], [SavingsPlan("p", 1, {})]
            ),
            "the commitment p is given twice",
        ),
        (lambda: cover([Usage("a", -1.0, 1.0)]), "quantity of a must be at least 0"),
        (lambda: cover([Usage("a", 1.0, -1.0)]), "a price must be at least 0"),
        (
            lambda: cover([Usage("a", 1, 1)], plans=[SavingsPlan("p", -1, {})]),
            "usd_per_h must be at least 0",
        ),
        (lambda: amortized_usd_per_h(1.0, 0.0, 0, 0), "hours must be above 0"),
        (lambda: accelerators_usd_per_month(1, 1, 0), "hours_per_month must be above 0"),
        (lambda: goodput_loss_usd(1.0, 0.0), "goodput_frac must be above 0"),
        (lambda: goodput_loss_usd(1.0, 97.0), "goodput_frac must be at most 1"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
