"""Cost after taxes and debt: hand calculations, and the weighted sum of payments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.cash_flow import CAPITAL, AssetClass, Flow, FlowGroup
from dcplan.economics.monthly.earlier import Earlier
from dcplan.economics.monthly.financing import (
    WRITTEN_OFF,
    Debt,
    Financed,
    Financing,
    PlantTax,
    SiteTaxes,
    financed,
)
from dcplan.economics.monthly.payments import Milestones
from dcplan.economics.monthly.side import PROPERTY_TAX, owned_side, unserved_usd
from dcplan.economics.monthly.statements import statements
from dcplan.economics.monthly.weights import FlowWeights, financed_weights, present_usd

QUARTERS, LATER = 7, 3


def test_the_cost_of_one_purchase_by_hand() -> None:
    """900 of racks, half borrowed, sales tax 10 %, tax 20 %, one year, no discounting.

    Sales tax 90. All is written off by 0.5 in the year and the rest at the end: 990 x 0.2 = 198
    saved, of which the residual value 300 is taxed with 60. Debt: 450 at 12 %, 24 level payments
    from the second month on; 11 in the horizon. Interest is what payments and balance exceed 450.
    """
    terms = Financing(
        0.0,
        5.0,
        income_rate_frac=0.2,
        equipment_shares=(0.5, 0.5),
        sales_tax_frac=0.1,
        debt=Debt(0.5, 0.12, 24),
    )
    racks = AssetClass.RACKS
    flows = [
        Flow(0, FlowGroup.CAPEX, "racks", 900.0, asset=racks),
        Flow(3, FlowGroup.RESIDUAL, "racks", -300.0, at_end=True, asset=racks),
    ]
    found = financed(owned_side(flows, 4), terms)
    level = 450.0 * 0.01 / (1.0 - 1.01**-24)
    balance = 450.0 * 1.01**11 - level * (1.01**11 - 1.0) / 0.01
    interest = 11 * level + balance - 450.0
    payoff = balance * 1.01**0.5
    expected = 990.0 - 300.0 - 198.0 + 60.0 + 11 * level + payoff - 450.0 - 0.2 * interest
    assert found.npv_usd == pytest.approx(expected, abs=1e-9)
    assert sum(found.steps.values()) + 600.0 == pytest.approx(expected, abs=1e-9)


@st.composite
def terms(draw: st.DrawFn) -> Financing:
    rate = st.floats(0.0, 0.5)
    years = draw(st.integers(1, 6))
    due = st.builds(
        Milestones, st.floats(0.0, 0.5), st.integers(1, 9), st.floats(0.0, 0.5), st.integers(1, 9)
    )
    debt = st.builds(Debt, st.floats(0.0, 1.0), st.floats(0.0, 0.2), st.integers(1, 40))
    return Financing(
        draw(rate),
        draw(st.floats(1.0, 8.0)),
        draw(rate),
        (1.0 / years,) * years,
        (0.025,) * 40,
        draw(rate),
        draw(st.floats(0.0, 0.05)),
        draw(st.none() | due),
        draw(st.none() | debt),
        plant_taxes(draw),
        tuple(
            SiteTaxes(site, draw(rate), draw(st.floats(0.0, 0.05)), plant_taxes(draw))
            for site in draw(st.sets(st.sampled_from(["a", "b"])))
        ),
    )


def plant_taxes(draw: st.DrawFn) -> tuple[PlantTax, ...]:
    return tuple(
        PlantTax(asset, draw(st.floats(0.0, 0.05)), draw(st.floats(1.0, 40.0)))
        for asset in (AssetClass.BUILDING, AssetClass.COOLING, AssetClass.POWER)
    )


@st.composite
def payments(draw: st.DrawFn) -> list[Flow]:
    usd = st.floats(0.0, 1e8)
    quarter = st.integers(0, QUARTERS - 1)
    bought = st.builds(
        lambda t, a, x, s: Flow(t, FlowGroup.CAPEX, a, x, s, asset=a),
        quarter,
        st.sampled_from(sorted(CAPITAL)),
        usd,
        st.sampled_from(["a", "b", "c"]),
    )
    other = st.builds(
        lambda t, g, x: Flow(t, g, g, x, asset=AssetClass.OTHER),
        quarter,
        st.sampled_from(
            [FlowGroup.CAPEX, FlowGroup.ENERGY, FlowGroup.OPEX, FlowGroup.CLOUD, FlowGroup.UNSERVED]
        ),
        usd,
    )
    sold = st.builds(
        lambda t, x: Flow(t, FlowGroup.RESIDUAL, "sale", -x, asset=AssetClass.DISPOSAL),
        quarter,
        usd,
    )
    later = st.builds(
        lambda t, x: Flow(QUARTERS + t, FlowGroup.POST_HORIZON, "later", x, asset=AssetClass.OTHER),
        st.integers(0, LATER - 1),
        usd,
    )
    worth = st.builds(
        lambda a, x: Flow(QUARTERS - 1, FlowGroup.RESIDUAL, a, -x, at_end=True, asset=a),
        st.sampled_from(sorted(CAPITAL)),
        usd,
    )
    return draw(st.lists(st.one_of(bought, other, sold, later, worth), min_size=1, max_size=12))


@st.composite
def earlier(draw: st.DrawFn) -> Earlier:
    """Hardware in service before the plan, of which some or all is sold."""
    pieces = draw(st.integers(1, 50))
    months = st.integers(0, 3 * QUARTERS - 1)
    first = draw(st.integers(0, pieces))
    sold = (
        (draw(months), float(first)),
        (draw(months), float(draw(st.integers(0, pieces - first)))),
    )
    age = draw(st.integers(0, 60))
    return Earlier(draw(st.floats(0.0, 1e6)), age, age + draw(st.integers(1, 60)), pieces, sold)


def weight_of(weights: FlowWeights, flow: Flow) -> float:
    t = flow.quarter
    if flow.group is FlowGroup.POST_HORIZON:
        return weights.after[t - QUARTERS]
    if flow.group is FlowGroup.RESIDUAL:
        return weights.end if flow.at_end else weights.fees[t]
    if flow.group is FlowGroup.UNSERVED:
        return weights.unserved[t]
    if flow.group is FlowGroup.CAPEX:
        own = weights.sites.get(flow.site, weights)
        return own.fees[t] if flow.asset not in CAPITAL else own.capital[flow.asset][t]
    return weights.running[t]


@settings(max_examples=60, deadline=None)
@given(terms(), payments())
def test_the_cost_is_the_weighted_sum_of_the_payments(found: Financing, flows: list[Flow]) -> None:
    """What the model minimizes is what the cash flow by month costs, for any payments and terms."""
    side = owned_side(flows, QUARTERS, found.taxed_sites)
    whole = financed(side, found, unserved_usd(flows, side.months)).npv_usd
    weights = financed_weights(found, QUARTERS, LATER)
    scale = sum(abs(f.usd) for f in flows)
    parts = sum(weight_of(weights, f) * f.usd for f in flows)
    assert whole == pytest.approx(parts, abs=1e-9 * max(scale, 1.0))


def test_the_lines_of_a_side_add_up_to_its_cost() -> None:
    terms = Financing(
        0.08, 5.0, 0.25, (0.2,) * 5, (0.025,) * 40, 0.07, 0.01, debt=Debt(0.6, 0.07, 36)
    )
    flows = [
        Flow(0, FlowGroup.CAPEX, "racks", 5e6, asset=AssetClass.RACKS),
        Flow(2, FlowGroup.CAPEX, "building", 3e6, asset=AssetClass.BUILDING),
        *(Flow(t, FlowGroup.OPEX, "staff", 2e5, asset=AssetClass.OTHER) for t in range(8)),
        Flow(7, FlowGroup.RESIDUAL, "racks", -2e6, at_end=True, asset=AssetClass.RACKS),
    ]
    found = financed(owned_side(flows, 8), terms)
    rate = terms.rate_per_year
    lines = sum(found.after_tax.npvs_usd(rate).values())
    lines += sum(found.after_tax.end_npvs_usd(rate).values())
    lines += sum(npv for *_, npv in found.debt_lines(rate))
    assert lines == pytest.approx(found.npv_usd, rel=1e-12)
    assert np.isclose(
        found.cash_usd.sum() + found.loan.owed_at_end_usd - 2e6,  # type: ignore[union-attr]
        sum(x for _, x, _ in found.debt_lines(rate))
        + sum(found.after_tax.sum_usd(x) for x in found.after_tax.lines)
        - 2e6,
    )


@settings(max_examples=60, deadline=None)
@given(terms(), payments(), st.floats(1.0, 8.0), st.lists(earlier(), max_size=3))
def test_cash_result_and_balance_agree_in_every_month(
    found: Financing, flows: list[Flow], life_years: float, before: list[Earlier]
) -> None:
    """The balance sheet balances, debt is what amortization leaves, and deferred tax ends at 0."""
    side = owned_side(flows, QUARTERS, found.taxed_sites)
    whole = financed(side, found, unserved_usd(flows, side.months))
    lives = {AssetClass.BUILDING: 39.0}
    made = statements(whole, found.income_rate_frac, lives, life_years, before)
    near = 1e-9 * max(
        sum(abs(f.usd) for f in flows) + sum(x.paid_usd * x.pieces for x in before), 1.0
    )
    assert np.abs(made.difference).max() <= near
    assert abs(made.deferred_tax[-1]) <= near
    assert abs(made.debt[-1]) <= near
    assert np.abs(made.book_value[-1]) <= near
    assert (made.debt >= -near).all()
    assert abs(made.equity[-1] - made.prepaid[-1]) <= near
    paid = np.zeros(len(made.contributed))  # cash: what the side pays in each month
    inside = slice(-made.first_month, side.months - made.first_month)
    paid[inside] = whole.cash_usd - unserved_usd(flows, side.months)
    for month, usd in whole.after_tax.outside_usd.items():
        paid[month - made.first_month] += usd
    owed = whole.loan.owed_at_end_usd if whole.loan else 0.0
    paid[inside.stop - 1] += owed - sum(side.end_usd.values())
    assert np.abs(made.contributed - paid).max() <= 10 * near


@settings(max_examples=60, deadline=None)
@given(terms(), payments(), st.floats(1.0, 8.0))
def test_the_tax_balance_is_the_book_balance_less_deferred_tax(
    found: Financing, flows: list[Flow], life_years: float
) -> None:
    """At each year's end: deferred tax = tau (book value - tax value), the tax value from the returns.

    In each year the cash for income tax is the tax of the return. The last year has the sale as well.
    """
    side = owned_side(flows, QUARTERS, found.taxed_sites)
    whole = financed(side, found, unserved_usd(flows, side.months))
    made = statements(whole, found.income_rate_frac, {AssetClass.BUILDING: 39.0}, life_years)
    near = 1e-9 * max(sum(abs(f.usd) for f in flows), 1.0)
    capital = sum(
        (whole.after_tax.lines[x] for x in whole.after_tax.of(WRITTEN_OFF)), np.zeros(side.months)
    )
    written = whole.taxes.depreciation_usd
    for year in range(1, len(written)):
        first, end = (m - made.first_month for m in (12 * year - 12, 12 * year))
        tax = float(made.tax_paid[first:end].sum())
        assert tax == pytest.approx(float(whole.taxes.tax_usd[year - 1]), abs=near)
        value = float(capital[: 12 * year].sum() - written[:year].sum())
        deferred = found.income_rate_frac * (float(made.book_value[end - 1]) - value)
        assert made.deferred_tax[end - 1] == pytest.approx(deferred, abs=near)


def test_deferred_tax_is_the_rate_times_the_difference_of_values() -> None:
    """At a year's end: tau (book value - tax value); here 4/5 and 1/2 of 100, at 20 %: 6."""
    terms_ = Financing(0.0, 5.0, income_rate_frac=0.2, equipment_shares=(0.5, 0.3, 0.2))
    flows = [
        Flow(0, FlowGroup.CAPEX, "racks", 100.0, asset=AssetClass.RACKS),
        Flow(11, FlowGroup.RESIDUAL, "racks", -30.0, at_end=True, asset=AssetClass.RACKS),
    ]
    made = statements(financed(owned_side(flows, 12), terms_), 0.2, {}, 5.0)
    assert made.book_value[11] == pytest.approx(80.0)
    assert made.deferred_tax[11] == pytest.approx(0.2 * (80.0 - 50.0))
    assert made.deferred_tax[23] == pytest.approx(0.2 * (60.0 - 20.0))
    assert made.gain[-1] == pytest.approx(30.0 - 40.0)


def test_property_tax_of_plants_by_hand() -> None:
    """Two years, no discounting and no income tax.

    A shell of 2000 over 20 years at 1 %: 20 in the first year, 1900 x 1 % = 19 in the second. Cooling
    of 300 over 15 years at 2 %, bought in month 9: none at the start of year 1, 300 x (1 - 3 / 180) x
    2 % = 5.90 at that of year 2. Power of 150 has no rate. Racks of 1000 over 5 years at 3 %: 30, 24.
    """
    terms = Financing(
        0.0,
        5.0,
        property_tax_frac_per_year=0.03,
        plant_taxes=(
            PlantTax(AssetClass.BUILDING, 0.01, 20.0),
            PlantTax(AssetClass.COOLING, 0.02, 15.0),
        ),
    )
    flows = [
        Flow(0, FlowGroup.CAPEX, "shell", 2000.0, asset=AssetClass.BUILDING),
        Flow(3, FlowGroup.CAPEX, "cooling", 300.0, asset=AssetClass.COOLING),
        Flow(0, FlowGroup.CAPEX, "blocks", 150.0, asset=AssetClass.POWER),
        Flow(0, FlowGroup.CAPEX, "racks", 1000.0, asset=AssetClass.RACKS),
    ]
    found = financed(owned_side(flows, 8), terms)
    tax = found.before_tax.lines[PROPERTY_TAX]
    assert tax[[11, 23]].tolist() == pytest.approx([50.0, 19.0 + 24.0 + 5.9])
    assert tax.sum() == pytest.approx(98.9)
    assert found.steps["property tax"] == pytest.approx(98.9)


def test_a_sale_of_earlier_hardware_earns_its_price_less_its_book_value() -> None:
    """Two racks of 240 each, 12 of 48 months old, 25 % tax: 180 each at the start, 5 a month less.

    One is sold in month 3 for 150: its value is 240 x (1 - 15 / 48) = 165, so it earns -15. The other
    is worth 100 at the end, and 240 x (1 - 24 / 48) = 120 in the books: -20. Both proceeds are taxed
    in full, 0.25 x 250 = 62.50, so the deferred tax at the start is 0.25 x 360 = 90.
    """
    flows = [
        Flow(1, FlowGroup.RESIDUAL, "sale", -150.0, asset=AssetClass.DISPOSAL),
        Flow(3, FlowGroup.RESIDUAL, "rest", -100.0, at_end=True, asset=AssetClass.EXISTING),
    ]
    whole = financed(owned_side(flows, 4), Financing(0.0, 4.0, income_rate_frac=0.25))
    made = statements(whole, 0.25, {}, 4.0, [Earlier(240.0, 12, 48, 2, ((3, 1.0),))])
    assert made.operating.tolist() == [0.0] * 12
    assert made.depreciation.tolist() == pytest.approx([10.0] * 3 + [5.0] * 9)
    assert made.gain[[3, 11]].tolist() == pytest.approx([-15.0, -20.0])
    assert made.sold[[3, 11]].tolist() == pytest.approx([150.0, 100.0])
    assert made.tax_expense[[2, 3, 11]].tolist() == pytest.approx([-2.5, -5.0, -6.25])
    assert made.tax_paid.tolist() == pytest.approx([0.0] * 11 + [62.5])
    assert made.contributed[[3, 11]].tolist() == pytest.approx([-150.0, -37.5])
    assert made.book_value[[0, 2, 3, 10, 11]].tolist() == pytest.approx([350, 330, 160, 125, 0])
    assert made.opening_equity == pytest.approx(0.75 * 360.0)
    assert made.deferred_tax[[0, 11]].tolist() == pytest.approx([87.5, 0.0], abs=1e-12)
    assert np.abs(made.difference).max() <= 1e-12


def test_an_advance_of_before_the_plan_is_prepaid_then_part_of_the_asset() -> None:
    """An order of 100 with 40 paid before: 60 in month 4, four years of life, 25 % of income tax, 1 % of
    property tax, no interest. All is written off for tax in the year of arrival, and worth 75 at the end.

    Before arrival 40 are prepaid. Of 100, 9 months write off 18.75. The property tax of the second
    year, of three months, is 1 % of 100 (1 - 9/48) / 4 = 0.203125.
    """
    order = Flow(1, FlowGroup.CAPEX, "order", 60.0, asset=AssetClass.EXISTING, advance_usd=40.0)
    worth = Flow(4, FlowGroup.RESIDUAL, "order", -75.0, at_end=True, asset=AssetClass.EXISTING)
    terms = Financing(0.0, 4.0, income_rate_frac=0.25, property_tax_frac_per_year=0.01)
    found = financed(owned_side([order, worth], 5), terms)
    made = statements(found, 0.25, {}, 4.0)
    assert made.prepaid.tolist() == 3 * [40.0] + 12 * [0.0]
    assert made.book_value[2:4] == pytest.approx([0.0, 100.0 - 100.0 / 48])
    assert made.depreciation.sum() == pytest.approx(100.0 * 12 / 48)
    assert made.operating.sum() == pytest.approx(0.203125)
    assert np.abs(made.difference).max() < 1e-9
    assert made.deferred_tax[-1] == pytest.approx(0.0, abs=1e-9)
    # 60 + property tax - 75, and a quarter of the income of 75 - 100 - property tax is saved
    assert found.npv_usd == pytest.approx(60.203125 - 75.0 + 0.25 * (75.0 - 100.203125))


def test_an_advance_changes_the_payments_alone() -> None:
    """After arrival, taxes, write-off and book value are those of an order without an advance."""
    terms = Financing(0.0, 5.0, income_rate_frac=0.3, property_tax_frac_per_year=0.02)

    def of(advance: float) -> Financed:
        kept = Flow(
            1,
            FlowGroup.CAPEX,
            "order",
            100.0 - advance,
            asset=AssetClass.EXISTING,
            advance_usd=advance,
        )
        return financed(owned_side([kept], 12), terms)

    whole, part, ahead = (of(x) for x in (0.0, 30.0, 100.0))
    assert part.npv_usd == pytest.approx(whole.npv_usd - 30.0)
    assert ahead.npv_usd == pytest.approx(whole.npv_usd - 100.0)
    values = [statements(x, 0.3, {}, 5.0).book_value for x in (whole, part, ahead)]
    assert values[1] == pytest.approx(values[0])
    assert values[2] == pytest.approx(values[0])


def test_an_advance_for_a_canceled_order_is_lost_and_its_refund_reduces_the_loss() -> None:
    """40 paid, 15 of them kept as the fee: 25 come back, the loss is 15 and saves 6 of tax at 40 %."""
    back = Flow(0, FlowGroup.CAPEX, "cancellation", -25.0, asset=AssetClass.OTHER, advance_usd=40.0)
    found = financed(owned_side([back], 4), Financing(0.0, 5.0, income_rate_frac=0.4))
    made = statements(found, 0.4, {}, 5.0)
    assert found.npv_usd == pytest.approx(-25.0 - 0.4 * 15.0)
    assert made.result.sum() == pytest.approx(-15.0 * 0.6)
    assert made.prepaid.tolist() == 12 * [0.0]
    assert np.abs(made.difference).max() < 1e-9


def test_the_weights_of_advances_are_their_present_cost() -> None:
    terms = Financing(0.1, 5.0, income_rate_frac=0.3, property_tax_frac_per_year=0.02)
    weights = financed_weights(terms, 8, 0)
    for flow in (
        Flow(2, FlowGroup.CAPEX, "", 70.0, asset=AssetClass.EXISTING, advance_usd=30.0),
        Flow(0, FlowGroup.CAPEX, "", -10.0, asset=AssetClass.OTHER, advance_usd=30.0),
    ):
        alone = financed(owned_side([flow], 8), terms).npv_usd
        assert present_usd(flow, weights, 8) == pytest.approx(alone, rel=1e-12)
