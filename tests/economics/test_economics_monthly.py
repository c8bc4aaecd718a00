"""A side of a comparison by month: where payments fall, taxes and loans by hand, identities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.cash_flow import AssetClass, Flow, FlowGroup
from dcplan.economics.monthly.payments import loan_of
from dcplan.economics.monthly.side import (
    INCOME_TAX,
    PROPERTY_TAX,
    SALES_TAX,
    Line,
    Side,
    by_year,
    month_factors,
    owned_side,
)
from dcplan.economics.monthly.taxes import (
    book_by_year,
    with_income_tax,
    with_property_tax,
    with_sales_tax,
)

YEARS = 2
RACKS = Line("racks", AssetClass.RACKS)
STAFF = Line("staff")
FLOWS = [
    Flow(0, FlowGroup.CAPEX, "racks", 1000.0, asset=AssetClass.RACKS),
    *(Flow(t, FlowGroup.OPEX, "staff", 30.0, asset=AssetClass.OTHER) for t in range(8)),
    Flow(7, FlowGroup.RESIDUAL, "racks", -200.0, at_end=True, asset=AssetClass.RACKS),
]


def side() -> Side:
    return owned_side(FLOWS, 8)


def test_payments_fall_in_their_months() -> None:
    found = side()
    assert found.months == 24
    assert found.lines[RACKS][0] == 1000.0
    assert found.lines[RACKS].sum() == 1000.0
    assert found.lines[STAFF].tolist() == [10.0] * 24
    assert found.end_usd == {RACKS: 200.0}


def test_present_value_by_hand() -> None:
    """1000 half a month in at 10 %: 996.04; 10 a month over two years: 10 x sum of 1.1^-((m + 0.5)
    / 12) = 218.07."""
    values = side().npvs_usd(0.10)
    assert values[RACKS] == pytest.approx(1000 / 1.1 ** (0.5 / 12))
    assert values[STAFF] == pytest.approx(10 * sum(1.1 ** (-(m + 0.5) / 12) for m in range(24)))
    (left,) = side().end_npvs_usd(0.10).values()
    assert left == pytest.approx(-200 / 1.21)
    assert side().npv_usd(0.10) == pytest.approx(sum(values.values()) + left)


def test_property_tax_of_a_short_last_year_is_of_its_months() -> None:
    """100 USD over 5 years at 2 %, 15 months: 2.00 for the first year, 80 x 0.02 x 3 / 12 = 0.40
    for three months."""
    bought = np.zeros(15)
    bought[0] = 100.0
    taxed = with_property_tax(Side({RACKS: bought}, {}), [RACKS], 0.02, 5.0)
    assert taxed.lines[PROPERTY_TAX][[11, 14]].tolist() == pytest.approx([2.0, 0.4])


def test_sales_and_property_tax_by_hand() -> None:
    """8 % of 1000 at once; 2 % of the book value at the start of each year, 1000 then 800 of a
    life of five years."""
    taxed = with_property_tax(with_sales_tax(side(), [RACKS], 0.08), [RACKS], 0.02, 5.0)
    assert taxed.lines[SALES_TAX][0] == pytest.approx(80.0)
    assert taxed.lines[PROPERTY_TAX][[11, 23]].tolist() == pytest.approx([20.0, 16.0])
    assert taxed.lines[PROPERTY_TAX].sum() == pytest.approx(36.0)


def test_book_value_of_what_comes_later() -> None:
    cash = np.zeros(36)
    cash[0], cash[18] = 100.0, 60.0
    # starts of years at months 0, 12, 24: the second purchase is half a year old then
    assert book_by_year(cash, 5.0).tolist() == pytest.approx([100.0, 80.0, 60.0 + 60.0 * 0.9])


def test_income_tax_by_hand() -> None:
    """At 21 %: year 1 saves on 120 of staff and 600 written off; year 2 on 120 and 400, less the
    sale's 200."""
    taxed = with_income_tax(side(), {RACKS: [0.6, 0.4]}, 0.21, np.zeros(24))
    assert taxed.lines[INCOME_TAX][[11, 23]].tolist() == pytest.approx(
        [-0.21 * 720, -0.21 * (120 + 400 - 200)]
    )


def test_what_is_not_yet_written_off_is_set_against_the_sale() -> None:
    """Of 1000 a fifth a year, 600 are left after two: the sale at 200 is a loss of 400."""
    taxed = with_income_tax(side(), {RACKS: [0.2] * 5}, 0.21, np.zeros(24))
    assert taxed.lines[INCOME_TAX][23] == pytest.approx(-0.21 * (120 + 200 + 400))
    # whatever the schedule, the same is deducted in all: cost less what the sale brings
    total = taxed.lines[INCOME_TAX].sum()
    assert total == pytest.approx(-0.21 * (240 + 1000 - 200))


def test_interest_is_deducted_once() -> None:
    without = with_income_tax(side(), {RACKS: [0.5, 0.5]}, 0.21, np.zeros(24))
    interest = np.full(24, 5.0)
    with_interest = with_income_tax(side(), {RACKS: [0.5, 0.5]}, 0.21, interest)
    saved = without.lines[INCOME_TAX].sum() - with_interest.lines[INCOME_TAX].sum()
    assert saved == pytest.approx(0.21 * 120.0)


def test_a_loan_by_hand() -> None:
    """500 at 12 % over a year: 44.4244 a month from the month after, interest 5.00 first, nothing
    left."""
    loan = loan_of(side().lines[RACKS], 0.5, 0.12, 12)
    assert loan.drawn[0] == 500.0
    assert loan.payments[1:13].tolist() == pytest.approx([44.4244] * 12, abs=1e-4)
    assert loan.interest[1] == pytest.approx(5.0)
    assert loan.payments[13:].sum() == 0.0
    assert loan.end_balance_usd == pytest.approx(0.0, abs=1e-9)


def test_a_loan_longer_than_the_horizon_leaves_a_balance() -> None:
    loan = loan_of(side().lines[RACKS], 1.0, 0.06, 60)
    principal = loan.payments.sum() - loan.interest.sum()
    assert principal + loan.end_balance_usd == pytest.approx(1000.0)
    assert 0 < loan.end_balance_usd < 1000.0


@given(st.floats(0.0, 0.3), st.integers(1, 30), st.floats(0.05, 1.0))
@settings(max_examples=40, deadline=None)
def test_a_loan_at_the_discount_rate_is_worth_nothing(
    rate: float, months: int, share: float
) -> None:
    """Discounted at its own monthly rate, drawn and paid back are equal, whatever the term."""
    cash = np.zeros(24)
    cash[0] = 1000.0
    loan = loan_of(cash, share, rate, months)
    factors = (1 + rate / 12) ** -np.arange(24.0)
    left = loan.end_balance_usd * factors[-1]
    assert (loan.payments - loan.drawn) @ factors + left == pytest.approx(0.0, abs=1e-6)


def test_years_and_factors() -> None:
    assert by_year(np.arange(25.0)).tolist() == [66.0, 210.0, 24.0]
    assert month_factors(0.0, 3).tolist() == [1.0, 1.0, 1.0]
