"""The cash-flow builder: present values by hand, nothing lost between its sums."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.cash_flow import (
    GROUPS,
    AssetClass,
    Flow,
    FlowGroup,
    cash_out_usd,
    npv_usd,
    totals_usd,
    years_of,
)

QUARTERS = 12
FLOWS = st.lists(
    st.builds(
        Flow,
        st.integers(0, QUARTERS - 1),
        st.sampled_from(GROUPS),
        st.just("line"),
        st.floats(-1e9, 1e9),
        st.just("site"),
        st.booleans(),
        asset=st.sampled_from(AssetClass),
    ),
    max_size=20,
)
QUICK = settings(max_examples=80, deadline=None)

# 100 of capex at once, 10 of energy and 2 of staff in each of 4 quarters, 30 left at the end of the
# year
YEAR = [
    Flow(0, FlowGroup.CAPEX, "racks", 100.0, asset=AssetClass.RACKS),
    *(Flow(q, FlowGroup.ENERGY, "energy", 10.0, asset=AssetClass.GRID_ENERGY) for q in range(4)),
    *(Flow(q, FlowGroup.OPEX, "staff", 2.0, asset=AssetClass.OTHER) for q in range(4)),
    Flow(3, FlowGroup.RESIDUAL, "racks", -30.0, at_end=True, asset=AssetClass.RACKS),
]


def test_flows_are_dated_at_the_middle_or_the_end_of_their_quarter() -> None:
    assert years_of(Flow(0, FlowGroup.CAPEX, "x", 1.0, asset=AssetClass.RACKS)) == 0.125
    assert years_of(Flow(5, FlowGroup.ENERGY, "x", 1.0, asset=AssetClass.GRID_ENERGY)) == 1.375
    assert (
        years_of(Flow(3, FlowGroup.RESIDUAL, "x", -1.0, at_end=True, asset=AssetClass.RACKS)) == 1.0
    )


def test_net_present_value_by_hand() -> None:
    """At 10 %: v = 1.1^-1/8 = 0.988157, q = 1.1^-1/4 = 0.976454.

    100 v = 98.8157; 12 v (1 + q + q^2 + q^3) = 12 x 0.988157 x 3.860904 = 45.7825; 30 / 1.1 =
    27.2727.
    """
    q = 0.976454
    annuity = 12 * 0.988157 * (1 + q + q**2 + q**3)
    assert annuity == pytest.approx(45.7825, abs=2e-3)
    assert npv_usd(YEAR, 0.10) == pytest.approx(98.8157 + 45.7825 - 27.2727, abs=3e-3)


def test_one_payment_after_a_year_by_hand() -> None:
    # 110 at the end of the fourth quarter at 10 % is 100 now
    assert npv_usd(
        [Flow(3, FlowGroup.OPEX, "x", 110.0, at_end=True, asset=AssetClass.OTHER)], 0.10
    ) == pytest.approx(100.0)


def test_totals_and_cash_out_by_hand() -> None:
    assert totals_usd(YEAR) == {
        "capex": 100.0,
        "energy": 40.0,
        "opex": 8.0,
        "cloud": 0.0,
        "unserved": 0.0,
        "post_horizon": 0.0,
        "residual": -30.0,
    }
    # a residual is value kept, not money back: it never lowers what a budget must cover
    assert cash_out_usd(YEAR, 4) == [112.0, 12.0, 12.0, 12.0]


def test_unknown_group_is_refused() -> None:
    with pytest.raises(ValueError, match="tax"):
        FlowGroup("tax")


@given(FLOWS)
@QUICK
def test_totals_add_up_to_all_flows(flows: list[Flow]) -> None:
    totals = totals_usd(flows)
    assert set(totals) == set(GROUPS)
    assert sum(totals.values()) == pytest.approx(sum(f.usd for f in flows), rel=1e-9, abs=1e-3)


@given(FLOWS)
@QUICK
def test_cash_out_and_residual_add_up_to_all_flows(flows: list[Flow]) -> None:
    cash = cash_out_usd(flows, QUARTERS)
    assert len(cash) == QUARTERS
    totals = totals_usd(flows)
    everything = sum(cash) + totals["residual"] + totals["unserved"] + totals["post_horizon"]
    assert everything == pytest.approx(sum(f.usd for f in flows), rel=1e-9, abs=1e-3)


@given(FLOWS)
@QUICK
def test_residual_flows_never_change_cash_out(flows: list[Flow]) -> None:
    without = [f for f in flows if f.group is not FlowGroup.RESIDUAL]
    assert cash_out_usd(flows, QUARTERS) == cash_out_usd(without, QUARTERS)


@given(FLOWS)
@QUICK
def test_without_a_rate_present_value_is_the_sum(flows: list[Flow]) -> None:
    assert npv_usd(flows, 0.0) == pytest.approx(sum(f.usd for f in flows), rel=1e-9, abs=1e-3)


@given(FLOWS, FLOWS, st.floats(0.0, 0.3))
@QUICK
def test_present_value_is_additive(a: list[Flow], b: list[Flow], rate: float) -> None:
    assert npv_usd(a + b, rate) == pytest.approx(
        npv_usd(a, rate) + npv_usd(b, rate), rel=1e-9, abs=1e-2
    )


@given(st.integers(1, 60), st.floats(0.001, 0.3), st.floats(1.0, 1e6))
@QUICK
def test_level_payments_are_the_annuity_formula(quarters: int, rate: float, usd: float) -> None:
    # sum of usd q^(i + 1/2), i = 0 … n-1, with q = (1 + r)^-1/4: usd sqrt(q) (1 - q^n) / (1 - q)
    q = (1 + rate) ** -0.25
    annuity = usd * q**0.5 * (1 - q**quarters) / (1 - q)
    flows = [Flow(i, FlowGroup.OPEX, "x", usd, asset=AssetClass.OTHER) for i in range(quarters)]
    assert npv_usd(flows, rate) == pytest.approx(annuity, rel=1e-8)


@given(st.floats(0.01, 0.3), st.integers(0, 8), st.integers(1, 12))
@QUICK
def test_putting_a_cost_off_lowers_it_by_the_quarterly_factor(
    rate: float, quarter: int, later: int
) -> None:
    now, then = (
        npv_usd([Flow(q, FlowGroup.CAPEX, "x", 1.0, asset=AssetClass.RACKS)], rate)
        for q in (quarter, quarter + later)
    )
    assert then / now == pytest.approx((1 + rate) ** (-later / 4))
