"""All decisions of the model, with their units and bounds."""

from __future__ import annotations

import pyomo.core as pyo

from dcplan.inputs.cloud_prices import cloud_place
from dcplan.planning.check_ids import Part
from dcplan.planning.decision_specs import (
    BLOCKS,
    BUY,
    DISPOSED,
    FABRIC,
    FITTED,
    FLEET,
    HOSTED,
    LEAF_GROUPS,
    LINK_ON,
    LOAD_GROUPS,
    LOAD_STEP,
    POOLED,
    RACKS,
    REPLICAS,
    RUN,
    STEP,
    STOPPED,
    UPGRADED,
    USED,
    USED_NEW,
)
from dcplan.planning.model.cloud import declare_cloud
from dcplan.planning.model.energy.contracts import declare_contracts
from dcplan.planning.model.money.leases import declare_leases
from dcplan.planning.model.onsite import declare_onsite
from dcplan.planning.model.sets import Sets, most_racks


def add_variables(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Declare every variable, by subject; the order decides the order of the columns."""
    _declare_racks(model, sets)
    _declare_networks(model, sets)
    _declare_work(model, sets)
    model.blocks = pyo.Var(BLOCKS.index(sets), domain=pyo.NonNegativeIntegers)
    declare_onsite(model, sets)
    declare_contracts(model, sets)
    declare_cloud(model, sets)
    _declare_sites(model, sets)


def _declare_racks(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Declare racks and hall units.

    ``buy`` racks ordered; ``racks`` in service; ``fleet`` given racks by cooling; ``disposed``
    racks of assets and orders that are sold or cancelled; ``fitted`` hall units with a cooling
    option; ``upgraded`` halls whose works have begun; ``stopped`` racks out of service in works.
    """
    count = {h.id: h.count for h in sets.problem.halls}
    existing = {h.id: h.existing_units for h in sets.problem.halls}
    model.buy = pyo.Var(
        BUY.index(sets),
        domain=pyo.NonNegativeIntegers,
        bounds=lambda _, h, c, k, q: (0, most_racks(sets, (h, c, k), q)),
    )
    declare_leases(model, sets)
    # racks are integers because orders are; they are declared as integers because HiGHS presolve
    # returned wrong optima otherwise
    # (docs/decisions.md, "presolve"; tests/planning/test_brute_force.py seeds 0 and 10)
    model.racks = pyo.Var(RACKS.index(sets), domain=pyo.NonNegativeIntegers)
    model.fleet = pyo.Var(FLEET.index(sets), domain=pyo.NonNegativeIntegers)
    model.disposed = pyo.Var(DISPOSED.index(sets), domain=pyo.NonNegativeIntegers)
    model.fitted = pyo.Var(
        FITTED.index(sets),
        domain=pyo.NonNegativeIntegers,
        bounds=lambda _, h, c, q: (existing[h].get(c, 0), _open(sets, h, c, q) * count[h]),
    )
    model.upgraded = pyo.Var(UPGRADED.index(sets), domain=pyo.Binary)
    model.stopped = pyo.Var(STOPPED.index(sets), domain=pyo.NonNegativeIntegers)


def _declare_networks(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Declare fabrics, ports and switches.

    ``fabric`` chosen; ``ports_bought`` and ``ports_served`` on it; ``reused`` places of ended
    ports; ``step`` of leaf switches started and ``network_musd`` spent, and ``network_switches``,
    ``network_transceivers`` bought, so far, if these have a limit; ``leaf_groups`` of each system
    and ``system_ports`` on them where each has its own; the same for the power and space of
    networks in service, ``load_step``, ``load_groups``, ``load_ports``, ``network_kw``,
    ``network_racks``.
    """
    t, reals = list(sets.quarters), pyo.NonNegativeReals
    ports = [(h, f, c) for h, pairs in sets.served.items() for f, c in pairs]
    model.fabric = pyo.Var(FABRIC.index(sets), domain=pyo.Binary)
    model.ports_bought = pyo.Var(ports, t, domain=reals)
    model.ports_served = pyo.Var(ports, t, domain=reals)
    model.reused = pyo.Var(sets.renewed, domain=reals)
    model.step = pyo.Var(STEP.index(sets), domain=pyo.Binary)
    model.leaf_groups = pyo.Var(LEAF_GROUPS.index(sets), domain=pyo.NonNegativeIntegers)
    model.load_step = pyo.Var(LOAD_STEP.index(sets), domain=pyo.Binary)
    model.load_groups = pyo.Var(LOAD_GROUPS.index(sets), domain=pyo.NonNegativeIntegers)
    model.system_ports = pyo.Var(LEAF_GROUPS.index(sets), domain=reals)
    model.load_ports = pyo.Var(LOAD_GROUPS.index(sets), domain=reals)
    model.network_musd = pyo.Var(list(sets.step_costs), t, domain=reals)
    model.network_switches = pyo.Var(sets.counted(Part.SWITCHES), t, domain=reals)
    model.network_transceivers = pyo.Var(sets.counted(Part.TRANSCEIVERS), t, domain=reals)
    model.network_kw = pyo.Var(list(sets.step_loads), t, domain=reals)
    model.network_racks = pyo.Var(list(sets.step_loads), t, domain=reals)


def _declare_work(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Declare what accelerators work on.

    ``training`` and ``serving`` accelerators of demands (average of their hours); ``pooled`` spare nodes
    of a month, one by one; ``replicas`` of
    services, and ``hosted`` where a service needs spare replicas; ``run`` option of a job;
    ``rented`` accelerators; ``unmet`` demand.
    """
    problem, t = sets.problem, list(sets.quarters)
    model.training = pyo.Var(_training_places(sets), t, domain=pyo.NonNegativeReals)
    demands = [
        (d.id, *key) for d in problem.demands for key in sets.places if (key[0], key[2]) in d.each
    ]
    model.serving = pyo.Var(demands, t, domain=pyo.NonNegativeReals)
    model.pooled = pyo.Var(POOLED.index(sets), domain=pyo.Binary)
    model.replicas = pyo.Var(REPLICAS.index(sets), domain=pyo.NonNegativeIntegers)
    model.hosted = pyo.Var(HOSTED.index(sets), domain=pyo.Binary)
    model.link_on = pyo.Var(LINK_ON.index(sets), domain=pyo.Binary)
    model.run = pyo.Var([i for (i,) in RUN.index(sets)], domain=pyo.Binary)
    offers = [
        (d.id, o.id)
        for d in problem.demands
        for o in problem.offers
        if (cloud_place(o.id), o.accelerator) in d.each
    ]
    model.rented = pyo.Var(offers, t, domain=pyo.NonNegativeReals)
    model.unmet = pyo.Var(
        [d.id for d in problem.required if d.unmet_usd is not None], t, domain=pyo.NonNegativeReals
    )


def _declare_sites(model: pyo.ConcreteModel, sets: Sets) -> None:
    """Declare ``used`` sites, ``used_new`` halls of them, ``peak_mw``, ``billed_mw``, ``energy_mwh``."""
    sites, t = [s.id for s in sets.problem.sites], list(sets.quarters)
    model.used = pyo.Var(USED.index(sets), domain=pyo.Binary)
    model.used_new = pyo.Var(USED_NEW.index(sets), domain=pyo.Binary)
    model.peak_mw = pyo.Var(sites, t, domain=pyo.NonNegativeReals)
    model.billed_mw = pyo.Var(sites, t, domain=pyo.NonNegativeReals)
    model.energy_mwh = pyo.Var(sites, t, domain=pyo.NonNegativeReals)


def _open(sets: Sets, hall: str, cooling: str, t: int) -> int:
    """Return 1 where a plan may fit a cooling option; an upgrade brings its own without that."""
    terms = sets.problem.hall(hall)
    return int(t >= terms.available_from and terms.upgrade_for(cooling) is None)


def _training_places(sets: Sets) -> list[tuple[str, str, str]]:
    """Return the placements that a run option uses."""
    able = {(c.place, c.system) for c in sets.problem.run_options if not c.on_cloud}
    return [key for key in sets.places if (key[0], key[2]) in able]
