"""Taxes by site in the workbooks: an order that was paid in part before the plan, a compared
fleet, and sourcing options."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.api.plan import plan
from dcplan.api.tco import tco
from dcplan.report.book.write import workbook
from tests.report.books import edited, recalculated, summary, zeroed
from tests.report.compared_books import Made, assert_edits_change, assert_live
from tests.report.test_financed_workbook import COST, RENEWED, SAME
from tests.report.test_options_workbook import STAGED as OPTIONS
from tests.report.test_options_workbook import assert_same as assert_options
from tests.report.test_options_workbook import figures as options
from tests.report.test_tco_workbook import HARD

SITE = "    utility_mw: 4\n"
"""A line of the site of a compared fleet."""


def test_an_order_of_before_the_plan_bears_the_rates_of_its_site(tmp_path: Path) -> None:
    """Its advance, which is no payment of the plan, is part of the base of property tax."""
    power = "    utility_mw: [4, 4, 6, 6, 9, 9]\n"
    tax = "    tax: {property_tax_frac_per_year: 0.03, sales_tax_frac: 0.04}\n"
    file, book = tmp_path / "renewed.yaml", tmp_path / "book.xlsx"
    file.write_text(RENEWED.replace(power, power + tax), encoding="utf-8")
    made = plan(str(file))
    book.write_bytes(workbook(made))
    assert any(row["advance_usd"] for row in made.tables["flows"].records())
    assert summary(recalculated(zeroed(book)))[COST] == pytest.approx(
        made.metrics[COST].value, rel=SAME
    )
    edits = {"property_tax_frac_per_year": 0.028, "sales_tax_frac": 0.035}
    named = {f"sites.frankfurt.tax.{name}": rate for name, rate in edits.items()}
    again = plan(str(file), sets=[f"{key}={rate!r}" for key, rate in named.items()])
    assert again.metrics[COST].value != pytest.approx(made.metrics[COST].value, rel=1e-6)
    assert summary(recalculated(edited(book, named)))[COST] == pytest.approx(
        again.metrics[COST].value, rel=SAME
    )


def test_a_compared_fleet_bears_the_rates_of_its_site(tmp_path: Path) -> None:
    """The figures are those of the same rates under finance.tax, and the workbook is live."""
    own = {
        "sales_tax_frac": 0.02,
        "property_tax_frac_per_year": 0.03,
        "building_property_tax_frac_per_year": 0.01,
    }
    text = ", ".join(f"{name}: {rate}" for name, rate in own.items())
    file, book = tmp_path / "hard.yaml", tmp_path / "book.xlsx"
    file.write_text(HARD.replace(SITE, f"{SITE}    tax: {{{text}}}\n"), encoding="utf-8")
    found = tco(str(file))
    book.write_bytes(workbook(found))
    made = Made(str(file), found, book)
    assert_live(made, least_figures=20)
    assert_edits_change(made, {f"sites.own.tax.{name}": 0.9 * rate for name, rate in own.items()})
    sets = [f"finance.tax.{name}={rate}" for name, rate in own.items()]
    again = tco(str(file), sets=["sites.own.tax=null", *sets])
    for key, metric in again.metrics.items():
        assert found.metrics[key].value == metric.value, key


def test_sourcing_options_bear_the_rates_of_their_site(tmp_path: Path) -> None:
    power = "utility_mw: "
    tax = "tax: {sales_tax_frac: 0.02, property_tax_frac_per_year: 0.03}\n    " + power
    file, book = tmp_path / "staged.yaml", tmp_path / "book.xlsx"
    file.write_text(OPTIONS.replace(power, tax, 1), encoding="utf-8")
    made = tco(str(file))
    book.write_bytes(workbook(made))
    assert_options(options(recalculated(zeroed(book))), made)
    edits = {"sales_tax_frac": 0.025, "property_tax_frac_per_year": 0.025}
    named = {f"sites.frankfurt.tax.{name}": rate for name, rate in edits.items()}
    again = tco(str(file), sets=[f"{key}={rate!r}" for key, rate in named.items()])
    assert again.metrics["owned.npv_usd"].value != made.metrics["owned.npv_usd"].value
    assert_options(options(recalculated(edited(book, named))), again)
