"""A plan as FOCUS rows: sums, columns and what marks it as a plan."""

from __future__ import annotations

import csv
import io

import pytest

from dcplan.economics.cash_flow import AssetClass
from dcplan.report.focus import COLUMNS, focus_csv
from dcplan.result import Result, Table
from dcplan.specs.plan.money import FLOWS
from tests.plans import planned


def test_billed_and_effective_cost_each_sum_to_the_plans_flows() -> None:
    result = planned("own-or-rent-1024-h200")
    rows = list(csv.DictReader(io.StringIO(focus_csv(result))))
    whole = sum(row.usd for row in FLOWS.rows(result.tables["flows"]))
    for column in ("BilledCost", "EffectiveCost"):
        assert sum(float(row[column]) for row in rows) == pytest.approx(whole, rel=1e-9)
    assert {row["x_DataKind"] for row in rows} == {"plan"}
    assert tuple(rows[0]) == COLUMNS
    # 16 quarters from 2027-Q1: 48 months, each line of capital used up evenly over them
    months = {row["ChargePeriodStart"] for row in rows}
    assert (min(months), max(months), len(months)) == (
        "2027-01-01T00:00:00Z",
        "2030-12-01T00:00:00Z",
        48,
    )
    bought = [r for r in rows if r["x_Line"] == "racks dgx-h200" and r["x_Group"] == "capex"]
    used = [float(r["EffectiveCost"]) for r in bought if r["ChargeCategory"] == "Usage"]
    assert (len(used), used[0]) == (48, pytest.approx(128 * 350_000 / 48))


def test_a_result_without_flows_is_refused() -> None:
    with pytest.raises(ValueError, match="only a plan"):
        focus_csv(Result("train", "ok", 0, "", tables={"x": Table((), ())}))


def test_the_asset_class_and_the_provider_make_the_category_not_the_text_of_a_line() -> None:
    columns = ("quarter", "group", "line", "asset", "site", "provider", "falls", "usd")
    payments = (
        ("racks a", "capex", "racks", "", "Compute", "on-prem"),
        ("network", "capex", "network", "", "Networking", "on-prem"),
        ("storage", "capex", "storage", "", "Storage", "on-prem"),
        ("order storage", "capex", "existing", "", "Other", "on-prem"),
        ("storage checks", "opex", "other", "", "Other", "on-prem"),
        ("network on avg-lambda-h100", "cloud", "other", "lambda", "Compute", "lambda"),
    )
    flows = tuple(
        ("2027-Q1", group, line, asset, "", provider, "middle", 30.0)
        for line, group, asset, provider, _, _ in payments
    )
    cash = Table(("quarter", "cash_out_usd"), (("2027-Q1", 180.0),))
    result = Result("plan", "ok", 0, "", tables={"flows": Table(columns, flows), "cash_flow": cash})
    rows = list(csv.DictReader(io.StringIO(focus_csv(result))))
    found = {(r["x_Line"], r["ServiceCategory"], r["ProviderName"]) for r in rows}
    assert found == {(line, category, maker) for line, _, _, _, category, maker in payments}


def test_flows_of_an_earlier_version_are_refused() -> None:
    old = Table(("quarter", "group", "line", "site", "falls", "usd"), ())
    cash = Table(("quarter",), ())
    with pytest.raises(ValueError, match="asset, provider"):
        focus_csv(Result("plan", "ok", 0, "", tables={"flows": old, "cash_flow": cash}))


def test_every_asset_class_survives_the_flows_of_a_saved_plan() -> None:
    flows = planned("fleet-renewal", gap=0.05).tables["flows"].records()
    by_class = {AssetClass(str(row["asset"])) for row in flows}
    assert by_class >= {
        AssetClass.NETWORK,
        AssetClass.COOLING,
        AssetClass.EXISTING,
        AssetClass.GRID_ENERGY,
        AssetClass.OTHER,
    }
    assert {row["provider"] for row in flows if row["group"] == "cloud"} <= {"aws"}
