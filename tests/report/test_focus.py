"""A plan as FOCUS rows: sums, columns and what marks it as a plan."""

from __future__ import annotations

import csv
import io

import pytest

from dcplan.report.focus import COLUMNS, focus_csv
from dcplan.report.planned import plan
from dcplan.result import Result, Table


def test_billed_and_effective_cost_each_sum_to_the_plans_flows() -> None:
    result = plan("own-or-rent-1024-h200")
    rows = list(csv.DictReader(io.StringIO(focus_csv(result))))
    whole = sum(float(str(row[-1])) for row in result.tables["flows"].rows)
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
