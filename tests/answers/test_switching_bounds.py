"""Bounds of switching values: given, from the catalog, or the default span."""

from __future__ import annotations

import pytest

from dcplan.answers.explain.answer import explain
from dcplan.answers.explain.bounds import Bounds, Origin, bounds_of
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import System
from dcplan.inputs.log import Input
from dcplan.scenario.load import Question, load


def row(key: str, value: float | str, low: float | None = None, high: float | None = None) -> Input:
    return Input(key, value, low, high, "", "input", None, None, None)


@pytest.fixture(scope="module")
def question() -> Question:
    return load("starter", sets=["prices.dgx-b200.price_usd=400e3"])


def test_given_bounds_are_kept(question: Question) -> None:
    found = bounds_of(row("finance.discount_rate", 0.1, 0.05, 0.2), question)
    assert found == Bounds(0.05, 0.2, Origin.GIVEN)


def test_a_quote_has_the_relative_bounds_of_the_catalog(question: Question) -> None:
    listed = load_catalog(()).get("systems", "dgx-b200", System).price_usd
    assert listed is not None
    assert listed.low is not None
    assert listed.high is not None
    found = bounds_of(row("systems.dgx-b200.price_usd", 400e3), question)
    assert found is not None
    assert found.origin is Origin.CATALOG
    assert found.low == pytest.approx(400e3 * listed.low / listed.value)
    assert found.high == pytest.approx(400e3 * listed.high / listed.value)


@pytest.mark.parametrize(
    ("key", "value", "low", "high"),
    [
        ("sites.site-a.energy.demand_usd_per_kw_month", 8.0, 4.0, 12.0),
        ("finance.hardware_price_change_frac_per_year", -0.2, -0.3, -0.1),
    ],
)
def test_other_values_have_half_and_one_and_a_half_of_the_value(
    question: Question, key: str, value: float, low: float, high: float
) -> None:
    found = bounds_of(row(key, value), question)
    assert found is not None
    assert found.origin is Origin.DEFAULT
    assert (found.low, found.high) == pytest.approx((low, high))


def test_text_zero_and_a_certain_value_have_no_bounds(question: Question) -> None:
    assert bounds_of(row("a", "mid"), question) is None
    assert bounds_of(row("a", 0.0), question) is None
    assert bounds_of(row("a", 2.0, 2.0, 2.0), question) is None


def test_explain_says_which_bounds_are_defaults() -> None:
    sets = ["sites.site-a.energy.usd_per_kwh=0.08", "sites.site-a.energy.demand_usd_per_kw_month=9"]
    keys = [x.partition("=")[0] for x in sets]
    found = explain("starter", sets=sets, switching_value_of=keys).tables["switching_values"]
    bounds = {x["input"]: x["bounds"] for x in found.records()}
    assert bounds == dict(zip(keys, ("catalog", "default"), strict=True))
