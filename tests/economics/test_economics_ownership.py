"""Owned cost in its simple forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.annuity import level_payment_usd
from dcplan.economics.ownership import (
    Facility,
    LoanTerms,
    Server,
    at_cost_usd_per_year,
    capacity_usd,
    facility_build_usd,
    server_month,
    simple_cluster,
    usd_per_effective_pflop_year,
)

QUICK = settings(max_examples=60, deadline=None)
SERVER = Server(6_000, LoanTerms(0.08, 36), 0.05, "amortization", average_kw=0.4, critical_kw=0.5)
FACILITY = Facility(10.0, LoanTerms(0.08, 144), 0.04, pue=1.5)


def test_a_server_month_by_hand() -> None:
    month = server_month(SERVER, FACILITY, usd_per_kwh=0.07, hours_per_month=720)
    # facility 500 W x 10 = 5,000 over 144 months; upkeep 500 x 0.04; server 6,000 / 36, 5 % of it
    # upkeep
    assert month.facility_amortization_usd == pytest.approx(34.7222, abs=1e-4)
    assert month.facility_opex_usd == pytest.approx(20.0)
    assert month.server_amortization_usd == pytest.approx(166.6667, abs=1e-4)
    assert month.server_opex_usd == pytest.approx(8.3333, abs=1e-4)
    # 0.4 kW x 720 h x 0.07 = 20.16, and half of it again at PUE 1.5
    assert month.server_energy_usd == pytest.approx(20.16)
    assert month.overhead_energy_usd == pytest.approx(10.08)
    # interest is what the annuity asks for besides
    assert month.facility_amortization_usd + month.facility_interest_usd == pytest.approx(
        level_payment_usd(5_000, 0.08 / 12, 144)
    )
    lines = (34.7222, 19.4004, 20.0, 166.6667, 21.3515, 8.3333, 20.16, 10.08)
    assert month.total_usd == pytest.approx(sum(lines), abs=0.01)


def test_without_interest_only_amortisation_is_left() -> None:
    server = Server(6_000, LoanTerms(0.0, 36), 0.0, "amortization", average_kw=0.0, critical_kw=0.5)
    facility = Facility(10.0, LoanTerms(0.0, 100), 0.0, pue=1.5)
    month = server_month(server, facility, usd_per_kwh=0.07, hours_per_month=720)
    assert month.total_usd == pytest.approx(6_000 / 36 + 5_000 / 100)


def test_upkeep_is_over_the_amortisation_or_over_the_price_of_a_year() -> None:
    yearly = Server(
        6_000, LoanTerms(0.08, 36), 0.05, "price-per-year", average_kw=0.4, critical_kw=0.5
    )
    assert server_month(
        yearly, FACILITY, usd_per_kwh=0.07, hours_per_month=720
    ).server_opex_usd == pytest.approx(25.0)


def test_hours_of_a_month_are_the_callers() -> None:
    short, long = (
        server_month(SERVER, FACILITY, usd_per_kwh=0.07, hours_per_month=h) for h in (720, 730)
    )
    assert long.server_energy_usd / short.server_energy_usd == pytest.approx(730 / 720)


def test_samples_of_a_server_month() -> None:
    server = Server(
        np.array([6_000.0, 12_000.0]), LoanTerms(0.08, 36), 0.05, "amortization", 0.4, 0.5
    )
    month = server_month(server, FACILITY, usd_per_kwh=np.array([0.07, 0.0]), hours_per_month=720)
    one = server_month(SERVER, FACILITY, usd_per_kwh=0.07, hours_per_month=720)
    assert month.total_usd[0] == pytest.approx(one.total_usd)
    assert month.server_amortization_usd[1] == pytest.approx(2 * one.server_amortization_usd)


def test_a_simple_cluster_by_hand() -> None:
    # 10 x 100 USD; 10 x 0.5 kW x 80 % x 1.25 x 1,000 h x 0.10 = 500 USD
    cluster = simple_cluster(
        10, 100, kw_per_accelerator=0.5, load_frac=0.8, pue=1.25, hours=1_000, usd_per_kwh=0.1
    )
    assert cluster.capex_usd == 1_000.0
    assert cluster.energy_usd == pytest.approx(500.0)
    assert cluster.total_usd == pytest.approx(1_500.0)
    assert usd_per_effective_pflop_year(1_500.0, 10, 0.5, 0.6, 5) == pytest.approx(100.0)


def test_capacity_priced_by_the_megawatt() -> None:
    # 500 kW at 10 million USD a MW
    assert capacity_usd(500.0, 10e6) == pytest.approx(5e6)


def test_an_hour_at_cost() -> None:
    # 6,100 productive hours a year instead of 8,760 (CT-SL): hardware alone
    assert at_cost_usd_per_year(30_500, 5) / 6_100 == pytest.approx(1.0)
    assert at_cost_usd_per_year(90.0, 3, 0.5) == pytest.approx(45.0)


@given(
    st.floats(0.0, 1e6), st.floats(0.0, 1e4), st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6)
)
@QUICK
def test_the_trades_of_a_building_sum_to_it(area: float, rate: float, weights: list[float]) -> None:
    shares = {f"trade {k}": w / sum(weights) for k, w in enumerate(weights)}
    assert sum(facility_build_usd(area, rate, shares).values()) == pytest.approx(area * rate)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: facility_build_usd(1, 1, {"a": 0.5}), "shares_frac must sum to 1, got 0.5"),
        (lambda: facility_build_usd(-1, 1, {"a": 1.0}), "area must be at least 0"),
        (
            lambda: usd_per_effective_pflop_year(1.0, 1, 1.0, 0.0, 1),
            "effective PFLOP-years must be above 0",
        ),
        (lambda: at_cost_usd_per_year(1.0, 0), "life_years must be above 0"),
        (lambda: capacity_usd(-1, 1), "capacity_kw must be at least 0"),
        (
            lambda: simple_cluster(
                1, 1, kw_per_accelerator=1, load_frac=70, pue=1.2, hours=1, usd_per_kwh=0.1
            ),
            "load_frac must be from 0 to 1, got 70",
        ),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
