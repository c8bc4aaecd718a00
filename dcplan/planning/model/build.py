"""Building of the model: the list of its parts."""

from __future__ import annotations

import pyomo.core as pyo

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
from dcplan.planning.problem.terms import PlanningProblem


def build_model(problem: PlanningProblem) -> tuple[pyo.ConcreteModel, Sets]:
    """Return the complete program: variables, constraints and objective."""
    sets = make_sets(problem)
    model = pyo.ConcreteModel(name="dcplan")
    add_variables(model, sets)
    add_racks(model, sets)
    add_leases(model, sets)
    add_supply(model, sets)
    add_halls(model, sets)
    add_upgrades(model, sets)
    add_fabric(model, sets)
    add_switches(model, sets)
    add_onsite(model, sets)
    add_permits(model, sets)
    add_power(model, sets)
    add_land(model, sets)
    add_battery(model, sets)
    add_response(model, sets)
    add_interrupted(model, sets)
    add_contracts(model, sets)
    add_matching(model, sets)
    add_carbon_price(model, sets)
    add_work(model, sets)
    add_links(model, sets)
    add_cloud(model, sets)
    add_money(model, sets)
    add_goal(model, sets)
    add_changes(model, sets)
    return model, sets
