"""Shared storage of a plan: the share of each accelerator, and the total need of the jobs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dcplan.catalog.schema import StorageTier
from dcplan.errors import Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.storage import block_of, tier_of
from dcplan.planning.problem.storage_tiers import TierNeed, TierPrices, cheapest, hot_share
from dcplan.planning.problem.terms import (
    ALL_DATA,
    HallTerms,
    Placement,
    StorageChoice,
    StorageShare,
)
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Storage
from dcplan.units import TB_PER_PB

RACK_TOLERANCE = 1e-4
"""Rack positions below which a given storage takes none: solvers cannot resolve less."""


@dataclass(frozen=True)
class PlanStorage:
    """Storage of each accelerator by tier, and the choices it was taken from."""

    shares: tuple[StorageShare, ...] = ()
    choices: tuple[StorageChoice, ...] = ()


def _named(question: Question) -> StorageTier:
    def problem(cause: str) -> Problem:
        return question.tree.problem("DC010", cause, ("storage", "tier"))

    return tier_of(question.scenario.storage, question.catalog, problem)


def _need(question: Question, log: InputLog) -> TierNeed:
    """Return capacity and rates of one accelerator at the service level."""
    wish = question.scenario.storage or Storage()
    chooses = wish.tiers is not None
    return TierNeed(
        log.parameter("storage", "storage-usable-tb-per-accelerator"),
        log.chosen("storage.hot_frac", wish.hot_frac, "storage", "storage-hot-frac")
        if chooses
        else 1.0,
        log.parameter("storage", f"storage-read-gb-per-s-per-gpu-{wish.level}"),
        log.parameter("storage", f"storage-write-gb-per-s-per-gpu-{wish.level}"),
        log.parameter("storage", "storage-cold-copy-days") if chooses else 1.0,
    )


def storage_share(question: Question, log: InputLog) -> StorageShare:
    """Return the storage of one accelerator on the given tier.

    It covers capacity and the rates of the service level; the larger number of blocks counts.
    """
    row = _named(question)
    block = block_of(row, log)
    need = _need(question, log)
    return hot_share(row.id, block, need, need.usable_tb, ALL_DATA)


def chosen_storage(question: Question, log: InputLog, prices: TierPrices) -> PlanStorage:
    """Return the storage of one accelerator: on the given tier, or on the cheapest of the tiers.

    It is empty if the scenario gives the capacity itself.
    """
    wish = question.scenario.storage
    if wish is not None and wish.usable_pb is not None:
        return PlanStorage()
    if wish is None or wish.tiers is None:
        return PlanStorage((storage_share(question, log),))
    table = question.catalog.table("storage_tiers", StorageTier)
    names = table if wish.tiers == "all" else wish.tiers
    rows = {x.id: x for n in names if (x := question.catalog.get("storage_tiers", n, StorageTier))}
    # only the chosen tiers enter the inputs of the answer
    blocks = {
        k: block_of(row, InputLog(question.catalog))
        for k, row in rows.items()
        if row.kind != "local"
    }
    shares, choices = cheapest(blocks, _need(question, log), prices)
    for share in shares:
        block_of(rows[share.tier], log)
    return PlanStorage(shares, choices)


def with_storage(placed: list[Placement], storage: PlanStorage) -> list[Placement]:
    """Return placements with the storage of their racks."""
    if not storage.shares:
        return placed
    usd, kw, racks = (
        sum(getattr(s, name) for s in storage.shares) for name in ("usd", "kw", "racks")
    )
    blocks = [(s.tier, s.blocks) for s in storage.shares] if storage.choices else []
    return [
        replace(
            p,
            storage_usd=usd * p.accelerators,
            storage_kw=kw * p.accelerators,
            storage_racks=racks * p.accelerators,
            storage_blocks=tuple((tier, n * p.accelerators) for tier, n in blocks),
        )
        for p in placed
    ]


def with_data_set(
    hall: HallTerms, question: Question, log: InputLog, storage: PlanStorage
) -> HallTerms:
    """Return a hall with the given data set on the tiers that the plan chose, by capacity.

    The cold tier stages its part ahead of the run: it copies all its data in less time.
    """
    wish = question.scenario.storage
    if wish is None or wish.dataset_tb is None or not storage.choices:
        return hall
    total, cold = wish.dataset_tb.value, cold_data_tb(question, log)
    parts = (total,) if len(storage.shares) == 1 else (total - cold, cold)
    scaled = [(s, tb / s.usable_tb) for s, tb in zip(storage.shares, parts, strict=True)]
    return replace(
        hall,
        storage_kw=sum(s.kw * n for s, n in scaled),
        storage_racks=sum(s.racks * n for s, n in scaled),
        storage_usd=sum(s.usd * n for s, n in scaled),
        storage_tb=parts,
        storage_blocks=tuple((s.tier, s.blocks * n) for s, n in scaled),
    )


def cold_data_tb(question: Question, log: InputLog) -> float:
    """Return the part of the given data set that no hot tier must hold [TB]."""
    wish = question.scenario.storage
    if wish is None or wish.tiers is None or wish.dataset_tb is None:
        return 0.0
    hot = log.chosen("storage.hot_frac", wish.hot_frac, "storage", "storage-hot-frac")
    return wish.dataset_tb.value * (1.0 - hot)


def given_storage(question: Question, log: InputLog) -> tuple[float, float, float]:
    """Return power, racks and price of the given capacity [kW], [-], [USD].

    It is all of the storage, or only that of the given data set. Where the plan chooses tiers, the
    data set is on the hot one, which is known later.
    """
    wish = question.scenario.storage
    if wish is None or (wish.usable_pb is None and wish.dataset_tb is None):
        return 0.0, 0.0, 0.0
    if wish.usable_pb is not None:
        terabytes = log.take("storage.usable_pb", wish.usable_pb) * TB_PER_PB
    else:
        terabytes = log.take("storage.dataset_tb", wish.dataset_tb) if wish.dataset_tb else 0.0
    if wish.tiers is not None:
        return 0.0, 0.0, 0.0
    block = block_of(_named(question), log)
    blocks = terabytes / block.usable_tb
    racks = blocks * block.rack_units / block.rack_height_units
    return blocks * block.kw, racks if racks > RACK_TOLERANCE else 0.0, blocks * block.price_usd
