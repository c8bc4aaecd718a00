"""Catalog rows and scenario settings as numbers of the reliability room."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Component, Parameter, System
from dcplan.fabric.topology.clos import parts_per_endpoint
from dcplan.fabric.topology.design import design
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.interruptions import OnInterruption, interruption_h
from dcplan.inputs.storage import given_rates
from dcplan.inputs.training.devices import HOST_ACCELERATORS, training_terms
from dcplan.llm.architecture import Architecture
from dcplan.provenance import Quantity
from dcplan.reliability.checkpoint import checkpoint_bytes
from dcplan.reliability.job import Bounds, Machine, Policy
from dcplan.reliability.power_cuts import NO_CUTS, PowerCuts
from dcplan.reliability.rates import Rate, Stops, job_stops
from dcplan.scenario.schema.reliability import Reliability
from dcplan.scenario.schema.work import Storage
from dcplan.training.estimate import Hardware
from dcplan.units import HALF_BYTES, HOURS_PER_DAY, SECONDS_PER_HOUR

OUTAGES = {"n": "outage-h-per-year-n", "n+1": "outage-h-per-year-n1"}
CUBE = 64
"""Chips of a TPU cube, the unit that optical switches connect to or remove from a slice (Jouppi et
al. 2023, arXiv 2304.01433, section 2.2)."""
CONCURRENT = "outage-h-per-year-2n"


@dataclass(frozen=True)
class Network:
    """Switches and links per NIC port of a job's network."""

    switches: float
    links: float


def class_network(ports: float, log: InputLog) -> Network:
    """Return a fat tree of the class switch with as many tiers as the ports need."""
    radix = round(log.parameter("reliability", "class-switch-ports"))
    two = design(radix, 2)
    return Network(*parts_per_endpoint(two if ports <= two.reach_endpoints else design(radix, 3)))


def hosts_of(row: System) -> int:
    """Return the hosts (compute trays) of one system: NIC ports over rails, or 8 accelerators each."""
    if row.scaleout_ports and row.scaleout_rails:
        return max(row.scaleout_ports // row.scaleout_rails, 1)
    return max(row.accelerators // HOST_ACCELERATORS, 1)


def parts_of(
    row: System, accelerator: Accelerator, network: Network, log: InputLog
) -> dict[str, float]:
    """Return the parts per accelerator, by the units of the failure rates."""
    each = 1.0 / row.accelerators
    ports = (row.scaleout_ports or row.accelerators) * each
    rated = row.rated_kw.value * each if row.rated_kw else 0.0
    liquid = (
        rated * row.liquid_frac.value if row.liquid_frac and "liquid" in row.cooling_modes else 0.0
    )
    return {
        "accelerator": 1.0,
        "memory_gb": accelerator.hbm_gb.value if accelerator.hbm_gb else 0.0,
        "nic": ports,
        "link": ports * network.links,
        "switch": ports * network.switches,
        "host": hosts_of(row) * each,
        "psu": hosts_of(row) * each * log.parameter("reliability", "psu-per-host"),
        "cdu": liquid / log.parameter("reliability", "cdu-kw"),
    }


def rates_for(catalog: Catalog, family: str | None) -> list[Rate]:
    """Return failure rates of an accelerator family: its own rows, generic rows for the rest."""
    rows = catalog.table("components", Component).values()
    own = [r for r in rows if family and family in r.families]
    known = {r.role for r in own} | {role for r in own for role in r.covers}
    chosen = own + [r for r in rows if not r.families and r.role not in known]
    found = []
    for row in chosen:
        low, high = row.stops_per_year.bounds
        replaced = row.replaced_frac.value if row.replaced_frac else 0.0
        found.append(Rate(row.id, row.role, row.per, row.stops_per_year.value, low, high, replaced))
    return found


def machine(
    row: System, network: Network, log: InputLog, settings: Reliability
) -> tuple[Machine, Stops]:
    """Return one accelerator's share of a system and its network.

    It holds the rate of stops and their parts.
    """
    catalog = log.catalog
    accelerator = catalog.get("accelerators", row.accelerator, Accelerator)
    rates = rates_for(catalog, accelerator.family)
    for rate in rates:
        component = catalog.get("components", rate.id, Component)
        log.take(f"components.{rate.id}.stops_per_year", component.stops_per_year)
    parts = parts_of(row, accelerator, network, log)
    stops = job_stops(rates, parts)
    bounds: Bounds = (stops.low_per_day, stops.per_day, stops.high_per_day)
    replaced = stops.replaced_per_day
    hosts = hosts_of(row)
    if settings.stops_per_1000_node_days is not None:
        given = log.take("reliability.stops_per_1000_node_days", settings.stops_per_1000_node_days)
        low, high = settings.stops_per_1000_node_days.bounds
        bounds = _by_accelerator((low, given, high), hosts, row)
        share = replaced / max(stops.per_day, 1e-30)
        if settings.replaced_frac is not None:
            share = log.take("reliability.replaced_frac", settings.replaced_frac)
        replaced = share * bounds[1]
    shared = sum(
        per_day for key, _, per_day in stops.by_part if _role(rates, key) in {"switch", "cdu"}
    )
    corrupted = sum(
        per_day for key, _, per_day in stops.by_part if _role(rates, key) == "corruption"
    )
    planned = sum(per_day for key, _, per_day in stops.by_part if _role(rates, key) == "planned")
    domain, size = accelerator.scaleup_domain or 1, max(row.accelerators // hosts, 1)
    host_gb_per_s = training_terms(catalog, accelerator)["host_gb_per_s"]
    found = Machine(
        stops_per_day=bounds,
        replaced_per_day=replaced,
        corrupted_per_day=corrupted,
        peer_frac=1.0 - shared / max(stops.per_day, 1e-30),
        node_accelerators=size,
        domain_nodes=max(min(domain, row.accelerators) // size, 1),
        host_gb_per_s=host_gb_per_s or log.parameter("reliability", "host-gb-per-s"),
        # a given rate counts failures, none of which is planned
        planned_frac=0.0
        if settings.stops_per_1000_node_days is not None
        else planned / max(stops.per_day, 1e-30),
        swap_nodes=CUBE // size if accelerator.kind == "tpu" and domain > CUBE else 0,
    )
    return found, stops


def _by_accelerator(per_1000_node_days: Bounds, hosts: int, row: System) -> Bounds:
    low, mid, high = (x / 1000.0 * hosts / row.accelerators for x in per_1000_node_days)
    return low, mid, high


def _role(rates: list[Rate], key: str) -> str:
    return next(r.role for r in rates if r.id == key)


def stored_bytes(shape: Architecture, spec: Hardware) -> float:
    """Return the bytes of a checkpoint.

    It holds the weights at 16 bit, independent of copies in the run, and the optimizer state.
    """
    weights = min(spec.recipe.weight_bytes, HALF_BYTES)
    return float(checkpoint_bytes(shape.params, weights, spec.recipe.optimizer_bytes))


def policy(
    settings: Reliability, storage: Storage | None, log: InputLog, redundancy: str = "n+1"
) -> Policy:
    """Return the recovery policy of jobs: scenario settings, then catalog values."""
    restart = bounds_of(log, "restart-h")
    detect = _detection_h(settings, log)
    load = log.parameter("storage", "storage-load-s")
    waits: Bounds = tuple(a + b for a, b in zip(detect, restart, strict=True))  # type: ignore[assignment]
    if settings.restart_s is not None:
        typed = log.take("reliability.restart_s", settings.restart_s) / SECONDS_PER_HOUR
        waits, load = (typed, typed, typed), 0.0
    blocking = settings.checkpoint == "blocking"
    given = given_rates(storage, log)
    level = (storage or Storage()).level
    plain = Policy(
        restart_h=waits,
        load_s=load,
        pause_s=log.parameter(
            "reliability", "checkpoint-pause-sync-s" if blocking else "checkpoint-pause-s"
        ),
        flush_s=log.parameter("storage", "storage-flush-s"),
        level_write_gb_per_s=log.parameter("storage", f"storage-write-gb-per-s-per-gpu-{level}"),
        slow_frac=bounds_of(log, "fail-slow-frac"),
        rollback_h=log.chosen(
            "reliability.corruption_rollback_h",
            settings.corruption_rollback_h,
            "reliability",
            "corruption-rollback-h",
        ),
        repair_h=log.chosen(
            "reliability.repair_h", settings.repair_h, "reliability", "node-repair-h"
        ),
        spare_confidence=log.parameter("reliability", "spare-confidence"),
        outage_h_per_year=log.parameter("reliability", OUTAGES.get(redundancy, CONCURRENT)),
        blocking=blocking,
        peer=settings.checkpoint == "peer",
        slowdown=_slowdown(settings, log),
        given_read_gb_per_s=given.read_gb_per_s,
        given_write_gb_per_s=given.write_gb_per_s,
        save_s=_given(log, "save_s", settings.save_s),
        interval_s=_given(log, "interval_s", settings.interval_s),
        spares=settings.spares,
        pooled=settings.pool_spares,
    )
    if settings.lemon_nodes:
        plain = replace(plain, factor=log.parameter("reliability", "lemon-factor"))
    if settings.early_life:
        factor, days = (
            log.parameter("reliability", key) for key in ("early-stops-factor", "early-days")
        )
        plain = replace(plain, early_factor=factor, early_days=days)
    return _elastic(replace(plain, cuts=_cuts(settings, log)), settings, log)


def _cuts(settings: Reliability, log: InputLog) -> PowerCuts:
    """Return the interruptions of power that a scenario states for a run alone."""
    if settings.interrupted_h_per_year is None:
        return NO_CUTS
    name = "reliability.interrupted_h_per_year"
    asked = OnInterruption(
        "reliability", settings.interrupted_power_frac, settings.interrupted_speed_frac
    )
    hours = log.take(name, settings.interrupted_h_per_year)
    return asked.over(hours, interruption_h("reliability", settings.interruption_h, log), log)


def _elastic(plain: Policy, settings: Reliability, log: InputLog) -> Policy:
    """Return the policy with elastic replicas, where the scenario has them."""
    if settings.replica_accelerators is None:
        return plain
    stall = bounds_of(log, "replica-stall-s")
    if settings.stall_s is not None:
        value = log.take("reliability.stall_s", settings.stall_s)
        stall = (settings.stall_s.bounds[0], value, settings.stall_s.bounds[1])
    rejoin = _given(log, "rejoin_s", settings.rejoin_s)
    return replace(
        plain,
        replica_accelerators=settings.replica_accelerators,
        stall_s=stall,
        rejoin_h=None if rejoin is None else rejoin / SECONDS_PER_HOUR,
        whole_stops_per_day=log.chosen(
            "reliability.whole_job_stops_per_day",
            settings.whole_job_stops_per_day,
            "reliability",
            "whole-job-stops-per-day",
        ),
        whole_at_any_size=settings.whole_job_stops_per_day is not None,
    )


def reclaimed(
    part: Machine, rules: Policy, reclaims_per_instance_h: float, wait_h: float
) -> tuple[Machine, Policy]:
    """Return machine and policy of instances that the provider may reclaim.

    Reclaims add to the stops; each waits for new capacity. The mean wait of all stops rises by the
    share of reclaims.
    """
    each = reclaims_per_instance_h * HOURS_PER_DAY / part.node_accelerators
    low, mid, high = part.stops_per_day
    share = each / (mid + each)
    waits: Bounds = tuple(x + share * wait_h for x in rules.restart_h)  # type: ignore[assignment]
    stops: Bounds = (low + each, mid + each, high + each)
    return replace(part, stops_per_day=stops), replace(rules, restart_h=waits)


def _slowdown(settings: Reliability, log: InputLog) -> Bounds:
    if settings.production_slowdown is None:
        return bounds_of(log, "production-slowdown")
    value = log.take("reliability.production_slowdown", settings.production_slowdown)
    low, high = settings.production_slowdown.bounds
    return low, value, high


def _detection_h(settings: Reliability, log: InputLog) -> Bounds:
    if settings.detection_s is None:
        return bounds_of(log, "detection-h")
    value = log.take("reliability.detection_s", settings.detection_s)
    low, high = settings.detection_s.bounds
    return low / SECONDS_PER_HOUR, value / SECONDS_PER_HOUR, high / SECONDS_PER_HOUR


def _given(log: InputLog, name: str, quantity: Quantity | None) -> float | None:
    return log.take(f"reliability.{name}", quantity) if quantity is not None else None


def bounds_of(log: InputLog, key: str) -> Bounds:
    """Return low, value and high of a reliability parameter, recorded in the log."""
    low, high = log.catalog.get("reliability", key, Parameter).value.bounds
    return low, log.parameter("reliability", key), high
