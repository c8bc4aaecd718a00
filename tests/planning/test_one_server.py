"""One server or one rack-scale system in a hall needs no network between nodes; more servers need one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import dcplan
from dcplan.fabric.effective import LinkSpeed
from dcplan.planning.exact_network import exact_network
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.fabrics.alone import rack_ports
from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.problem.fabrics.trees import share
from dcplan.planning.problem.terms import NO_FABRIC, FabricOption, NetworkShare, PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from dcplan.planning.solve.status import SolveStatus
from dcplan.scenario.load import load
from tests.planning.brute import best_cost
from tests.planning.optimum import judged, optimum
from tests.planning.tiny import PORTS, RACK_UNITS, tiny_menu

TEXT = """
dcplan: 1
name: few
horizon: {start: 2027-Q1, quarters: 4}
sites:
  - id: ashburn
    location: us-ashburn
    utility_mw: 1
    halls: [{id: h, racks: 12, rack_kw_max: RACK_KW, it_mw: 0.4, cooling: [COOLING]}]
workloads:
  capacity:
    - {id: c, accelerator_hours: [0, HOURS, HOURS, HOURS], utilization_frac: 0.9}
systems: [SYSTEM]
fabrics: [ib-ndr-400]
MORE
objective: min_cost
"""
DEFAULT = {
    "RACK_KW": "12",
    "COOLING": "rear-door-tower",
    "HOURS": "15000",
    "SYSTEM": "dgx-h100",
    "MORE": "",
}
SEEDS = range(40)


def _file(tmp_path: Path, **words: str) -> Path:
    text = TEXT
    for name, value in (DEFAULT | words).items():
        text = text.replace(name, value)
    file = tmp_path / "few.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def _plan(tmp_path: Path, **words: str) -> tuple[str, int, float]:
    """Fabric, switches and cost of the only network of a plan."""
    answer = dcplan.plan(str(_file(tmp_path, **words)), gap=0.0)
    row = answer.frame("network").iloc[0]
    return row["fabric"], int(row["leaf_switches"] + row["spine_switches"]), float(row["capex_usd"])


def test_a_plan_of_one_server_buys_no_switch(tmp_path: Path) -> None:
    """15,000 h of 8 x 2,191.5 h x 0.9 = 15,779 h: one DGX H100, and no network."""
    assert _plan(tmp_path) == (NO_FABRIC, 0, 0.0)


def test_a_plan_of_two_servers_buys_one_switch(tmp_path: Path) -> None:
    """26,000 h are 13.2 accelerators, so two servers and 16 links: one QM9700 of 36,000 USD, 8 twin-port
    transceivers of 900 USD at the switch and 8 at the NICs, and 16 cables of 85 USD: 51,760 USD."""
    assert _plan(tmp_path, HOURS="26000") == ("ib-ndr-400/1t", 1, pytest.approx(51_760.0))


def test_one_rack_of_servers_needs_a_network_and_one_nvl72_does_not(tmp_path: Path) -> None:
    """Four servers of 8 in a rack of 45 kW are four NVLink domains; 72 of an NVL72 are one."""
    several = build(load(_file(tmp_path, RACK_KW="45")))
    (place,) = several.problem.placements
    assert (place.nodes, place.domain, place.self_contained) == (4, 8, False)
    assert NO_FABRIC not in {o.id for o in several.problem.fabrics}
    words = {
        "SYSTEM": "gb300-nvl72",
        "RACK_KW": "200",
        "COOLING": "direct-liquid-dense-tower",
        "HOURS": "100000",
        "ib-ndr-400": "ib-xdr-800",
    }
    assert _plan(tmp_path, **words) == (NO_FABRIC, 0, 0.0)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"MORE": "fabric: {id: ib-ndr-400, tiers: 1}", "fabrics: [ib-ndr-400]": ""}, "tiers"),
        ({"racks: 12": "racks: 800", "it_mw: 0.4": "it_mw: 9"}, "6,400 ports"),
    ],
)
def test_no_option_without_a_network(tmp_path: Path, words: Mapping[str, str], why: str) -> None:
    """A scenario that orders a number of tiers gets it, and a hall for 800 servers has trees only."""
    built = build(load(_file(tmp_path, **words)))
    assert built.problem.fabrics, why
    assert NO_FABRIC not in {o.id for o in built.problem.fabrics}


def test_the_audit_refuses_two_servers_without_a_network(tmp_path: Path) -> None:
    problem = build(load(_file(tmp_path))).problem
    (place,) = problem.placements
    one = exact_network(problem, place.hall, NO_FABRIC, {place.key: 1})
    assert (one.usd, one.kw, one.racks, one.switches, one.ports) == (0.0, 0.0, 0.0, {}, 8)
    with pytest.raises(ValueError, match="needs a network between nodes"):
        exact_network(problem, place.hall, NO_FABRIC, {place.key: 2})


def test_more_servers_never_need_fewer_switches(tmp_path: Path) -> None:
    """The smallest network of 0 to 30 servers, over all options of a hall."""
    built = build(
        load(_file(tmp_path, **{"racks: 12": "racks: 40", "fabrics: [ib": "fabrics: [eth-800, ib"}))
    )
    counts = [_fewest(built, n) for n in range(31)]
    assert counts[:3] == [0, 0, 1]
    assert counts == sorted(counts)
    assert counts[-1] > 1  # 240 ports exceed a switch of either family


def _fewest(built: Built, racks: int) -> int:
    problem = built.problem
    (place,) = problem.placements
    found = []
    for option in problem.fabrics:
        try:
            network = exact_network(problem, place.hall, option.id, {place.key: racks})
        except ValueError:  # beyond its reach
            continue
        found.append(sum(network.switches.values()))
    return min(found)


def _free_of_network(problem: PlanningProblem) -> PlanningProblem:
    """A tiny menu in which one rack needs no network, and two need one."""
    placed = tuple(replace(p, domain=p.accelerators) for p in problem.placements)
    reach = rack_ports(placed)
    option = FabricOption(
        hall="s/h",
        id=NO_FABRIC,
        family=NO_FABRIC,
        topology=NO_FABRIC,
        tiers=0,
        protocol="",
        speeds={PORTS: LinkSpeed(400.0, 1.0, True)},
        designs={},
        parts={},
        shares={PORTS: NetworkShare(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)},
        reach={PORTS: reach},
        switch_models=("", "", ""),
        switch_racks_units=1.0,
    )
    return replace(problem, placements=placed, fabrics=(*problem.fabrics, option))


def _with_true_shares(option: FabricOption) -> FabricOption:
    if not option.tiers:
        return option
    plan = option.designs[PORTS]
    each = share(plan, option.parts[PORTS], PORTS.unit(plan.leaf_down), RACK_UNITS)
    return replace(option, shares={PORTS: each})


@pytest.mark.parametrize("seed", SEEDS)
def test_optimum_with_a_hall_without_network_equals_enumeration(seed: int) -> None:
    problem = _free_of_network(tiny_menu(seed))
    expected = best_cost(problem)
    outcome = highs.solve(compile_model(build_model(problem)[0]), gap=0.0, time_limit_s=60)
    if math.isinf(expected):
        assert outcome.status == SolveStatus.INFEASIBLE
    else:
        assert outcome.objective * 1e6 == pytest.approx(expected, rel=1e-6, abs=1.0)


def test_some_tiny_menus_choose_no_network() -> None:
    """The sample is not empty: 2 menus or more are cheaper with one rack and no network."""
    pairs = [(best_cost(_free_of_network(m)), best_cost(m)) for m in map(tiny_menu, range(20))]
    assert sum(with_option < without - 1.0 for with_option, without in pairs) >= 2


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("exact", [True, False])
def test_bounds_stay_below_audited_plans(seed: int, exact: bool) -> None:
    """With shares and with integer switch counts, the optimum is at most the audited cost of its plan."""
    problem = _free_of_network(tiny_menu(seed))
    # random shares of a menu do not follow from its parts
    problem = replace(problem, fabrics=tuple(map(_with_true_shares, problem.fabrics)))
    problem = with_steps(problem, 10_000, exact=True) if exact else problem
    found, decisions = optimum(replace(problem, margin_factor=0.0))
    if decisions is None:
        return
    _, usd, _ = judged(problem, decisions)
    assert found.objective * 1e6 <= usd * (1 + 1e-6) + 1.0


def test_ports_of_one_rack(tmp_path: Path) -> None:
    """8 and 15 ports: two racks of 8 have more than 15. 8 and 16: two of 8 are as many as one of 16.
    A rack of servers ends the reach; so does a class whose smallest rack needs a network."""
    (place,) = build(load(_file(tmp_path))).problem.placements

    def rack(ports: int, *, contained: bool = True) -> object:
        return replace(place, ports=ports, accelerators=8 if contained else 16)

    for racks, reach in (
        ((rack(8), rack(15)), 15),
        ((rack(8), rack(16)), 8),
        ((rack(8), rack(12, contained=False), rack(14)), 8),
        ((rack(8, contained=False), rack(12)), 0),
        ((rack(8), rack(8, contained=False)), 0),
    ):
        assert rack_ports(racks) == reach  # type: ignore[arg-type]
