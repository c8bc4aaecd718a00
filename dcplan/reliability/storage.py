"""Shared storage of a cluster: required rates and capacity, and the number of building blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dcplan.llm.tables import Array
from dcplan.units import GIGA, TERA


@dataclass(frozen=True)
class Demand:
    """Requirements of storage."""

    read_gb_per_s: float
    write_gb_per_s: float
    usable_tb: float
    binds: str
    """Requirement that sets the read rate: ``level``, ``ingest`` or ``restart``."""


@dataclass(frozen=True)
class Block:
    """Building block of a storage tier; a value that its source lacks is None."""

    usable_tb: float
    read_gb_per_s: float
    write_gb_per_s: float
    kw: float
    rack_units: float
    price_usd: float
    rack_height_units: float
    """Height of the racks of the blocks. [U]"""
    min_units: int = 1


@dataclass(frozen=True)
class Built:
    """A sized tier: building blocks and their totals."""

    units: float
    """An integer, or a fraction for a given capacity."""
    binds: str
    """Binding requirement: ``capacity``, ``read``, ``write``, ``smallest`` or ``usable_pb``."""
    usable_tb: float
    read_gb_per_s: float
    write_gb_per_s: float
    kw: float
    racks: float
    usd: float


@dataclass(frozen=True)
class Feed:
    """Read rate of storage for a run [GB/s], and data per token [byte]."""

    bytes_per_token: float
    read_gb_per_s: float


def level_gb_per_s(per_accelerator: float, accelerators: float, one_node: float) -> float:
    """Return the rate of a service level.

    It is proportional to the accelerators, and at least the rate of one node.

    Examples
    --------
    DGX SuperPOD, level good, read: 4 for a node, 15 for 256 accelerators, 60 for 1,024.

    >>> [level_gb_per_s(60 / 1024, n, 4.0) for n in (8, 256, 1024)]
    [4.0, 15.0, 60.0]
    """
    return max(per_accelerator * accelerators, one_node)


def demand(
    level: tuple[float, float],
    *,
    dataset_bytes: float,
    ingest_gb_per_s: float,
    checkpoint_size_bytes: float,
    kept_checkpoints: float,
    flush_s: float,
    load_s: float,
    other_tb: float = 0.0,
) -> Demand:
    r"""Return required rates and capacity of shared storage.

    .. math::
       r = \max(r_{level},\ r_{ingest},\ B/t_{load}), \quad w = \max(w_{level},\ B/t_{flush}), \quad
       C = D + k B + C_{other}

    Parameters
    ----------
    level : (float, float)
        Read and write rate of the service level. [GB/s]
    dataset_bytes : float
        Training data. [byte]
    ingest_gb_per_s : float
        Rate at which the run reads training data. [GB/s]
    checkpoint_size_bytes, kept_checkpoints : float
        Size of one checkpoint, and number of kept checkpoints. [byte], [-]
    flush_s, load_s : float
        Target times to write one in the background, and to read one at a restart. [s]
    other_tb : float, default 0
        Capacity for other data. [TB]

    Examples
    --------
    >>> d = demand((15.0, 7.0), dataset_bytes=60e12, ingest_gb_per_s=0.1, checkpoint_size_bytes=5.7e12,
    ...            kept_checkpoints=10, flush_s=300.0, load_s=120.0)
    >>> d.read_gb_per_s, d.write_gb_per_s, round(d.usable_tb), d.binds
    (47.5, 19.0, 117, 'restart')
    """
    wanted = {
        "level": level[0],
        "ingest": ingest_gb_per_s,
        "restart": checkpoint_size_bytes / load_s / GIGA,
    }
    binds = max(wanted, key=lambda k: wanted[k])
    write = max(level[1], checkpoint_size_bytes / flush_s / GIGA)
    capacity = (dataset_bytes + kept_checkpoints * checkpoint_size_bytes) / TERA + other_tb
    return Demand(wanted[binds], write, capacity, binds)


def build(wanted: Demand, block: Block) -> Built:
    """Return an integer number of building blocks for a demand.

    Examples
    --------
    >>> appliance = Block(590.0, 120.0, 75.0, 2.2, 2.0, 590e3, 42.0)
    >>> b = build(Demand(500.0, 250.0, 1000.0, "level"), appliance)
    >>> b.units, b.binds, round(b.racks, 3)
    (5, 'read', 0.238)
    """
    units = {
        "capacity": math.ceil(wanted.usable_tb / block.usable_tb - 1e-9),
        "read": math.ceil(wanted.read_gb_per_s / block.read_gb_per_s - 1e-9),
        "write": math.ceil(wanted.write_gb_per_s / block.write_gb_per_s - 1e-9),
        "smallest": block.min_units,
    }
    binds = max(units, key=lambda k: units[k])
    return in_blocks(units[binds], block, binds)


def in_blocks(n: float, block: Block, binds: str) -> Built:
    """Return a number of building blocks with their totals."""
    return Built(
        n,
        binds,
        n * block.usable_tb,
        n * block.read_gb_per_s,
        n * block.write_gb_per_s,
        n * block.kw,
        n * block.rack_units / block.rack_height_units,
        n * block.price_usd,
    )


def ingest_step_s(step_s: float | Array, step_bytes: float, read_gb_per_s: float | Array) -> Array:
    """Return the step time [s], limited by the read rate of its data.

    Examples
    --------
    >>> ingest_step_s(2.0, 300e9, 100.0)
    array(3.)
    """
    return np.asarray(np.maximum(step_s, step_bytes / (np.asarray(read_gb_per_s) * GIGA)))
