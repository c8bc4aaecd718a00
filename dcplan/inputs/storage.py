"""Shared storage that a run needs: the tier, its building block, the rates of a service level."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import StorageTier
from dcplan.errors import InputError, Problem, did_you_mean
from dcplan.inputs.log import InputLog
from dcplan.llm.tables import Array
from dcplan.provenance import Quantity
from dcplan.reliability.storage import Block, Demand, Feed, demand, ingest_step_s, level_gb_per_s
from dcplan.scenario.schema import Storage
from dcplan.units import GIGA, TB_PER_PB, TERA

DEFAULT_TIER = "flash-parallel-class"


def tier_of(
    settings: Storage | None, catalog: Catalog, problem: Callable[[str], Problem]
) -> StorageTier:
    """Return the requested tier, or the class tier.

    Raises
    ------
    InputError
        If the catalog does not have the row.
    """
    name = (settings and settings.tier) or DEFAULT_TIER
    row = catalog.find("storage_tiers", name, StorageTier)
    if row is None:
        hint = did_you_mean(name, catalog.rows["storage_tiers"])
        found = problem(f"unknown storage tier {name!r}")
        raise InputError([replace(found, hint=hint, help="dcplan catalog list storage_tiers")])
    return row


def level_of(settings: Storage | None, accelerators: float, log: InputLog) -> tuple[float, float]:
    """Return read and write rates of the service level for a number of accelerators [GB/s]."""
    level = (settings or Storage()).level
    return (
        level_gb_per_s(
            log.parameter("storage", f"storage-read-gb-per-s-per-gpu-{level}"),
            accelerators,
            log.parameter("storage", f"storage-read-gb-per-s-one-node-{level}"),
        ),
        level_gb_per_s(
            log.parameter("storage", f"storage-write-gb-per-s-per-gpu-{level}"),
            accelerators,
            log.parameter("storage", f"storage-write-gb-per-s-one-node-{level}"),
        ),
    )


def bytes_per_token(settings: Storage | None, log: InputLog) -> float:
    """Return the bytes that training reads per token."""
    given = (settings or Storage()).bytes_per_token
    return log.chosen("storage.bytes_per_token", given, "storage", "storage-bytes-per-token")


def unlimited(settings: Storage | None) -> Storage | None:
    """Return the storage without its given capacity, sized for the service level."""
    if settings is None or settings.usable_pb is None:
        return settings
    return settings.model_copy(update={"usable_pb": None})


@dataclass(frozen=True)
class GivenRates:
    """Rates of a storage of given capacity; infinite if the capacity is not given."""

    read_gb_per_s: float = math.inf
    write_gb_per_s: float = math.inf


def given_rates(settings: Storage | None, log: InputLog) -> GivenRates:
    """Return the rates of the blocks that a given capacity fills, fractions allowed."""
    if settings is None or settings.usable_pb is None:
        return GivenRates()
    row = log.catalog.find("storage_tiers", settings.tier or DEFAULT_TIER, StorageTier)
    if row is None:  # the checks of the scenario report the name
        return GivenRates()
    block = block_of(row, log)
    blocks = log.take("storage.usable_pb", settings.usable_pb) * TB_PER_PB / block.usable_tb
    return GivenRates(blocks * block.read_gb_per_s, blocks * block.write_gb_per_s)


def feed_of(settings: Storage | None, accelerators: float, log: InputLog) -> Feed:
    """Return the data feed of storage for a number of accelerators.

    It has the rate of the service level, or that of a given storage if it is lower.
    """
    level = (settings or Storage()).level
    each = log.parameter("storage", f"storage-read-gb-per-s-per-gpu-{level}")
    most = given_rates(settings, log).read_gb_per_s
    return Feed(bytes_per_token(settings, log), min(each * accelerators, most))


class Steps(Protocol):
    """Step times at every count."""

    @property
    def accelerators(self) -> Array:
        """Counts."""

    @property
    def step_time_s(self) -> Array:
        """Step time of each count without waits for data."""

    @property
    def tokens_per_step(self) -> float:
        """Tokens that a step reads."""


def fed_step_s(settings: Storage | None, steps: Steps, log: InputLog) -> Array:
    """Return step times [s], limited by the read rate of storage."""
    level = (settings or Storage()).level
    each = log.parameter("storage", f"storage-read-gb-per-s-per-gpu-{level}")
    return ingest_step_s(
        steps.step_time_s,
        steps.tokens_per_step * bytes_per_token(settings, log),
        np.minimum(each * steps.accelerators, given_rates(settings, log).read_gb_per_s),
    )


def wanted(
    settings: Storage | None,
    accelerators: float,
    tokens: float,
    tokens_per_s: float,
    checkpoint: float,
    log: InputLog,
) -> Demand:
    """Return the storage demand of a run.

    It holds the rates of the level, the data, the checkpoints and the restarts.
    """
    given = settings or Storage()
    each = bytes_per_token(settings, log)
    data = given.dataset_tb
    return demand(
        level_of(settings, accelerators, log),
        dataset_bytes=log.take("storage.dataset_tb", data) * TERA if data else tokens * each,
        ingest_gb_per_s=tokens_per_s * each / GIGA,
        checkpoint_size_bytes=checkpoint,
        kept_checkpoints=log.chosen(
            "storage.kept_checkpoints",
            given.kept_checkpoints,
            "storage",
            "storage-kept-checkpoints",
        ),
        flush_s=log.parameter("storage", "storage-flush-s"),
        load_s=log.parameter("storage", "storage-load-s"),
    )


def block_of(row: StorageTier, log: InputLog) -> Block:
    """Return the building block of a tier.

    Values that its source lacks come from the class values by usable capacity.
    """
    tb = log.take(f"storage_tiers.{row.id}.usable_tb", row.usable_tb)

    def own(name: str, quantity: Quantity | None, otherwise: float) -> float:
        return (
            log.take(f"storage_tiers.{row.id}.{name}", quantity)
            if quantity is not None
            else otherwise
        )

    per_tb = tb / TB_PER_PB
    height = log.parameter("facility", "rack-units")
    return Block(
        usable_tb=tb,
        read_gb_per_s=log.take(f"storage_tiers.{row.id}.read_gb_per_s", row.read_gb_per_s),
        write_gb_per_s=log.take(f"storage_tiers.{row.id}.write_gb_per_s", row.write_gb_per_s),
        kw=own("kw", row.kw, per_tb * log.parameter("storage", "storage-flash-kw-per-pb")),
        rack_units=own(
            "rack_units",
            row.rack_units,
            per_tb / log.parameter("storage", "storage-flash-pb-per-rack") * height,
        ),
        price_usd=own(
            "price_usd",
            row.price_usd,
            tb * log.parameter("storage", "storage-flash-usd-per-usable-tb"),
        ),
        rack_height_units=height,
        min_units=row.min_units,
    )
