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
from dcplan.fabric.topology.clos import leaves
from dcplan.fabric.topology.design import design
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.decisions import from_solution
from dcplan.planning.exact_network import Network, exact_network
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.fabrics.network_steps import COST, LOAD, link_usd, stepped, unit_steps
from dcplan.planning.problem.fabrics.switch_steps import leaf_group, with_steps
from dcplan.planning.problem.terms import PlanningProblem, PortClass, SwitchSteps
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from tests.planning.small import HALL, PORTS, small_menu
from tests.plans import planned

PARTS = Parts(20e3, 30e3, 40e3, 1.0, 1.0, 1.0, 2.0, 800.0, 0.016, 2, 400.0, 0.009, 20.0)


def height(steps: SwitchSteps, used: int, links: int, what: str = "usd") -> float:
    """The amount of the first steps that ``used`` ports or leaf switches need, and of the links."""
    found = steps.per_port.get(what, 0.0) * links + steps.per_leaf.get(what, 0.0) * used
    left = used
    for width, jump in zip(steps.widths, steps.jumps[what], strict=True):
        if left <= 0:
            break
        found, left = found + jump, left - width
    assert left <= 0, "the last step is too short"
    return found


def test_units_of_a_superpod_by_hand() -> None:
    """Units of 32 nodes x 8 rails on 64 ports: 8 leaves each; 1 to 4 units need 4, 8, 16 and 16
    spines.

    Each leaf has 32 uplinks: 16 cages of two at the leaf and 16 at spines (800 each), 32 cables of
    20. Power: 1 kW a switch, 0.016 a transceiver; space: 1 unit a leaf or spine, 40 units a rack.
    """
    ports = PortClass(400.0, ("infiniband",), 32)
    found = unit_steps(design(64, 2), PARTS, ports, 8, 4 * 256)
    spines = ((1, 4), (2, 8), (3, 16), (4, 16))
    costs = stepped(found, COST, {"usd": link_usd(design(64, 2), PARTS)})
    assert costs.widths == (256, 256, 256, 256)
    per_leaf = 20e3 + 32 * 800.0 + 32 * 20.0
    expected = [8 * n * per_leaf + s * 30e3 for n, s in spines]
    assert list(itertools.accumulate(costs.jumps["usd"])) == pytest.approx(expected)
    assert costs.per_port["usd"] == pytest.approx(800.0 / 2 + 400.0 + 20.0)
    loads = stepped(found, LOAD, {"kw": 0.0}, 40.0)
    power = [8 * n * (1.0 + 32 * 0.016) + s * 1.0 for n, s in spines]
    assert list(itertools.accumulate(loads.jumps["kw"])) == pytest.approx(power)
    space = [(8 * n + s) * PARTS.switch_units / 40.0 for n, s in spines]
    assert list(itertools.accumulate(loads.jumps["racks"])) == pytest.approx(space)


def stepped_menu(*, exact: bool = False) -> PlanningProblem:
    """The small menu with 40 racks in its two halls, so that one to twenty leaves are needed."""
    problem = small_menu()
    # 40 racks x 16 ports on 32 ports down a leaf
    placed = tuple(dataclasses.replace(p, max_racks_unit=20) for p in problem.placements)
    halls = tuple(dataclasses.replace(h, racks=40, it_mw=10.0) for h in problem.halls)
    return with_steps(
        dataclasses.replace(problem, placements=placed, halls=halls), 6_000, exact=exact
    )


def network(a: int, b: int) -> Network:
    racks = {(HALL, "dry", "a"): a, (HALL, "wet", "b"): b}
    return exact_network(stepped_menu(), HALL, "eth/2t", racks)


@settings(max_examples=80, deadline=None)
@given(a=st.integers(0, 20), b=st.integers(0, 20))
def test_steps_are_never_above_the_exact_network(a: int, b: int) -> None:
    """Systems that share leaf switches, and each with its own: cost, power and space."""
    ports, exact = 16 * (a + b), network(a, b)
    shared = stepped_menu().fabrics[0].step_costs[PORTS]
    assert height(shared, ports, ports) <= exact.usd * (1 + 1e-9)
    option = stepped_menu(exact=True).fabrics[0]
    costs, loads = option.step_costs[PORTS], option.step_loads[PORTS]
    leaves = sum(
        -(-16 * n // costs.groups[k].ports) * costs.groups[k].leaves
        for k, n in (("a", a), ("b", b))
    )
    own = height(costs, leaves, ports)
    assert own <= exact.usd * (1 + 1e-9)
    assert own >= height(shared, ports, ports) - 1e-6
    assert height(loads, leaves, ports, "kw") <= exact.kw * (1 + 1e-9)
    assert height(loads, leaves, 0, "racks") <= exact.racks * (1 + 1e-9)


def test_full_units_cost_their_steps() -> None:
    """Units of 4 nodes are 2 racks, 32 ports down a leaf: two systems fill their own leaf switches."""
    steps = stepped_menu().fabrics[0].step_costs[PORTS]
    option = stepped_menu(exact=True).fabrics[0]
    costs, loads = option.step_costs[PORTS], option.step_loads[PORTS]
    for racks in (4, 8, 12, 16):
        assert height(steps, 16 * racks, 16 * racks) == pytest.approx(network(racks, 0).usd)
        both, ports = network(racks, 2), 16 * (racks + 2)
        assert height(costs, ports // 32, ports) == pytest.approx(both.usd)
        assert height(loads, ports // 32, ports, "kw") == pytest.approx(both.kw)
        assert height(loads, ports // 32, 0, "racks") == pytest.approx(both.racks)


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


@settings(max_examples=200, deadline=None)
@given(
    leaf_down=st.sampled_from((32, 64, 128, 256)),
    nodes=st.integers(1, 80),
    per_unit=st.integers(1, 40),
    rails=st.sampled_from((1, 4, 8, 24)),
)
def test_the_leaf_switches_of_a_system_are_at_most_those_of_its_network(
    leaf_down: int, nodes: int, per_unit: int, rails: int
) -> None:
    """ceil(ports / group ports) groups never have more leaf switches than complete units.

    By hand: 16 nodes of 24 rails are 384 ports a unit. 230 nodes are 15 units, 5,760 ports and 23 leaf
    switches of 256 ports; their own 5,520 ports need at least 22.
    """
    plan = design(2 * leaf_down, 2)
    ports = PortClass(400.0, ("ethernet",), per_unit)
    group = leaf_group(plan, ports, rails)
    found = math.ceil(nodes * rails / group.ports) * group.leaves
    assert found <= leaves(nodes, rails, ports.unit(plan.leaf_down), leaf_down)
    gaudi = leaf_group(design(512, 2), PortClass(200.0, ("ethernet",), 16), 24)
    assert math.ceil(5_520 / gaudi.ports) * gaudi.leaves == 22
    assert leaves(230, 24, 16, 256) == 23
