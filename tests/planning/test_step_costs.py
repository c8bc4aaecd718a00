"""Whole switches in the model: never above the exact network, equal to it for full units, and a
bound that holds."""

from __future__ import annotations

import dataclasses
import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.fabric.bom import Parts
from dcplan.fabric.topology.design import design
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.decisions import from_solution
from dcplan.planning.exact_network import exact_network
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.switch_steps import step_cost
from dcplan.planning.problem.terms import PlanningProblem, PortClass, StepCost
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from tests.planning.small import HALL, PORTS, small_menu
from tests.plans import planned

PARTS = Parts(20e3, 30e3, 40e3, 1.0, 1.0, 1.0, 2.0, 800.0, 0.016, 2, 400.0, 0.009, 20.0)


def height(step_costs: StepCost, ports: int) -> float:
    usd, left = step_costs.usd_per_port * ports, ports
    for width, jump in zip(step_costs.widths, step_costs.jumps_usd, strict=True):
        if left <= 0:
            break
        usd, left = usd + jump, left - width
    assert left <= 0, "the last step is too short"
    return usd


def test_units_of_a_superpod_by_hand() -> None:
    """Units of 32 nodes x 8 rails on 64 ports: 8 leaves each; 1 to 4 units need 4, 8, 16 and 16
    spines.

    Each leaf has 32 uplinks: 16 cages of two at the leaf and 16 at spines (800 each), 32 cables of
    20.
    """
    step_costs = step_cost(design(64, 2), PARTS, PortClass(400.0, ("infiniband",), 32), 8, 4 * 256)
    assert step_costs is not None
    assert step_costs.widths == (256, 256, 256, 256)
    per_leaf = 20e3 + 32 * 800.0 + 32 * 20.0
    expected = [
        8 * n * per_leaf + spines * 30e3 for n, spines in ((1, 4), (2, 8), (3, 16), (4, 16))
    ]
    assert list(itertools.accumulate(step_costs.jumps_usd)) == pytest.approx(expected)
    assert step_costs.usd_per_port == pytest.approx(800.0 / 2 + 400.0 + 20.0)


def stepped_menu() -> PlanningProblem:
    """The small menu with 40 racks in its two halls, so that one to twenty leaves are needed."""
    problem = small_menu()
    option = problem.fabrics[0]
    # 40 racks x 16 ports on 32 ports down a leaf
    placed = tuple(dataclasses.replace(p, max_racks_unit=20) for p in problem.placements)
    step_costs = step_cost(option.designs[PORTS], option.parts[PORTS], PORTS, 8, 40 * 16)
    assert step_costs is not None
    return dataclasses.replace(
        problem,
        placements=placed,
        fabrics=(dataclasses.replace(option, step_costs={PORTS: step_costs}),),
        integer_switches=True,
    )


@settings(max_examples=80, deadline=None)
@given(a=st.integers(0, 20), b=st.integers(0, 20))
def test_steps_are_never_above_the_exact_network(a: int, b: int) -> None:
    problem = stepped_menu()
    step_costs = problem.fabrics[0].step_costs[PORTS]
    exact = exact_network(
        problem, HALL, "eth/2t", {(HALL, "dry", "a"): a, (HALL, "wet", "b"): b}
    ).usd
    assert height(step_costs, 16 * (a + b)) <= exact * (1 + 1e-9)


def test_one_system_of_full_units_costs_its_steps() -> None:
    problem = stepped_menu()
    step_costs = problem.fabrics[0].step_costs[PORTS]
    for racks in (4, 8, 12, 16):  # units of 4 nodes are 2 racks; 32 ports down a leaf
        exact = exact_network(problem, HALL, "eth/2t", {(HALL, "dry", "a"): racks}).usd
        assert height(step_costs, 16 * racks) == pytest.approx(exact)


def test_the_model_pays_for_whole_switches() -> None:
    """The objective with steps equals the audited cost where shares fall short of it."""
    found = {}
    for whole in (False, True):
        problem = dataclasses.replace(stepped_menu(), integer_switches=whole, margin_factor=0.0)
        matrix = compile_model(build_model(problem)[0])
        outcome = highs.solve(matrix, gap=0.0, time_limit_s=60)
        assert outcome.values is not None
        d = from_solution(problem, matrix.columns, [float(v) for v in outcome.values])
        books = make_accounts(problem, d)
        network = sum(f.usd for f in books.flows if f.line == "network" and f.group == "capex")
        known = sum(
            outcome.values[i]
            for i, c in enumerate(matrix.columns)
            if c.name == "network_musd" and c.ids[-1] == 1
        )
        found[whole] = (outcome.objective, network / 1e6, known)
    assert found[True][0] >= found[False][0] - 1e-9
    assert found[True][2] == pytest.approx(found[True][1], rel=1e-6)


def test_steps_close_the_gap_that_whole_switches_leave() -> None:
    result = planned("train-405b-in-90-days", gap=0.001)
    assert result.value("solver.gap_frac") <= 0.001
    assert math.isfinite(result.value("solver.bound_usd"))
