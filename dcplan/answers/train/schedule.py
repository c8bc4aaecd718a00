"""A run on the calendar: stops, checkpoints, spares, goodput, and how sure the end is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.train.resolve import Asked
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.log import Ledger
from dcplan.inputs.recovery import class_network, machine, policy, stored_bytes
from dcplan.inputs.storage import block_of, tier_of, wanted
from dcplan.llm.tables import Array
from dcplan.reliability.calendar import RunTime
from dcplan.reliability.goodput import POOR_GOODPUT_FRAC, Recovery, Tier
from dcplan.reliability.outlook import Machine, Outlook, Policy, outlook
from dcplan.reliability.rates import Stops
from dcplan.reliability.replay import Hazards, replay
from dcplan.reliability.storage import Feed, build
from dcplan.result import Metric, Table
from dcplan.training.estimate import Sweep
from dcplan.units import GIGA, HOURS_PER_DAY, HOURS_PER_YEAR, TB_PER_PB

REPLICAS, SEED = 1000, 1
MOST_SPARES = 20_000_000
"""Spare units times replicas that are played; beyond, nodes are never lacking anyway."""
PLANNED = "planned-maintenance"
LOSSES = {
    "saves": "checkpoints that block",
    "lost_work": "work since the last checkpoint",
    "restarts": "detection, restart, loading",
    "slow": "slow parts, silent corruption",
    "waiting": "no spare node, power or cooling",
}


@dataclass(frozen=True)
class Calendar:
    """Expectations of one run on one count."""

    run: RunTime
    outlook: Outlook
    policy: Policy
    stops: Stops
    clean_days: float
    size_bytes: float

    def of(self, name: str) -> float:
        """A figure of the outlook at the run's count."""
        return float(np.asarray(getattr(self.outlook, name)).reshape(-1)[0])


def data_of(ledger: Ledger, asked: Asked) -> Feed:
    """Rate at which storage of the asked level feeds the run, and bytes of a token."""
    each = ledger.parameter("storage", f"storage-read-gb-per-s-per-gpu-{asked.storage.level}")
    size = ledger.chosen(
        "storage.bytes_per_token",
        asked.storage.bytes_per_token,
        "storage",
        "storage-bytes-per-token",
    )
    return Feed(size, each * asked.accelerators)


def fed(ledger: Ledger, asked: Asked, swept: Sweep) -> Array:
    """Step times of a sweep where data come no faster than storage of the asked level gives them.
    [s]
    """
    one = data_of(ledger, replace(asked, accelerators=1))
    bytes_per_step = swept.tokens_per_step * one.bytes_per_token
    return np.maximum(
        swept.step_time_s, bytes_per_step / (one.read_gb_per_s * GIGA * swept.accelerators)
    )


def calendar(ledger: Ledger, asked: Asked, group: float, clean_days: float) -> Calendar:
    """What to expect of a run of so many clean days whose largest model-parallel group is
    ``group`` accelerators.
    """
    part, stops, rules = _terms(ledger, asked, asked.accelerators)
    count = np.array([float(asked.accelerators)])
    found = outlook(
        part, rules, count, stored_bytes(asked.shape, asked.spec), np.array([group]), clean_days
    )
    size = stored_bytes(asked.shape, asked.spec)
    return Calendar(
        found.run(clean_days, asked.spec.spread_frac), found, rules, stops, clean_days, size
    )


def run_at(ledger: Ledger, asked: Asked, swept: Sweep, clean_days: Array) -> RunTime:
    """Length of the run at every count of a sweep."""
    part, _, rules = _terms(ledger, asked, int(swept.accelerators[-1]))
    group = np.maximum(
        swept.layouts["tp"] * swept.layouts["cp"], swept.layouts["ep"] * swept.layouts["etp"]
    )
    found = outlook(
        part,
        rules,
        swept.accelerators,
        stored_bytes(asked.shape, asked.spec),
        group / asked.spec.device.ranks,
        clean_days,
    )
    return found.run(clean_days, asked.spec.spread_frac)


def _terms(ledger: Ledger, asked: Asked, accelerators: int) -> tuple[Machine, Stops, Policy]:
    ports = (
        accelerators
        * (asked.system.scaleout_ports or asked.system.accelerators)
        / asked.system.accelerators
    )
    part, stops = machine(asked.system, class_network(ports, ledger), ledger, asked.reliability)
    return part, stops, policy(asked.reliability, asked.storage, ledger)


def storage_table(ledger: Ledger, asked: Asked, found: Calendar, step_s: float) -> Table:
    """What the run asks of shared storage, and the building blocks that give it."""

    def problem(cause: str) -> Problem:
        return Problem("DC010", cause, Place("--storage"))

    row = tier_of(asked.storage, ledger.catalog, problem)
    need = wanted(
        asked.storage,
        asked.accelerators,
        asked.tokens,
        asked.batch_tokens / step_s,
        found.size_bytes,
        ledger,
    )
    tier = build(need, block_of(row, ledger))
    columns = (
        "tier",
        "blocks",
        "sized_by",
        "needed_pb",
        "needed_read_gb_per_s",
        "read_set_by",
        "needed_write_gb_per_s",
        "usable_pb",
        "read_gb_per_s",
        "write_gb_per_s",
        "racks",
        "power_kw",
        "capex_usd",
    )
    values = (
        row.id,
        tier.units,
        tier.binds,
        need.usable_tb / TB_PER_PB,
        need.read_gb_per_s,
        need.binds,
        need.write_gb_per_s,
        tier.usable_tb / TB_PER_PB,
        tier.read_gb_per_s,
        tier.write_gb_per_s,
        tier.racks,
        tier.kw,
        tier.usd,
    )
    return Table(columns, (values,))


def goodput_metrics(found: Calendar) -> dict[str, Metric]:
    """Goodput, stops, checkpoints, spares."""
    good, tier = found.outlook.goodput, found.outlook.recovery.durable
    value, low, high = (
        float(np.asarray(x).reshape(-1)[0]) for x in (good.value, good.low, good.high)
    )
    per_day = found.of("stops_per_day")
    days = float(np.asarray(found.run.p50_days).reshape(-1)[0])
    moving = 1.0 - float(np.asarray(found.outlook.losses.waiting).reshape(-1)[0])
    planned = sum(each for key, _, each in found.stops.by_part if key == PLANNED) / max(
        found.stops.per_day, 1e-30
    )
    save, interval = (float(np.asarray(x).reshape(-1)[0]) for x in (tier.save_s, tier.interval_s))
    spares = found.of("spares")
    return {
        "goodput_frac": Metric(value, "", "Lasting progress over wall-clock time", low, high),
        "production_slowdown": Metric(
            found.outlook.slowdown[1],
            "",
            "Step time in production over the predicted one, as the days count it",
            found.outlook.slowdown[0],
            found.outlook.slowdown[2],
        ),
        "interruptions": Metric(
            per_day * days * moving, "", "Stops expected in the median run time"
        ),
        "interruptions_unplanned": Metric(
            per_day * days * moving * (1.0 - planned), "", "Those that nobody planned"
        ),
        "mttf_h": Metric(24.0 / per_day, "h", "Mean time between stops"),
        "checkpoint.size_tb": Metric(found.size_bytes / 1e12, "TB", "One checkpoint"),
        "checkpoint.save_s": Metric(save, "s", "Training waits for one checkpoint"),
        "checkpoint.interval_s": Metric(interval, "s", "Between checkpoints"),
        "spares.accelerators": Metric(
            spares, "", "Stand by besides those that train, as an owner would hold them"
        ),
    }


def lost_time(found: Calendar) -> list[dict[str, str]]:
    """A word when the run spends more time on stops than on training."""
    value = float(np.asarray(found.outlook.goodput.value).reshape(-1)[0])
    if value >= POOR_GOODPUT_FRAC:
        return []
    lost = {
        name: float(np.asarray(getattr(found.outlook.losses, name)).reshape(-1)[0])
        for name in LOSSES
    }
    most = max(lost, key=lambda name: lost[name])
    hint = {"waiting": "more spares or faster repair", "saves": "faster or rarer checkpoints"}
    mend = hint.get(most, "fewer stops, faster restarts, more frequent checkpoints")
    cause = f"only {value:.1%} of the time makes progress; most is lost to {LOSSES[most]} ({lost[most]:.1%}): {mend}"
    return [{"code": "goodput", "message": cause}]


def calendar_tables(found: Calendar, asked: Asked) -> dict[str, Table]:
    """Where the time goes, what stops the run, what makes its end unsure."""
    wall = float(np.asarray(found.run.p50_days).reshape(-1)[0])
    moving = 1.0 - float(np.asarray(found.outlook.losses.waiting).reshape(-1)[0])
    scale = found.of("stops_per_day") / max(found.stops.per_day, 1e-30)
    lost = found.outlook.losses
    shares = {name: float(np.asarray(getattr(lost, name)).reshape(-1)[0]) for name in LOSSES}
    return {
        "losses": Table(
            ("loss", "share_frac", "days", "of"),
            tuple((name, share, share * wall, LOSSES[name]) for name, share in shares.items()),
        ),
        "stops": Table(
            ("part", "count", "stops_per_day", "stops"),
            tuple(
                (key, count * asked.accelerators, each * scale, each * scale * wall * moving)
                for key, count, each in found.stops.by_part
            ),
        ),
        "uncertainty": Table(
            ("cause", "variance_frac"),
            tuple(
                (name, float(np.asarray(share).reshape(-1)[0]))
                for name, share in found.run.shares.items()
            ),
        ),
    }


def replayed(found: Calendar, asked: Asked, replicas: int = REPLICAS) -> Table:
    """The same run played through stop by stop, beside the closed form."""
    rules, part = found.policy, found.outlook

    def one(tier: Tier | None) -> Tier | None:
        if tier is None:
            return None
        return Tier(
            *(
                float(np.asarray(x).reshape(-1)[0])
                for x in (tier.save_s, tier.interval_s, tier.restart_s)
            )
        )

    durable = one(part.recovery.durable)
    if durable is None:  # never: every outlook has one
        msg = "no durable tier"
        raise ValueError(msg)
    per_day = found.of("stops_per_day")
    units = part.units[0]
    # spared as nodes, groups or domains: the rate at which such a unit goes, so that as many are in
    # repair
    taken = (
        min(units.mean_down / (rules.repair_h / HOURS_PER_DAY) / per_day, 1.0)
        if rules.repair_h
        else 0.0
    )
    if rules.provider_spares or units.units * replicas > MOST_SPARES:
        taken = 0.0
    hazards = Hazards(
        per_day, taken, units.units if taken else 0, rules.repair_h, restart_spread=0.5
    )
    recovery = Recovery(durable, one(part.recovery.peer), part.recovery.peer_frac)
    try:
        played = replay(found.clean_days, recovery, hazards, replicas, SEED)
    except ValueError as error:
        raise InputError(
            [Problem("DC050", str(error), Place("--replicas"), help="leave --replicas out")]
        ) from error
    lost = {name: float(np.asarray(getattr(part.losses, name)).reshape(-1)[0]) for name in LOSSES}
    # outages and slow parts are not played
    kept = 1.0 - lost["saves"] - lost["lost_work"] - lost["restarts"]
    short = (
        lost["waiting"] / max(kept - lost["slow"], 1e-9) - rules.outage_h_per_year / HOURS_PER_YEAR
    )
    closed = kept * (1.0 - max(short, 0.0))
    p10, p50, p90 = (float(x) for x in np.quantile(played.days, (0.1, 0.5, 0.9)))
    return Table(
        (
            "replicas",
            "played_frac",
            "closed_form_frac",
            "p10_days",
            "p50_days",
            "p90_days",
            "stops",
            "waited_days",
        ),
        (
            (
                replicas,
                played.goodput_frac(found.clean_days),
                closed,
                p10,
                p50,
                p90,
                float(played.stops.mean()),
                float(played.waited_days.mean()),
            ),
        ),
    )
