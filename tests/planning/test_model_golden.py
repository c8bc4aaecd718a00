"""One golden LP text per constraint file: a change of the maths shows as a readable diff."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyomo.environ as pyo
import pytest

from dcplan.inputs.cloud_prices import CommitTerms
from dcplan.planning.decision_specs import BUY, FABRIC, RUN
from dcplan.planning.goal import EarlierPlan, Goal, Limit
from dcplan.planning.model.changes import add_changes
from dcplan.planning.model.cloud import add_cloud
from dcplan.planning.model.energy.battery import add_battery
from dcplan.planning.model.energy.carbon import add_carbon_price
from dcplan.planning.model.energy.contracts import add_contracts, add_matching
from dcplan.planning.model.energy.interrupted import add_interrupted
from dcplan.planning.model.energy.permits import add_permits
from dcplan.planning.model.energy.response import add_response
from dcplan.planning.model.goals import add_goal
from dcplan.planning.model.halls import add_halls
from dcplan.planning.model.money.cost import add_money
from dcplan.planning.model.money.filled import add_filled
from dcplan.planning.model.money.land import add_land
from dcplan.planning.model.money.leases import add_leases
from dcplan.planning.model.network.fabric import add_fabric
from dcplan.planning.model.network.links import add_links
from dcplan.planning.model.network.switches import add_switches
from dcplan.planning.model.onsite import add_onsite
from dcplan.planning.model.power import add_power
from dcplan.planning.model.racks import add_racks, add_supply
from dcplan.planning.model.sets import Sets, make_sets
from dcplan.planning.model.upgrades import add_upgrades
from dcplan.planning.model.variables import add_variables
from dcplan.planning.model.work import add_work
from dcplan.planning.problem.contracts import ContractTerms, MatchedTerms
from dcplan.planning.problem.energy import BatteryTerms, OnsiteTerms, ResponseTerms
from dcplan.planning.problem.terms import (
    Capacity,
    ExistingTerms,
    LeafGroup,
    LeaseTerms,
    PartsTerms,
    PlanningProblem,
    SwitchSteps,
    UpgradeTerms,
)
from dcplan.planning.problem.terms.heat import HeatTerms
from dcplan.planning.problem.terms.links import LinkTerms
from dcplan.planning.problem.terms.ramp import RampTerms
from dcplan.planning.problem.work.parts import RunPart
from dcplan.planning.problem.work.terms import TOKENS
from dcplan.reliability.power_cuts import PowerCuts
from dcplan.reliability.spares import PoolRule
from dcplan.training.wide_area import Span
from tests.planning.small import HALL, PORTS, powered_menu, small_menu


def _add_contracts(model: pyo.ConcreteModel, sets: Sets) -> None:
    add_contracts(model, sets)
    add_matching(model, sets)


def _add_idle(model: pyo.ConcreteModel, sets: Sets) -> None:
    add_onsite(model, sets)
    add_response(model, sets)
    add_interrupted(model, sets)


def _add_upgrades(model: pyo.ConcreteModel, sets: Sets) -> None:
    add_halls(model, sets)
    add_upgrades(model, sets)


def _add_leases(model: pyo.ConcreteModel, sets: Sets) -> None:
    add_racks(model, sets)
    add_leases(model, sets)
    add_fabric(model, sets)


FILES: dict[str, Callable[[pyo.ConcreteModel, Sets], None]] = {
    "racks": add_racks,
    "leases": _add_leases,
    "supply": add_supply,
    "halls": add_halls,
    "upgrades": _add_upgrades,
    "fabric": add_fabric,
    "onsite": add_onsite,
    "permits": add_permits,
    "steps": add_switches,
    "systems": add_switches,
    "power": add_power,
    "land": add_land,
    "heat": add_power,
    "battery": add_battery,
    "ramp": add_battery,
    "carbon": add_carbon_price,
    "response": add_response,
    "interrupted": add_interrupted,
    "idle": _add_idle,
    "contracts": _add_contracts,
    "links": add_links,
    "work": add_work,
    "pool": add_work,
    "cloud": add_cloud,
    "money": add_money,
    "filled": add_filled,
    "goals": add_goal,
    "changes": add_changes,
}


def menu_of(name: str) -> PlanningProblem:
    """The small menu, or one that has what a file states."""
    problem = small_menu()
    if name == "leases":
        offers = (
            LeaseTerms("short", frozenset({"a"}), 1, 0.05),
            LeaseTerms("long", frozenset(), 8, 0.03),
        )
        finance = replace(problem.finance, leases=offers)
        soon = tuple(replace(p, lead=0) for p in problem.placements)
        return replace(problem, finance=finance, placements=soon)
    if name == "pool":
        own = problem.run_options[0]
        rule = PoolRule(8, 0.02, 0.99)
        first, second = (
            replace(own, job=x, pooled_nodes=n, pool=rule) for x, n in (("job", 2), ("next", 6))
        )
        jobs = (*problem.jobs, replace(problem.jobs[0], id="next"))
        return replace(problem, jobs=jobs, run_options=(first, second))
    if name == "land":
        site = replace(problem.sites[0], land_usd=2e6, land_left_frac=(1.1, 1.05))
        return replace(problem, sites=(site,))
    if name == "contracts":
        flat = ContractTerms(
            *("flat", 0.01, 20, (70.0, 70.0), (40.0, 40.0), (5.0, 5.0)), (1.0,) * 8760, first=1
        )
        site = replace(
            problem.sites[0],
            contracts=(flat,),
            matched=MatchedTerms(annual_frac=0.5, hourly_frac=0.4),
        )
        return replace(problem, sites=(site,))
    if name == "heat":
        hall, site = problem.halls[0], problem.sites[0]
        buyer = HeatTerms(70.0, (40.0, 40.0), (0.0, 0.8), 0.5, 2.25)
        coolings = tuple(replace(c, heat_c=46.0 if c.id == "wet" else None) for c in hall.coolings)
        halls = (replace(hall, coolings=coolings), *problem.halls[1:])
        return replace(problem, sites=(replace(site, heat=buyer),), halls=halls)
    if name in ("battery", "ramp"):
        menu = powered_menu(0.1, 0.05)
        cells = OnsiteTerms(
            *("cells", 0.05, 9e3, 100.0, 0.0, 0.0),
            lead=0,
            most_units=4,
            spare_units=0,
            battery=BatteryTerms(4.0, 0.81, 0.9, peak_h=6.0),
        )
        tranche = replace(menu.sites[0].tranches[0], event_h=8.0)
        site = replace(menu.sites[0], onsite=(cells,), tranches=(tranche,))
        if name == "ramp":
            ramp = RampTerms(0.1, 0.5, 0.05, 30.0, 600.0, "cells", 4.0)
            run = replace(problem.run_options[0], ramp_mw=0.03)
            site = replace(site, ramp=ramp)
            return replace(menu, sites=(site,), jobs=problem.jobs, run_options=(run,))
        return replace(menu, sites=(site,))
    if name == "carbon":
        site = replace(problem.sites[0], carbon_usd_per_t=(50.0, 60.0), carbon_by_market=True)
        return replace(problem, sites=(site,))
    if name == "response":
        terms = ResponseTerms(0.1, (80e3, 90e3), 100.0)
        return replace(problem, sites=(replace(problem.sites[0], response=terms),))
    if name in ("interrupted", "idle"):
        menu, response = powered_menu(0.1, 0.05), ResponseTerms(0.1, (80e3, 90e3), 100.0)
        plain = problem.run_options[0]
        cuts = (PowerCuts(976.6, 4.0), PowerCuts(976.6, 4.0, 0.5, 0.6))
        runs = (plain, *(replace(plain, cuts=x) for x in cuts))
        sites = (replace(menu.sites[0], onsite=(), response=response, pauses_idle=name == "idle"),)
        service = replace(menu.demands[0], unit=TOKENS)
        return replace(menu, sites=sites, jobs=problem.jobs, run_options=runs, demands=(service,))
    if name == "links":
        places = (HALL, "s/other")
        link = LinkTerms("campus", places, 1e5, 2e-5, 1e6, 3e3, 2.0, first=1)
        parts = (RunPart("job#1", x, places, ("campus",), Span()) for x in places)
        runs = (replace(problem.run_options[0], place=x.place, part=x) for x in parts)
        return replace(problem, run_options=(*problem.run_options, *runs), links=(link,))
    if name == "upgrades":
        hall = problem.halls[0]
        dry, wet = hall.coolings
        start, after = Capacity(10, 0.3, 0.2, 0.0), Capacity(12, 0.5, 0.1, 0.3)
        most = {"air_mw": 0.2, "liquid_mw": 0.3}
        own = replace(
            hall,
            count=1,
            racks=12,
            it_mw=0.5,
            existing=True,
            needs_blocks=False,
            coolings=(replace(dry, **most), replace(wet, **most)),
            upgrades=(UpgradeTerms("water", after, 1e6, 0, 1, out_frac=0.4, cooling="wet"),),
            start=start,
            available_from=1,
            fit_out_mw_per_quarter=0.1,
            energized_mw=(0.2, 0.4),
        )
        return replace(problem, halls=(own,))
    if name == "onsite":
        return powered_menu(0.1, 0.05)
    if name == "permits":
        menu = powered_menu(0.1, 0.05)
        engine = replace(menu.sites[0].onsite[0], permit_h_per_year=500.0)
        return replace(menu, sites=(replace(menu.sites[0], onsite=(engine,)),))
    if name == "steps":
        option = problem.fabrics[0]
        costs = SwitchSteps((64, 64), {"usd": 900.0}, {"usd": (200e3, 150e3)})
        return replace(
            problem, fabrics=(replace(option, step_costs={PORTS: costs}),), integer_switches=True
        )
    if name == "systems":
        option = problem.fabrics[0]
        groups = {"a": LeafGroup(32, 1), "b": LeafGroup(64, 2)}
        jumps = {"usd": (200e3, 150e3), "switches": (1.0, 2.0)}
        costs = SwitchSteps((2, 1), {"usd": 900.0}, jumps, {"usd": 50e3, "switches": 1.0}, groups)
        loads = SwitchSteps((2, 1), {"kw": 0.02}, {"kw": (1.5, 0.7), "racks": (0.1, 0.05)}, groups)
        stepped = replace(option, step_costs={PORTS: costs}, step_loads={PORTS: loads})
        return replace(
            problem,
            fabrics=(stepped,),
            integer_switches=True,
            margin_factor=0.0,
            parts=(PartsTerms("switches", (4.0, 4.0)),),
        )
    if name == "supply":
        placed = tuple(
            replace(p, makers=("acme",) if p.system == "a" else ("other",))
            for p in problem.placements
        )
        parts = (PartsTerms("switches", (4.0, 4.0)), PartsTerms("power_blocks", (2.0, 2.0)))
        share = replace(problem.fabrics[0].shares[PORTS], switches=0.05, upper_switches=0.06)
        fabric = replace(problem.fabrics[0], shares={PORTS: share})
        return replace(
            problem, placements=placed, fabrics=(fabric,), parts=parts, vendor_share={"acme": 0.5}
        )
    if name == "racks":
        existing = ExistingTerms(
            "old", (HALL, "wet", "a"), 2, 0, 2, 100e3, (300e3, 200e3), in_service=True
        )
        return replace(problem, existing=(existing,))
    if name == "filled":
        own, rented = problem.run_options
        runs = (own, replace(own, job="second", start_month=0), rented)
        jobs = (*problem.jobs, replace(problem.jobs[0], id="second"))
        finance = replace(problem.finance, empty_hall_frac=0.3)
        return replace(problem, jobs=jobs, run_options=runs, finance=finance)
    if name == "cloud":
        term = CommitTerms("reserved-1y", 4, (2.0, 2.0))
        return replace(problem, offers=(replace(problem.offers[0], committed=(term,)),))
    if name == "goals":
        return replace(problem, goal=Goal("carbon", (Limit("days:job", 50.0), Limit("peak", 0.3))))
    if name == "changes":
        before = {
            BUY.key(HALL, "dry", "a", 0): 2.0,
            FABRIC.key(HALL, "eth/2t"): 1.0,
            RUN.key(0): 1.0,
        }
        return replace(problem, earlier=EarlierPlan(before, -1, 1))
    return problem


def lp_text(name: str, tmp_path: Path) -> str:
    add, sets = FILES[name], make_sets(menu_of(name))
    model = pyo.ConcreteModel(name="dcplan")
    add_variables(model, sets)
    if name == "goals":
        add_money(model, sets)
    add(model, sets)
    if not any(True for _ in model.component_data_objects(pyo.Objective)):
        model.nothing = pyo.Objective(expr=0.0 * next(iter(model.fitted.values())))
    file = tmp_path / "model.lp"
    model.write(str(file), io_options={"symbolic_solver_labels": True})
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", list(FILES))
def test_constraint_file_is_as_written_down(
    name: str, tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    golden(f"lp/{name}.lp", lp_text(name, tmp_path))


def test_every_constraint_has_a_file() -> None:
    """The table of contents adds nothing that has no golden text."""
    from dcplan.planning.model.build import build_model

    whole, _ = build_model(small_menu())
    parts = set()
    for add in FILES.values():
        sets = make_sets(small_menu())
        model = pyo.ConcreteModel()
        add_variables(model, sets)
        add(model, sets)
        parts |= {c.name for c in model.component_objects(pyo.Constraint)}
    assert {c.name for c in whole.component_objects(pyo.Constraint)} == parts
