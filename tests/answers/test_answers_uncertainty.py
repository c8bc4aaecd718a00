"""Uncertain inputs in the answers: sampled futures, one plan for several variants, values that
flip a decision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pyomo.core import ConcreteModel

from dcplan.answers.explain.answer import explain
from dcplan.answers.plan.answer import plan
from dcplan.answers.plan.hedge import plans
from dcplan.answers.plan.hedge.guess import Guess
from dcplan.answers.plan.hedge.plans import Hedged, Together
from dcplan.answers.plan.request import PlanRequest
from dcplan.errors import InputError
from dcplan.planning.decisions import Decisions
from dcplan.planning.explain.differences import summary
from dcplan.planning.problem.build import build
from dcplan.planning.solve import kept, matrix
from dcplan.planning.solve.highs import Outcome
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.uncertainty.hedge import first_of
from dcplan.result import Result
from dcplan.scenario.load import load
from dcplan.scenario.set_keys import FIELDS, set_key
from dcplan.specs.explain import SWITCHING_VALUES
from dcplan.specs.plan.decided import HEDGE, RACKS, HedgeRow
from dcplan.specs.plan.simulation import DRIVERS
from tests.planning.small import small_menu

TEXT = """
dcplan: 1
name: unsure
horizon: {start: 2027-Q1, quarters: 3}
sites:
  - id: frankfurt
    location: de-frankfurt
    utility_mw: 4
    halls: [{id: air, existing: true, racks: 60, rack_kw_max: 34, it_mw: 1.8, cooling: [air-chiller]}]
systems: [dgx-h200, mi325x-8]
fabrics: [eth-400]
prices: {mi325x-8: {price_usd: {value: 280e3, low: 250e3, high: 450e3, source: quote}}}
workloads:
  capacity:
    - {id: research, pflops_delivered: [5, 30, 60], utilization_frac: 0.6,
       reference: {model: llama-3.1-70b, seq_len: 8192}}
cloud: {offers: [aws-p5en-48xlarge], max_accelerators: 2048, max_accelerators_per_offer: 2048}
overrides:
  boom: {"workloads.capacity.research.pflops_delivered": [5, 90, 120]}
  slump: {"workloads.capacity.research.pflops_delivered": [5, 5, 5]}
scenarios: {boom: [boom], slump: [slump]}
uncertainty:
  hardware_price: {value: 1, low: 0.9, high: 1.3}
  demand: {value: 1, low: 0.5, high: 1.5}
  delivery_days: {value: 10, low: 0, high: 90}
  samples: 200
  seed: 3
  hedge: {through: 2027-Q1, weights: {base: 0.5, boom: 0.25, slump: 0.25}}
expect:
  - {id: risk, metric: uncertainty.npv_usd_p90, max: 1}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("unsure") / "unsure.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_futures_spread_the_cost_and_name_what_drives_it(file: Path) -> None:
    result = plan(file)
    m = {k: float(v.value or 0) for k, v in result.metrics.items() if k.startswith("uncertainty.")}
    assert (
        m["uncertainty.npv_usd_p50"]
        < m["uncertainty.npv_usd_p90"]
        <= m["uncertainty.npv_usd_cvar"] * 1.2
    )
    drivers = [row.input for row in DRIVERS.rows(result.tables["cost_drivers"])]
    assert drivers[0] == "demand"
    assert set(drivers) == {"demand", "hardware_price", "delivery_days"}
    assert result.status == "expectation_failed"  # a gate may stand on a future
    assert (
        plan(file).metrics["uncertainty.npv_usd_mean"] == result.metrics["uncertainty.npv_usd_mean"]
    )


def test_a_hedge_is_between_knowing_and_guessing(file: Path) -> None:
    result = plan(file, hedge=True)
    value = {k: float(v.value or 0) for k, v in result.metrics.items() if k.startswith("hedge.")}
    gap = (
        float(result.metrics["solver.gap_frac"].value or 0) * value["hedge.npv_usd"]
        + 0.01 * value["hedge.npv_usd"]
    )
    assert value["hedge.evpi_usd"] > gap
    assert value["hedge.value_of_hedging_usd"] > -gap
    rows = HEDGE.rows(result.tables["hedge"])
    assert [row.variant for row in rows] == ["base", "boom", "slump"]
    expected = sum(row.weight * row.hedged_npv_usd for row in rows)
    assert value["hedge.npv_usd"] == pytest.approx(expected)


def _costs(result: Result) -> tuple[float, float, list[HedgeRow]]:
    """Weighted cost of the hedge, and of the base scenario's first decisions in every variant [USD]."""
    rows = HEDGE.rows(result.tables["hedge"])
    table = result.tables["hedge"]
    at = table.columns.index("first_plan_of_base_npv_usd")
    guess = sum(w.weight * float(row[at]) for w, row in zip(rows, table.rows, strict=True))
    return sum(w.weight * w.hedged_npv_usd for w in rows), guess, rows


@pytest.mark.parametrize("gap", [0.005, 0.05, 0.3])
def test_a_hedge_never_costs_more_than_the_plan_of_the_base_scenario(
    file: Path, gap: float
) -> None:
    """Whatever the gap: a hedge begins with it. Its bound holds for it, too."""
    result = plan(file, hedge=True, gap=gap)
    hedged, guess, rows = _costs(result)
    assert hedged <= guess * (1 + 1e-9)
    assert float(result.value("hedge.value_of_hedging_usd")) >= -1e-9 * guess
    assert float(result.value("solver.bound_usd")) <= hedged
    assert all(row.alone_npv_usd <= row.hedged_npv_usd * (1 + gap) for row in rows)


def test_a_hedge_whose_common_search_finds_nothing_is_the_plan_of_the_base_scenario(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def nothing(_: Hedged, __: float, start: Sequence[Solved]) -> Together:
        started.extend(start)
        return Together(
            Outcome(SolveStatus.LIMIT, math.inf, -math.inf, None, 0.0, 0), [], -math.inf
        )

    monkeypatch.setattr("dcplan.answers.plan.hedge.answer.together", nothing)
    result = plan(file, hedge=True)
    hedged, guess, rows = _costs(result)
    assert hedged == pytest.approx(guess, rel=1e-9)
    assert [x.cost_usd for x in started] == pytest.approx([x.hedged_npv_usd for x in rows])
    alone = sum(row.weight * row.alone_npv_usd for row in rows)
    assert 0.99 * alone <= float(result.value("solver.bound_usd")) <= alone
    assert result.status == "incomplete"


def test_first_decisions_that_a_variant_does_not_offer_are_no_plan_of_it(file: Path) -> None:
    """Racks of MI325X that the boom orders, where the base scenario has no such system."""
    h = plans.resolve(PlanRequest(str(file), hedge=True))
    base = h.variants[0]
    problem = base.built.problem
    own = plans.alone(h, base, {}, 60.0)
    firsts = first_of(own.integer_values, h.through)
    ordered = {key.ids[2] for key, n in firsts.items() if key.name == "buy" and n}
    assert ordered
    placements = tuple(p for p in problem.placements if p.system not in ordered)
    less = plans.alone(h, base.of(replace(problem, placements=placements)), firsts, 60.0)
    assert less.status is SolveStatus.INFEASIBLE
    assert plans.cost_usd(less) is None


@pytest.mark.slow
def test_a_hedge_after_taxes_counts_what_a_plan_does(file: Path) -> None:
    """Cost of each variant's own plan, base: that of `plan` without a hedge, both within 1 %."""
    sets = [
        "objective=min_after_tax_cost",
        "finance.tax={income_rate: 0.25, depreciation: macrs-5, sales_tax_frac: 0.06}",
    ]
    found, alone = plan(file, sets=sets, hedge=True), plan(file, sets=sets)
    base = next(row for row in HEDGE.rows(found.tables["hedge"]) if row.variant == "base")
    after, before = (alone.value(f"cost.{x}npv_usd") for x in ("after_tax_", ""))
    assert base.alone_npv_usd == pytest.approx(after, rel=0.02)
    assert base.alone_npv_usd != pytest.approx(before, rel=0.05)
    assert base.hedged_npv_usd == pytest.approx(found.value("cost.after_tax_npv_usd"))
    assert "net present cost after taxes and debt (expected value)" in found.headline


def test_a_hedge_refuses_what_is_no_common_cost(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--hedge needs min_cost or min_after_tax_cost"):
        plan(file, sets=["objective=min_carbon"], hedge=True)
    mixed = tmp_path / "mixed.yaml"
    text = TEXT.replace("  boom: {", "  boom: {objective: min_after_tax_cost, ")
    tax = "finance: {tax: {income_rate: 0.25}}\nsystems:"
    mixed.write_text(text.replace("systems:", tax, 1), encoding="utf-8")
    with pytest.raises(InputError, match="the variants have different objectives"):
        plan(mixed, hedge=True)


def test_a_variant_that_is_planned_again_is_compiled_once(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3 variants, each alone with and without the first decisions: 3 programs for 6 and more plans."""
    compiled = []
    build_once = matrix.compile_model

    def counted(model: ConcreteModel) -> matrix.Matrix:
        compiled.append(model)
        return build_once(model)

    monkeypatch.setattr(kept, "compile_model", counted)
    monkeypatch.setattr(plans, "PROGRAMS", kept.Programs())
    h = plans.resolve(PlanRequest(str(file), hedge=True))
    for w in h.variants:
        free = plans.alone(h, w, {}, 60.0)
        fixed = plans.alone(h, w, first_of(free.integer_values, h.through), 60.0)
        assert fixed.value == pytest.approx(free.value, rel=0.01)
    assert 1 <= len(compiled) <= len(h.variants)


def test_a_hedge_without_a_common_plan_says_so(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object) -> Together:
        none = Outcome(SolveStatus.INFEASIBLE, math.inf, math.inf, None, 0.0, 0)
        return Together(none, [], math.inf)

    monkeypatch.setattr("dcplan.answers.plan.hedge.answer.together", nothing)
    monkeypatch.setattr(Guess, "best", lambda *_: [])  # a plan would refute the proof
    result = plan(file, hedge=True)
    assert (result.status, result.exit_code) == ("infeasible", 3)
    assert result.headline == "unsure: no plan with common first decisions exists"


def test_a_price_that_flips_the_choice_is_found_and_re_solved(file: Path) -> None:
    result = explain(file, switching_value_of=["systems.mi325x-8.price_usd"])
    found = SWITCHING_VALUES.rows(result.tables["switching_values"])
    row = next(r for r in found if "order" in str(r.decision))
    assert row.switches_at is not None
    assert row.regret_usd is not None
    assert 280e3 < row.switches_at < 450e3
    assert (row.decision, row.before, row.after) == (
        "order dgx-h200 for frankfurt/air",
        "none",
        "yes",
    )
    assert row.regret_usd > 0
    assert row.evpi_usd == pytest.approx(0.3 * row.regret_usd)
    below = plan(file, sets=[f"systems.mi325x-8.price_usd={0.9 * row.switches_at}"])
    assert "dgx-h200" not in {r.system for r in RACKS.rows(below.tables["racks"])}
    there = plan(file, sets=[f"systems.mi325x-8.price_usd={row.switches_at}"])
    assert "dgx-h200" in {r.system for r in RACKS.rows(there.tables["racks"])}


def test_unknown_inputs_and_missing_blocks_are_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        explain(file, switching_value_of=["systems.mi325x-8.prise_usd"])
    assert "is not an input of this plan" in error.value.problems[0].cause
    bare = tmp_path / "bare.yaml"
    bare.write_text(TEXT.replace("  hedge:", "  # hedge:"), encoding="utf-8")
    with pytest.raises(InputError) as error:
        plan(bare, hedge=True)
    assert "--hedge needs uncertainty.hedge" in error.value.problems[0].cause
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(TEXT.replace("slump: 0.25", "slumb: 0.25"), encoding="utf-8")
    with pytest.raises(InputError) as error:
        load(wrong)
    assert "slumb" in error.value.problems[0].cause


def test_every_named_kind_of_input_has_a_key_that_set_knows(file: Path) -> None:
    question = load(file)
    rows = build(question).log.rows
    for key in (
        "systems.mi325x-8.price_usd",
        "finance.discount-rate",
        "power.average-idle-frac",
        "finance.power-life-years",
        "sites.frankfurt.energy.usd_per_kwh",
        "cloud.aws-p5en-48xlarge.on_demand_usd_per_h",
        "switches.tomahawk5-box.price_usd",
    ):
        assert key in rows
        changed = load(
            file, sets=[f"{set_key(key, question)}={0.9 * float(str(rows[key].value))!r}"]
        )
        now = build(changed).log.rows[FIELDS.get(key, key)].value
        assert now == pytest.approx(0.9 * float(str(rows[key].value)))


def test_a_plan_in_the_decisions_that_one_signs() -> None:
    problem = small_menu()
    d = Decisions(
        ordered={("s/h", "wet", "a", 0): 3}, fitted={("s/h", "wet", 0): 1}, fabric={"s/h": "eth/2t"}
    )
    assert summary(problem, d) == {
        "order a for s/h": "yes",
        "fabric of s/h": "eth/2t",
        "build s/h with wet": "yes",
    }
