"""Simulation of a run's failures, compared with the analytic model."""

from __future__ import annotations

import numpy as np

from dcplan.answers.train.schedule import Calendar, first
from dcplan.errors import InputError, Place, Problem
from dcplan.reliability.goodput import Recovery, Tier
from dcplan.reliability.simulation import Hazards, simulate
from dcplan.result import Table
from dcplan.specs.train import run as specs
from dcplan.units import HOURS_PER_DAY

SEED = 1
MOST_SPARES = 20_000_000
"""Largest product of spare units and replicas to simulate; above it, spares never run out."""


def simulated(found: Calendar, replicas: int) -> Table:
    """Simulate a run so many times.

    Raises
    ------
    InputError
        When a run makes almost no progress, so that its simulation would not end.
    """
    if found.outlook.elastic:
        cause = "the simulation knows only stops of the complete job, no elastic replicas"
        help_text = "omit --simulations, or replica-accelerators of --reliability"
        raise InputError([Problem("DC050", cause, Place("--simulations"), help=help_text)])
    try:
        simulation = simulate(
            found.clean_days, _recovery(found), _hazards(found, replicas), replicas, SEED
        )
    except ValueError as error:
        raise InputError(
            [Problem("DC050", str(error), Place("--simulations"), help="omit --simulations")]
        ) from error
    p10, p50, p90 = (float(x) for x in np.quantile(simulation.days, (0.1, 0.5, 0.9)))
    row = specs.FailureSimulationRow(
        replicas=replicas,
        simulated_goodput_frac=simulation.goodput_frac(found.clean_days),
        analytic_goodput_frac=_closed_form_frac(found),
        days_p10=p10,
        days_p50=p50,
        days_p90=p90,
        stops=float(simulation.stops.mean()),
        wait_days=float(simulation.waited_days.mean()),
    )
    return specs.FAILURE_SIMULATION.table([row])


def _recovery(found: Calendar) -> Recovery:
    recovery = found.outlook.recovery
    durable = _tier(recovery.durable)
    if durable is None:  # unreachable: every outlook has one
        msg = "no durable tier"
        raise ValueError(msg)
    return Recovery(durable, _tier(recovery.peer), recovery.peer_frac)


def _tier(tier: Tier | None) -> Tier | None:
    if tier is None:
        return None
    return Tier(*(first(x) for x in (tier.save_s, tier.interval_s, tier.restart_s)))


def _hazards(found: Calendar, replicas: int) -> Hazards:
    """Return interruptions of the run and the rate at which spared units fail.

    Spared units are nodes, groups or domains; this rate reproduces the mean number in repair.
    """
    rules, units, per_day = found.policy, found.outlook.units[0], found.of("stops_per_day")
    taken = 0.0
    if rules.repair_h:
        taken = min(units.mean_down / (rules.repair_h / HOURS_PER_DAY) / per_day, 1.0)
    if rules.provider_spares or units.units * replicas > MOST_SPARES:
        taken = 0.0
    spares = units.units if taken else 0
    return Hazards(per_day, taken, spares, rules.repair_h, restart_spread=0.5)


def _closed_form_frac(found: Calendar) -> float:
    """Return goodput by the analytic model for the simulated causes: no outages, no slow parts."""
    lost = found.lost
    kept = 1.0 - lost["saves"] - lost["lost_work"] - lost["restarts"]
    outage = found.policy.outage_frac
    short = lost["waiting"] / max(kept - lost["slow"], 1e-9) - outage
    return kept * (1.0 - max(short, 0.0))
