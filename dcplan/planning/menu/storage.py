"""Shared storage of a plan: what each accelerator adds, and what the jobs need in all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import StorageTier
from dcplan.errors import InputError, Problem, did_you_mean
from dcplan.planning.menu.ledger import Ledger
from dcplan.planning.menu.types import Placement, StorageShare
from dcplan.provenance import Quantity
from dcplan.reliability.storage import RACK_UNITS, Block, Demand, demand, level_gb_per_s
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Storage
from dcplan.units import TB_PER_PB

DEFAULT_TIER = "flash-parallel-class"
BYTES_PER_GB, BYTES_PER_TB = 1e9, 1e12


def tier_of(wish: Storage | None, catalog: Catalog, problem: Callable[[str], Problem]) -> StorageTier:
    """The tier that is wished for, or the class one.

    Raises
    ------
    InputError
        When the catalog has no such row.
    """
    name = (wish and wish.tier) or DEFAULT_TIER
    row = catalog.find("storage_tiers", name, StorageTier)
    if row is None:
        hint = did_you_mean(name, catalog.rows["storage_tiers"])
        found = problem(f"no storage tier {name!r}")
        raise InputError([replace(found, hint=hint, help="dcplan catalog list storage_tiers")])
    return row


def _named(question: Question) -> StorageTier:
    def problem(cause: str) -> Problem:
        return question.tree.problem("DC010", cause, ("storage", "tier"))

    return tier_of(question.scenario.storage, question.catalog, problem)


def level_of(wish: Storage | None, accelerators: float, ledger: Ledger) -> tuple[float, float]:
    """Read and write rate of the service level for so many accelerators. [GB/s]"""
    level = (wish or Storage()).level
    return (
        level_gb_per_s(
            ledger.parameter("storage", f"storage-read-gb-per-s-per-gpu-{level}"),
            accelerators,
            ledger.parameter("storage", f"storage-read-gb-per-s-one-node-{level}"),
        ),
        level_gb_per_s(
            ledger.parameter("storage", f"storage-write-gb-per-s-per-gpu-{level}"),
            accelerators,
            ledger.parameter("storage", f"storage-write-gb-per-s-one-node-{level}"),
        ),
    )


def bytes_per_token(wish: Storage | None, ledger: Ledger) -> float:
    """Bytes that training reads for one token."""
    given = (wish or Storage()).bytes_per_token
    return ledger.chosen("storage.bytes_per_token", given, "storage", "storage-bytes-per-token")


def wanted(
    wish: Storage | None, accelerators: float, tokens: float, tokens_per_s: float, checkpoint: float, ledger: Ledger
) -> Demand:
    """What a run asks of storage: the level's rates, its data, its checkpoints, its restarts."""
    given = wish or Storage()
    each = bytes_per_token(wish, ledger)
    data = given.dataset_tb
    return demand(
        level_of(wish, accelerators, ledger),
        dataset_bytes=ledger.take("storage.dataset_tb", data) * BYTES_PER_TB if data else tokens * each,
        ingest_gb_per_s=tokens_per_s * each / BYTES_PER_GB,
        checkpoint_size_bytes=checkpoint,
        kept_checkpoints=ledger.chosen(
            "storage.kept_checkpoints", given.kept_checkpoints, "storage", "storage-kept-checkpoints"
        ),
        flush_s=ledger.parameter("storage", "storage-flush-s"),
        load_s=ledger.parameter("storage", "storage-load-s"),
    )


def block_of(row: StorageTier, ledger: Ledger) -> Block:
    """Building block of a tier; what its source lacks comes from the class values by usable capacity."""
    tb = ledger.take(f"storage_tiers.{row.id}.usable_tb", row.usable_tb)

    def own(name: str, quantity: Quantity | None, otherwise: float) -> float:
        return ledger.take(f"storage_tiers.{row.id}.{name}", quantity) if quantity is not None else otherwise

    per_tb = tb / TB_PER_PB
    return Block(
        usable_tb=tb,
        read_gb_per_s=ledger.take(f"storage_tiers.{row.id}.read_gb_per_s", row.read_gb_per_s),
        write_gb_per_s=ledger.take(f"storage_tiers.{row.id}.write_gb_per_s", row.write_gb_per_s),
        kw=own("kw", row.kw, per_tb * ledger.parameter("storage", "storage-flash-kw-per-pb")),
        rack_units=own(
            "rack_units", row.rack_units, per_tb / ledger.parameter("storage", "storage-flash-pb-per-rack") * RACK_UNITS
        ),
        price_usd=own("price_usd", row.price_usd, tb * ledger.parameter("storage", "storage-flash-usd-per-usable-tb")),
        min_units=row.min_units,
    )


def storage_share(question: Question, ledger: Ledger) -> StorageShare:
    """Storage for one accelerator: capacity and the rates of the service level, whichever takes more blocks."""
    wish = question.scenario.storage or Storage()
    row = _named(question)
    block = block_of(row, ledger)
    tb = ledger.parameter("storage", "storage-usable-tb-per-accelerator")
    read = ledger.parameter("storage", f"storage-read-gb-per-s-per-gpu-{wish.level}")
    write = ledger.parameter("storage", f"storage-write-gb-per-s-per-gpu-{wish.level}")
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
        n * block.rack_units / RACK_UNITS,
        n * block.price_usd,
        binds,
    )


def with_storage(
    placed: list[Placement], question: Question, ledger: Ledger
) -> tuple[list[Placement], StorageShare | None]:
    """Racks with the storage that comes with them; none where the scenario gives the capacity itself."""
    wish = question.scenario.storage
    if wish is not None and wish.usable_pb is not None:
        return placed, None
    share = storage_share(question, ledger)
    return [
        replace(
            p,
            storage_usd=share.usd * p.accelerators,
            storage_kw=share.kw * p.accelerators,
            storage_racks=share.racks * p.accelerators,
        )
        for p in placed
    ], share


def given_storage(question: Question, ledger: Ledger) -> tuple[float, float, float]:
    """Power, racks and price of the capacity that the scenario gives: all of it, or its data set's. [kW], [-], [USD]"""
    wish = question.scenario.storage
    if wish is None or (wish.usable_pb is None and wish.dataset_tb is None):
        return 0.0, 0.0, 0.0
    block = block_of(_named(question), ledger)
    if wish.usable_pb is not None:
        terabytes = ledger.take("storage.usable_pb", wish.usable_pb) * TB_PER_PB
    else:
        terabytes = ledger.take("storage.dataset_tb", wish.dataset_tb) if wish.dataset_tb else 0.0
    blocks = terabytes / block.usable_tb
    return blocks * block.kw, blocks * block.rack_units / RACK_UNITS, blocks * block.price_usd
