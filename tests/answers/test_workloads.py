"""Who is served by what: tables, metrics, picture and sheet of a plan's workloads."""

from __future__ import annotations

import io
import itertools
import re
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from dcplan.answers.plan.workloads import workloads_of
from dcplan.api.plan import plan
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.problem.work.terms import DemandTerms
from dcplan.report.book.workloads import PARTS
from dcplan.report.book.write import workbook
from dcplan.report.html import quarterly
from dcplan.report.html.figures import figures_of
from dcplan.report.redact import redacted
from dcplan.result import Result
from dcplan.specs.table import Section
from dcplan.units import HOURS_PER_QUARTER, SECONDS_PER_HOUR
from tests.planning.test_allocation import tiny_plan
from tests.plans import planned

CENT = 0.01
QUICK = ("train-405b-in-90-days", "fleet-renewal")
SLOW = ("starter", "retrofit-air-hall", "meta-24k-h100")
BY_HOUR = """
dcplan: 1
name: by-hour
horizon: {start: 2027-Q1, quarters: 2}
sites:
  - id: a
    location: de-frankfurt
    utility_mw: 2
    halls: [{id: h, existing: true, racks: 30, rack_kw_max: 50, it_mw: 0.8, cooling: [air-chiller]}]
systems: [dgx-h200]
fabrics: [eth-400]
workloads:
  inference:
    - {id: chat, tokens_per_s: [0, 20000], tokens_per_s_per_accelerator: {dgx-h200: 1000}, shape: chat-azure-2024}
"""


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(x, marks=pytest.mark.slow) for x in SLOW)])
def test_the_rows_of_a_packaged_plan_sum_to_its_net_present_cost(name: str) -> None:
    result = planned(name, gap=0.02)
    npv = result.value("cost.npv_usd")
    costs, quarters = (result.frame(x) for x in ("workload_costs", "workload_costs_by_quarter"))
    assert costs["present_cost_usd"].sum() == pytest.approx(npv, abs=CENT)
    assert costs["with_unused_usd"].sum() == pytest.approx(npv, abs=CENT)
    assert costs["usd_share_frac"].sum() == pytest.approx(1.0)
    parts = costs[[f"{part}_usd" for part in PARTS]].sum(axis=1)
    assert parts.tolist() == pytest.approx(costs["present_cost_usd"].tolist(), abs=CENT)
    rate = next(
        float(x["value"])
        for x in result.inputs
        if x["key"] in ("finance.discount-rate", "finance.discount_rate")
    )
    order = result.frame("cash_flow")["quarter"].tolist()
    factor = [(1 + rate) ** -((order.index(q) + 0.5) / 4) for q in quarters["quarter"]]
    assert (quarters["cost_usd"] * factor).sum() == pytest.approx(npv, abs=CENT)
    served = result.frame("served_by")
    assert served["cost_usd"].sum() == pytest.approx(quarters["cost_usd"].sum(), abs=CENT)
    assert served["energy_mwh"].sum() == pytest.approx(result.frame("power")["energy_mwh"].sum())
    for row in costs.to_dict("records"):
        if row["kind"] in ("training", "capacity", "inference"):
            key = f"workloads.{row['workload']}.cost_usd"
            assert result.value(key) == row["present_cost_usd"]
    unused = costs[costs["kind"] == "unused"]["present_cost_usd"].sum()
    assert result.value("cost.unused_usd") == pytest.approx(unused)
    assert unused >= 0.0


def test_a_million_tokens_cost_between_the_dearest_and_the_cheapest_quarter() -> None:
    result = planned("fleet-renewal", gap=0.02)
    chat = result.frame("workload_costs_by_quarter").query("workload == 'chat'")
    rows = result.frame("demand").query("demand == 'chat'").set_index("quarter")
    demand = rows["required"] - rows["unserved"]
    for row in chat.to_dict("records"):
        tokens = demand[row["quarter"]] * HOURS_PER_QUARTER * SECONDS_PER_HOUR / 1e6
        assert row["usd_per_million_tokens"] == pytest.approx(row["cost_usd"] / tokens)
    each = result.value("workloads.chat.usd_per_million_tokens")
    by_quarter = chat["usd_per_million_tokens"]
    assert by_quarter.min() <= each <= by_quarter.max()


def test_tokens_of_the_periods_of_a_week_are_those_of_their_hours(tmp_path: Path) -> None:
    """A mean of 20,000 tokens/s is served, not the sum of the loads of all periods."""
    file = tmp_path / "by-hour.yaml"
    file.write_text(BY_HOUR, encoding="utf-8")
    result = plan(str(file), gap=0.02)
    served, cost = result.frame("served_by"), result.frame("workload_costs_by_quarter")
    chat = served[served["workload"] == "chat"]
    assert chat["amount"].sum() == pytest.approx(20_000, rel=1e-6)
    row = cost[cost["workload"] == "chat"].to_dict("records")[-1]
    tokens = 20_000 * HOURS_PER_QUARTER * SECONDS_PER_HOUR / 1e6
    assert row["usd_per_million_tokens"] == pytest.approx(row["cost_usd"] / tokens, rel=1e-6)


def test_the_amount_served_is_the_demand() -> None:
    result = planned("fleet-renewal", gap=0.02)
    served = result.frame("served_by").groupby(["workload", "quarter"])["amount"].sum()
    for row in result.frame("demand").to_dict("records"):
        found = row["owned"] + row["rented"]
        assert served[row["demand"], row["quarter"]] == pytest.approx(found)


def test_tokens_are_counted_by_hand() -> None:
    # half of the 8,000 tokens/s that are required are served at peak, a peak of twice the average
    problem, d = tiny_plan()
    demand = DemandTerms(
        "research",
        (0.0, 8.0),
        {("s/h", "a"): 1.0},
        "1,000 tokens/s",
        scenario_unit=("tokens_per_s", 500.0),
    )
    problem = replace(problem, demands=(demand,))
    d.rented.clear()
    found = workloads_of(problem, d, make_accounts(problem, d))
    # 4 accelerators x 1,000 tokens/s / 2 x 7,889,400 s a quarter
    assert found.million_tokens["research", 1] == pytest.approx(2_000 * 7_889_400 / 1e6)


def test_a_plan_without_workloads_has_no_rows() -> None:
    result = planned("own-or-rent-1024-h200", gap=0.02)
    assert [result.tables[x].rows for x in ("served_by", "workload_costs")] == [(), ()]
    assert not [key for key in result.metrics if key.startswith("workloads.")]


def picture(result: Result) -> str:
    found = figures_of(result, [])[Section.ORDERS]
    return next(x.svg for x in found if x.title == "Workloads by system")


def test_a_redacted_plan_has_no_cost_of_a_workload() -> None:
    # cost over accelerator-hours, both of a workload that only rents, is the price of its rent
    hidden = redacted(planned("fleet-renewal", gap=0.02))
    for name in ("workload_costs", "workload_costs_by_quarter", "workload_systems", "served_by"):
        money = [x for x in hidden.tables[name].columns if "usd" in x]
        assert money
        assert all(row[x] is None for row in hidden.tables[name].records() for x in money)
    assert hidden.metrics["workloads.chat.cost_usd"].value is None
    assert hidden.metrics["cost.unused_usd"].value is None


def texts_of(svg: str) -> list[tuple[float, float, str]]:
    """Place and words of every text of a picture that starts at its place."""
    found = re.findall(r'text-anchor: start[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]+)<', svg)
    return [(float(x), float(y), text) for x, y, text in found]


def test_the_picture_names_every_workload_in_full() -> None:
    rent = "cloud.leave_out=[set-up, debugging]"  # at their full cost the plan rents nothing
    svg = picture(planned("fleet-renewal", gap=0.02, sets=[rent]))
    names = {text for *_, text in texts_of(svg)}
    assert names >= {"chat on gb200-nvl72", "research on rented accelerators", "unused"}


@pytest.mark.parametrize(("count", "length"), [(3, 8), (14, 20), (14, 60), (2, 300)])
def test_a_legend_of_any_length_stays_inside_the_picture(count: int, length: int) -> None:
    names = [f"{i:02d}".ljust(length, "w") for i in range(count)]
    svg = quarterly.workloads(["2027-Q1"], [(x, "gb200", [1.0]) for x in names]).svg
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert box is not None
    width, height = float(box[1]), float(box[2])
    found = [x for x in texts_of(svg) if x[2][:2].isdigit() and "w" in x[2]]
    assert len(found) == count
    for x, y, text in found:  # letters of 9 points are at most 5.9 points wide, on average
        assert x + 5.9 * len(text) <= width
        assert 0 <= y <= height
    rows = sorted({y for _, y, _ in found})
    assert all(b - a >= 9.0 for a, b in itertools.pairwise(rows))


def test_the_sheet_sums_to_the_plan() -> None:
    result = plan("fleet-renewal", gap=0.02)
    book = openpyxl.load_workbook(io.BytesIO(workbook(result)))
    rows = {row[0].value: row for row in book["Workloads"].iter_rows()}
    assert str(rows["present cost of all workloads"][5].value).startswith("=")
    assert str(rows["cost of the quarter"][6].value).startswith("=")
    values = openpyxl.load_workbook(io.BytesIO(workbook(result)), data_only=True)["Workloads"]
    found = {row[0]: row[5] for row in values.iter_rows(values_only=True)}
    assert found["present cost of all workloads"] == pytest.approx(
        result.value("cost.npv_usd"), abs=CENT
    )
    assert found["present cost per million tokens"] == pytest.approx(
        result.value("workloads.chat.usd_per_million_tokens")
    )
