"""Loans: the annuity and its schedule, by hand and as identities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.loans import amortization, annuity_factor, level_payment_usd

QUICK = settings(max_examples=60, deadline=None)
RATES = st.floats(0.0, 0.2).map(lambda r: round(r, 6))
PERIODS = st.integers(1, 240)
PRINCIPALS = st.floats(1.0, 1e9)


def test_level_payment_by_hand() -> None:
    # two payments at 10 %: A/1.1 + A/1.21 = 1000, so A = 1000 x 1.21 / 2.1 = 576.190476
    assert level_payment_usd(1000, 0.1, 2) == pytest.approx(576.190476)
    # in advance: A + A/1.1 = 1000, A = 1000 x 1.1 / 2.1
    assert level_payment_usd(1000, 0.1, 2, in_advance=True) == pytest.approx(523.809524)
    # one period: principal and one interest; in advance it is paid back at once
    assert level_payment_usd(1000, 0.1, 1) == pytest.approx(1100)
    assert level_payment_usd(1000, 0.1, 1, in_advance=True) == pytest.approx(1000)


def test_without_interest_the_payment_is_the_share_and_tiny_rates_join_smoothly() -> None:
    assert level_payment_usd(1200, 0.0, 12) == 100.0
    assert level_payment_usd(1200, 1e-12, 12) == pytest.approx(100.0, rel=1e-10)
    assert level_payment_usd(1200, -1e-12, 12) == pytest.approx(100.0, rel=1e-10)
    assert annuity_factor(np.array([0.0, 0.1]), 1).tolist() == pytest.approx([1.0, 1 / 1.1])


def test_a_balloon_of_the_whole_principal_is_a_bullet_loan() -> None:
    loan = amortization(1000.0, 0.01, 24, balloon_usd=1000.0)
    assert loan.payment_usd[1:-1] == pytest.approx(np.full(23, 10.0))
    assert loan.payment_usd[-1] == pytest.approx(1010.0)
    assert loan.balance_usd[-1] == pytest.approx(0.0, abs=1e-9)


@given(PRINCIPALS, RATES, PERIODS, st.booleans(), st.floats(0.0, 1.0))
@QUICK
def test_present_value_of_level_payments_is_the_principal(
    principal: float, rate: float, periods: int, in_advance: bool, share: float
) -> None:
    balloon = share * principal
    payment = level_payment_usd(
        principal, rate, periods, in_advance=in_advance, balloon_usd=balloon
    )
    first = 0 if in_advance else 1
    value = sum(payment * (1 + rate) ** -k for k in range(first, periods + first))
    value += balloon * (1 + rate) ** -periods
    assert value == pytest.approx(principal, rel=1e-9)


@given(PRINCIPALS, RATES, st.integers(1, 120), st.booleans(), st.floats(0.0, 1.0))
@QUICK
def test_the_schedule_repays_all_debt_and_its_parts_add_up(
    principal: float, rate: float, periods: int, in_advance: bool, share: float
) -> None:
    loan = amortization(
        principal, rate, periods, in_advance=in_advance, balloon_usd=share * principal
    )
    grown = (
        1e-15 * (1.0 + rate) ** periods
    )  # interest on interest grows the rounding of a payment, too
    near = {"rel": 1e-8, "abs": (1e-6 + grown) * principal}
    assert loan.balance_usd[-1] == pytest.approx(0.0, **near)
    assert loan.principal_usd.sum() == pytest.approx(principal, **near)
    assert loan.interest_usd + loan.principal_usd == pytest.approx(loan.payment_usd, **near)
    # dated payments discount to what was borrowed, whether they come early or late
    assert (loan.payment_usd * (1 + rate) ** -np.arange(periods + 1.0)).sum() == pytest.approx(
        principal, **near
    )
    assert principal - np.cumsum(loan.principal_usd) == pytest.approx(loan.balance_usd, **near)


def test_in_advance_the_first_payment_holds_no_interest() -> None:
    loan = amortization(1000.0, 0.1, 2, in_advance=True)
    assert loan.interest_usd.tolist() == pytest.approx([0.0, 47.619048, 0.0])
    assert loan.payment_usd.tolist() == pytest.approx([523.809524, 523.809524, 0.0])


def test_samples_give_a_row_each() -> None:
    loan = amortization(np.array([100.0, 200.0]), np.array([0.0, 0.1]), 3)
    assert loan.balance_usd.shape == (2, 4)
    assert loan.payment_usd[0].tolist() == pytest.approx([0.0, 100 / 3, 100 / 3, 100 / 3])
    assert loan.payment_usd[1, 1] == pytest.approx(level_payment_usd(200.0, 0.1, 3))
    rates_only = amortization(100.0, np.array([0.0, 0.1]), 3)
    assert rates_only.balance_usd[:, -1] == pytest.approx([0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: level_payment_usd(100, -1.0, 12), "rate_per_period must be above -1"),
        (lambda: level_payment_usd(100, 0.1, 0), "periods must be above 0"),
        (lambda: amortization(100, 0.1, 0), "periods must be above 0"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
