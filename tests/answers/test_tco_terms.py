"""Spot, capacity blocks, milestones, currencies, unit costs and returns of tco, by hand from its
own inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dcplan.answers.tco.answer import tco
from dcplan.answers.tco.comparison import compared, resale_usd
from dcplan.economics.monthly.side import month_factors
from dcplan.errors import InputError
from dcplan.planning.problem.notes import counted_twice
from dcplan.result import Result
from dcplan.scenario.load import load
from dcplan.specs.tco import costs, offers, risks

FILE = "own-or-rent-1024-h200"
TERMS = "cloud.terms=[reserved-1y,spot,capacity-block,on-demand,reserved-3y]"
ALL = (
    "{deposit_frac: 0.9, deposit_months_before: 1, acceptance_frac: 0.2, "
    "acceptance_months_after: 1}"
)
PAYMENT = (
    "finance.payment={deposit_frac: 0.3, deposit_months_before: 6, "
    "acceptance_frac: 0.1, acceptance_months_after: 2}"
)


@pytest.fixture(scope="module")
def result() -> Result:
    return tco(FILE, sets=["sensitivity.inputs=[]", TERMS, PAYMENT])


def value(result: Result, key: str) -> float:
    return float(result.metrics[key].value or 0.0)


def line(result: Result, side: str, name: str) -> float:
    rows = costs.LINES.rows(result.tables["lines"])
    return next(row.usd for row in rows if (row.side, row.line) == (side, name))


def given(result: Result) -> dict[str, float]:
    return {str(row["key"]): row["value"] for row in result.inputs}


def test_the_order_of_terms_changes_no_price(result: Result) -> None:
    other = tco(FILE, sets=["sensitivity.inputs=[]", "cloud.terms=[on-demand]", PAYMENT])
    for offer in ("coreweave-h200", "aws-p5en-48xlarge"):
        key = f"rented.{offer}.on-demand.npv_usd"
        assert value(result, key) == value(other, key)


def test_spot_is_its_price_and_the_hours_that_interruptions_cost(result: Result) -> None:
    hours = 48 * 730.5 * 0.7 * 1024
    assert line(result, "coreweave-h200.spot", "accelerators") == pytest.approx(20.93 / 8 * hours)
    # 128 instances of 0.125 interruptions a month each; Young's interval; Daly's expected time of a
    # segment
    rate = 128 * 0.125 / 730.5
    save, restart = 40 / 3600, 0.05 + 0.083
    tau = math.sqrt(2 * save / rate)
    useful = tau * rate / (math.exp(rate * restart) * (math.exp(rate * (tau + save)) - 1))
    lost = line(result, "coreweave-h200.spot", "spot interruptions")
    assert lost / line(result, "coreweave-h200.spot", "accelerators") == pytest.approx(
        1 / useful - 1, rel=1e-9
    )


def test_a_capacity_block_is_paid_by_the_whole_day(result: Result) -> None:
    price = given(result)["cloud.aws-p5en-48xlarge.capacity_block_usd_per_h"] / 8
    days = math.ceil(0.7 * 730.5 / 24)  # 22 of 30.4 days
    paid = line(result, "aws-p5en-48xlarge.capacity-block", "accelerators")
    assert paid == pytest.approx(1024 * price * days * 24 * 48)


def test_spot_alone_is_compared_and_says_when_the_clock_is_too_short() -> None:
    only = tco(
        FILE, sets=["sensitivity.inputs=[]", "cloud.terms=[spot]", "fleet.utilization_frac=1.0"]
    )
    rows = offers.RENTED.rows(only.tables["rented"])
    assert {row.term for row in rows} == {"spot"}
    assert all("rent more accelerators" in row.note for row in rows)


def test_milestones_shift_payments_and_add_interest_alone(result: Result) -> None:
    plain = tco(FILE, sets=["sensitivity.inputs=[]", TERMS])
    gear = sum(
        row[2]
        for row in plain.tables["lines"].rows
        if row[0] == "owned" and str(row[1]).split()[0] in ("racks", "network", "storage", "sales")
    )
    rate = 0.10
    first, third = month_factors(rate, 3)[[0, 2]]
    # all gear is in service in the first month: 30 % six months before it, 10 % two months later
    worth = gear * (0.3 * first * (1.1**0.5 - 1.0) + 0.1 * (third - first))
    steps = dict(result.tables["bridge"].rows)
    assert float(steps["payment milestones"]) == pytest.approx(worth, rel=1e-9)


def test_a_sale_before_acceptance_still_owes_the_acceptance_payment(result: Result) -> None:
    """10 % of the equipment with sales tax is due in the third month, lost goodput on top of it.

    Whoever sells before that month has the value, and still owes the payment.
    """
    sets = ["sensitivity.inputs=[]", "cloud.terms=[on-demand]"]
    plain = resale_usd(compared(load(FILE, sets=sets)))
    later = resale_usd(compared(load(FILE, sets=[*sets, PAYMENT])))
    gear = sum(line(result, "owned", x) for x in ("racks dgx-h200", "network", "storage"))
    due = 0.1 * 1.0825 * gear * (1.0 + given(result)["finance.goodput-loss-frac-of-owned"])
    assert (plain - later)[:5] == pytest.approx([0.0, due, due, 0.0, 0.0], abs=1e-3)
    assert later[-1] == pytest.approx(plain[-1])


def test_a_comparison_doubts_slips_of_unit_as_a_plan_does() -> None:
    """A price in thousands, and the price of one accelerator in place of an instance of eight."""
    slips = [
        "systems.dgx-h200.price_usd=350",
        "cloud.prices.coreweave-h200.on_demand_usd_per_h=6.305",
        "sites.colo.energy.demand_usd_per_kw_month=9",
    ]
    found = tco(FILE, sets=["sensitivity.inputs=[]", *slips])
    said = " ".join(str(x["message"]) for x in found.warnings)
    assert "dgx-h200.price_usd = 350 is 0.001 times the catalog value" in said
    assert "0.125 times the catalog price, 50.44 USD/h of one instance of 8 accelerators" in said
    assert "already includes demand charges" in said


def test_a_tariff_by_time_of_use_contains_no_demand_charge() -> None:
    tariff = "{time_of_use: [{id: all, hours_per_week: 168, usd_per_kwh: 0.08}]}"
    own = [f"sites.colo.energy={tariff}", "sites.colo.energy.demand_usd_per_kw_month=9"]
    assert counted_twice(load(FILE, sets=own)) == []
    assert len(counted_twice(load(FILE, sets=own[1:]))) == 1


def test_unit_costs_follow_from_the_present_cost(result: Result) -> None:
    table = result.tables["unit_costs"]
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    hours = 1024 * 730.5 * float(month_factors(0.10, 48).sum())
    for side, key in (
        ("owned", "owned.npv_usd"),
        ("coreweave-h200.spot", "rented.coreweave-h200.spot.npv_usd"),
    ):
        row = rows[side]
        assert row["usd_per_owned_hour"] == pytest.approx(value(result, key) / hours)
        assert row["usd_per_used_hour"] == pytest.approx(row["usd_per_owned_hour"] / 0.7)
        # a used hour makes the same work on both sides, so all three units are in proportion
        ratio = row["usd_per_pflop_day"] / row["usd_per_used_hour"]
        assert ratio == pytest.approx(
            rows["owned"]["usd_per_pflop_day"] / rows["owned"]["usd_per_used_hour"]
        )
    # Llama 3.1 70B: 6 x 70.6 G and causal attention at 8,192: about 4.5e11 FLOP a token
    per_token = (
        rows["owned"]["usd_per_million_tokens"]
        / rows["owned"]["usd_per_pflop_day"]
        * 1e15
        * 86400
        / 1e6
    )
    assert 6 * 70e9 < per_token < 1.1 * 6 * 70.6e9


def test_quotes_of_two_terms_imply_the_price_change() -> None:
    sets = [
        "sensitivity.inputs=[]",
        "cloud.offers=[coreweave-h200]",
        "cloud.terms=[reserved-1y,reserved-3y]",
        "cloud.prices.coreweave-h200={reserved_1y_usd_per_h: 57.6, reserved_3y_usd_per_h: 43.2}",
    ]
    (row,) = costs.TERM_STRUCTURE.rows(tco(FILE, sets=sets).tables["term_structure"])
    assert row.implied_change_frac_per_year == pytest.approx(
        0.7247 - 1.0, abs=5e-5
    )  # 5.40 for three years against 7.20 for one, USD an hour


def test_another_currency_needs_a_rate_and_says_what_it_was() -> None:
    price = "systems.dgx-h200.price_usd={value: 300000, low: 290000, currency: EUR}"
    with pytest.raises(InputError) as error:
        load(FILE, sets=[price])
    assert "no rate for EUR" in error.value.problems[0].cause
    euro, dollar = (
        tco(FILE, sets=["sensitivity.inputs=[]", "fx={EUR: 1.08}", price]),
        tco(FILE, sets=["sensitivity.inputs=[]", "systems.dgx-h200.price_usd=324000"]),
    )
    assert value(euro, "owned.npv_usd") == pytest.approx(value(dollar, "owned.npv_usd"), rel=1e-12)
    row = next(r for r in euro.inputs if r["key"] == "systems.dgx-h200.price_usd")
    assert row["note"] == "300,000 EUR at 1.08 USD"
    assert row["low"] == pytest.approx(313_200.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("sites.colo.utility_mw={value: 3, currency: EUR}", "not an amount of money"),
        ("fx={USD: 2}", "another currency"),
        ("fx={eur: 1.1}", "expected a currency in three capital letters such as EUR"),
        (f"finance.payment={ALL}", "is more than 1"),
    ],
)
def test_money_that_makes_no_sense_is_refused(change: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        load(FILE, sets=[change])
    assert words in error.value.problems[0].cause


def test_the_factors_of_months_are_those_of_the_table() -> None:
    assert np.allclose(month_factors(0.1, 2), [1.1 ** (-0.5 / 12), 1.1 ** (-1.5 / 12)])


def test_a_commitment_that_outlasts_the_horizon_is_not_had_for_less() -> None:
    """Six quarters of three years: paid to the end, or the cheapest other way; never 18 months of
    the 3-year price."""
    sets = ["sensitivity.inputs=[]", "horizon.quarters=6", "cloud.offers=[coreweave-h200]"]
    both = tco(FILE, sets=[*sets, "cloud.terms=[on-demand,reserved-3y]"])
    alone = tco(FILE, sets=[*sets, "cloud.terms=[reserved-3y]"])
    price = 20.18 / 8
    assert line(alone, "coreweave-h200.reserved-3y", "accelerators") == pytest.approx(
        price * 730.5 * 36 * 1024
    )
    on_demand = 50.44 / 8 * 0.7
    least = min(price * 36, on_demand * 18)
    assert line(both, "coreweave-h200.reserved-3y", "accelerators") == pytest.approx(
        least * 730.5 * 1024
    )
    # year by year, with a row for what is paid after
    years = {row[0]: row[2] for row in alone.tables["years"].rows}
    assert years["after the last year"] > 0
    assert years["total"] == pytest.approx(line(alone, "coreweave-h200.reserved-3y", "total"))


def test_a_rest_is_taken_on_the_shorter_commitment_where_that_is_cheapest() -> None:
    sets = ["sensitivity.inputs=[]", "cloud.terms=[on-demand,reserved-1y,reserved-3y]"]
    result = tco(FILE, sets=sets)
    rents = offers.RENTED.rows(result.tables["rented"])
    notes = {(row.offer, row.term): row.note for row in rents}
    assert notes["aws-p5en-48xlarge", "reserved-3y"] == "the last 12 months are on reserved-1y"
    assert notes["coreweave-h200", "reserved-3y"].startswith("the last 12 months are on demand")


def test_the_discount_rate_stays_exact_with_deposits_years_ahead() -> None:
    pay = "finance.payment={deposit_frac: 0.9, deposit_months_before: 60}"
    result = tco(FILE, sets=[pay, "sensitivity={inputs: [finance.discount_rate], samples: 5}"])
    rows = result.tables["tornado"].records()
    row = next(r for r in rows if r["input"] == "finance.discount_rate")
    for bound in ("low", "high"):
        there = tco(
            FILE, sets=[pay, "sensitivity.inputs=[]", f"finance.discount_rate={row[bound]}"]
        )
        assert row[f"owned_at_{bound}_usd"] == pytest.approx(
            value(there, "owned.npv_usd"), rel=1e-9
        )


def test_the_return_counts_a_deposit_on_its_day(result: Result) -> None:
    """With the deposit half a year ahead the return is lower, not higher, than its present cost
    says."""
    sets = [
        "sensitivity.inputs=[]",
        "finance.debt=null",
        "cloud.offers=[coreweave-h200]",
        "cloud.terms=[on-demand]",
    ]
    plain, early = tco(FILE, sets=sets), tco(FILE, sets=[*sets, PAYMENT])
    assert value(early, "owned.irr_frac") < value(plain, "owned.irr_frac")
    found = value(early, "owned.irr_frac")
    there = tco(FILE, sets=[*sets, PAYMENT, f"finance.discount_rate={min(found, 0.999)!r}"])
    if found < 0.999:
        rent = value(there, "rented.coreweave-h200.on-demand.npv_usd")
        assert value(there, "owned.npv_usd") == pytest.approx(rent, rel=1e-6)


def test_both_sides_have_storage_where_the_scenario_names_none() -> None:
    result = tco(FILE, sets=["sensitivity.inputs=[]", "storage=null"])
    assert line(result, "owned", "storage") > 0
    # 1 TB an accelerator at 23 USD a month, for 48 months
    assert line(result, "aws-p5en-48xlarge.on-demand", "storage") == pytest.approx(
        1024 * 23 * 48, rel=0.2
    )


def test_a_loan_at_its_own_rate_is_worth_nothing() -> None:
    own = (1 + 0.09 / 12) ** 12 - 1
    sets = ["sensitivity.inputs=[]", "finance.tax={}", f"finance.discount_rate={own!r}"]
    for term in (4, 10, 30):
        result = tco(
            FILE, sets=[*sets, f"finance.debt={{share: 1, rate: 0.09, term_years: {term}}}"]
        )
        step = dict(result.tables["bridge"].rows)[
            "debt service at the loan's rate, discounted at the discount rate"
        ]
        assert abs(float(step)) < 1.0  # of tens of millions borrowed


def test_hardware_at_the_end_of_its_life_keeps_its_residual() -> None:
    def racks(quarters: int) -> float:
        sets = ["sensitivity.inputs=[]", "finance.residual=0.3", f"horizon.quarters={quarters}"]
        return line(tco(FILE, sets=sets), "owned", "residual racks dgx-h200")

    assert racks(20) == pytest.approx(-0.3 * 128 * 350_000)  # 30 % after five years
    assert racks(19) < racks(20)


def test_whole_racks_and_missing_staff_are_said() -> None:
    sets = ["sensitivity.inputs=[]", "fleet.accelerators=1000", "sites.colo.staff=null"]
    told = " ".join(str(w["message"]) for w in tco(FILE, sets=sets).warnings)
    assert "1,024 accelerators are paid for, 1,000 are required" in told
    assert "no staff" in told


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("fleet.reference={model: nope, seq_len: 8192}", "nope"),
        ("systems.dgx-h200.price_usd={value: 300000, currency: [EUR]}", "no rate for"),
        ("cloud.egress_tb_per_month=-5", "must not be negative"),
        ("finance.payment={deposit_frac: 0.3}", "deposit_months_before"),
        (
            "cloud.prices={aws-p5en-48xlarge: {on_demand_usd_per_h: 3}, p5en.48xlarge: "
            "{on_demand_usd_per_h: 4}}",
            "twice",
        ),
    ],
)
def test_wrong_inputs_are_refused_where_they_stand(change: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        load(FILE, sets=[change])
    assert any(words in p.cause for p in error.value.problems)


def test_an_offer_named_twice_counts_once() -> None:
    once = tco(FILE, sets=["sensitivity.inputs=[]", "cloud.offers=[aws-p5en-48xlarge]"])
    twice = tco(
        FILE, sets=["sensitivity.inputs=[]", "cloud.offers=[aws-p5en-48xlarge, p5en.48xlarge]"]
    )
    assert once.tables["rented"].rows == twice.tables["rented"].rows


def test_a_side_that_is_worth_more_than_it_costs_has_no_unit_cost() -> None:
    sets = [
        "sensitivity.inputs=[]",
        "finance.discount_rate=0.25",
        "finance.tax.income_rate=0.7",
        "finance.debt={share: 1, rate: 0, term_years: 30}",
        "finance.payment={acceptance_frac: 1.0, acceptance_months_after: 24}",
    ]
    result = tco(FILE, sets=sets)
    row = next(r for r in costs.UNITS.rows(result.tables["unit_costs"]) if r.side == "owned")
    assert value(result, "owned.npv_usd") < 0
    assert row == costs.UnitRow("owned")


def test_rates_of_another_currency_can_be_varied() -> None:
    fx, price = (
        "fx={EUR: {value: 1.1, low: 0.9, high: 1.3}}",
        "systems.dgx-h200.price_usd={value: 3e5, currency: EUR}",
    )
    result = tco(FILE, sets=[fx, price, "sensitivity={inputs: [fx.EUR], samples: 10, seed: 0}"])
    row = next(r for r in risks.TORNADO.rows(result.tables["tornado"]) if r.input == "fx.EUR")
    assert (row.input, row.low, row.now, row.high) == ("fx.EUR", 0.9, 1.1, 1.3)
    assert (
        row.owned_at_high_usd > row.owned_at_low_usd
    )  # a dearer euro makes the dollar price of the racks rise


def test_mfu_is_of_the_peak_of_the_jobs_own_precision() -> None:
    """H200: 1,979 TFLOP/s in fp8, 989 in bf16; over the wrong one fp8 would seem to use nearly
    all."""
    sets = [
        "sensitivity.inputs=[]",
        "fleet.reference={model: llama-3.1-70b, seq_len: 8192, precision: fp8}",
    ]
    half, eighth = tco(FILE, sets=["sensitivity.inputs=[]"]), tco(FILE, sets=sets)
    assert value(eighth, "reference.mfu_frac") < value(half, "reference.mfu_frac")
    rates = value(eighth, "reference.mfu_frac") * 1979 / (value(half, "reference.mfu_frac") * 989)
    prices = value(half, "owned.usd_per_pflop_day") / value(eighth, "owned.usd_per_pflop_day")
    assert prices == pytest.approx(rates, rel=1e-9)
