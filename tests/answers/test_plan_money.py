"""What the headline and the notes of a plan say about money."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.units import money
from tests.answers.one_hall import one_hall

ASSET = (
    "assets: [{id: old, system: dgx-h100, hall: h, accelerators: 96, in_service: 2025-Q1, "
    "may_sell: true, fabric: ib-ndr-400}]\n"
)


def test_sales_are_no_residual_value(tmp_path: Path) -> None:
    """All hardware is sold: nothing is owned at the end, and the headline says where money is from."""
    found = plan(one_hall(tmp_path, 40_000, ASSET))
    rows = [row for row in found.tables["flows"].records() if row["group"] == "residual"]
    sold = -sum(row["usd"] for row in rows if row["falls"] == "middle")
    left = -sum(row["usd"] for row in rows if row["falls"] == "end")
    assert sold > 0.0
    assert f"USD {money(sold)} from sales and USD {money(left)} residual value" in found.headline
    assert found.value("cost.residual_usd") == pytest.approx(sold + left)


def test_the_headline_names_what_a_commitment_pays_without_use(tmp_path: Path) -> None:
    """45.6 accelerators for a quarter are 6 instances of 8, for three years of 8,766 h: 1,262,304 h.

    100,000 h of them are used. A budget of 400,000 USD buys nothing.
    """
    cloud = "cloud: {offers: [coreweave-h200], terms: [reserved-3y]}\nfinance: {budget_usd: 4e5}\n"
    found = plan(one_hall(tmp_path, 100_000, cloud))
    hours = [x for x in found.tables["flows"].records() if x["used_quantity"] is not None]
    assert sum(x["quantity"] for x in hours) == pytest.approx(6 * 8 * 3 * 8_766)
    assert "(commitments pay 1.16 M more without use in this plan)" in found.headline


def test_a_plan_says_what_bears_no_property_tax(tmp_path: Path) -> None:
    """A shell of 0.5 MW x 1.5 at 8.5 M a MW is 6.375 M, two blocks of 2.5 MW at 800 a kW are 4 M."""
    tax = "finance: {tax: {property_tax_frac_per_year: 0.01}}\n"
    file = Path(one_hall(tmp_path, 100_000, tax))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("existing: true", "pue: 1.3, peak_pue: 1.5"), encoding="utf-8")
    said = "buildings and power of USD 10.4 M bear none"
    found, plain = plan(str(file)), plan(str(file), sets=["finance={}"])
    assert any(said in str(x["message"]) for x in found.warnings), found.warnings
    assert not any("bear none" in str(x["message"]) for x in plain.warnings)
