"""Load swings of a training job against a ramp limit, and the storage that smooths them."""

from __future__ import annotations

import math
from dataclasses import replace

from dcplan.answers.facility.heat_rejection import run_metrics
from dcplan.answers.facility.power import average_frac
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.answers.train.answer import train
from dcplan.catalog.schema import System
from dcplan.errors import InputError, Place, Problem
from dcplan.facility.swings import Step, events, remedy, stored, swing
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity
from dcplan.result import Metric, Result, Table
from dcplan.specs.facility import hall as specs
from dcplan.specs.train.layouts import BREAKDOWN
from dcplan.units import HOURS_PER_YEAR, KW_PER_MW, SECONDS_PER_HOUR

PLACES = {"train": "--job", "--global-batch-tokens": "--job-batch-tokens"}
"""Places of errors of ``dcplan train`` in the flags of a hall."""
TOGETHER = ("data_parallel", "optimizer", "straggler")
"""Parts of a step in which all accelerators wait or exchange data."""
NO_MEASURE = specs.SwingRow("no measure necessary: the ramp is within the limit")


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
    system, rated_kw = _system(resolved)
    count = _count(resolved, system, rated_kw, existing)
    found = _trained(job, resolved, system, count * system.accelerators)
    run = run_metrics(
        hall,
        resolved,
        found.value("train.days_p50"),
        found.value("train.energy_mwh"),
        count * system.accelerators,
        log,
    )
    high = count * rated_kw / KW_PER_MW
    step = _step(found, high, log)
    s = swing(step)
    label = f"Share of the step of {job} in which all accelerators wait or exchange data"
    metrics = {
        **specs.SWING_AMPLITUDE(s.amplitude_mw),
        **specs.SWING_FREQUENCY(s.frequency_hz),
        **specs.SWING_RAMP(s.ramp_mw_per_s),
        **specs.SWING_LOW_POWER(step.low_share, label=label),
    }
    asked = resolved.request.ramp_limit_mw_per_s
    limit = 0.0 if asked is None else asked
    within = asked is not None and s.ramp_mw_per_s <= limit
    usd = resolved.where.site.usd_per_kwh if resolved.where.site else None
    idle_mw = high * average_frac(system, "idle", log)
    tables = {
        "load_swings": specs.SWINGS.table([NO_MEASURE] if within else _measures(step, limit, usd)),
        "swing_events": _events(step, idle_mw, limit, log),
    }
    return tables, metrics | run


def _trained(job: str, resolved: ResolvedFacility, system: System, accelerators: int) -> Result:
    """Return the estimate of the job on the hall's accelerators; errors name the flags of the hall."""
    try:
        return train(
            job,
            system=system.id,
            accelerators=accelerators,
            global_batch_tokens=resolved.request.job_batch_tokens,
            catalogs=resolved.request.catalogs,
        )
    except InputError as error:
        raise InputError(
            [
                replace(p, place=Place(PLACES[p.place.path]))
                if p.place and p.place.path in PLACES
                else p
                for p in error.problems
            ]
        ) from error


def _system(resolved: ResolvedFacility) -> tuple[System, float]:
    """Return the system of the hall and its rated power [kW], which must be known."""
    system = resolved.system
    if system is None or system.rated_kw is None:
        cause = "--job needs a system with a known power"
        raise InputError([Problem("DC062", cause, Place("--job"), help="--system gb300-nvl72")])
    return system, system.rated_kw.value


def _count(resolved: ResolvedFacility, system: System, rated_kw: float, existing: int) -> int:
    """Return the systems that the job uses: at least one."""
    count = int(existing * resolved.load) // system.accelerators
    if not count:
        it_mw = resolved.it_mw * resolved.load
        cause = f"{it_mw:g} MW of IT power is not enough for one {system.id} of {rated_kw:g} kW"
        raise InputError([Problem("DC062", cause, Place("--job"), help="set a larger --it-mw")])
    return count


def _step(found: Result, high_mw: float, log: InputLog) -> Step:
    """Return the power profile of a step of the estimated run."""
    parts = BREAKDOWN.rows(found.tables[BREAKDOWN.name])
    breakdown = {row.part: row.share_frac for row in parts}
    return Step(
        found.value("train.step_time_s"),
        sum(breakdown.get(name, 0.0) for name in TOGETHER),
        high_mw,
        high_mw * log.parameter("facility", "swing-low-frac"),
        log.parameter("facility", "swing-edge-s"),
    )


def _measures(step: Step, limit: float, usd_per_kwh: Quantity | None) -> list[specs.SwingRow]:
    """Return the measures that keep the ramp limit, which is in MW/s, with their energy cost."""
    r = remedy(step, limit)
    yearly = r.extra_mw * HOURS_PER_YEAR * KW_PER_MW * usd_per_kwh.value if usd_per_kwh else None
    return [
        specs.SwingRow(
            "energy storage for one step, in racks or a battery",
            store_mw=r.store_mw,
            store_kwh=r.store_kwh,
        ),
        specs.SwingRow(
            "power floor", floor_mw=r.floor_mw, extra_mean_mw=r.extra_mw, energy_usd_per_year=yearly
        ),
    ]


def _events(step: Step, idle_mw: float, limit: float, log: InputLog) -> Table:
    """Return the storage of a step, a checkpoint, a restart and the end of the job."""
    pause_s = log.parameter("reliability", "checkpoint-pause-s")
    restart_s = log.parameter("reliability", "restart-h") * SECONDS_PER_HOUR
    found = [(x, stored(x, limit, step.edge_s)) for x in events(step, idle_mw, pause_s, restart_s)]
    return specs.SWING_EVENTS.table(
        specs.SwingEventRow(
            event=event.name,
            fall_mw=event.fall_mw,
            lasts_s=event.lasts_s if math.isfinite(event.lasts_s) else None,
            store_mw=storage.mw,
            store_kwh=storage.kwh,
        )
        for event, storage in found
    )
