"""Class values that decide: listed by a rule, and gone when the scenario has the figure."""

from __future__ import annotations

from typing import Any

import pytest

import dcplan
from dcplan.answers.check.class_values import class_values


def deciding(scenario: str, *sets: str) -> dict[str, dict[str, Any]]:
    """Rows of the table of a scenario by input."""
    found = dcplan.check(scenario, sets=sets)
    return {str(row["input"]): row for row in found.tables["class_values"].records()}


def test_the_pue_of_an_existing_hall_is_named_with_its_field() -> None:
    """The table has 1.812 for an air chiller in zone 5A (catalogs/cooling/pue.csv), with a midsize UPS and
    distribution in it: 1 / (0.87 x 0.965) - 1 = 0.191113.

    The chain of 1.8 MW under N+1: 1.62 MW on three blocks of 1.5, x = 0.36: 0.361296, UPS 0.375776,
    transformer 0.379188, losses of 0.053301; 0.18 MW on two blocks of 0.18, x = 0.5: 0.047989.
    0.9 x 0.053301 + 0.1 x 0.047989 = 0.052770, and 1.812 - 0.191113 + 0.052770 = 1.673657.
    """
    key = "sites.frankfurt.halls.old-air.air-chiller.pue"
    row = deciding("retrofit-air-hall")[key]
    assert row["value"] == pytest.approx(1.673657, abs=3e-6)
    assert row["set_instead"] == "sites.frankfurt.halls.old-air.pue"
    given = deciding("retrofit-air-hall", f"{row['set_instead']}=1.5")
    assert key not in given


def test_values_of_the_user_are_not_listed() -> None:
    """Frankfurt has its own energy price, Abilene and Columbus have that of their region."""
    frankfurt = deciding("retrofit-air-hall")
    assert not any(key.endswith("energy.usd_per_kwh") for key in frankfurt)
    three = deciding("three-site-build-out")
    assert {key for key in three if key.endswith("energy.usd_per_kwh")} == {
        "sites.abilene.energy.usd_per_kwh",
        "sites.columbus.energy.usd_per_kwh",
    }


def test_inputs_with_the_same_value_are_one_row() -> None:
    """All systems with the default lead time share a row."""
    rows = deciding("three-site-build-out")
    leads = [key for key in rows if "systems." in key and "lead_quarters" in key]
    assert len(leads) == 1
    assert leads[0].startswith("systems.cs-3.lead_quarters and ")


def test_shares_of_0_and_1_are_definitions() -> None:
    row = {"key": "cooling.x.air_share_frac", "unit": "fraction", "status": "catalog", "source": ""}
    listed = [bool(class_values([row | {"value": v}]).rows) for v in (0.0, 0.13, 1.0)]
    assert listed == [False, True, False]


def test_the_address_of_a_source_is_left_out() -> None:
    row = {"key": "power.peak-over-rated", "value": 1.15, "unit": "", "status": "estimate"}
    (found,) = class_values([row | {"source": "Lenovo guide (https://example.org/x)"}]).records()
    assert found["source"] == "Lenovo guide"
