"""Links between halls in the outputs of a plan: the workbook and the schedule of purchases."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dcplan.api.plan import plan
from dcplan.report.book.write import workbook
from dcplan.result import Result
from tests.report.books import cells, recalculated, summary, zeroed

CAMPUS = """
dcplan: 1
name: campus
horizon: {start: 2027-Q1, quarters: 6}
sites:
  - id: east
    location: us-ashburn
    utility_mw: 30
    halls:
      - {id: h1, racks: 60, rack_kw_max: 140, it_mw: 2, cooling: [direct-liquid-dry-cooler]}
      - {id: h2, racks: 60, rack_kw_max: 140, it_mw: 2, cooling: [direct-liquid-dry-cooler]}
links:
  - {id: campus, joins: [east/h1, east/h2], km: 0.6, gbps: 100000, lead_quarters: 1}
systems: [gb200-nvl72]
fabrics: [eth-800]
workloads:
  training:
    - id: base
      model: llama-3.1-405b
      tokens: 4e12
      seq_len: 8192
      global_batch_tokens: 16777216
      precision: [bf16]
      deadline_days: 120
      over: [campus]
      sync_bytes_per_param: 2
"""


@pytest.fixture(scope="module")
def spread(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A plan whose run spreads over two halls."""
    file = tmp_path_factory.mktemp("campus") / "campus.yaml"
    file.write_text(CAMPUS)
    return plan(str(file), gap=0.005)


def test_the_workbook_of_a_run_over_two_halls_recalculates_to_its_figures(
    spread: Result, tmp_path: Path
) -> None:
    file = tmp_path / "book.xlsx"
    file.write_bytes(workbook(spread))
    again = recalculated(zeroed(file))
    found = summary(again)
    assert found
    for key, value in found.items():
        assert value == pytest.approx(spread.metrics[key].value, rel=1e-9), key
    assert cells(again, values=True)["Summary", "B3"] == "OK"


def test_the_schedule_orders_both_ends_of_a_link_by_its_lead_time(spread: Result) -> None:
    table = spread.tables["purchases"]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    ends = [row for row in rows if row["item"] == "campus"]
    assert [row["place"] for row in ends] == ["east/h1", "east/h2"]
    for row in ends:
        # in service from 2027-Q2, one quarter after the order
        assert (row["order_month"], row["delivery_month"]) == ("2027-01", "2027-04")
        assert str(row["contents"]).endswith("100,000 Gb/s one way")
    linked = spread.tables["links"]
    price = linked.columns.index("capex_usd")
    assert sum(row["amount_usd"] for row in ends) == pytest.approx(
        sum(row[price] for row in linked.rows)
    )


def test_the_run_bears_its_links_in_their_halls(spread: Result) -> None:
    table = spread.tables["workload_systems"]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert {r["place"] for r in rows} == {"east/h1", "east/h2"}
    costs = spread.tables["workload_costs"]
    whole = next(dict(zip(costs.columns, r, strict=True)) for r in costs.rows if r[0] == "base")
    parts = sum(float(str(r["present_cost_usd"])) for r in rows if r["workload"] == "base")
    assert parts == pytest.approx(float(str(whole["present_cost_usd"])), rel=1e-9)


def test_the_run_is_one_row_with_all_its_accelerators(spread: Result) -> None:
    jobs = spread.tables["jobs"]
    rows = [dict(zip(jobs.columns, row, strict=True)) for row in jobs.rows]
    assert [row["place"] for row in rows] == ["east/h1 + east/h2"]
    assert spread.value("train.base.accelerators") == rows[0]["accelerators"]


def test_the_train_command_of_the_note_gives_the_days_of_the_plan(spread: Result) -> None:
    [note] = [w["message"] for w in spread.warnings if "`dcplan train " in w["message"]]
    words = shlex.split(note.partition("`dcplan train ")[2].partition("`")[0])
    flags = dict(zip(words[1::2], words[2::2], strict=True))
    assert flags["--sync-bytes-per-param"] == "2"
    assert flags["--global-batch-tokens"] == "16777216"
    command = [sys.executable, "-m", "dcplan", "train", *words, "-q", "-f", "json"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    days = json.loads(done.stdout)["metrics"]["train.days_p50"]["value"]
    assert days == pytest.approx(spread.value("train.base.days_p50"), rel=0.01)
