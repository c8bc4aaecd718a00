"""Clusters larger than a number of months needs: where they may pay, and plans that take them."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import CoolingTerms, FinanceTerms, HallTerms
from dcplan.planning.problem.work.jobs.choice import lengths
from dcplan.planning.problem.work.jobs.larger import Larger, between
from dcplan.planning.problem.work.targets import NO_LINK, Target
from dcplan.planning.problem.work.terms import JobTerms
from dcplan.scenario.load import load
from tests.planning.small import small_menu

FILE = "train-405b-in-90-days"
LONG = "workloads.training.flagship.deadline_days=180"
COUNT = "workloads.training.flagship.accelerators"


def larger(book_usd: float, *, every: bool = False, tried: int = 1, empty: float = 0.0) -> Larger:
    """One hall of 1,000 kW; a rack of 100 kW costs 1 M USD, of which 0.6, 0.8 is left by quarter."""
    place = replace(
        small_menu().placements[0], price_usd=1e6, storage_usd=0.0, rated_kw=100.0, price_factor=()
    )
    cooling = CoolingTerms(place.cooling, 1.0, 1.0, 1.1, 1.2, 0.0, 0.0, book_usd)
    hall = HallTerms(place.hall, "a", "h", 1, 10, 1.0, False, 0, False, (cooling,), full_kw=1000.0)
    finance = FinanceTerms(0.0, 20, None, None, (0.6, 0.8), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0))
    finance = replace(finance, empty_hall_frac=empty)
    return Larger(every, {place.hall: hall}, (place,), finance, 2, tried)


def target() -> Target:
    place = small_menu().placements[0]
    return Target(place.hall, place.system, place.system, 8, 80, 50.0, NO_LINK)


@pytest.mark.parametrize(
    ("book_usd", "pays"),
    # a rack loses 400,000 or 200,000 USD: 4,000 or 2,000 USD/kW; 3 M USD over 1,000 kW are 3,000
    [(1e6, set()), (3e6, {1}), (5e6, {0, 1})],
)
def test_a_larger_cluster_pays_where_the_hall_gains_more_than_racks_lose(
    book_usd: float, pays: set[int]
) -> None:
    assert larger(book_usd).pays(target()) == pays


def test_half_of_the_value_kept_empty_is_half_of_the_gain() -> None:
    assert larger(5e6, empty=0.5).pays(target()) == {1}  # 2,500 USD/kW
    assert larger(5e6, empty=1.0).pays(target()) == set()


def test_discount_makes_a_rack_lose_more() -> None:
    # 21 % a year over 0.375 years: later = 0.931; 0.931 x 2,100 = 1,955 against 10,000 x (1 - 0.745)
    asked = larger(2.1e6)
    assert asked.pays(target()) == {1}
    costly = replace(asked, finance=replace(asked.finance, discount_rate=0.21))
    assert costly.pays(target()) == set()


def test_days_count_everywhere_and_many_places_have_coarse_steps() -> None:
    assert larger(0.0, every=True).pays(target()) == {0, 1}
    assert larger(0.0, every=True).step == 1.05
    assert larger(0.0, every=True, tried=31).step == 1.2
    assert larger(5e6, tried=31).pays(target()) == set()
    assert math.isinf(larger(5e6, tried=31).step)
    assert between([10, 20, 40], [10], math.inf) == []


def test_the_menu_has_no_gap_above_a_step_and_no_dominated_size() -> None:
    """A quarter has 91.3 days: in 180 days, runs of 3 to 6 months have sizes between."""
    found = build(load(FILE, sets=[LONG])).problem.run_options
    first = [x for x in found if x.system == "gb200-nvl72" and x.start_month == 3]
    for link in {x.link for x in first}:
        sizes = sorted({(x.accelerators, x.days) for x in first if x.link == link and x.days > 92})
        assert len(sizes) >= 8
        for (n, days), (more, fewer) in itertools.pairwise(sizes):
            assert more < 1.05 * n + 3 * 72
            assert fewer < days


def test_a_run_below_a_quarter_fills_no_more_with_more_accelerators() -> None:
    """89 days at 3,580 accelerators fill 89 / 91.31 of them; 60 days at 5,208 fill about the same."""
    found = [x for x in build(load(FILE)).problem.run_options if x.system == "gb200-nvl72"]
    sizes = {x.accelerators: x.peak_use for x in found}
    assert sizes[3580] == pytest.approx(3580 * 89.092 / 91.3125, rel=1e-4)
    assert max(sizes.values()) < 1.05 * min(sizes.values())
    assert len(sizes) == 3  # for 89 and for 60 days, on two network speeds: no size between


@pytest.mark.slow
def test_no_given_count_is_cheaper_than_the_plan_within_its_gap() -> None:
    best = plan(FILE, gap=0.005).value("cost.npv_usd")
    for count in (3600, 4000, 4350, 4680, 5040):
        given = plan(FILE, sets=[f"{COUNT}={count}"], gap=0.005)
        assert best <= given.value("cost.npv_usd") * 1.007, count
    best = plan(FILE, sets=[LONG], gap=0.005).value("cost.npv_usd")
    for count in (1944, 2304, 2816, 4608):
        given = plan(FILE, sets=[LONG, f"{COUNT}={count}"], gap=0.005)
        assert best <= given.value("cost.npv_usd") * 1.007, count


@pytest.mark.slow
def test_no_given_count_is_quicker_than_the_quickest_plan() -> None:
    quick = ["objective=min_time"]
    best = plan(FILE, sets=quick).value("time.total_completion_days")
    assert best < 200.0  # sizes of whole months give 203
    for count in (4680, 5000, 5400):
        given = plan(FILE, sets=[*quick, f"{COUNT}={count}"])
        assert best <= given.value("time.total_completion_days") + 1.0, count


@pytest.mark.slow
def test_a_run_larger_than_needed_is_explained() -> None:
    given = plan(FILE, sets=[LONG])
    messages = [str(w["message"]) for w in given.warnings]
    assert any("flagship has 4," in m and "would need as many months" in m for m in messages)
    kept = plan(FILE, sets=[LONG, "finance.empty_hall_residual_frac=1"])
    assert kept.value("accelerators.total") < given.value("accelerators.total")
    assert not any("would need as many months" in str(w["message"]) for w in kept.warnings)


def test_few_places_offer_every_month() -> None:
    """A run without a deadline in four quarters: 1 to 11 months, and the year; with many places 9 and 12."""
    terms = JobTerms("run", 0, 4 * 91.3125, None, 0.8, ("s",))
    months = [x / 30.4375 for x in lengths(terms)]
    assert months == [1, 2, 3, 4, 6, 9, 12]
    assert [x / 30.4375 for x in lengths(replace(terms, every_month=True))] == [*range(1, 13)]


def test_the_menu_has_the_smallest_cluster_that_ends_by_the_deadline_from_each_start() -> None:
    """One node less than the menu's smallest option of a start, given by hand, ends after the deadline."""
    run = "workloads.training.first-model.accelerators"
    menu = build(load("starter")).problem.run_options
    at = ("site-a/air", "dgx-b200")
    least: dict[tuple[int, int], tuple[int, int]] = {}
    for x in (x for x in menu if (x.place, x.system) == at and x.start_month % 3 == 0):
        key = (x.start_month, x.lead_months)
        size = (x.accelerators - x.spares, x.spares)
        least[key] = min(size, least.get(key, size))
    assert len(least) == 5
    for key in ((3, 0), (6, 0)):
        size = least[key][0]
        given = build(load("starter", sets=[f"{run}={size}"])).problem.run_options
        fewer = build(load("starter", sets=[f"{run}={size - 8}"])).problem.run_options
        found = [
            {(x.start_month, x.lead_months) for x in options if (x.place, x.system) == at}
            for options in (given, fewer)
        ]
        assert key in found[0]
        assert key not in found[1]
