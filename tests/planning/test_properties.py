"""What must hold for every menu: more room never costs more, and each of the three kW moves only
its own."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.answers.plan.answer import plan
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from dcplan.result import Result
from tests.planning.small import small_menu
from tests.planning.tiny import tiny_menu
from tests.plans import planned

MONEY = 1e-6


def optimum(problem: PlanningProblem) -> float:
    model, _ = build_model(problem)
    outcome = highs.solve(compile_model(model), gap=0.0, time_limit_s=60)
    return outcome.objective if outcome.values is not None else float("inf")


def not_worse(wider: PlanningProblem, base: PlanningProblem) -> None:
    before, after = optimum(base), optimum(wider)
    assert after <= before + MONEY * max(1.0, abs(before) if before < float("inf") else 1.0)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), factor=st.floats(1.0, 3.0))
def test_more_budget_never_costs_more(seed: int, factor: float) -> None:
    problem = tiny_menu(seed)
    budget = tuple(3e6 for _ in range(problem.quarters))
    base = dataclasses.replace(
        problem, finance=dataclasses.replace(problem.finance, budget_usd=budget)
    )
    more = tuple(b * factor for b in budget)
    not_worse(
        dataclasses.replace(base, finance=dataclasses.replace(base.finance, budget_usd=more)), base
    )


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), extra=st.floats(0.0, 0.3))
def test_more_power_never_costs_more(seed: int, extra: float) -> None:
    problem = tiny_menu(seed)
    site = dataclasses.replace(
        problem.sites[0], minimum_take_frac=0.0
    )  # a minimum take grows with the connection
    base = dataclasses.replace(problem, sites=(site,))
    wider = dataclasses.replace(site, utility_mw=tuple(x + extra for x in site.utility_mw))
    not_worse(dataclasses.replace(base, sites=(wider,)), base)


def test_a_later_deadline_never_costs_more() -> None:
    """Configurations that end by a later day include those that end by an earlier one."""
    costs = []
    for days in (95, 110, 150):
        result = plan(
            "train-405b-in-90-days",
            sets=[f"workloads.training.flagship.deadline_days={days}"],
            gap=0.001,
        )
        costs.append((result.value("cost.npv_usd"), result.value("solver.bound_usd")))
    for (earlier, _), (_, bound) in itertools.pairwise(costs):
        assert bound <= earlier * (1 + 1e-9)


def test_rounding_margin_only_tightens() -> None:
    base = small_menu()
    not_worse(base, dataclasses.replace(base, margin_factor=4.0))


KW = [
    "prices.grand-teton-h100.average_kw.training=7",
    "prices.grand-teton-h100.average_kw.research=6",
    "prices.grand-teton-h100.average_kw.idle=3",
    "prices.grand-teton-h100.peak_kw=12",
]


def meta(*sets: str) -> Result:
    return planned("meta-24k-h100", sets=[*KW, *sets])


def moved(a: Result, b: Result) -> set[str]:
    return {
        k
        for k in a.metrics
        if isinstance(a.metrics[k].value, int | float)
        and a.metrics[k].value != pytest.approx(b.metrics[k].value, rel=1e-9)
    }


MONEY_KEYS = {
    *("cost.npv_usd", "solver.bound_usd", "solver.gap_frac", "train.llama3.cost_usd"),
    *("workloads.llama3.cost_usd", "cost.unused_usd", "cost.waiting_saves_usd"),
}


def test_peak_kw_sizes_breakers_alone() -> None:
    assert moved(meta(), meta("prices.grand-teton-h100.peak_kw=14")) == {"power.peak_electrical_mw"}


def test_average_kw_makes_energy_alone() -> None:
    changed = moved(meta(), meta("prices.grand-teton-h100.average_kw.training=9"))
    energy = {
        "cost.energy_usd",
        "carbon.operational_t",
        "carbon.with_cloud_t",
        "water.annual_wue_l_per_kwh",
        "power.annual_pue",
    }
    assert {"cost.energy_usd", "carbon.operational_t", "cost.npv_usd"} <= changed
    assert changed <= energy | MONEY_KEYS


def test_rated_kw_moves_limits_and_not_energy() -> None:
    """Facility upkeep is priced per rated kW (catalogs/finance), so operating cost follows; energy
    does not."""
    changed = moved(meta(), meta("prices.grand-teton-h100.rated_kw=11"))
    assert {"power.peak_facility_mw", "power.peak_it_mw"} <= changed
    assert changed <= {
        "power.peak_facility_mw",
        "power.peak_it_mw",
        "cost.opex_usd",
    } | MONEY_KEYS | {
        "cost.residual_usd",  # racks of more power fill more of their hall
        "carbon.embodied_t",  # the class value of a system is per rated kW
        "carbon.embodied_class_t",
    }


def test_rated_kw_decides_the_rack_fit() -> None:
    """17 kW racks hold one 10.2 kW server; at 8.4 kW they hold two."""
    from dcplan.planning.problem.build import build
    from dcplan.scenario.load import load

    def nodes(*sets: str) -> int:
        problem = build(load("retrofit-air-hall", sets=sets)).problem
        return next(
            p.nodes
            for p in problem.placements
            if (p.hall, p.system) == ("frankfurt/old-air", "dgx-h100")
        )

    assert nodes() == 1
    assert nodes("prices.dgx-h100.rated_kw=8.4") == 2
    assert nodes("prices.dgx-h100.peak_kw=18") == 1
