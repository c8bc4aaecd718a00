"""Slips of unit and unused overlays draw a warning; ordinary quotes do not."""

from __future__ import annotations

import pytest

from dcplan.planning.problem.sanity_checks import sanity_notes
from dcplan.scenario.load import load


def test_shipped_scenarios_raise_no_doubt() -> None:
    for name in (
        "train-405b-in-90-days",
        "retrofit-air-hall",
        "three-site-build-out",
        "meta-24k-h100",
    ):
        assert sanity_notes(load(name)) == [], name


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("systems.dgx-b200.price_usd=515", "times the catalog value"),  # thousands forgotten
        ("systems.gb200-nvl72.rated_kw=0.132", "times the catalog value"),  # MW for kW
        ("sites.ashburn.halls.liquid.it_mw=8000", "check the unit"),  # kW for MW
        ("sites.ashburn.halls.liquid.it_mw=0.2", "more than the hall's"),
        ("systems.dgx-h100.price_usd=280e3", "not in `systems`"),
    ],
)
def test_each_slip_is_doubted(change: str, words: str) -> None:
    found = sanity_notes(load("train-405b-in-90-days", sets=[change]))
    assert any(words in text for text in found), found


def test_an_ordinary_quote_is_not_doubted() -> None:
    assert (
        sanity_notes(load("train-405b-in-90-days", sets=["systems.gb200-nvl72.price_usd=3.0e6"]))
        == []
    )
