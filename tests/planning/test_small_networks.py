"""Networks of a plan: one switch for a few servers, units that fill leaf switches, optics inside."""

from __future__ import annotations

from pathlib import Path

import pytest

import dcplan
from dcplan.fabric.bom import bill
from dcplan.fabric.topology.connected import Nodes, connect
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.terms import NO_FABRIC, FabricOption, PortClass
from dcplan.scenario.load import load

ROOT = Path(__file__).parents[2]

TEXT = """
dcplan: 1
name: few
horizon: {start: 2027-Q1, quarters: 4}
sites:
  - id: ashburn
    location: us-ashburn
    utility_mw: 90
    halls: [{id: h, racks: RACKS, rack_kw_max: 200, it_mw: MW, cooling: [COOLING]}]
fleet: {system: SYSTEM, accelerators: ACCELERATORS}
fabrics: [FABRICS]
objective: min_cost
"""


def _file(tmp_path: Path, **words: str) -> Path:
    text = TEXT
    for name, value in words.items():
        text = text.replace(name, value)
    file = tmp_path / "few.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def _servers(tmp_path: Path, fabrics: str) -> Path:
    return _file(
        tmp_path,
        RACKS="8",
        MW="0.2",
        COOLING="rear-door-tower",
        SYSTEM="hgx-h100-8",
        ACCELERATORS="24",
        FABRICS=fabrics,
    )


def _racks(tmp_path: Path, fabrics: str) -> Built:
    file = _file(
        tmp_path,
        RACKS="300",
        MW="40",
        COOLING="direct-liquid-dense-tower",
        SYSTEM="gb300-nvl72",
        ACCELERATORS=str(110 * 72),
        FABRICS=fabrics,
    )
    return build(load(file))


def test_a_rack_of_servers_takes_one_switch(tmp_path: Path) -> None:
    """24 NICs on one QM9700 of 64 ports: 36,000 for the switch, 24 x 1,397.5 less its 562.5 share of
    a switch for optics and cables; the smallest tree with units has 8 leaves and 4 spines."""
    answer = dcplan.plan(str(_servers(tmp_path, "ib-ndr-400")), gap=0.005)
    assert answer.frame("network")["fabric"].tolist() == ["ib-ndr-400/1t"]


def test_one_switch_reaches_its_ports_and_its_bounds_hold(tmp_path: Path) -> None:
    """1 to 8 servers: share <= exact cost <= upper share and margin; a ninth does not fit."""
    built = build(load(_servers(tmp_path, "ib-ndr-400")))
    option = next(o for o in built.problem.fabrics if o.tiers == 1)
    (ports,) = option.shares
    plan, parts, share = option.designs[ports], option.parts[ports], option.shares[ports]
    assert option.reach[ports] == 64
    for nodes in range(1, 9):
        counts, fills = connect(option.topology, plan, 1, [Nodes(nodes, 8)])
        usd = bill(counts, parts, fills).capex_usd
        assert counts.switches == 1
        assert share.usd * nodes * 8 <= usd <= share.upper_usd * nodes * 8 + option.margin_usd
    with pytest.raises(ValueError, match="do not form one network"):
        connect(option.topology, plan, 1, [Nodes(5, 8), Nodes(4, 8)])


def test_rail_only_can_be_chosen_next_to_a_tree(tmp_path: Path) -> None:
    """A switch per rail is cheaper than 8 leaves and 4 spines where one switch is no option."""
    text = _servers(tmp_path, "ib-ndr-400, ib-ndr-400-rail-only").read_text()
    wide = text.replace("racks: 8", "racks: 80").replace("it_mw: 0.2", "it_mw: 4")
    file = tmp_path / "wide.yaml"
    file.write_text(wide)
    options = {o.id for o in build(load(file)).problem.fabrics}
    assert {"ib-ndr-400/2t", "ib-ndr-400-rail-only/1t"} <= options
    answer = dcplan.plan(str(file), gap=0.005)
    assert answer.frame("network")["fabric"].tolist() == ["ib-ndr-400-rail-only/1t"]


def _option(built: Built, name: str) -> tuple[FabricOption, PortClass]:
    option = next(o for o in built.problem.fabrics if o.id == name)
    (ports,) = option.shares
    return option, ports


def test_the_menu_of_a_plan_has_units_that_fill_leaves(tmp_path: Path) -> None:
    """110 GB300 racks on two planes of 128 ports: 16 units of 126 trays x 4 rails x 2 leaves, so 2 x
    (128 + 64) switches in two tiers, as `dcplan fabric` finds."""
    option, ports = _option(_racks(tmp_path, "spectrum-x-800"), "spectrum-x-800/2t")
    plan = option.designs[ports]
    assert ports.unit(plan.leaf_down) == 126
    counts, _ = connect(option.topology, plan, ports.unit(plan.leaf_down), [Nodes(1980, 4)])
    assert (counts.leaf, counts.spine, counts.core) == (256, 128, 0)
    assert option.reach[ports] >= 1980 * 4


def test_co_packaged_switches_have_no_transceivers_in_a_plan(tmp_path: Path) -> None:
    """Optics of the switch are in its price: only the 4 NICs of each tray have transceivers."""
    option, ports = _option(_racks(tmp_path, "ib-xdr-800-cpo"), "ib-xdr-800-cpo/2t")
    counts, fills = connect(option.topology, option.designs[ports], 144, [Nodes(144, 4)])
    found = bill(counts, option.parts[ports], fills)
    assert (found.switch_transceivers, found.node_transceivers) == (0, 576)
    assert option.shares[ports].transceivers == 1.0


def test_a_plan_has_no_fabric_whose_transceivers_form_no_link(tmp_path: Path) -> None:
    """NICs of 400 Gb/s in lanes of 100 Gb/s do not join ports of 1.6 Tb/s in lanes of 200 Gb/s."""
    file = _file(
        tmp_path,
        RACKS="8",
        MW="0.4",
        COOLING="direct-liquid-dense-tower",
        SYSTEM="mi355x-8-dlc",
        ACCELERATORS="24",
        FABRICS="eth-400, eth-1600",
    )
    problem = build(load(file)).problem
    assert {o.family for o in problem.fabrics} - {NO_FABRIC} == {"eth-400"}
    reasons = [x.reason for x in problem.excluded if x.id.startswith("eth-1600")]
    assert reasons
    assert all("form no link" in reason for reason in reasons)


def test_a_family_that_a_scenario_names_alone_is_not_refused_for_its_lanes() -> None:
    """JUPITER has NICs of 200 Gb/s on InfiniBand NDR: two lanes of 100 Gb/s, where the class part has four
    of 50 Gb/s. HDR would fit the class part, but the scenario does not allow it."""
    problem = build(load(str(ROOT / "scenarios" / "cases" / "jupiter.yaml"))).problem
    assert {option.id.split("/")[0] for option in problem.fabrics} == {"ib-ndr-400"}
