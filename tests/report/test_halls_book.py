"""Upgrades and modules of halls in the outputs of a plan: workbook and schedule of purchases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcplan.api.plan import plan
from dcplan.report.book.write import workbook
from dcplan.result import Result
from tests.docs.blocks import blocks
from tests.report.books import cells, recalculated, summary, zeroed

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "halls.md"


def answer(name: str, folder: Path) -> Result:
    """The plan of a file of the how-to."""
    block = next(b for b in blocks(PAGE.read_text(encoding="utf-8")) if b.title == name)
    file = folder / name
    file.write_text("\n".join(block.lines) + "\n", encoding="utf-8")
    return plan(str(file), gap=0.02)


@pytest.fixture(scope="module")
def retrofit(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return answer("retrofit.yaml", tmp_path_factory.mktemp("retrofit"))


@pytest.fixture(scope="module")
def phases(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return answer("phases.yaml", tmp_path_factory.mktemp("phases"))


def rows(result: Result, table: str) -> list[dict[str, Any]]:
    found = result.tables[table]
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def recalculates(result: Result, folder: Path) -> None:
    file = folder / "book.xlsx"
    file.write_bytes(workbook(result))
    again = recalculated(zeroed(file))
    found = summary(again)
    assert found
    for key, value in found.items():
        assert value == pytest.approx(result.metrics[key].value, rel=1e-9), key
    assert cells(again, values=True)["Summary", "B3"] == "OK"


def test_the_workbook_of_an_upgrade_recalculates_to_its_figures(
    retrofit: Result, tmp_path: Path
) -> None:
    assert rows(retrofit, "upgrades")[0]["racks_stopped"] > 0
    recalculates(retrofit, tmp_path)


def test_the_workbook_of_modules_recalculates_to_its_figures(
    phases: Result, tmp_path: Path
) -> None:
    recalculates(phases, tmp_path)


def test_the_schedule_orders_an_upgrade_by_its_lead_time(retrofit: Result) -> None:
    (row,) = [x for x in rows(retrofit, "purchases") if x["item"] == "water"]
    # ordered a quarter before the works, which take two quarters; the price is due with the works
    assert (row["order_month"], row["balance_month"], row["delivery_month"]) == (
        *("2027-04", "2027-07"),
        "2028-01",
    )
    assert row["lead_months"] == 9.0
    assert row["amount_usd"] == 4e6
    assert row["contents"].endswith("2.4 MW of IT, adds direct-liquid-dry-cooler")


def test_power_falls_during_the_works(retrofit: Result) -> None:
    (upgrade,) = rows(retrofit, "upgrades")
    power = {x["quarter"]: x for x in rows(retrofit, "power")}
    before, during = power["2027-Q2"], power[upgrade["works_from"]]
    # racks of dgx-h100 with two nodes of 10.2 kW each are off, and their switches stay on
    off_mw = upgrade["racks_stopped"] * 2 * 10.2e-3
    assert before["it_mw"] - during["it_mw"] == pytest.approx(off_mw, rel=1e-9)
    assert during["energy_mwh"] < before["energy_mwh"]


def test_the_schedule_orders_modules_by_their_lead_time(phases: Result) -> None:
    module = next(x for x in rows(phases, "purchases") if x["item"] == "building")
    assert module["amount_usd"] == 9e6
    assert (module["lead_months"], module["lead_source"]) == (
        9.0,
        "scenario: sites.fra.halls.pods.lead_quarters",
    )
    assert not [x for x in rows(phases, "purchases") if x["item"] == "power-block"]
    assert rows(phases, "lead_times") == []
