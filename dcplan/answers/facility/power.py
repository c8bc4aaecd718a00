"""Efficiency of the power chain, and how often oversubscribed racks exceed the power."""

from __future__ import annotations

from typing import Literal

from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import System
from dcplan.errors import InputError, Place, Problem
from dcplan.facility.electrical.chain import UPS_LOSSES
from dcplan.facility.electrical.power import Stage, through
from dcplan.facility.oversubscription import risk
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.chain import CHAIN
from dcplan.result import Table
from dcplan.specs.facility import hall as specs
from dcplan.units import HOURS_PER_YEAR

UPS = "ups"
LOADS = (0.25, 0.5, 0.75, 1.0)
JOBS = (1, 2, 4, 8, 16, 32, 64)


def stages(ups: str, log: InputLog) -> list[Stage]:
    """Return the stages from utility to chip: transformer, UPS, busway, rack power shelf.

    A chain without a UPS before the racks lacks that stage.
    """
    losses = UPS_LOSSES[ups]
    keys = {
        "transformer": ("chain-transformer-fixed", "chain-transformer-square"),
        UPS: tuple(CHAIN[name] for name in losses or ()),
        "busway": ("chain-busway-square",),
        "power shelf": ("chain-psu-fixed", "chain-psu-square"),
    }
    found = []
    for name, terms in keys.items():
        values = [log.parameter("facility", key) for key in terms]
        if values:
            fixed = values[0] if len(values) > 1 else 0.0
            found.append(Stage(name, fixed, 0.0, values[-1]))
    return found


def efficiency_table(ups: str, log: InputLog) -> Table:
    """Return the efficiency of each stage and of the whole chain by load.

    The whole chain is given for AC, and for 800 V DC in the hall.
    """
    chain, gain = stages(ups, log), log.parameter("facility", "chain-dc-gain")
    rows: list[specs.EfficiencyRow] = []
    for load in LOADS:
        at = {stage.name: stage.efficiency(load) for stage in chain}
        whole = through(chain, [load] * len(chain))
        rows.append(
            specs.EfficiencyRow(
                load_frac=load,
                transformer_frac=at["transformer"],
                ups_frac=at.get(UPS),
                busway_frac=at["busway"],
                power_shelf_frac=at["power shelf"],
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
    shares = [average_frac(system, name, log) for name in ("training", "idle")]
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


def average_frac(system: System, name: Literal["training", "idle"], log: InputLog) -> float:
    """Return the average power of a state of the system over its rated power."""
    own = getattr(system.average_kw, name)
    usual = log.parameter("power", f"average-{name}-frac")
    if own is None or system.rated_kw is None:
        return usual
    return log.take(f"systems.{system.id}.average_kw.{name}", own) / system.rated_kw.value
