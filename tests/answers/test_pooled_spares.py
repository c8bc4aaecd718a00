"""Spare nodes that the runs of a plan share: what they save, and where runs keep their own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.plan.request import PlanRequest
from dcplan.answers.train.answer import train
from dcplan.answers.train.request import TrainRequest
from dcplan.api.plan import plan
from dcplan.errors import InputError
from dcplan.result import Result

SCENARIO = """
dcplan: 1
name: pool
horizon: {start: 2027-Q1, quarters: 4}
sites:
  - id: a
    location: us-ashburn
    utility_mw: 40
    halls: [{id: h, existing: true, racks: 400, rack_kw_max: 60, it_mw: 20, pue: 1.2, peak_pue: 1.3,
             cooling: [rear-door-tower]}]
systems: [dgx-h100]
fabrics: [ib-ndr-400]
reliability: {stops_per_1000_node_days: 6.5, replaced_frac: 0.2, repair_h: 44, POOL}
workloads:
  training:
"""
RUN = """    - {id: ID, model: llama-3.1-8b, tokens: 5e13, seq_len: 8192, global_batch_tokens: 4e6, precision: [bf16],
       accelerators: 512, deadline: 2027-Q4}
"""
RUN_ALONE: dict[str, Any] = {
    "model": "llama-3.1-8b",
    "system": "dgx-h100",
    "accelerators": 8,
    "tokens": 1e9,
}
SHARE = 6.5e-3 * 0.2 * 44 / 24
"""Share of time that a node is in repair: 0.24 %."""


def answer(tmp_path: Path, pool: str, runs: int = 4) -> Result:
    file = tmp_path / "pool.yaml"
    text = SCENARIO.replace("POOL", pool) + "".join(RUN.replace("ID", f"j{n}") for n in range(runs))
    file.write_text(text, encoding="utf-8")
    return plan(PlanRequest(str(file), gap=0.002))


def by_hand(nodes: int) -> int:
    covered, k = (1 - SHARE) ** nodes, 0
    while covered < 0.99:
        k += 1
        covered += math.comb(nodes, k) * SHARE**k * (1 - SHARE) ** (nodes - k)
    return k


def test_four_runs_of_64_nodes_share_three_spare_nodes_in_place_of_eight(tmp_path: Path) -> None:
    """The same runs with spares of their own need 8 nodes, and cost USD 0.6 M more."""
    own, shared = answer(tmp_path, "pool_spares: false"), answer(tmp_path, "pool_spares: true")
    assert (by_hand(64), by_hand(256)) == (2, 3)
    for row in shared.tables["spare_pools"].records():
        assert (row["place"], row["runs"], row["nodes"]) == ("a/h", 4, 256)
        assert (row["spare_nodes"], row["own_spare_nodes"]) == (3, 8)
    assert "spare_pools" not in own.tables
    assert [row["spare_accelerators"] for row in own.tables["jobs"].records()] == [16] * 4
    assert [row["accelerators"] for row in shared.tables["jobs"].records()] == [512] * 4
    checks = [x for x in shared.tables["checks"].records() if x["check"] == "accelerators for jobs"]
    assert max(float(str(x["used"])) for x in checks) == 8 * (256 + 3)
    assert {x["result"] for x in shared.tables["checks"].records()} == {"ok"}
    cost = [float(x.metrics["cost.npv_usd"].value or 0.0) for x in (own, shared)]
    assert 0.2e6 < cost[0] - cost[1] < 1.5e6


@pytest.mark.parametrize(
    ("pool", "runs", "cause"),
    [
        ("pool_spares: true, spares: 2", 4, "pool_spares shares them"),
        ("pool_spares: true, replica_accelerators: 64", 4, "pool_spares shares them"),
        ("pool_spares: true", 1, "fewer than two runs"),
    ],
)
def test_pools_without_an_effect_are_refused(
    pool: str, runs: int, cause: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as refused:
        answer(tmp_path, pool, runs)
    (problem,) = refused.value.problems
    assert cause in problem.cause


def test_one_run_has_no_pool() -> None:
    with pytest.raises(InputError) as refused:
        train(TrainRequest(**RUN_ALONE, reliability="pool-spares=true"))
    (problem,) = refused.value.problems
    assert problem.code == "DC015"
    assert "`train` has one run" in problem.cause
