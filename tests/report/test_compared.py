"""The page of two results: its figures are those of ``diff``, its names those of the caller."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import dcplan
from dcplan.result import Result
from dcplan.specs.regression.compared import FIGURES_COMPARED, QUARTERS_COMPARED
from tests.plans import planned
from tests.report.test_page import outline

PRICE = "systems.gb200-nvl72.price_usd=4.6e6"


@pytest.fixture(scope="module")
def before() -> Result:
    return planned("fleet-renewal")


@pytest.fixture(scope="module")
def after() -> Result:
    return planned("fleet-renewal", sets=[PRICE])


@pytest.fixture(scope="module")
def text(before: Result, after: Result, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("compared") / "page.html"
    return dcplan.export(before, path, against=after, labels=("now", "later")).read_text("utf-8")


def test_the_page_is_sound_and_loads_nothing(text: str) -> None:
    found = outline(text)
    assert found.loaded == []
    assert len(found.ids) == len(set(found.ids))
    assert set(found.references) <= set(found.ids)
    assert all(b - a <= 1 for a, b in zip(found.headings, found.headings[1:], strict=False))
    assert found.captions == found.tables
    assert len(found.pictures) == 3


def test_the_first_sentence_is_the_cost_of_both(text: str, before: Result, after: Result) -> None:
    first, second = (float(str(x.metrics["cost.npv_usd"].value)) for x in (before, after))
    lead = re.findall(r'<p class="lead">(.*?)</p>', text)[0]
    amounts = [float(x) for x in re.findall(r"USD ([\d.]+) M", lead)]
    expected = [second / 1e6, first / 1e6, (second - first) / 1e6]
    assert amounts == pytest.approx(expected, abs=0.006)
    assert "systems.gb200-nvl72.price_usd 3,400,000 → 4,600,000" in text


def test_cash_paid_and_its_quarters_are_those_of_both_plans(before: Result, after: Result) -> None:
    """Capital, energy, operating cost and rent of every quarter, added by hand."""
    found = dcplan.diff(before, after)
    quarters = QUARTERS_COMPARED.rows(found.tables[QUARTERS_COMPARED.name])
    figures = {x.figure: x for x in FIGURES_COMPARED.rows(found.tables[FIGURES_COMPARED.name])}
    paid = [
        sum(
            float(str(row[f"{x}_usd"]))
            for x in ("capex", "energy", "opex", "cloud")
            for row in rows
        )
        for rows in (r.tables["cash_flow"].records() for r in (before, after))
    ]
    row = figures["Cash paid over the horizon, before tax and financing"]
    assert [row.before, row.after] == pytest.approx(paid)
    assert row.change == pytest.approx(paid[1] - paid[0])
    last = quarters[-1]
    assert [last.paid_to_date_before_usd, last.paid_to_date_after_usd] == pytest.approx(paid)
    assert last.accelerators_after == after.metrics["accelerators.total"].value


def test_answers_of_different_verbs_are_refused(before: Result, tmp_path: Path) -> None:
    other = dcplan.facility(site="us-ashburn", cooling="direct-liquid-tower", it_mw=20)
    with pytest.raises(dcplan.InputError, match="DC056"):
        dcplan.export(before, tmp_path / "x.html", against=other)


def test_a_plan_that_was_not_found_is_compared_with_one_that_was(
    before: Result, tmp_path: Path
) -> None:
    none = replace(before, status="infeasible", headline="no plan", metrics={}, tables={})
    path = dcplan.export(before, tmp_path / "x.html", against=none, labels=("now", "smaller"))
    assert "“smaller”: status infeasible" in path.read_text("utf-8")


def test_two_answers_of_another_verb_have_their_tables_next_to_each_other(tmp_path: Path) -> None:
    one, other = (
        dcplan.facility(site="us-ashburn", cooling="direct-liquid-tower", it_mw=mw)
        for mw in (20, 30)
    )
    path = dcplan.export(one, tmp_path / "x.html", against=other, labels=("20 MW", "30 MW"))
    text = path.read_text("utf-8")
    assert "Tables of both" in text
    assert text.count(": 20 MW</caption>") == text.count(": 30 MW</caption>") > 0
