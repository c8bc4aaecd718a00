"""Tables of a run's calendar: time losses, interruptions, variance and storage."""

from __future__ import annotations

from dcplan.answers.train.resolve import TrainRun
from dcplan.answers.train.schedule import Calendar, first
from dcplan.errors import Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.storage import block_of, tier_of, wanted
from dcplan.reliability.storage import Block, Built, Demand, build, in_blocks
from dcplan.result import Table
from dcplan.specs.train import run as run_specs
from dcplan.specs.train.words import CAUSES, LOSSES, PRODUCTION, in_words
from dcplan.units import TB_PER_PB


def calendar_tables(found: Calendar, run: TrainRun) -> dict[str, Table]:
    """Return time losses, interruptions, and the variance of the finish date by cause."""
    wall, moving = found.p50_days, 1.0 - found.lost["waiting"]
    losses = [
        run_specs.TimeLossRow(name, LOSSES[name], share, share * wall)
        for name, share in (found.lost | {PRODUCTION: found.production_frac}).items()
    ]
    stops = [
        run_specs.InterruptionRow(
            part=key, count=count * run.accelerators, stops_per_day=each, stops=each * wall * moving
        )
        for key, count, each in (
            (key, count, found.stops_of(key, each)) for key, count, each in found.stops.by_part
        )
    ]
    causes = [
        run_specs.UncertaintyRow(name, in_words(CAUSES, name), first(x))
        for name, x in found.run.shares.items()
    ]
    return {
        run_specs.LOSSES.name: run_specs.LOSSES.table(losses),
        run_specs.INTERRUPTIONS_BY_COMPONENT.name: run_specs.INTERRUPTIONS_BY_COMPONENT.table(
            stops
        ),
        run_specs.UNCERTAINTY.name: run_specs.UNCERTAINTY.table(causes),
    }


def storage_table(log: InputLog, run: TrainRun, found: Calendar, step_s: float) -> Table:
    """Return the run's requirements for shared storage, and the building blocks."""

    def problem(cause: str) -> Problem:
        return Problem("DC010", cause, Place("--storage"))

    row = tier_of(run.storage, log.catalog, problem)
    rate, size = run.batch_tokens / step_s, found.size_bytes
    need = wanted(run.storage, run.accelerators, run.tokens, rate, size, log)
    tier = _built(log, run, need, block_of(row, log))
    values = run_specs.RunStorageRow(
        tier=row.id,
        blocks=tier.units,
        sized_by=tier.binds,
        required_pb=need.usable_tb / TB_PER_PB,
        required_read_gb_per_s=need.read_gb_per_s,
        read_set_by=need.binds,
        required_write_gb_per_s=need.write_gb_per_s,
        usable_pb=tier.usable_tb / TB_PER_PB,
        read_gb_per_s=tier.read_gb_per_s,
        write_gb_per_s=tier.write_gb_per_s,
        racks=tier.racks,
        power_kw=tier.kw,
        capex_usd=tier.usd,
    )
    return run_specs.RUN_STORAGE.table([values])


def _built(log: InputLog, run: TrainRun, need: Demand, block: Block) -> Built:
    """Return the blocks for the requirements, or those that a given capacity fills."""
    given = run.storage.usable_pb
    if given is None:
        return build(need, block)
    blocks = log.take("storage.usable_pb", given) * TB_PER_PB / block.usable_tb
    return in_blocks(blocks, block, "usable_pb")
