"""Prices of a comparison: mixes of terms, quotes, tariffs."""

from __future__ import annotations

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.errors import InputError
from tests.answers.test_tco_conventions import (
    BASE,
    FILE,
    NODE_USD,
    RENT,
    answer,
    lines,
    refused,
    row,
    value,
)


def test_a_mix_is_its_commitments_and_the_rest_on_demand() -> None:
    """Half of the fleet reserved at 20 USD/h a server, all hours; half on demand at 40, 60 % of them."""
    found = answer(
        "cloud.terms=[on-demand, reserved-3y]",
        "cloud.prices.aws-p5-48xlarge={on_demand_usd_per_h: 40, reserved_3y_usd_per_h: 20}",
        "comparison.mixes=[{id: half, shares: {reserved-3y: 0.5}}]",
        "fleet.utilization_frac=0.6",
        "comparison.only=[racks, accelerators]",
    )
    hours = 36 * 730
    rent = lines(found, "aws-p5-48xlarge.half")["accelerators"]
    assert rent == pytest.approx(hours * (0.5 * 20 + 0.5 * 0.6 * 40))
    paid = found.tables["commitments"].records()
    mix = next(r for r in paid if r["term"] == "half")
    assert mix["usd"] == pytest.approx(hours * 0.5 * 20)
    assert mix["unused_usd"] == pytest.approx(0.4 * hours * 0.5 * 20)
    use = (NODE_USD / hours - 0.5 * 20) / (0.5 * 40)  # owned cost does not depend on use
    assert value(found, "break_even.aws-p5-48xlarge.half.utilization_frac") == pytest.approx(use)
    problems = refused("comparison.mixes=[{id: half, shares: {reserved-3y: 0.5}}]")
    assert "is not in cloud.terms" in problems
    wide = refused(
        "cloud.terms=[on-demand, reserved-1y, reserved-3y]",
        "comparison.mixes=[{id: m, shares: {reserved-3y: 0.5, reserved-1y: 0.6}}]",
    )
    assert "sum to 1.1" in wide
    none = refused("comparison.mixes=[{id: m, shares: {reserved-3y: 0}}]")
    assert "DC004" in none
    assert "above 0 and at most 1, got 0" in none


def test_a_commitment_paid_upfront_is_due_at_the_start_of_each_term() -> None:
    """Three terms of a year: 12,000 upfront and 100 a month, each time; 13,200 / 8,760 h = 1.507."""
    pay = "{term: reserved-1y, upfront_usd: 12000, usd_per_month: 100}"
    found = answer(
        "cloud.terms=[reserved-1y]",
        f"comparison.rents=[{{id: aws-p5-48xlarge, commitments: [{pay}]}}]",
        "comparison.only=[racks, accelerators]",
    )
    cash = [r["aws-p5-48xlarge.reserved-1y_usd"] for r in found.tables["months"].records()]
    assert cash == pytest.approx(([12_100.0] + [100.0] * 11) * 3)
    paid = row(found, "commitments", "aws-p5-48xlarge")
    assert paid["usd_per_instance_hour"] == pytest.approx(13_200 / 8_760)


def test_a_quote_replaces_the_lines_of_the_catalog() -> None:
    """A month of 10 storage, 20 network, 30 CPU nodes; support 10 % of them and of the rent of 29,200."""
    quote = (
        "{id: aws-p5-48xlarge, storage_usd_per_month: 10, network_usd_per_month: 20, "
        "cpu_nodes_usd_per_month: 30, support_frac: 0.1, goodput_loss_frac: 0.5, set_up_usd: 7, "
        "debugging_usd_per_month: 40}"
    )
    found = answer(
        "cloud.prices.aws-p5-48xlarge.on_demand_usd_per_h=40", f"comparison.rents=[{quote}]"
    )
    month = 40 * 730
    expected = {
        "accelerators": month,
        "storage": 10,
        "network and egress": 20,
        "CPU nodes": 30,
        "support": 0.1 * (month + 60),
        "goodput loss": 0.5 * month,
        "set-up": 7 / 36,
        "debugging": 40,
    }
    rent = lines(found, RENT)
    assert {k: v / 36 for k, v in rent.items() if k != "total"} == pytest.approx(expected)
    assert "its quote has no use" in refused(
        f"comparison.rents=[{quote.replace('aws-p5', 'aws-p5en')}]"
    )


def test_a_tariff_by_time_of_use_is_its_mean_by_hours() -> None:
    """60 h at 0.15 and 108 h at 0.07 of 168: 0.0985714 USD/kWh, in the comparison and in the plan."""
    periods = (
        "[{id: peak, hours_per_week: 60, usd_per_kwh: 0.15}, "
        "{id: night, hours_per_week: 108, usd_per_kwh: 0.07}]"
    )
    tariff = f"sites.dc.energy={{time_of_use: {periods}}}"
    mean = f"sites.dc.energy={{usd_per_kwh: {(60 * 0.15 + 108 * 0.07) / 168!r}}}"
    assert lines(answer(tariff)) == pytest.approx(lines(answer(mean)))
    plans = [
        plan(FILE, sets=[BASE[0], "comparison=null", x]).metrics["cost.energy_usd"].value
        for x in (tariff, mean)
    ]
    assert plans[0] == pytest.approx(plans[1])
    assert "sum to 167" in refused(tariff.replace("108", "107"))
    assert "exclude each other" in refused(tariff.replace("{time", "{usd_per_kwh: 0.1, time"))


def test_a_tariff_in_tiers_prices_each_block_of_a_month() -> None:
    """1,000 x 1 kW x 1.2 x 730 h = 876 MWh a month: 500 at 100 USD and 376 at 60 USD."""
    tiers = "[{up_to_mwh_per_month: 500, usd_per_kwh: 0.10}, {usd_per_kwh: 0.06}]"
    tariff = f"sites.dc.energy={{tiers: {tiers}}}"
    fleet = ("fleet.accelerators=1000", "comparison.average_accelerator_kw=1")
    assert lines(answer(*fleet, tariff))["energy"] == pytest.approx(36 * (50_000 + 22_560))
    rising = lines(answer(*fleet, tariff, "finance.inflation_frac_per_year=0.04"))["energy"]
    levels = sum(1.04 ** (t / 4) for t in range(12))  # as every price that is not given by quarter
    assert rising == pytest.approx(3 * levels * (50_000 + 22_560))
    assert "rising order" in refused(
        tariff.replace("{usd_per_kwh: 0.06}", "{up_to_mwh_per_month: 9, usd_per_kwh: 1}")
    )
    with pytest.raises(InputError, match="tiers"):
        plan(FILE, sets=["comparison=null", tariff])


def test_prices_of_later_years_follow_from_two_terms() -> None:
    """7.20 (1 + r + r^2) = 3 x 5.40 gives r = 0.7247: 7.20, 5.22 and 3.78."""
    rows = answer(variant="two-terms").tables["forward_prices"].records()
    assert [r["usd_per_h"] for r in rows] == pytest.approx([7.2, 5.22, 3.78], abs=0.005)
    assert sum(float(str(r["usd_per_h"])) for r in rows) == pytest.approx(3 * 5.40)
