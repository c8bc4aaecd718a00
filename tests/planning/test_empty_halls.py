"""Halls keep the book value of the part that work fills: by hand, in the model, and in plans."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.economics.cash_flow import npv_usd
from dcplan.errors import InputError
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.left import BUILDING, FIT_OUT, new_units, used_units, valued_units
from dcplan.planning.decisions import Decisions
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import RunOption
from dcplan.planning.solve.highs import Outcome, solve
from dcplan.planning.solve.kept import Programs
from dcplan.planning.solve.large.aggregate import with_work
from dcplan.planning.solve.matrix import compile_model
from dcplan.result import Result
from tests.planning.optimum import optimum
from tests.planning.test_rent_extras import two_offers
from tests.planning.tiny import tiny_menu

TEXT = """
dcplan: 1
name: shell
horizon: {start: 2027-Q1, quarters: 6}
sites:
  - id: a
    location: us-columbus
    utility_mw: 60
    halls: [{id: h, racks: 400, rack_kw_max: 130, it_mw: 40, cooling: [direct-liquid-tower]}]
systems: [dgx-h200]
fabrics: [eth-400]
workloads:
  capacity:
    - {id: research, pflops_delivered: [0, 40, 40, 40, 40, 40], utilization_frac: 0.6,
       reference: {model: llama-3.1-70b, seq_len: 8192}}
"""


def partly(seed: int, empty: float = 0.0) -> PlanningProblem:
    """A tiny menu with buildings, of which empty units keep a share of their value."""
    problem = tiny_menu(seed)
    halls = tuple(
        replace(
            hall,
            full_kw=200.0,
            coolings=tuple(replace(c, building_usd=3e5, fit_out_usd=1e5) for c in hall.coolings),
        )
        for hall in problem.halls
    )
    finance = replace(
        problem.finance,
        empty_hall_frac=empty,
        budget_usd=None,
        building_residual_frac=(0.9,) * problem.quarters,
        cooling_residual_frac=(0.8,) * problem.quarters,
    )
    return replace(problem, halls=halls, finance=finance)


def cost_usd(problem: PlanningProblem, d: Decisions) -> float:
    return npv_usd(make_accounts(problem, d).flows, problem.finance.discount_rate)


def lost_usd(problem: PlanningProblem, whole: PlanningProblem, found: Outcome) -> float:
    """What the objective of the model loses against full book values, by the same decisions."""
    assert found.values is not None
    values = dict(zip(compile_model(build_model(problem)[0]).columns, found.values, strict=True))
    full = compile_model(build_model(whole)[0])
    same = full.offset + sum(
        float(c) * values[key] for c, key in zip(full.cost, full.columns, strict=True)
    )
    return (found.objective - same) * 1e6


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("empty", [0.0, 0.3])
def test_the_model_loses_what_the_audit_loses(seed: int, empty: float) -> None:
    """The optimum of a menu costs more than with full book values, in the model as in the audit."""
    problem, whole = partly(seed, empty), partly(seed, 1.0)
    found, d = optimum(problem)
    if d is None or found.values is None:
        assert optimum(whole)[1] is None  # the value of a hall decides no limit
        return
    lost = lost_usd(problem, whole, found)
    assert cost_usd(problem, d) - cost_usd(whole, d) == pytest.approx(lost, rel=1e-6, abs=1.0)
    assert lost >= -1.0


def test_the_menus_have_halls_in_part_use() -> None:
    shares = [
        valued / new
        for seed in range(20)
        if (d := optimum(partly(seed))[1]) is not None
        for hall in partly(seed).halls
        for valued, new in zip(
            valued_units(partly(seed), d, hall).values(),
            new_units(partly(seed), d, hall).values(),
            strict=True,
        )
    ]
    assert sum(0.0 < x < 1.0 for x in shares) >= 3


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    file = tmp_path_factory.mktemp("shell") / "shell.yaml"
    file.write_text(TEXT, encoding="utf-8")
    sets = {"whole": [], "modules": ["sites.a.halls.h.modules=20"]}
    sets["book"] = ["finance.empty_hall_residual_frac=1"]
    return {name: plan(file, sets=x) for name, x in sets.items()}


def residual(result: Result) -> float:
    return sum(
        -float(str(row["usd"]))
        for row in result.tables["cost"].records()
        if row["group"] == "residual" and row["line"] in (BUILDING, FIT_OUT)
    )


def test_a_hall_of_40_mw_for_three_racks_does_not_come_back(made: dict[str, Result]) -> None:
    """Three racks of 57 kW (4 nodes of 14.3 kW) fill 57 x 2.2 / (0.8 x 40,000) of the hall; without
    the rule, building and fit-out keep more than 450 M USD."""
    assert residual(made["book"]) > 4.5e8
    assert residual(made["whole"]) < 0.01 * residual(made["book"])
    assert "Give the hall `modules` to build it in parts" in note(made["whole"], "40 MW is fitted")


def test_the_note_of_an_empty_module_does_not_ask_for_modules_that_are_there(
    made: dict[str, Result],
) -> None:
    """One of 20 modules is fitted, 2 MW, and three racks fill less than half of it."""
    assert "Give the hall more than its 20 `modules`" in note(made["modules"], "2 MW is fitted")


def note(result: Result, words: str) -> str:
    (found,) = [str(w["message"]) for w in result.warnings if words in str(w["message"])]
    return found


def test_a_hall_in_modules_pays_for_one_of_them(made: dict[str, Result]) -> None:
    def paid(result: Result) -> float:
        rows = result.tables["cost"].records()
        return sum(
            float(str(r["usd"])) for r in rows if r["line"] == BUILDING and r["group"] == "capex"
        )

    assert paid(made["modules"]) == pytest.approx(paid(made["whole"]) / 20)
    assert residual(made["modules"]) == pytest.approx(residual(made["whole"]), rel=1e-6)


def test_no_racks_are_bought_to_keep_the_value_of_a_hall(made: dict[str, Result]) -> None:
    racks = {name: result.metrics["accelerators.total"].value for name, result in made.items()}
    assert racks["whole"] == racks["book"] == racks["modules"]


def test_racks_are_divided_evenly(tmp_path: Path) -> None:
    file = tmp_path / "shell.yaml"
    file.write_text(TEXT, encoding="utf-8")
    with pytest.raises(InputError) as error:
        plan(file, sets=["sites.a.halls.h.modules=7"])
    assert "racks (400) must be a multiple of modules (7)" in error.value.problems[0].cause


def test_work_beyond_the_demand_fills_nothing() -> None:
    """Twice the accelerators that a demand needs count once."""
    problem = next(
        p for seed in range(40) if (p := partly(seed)).demands and p.quarters == 2 and not p.jobs
    )
    d = optimum(problem)[1]
    assert d is not None
    more = replace(d, serving={key: 2.0 * n for key, n in d.serving.items()})
    for hall in problem.halls:
        assert used_units(problem, more, hall) <= 1.0001 * max(used_units(problem, d, hall), 1e-9)


@pytest.mark.parametrize("factor", [0.5, 1.3])
def test_a_kept_program_with_another_demand_is_the_compiled_one(factor: float) -> None:
    """Right sides of the work of a demand follow it; rent with a fixed cost is compiled again."""
    for seed in range(12):
        first = partly(seed)
        demands = first.demands
        other = replace(
            first,
            demands=tuple(replace(d, wanted=tuple(factor * x for x in d.wanted)) for d in demands),
        )
        programs = Programs()
        programs.compiled(first)
        kept, new = programs.compiled(other), compile_model(build_model(other)[0])
        assert kept.columns == new.columns
        assert kept.row_lower == pytest.approx(new.row_lower)
        assert kept.row_upper == pytest.approx(new.row_upper)
        assert kept.value == pytest.approx(new.value)


def test_rent_with_a_fixed_cost_is_compiled_for_each_demand() -> None:
    first = two_offers((1.0, 2.0))
    more = tuple(replace(d, wanted=(3.0, 4.0)) for d in first.demands)
    other = replace(first, demands=more)
    programs = Programs()
    programs.compiled(first)
    kept, new = programs.compiled(other), compile_model(build_model(other)[0])
    assert kept.value == pytest.approx(new.value)


def two_jobs(seed: int, empty: float = 0.0) -> PlanningProblem:
    """A menu whose job exists twice, so that its runs may follow each other or run together."""
    problem = partly(seed, empty)
    twin = tuple(replace(run, job="second") for run in problem.run_options)
    return replace(
        problem,
        jobs=(*problem.jobs, replace(problem.jobs[0], id="second")),
        run_options=problem.run_options + twin,
    )


TWO_JOBS = [seed for seed in range(40) if partly(seed).jobs]


@pytest.mark.parametrize("seed", TWO_JOBS)
def test_runs_of_two_jobs_fill_a_hall_by_month(seed: int) -> None:
    """The model loses what the audit loses, and its optimum is the best of all pairs of runs."""
    problem, whole = two_jobs(seed), two_jobs(seed, 1.0)
    found, d = optimum(problem)
    costs = []
    for pair in product(*([r for r in problem.run_options if r.job == j.id] for j in problem.jobs)):
        one, _ = optimum(replace(problem, run_options=pair))
        if one.values is not None:
            costs.append(one.objective)
    if d is None:
        assert costs == []
        return
    lost = cost_usd(problem, d) - cost_usd(whole, d)
    assert lost_usd(problem, whole, found) == pytest.approx(lost, rel=1e-6, abs=1.0)
    assert found.objective == pytest.approx(min(costs), rel=1e-6)


@pytest.mark.parametrize("seed", TWO_JOBS[:10])
def test_runs_that_follow_each_other_fill_a_hall_once(seed: int) -> None:
    """Runs from month 0 and from month 3 fill what the larger one needs; at the same time, both."""
    problem = replace(two_jobs(seed), demands=())
    place, hall = problem.placements[0], problem.halls[0]
    first, later = (r for r in problem.run_options[:2] if r.system == place.system)
    assert first.start_month + first.months <= later.start_month
    kw = [problem.accelerator_kw[r.place, r.system] * r.peak_use for r in (first, later)]

    def used(*runs: RunOption) -> float:
        return used_units(problem, Decisions(ordered={(*place.key, 0): 99}, runs=list(runs)), hall)

    assert used(first, later) == pytest.approx(max(kw) / hall.full_kw)
    assert used(first, first) == pytest.approx(2 * kw[0] / hall.full_kw)


@pytest.mark.parametrize("seed", TWO_JOBS)
def test_a_relaxation_of_the_runs_costs_no_more(seed: int) -> None:
    """Shares of work in place of all runs, or of those of one job, give a bound of the optimum."""
    problem = two_jobs(seed)
    best = optimum(problem)[0]
    matrix = compile_model(build_model(problem)[0])
    some = {(r.job, r.place, r.system) for r in problem.run_options if r.job == "second"}
    for kept in (set(), some):
        bound = solve(with_work(matrix, problem, kept), gap=0.0, time_limit_s=60)
        if best.values is not None:
            assert bound.objective <= best.objective * (1.0 + 1e-7)
