"""Efficiency of the power chain, and load swings of a training job against a ramp limit."""

from __future__ import annotations

import math
from typing import Literal

from dcplan.answers.facility.heat_rejection import run_metrics
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.answers.train.answer import train
from dcplan.catalog.schema import System
from dcplan.errors import InputError, Place, Problem
from dcplan.facility.electrical.power import Stage, through
from dcplan.facility.oversubscription import risk
from dcplan.facility.swings import Step, event_kwh, remedy, swing
from dcplan.inputs.cooling import Performance
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Table
from dcplan.specs.facility import hall as specs
from dcplan.specs.train.layouts import BREAKDOWN
from dcplan.units import HOURS_PER_YEAR, KW_PER_MW, SECONDS_PER_HOUR

TERMS = (
    "transformer-fixed",
    "transformer-square",
    "ups-fixed",
    "ups-square",
    "busway-square",
    "psu-fixed",
    "psu-square",
)
LOADS = (0.25, 0.5, 0.75, 1.0)
JOBS = (1, 2, 4, 8, 16, 32, 64)
TOGETHER = ("data_parallel", "optimizer", "straggler")
"""Parts of a step in which all accelerators wait or exchange data."""


def stages(log: InputLog) -> list[Stage]:
    """Return the stages from utility to chip: transformer, UPS, busway, rack power shelf."""
    p = {key: log.parameter("facility", f"chain-{key}") for key in TERMS}
    return [
        Stage("transformer", p["transformer-fixed"], 0.0, p["transformer-square"]),
        Stage("ups", p["ups-fixed"], 0.0, p["ups-square"]),
        Stage("busway", 0.0, 0.0, p["busway-square"]),
        Stage("power shelf", p["psu-fixed"], 0.0, p["psu-square"]),
    ]


def efficiency_table(log: InputLog) -> Table:
    """Return the efficiency of each stage and of the whole chain by load.

    The whole chain is given for AC, and for 800 V DC in the hall.
    """
    chain, gain = stages(log), log.parameter("facility", "chain-dc-gain")
    rows: list[specs.EfficiencyRow] = []
    for load in LOADS:
        transformer, ups, busway, shelf = (stage.efficiency(load) for stage in chain)
        whole = through(chain, [load] * len(chain))
        rows.append(
            specs.EfficiencyRow(
                load_frac=load,
                transformer_frac=transformer,
                ups_frac=ups,
                busway_frac=busway,
                power_shelf_frac=shelf,
                ac_chain_frac=whole,
                dc_800_chain_frac=min(whole * gain, 1.0),
            )
        )
    return specs.POWER_CHAIN.table(rows)


def oversubscribed(resolved: ResolvedFacility, ratio: float, log: InputLog) -> Table:
    """Return how often racks exceed the hall's IT power, by number of equal jobs.

    The rated power of the racks is ``ratio`` times that power.

    Raises
    ------
    InputError
        When no system with a known power is given.
    """
    system = resolved.system
    if system is None or system.rated_kw is None:
        cause = "--oversubscription needs a system with a known power"
        raise InputError(
            [Problem("DC062", cause, Place("--oversubscription"), help="--system gb300-nvl72")]
        )
    shares = [_average_frac(system, name, log) for name in ("training", "idle")]
    rows: list[specs.OversubscriptionRow] = []
    for jobs in JOBS:
        r = risk(jobs, resolved.request.duty_cycle, shares[0], shares[1], ratio)
        rows.append(
            specs.OversubscriptionRow(
                jobs=jobs,
                over_frac=r.over_frac,
                over_h_per_year=r.over_frac * HOURS_PER_YEAR,
                mean_over_mw=resolved.it_mw * r.mean_over_frac,
                worst_over_mw=resolved.it_mw * max(r.worst_frac - 1.0, 0.0),
            )
        )
    return specs.OVERSUBSCRIPTION.table(rows)


def _average_frac(system: System, name: Literal["training", "idle"], log: InputLog) -> float:
    """Return the average power of a state of the system over its rated power."""
    own = getattr(system.average_kw, name)
    usual = log.parameter("power", f"average-{name}-frac")
    if own is None or system.rated_kw is None:
        return usual
    return log.take(f"systems.{system.id}.average_kw.{name}", own) / system.rated_kw.value


def _events(step: Step, idle_mw: float, limit: float, log: InputLog) -> Table:
    """Return the storage of a step, a checkpoint, a restart and the end of the job."""
    wait_mw = step.high_mw - step.low_mw
    stop_mw = step.high_mw - idle_mw
    pause_s = log.parameter("reliability", "checkpoint-pause-s")
    restart_s = log.parameter("reliability", "restart-h") * SECONDS_PER_HOUR
    events = (
        ("one training step", wait_mw, step.low_share * step.period_s),
        ("checkpoint pause", wait_mw, pause_s),
        ("restart after a failure", stop_mw, restart_s),
        ("end of the job", stop_mw, math.inf),
    )
    return specs.SWING_EVENTS.table(
        specs.SwingEventRow(
            event=name,
            fall_mw=fall,
            lasts_s=lasts if math.isfinite(lasts) else None,
            store_mw=fall,
            store_kwh=event_kwh(fall, lasts, limit),
        )
        for name, fall, lasts in events
    )


def swings(
    resolved: ResolvedFacility, hall: Performance, job: str, existing: int, log: InputLog
) -> tuple[dict[str, Table], dict[str, Metric]]:
    """Return the load swings of a job, options to meet a ramp limit, and the run's footprint.

    The job uses the hall's accelerators, scaled by the load; network and storage have constant
    power.

    Raises
    ------
    InputError
        When no system is given, its training power is unknown, or the hall has none.
    """
    system = resolved.system
    if system is None or system.rated_kw is None:
        cause = "--job needs a system with a known power"
        raise InputError([Problem("DC062", cause, Place("--job"), help="--system gb300-nvl72")])
    count = int(existing * resolved.load) // system.accelerators
    if not count:
        it_mw, each_kw = resolved.it_mw * resolved.load, system.rated_kw.value
        cause = f"{it_mw:g} MW of IT power is not enough for one {system.id} of {each_kw:g} kW"
        raise InputError([Problem("DC062", cause, Place("--job"), help="set a larger --it-mw")])
    found = train(
        job,
        system=system.id,
        accelerators=count * system.accelerators,
        global_batch_tokens=resolved.request.job_batch_tokens,
        catalogs=resolved.request.catalogs,
    )
    parts = BREAKDOWN.rows(found.tables[BREAKDOWN.name])
    breakdown = {row.part: row.share_frac for row in parts}
    run = run_metrics(
        hall,
        resolved,
        found.value("train.days_p50"),
        found.value("train.energy_mwh"),
        count * system.accelerators,
        log,
    )
    low_share = sum(breakdown.get(name, 0.0) for name in TOGETHER)
    high = count * system.rated_kw.value / KW_PER_MW
    step = Step(
        found.value("train.step_time_s"),
        low_share,
        high,
        high * log.parameter("facility", "swing-low-frac"),
        log.parameter("facility", "swing-edge-s"),
    )
    s = swing(step)
    label = f"Share of the step of {job} in which all accelerators wait or exchange data"
    metrics = {
        **specs.SWING_AMPLITUDE(s.amplitude_mw),
        **specs.SWING_FREQUENCY(s.frequency_hz),
        **specs.SWING_RAMP(s.ramp_mw_per_s),
        **specs.SWING_LOW_POWER(low_share, label=label),
    }
    asked = resolved.request.ramp_limit_mw_per_s
    limit = 0.0 if asked is None else asked
    r = remedy(step, limit)
    price = resolved.where.site.usd_per_kwh if resolved.where.site else None
    yearly = r.extra_mw * HOURS_PER_YEAR * KW_PER_MW * price.value if price else None
    rows = [
        specs.SwingRow(
            "energy storage for one step, in racks or a battery",
            store_mw=r.store_mw,
            store_kwh=r.store_kwh,
        ),
        specs.SwingRow(
            "power floor", floor_mw=r.floor_mw, extra_mean_mw=r.extra_mw, energy_usd_per_year=yearly
        ),
    ]
    if asked is not None and s.ramp_mw_per_s <= limit:
        rows = [specs.SwingRow("no measure necessary: the ramp is within the limit")]
    idle_mw = high * _average_frac(system, "idle", log)
    tables = {
        "load_swings": specs.SWINGS.table(rows),
        "swing_events": _events(step, idle_mw, limit, log),
    }
    return tables, metrics | run
