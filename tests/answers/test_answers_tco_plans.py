"""The same work owned, rented or both: who is cheapest, what each may use, the costs of
a rented hour, what adds up."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.tco.answer import tco
from dcplan.errors import InputError
from dcplan.planning.problem.build import build
from dcplan.result import Result
from dcplan.scenario.load import load
from dcplan.specs.tco import costs
from tests.research import BOTH, EARLY


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("both") / "both.yaml"
    path.write_text(BOTH, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def result(file: Path) -> Result:
    return tco(file)


def ways(result: Result) -> dict[str, dict[str, object]]:
    return {str(row["option"]): dict(row) for row in result.tables["sourcing"].records()}


def test_both_together_cost_no_more_than_either(result: Result) -> None:
    cost = {k: float(v.value or 0) for k, v in result.metrics.items()}
    assert cost["hybrid.npv_usd"] <= min(cost["owned.npv_usd"], cost["rented.npv_usd"]) + 1e-6
    assert cost["rented.npv_usd"] <= cost["rented.aws-p5en-48xlarge.on-demand.npv_usd"] * 1.02
    assert result.status == "ok"


def test_what_is_owned_rents_nothing_and_what_is_rented_owns_nothing(result: Result) -> None:
    found = ways(result)
    assert found["owned"]["rented_hours"] == 0
    assert float(str(found["owned"]["owned_accelerators"])) > 0
    assert found["rented"]["owned_accelerators"] == 0
    assert float(str(found["rented"]["rented_hours"])) > 0


def test_what_every_option_keeps_is_named_where_there_is_some(result: Result, file: Path) -> None:
    old = "{id: old, system: mi325x-8, hall: air, accelerators: 16, in_service: 2026-Q1}"
    kept = tco(file, sets=[f"assets=[{old}]"], gap=0.1)
    for answer, count in ((result, 0), (kept, 1)):
        notes = [w for w in answer.warnings if "keep hardware in service" in str(w["message"])]
        assert len(notes) == count


def test_work_before_any_hardware_can_come_cannot_be_owned(file: Path, tmp_path: Path) -> None:
    early = tmp_path / "early.yaml"
    early.write_text(EARLY, encoding="utf-8")
    result = tco(early)
    assert "owned.npv_usd" not in result.metrics
    assert ways(result)["owned"]["note"].startswith("no plan for the work within the limits")
    assert "no plan for owned alone" in result.headline


def test_an_hour_in_use_has_its_accompanying_costs(file: Path) -> None:
    """5 % support on the rent; a TB at 23 USD, 0.02 and 0.81 USD a month over 730.5 h, with
    support."""
    built = build(load(file))
    (offer,) = built.problem.offers
    tb = sum(s.usable_tb for s in built.problem.storage)
    hour = (tb * 23.0 + 0.02 + 0.81) / 730.5 * 1.05
    price = offer.usd_per_accelerator_hour[0]
    assert offer.usd_per_used_hour(0) == pytest.approx(price * 1.05 + hour)
    assert offer.usd_per_covered_hour(0) == pytest.approx(price * 1.05)


def test_lines_and_bridge_add_up(result: Result) -> None:
    steps = [row.usd for row in costs.BRIDGE.rows(result.tables["bridge"])]
    assert sum(steps[:-1]) == pytest.approx(steps[-1])
    assert steps[-1] == pytest.approx(float(result.metrics["hybrid.npv_usd"].value or 0.0))
    for side in ("owned", "rented", "hybrid"):
        rows = [r for r in costs.LINES.rows(result.tables["lines"]) if r.side == side]
        total = next(r.npv_usd for r in rows if r.line == "total")
        assert sum(r.npv_usd for r in rows if r.line != "total") == pytest.approx(total)
        assert total == pytest.approx(float(result.metrics[f"{side}.npv_usd"].value or 0.0))


def test_another_objective_is_refused(file: Path) -> None:
    with pytest.raises(InputError) as error:
        tco(file, sets=["objective=max_compute"])
    assert "not supported" in error.value.problems[0].cause


def test_work_left_undone_is_no_saving(tmp_path: Path) -> None:
    """At 1 USD an unserved PFLOP/s and quarter all ways serve nothing: each costs the value of it,
    untaxed."""
    file = tmp_path / "undone.yaml"
    text = EARLY.replace(
        "utilization_frac: 0.6,", "utilization_frac: 0.6, usd_per_unmet_quarter: 1.0,"
    )
    file.write_text(text, encoding="utf-8")
    result = tco(file)
    value = 10 + 40 + 60 + 20
    for side in ("owned", "hybrid"):
        lines = costs.LINES.rows(result.tables["lines"])
        rows = {row.line: row.usd for row in lines if row.side == side}
        assert rows["unserved demand"] == pytest.approx(value)
        assert 0.9 * value < float(result.metrics[f"{side}.npv_usd"].value or 0.0) <= value
