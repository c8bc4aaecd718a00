"""The fabric of a hall acts on the time of its runs, and the deadline on the choice of the fabric."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import dcplan
from dcplan.result import Result

SCENARIO = """
dcplan: 1
name: speed
horizon: {start: 2026-Q1, quarters: 4}
sites:
  - id: a
    location: us-ashburn
    utility_mw: 3
    halls:
      - id: h
        existing: true
        racks: 60
        rack_kw_max: 42
        it_mw: 2
        cooling: [airside-economizer-water-chiller]
systems: [dgx-h100]
fabrics: [ib-ndr-400]
workloads:
  training:
    - id: run
      model: MODEL
      tokens: TOKENS
      seq_len: 4096
      global_batch_tokens: 1e6
      precision: [bf16]
      accelerators: 512
      start: 2026-Q2
      deadline: 2026-Q4
objective: min_cost
"""
DENSE, MIXTURE = ("llama-3.1-70b", "2e11"), ("qwen3-235b-a22b", "4e11")


SLOWER = (
    {"load_balancing": "adaptive"},
    {"load_balancing": "qp-scaling"},
    {"load_balancing": "ecmp"},
    {"load_balancing": "ecmp", "oversubscription": {"leaf_spine": 3}},
    {"load_balancing": "ecmp", "oversubscription": {"leaf_spine": 7}},
)
"""Settings of an Ethernet fabric, each no faster than the one before it."""
Solve = Callable[..., Result]


@pytest.fixture
def solve(tmp_path: Path) -> Solve:
    """Plan a job on the families named, with changes of the scenario."""

    def solved(job: tuple[str, str], *families: str, sets: Sequence[str] = ()) -> Result:
        file = tmp_path / "speed.yaml"
        file.write_text(SCENARIO.replace("MODEL", job[0]).replace("TOKENS", job[1]))
        return dcplan.plan(file, sets=[f"fabrics=[{','.join(families)}]", *sets])

    return solved


def days(result: Result) -> float:
    """Median days of the run."""
    return float(result.metrics["train.run.days_p50"].value)


def chosen(result: Result) -> str:
    """Family of the hall's fabric."""
    table = result.tables["network"]
    return str(table.rows[0][table.columns.index("fabric")]).split("/")[0]


def given(family: str, **settings: object) -> str:
    """Setting of a scenario that gives the fabric."""
    return f"fabric={json.dumps({'id': family, **settings})}"


@pytest.mark.parametrize("job", [DENSE, MIXTURE], ids=["dense", "mixture"])
def test_a_slower_fabric_never_gives_fewer_days(solve: Solve, job: tuple[str, str]) -> None:
    found = [days(solve(job, "eth-400", sets=[given("eth-400", tiers=2, **x)])) for x in SLOWER]
    # fewer switches fail less often, which may give back less than a thousandth
    assert all(b >= a * 0.999 for a, b in itertools.pairwise(found))
    assert found[-1] > found[0] * 1.2, "0.6 / 0.95 / (0.5 x 7) of the rate"


def test_a_family_has_the_load_balancing_of_its_row(solve: Solve) -> None:
    as_sold = solve(DENSE, "eth-400", sets=[given("eth-400", tiers=2)])
    by_hand = solve(DENSE, "eth-400", sets=[given("eth-400", tiers=2, load_balancing="qp-scaling")])
    assert days(as_sold) == days(by_hand)


@pytest.mark.parametrize("family", ["ib-ndr-400", "eth-400"])
def test_separate_rails_are_as_fast_for_a_dense_model(solve: Solve, family: str) -> None:
    """arXiv 2307.12169: the same iteration time; here but for switches that fail."""
    joined = solve(DENSE, family, sets=[given(family, tiers=2)])
    rails = solve(DENSE, f"{family}-rail-only", sets=[given(f"{family}-rail-only", tiers=2)])
    assert days(rails) == pytest.approx(days(joined), rel=2e-3)


def test_separate_rails_slow_an_exchange_of_experts(solve: Solve) -> None:
    """The exchange takes 9.7 % longer, and it is a part of the step."""
    joined = days(solve(MIXTURE, "ib-ndr-400", sets=[given("ib-ndr-400", tiers=2)]))
    rails = days(
        solve(MIXTURE, "ib-ndr-400-rail-only", sets=[given("ib-ndr-400-rail-only", tiers=2)])
    )
    assert 1.005 < rails / joined < 1.097


def test_one_switch_a_rail_has_no_paths_to_balance(solve: Solve) -> None:
    """512 accelerators are 64 nodes, and a rail is one switch of 128 ports: the full rate."""
    one = days(solve(DENSE, "eth-400-rail-only", sets=[given("eth-400-rail-only", tiers=1)]))
    two = days(solve(DENSE, "eth-400-rail-only", sets=[given("eth-400-rail-only", tiers=2)]))
    adaptive = days(
        solve(DENSE, "eth-400", sets=[given("eth-400", tiers=2, load_balancing="adaptive")])
    )
    assert one < two
    assert one == pytest.approx(adaptive, rel=2e-3)


def test_oversubscription_of_one_is_the_plain_family(solve: Solve) -> None:
    plain = solve(DENSE, "eth-400", sets=[given("eth-400", tiers=2)])
    other = solve(
        DENSE,
        "eth-400-4to1",
        sets=[given("eth-400-4to1", tiers=2, oversubscription={"leaf_spine": 1})],
    )
    for metric in ("train.run.days_p50", "cost.capex_usd", "switches.total"):
        assert other.metrics[metric].value == plain.metrics[metric].value


def test_a_deadline_pays_for_the_better_fabric(solve: Solve) -> None:
    both = ("eth-400-4to1", "ib-ndr-400")
    free = solve(DENSE, *both)
    assert chosen(free) == "eth-400-4to1", "the cheaper one"
    slow, fast = (solve(DENSE, x).metrics["train.run.days"].value for x in both)
    assert fast < slow
    between = f"workloads.training.run.deadline_days={(fast + slow) / 2}"
    held = solve(DENSE, *both, sets=[between])
    assert chosen(held) == "ib-ndr-400"
    assert held.metrics["train.run.days"].value <= (fast + slow) / 2
    assert held.metrics["cost.npv_usd"].value > free.metrics["cost.npv_usd"].value
    assert solve(DENSE, "eth-400-4to1", sets=[between]).status == "infeasible"
