"""Shared storage of a plan: the share of each accelerator, and the total need of the jobs."""

from __future__ import annotations

from dataclasses import replace

from dcplan.catalog.schema import StorageTier
from dcplan.errors import Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.storage import block_of, tier_of
from dcplan.planning.problem.terms import Placement, StorageShare
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Storage
from dcplan.units import TB_PER_PB


def _named(question: Question) -> StorageTier:
    def problem(cause: str) -> Problem:
        return question.tree.problem("DC010", cause, ("storage", "tier"))

    return tier_of(question.scenario.storage, question.catalog, problem)


def storage_share(question: Question, log: InputLog) -> StorageShare:
    """Return the storage of one accelerator.

    It covers capacity and the rates of the service level; the larger number of blocks counts.
    """
    wish = question.scenario.storage or Storage()
    row = _named(question)
    block = block_of(row, log)
    tb = log.parameter("storage", "storage-usable-tb-per-accelerator")
    read = log.parameter("storage", f"storage-read-gb-per-s-per-gpu-{wish.level}")
    write = log.parameter("storage", f"storage-write-gb-per-s-per-gpu-{wish.level}")
    parts = {
        "capacity": tb / block.usable_tb,
        "read": read / block.read_gb_per_s,
        "write": write / block.write_gb_per_s,
    }
    binds = max(parts, key=lambda name: parts[name])
    n = parts[binds]
    return StorageShare(
        row.id,
        n,
        n * block.usable_tb,
        n * block.read_gb_per_s,
        n * block.write_gb_per_s,
        n * block.kw,
        n * block.rack_units / block.rack_height_units,
        n * block.price_usd,
        binds,
    )


def with_storage(
    placed: list[Placement], question: Question, log: InputLog
) -> tuple[list[Placement], StorageShare | None]:
    """Return placements with the storage of their racks.

    The share is None if the scenario gives the capacity itself.
    """
    wish = question.scenario.storage
    if wish is not None and wish.usable_pb is not None:
        return placed, None
    share = storage_share(question, log)
    return [
        replace(
            p,
            storage_usd=share.usd * p.accelerators,
            storage_kw=share.kw * p.accelerators,
            storage_racks=share.racks * p.accelerators,
        )
        for p in placed
    ], share


def given_storage(question: Question, log: InputLog) -> tuple[float, float, float]:
    """Return power, racks and price of the given capacity [kW], [-], [USD].

    It is all of the storage, or only that of the given data set.
    """
    wish = question.scenario.storage
    if wish is None or (wish.usable_pb is None and wish.dataset_tb is None):
        return 0.0, 0.0, 0.0
    block = block_of(_named(question), log)
    if wish.usable_pb is not None:
        terabytes = log.take("storage.usable_pb", wish.usable_pb) * TB_PER_PB
    else:
        terabytes = log.take("storage.dataset_tb", wish.dataset_tb) if wish.dataset_tb else 0.0
    blocks = terabytes / block.usable_tb
    return (
        blocks * block.kw,
        blocks * block.rack_units / block.rack_height_units,
        blocks * block.price_usd,
    )
