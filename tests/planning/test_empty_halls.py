"""Halls keep the book value of the part that work fills: by hand, in the model, and in plans."""

from __future__ import annotations

from dataclasses import replace
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
from dcplan.planning.solve.kept import Programs
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


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("empty", [0.0, 0.3])
def test_the_model_loses_what_the_audit_loses(seed: int, empty: float) -> None:
    """The optimum of a menu costs more than with full book values, in the model as in the audit."""
    problem, whole = partly(seed, empty), partly(seed, 1.0)
    found, d = optimum(problem)
    if d is None or found.values is None:
        assert optimum(whole)[1] is None  # the value of a hall decides no limit
        return
    values = dict(zip(compile_model(build_model(problem)[0]).columns, found.values, strict=True))
    full = compile_model(build_model(whole)[0])
    same = full.offset + sum(
        float(c) * values[key] for c, key in zip(full.cost, full.columns, strict=True)
    )
    lost = (found.objective - same) * 1e6
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
    assert any("40 MW is fitted" in str(w["message"]) for w in made["whole"].warnings)


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
